import warnings

import numpy as np
import pytest

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.base import FoldView
from graph_metric_learn.objectives import Classes, Numbers
from graph_metric_learn.predictors import fold_distances as module
from graph_metric_learn.predictors.fold_distances import ReferenceFolds, typical_distance
from toy_metrics import FirstColumn, Memorizing, points


def classes(codes):
    objective = Classes()
    objective.classes_ = np.unique(codes)
    return objective


def folds_of(metric, x, groups=None, *, own=True):
    given = as_graphs(points(*x))
    return ReferenceFolds(metric, given, metric.embed(given), groups, own=own)


def test_every_graph_is_held_out_once_beside_all_others():
    x = np.random.default_rng(0).normal(size=23)
    codes = np.arange(23) % 2
    reference = folds_of(FirstColumn().fit(points(*x)), x)
    folds = reference.views(classes(codes), codes)
    assert not reference.without_targets
    assert reference.groups is None
    assert len(folds) == 5
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(23))
    for fold in folds:
        assert sorted([*fold.train, *fold.test]) == list(range(23))
        np.testing.assert_allclose(fold.within, np.abs(x[fold.train, None] - x[fold.train]), atol=1e-5)
        np.testing.assert_allclose(fold.across, np.abs(x[fold.test, None] - x[fold.train]), atol=1e-5)
        assert 1 <= codes[fold.test].sum() <= 3  # classes are spread evenly
        assert fold.scores is None


def test_groups_are_held_out_together():
    groups = np.arange(20) // 2
    reference = folds_of(FirstColumn().fit(points(*range(20))), range(20), groups)
    objective, target = Numbers.of(np.random.default_rng(0).normal(size=20))
    for fold in reference.views(objective, target):
        assert not set(groups[fold.train]) & set(groups[fold.test])


@pytest.mark.parametrize("groups", [None, np.arange(40) // 4])
def test_copies_are_held_out_together(groups):
    x = np.random.default_rng(0).normal(size=20).repeat(2)[np.argsort(np.arange(40) % 2, kind="stable")]  # 0 and 20, …
    codes = np.arange(40) % 2
    for fold in folds_of(FirstColumn().fit(points(*x)), x, groups).views(classes(codes), codes):
        assert not set(x[fold.train]) & set(x[fold.test])
        if groups is not None:
            assert not set(groups[fold.train]) & set(groups[fold.test])


def test_copies_alone_leave_folds_as_they_were():
    codes = np.arange(20) % 2
    folds = folds_of(FirstColumn().fit(points(0.0)), np.zeros(20)).views(classes(codes), codes)
    assert [len(fold.test) for fold in folds] == [4] * 5


def test_copies_in_many_groups_are_told_once():
    x, groups = np.arange(40) % 3, np.arange(40) // 4
    metric, codes = FirstColumn().fit(points(*x)), np.arange(40) % 2
    with pytest.warns(UserWarning, match="some graphs have copies in other groups"):
        np.testing.assert_array_equal(folds_of(metric, x, groups, own=False).groups, groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a metric that was fitted with these groups has said it
        np.testing.assert_array_equal(folds_of(metric, x, groups).groups, groups)
    assert len(folds_of(metric, x, groups).views(classes(codes), codes)) == 5


def test_what_the_metric_says_comes_first_if_it_was_fitted_to_these_graphs():
    x, codes = np.random.default_rng(0).normal(size=20), np.arange(20) % 2
    metric = Memorizing().fit(points(*x), codes)
    reference = folds_of(metric, x)
    own = reference.views(classes(codes), codes)
    assert reference.without_targets
    np.testing.assert_array_equal(own[0].across, metric.fold_views(100)[0].across)
    others = folds_of(metric, x, own=False).views(classes(codes), codes)
    for fold in others:  # as they are: each is nearest to its own class
        assert (codes[fold.train][fold.across.argmin(1)] == codes[fold.test]).all()


class Forgetful(Memorizing):
    """Says what it would be without a fold also later."""

    def views_without(self, graphs, folds):
        numbers = np.arange(len(folds))
        zeros = np.zeros((len(folds), len(folds)))
        return [
            FoldView(numbers[folds != fold], numbers[folds == fold], zeros, zeros, zeros) for fold in np.unique(folds)
        ]


def test_what_the_metric_says_of_graphs_that_it_was_fitted_to_before(monkeypatch):
    monkeypatch.setattr(module, "MOST", 10)
    x, codes = np.random.default_rng(0).normal(size=30), np.arange(30) % 2
    reference = folds_of(Forgetful().fit(points(*x), codes), x, own=False)
    folds = reference.views(classes(codes), codes)
    assert reference.without_targets
    assert reference.views(classes(codes), codes) is folds  # computed once, for all heads
    assert all(fold.scores is None for fold in folds)  # of targets that may be others
    held = np.concatenate([fold.test for fold in folds])
    assert len(set(held.tolist())) == 10
    assert held.max() > 9  # numbers are those among all


def test_of_many_graphs_some_are_enough(monkeypatch):
    monkeypatch.setattr(module, "MOST", 30)
    codes = np.repeat([0, 1], [80, 20])
    folds = folds_of(FirstColumn().fit(points(*range(100))), range(100)).views(classes(codes), codes)
    held = np.concatenate([fold.test for fold in folds])
    assert len(held) == len(set(held)) == 30
    assert codes[held].sum() == 6
    for fold in folds:  # numbers of graphs are those among all
        np.testing.assert_allclose(fold.across, np.abs(fold.test[:, None] - fold.train))


@pytest.mark.parametrize(
    ("within", "typical"),
    [([[0, 3, 4], [3, 0, 5], [4, 5, 0]], 3.0), ([[0, 0, 6], [0, 0, 0], [6, 0, 0]], 12 / 9), (np.zeros((2, 2)), 1.0)],
)
def test_the_typical_distance_is_never_zero(within, typical):
    view = FoldView(np.arange(3), np.arange(0), np.array(within, dtype=float), np.zeros((0, 3)), None)
    assert typical_distance([view]) == pytest.approx(typical)
