"""A block of node features from outside the library, used from end to end: nothing in the library names it."""

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from edge_graphs import NAMES, edge_graph
from graph_metric_learn.features.block_kind import Block, seen
from graph_metric_learn.features.blocks import BLOCKS, NodeBlocks, SmoothBlock
from graph_metric_learn.graphs import as_graphs


class Reach(SmoothBlock):
    """How many nodes are within three hops. A toy."""

    scaling = "apart"

    def start(self, graphs):
        near = graphs.adjacency.toarray() + np.eye(int(graphs.sizes.sum()))
        return (np.linalg.matrix_power(near, 3) > 0).sum(1, keepdims=True).astype(np.float32)


@pytest.fixture
def reach(monkeypatch):
    monkeypatch.setitem(BLOCKS, "reach", Reach)


def test_a_block_from_outside_is_used_from_end_to_end(reach, tmp_path):
    graphs = [nx.path_graph(n) for n in range(8, 18)] + [nx.star_graph(n) for n in range(7, 17)]
    y = [0] * 10 + [1] * 10
    metric = gml.GraphMetric(features=["reach@0", "reach@1"], random_state=0).fit(graphs, y)
    assert metric.mixture_.describer.blocks.names_ == ["reach@0", "reach@1"]
    assert set(metric.weights_) <= {f"reach@0, reach@1 ({one})" for one in ("mean", "reference", "density")}
    assert metric.learned_.gate.learned == 1.0
    loaded = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(loaded.transform(graphs), metric.transform(graphs))
    everything = gml.GraphMetric(random_state=0, learn=False).fit(graphs)  # they are families like any other
    assert "reach@0 (mean)" in everything.weights_


def test_features_are_smoothed_level_by_level(reach):
    graphs = gml.as_graphs([nx.path_graph(9)])
    raw = Reach(None).at_levels(graphs, [0, 2], {})
    assert raw[0][:, 0].tolist() == [4, 5, 6, 7, 7, 7, 6, 5, 4]
    assert not np.allclose(raw[0], raw[1])
    block, smooth = NodeBlocks().fit(graphs, ["reach@0", "reach@2"]).transform(graphs)
    np.testing.assert_allclose(block[:, 0], (raw[0] - raw[0].mean())[:, 0] / raw[0].std(), rtol=1e-5)
    np.testing.assert_allclose(smooth[:, 0], (raw[1] - raw[1].mean())[:, 0] / raw[1].std(), rtol=1e-4)


def test_without_it_the_name_is_unknown():
    with pytest.raises(ValueError, match="unknown block 'reach@0'"):
        NodeBlocks().fit([nx.path_graph(3)], ["reach@0"])


class Initials(Block):
    """A name for each node that is its degree. A toy."""

    scaling = "none"
    categorical = True

    def at_levels(self, graphs, levels, shared):
        return [graphs.degrees[:, None].astype(np.uint64) for _ in levels]


def test_a_block_of_names_from_outside_is_counted(monkeypatch, tmp_path):
    monkeypatch.setitem(BLOCKS, "initials", Initials)
    graphs = [nx.path_graph(n) for n in range(8, 18)] + [nx.star_graph(n) for n in range(7, 17)]
    metric = gml.GraphMetric(features=["initials@0"], random_state=0).fit(graphs, [0] * 10 + [1] * 10)
    assert metric.weights_ == {"initials@0 (multiset)": 1.0}
    assert metric.learned_.gate.learned == 1.0
    loaded = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(loaded.transform(graphs), metric.transform(graphs))


def test_what_edges_carry_is_seen_on_request():
    graphs = as_graphs([edge_graph(0), edge_graph(1)], **NAMES)
    assert seen(graphs, ()).edge_data is None
    assert seen(graphs, ("edges",)).edge_data.carries == ["labels", "vectors", "weights"]


def test_the_first_of_several_labels():
    graph = edge_graph(2)
    for _, data in graph.nodes(data=True):
        data["element"] = [1, 2, 3]
    graphs = as_graphs([graph], **NAMES)
    assert seen(graphs, ("first",)).labels.shape[1] == 1
    assert seen(graphs, ()).labels.shape[1] == 3
