import numpy as np
import pytest

from graph_metric_learn.metrics.base import FoldView
from graph_metric_learn.neighbors import fold_distances as module
from graph_metric_learn.neighbors.fold_distances import fold_distances, typical_distance
from graph_metric_learn.objectives import Classes, Numbers
from toy_metrics import FirstColumn, Memorizing, points


def classes(codes):
    objective = Classes()
    objective.classes_ = np.unique(codes)
    return objective


def test_every_graph_is_held_out_once_beside_all_others():
    x = np.random.default_rng(0).normal(size=23)
    metric = FirstColumn().fit(points(*x))
    codes = np.arange(23) % 2
    folds = fold_distances(metric, metric.embed(points(*x)), classes(codes), codes, own=True)
    assert len(folds) == 5
    assert sorted(np.concatenate([fold.held for fold in folds])) == list(range(23))
    for fold in folds:
        assert sorted([*fold.known, *fold.held]) == list(range(23))
        np.testing.assert_allclose(fold.within, np.abs(x[fold.known, None] - x[fold.known]), atol=1e-5)
        np.testing.assert_allclose(fold.across, np.abs(x[fold.held, None] - x[fold.known]), atol=1e-5)
        assert 1 <= codes[fold.held].sum() <= 3  # classes are spread evenly
        assert fold.scores is None


def test_groups_are_held_out_together():
    groups = np.arange(20) // 2
    metric = FirstColumn().fit(points(*range(20)))
    numbers = np.random.default_rng(0).normal(size=20)
    objective, target = Numbers.of(numbers)
    for fold in fold_distances(metric, metric.embed(points(*range(20))), objective, target, groups, own=True):
        assert not set(groups[fold.known]) & set(groups[fold.held])


def test_what_the_metric_says_comes_first_if_it_was_fitted_to_these_graphs():
    x, codes = np.random.default_rng(0).normal(size=20), np.arange(20) % 2
    metric = Memorizing().fit(points(*x), codes)
    embedded = metric.embed(points(*x))
    own = fold_distances(metric, embedded, classes(codes), codes, own=True)
    np.testing.assert_array_equal(own[0].across, metric.fold_views(100)[0].across)
    others = fold_distances(metric, embedded, classes(codes), codes, own=False)
    for fold in others:  # as they are: each is nearest to its own class
        assert (codes[fold.known][fold.across.argmin(1)] == codes[fold.held]).all()


def test_of_many_graphs_some_are_enough(monkeypatch):
    monkeypatch.setattr(module, "MOST", 30)
    codes = np.repeat([0, 1], [80, 20])
    metric = FirstColumn().fit(points(*range(100)))
    folds = fold_distances(metric, metric.embed(points(*range(100))), classes(codes), codes, own=True)
    held = np.concatenate([fold.held for fold in folds])
    assert len(held) == len(set(held)) == 30
    assert codes[held].sum() == 6
    for fold in folds:  # numbers of graphs are those among all
        np.testing.assert_allclose(fold.across, np.abs(fold.held[:, None] - fold.known))


@pytest.mark.parametrize(
    ("within", "typical"),
    [([[0, 3, 4], [3, 0, 5], [4, 5, 0]], 3.0), ([[0, 0, 6], [0, 0, 0], [6, 0, 0]], 12 / 9), (np.zeros((2, 2)), 1.0)],
)
def test_the_typical_distance_is_never_zero(within, typical):
    view = FoldView(np.arange(3), np.arange(0), np.array(within, dtype=float), np.zeros((0, 3)), None)
    assert typical_distance([view]) == pytest.approx(typical)
