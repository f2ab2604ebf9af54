import networkx as nx
import numpy as np

from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.automatic.sample import Sample, side_by_side, squared_distances, without_copies
from graph_metric_learn.metrics.automatic.terms import Term


def sampled(graphs, names):
    given = as_graphs(graphs)
    blocks = dict(zip(names, NodeBlocks().fit(given, names).transform(given), strict=True))
    return Sample(blocks, {"nodes": given.sizes}, np.arange(len(graphs)) % 2)


def test_a_part_holds_the_nodes_of_its_graphs():
    graphs = [nx.path_graph(n) for n in (3, 5, 2, 4)]
    sample = sampled(graphs, ["structure@0", "trees@0"])
    part = sample.part(np.array([1, 3]))
    np.testing.assert_array_equal(part.sizes["nodes"], [5, 4])
    np.testing.assert_array_equal(part.target, [1, 1])
    np.testing.assert_array_equal(
        part.blocks["structure@0"], sample.blocks["structure@0"][[*range(3, 8), *range(10, 14)]]
    )
    assert part.blocks["trees@0"].shape[0] == 9


def test_distances_are_sums_over_the_terms(rng):
    one, two = rng.normal(size=(6, 2, 3)).astype(np.float32), rng.normal(size=(6, 1, 4)).astype(np.float32)
    flat = side_by_side([one, two]).astype(float)
    assert flat.shape == (6, 10)
    wanted = ((flat[:, None] - flat[None]) ** 2).sum(2)
    np.testing.assert_allclose(squared_distances([one, two]), wanted, atol=1e-4)


def test_distances_of_a_sample_are_those_of_its_terms(rng):
    sample = sampled([nx.gnp_random_graph(n, 0.4, seed=n) for n in (5, 8, 6, 7)], ["structure@0"])
    (term,) = Term.fit_each("some", ["structure@0"], ["mean"], sample.blocks, sample.sizes["nodes"], rng)
    vectors = sample.vectors(term)[:, 0].astype(float)
    wanted = ((vectors[:, None] - vectors[None]) ** 2).sum(2)
    np.testing.assert_allclose(sample.squares([term]), wanted, atol=1e-5)


def test_copies_up_to_rounding_are_at_distance_zero(rng):
    vectors = rng.normal(size=(4, 50)).astype(np.float32)
    copies = np.concatenate([vectors, vectors])
    copies[4:, 0] = np.nextafter(copies[4:, 0], np.float32(10.0))  # the last digit of one number
    different, copy_of = without_copies(copies)
    assert len(different) == 4
    np.testing.assert_array_equal(copy_of[:4], copy_of[4:])
    assert (np.diag(squared_distances([copies])[:4, 4:]) == 0).all()
