import networkx as nx
import numpy as np
import pytest

from graph_metric_learn import as_graphs, from_smiles
from graph_metric_learn.graphs.depiction import depictions
from graph_metric_learn.graphs.svg import graph_svg


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
