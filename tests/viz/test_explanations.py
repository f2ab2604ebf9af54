from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from graph_metric_learn import as_graphs, from_smiles
from graph_metric_learn.metrics.explanation import Evidence, Explanation


@pytest.fixture
def explained():
    plan = np.array([[0.3, 0.1, 0.1], [0.0, 0.2, 0.3]])
    graphs = as_graphs([nx.path_graph(2), nx.path_graph(3)])
    return Explanation(2.0, plan, np.array([0.75, 0.25]), np.array([0.1, 0.2, 0.7]), graphs)


@pytest.fixture
def named(explained):
    """The same with names, one of them hostile, terms, and what speaks for a class."""
    evidence = Evidence("ring", "star", False, 0.5, np.array([0.4, 0.1]), np.array([-0.3, -0.3, 0.1]))
    graphs = replace(explained.graphs, names=["<b>one</b>", "two"])
    return replace(explained, graphs=graphs, term_share={"trees": 0.9, "<i>sizes</i>": 0.1}, evidence=evidence)


def test_a_drawing_shows_nodes_edges_matches_and_what_colours_mean(explained):
    axes = explained.plot(k=2)
    assert axes.get_title() == "distance 2"
    assert len(axes.lines) == 2 + 1 + 2  # matches, edges of the first, edges of the second
    assert [len(dots.get_offsets()) for dots in axes.collections] == [2, 3]
    np.testing.assert_allclose(axes.collections[1].get_array(), [0.1, 0.2, 0.7])
    bar = axes.figure.axes[1]
    assert bar.get_ylabel() == "share of the squared distance"
    assert bar.get_ylim() == (-0.75, 0.75)
    placed = explained.plot(positions=(np.zeros((2, 2)), np.arange(6.0).reshape(3, 2)))
    np.testing.assert_allclose(placed.collections[1].get_offsets()[:, 1], [0.0, 0.5, 1.0])


def test_no_more_than_ten_matches():
    graphs = as_graphs([nx.path_graph(20), nx.path_graph(20)])
    axes = Explanation(1.0, np.eye(20) / 20, np.full(20, 0.05), np.full(20, 0.05), graphs).plot()
    assert len(axes.lines) == 10 + 19 + 19


def test_names_stand_in_the_title(explained):
    named = replace(explained, graphs=replace(explained.graphs, names=["C$C$C", "N" * 100]))
    title = named.plot().title
    assert title.get_text() == f"C$C$C – {'N' * 39}…\ndistance 2"
    assert not title.get_parse_math()  # a SMILES is no formula


def test_edges_are_drawn_by_their_share(explained):
    ends = [np.array([[0], [1]]), np.array([[0, 2], [1, 1]])]
    shares = {"edge_ends": ends, "edge_source_share": np.array([-0.5]), "edge_target_share": np.array([0.0, 0.9])}
    lines = replace(explained, **shares).plot(k=1).lines[1:]
    widths = [line.get_linewidth() for line in lines]
    assert len(lines) == 3 + 2  # under two of the edges there is a coloured line
    assert widths[3] == max(widths) == 9.0  # between the nodes 1 and 2 of the second graph
    takes_off, adds = (lines[i].get_color() for i in (0, 3))
    assert takes_off[2] > takes_off[1]  # purple
    assert adds[0] > adds[2]  # orange


def test_molecules_are_written_with_their_bonds():
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    graphs = from_smiles(["CC=O", "CCO"])
    even = Explanation(1.0, np.eye(3) / 3, np.full(3, 1 / 3), np.full(3, 1 / 3), as_graphs(graphs))
    axes = even.drawn_as(list(graphs)).plot(k=0)
    assert [text.get_text() for text in axes.texts] == ["O", "OH"]
    assert len(axes.lines) == 3 + 2  # a double bond is two lines


def test_notebooks_see_graphs_terms_and_what_speaks_for_a_class(named):
    html = named._repr_html_()
    assert html.count("<svg") == 2
    assert "90.0 % trees" in html
    assert "10.0 % &lt;i&gt;sizes&lt;/i&gt;" in html
    assert "&lt;b&gt;one&lt;/b&gt;" in html
    assert "<b>one" not in html
    assert "Nodes that speak for ring most: 0 (+0.4), 1 (+0.1); in the second graph 2 (+0.1)." in html
    assert "Heaviest matches: 0–0, 1–2, 1–1, 0–1, 0–2." in html
    assert "75 %</span>" in html  # the end of the bar


def test_numbers_and_no_evidence(named):
    number = replace(named.evidence, towards="the number", against=None, is_number=True)
    assert "Nodes that raise the number most" in replace(named, evidence=number)._repr_html_()
    assert "Nodes that" not in replace(named, evidence=None, term_share=None)._repr_html_()
