import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.automatic import sample as module
from graph_metric_learn.metrics.automatic.sample import (
    Sample,
    sample_size,
    squares_without_copies,
    without_copies,
)
from graph_metric_learn.metrics.automatic.terms import Term
from made_up_vectors import squares_of


def sampled(graphs, names):
    given = as_graphs(graphs)
    blocks = dict(zip(names, NodeBlocks().fit(given, names).transform(given), strict=True))
    return Sample(blocks, {"nodes": given.sizes}, np.arange(len(graphs)) % 2)


def test_a_part_holds_the_nodes_of_its_graphs():
    graphs = [nx.path_graph(n) for n in (3, 5, 2, 4)]
    sample = sampled(graphs, ["structure@0", "trees@0"])
    part = sample.part(np.array([1, 3]))
    assert (len(sample), len(part)) == (4, 2)
    np.testing.assert_array_equal(part.sizes["nodes"], [5, 4])
    np.testing.assert_array_equal(part.target, [1, 1])
    for name in ("structure@0", "trees@0"):
        np.testing.assert_array_equal(part.blocks[name], sample.blocks[name][[*range(3, 8), *range(10, 14)]])


@pytest.mark.parametrize(("names", "kind"), [(["structure@0"], "mean"), (["trees@0", "trees@1"], "counts")])
def test_distances_of_a_sample_are_those_of_its_terms(rng, names, kind):
    sample = sampled([nx.gnp_random_graph(n, 0.4, seed=n) for n in (5, 8, 6, 7)], names)
    (term,) = Term.fit_each("some", names, [kind], sample.blocks, sample.sizes["nodes"], rng)
    term.weight = 2.0
    embedded = sample.embedded(term)
    embedded = embedded.toarray() if sparse.issparse(embedded) else embedded
    wanted = 2.0 * squares_of(embedded)
    np.testing.assert_allclose(sample.squares(term), wanted, rtol=1e-4, atol=1e-5)
    assert sample.squares(term).dtype == np.float32
    term.compact(sample.embedded(term))
    assert sample.coordinates(term).shape[0] == 4
    np.testing.assert_allclose(sample.squares(term), wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("room", "times"), [(64 * 2**20, 1), (10, 2)])
def test_vectors_are_computed_once_while_there_is_room(rng, monkeypatch, room, times):
    monkeypatch.setattr(module, "_KEPT", room)
    sample = sampled([nx.gnp_random_graph(4, 0.5, seed=i) for i in range(3)], ["structure@0"])
    (term,) = Term.fit_each("structure", ["structure@0"], ["axes"], sample.blocks, sample.sizes["nodes"], rng)
    calls = []
    monkeypatch.setattr(Term, "embedded", lambda *given, embedded=Term.embedded: calls.append(1) or embedded(*given))
    first, second = sample.embedded(term), sample.part(np.arange(3)).embedded(term)
    assert len(calls) == times
    np.testing.assert_array_equal(first, second)


def test_copies_up_to_rounding_are_at_distance_zero(rng):
    vectors = rng.normal(size=(4, 50)).astype(np.float32)
    copies = np.concatenate([vectors, vectors])
    copies[4:, 0] = np.nextafter(copies[4:, 0], np.float32(10.0))  # the last digit of one number
    different, copy_of = without_copies(copies)
    assert len(different) == 4
    np.testing.assert_array_equal(copy_of[:4], copy_of[4:])
    squares = squares_without_copies(copies)
    assert (np.diag(squares[:4, 4:]) == 0).all()
    np.testing.assert_allclose(squares, squares_of(copies), atol=1e-4)


def test_sparse_copies(rng):
    vectors = sparse.csr_array(rng.normal(size=(6, 30)) * (rng.random((6, 30)) < 0.3))
    both = sparse.vstack([vectors, vectors], format="csr")
    squares = squares_without_copies(both)
    assert squares.dtype == np.float32
    assert (np.diag(squares[:6, 6:]) == 0).all()
    np.testing.assert_allclose(squares, squares_of(both.toarray()), atol=1e-5)


def test_fewer_graphs_where_they_are_large(monkeypatch):
    small, large = as_graphs([nx.path_graph(10)] * 5), as_graphs([nx.path_graph(1000)] * 5)
    assert sample_size(small, 2000) == 2000
    assert sample_size(small, 30) == 30
    assert sample_size(large, 2000) == 100
    monkeypatch.setattr(module, "_MIN_GRAPHS", 20)
    assert sample_size(large, 2000) == 80
    heavy = [nx.path_graph(100) for _ in range(5)]
    for graph in heavy:
        nx.set_edge_attributes(graph, 0.5, "weight")
    monkeypatch.setattr(module, "_MAX_ARCS", 198 * 50)
    assert sample_size(as_graphs(heavy), 2000) == 50
    assert sample_size(as_graphs([nx.path_graph(100)] * 5), 2000) == 800  # edges that carry nothing
