import base64
import json
import struct

import networkx as nx
import numpy as np

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.graphs.depiction import depictions
from graph_metric_learn.metrics.explanation import Evidence, Explanation
from graph_metric_learn.viz.explorer.packing import (
    drawing_bytes,
    explanation_bytes,
    pack_drawings,
    pack_explanation,
    packed,
    safe_json,
)


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=f"<{kind}")


def test_json_cannot_leave_its_element():
    hostile = {"name": "</script><!--<b>&amp;\u2028\u2029", "<k>": [1.5, None]}
    text = safe_json(hostile)
    assert json.loads(text) == hostile
    assert not set("<>&\u2028\u2029") & set(text)


def test_numbers_come_back():
    assert unpacked(packed(np.array([0, 65535]), "u2"), "u2").tolist() == [0, 65535]
    assert unpacked(packed(np.array([0.5, -2.0]), "f4"), "f4").tolist() == [0.5, -2.0]


def looks_of(*graphs):
    return depictions(list(graphs), as_graphs(list(graphs)))


def test_drawings_are_packed_flat():
    square, path = nx.cycle_graph(4), nx.path_graph(["a", "b"])
    nx.set_node_attributes(square, {0: (0, 0), 1: (2, 0), 2: (2, 1), 3: (0, 1)}, "pos")
    found = pack_drawings(looks_of(square, path), 3, np.ones(2, bool))
    assert unpacked(found["sizes"], "u4").tolist() == [4, 2]
    assert unpacked(found["counts"], "u4").tolist() == [3, 1]  # one edge of the square is not drawn
    assert unpacked(found["all"], "u4").tolist() == [4, 1]
    places = unpacked(found["places"], "u1").reshape(-1, 2)
    assert places[:4].tolist() == [[0, 191], [255, 191], [255, 64], [0, 64]]  # the longer side fills it, y downwards
    assert unpacked(found["edges"], "u1").reshape(-1, 2).tolist() == [[0, 1], [0, 3], [1, 2], [0, 1]]
    assert found["names"] == [None, ["a", "b"]]
    assert found["orders"] is None
    assert found["labels"] is None


def test_graphs_that_are_not_drawn_leave_their_sizes_alone():
    square, path = nx.cycle_graph(4), nx.path_graph(["a", "b"])
    found = pack_drawings(looks_of(square, path), 9, np.array([True, False]))
    assert unpacked(found["sizes"], "u4").tolist() == [4, 2]
    assert unpacked(found["all"], "u4").tolist() == [4, 1]
    assert unpacked(found["counts"], "u4").tolist() == [4, 0]
    assert unpacked(found["drawn"], "u1").tolist() == [1, 0]
    assert len(unpacked(found["places"], "u1")) == 2 * 4
    assert found["names"] is None
    nothing = pack_drawings(looks_of(square, path), 9, np.zeros(2, bool))
    assert nothing["places"] == nothing["edges"] == ""


def test_no_drawing_takes_more_bytes_than_was_said():
    rng = np.random.default_rng(0)
    graphs = [nx.gnm_random_graph(n, 2 * n, seed=n) for n in (5, 40, 300)]
    for graph in graphs:
        nx.set_node_attributes(graph, {v: f"<label {rng.integers(600)}>" for v in graph}, "label")
        nx.set_node_attributes(graph, {v: float(rng.random()) for v in graph}, "x")
        nx.set_edge_attributes(graph, {e: float(rng.random()) for e in graph.edges}, "weight")
    graphs = [nx.relabel_nodes(graph, {v: f"node é {v}" for v in graph}) for graph in graphs]
    looks = looks_of(*graphs)
    said = drawing_bytes(looks, 100)
    written = len(safe_json(pack_drawings(looks, 100, np.ones(3, bool))).encode())
    assert 0.7 * said.sum() < written < said.sum() + 1000  # names of fields


def test_labels_are_places_in_a_table():
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "N", 1: "C", 2: "C"}, "label")
    labels = pack_drawings(looks_of(graph), 10, np.ones(1, bool))["labels"]
    assert labels["table"] == ["C", "N"]
    assert unpacked(labels["codes"], "u1").tolist() == [1, 0, 0]


def explanation(**more):
    plan = np.array([[0.5, 0.0, 0.0], [0.0, 0.25, 0.25]])
    graphs = as_graphs([nx.path_graph(2), nx.path_graph(3)])
    terms = {"trees": 0.9, "sizes": 0.1}
    shares = (np.array([1.5, -0.5]), np.array([0.2, 0.3, 0.5]))
    return Explanation(2.0, plan, *shares, graphs, term_share=terms, **more)


def test_an_explanation_is_packed_in_order():
    evidence = Evidence("ring", None, False, 0.5, np.array([0.4, 0.1]), np.array([-0.3, -0.3, 0.1]))
    found = explanation(evidence=evidence)
    looks = tuple(depictions(None, found.graphs))
    terms = {"sizes": 0}
    record = pack_explanation(found, looks, 10, terms, ["ring", "star"])
    distance, with_edges, top = struct.unpack_from("<fBf", record)
    assert (distance, with_edges, top) == (2.0, 0, 1.5)
    at = 9
    assert np.frombuffer(record[at : at + 5], np.int8).tolist() == [127, -42, 17, 25, 42]
    at += 5
    assert np.frombuffer(record[at : at + 4], "<u2").tolist() == [0, 1]
    assert list(record[at + 4 : at + 6]) == [255, 128]  # half of the second node's mass
    at += 6
    assert np.frombuffer(record[at : at + 6], "<u2").tolist()[:2] == [0, 1]
    at += 9
    assert record[at] == 2
    assert terms == {"sizes": 0, "trees": 1}
    assert struct.unpack_from("<Hf", record, at + 1) == (1, np.float32(0.9))
    at += 13
    kind, towards, against, change = struct.unpack_from("<Bhhf", record, at)
    assert (kind, towards, against, change) == (1, 0, -1, 0.5)
    assert len(record) == at + 9 + 4 + 5
    assert len(base64.b64encode(record)) <= explanation_bytes(np.array([2, 3]), np.array([1, 2])).sum() + 40


def test_shares_of_edges_follow_the_drawn_edges():
    ends = [np.array([[0], [1]]), np.array([[1, 0], [2, 1]])]
    found = explanation(edge_ends=ends, edge_source_share=np.array([3.0]), edge_target_share=np.array([1.0, 2.0]))
    record = pack_explanation(found, tuple(depictions(None, found.graphs)), 10, {}, [])
    assert record[4] == 1
    assert np.frombuffer(record[9:17], np.int8).tolist() == [64, -21, 8, 13, 21, 127, 85, 42]
    assert record[-1] == 0  # nothing was learned
