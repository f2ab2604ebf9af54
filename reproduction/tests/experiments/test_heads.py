import networkx as nx
import numpy as np
import pytest

from graph_metric_learn import GraphMetric
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.experiments.heads import (
    accuracy,
    area_under_curve,
    head_results,
    root_mean_square_error,
)

GRAPHS = as_graphs([nx.cycle_graph(n) for n in range(4, 24)] + [nx.star_graph(n) for n in range(4, 24)])
SHAPES = np.repeat([0, 1], 20)
FEATURES = ["degree@0", "size@0"]


def parts(y):
    test = np.arange(0, 40, 5)
    train = np.setdiff1d(np.arange(40), test)
    return (GRAPHS[train], y[train]), (GRAPHS[test], y[test])


def metric(task):
    return GraphMetric(features=FEATURES, embedding="mean", task=task, random_state=0)


def test_all_heads_share_one_fitted_metric(monkeypatch):
    fits = []
    plain = GraphMetric.fit
    monkeypatch.setattr(GraphMetric, "fit", lambda self, *given: fits.append(1) or plain(self, *given))
    heads = ["head-auto", "head-knn", "head-ridge", "head-svc"]
    fitted, results = head_results(metric("classes"), heads, *parts(SHAPES))
    assert len(fits) == 1
    assert [result["chosen"]["head"] for result in results[1:]] == ["knn", "ridge", "svc"]
    assert all(result["test"] == 1.0 for result in results)
    assert results[0]["learning"]["weight"] == fitted.learned_.gate.weight
    assert results[0]["learning"]["penalty"] == fitted.learned_.setting.penalty
    assert results[0]["weights"] == fitted.weights_


def test_numbers_are_scored_by_their_error():
    sizes = GRAPHS.sizes.astype(float) + 0.5
    _, results = head_results(metric("numbers"), ["head-ridge"], *parts(sizes), root_mean_square_error)
    assert results[0]["test"] < 1.0  # sizes differ by 6 from their mean


@pytest.mark.parametrize(
    ("score", "wanted"), [(accuracy, 0.5), (area_under_curve, 0.75), (root_mean_square_error, 1.0)]
)
def test_scores_by_hand(score, wanted):
    class Model:
        def predict(self, graphs):
            return np.array([0, 0, 1, 1]) if score is accuracy else np.array([1.0, 2.0, 3.0, 4.0])

        def predict_proba(self, graphs):
            second = np.array([0.1, 0.4, 0.5, 0.8])
            return np.stack([1 - second, second], axis=1)

    y = np.array([0, 1, 0, 1]) if score is not root_mean_square_error else np.array([2.0, 1.0, 4.0, 3.0])
    assert score(Model(), GRAPHS, y) == pytest.approx(wanted)
