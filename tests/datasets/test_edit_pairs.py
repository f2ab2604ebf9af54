import joblib
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graph_metric_learn as gml
from graph_metric_learn.datasets import EditCosts, edit_distances, edit_pairs
from small_graphs import random_graphs

ALL = np.array([(i, j) for i in range(6) for j in range(6)])


def labelled(seed, count=6, most=6):
    """Random small graphs with node labels of three kinds."""
    rng, graphs = np.random.default_rng(seed), []
    for _ in range(count):
        graph = nx.gnp_random_graph(int(rng.integers(1, most + 1)), 0.5, seed=int(rng.integers(1000)))
        nx.set_node_attributes(graph, {node: "CNO"[int(rng.integers(3))] for node in graph}, "label")
        graphs.append(graph)
    return graphs


def plain():
    """Graphs without labels, of many pairs of which bounds do not meet."""
    return [nx.gnp_random_graph(6, 0.4, seed=i) if i % 2 else nx.random_labeled_tree(6, seed=i) for i in range(6)]


def searched(monkeypatch):
    """A list to which each pair is added that is computed."""
    calls, compute = [], edit_pairs.edit_distance
    monkeypatch.setattr(edit_pairs, "edit_distance", lambda *given: calls.append(given[:2]) or compute(*given))
    return calls


def test_distances_are_those_of_networkx():
    graphs = labelled(0)
    found = edit_distances(graphs, ALL, timeout=60.0)
    wanted = [nx.graph_edit_distance(graphs[i], graphs[j], lambda a, b: a["label"] == b["label"]) for i, j in ALL]
    assert found.exact.all()
    np.testing.assert_array_equal(found.values, wanted)
    np.testing.assert_array_equal(found.pairs, ALL)


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_edit_distances_are_a_metric(seed):
    d = edit_distances(labelled(seed, most=5), ALL, timeout=60.0).values.reshape(6, 6)
    assert (np.diag(d) == 0).all()
    np.testing.assert_array_equal(d, d.T)
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-9).all()


def test_bounds_hold_where_time_is_short():
    graphs = plain()
    exact = edit_distances(graphs, ALL, timeout=60.0).values
    rough = edit_distances(graphs, ALL, timeout=0)
    assert 0 < rough.exact.sum() < len(ALL)
    assert (rough.lower <= exact).all()
    assert (rough.upper >= exact).all()
    np.testing.assert_array_equal(rough.values[rough.exact], exact[rough.exact])
    assert np.isnan(rough.values[~rough.exact]).all()
    gap = (rough.upper - rough.lower)[~rough.exact].mean()
    assert repr(rough) == (
        f"EditDistances(36 pairs, {rough.exact.sum()} exact, bounds of the others {gap:.3g} apart on average)"
    )


def test_a_pair_is_computed_once(monkeypatch):
    calls, graphs = searched(monkeypatch), labelled(2)
    found = edit_distances([*graphs, graphs[0]], [[0, 1], [1, 0], [0, 1], [6, 1], [2, 3]])
    assert len(calls) == 2
    assert len(set(found.values[:4])) == 1


def test_a_file_is_gone_on_from(tmp_path, monkeypatch):
    path, graphs = tmp_path / "pairs.txt", labelled(3)
    wanted = edit_distances(graphs, ALL).values
    calls = searched(monkeypatch)
    np.testing.assert_array_equal(edit_distances(graphs, ALL[:15], path=path).values, wanted[:15])
    first = len(calls)
    np.testing.assert_array_equal(edit_distances(graphs, ALL, path=path).values, wanted)
    assert 0 < first < len(calls) <= 21
    del calls[:]
    order = np.array([3, 5, 0, 1, 4, 2])  # the same graphs at other places
    again = edit_distances([graphs[i] for i in order], np.argsort(order)[ALL], path=path)
    np.testing.assert_array_equal(again.values, wanted)
    assert not calls
    changed = graphs[0].copy()
    changed.add_node("new", label="C")
    edit_distances([changed, *graphs[1:]], [[0, 1], [2, 3]], path=path)
    assert len(calls) == 1


def test_more_time_is_used(tmp_path, monkeypatch):
    path, graphs = tmp_path / "pairs.txt", plain()
    rough = edit_distances(graphs, ALL, timeout=0, path=path)
    calls = searched(monkeypatch)
    edit_distances(graphs, ALL, timeout=0, path=path)
    assert not calls
    found = edit_distances(graphs, ALL, timeout=60.0, path=path)
    unknown = {tuple(sorted(pair)) for pair in ALL[~rough.exact].tolist()}
    assert len(calls) == len(unknown) > 0
    assert found.exact.all()


def test_what_was_done_before_an_error_is_kept(tmp_path, monkeypatch):
    path, graphs = tmp_path / "pairs.txt", labelled(5)
    calls, compute = [], edit_pairs.edit_distance

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 11:
            raise KeyboardInterrupt
        return compute(*given)

    monkeypatch.setattr(edit_pairs, "edit_distance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        edit_distances(graphs, ALL, path=path)
    edit_distances(graphs, ALL, path=path)
    pairs = [tuple(sorted(graph.digest for graph in given[:2])) for given in calls]
    assert len(pairs) == len(set(pairs)) + 3  # those that were under way, and the one that failed
    np.testing.assert_array_equal(edit_distances(graphs, ALL, path=path).values, edit_distances(graphs, ALL).values)


def test_workers_find_the_same(tmp_path):
    graphs = labelled(6)
    with joblib.parallel_config("loky", n_jobs=2):
        found = edit_distances(graphs, ALL, path=tmp_path / "pairs.txt")
    np.testing.assert_array_equal(found.values, edit_distances(graphs, ALL).values)


def test_costs_and_attributes_count():
    first, second = nx.path_graph(2), nx.path_graph(2)
    nx.set_node_attributes(first, {0: "C", 1: "C"}, "element")
    nx.set_node_attributes(second, {0: "C", 1: "N"}, "element")
    graphs = gml.as_graphs([first, second, nx.relabel_nodes(first, {0: "a", 1: "b"})], label="element")
    assert edit_distances(graphs, [[0, 1], [0, 2]]).values.tolist() == [1.0, 0.0]
    assert edit_distances(graphs, [[0, 1]], costs=EditCosts(node_label=0.25)).values.tolist() == [0.25]
    with pytest.warns(UserWarning, match="edit distances do not count node attribute 'element': as_graphs"):
        assert edit_distances([first, second], [[0, 1]]).values.tolist() == [0.0]


def test_graphs_of_any_kind(rng):
    found = edit_distances(random_graphs(rng, 4, largest=5), [[0, 1], [2, 3], [1, 1]], timeout=60.0)
    assert found.exact.all()
    assert (found.values[:2] > 0).all()
    assert found.values[2] == 0
    assert len(found) == 3


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], r"rows of two indices \[P, 2\]"),
        ([0, 1], r"rows of two indices \[P, 2\]"),
        ([[0, 1, 2]], r"rows of two indices \[P, 2\]"),
        ([[0.0, 1.0]], "pairs must be whole numbers"),
        ([[0, 1], [0, 6]], r"pair 1 is \[0, 6\]: there are graphs 0 to 5"),
        ([[-1, 1]], r"pair 0 is \[-1, 1\]: there are graphs 0 to 5"),
    ],
)
def test_pairs_that_make_no_sense(pairs, message):
    with pytest.raises(ValueError, match=message):
        edit_distances(labelled(0), pairs)


@pytest.mark.parametrize("timeout", [-1.0, np.nan, "1", None, True])
def test_timeouts_that_make_no_sense(timeout):
    with pytest.raises(ValueError, match="timeout must be a number of seconds >= 0"):
        edit_distances(labelled(0), [[0, 1]], timeout=timeout)
