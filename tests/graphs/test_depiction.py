import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from graph_metric_learn import as_graphs, from_smiles
from graph_metric_learn.graphs.depiction import depictions, graph_svg
from odd_molecules import cycloparaphenylene


def look(*graphs, **options):
    return depictions(list(graphs), as_graphs(list(graphs), **options))


def test_nodes_are_called_as_the_user_calls_them():
    one = nx.Graph([("Oslo", "Rome"), ("Rome", 7)])
    two = nx.path_graph(2)
    first, second = look(one, two)
    assert first.names == ["Oslo", "Rome", "7"]
    assert first.edges.tolist() == [[0, 1], [1, 2]]
    assert second.names == ["0", "1"]
    assert depictions(None, as_graphs([one]))[0].names == ["0", "1", "2"]


def test_places_are_taken_from_the_graphs():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: (0.0, 1.0), 1: (2.0, 3.0)}, "pos")
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, pos=torch.tensor([[5.0, 6.0], [7.0, 8.0]]))
    bad = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, pos=torch.zeros(2, 3))
    assert look(graph)[0].layout.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    one, two = look(data, bad)
    assert one.layout.tolist() == [[5.0, 6.0], [7.0, 8.0]]
    assert two.places is None
    assert two.layout.shape == (2, 2)


def test_the_only_attribute_is_a_size_and_weights_are_widths():
    adjacency = np.array([[0, 2.0, 0], [2.0, 0, 4.0], [0, 4.0, 0]])
    (found,) = look((adjacency, np.array([[1.0], [2.0], [3.0]])))
    assert found.sizes.tolist() == [0.0, 0.5, 1.0]
    assert found.widths.tolist() == [0.5, 1.0]
    assert look((adjacency, np.eye(3)))[0].sizes is None


def test_directions_are_kept():
    (found,) = look(nx.DiGraph([(0, 1), (2, 1)]))
    assert found.directed
    assert sorted(map(tuple, found.edges.T.tolist())) == [(0, 1), (2, 1)]


def test_molecules_are_molecules():
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    graphs = from_smiles(["NCC(=O)O", "c1ccccc1", "C[N+](C)(C)C", "C"])
    glycine, benzene, ammonium, methane = depictions(list(graphs), as_graphs(graphs))
    assert glycine.names == ["N1", "C2", "C3", "O4", "O5"]
    assert glycine.symbols == ["NH₂", "", "", "O", "OH"]
    assert glycine.orders.tolist() == [1, 1, 2, 1]
    assert sorted(benzene.orders.tolist()) == [1, 1, 1, 2, 2, 2]  # Kekulé's
    lengths = np.linalg.norm(benzene.layout[benzene.edges[0]] - benzene.layout[benzene.edges[1]], axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=0.01)
    assert ammonium.symbols[1] == "N⁺"
    assert methane.symbols == ["CH₄"]


def test_a_molecule_of_very_many_rings_is_drawn_as_a_graph():
    """RDKit would take 15 s to place its atoms."""
    (ring,) = look(*from_smiles([cycloparaphenylene(12)]))
    assert ring.smiles is None
    assert len(ring.layout) == 72


def test_a_smiles_that_is_another_molecule_is_not_drawn():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, smiles="CCCC", name="odd")
    assert look(data)[0].smiles is None


def test_nodes_and_edges_are_coloured_and_names_escaped():
    graph = nx.Graph([("<b>", "a"), ("a", "c")])
    (look,) = depictions([graph], as_graphs([graph]))
    drawn = graph_svg(look, node_values=np.array([1.0, 0.0, -1.0]), edge_values={(0, 1): 1.0}, alt="it's <i>")
    assert drawn.count("<circle") == 3
    assert drawn.count("<line") == 2
    assert drawn.count("#e66101") == 2  # the first node and the first edge
    assert "#5e3c99" in drawn
    assert "<title>&lt;b&gt;</title>" in drawn
    assert "<b>" not in drawn
    assert "it&#x27;s &lt;i&gt;" in drawn


def test_molecules_are_drawn_by_rdkit_with_coloured_atoms_and_bonds():
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    graphs = from_smiles(["CCO"])
    (look,) = depictions(list(graphs), as_graphs(graphs))
    plain = graph_svg(look)
    coloured = graph_svg(look, node_values=np.array([0.0, 0.0, 1.0]), edge_values={(0, 1): -1.0}, alt="ethanol")
    assert plain.startswith("<svg")
    assert "#E66101" not in plain
    assert "#E66101" in coloured.upper()
    assert "#5E3C99" in coloured.upper()
    assert 'aria-label="ethanol"' in coloured
