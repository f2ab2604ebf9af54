from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.explanation import Explanation


@pytest.fixture
def explained():
    plan = np.array([[0.3, 0.1, 0.1], [0.0, 0.2, 0.3]])
    graphs = as_graphs([nx.path_graph(2), nx.path_graph(3)])
    return Explanation(2.0, plan, np.array([0.75, 0.25]), np.array([0.1, 0.2, 0.7]), graphs)


def test_the_heaviest_matches_come_first(explained):
    assert explained.matches(2) == [(0, 0, 0.3), (1, 2, 0.3)]
    assert len(explained.matches()) == 5  # what has no mass is no match


def test_a_drawing_shows_nodes_edges_and_matches(explained):
    axes = explained.plot(k=2)
    assert axes.get_title() == "distance 2"
    assert len(axes.lines) == 2 + 1 + 2  # matches, edges of the first, edges of the second
    assert [len(dots.get_offsets()) for dots in axes.collections] == [2, 3]
    np.testing.assert_allclose(axes.collections[1].get_array(), [0.1, 0.2, 0.7])
    placed = explained.plot(positions=(np.zeros((2, 2)), np.arange(6.0).reshape(3, 2)))
    np.testing.assert_allclose(placed.collections[1].get_offsets()[:, 1], [0.0, 0.5, 1.0])


def test_names_stand_in_the_title_and_in_what_is_printed(explained):
    assert explained.names is None
    assert repr(explained) == "Explanation(distance 2 between graphs of 2 nodes and 3 nodes)"
    named = replace(explained, graphs=replace(explained.graphs, names=["C$C$C", "N" * 100]))
    assert named.names == ("C$C$C", "N" * 100)
    assert repr(named) == f"Explanation(distance 2 between 'C$C$C' (2 nodes) and '{'N' * 100}' (3 nodes))"
    title = named.plot().title
    assert title.get_text() == f"C$C$C – {'N' * 39}…\ndistance 2"
    assert not title.get_parse_math()  # a SMILES is no formula


def test_edges_are_drawn_by_their_share(explained):
    ends = [np.array([[0], [1]]), np.array([[0, 2], [1, 1]])]
    shares = {"edge_ends": ends, "edge_source_share": np.array([0.5]), "edge_target_share": np.array([0.0, 0.9])}
    axes = replace(explained, **shares).plot(k=1)
    widths = [line.get_linewidth() for line in axes.lines[1:]]
    assert widths[2] == max(widths) == 4.0  # the edge between the nodes 1 and 2 of the second graph
    assert widths[1] == 1.0


def test_shares_may_be_negative(explained):
    """Of what makes two graphs more alike: drawn as what has no share."""
    ends = [np.array([[0], [1]]), np.array([[0, 2], [1, 1]])]
    shares = {"edge_ends": ends, "edge_source_share": np.array([1.5]), "edge_target_share": np.array([-2.0, 0.0])}
    axes = replace(explained, source_share=np.array([-0.5, 0.0]), **shares).plot(k=1)
    widths = [line.get_linewidth() for line in axes.lines[1:]]
    assert widths == [4.0, 1.0, 1.0]
    assert len({line.get_color() for line in axes.lines[2:]}) == 1
