import numpy as np
import pytest

import graph_metric_learn as gml
from element_graphs import element_graphs
from graph_metric_learn.features.copies import graph_hashes
from graph_metric_learn.metrics.automatic import fitting, given, landmarks
from graph_metric_learn.metrics.base import fit_with_folds
from graph_metric_learn.objectives.scoring import Scorer
from made_up_vectors import single_nodes
from small_graphs import random_graphs

COUNT, LANDMARKS = 240, 60
OPTIONS = {"label": "element", "families": ["trees", "pairs", "size"], "random_state": 0, "n_landmarks": LANDMARKS}


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch):
    """Settings are chosen by as few graphs as there are here; and graphs come in several chunks."""
    monkeypatch.setattr(fitting, "_FEW", 50)
    monkeypatch.setattr(given, "_CHUNK", 50)


@pytest.fixture(scope="module")
def graphs():
    return element_graphs(COUNT + 40, seed=4)


def targets(y, kind):
    several = np.stack([y, -(y**2)], axis=1)
    several[::4, 1] = np.nan
    table = np.stack([y > np.median(y), y > np.quantile(y, 0.8)], axis=1).astype(float)
    table[1::5, 0] = np.nan
    return {
        "numbers": y, "several": several, "labels": table, "full table": np.nan_to_num(table),
        "classes": np.digitize(y, np.quantile(y, [0.3, 0.6])), "rare": (y > np.quantile(y, 0.92)).astype(int),
    }[kind]  # fmt: skip


KINDS = ["numbers", "several", "labels", "full table", "classes", "rare"]


def landmarks_of(metric, graphs):
    """Which of the graphs they are."""
    return np.flatnonzero(np.isin(graph_hashes(metric.as_fitted(metric.read(graphs))), metric.learned_.graphs))


def kernel_to_landmarks(metric, graphs):
    return metric.mixture_.kernel(metric.mixture_.describer.describe(metric.as_fitted(metric.read(graphs)))).astype(
        float
    )


def row_weights(target, power):
    """By class, or of a label by how many have it; 0 where it is missing [N]."""
    known = np.isfinite(target)
    counts = np.bincount(target[known].astype(int))
    weights = np.zeros(len(target))
    weights[known] = (1.0 / counts[target[known].astype(int)]) ** power
    return weights / weights[known].mean()


def predictions(metric, graphs, outputs, weights, new):
    """Σ w (y − mean − k α)² + λ αᵀ K α at its least, solved at once, and what it says of new graphs [M, T].

    weights [N, T] are 0 for graphs that do not count.
    """
    near, among = kernel_to_landmarks(metric, graphs), metric.mixture_.kernel().astype(float)
    found = []
    for output, w in zip(outputs.T, weights.T, strict=True):
        y = np.where(w > 0, output, 0.0)
        mean = (w @ y) / w.sum()
        matrix = (near * w[:, None]).T @ near + metric.learned_.setting.penalty * (among + 1e-6 * np.eye(len(among)))
        found.append(kernel_to_landmarks(metric, new) @ np.linalg.lstsq(matrix, near.T @ (w * (y - mean)))[0] + mean)
    return np.stack(found, axis=1)


def weights_of(metric, y, outputs):
    """Of graphs, for each output [N, T]."""
    power = metric.learned_.setting.power
    if metric.task_ == "labels":
        return np.stack([row_weights(column, power) for column in outputs.T], axis=1)
    weights = np.isfinite(outputs).astype(float)
    return weights * row_weights(np.asarray(y, dtype=float), power)[:, None] if power else weights


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_graph_counts(graphs, kind, class_weight, monkeypatch):
    """The regression is that on all graphs at once, with features of landmarks."""
    monkeypatch.setattr("graph_metric_learn.linalg.landmark_ridge._ENOUGH", 1e-6)
    y = targets(graphs[1], kind)
    metric = gml.GraphMetric(**OPTIONS, class_weight=class_weight).fit(graphs[0][:COUNT], y[:COUNT])
    assert len(metric.learned_.alpha) <= LANDMARKS
    assert metric.learned_.n_graphs == COUNT
    assert metric.learned_.setting.power == (class_weight == "balanced" and kind not in ("numbers", "several"))
    if class_weight and kind == "classes":
        return  # weights of more than two classes: see below
    outputs = metric.objective_.outputs(metric.objective_.encode(graphs[0][:COUNT], y[:COUNT]))
    weights = weights_of(metric, y[:COUNT], outputs)
    wanted = predictions(metric, graphs[0][:COUNT], outputs, weights, graphs[0][COUNT:])
    np.testing.assert_allclose(metric.scores(graphs[0][COUNT:]), wanted, atol=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_landmarks_are_never_judged_and_others_without_their_fold(graphs, kind, monkeypatch):
    monkeypatch.setattr("graph_metric_learn.linalg.landmark_ridge._ENOUGH", 1e-6)
    y, known = targets(graphs[1], kind)[:COUNT], graphs[0][:COUNT]
    metric = gml.GraphMetric(**OPTIONS)
    folds = fit_with_folds(metric, known, y)(1000)
    rows, judged = landmarks_of(metric, known), np.concatenate([view.test for view in folds])
    assert not set(rows) & set(judged)
    assert len(judged) == len(set(judged)) == COUNT - len(rows)
    outputs = metric.objective_.outputs(metric.objective_.encode(known, y))
    weights = weights_of(metric, y, outputs)
    for view in folds:
        assert not set(view.test) & set(view.train)
        without = weights.copy()
        without[view.test] = 0.0
        wanted = predictions(metric, known, outputs, without, [known[i] for i in view.test])
        np.testing.assert_allclose(view.scores, wanted, atol=2e-3)


@pytest.mark.parametrize("grouped", [False, True])
def test_groups_and_copies_are_held_out_together(graphs, grouped):
    """Also of landmarks: what belongs to one of these is known in every fold."""
    known, y = [*graphs[0][:120], *graphs[0][:120]], np.tile(graphs[1][:120], 2)
    groups = np.tile(np.arange(120) // 3, 2) if grouped else np.tile(np.arange(120), 2)
    metric = gml.GraphMetric(**OPTIONS)
    folds = fit_with_folds(metric, known, y, [f"scaffold {group}" for group in groups] if grouped else None)(1000)
    rows = landmarks_of(metric, known)
    judged = np.concatenate([view.test for view in folds])
    assert len(judged) >= 50
    assert not set(groups[rows]) & set(groups[judged])
    for view in folds:
        assert not set(groups[view.test]) & set(groups[view.train])


def test_whole_groups_are_landmarks(graphs):
    groups = np.arange(COUNT) // 8
    metric = gml.GraphMetric(**OPTIONS).fit(graphs[0][:COUNT], graphs[1][:COUNT], groups)
    counts = np.bincount(groups[landmarks_of(metric, graphs[0][:COUNT])])  # some others are copies of landmarks
    assert np.count_nonzero(counts == 8) == 7
    assert len(metric.learned_.alpha) == 56


def test_more_graphs_learn_more(graphs):
    """With the same number of landmarks."""
    errors = []
    for count in (80, COUNT):
        metric = gml.GraphMetric(**OPTIONS).fit(graphs[0][:count], graphs[1][:count])
        said = metric.objective_.decode(metric.scores(graphs[0][COUNT:])).reshape(-1)
        errors.append(np.sqrt(np.mean((said - graphs[1][COUNT:]) ** 2)))
    assert errors[1] < 0.95 * errors[0]


def test_too_few_to_be_judged_leave_the_choice_to_landmarks(graphs, monkeypatch):
    """But they count in the regression."""
    monkeypatch.setattr(fitting, "_FEW", 300)
    known, y = graphs[0][:COUNT], graphs[1][:COUNT]
    metric = gml.GraphMetric(**OPTIONS)
    folds = fit_with_folds(metric, known, y)(1000)
    assert len(np.concatenate([view.test for view in folds])) == LANDMARKS
    assert metric.learned_.n_graphs == COUNT
    outputs = metric.objective_.outputs(metric.objective_.encode(known, y))
    wanted = predictions(metric, known, outputs, np.ones((COUNT, 1)), graphs[0][COUNT:])
    np.testing.assert_allclose(metric.scores(graphs[0][COUNT:]), wanted, atol=2e-3)


def test_who_is_judged_does_not_depend_on_the_order(monkeypatch):
    """Those with the least hashes, half of them of the rare class."""
    monkeypatch.setattr(fitting, "JUDGED", 60)
    rng = np.random.default_rng(0)
    graphs, y = single_nodes(rng.normal(size=(400, 2))), (np.arange(400) % 12 == 0).astype(int)
    options = {"features": ["attributes@0"], "embedding": "mean", "n_landmarks": 40, "random_state": 0}
    options |= {"class_weight": "auto", "scoring": "roc_auc"}
    metric = gml.GraphMetric(**options)
    folds = fit_with_folds(metric, graphs, y)(1000)
    judged = np.concatenate([view.test for view in folds])
    assert np.bincount(y[judged]).tolist() == [30, min(30, np.count_nonzero(y) - y[landmarks_of(metric, graphs)].sum())]
    hashes = graph_hashes(metric.read(graphs))
    order = landmarks._order(hashes, np.arange(400))
    others = np.setdiff1d(np.arange(400), landmarks_of(metric, graphs))
    common = others[y[others] == 0]
    assert set(judged[y[judged] == 0]) == set(common[np.argsort(order[common])[:30]])


def test_a_fold_is_a_hash():
    names = np.arange(1000, dtype=np.uint64) * np.uint64(2654435761)
    folds = landmarks.fold_of(names)
    np.testing.assert_array_equal(folds, landmarks.fold_of(names[::-1])[::-1])
    assert np.bincount(folds, minlength=5).min() > 150
    one, two = landmarks.group_names(["a", "b", "a"]), landmarks.group_names(["b", "c"])
    assert one[0] == one[2] != one[1] == two[0]


@pytest.mark.parametrize("kind", ["classes", "rare"])
def test_noise_of_6000_graphs_is_at_chance(kind, monkeypatch):
    """Few landmarks choose the weights, and are never judged."""
    monkeypatch.setattr(given, "_CHUNK", 2000)
    rng = np.random.default_rng(1)
    graphs = gml.as_graphs(random_graphs(rng, 6000, smallest=3, largest=5))
    y = rng.permutation(np.arange(6000) % (20 if kind == "rare" else 2) == 0).astype(int)
    metric = gml.GraphMetric(
        families=["trees", "nodes, mean", "nodes, density", "structure, mean", "size"], n_landmarks=300, random_state=0
    )
    folds = fit_with_folds(metric, graphs, y)(6000)
    assert metric.learned_.gate.weight == 0
    assert "learned nothing" in metric.report_
    test, scores = np.concatenate([view.test for view in folds]), np.concatenate([view.scores for view in folds])
    assert len(test) > 1500
    if kind == "classes":
        assert abs(np.mean(scores.argmax(1) == y[test]) - 0.5) < 2 * 0.5 / np.sqrt(len(test))
    else:  # penalty and balance were chosen by the same graphs, which costs about one standard error
        scorer = Scorer(metric.objective_, "roc_auc")
        found = np.mean([scorer.of_outputs(view.scores, y[view.test])[0] for view in folds])
        assert -2 < (found - 0.5) / np.sqrt(1 / 12 / np.count_nonzero(y[test])) < 3
