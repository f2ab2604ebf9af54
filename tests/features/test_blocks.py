from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from graph_metric_learn._core.schema import join, read, split
from graph_metric_learn.features.blocks import BlocksState, NodeBlocks, available_kinds
from graph_metric_learn.features.propagation import propagate
from graph_metric_learn.graphs import as_graphs
from graph_zoo import zoo

NAMES = ["attributes@0", "attributes@2", "degree@0", "degree@1", "structure@1", "size@0", "wl@0", "wl@2"]


def test_blocks_are_centred_and_of_unit_mean_square():
    pairs, _ = zoo(np.random.default_rng(0), 20)
    blocks = NodeBlocks().fit(pairs, NAMES).transform(pairs)
    for block in blocks:
        np.testing.assert_allclose(block.mean(0), 0, atol=1e-5)
        assert np.mean((block**2).sum(1)) == pytest.approx(1, rel=1e-4)


def test_blocks_of_the_sample_come_with_the_fit():
    pairs, _ = zoo(np.random.default_rng(0), 20)
    some = np.arange(0, 20, 2)
    wanted = NodeBlocks().fit(pairs, [*NAMES, "trees@1"], sample=some).transform(as_graphs(pairs)[some])
    found = NodeBlocks().fit_transform(pairs, [*NAMES, "trees@1"], sample=some)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_hops_are_propagated_features():
    pairs, _ = zoo(np.random.default_rng(0), 5)
    given = as_graphs(pairs)
    fitted = NodeBlocks().fit(pairs, ["attributes@2"])
    (block,) = fitted.transform(pairs)
    standard = (given.x - given.x.mean(0)) / given.x.std(0)
    wanted = propagate(replace(given, x=standard.astype(np.float32)), 2)
    wanted = wanted - wanted.mean(0)
    np.testing.assert_allclose(block, wanted / np.sqrt((wanted**2).sum(1).mean()), atol=1e-4)


def test_new_graphs_go_through_what_was_fitted():
    pairs, _ = zoo(np.random.default_rng(0), 20)
    fitted = NodeBlocks().fit(pairs[:10], NAMES)
    together = fitted.transform(pairs)
    apart = [
        np.concatenate(parts) for parts in zip(fitted.transform(pairs[:7]), fitted.transform(pairs[7:]), strict=True)
    ]
    for one, two in zip(together, apart, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)
    again = NodeBlocks.of(read(BlocksState, join(*split(fitted.saved()))))
    for one, two in zip(together, again.transform(pairs), strict=True):
        np.testing.assert_array_equal(one, two)


def test_the_same_tree_has_the_same_code_a_new_one_another():
    path = nx.path_graph(5)
    nx.set_node_attributes(path, {i: "ab"[i % 2] for i in path}, "kind")
    other = nx.path_graph(3)
    nx.set_node_attributes(other, {0: "c", 1: "a", 2: "c"}, "kind")  # "c" was never seen
    fitted = NodeBlocks().fit(as_graphs([path], label="kind"), ["labels@0", "wl@1"])
    labels, codes = fitted.transform(as_graphs([path, other], label="kind"))
    np.testing.assert_array_equal(codes[0], codes[4])
    np.testing.assert_array_equal(codes[5], codes[7])
    assert np.linalg.norm(codes[5] - codes[0]) > 0.5
    assert np.isfinite(labels).all()


def test_what_graphs_can_have_and_what_is_asked_for():
    given = as_graphs([nx.path_graph(3)])
    assert available_kinds(given) == ["degree", "structure", "size", "wl", "trees"]
    with pytest.raises(ValueError, match="'labels@0' needs labels of nodes, which the graphs do not carry"):
        NodeBlocks().fit(given, ["labels@0"])
    with pytest.raises(ValueError, match="unknown block 'wl'"):
        NodeBlocks().fit(given, ["wl"])


def test_a_block_that_never_varies_says_nothing():
    ring = nx.cycle_graph(6)
    (block,) = NodeBlocks().fit([ring], ["degree@0"]).transform([ring])
    assert (block == 0).all()


def test_columns_of_different_units_weigh_the_same():
    pairs, _ = zoo(np.random.default_rng(0), 20)
    (block,) = NodeBlocks().fit(pairs, ["structure@0"]).transform(pairs)
    spread = (block**2).mean(0)
    np.testing.assert_allclose(spread[spread > 0], 1 / np.sum(spread > 0), rtol=1e-4)


def test_trees_have_names_that_new_graphs_share():
    pairs, _ = zoo(np.random.default_rng(0), 20)
    fitted = NodeBlocks().fit(pairs[:10], ["trees@1", "trees@0", "wl@1"])
    names, shallow, codes = fitted.transform(pairs)
    assert names.dtype == shallow.dtype == np.uint64  # neither centred nor scaled
    assert names.shape == (len(codes), 1)
    assert list(fitted.centres_) == ["wl@1"]
    by_name, by_code = (
        np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).tolist() for rows in (names, codes.round(5))
    )
    assert len(set(zip(by_name, by_code, strict=True))) == max(by_name) + 1 == max(by_code) + 1
    np.testing.assert_array_equal(
        NodeBlocks.of(read(BlocksState, join(*split(fitted.saved())))).transform(pairs)[0], names
    )
    np.testing.assert_array_equal(fitted.transform(pairs[15:])[0], names[-sum(len(x) for _, x in pairs[15:]) :])


def test_some_of_the_blocks():
    pairs, _ = zoo(np.random.default_rng(0), 10)
    fitted = NodeBlocks().fit(pairs, NAMES)
    (block,) = fitted.only(["attributes@2"]).transform(pairs)
    np.testing.assert_array_equal(block, fitted.transform(pairs)[NAMES.index("attributes@2")])
