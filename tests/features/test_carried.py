from dataclasses import replace

import networkx as nx
import numpy as np
from scipy.spatial.distance import pdist

from graph_metric_learn._core.schema import join, read, split
from graph_metric_learn.features.blocks import BlocksState, NodeBlocks, available_kinds
from graph_metric_learn.features.propagation import propagate
from graph_metric_learn.graphs import as_graphs


def test_labels_have_a_column_if_they_occur():
    path = nx.path_graph(4)
    nx.set_node_attributes(path, dict(enumerate([0, 20_000, 0, 7])), "kind")
    given = as_graphs([path], label="kind")
    (block,) = NodeBlocks().fit(given, ["labels@0"]).transform(given)
    assert block.shape == (4, 3)
    many = nx.path_graph(300)
    nx.set_node_attributes(many, {i: i for i in many}, "kind")
    assert "labels" not in available_kinds(as_graphs([many], label="kind"))


def test_wide_attributes_are_reduced_and_keep_their_distances():
    """200 columns made of 5 vary along 5 axes; principal components at one hop are those at the next."""
    rng = np.random.default_rng(0)
    graphs = [nx.cycle_graph(6) for _ in range(30)]
    x = rng.normal(size=(180, 5)) @ rng.normal(size=(5, 200))
    given = replace(as_graphs(graphs), x=x.astype(np.float32))
    blocks = NodeBlocks().fit(given, ["attributes@0", "attributes@1"])
    assert [block.shape[1] for block in blocks.transform(given)] == [96, 96]
    standard = (x - x.mean(0)) / x.std(0)
    wanted = propagate(replace(given, x=standard.astype(np.float32)), 1)
    wanted = wanted - wanted.mean(0)
    wanted /= np.sqrt(np.mean((wanted**2).sum(1)))
    np.testing.assert_allclose(pdist(blocks.transform(given)[1]), pdist(wanted), rtol=1e-3)
    restored = NodeBlocks.of(read(BlocksState, join(*split(blocks.only(["attributes@1"]).saved()))))
    np.testing.assert_array_equal(restored.transform(given)[0], blocks.transform(given)[1])
