"""A metric that was fitted before, without what it has learned from some graphs."""

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.linalg.ridge import fit_ridge
from graph_metric_learn.metrics.automatic.forgetting import views_without
from graph_metric_learn.metrics.automatic.mixture import Mixture


def clouds(rng, count=60, signal=0.0, targets=None):
    """Graphs of five nodes whose attributes follow the targets, or are noise."""
    found = []
    for i in range(count):
        graph = nx.gnp_random_graph(5, 0.6, seed=int(rng.integers(2**31)))
        shift = 0.0 if targets is None else signal * targets[i]
        for node in graph:
            graph.nodes[node]["x"] = (rng.normal(size=2) + shift).round(3).tolist()
        found.append(graph)
    return found


def fitted(graphs, y, **options):
    return gml.GraphMetric(features=["attributes@0"], embedding="mean", random_state=0, **options).fit(graphs, y)


def matrices(metric, graphs):
    """Kernels to the landmarks, and squared distances without learned scores, computed apart from what is tested."""
    mixture = metric.mixture_
    described = mixture.describer.describe(as_graphs(graphs))
    among = Mixture.of(mixture.describer, mixture.weights, described).kernel().astype(float)
    diagonal = among.diagonal()
    return mixture.kernel(described).astype(float), (diagonal[:, None] + diagonal - 2 * among) / 2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_each_fold_is_held_out_from_the_regression(rng, n_classes):
    codes = np.arange(60) % n_classes
    graphs = clouds(rng, signal=1.5, targets=codes)
    metric = fitted(graphs, codes)
    learned = metric.learned_
    learned.gate.weight = 2.0
    kernel, squares = matrices(metric, graphs)
    outputs = np.eye(n_classes)[codes]
    folds = rng.permutation(60) % 4
    views = metric.views_without(graphs, folds)
    assert len(views) == 4
    for fold, view in enumerate(views):
        known, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        np.testing.assert_array_equal(view.train, known)
        np.testing.assert_array_equal(view.test, held)
        mean = outputs[known].mean(0)
        weights = fit_ridge(kernel[np.ix_(known, known)], outputs[known] - mean, learned.setting.penalty)
        scores = kernel[:, known] @ weights + mean
        np.testing.assert_allclose(view.scores, scores[held], atol=1e-6)
        gaps = ((scores[:, None] - scores) ** 2).sum(-1)
        near = squares / squares[np.ix_(known, known)].mean()
        wanted = np.sqrt(np.maximum(near, 0) + learned.gate.weight / gaps[np.ix_(known, known)].mean() * gaps)
        np.testing.assert_allclose(view.across, wanted[np.ix_(held, known)], atol=2e-3)
        np.testing.assert_allclose(view.within, wanted[np.ix_(known, known)] * (1 - np.eye(len(known))), atol=2e-3)


def test_only_graphs_that_it_was_fitted_to_are_forgotten(rng):
    codes = np.arange(60) % 2
    graphs = clouds(rng, signal=1.0, targets=codes)
    metric = fitted(graphs[:40], codes[:40])
    folds = np.arange(20) % 2
    assert metric.views_without(graphs[40:], folds) is None
    some = [*graphs[30:40], *graphs[40:50]]  # half of them known, renumbered
    renumbered = [nx.relabel_nodes(graph, {node: 4 - node for node in graph}) for graph in some]
    views = metric.views_without(renumbered, folds)
    kernel, _ = matrices(metric, some)
    outputs = np.eye(2)[codes[:40]]
    kept = np.array([*range(30), *range(31, 40, 2)])  # of the known, those in the other fold
    mean, among = outputs[kept].mean(0), metric.mixture_.kernel()[np.ix_(kept, kept)]
    weights = fit_ridge(among, outputs[kept] - mean, metric.learned_.setting.penalty)
    np.testing.assert_allclose(views[0].scores, (kernel[:, kept] @ weights + mean)[folds == 0], atol=1e-4)


def test_it_is_the_same_after_loading(rng, tmp_path):
    codes = np.arange(40) % 2
    graphs = clouds(rng, 40, signal=1.0, targets=codes)
    metric = fitted(graphs, codes)
    loaded = gml.load(metric.save(tmp_path / "metric"))
    folds = np.arange(40) // 10
    for one, other in zip(metric.views_without(graphs, folds), loaded.views_without(graphs, folds), strict=True):
        np.testing.assert_allclose(one.across, other.across, atol=1e-5)
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)


def test_without_hashes_or_without_learning_there_is_nothing_to_forget(rng):
    codes = np.arange(40) % 2
    graphs = clouds(rng, 40, signal=1.0, targets=codes)
    metric, folds = fitted(graphs, codes), np.arange(40) % 2
    assert len(views_without(metric, as_graphs(graphs), folds)) == 2
    metric.learned_.graphs = None
    assert metric.views_without(graphs, folds) is None
    assert fitted(graphs, codes, learn=False).views_without(graphs, folds) is None


def test_a_fold_of_all_that_it_was_fitted_to(rng):
    """Nothing is left to learn from: distances are those without learning."""
    codes = np.arange(50) % 2
    graphs = clouds(rng, 50, signal=1.0, targets=codes)
    metric = fitted(graphs[:40], codes[:40])
    views = metric.views_without(graphs, np.repeat([0, 1], [40, 10]))
    _, squares = matrices(metric, graphs)
    scale = squares[40:, 40:].mean()
    np.testing.assert_allclose(views[0].across, np.sqrt(np.maximum(squares[:40, 40:], 0) / scale), atol=2e-3)
    assert np.isfinite(views[1].across).all()


def test_where_graphs_are_more_than_landmarks_scores_are_left_out(rng):
    codes = np.arange(600) % 2
    graphs = clouds(rng, 600, signal=1.0, targets=codes)
    metric = fitted(graphs, codes, n_landmarks=100)
    assert metric.learned_.n_graphs == 600
    some = rng.permutation(600)[:200]
    views = metric.views_without([graphs[i] for i in some], np.arange(200) % 2)
    _, squares = matrices(metric, [graphs[i] for i in some])
    train, test = views[0].train, views[0].test
    wanted = np.sqrt(np.maximum(squares[np.ix_(test, train)], 0) / squares[np.ix_(train, train)].mean())
    np.testing.assert_allclose(views[0].across, wanted, atol=2e-3)
