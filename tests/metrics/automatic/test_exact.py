import numpy as np
import pytest

import graph_metric_learn as gml
from edge_graphs import read_rich, rich_graph
from element_graphs import element_graphs
from graph_metric_learn.linalg.ridge import fit_ridge, weighted_means
from graph_metric_learn.metrics.automatic import exact, fitting
from graph_metric_learn.metrics.automatic.exact import Weights, choose_setting, filled, loss
from graph_metric_learn.metrics.automatic.mixture import Describer, family_kernels
from graph_metric_learn.metrics.automatic.recipes import Carried, recipes_for
from graph_metric_learn.metrics.automatic.training import Training
from graph_metric_learn.metrics.automatic.weights import even_weights
from graph_metric_learn.metrics.base import fit_with_folds
from graph_metric_learn.objectives import Classes, Numbers, SeveralLabels
from graph_metric_learn.objectives.scoring import scorer_for
from made_up_vectors import single_nodes, squares_of

COUNT = 80


def training_of(made, groups=None, powers=(0.0,), scoring="auto"):
    objective, target = made
    groups = np.arange(len(target)) if groups is None else groups
    return Training(objective, scorer_for(scoring, objective, target), target, groups, powers)


def views(rng, count=COUNT, families=4):
    """Views of graphs that have nothing to do with each other, and their kernels."""
    seen = [rng.normal(size=(count, 2)) for _ in range(families)]
    return seen, np.stack([np.exp(-squares_of(one) / 4) for one in seen]).astype(np.float32)


def weights_of(kernels, training):
    return Weights(kernels, np.full(len(kernels), 1 / len(kernels)), training)


# --- what is chosen on folds -----------------------------------------------------------------------------------------


def test_one_view_that_tells_the_targets_has_all_the_weight(rng):
    seen, kernels = views(rng)
    training = training_of(Numbers.of(seen[2][:, 0] + 0.05 * rng.normal(size=COUNT)))
    setting, draws = choose_setting(weights_of(kernels, training), rng)
    assert setting.share < 1
    assert setting.penalty < 1
    for draw in draws:
        assert sorted(np.concatenate([fold.test for fold in draw])) == list(range(COUNT))
        for fold in draw:
            assert sorted([*fold.train, *fold.test]) == list(range(COUNT))
            assert fold.weights.argmax() == 2


def test_noise_is_given_little_trust(rng):
    """A large penalty, or the even weights: whatever is closest to the mean."""
    _, kernels = views(rng)
    training = training_of(Numbers.of(rng.normal(size=COUNT)))
    assert choose_setting(weights_of(kernels, training), rng)[0].penalty >= 1


def test_groups_are_never_on_both_sides(rng):
    _, kernels = views(rng)
    groups = np.arange(COUNT) // 7
    _, draws = choose_setting(weights_of(kernels, training_of(Numbers.of(rng.normal(size=COUNT)), groups)), rng)
    for fold in (fold for draw in draws for fold in draw):
        assert not set(groups[fold.train]) & set(groups[fold.test])
    with pytest.raises(ValueError, match="all graphs are of one group: none can be held out"):
        choose_setting(weights_of(kernels, training_of(Numbers.of(rng.normal(size=COUNT)), np.zeros(COUNT))), rng)


def test_weights_of_a_fold_do_not_know_its_targets(rng):
    seen, kernels = views(rng)
    folds = np.arange(COUNT) % 5
    target = Numbers.of(seen[1][:, 0])[1]

    def found(target):
        objective = Numbers()
        objective.folds = lambda *given: folds
        training = training_of((objective, target))
        return choose_setting(weights_of(kernels, training), np.random.default_rng(0))[1][0]

    changed = target.copy()
    changed[::5] = seen[3][::5, :1] * 10
    one, two = found(target), found(changed)
    np.testing.assert_array_equal(one[0].weights, two[0].weights)
    assert np.abs(one[1].weights - two[1].weights).max() > 1e-3


def held_out_correlations(kernels, even, count):
    """Between noise and what is predicted of it without each fold, by the weights that were found without it."""
    found = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        weights = Weights(kernels, even, training_of(Numbers.of(rng.normal(size=kernels.shape[1]))))
        _, draws = choose_setting(weights, rng)
        target, predicted = weights.training.outputs[:, 0], np.zeros(kernels.shape[1])
        for fold in draws[0]:
            kernel, mean = weights.mixture(fold.weights, 0.0), target[fold.train].mean()
            alpha = fit_ridge(kernel[np.ix_(fold.train, fold.train)], target[fold.train, None] - mean, 1.0)
            predicted[fold.test] = (kernel[np.ix_(fold.test, fold.train)] @ alpha)[:, 0]
        found.append(np.corrcoef(predicted, target)[0, 1])
    return np.array(found)


def test_noise_of_300_graphs_is_at_chance(monkeypatch):
    """All families, and noise: chosen once by all targets, weights would know those of the graphs held out."""
    monkeypatch.setattr(exact, "_DRAWS", 1)
    monkeypatch.setattr(exact, "SHARES", (0.0,))
    monkeypatch.setattr(exact, "PENALTIES", (1.0, 1.0))
    monkeypatch.setattr(exact, "_START", 0)
    graphs = read_rich([rich_graph(seed) for seed in range(300)])
    describer, described = Describer.fit(recipes_for(Carried.of(graphs)), graphs, np.random.default_rng(0))
    kernels = family_kernels(describer, described)
    even = even_weights({name: describer.families[name].recipe.kind for name in kernels})
    found = held_out_correlations(np.stack(list(kernels.values())), np.array(list(even.values())), 6)
    assert abs(found.mean()) < 2 / np.sqrt(6 * 300)


# --- how predictions are judged --------------------------------------------------------------------------------------


def test_numbers_are_judged_by_squares_and_classes_by_what_is_in_proportion(rng):
    training = training_of(Numbers.of(rng.normal(size=COUNT)))
    outputs, folds = training.outputs, np.array_split(np.arange(COUNT), 5)
    predicted = [outputs[fold] * 0.5 for fold in folds]
    assert loss(training, folds, predicted) == pytest.approx((outputs**2).sum() / 4)
    training = training_of(Classes.of(np.arange(COUNT) % 2))
    mean = training.outputs.mean(0)
    centred = [training.outputs[fold] - mean for fold in folds]
    one, two = (loss(training, folds, [mean + factor * part for part in centred]) for factor in (0.1, 1.0))
    assert one == pytest.approx(two) == -COUNT / 2  # whatever the scale
    assert loss(training, folds, [mean - part for part in centred]) == 0.0  # the wrong side of the mean


def test_gaps_do_not_count(rng):
    target = rng.normal(size=(COUNT, 2))
    target[::3, 1] = np.nan
    training = training_of((Numbers(), target))
    one, two = (np.where(np.isfinite(target), 0.0, filler) for filler in (0.0, 100.0))
    assert loss(training, [np.arange(COUNT)], [one]) == pytest.approx(loss(training, [np.arange(COUNT)], [two]))


def test_rare_classes_are_judged_by_their_ranks():
    training = training_of(Classes.of((np.arange(COUNT) % 20 == 0).astype(int)))
    folds = [np.arange(40), np.arange(40, COUNT)]
    good = [np.column_stack([np.zeros(40), 1e-3 * (training.target[fold] == 1)]) for fold in folds]
    assert loss(training, folds, good) == -1.0
    assert loss(training, folds, [np.zeros((40, 2))] * 2) == -0.5


def test_gaps_are_filled_where_they_have_many_patterns(rng):
    few = rng.normal(size=(10, 3))
    few[0, 1] = np.nan
    assert filled(few) is few
    many = rng.normal(size=(10, 6))
    many[np.arange(6), np.arange(6)] = np.nan
    found = filled(many)
    assert np.isfinite(found).all()
    assert found[0, 0] == pytest.approx(np.nanmean(many[:, 0]))


# --- the regression of a metric --------------------------------------------------------------------------------------


def balanced(codes, power):
    weights = (1.0 / np.bincount(codes)[codes]) ** power
    return weights / weights.mean()


def outputs_of(metric, graphs, y):
    """What the regression was fitted to."""
    return metric.objective_.outputs(metric.objective_.encode(graphs, y))


@pytest.fixture(scope="module")
def graphs():
    return element_graphs(90, seed=2)


def targets(y, kind):
    several = np.stack([y, -(y**2)], axis=1)
    several[::4, 1] = np.nan
    table = np.stack([y > np.median(y), y > np.quantile(y, 0.8)], axis=1).astype(float)
    table[1::5, 0] = np.nan
    classes = (y > np.quantile(y, 0.92)).astype(int)
    return {"numbers": y, "several": several, "labels": table, "classes": classes}[kind]


OPTIONS = {"label": "element", "families": ["trees", "pairs", "size"], "random_state": 0}


@pytest.mark.parametrize("kind", ["numbers", "several", "labels", "classes"])
@pytest.mark.parametrize("many", [False, True])
def test_scores_are_those_of_kernel_ridge(graphs, kind, many, monkeypatch):
    """On the kernel of the metric, solved at once: of each target by its graphs, with the weights that were chosen."""
    if many:
        monkeypatch.setattr(fitting, "ANEW", 60)
        monkeypatch.setattr(fitting, "_APART", 30)
    y = targets(graphs[1], kind)
    metric = gml.GraphMetric(**OPTIONS, class_weight="balanced").fit(graphs[0][:80], y[:80])
    outputs, setting = outputs_of(metric, graphs[0][:80], y[:80]), metric.learned_.setting
    assert setting.power == (1.0 if kind in ("labels", "classes") else 0.0)
    rows = balanced(y[:80], 1.0) if kind == "classes" else None
    kernel = metric.mixture_.kernel().astype(float)
    mean = weighted_means(outputs, rows)
    alpha = fit_ridge(kernel, outputs - mean, setting.penalty, rows)
    read = metric.as_fitted(metric.read(graphs[0][80:]))
    wanted = metric.mixture_.kernel(metric.mixture_.describer.describe(read)) @ alpha + mean
    np.testing.assert_allclose(metric.scores(graphs[0][80:]), wanted, atol=1e-4)


@pytest.mark.parametrize("kind", ["numbers", "labels", "classes"])
def test_many_graphs_are_judged_without_their_fold(graphs, kind, monkeypatch):
    """And never those that weights were chosen by: predictions are those of fitting again to all others."""
    monkeypatch.setattr(fitting, "ANEW", 60)
    monkeypatch.setattr(fitting, "_APART", 30)
    y = targets(graphs[1], kind)
    metric = gml.GraphMetric(**OPTIONS)
    folds = fit_with_folds(metric, graphs[0], y)(1000)
    outputs, kernel = outputs_of(metric, graphs[0], y), metric.mixture_.kernel()
    judged = np.concatenate([view.test for view in folds])
    assert len(set(judged)) == len(judged) <= 70
    setting = metric.learned_.setting
    for view in folds:
        assert not set(view.test) & set(view.train)
        assert set(np.arange(90)) - set(judged) <= set(view.train)
        known = np.sort(view.train)
        rows = balanced(y, setting.power)[known] if kind == "classes" else None
        mean = weighted_means(outputs[known], rows)
        alpha = fit_ridge(kernel[np.ix_(known, known)], outputs[known] - mean, setting.penalty, rows)
        wanted = kernel[np.ix_(view.test, known)] @ alpha + mean
        there = np.isfinite(outputs[view.test])
        np.testing.assert_allclose(view.scores[there], wanted[there], atol=1e-4)


@pytest.mark.parametrize("many", [False, True])
def test_groups_of_a_metric_are_held_out_together(graphs, monkeypatch, many):
    if many:
        monkeypatch.setattr(fitting, "ANEW", 60)
        monkeypatch.setattr(fitting, "_APART", 30)
    groups = np.arange(90) // 4
    folds = fit_with_folds(gml.GraphMetric(**OPTIONS), graphs[0], graphs[1], [f"scaffold {g}" for g in groups])(1000)
    judged = np.concatenate([view.test for view in folds])
    assert len(judged) >= 50
    for view in folds:
        assert not set(groups[view.test]) & set(groups[view.train])


@pytest.mark.parametrize("many", [False, True])
def test_scores_of_a_fold_do_not_know_its_targets(monkeypatch, many):
    """From the weights of families on, with the setting held fixed; other folds change."""
    monkeypatch.setattr(exact, "SHARES", (0.5,))
    monkeypatch.setattr(exact, "PENALTIES", (0.1, 0.1))
    monkeypatch.setattr(exact, "_START", 0)
    if many:
        monkeypatch.setattr(fitting, "ANEW", 40)
        monkeypatch.setattr(fitting, "_APART", 30)
    rng = np.random.default_rng(0)
    graphs, y = single_nodes(rng.normal(size=(COUNT, 3))), rng.normal(size=COUNT)
    options = {"features": ["attributes@0"], "random_state": 0, "task": "numbers"}
    before = fit_with_folds(gml.GraphMetric(**options), graphs, y)(1000)
    test, changed = before[0].test, y.copy()
    changed[test] = rng.permutation(y[test])  # mean and scale of all stay as they were
    after = fit_with_folds(gml.GraphMetric(**options), graphs, changed)(1000)
    np.testing.assert_array_equal(after[0].test, test)
    np.testing.assert_allclose(after[0].scores, before[0].scores, atol=1e-6)
    assert np.abs(after[1].scores - before[1].scores).max() > 1e-3


def test_labels_with_gaps_are_learned(graphs):
    """Rows without any label count for nothing, and are predicted."""
    y = targets(graphs[1], "labels")
    y[3] = np.nan
    metric = gml.GraphMetric(**OPTIONS).fit(graphs[0][:70], y[:70])
    assert metric.task_ == "labels"
    scores, truth = metric.scores(graphs[0][70:]), y[70:]
    known = np.isfinite(truth)
    assert np.mean((scores > 0.5)[known] == (truth > 0.5)[known]) > 0.75
    objective, _ = SeveralLabels.of(y[:70])
    np.testing.assert_array_equal(metric.objective_.rates_, objective.rates_)
