"""Threads and processes: fitted models are used from many at once, whichever way the processes were made."""

import multiprocessing
import threading

import networkx as nx
import numpy as np
import pytest
from joblib import Parallel, delayed

import graph_metric_learn as gml

GRAPHS = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
Y = [0] * 6 + [1] * 6


def distances(metric):
    """In another process: distances by compiled loops, products and solvers."""
    return metric.pairwise_distances(GRAPHS)


@pytest.fixture(scope="module")
def metrics():
    walked = gml.SGML(n_epochs=1, random_state=0).fit(GRAPHS, Y)
    transported = gml.GraphMetric(features=["degree@1"], embedding="reference", random_state=0).fit(GRAPHS, Y)
    return [(metric, metric.pairwise_distances(GRAPHS)) for metric in (walked, transported)]


@pytest.mark.parametrize("method", [m for m in multiprocessing.get_all_start_methods() if m != "forkserver"])
def test_processes_of_every_kind(metrics, method):
    """A forked process ended in "fork() called from a process already using GNU OpenMP", or never."""
    with multiprocessing.get_context(method).Pool(1) as pool:
        for metric, wanted in metrics:
            np.testing.assert_allclose(pool.apply_async(distances, [metric]).get(timeout=240), wanted, atol=1e-6)


def test_processes_of_joblib(metrics):
    found = Parallel(n_jobs=2, backend="loky")(delayed(distances)(metric) for metric, _ in metrics)
    for one, (_, wanted) in zip(found, metrics, strict=True):
        np.testing.assert_allclose(one, wanted, atol=1e-6)


def test_predictions_while_graphs_are_added():
    model = gml.GraphKNNClassifier(gml.SGML(n_epochs=1, random_state=0), n_neighbors=1).fit(GRAPHS, Y)
    before, wrong = model.predict(GRAPHS).tolist(), []

    def predict():
        for _ in range(10):
            try:
                found = model.predict(GRAPHS).tolist()
            except Exception as error:
                wrong.append(error)
            else:
                if found != before:
                    wrong.append(found)

    threads = [threading.Thread(target=predict) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        model.add(GRAPHS, Y)
    for thread in threads:
        thread.join()
    assert not wrong
