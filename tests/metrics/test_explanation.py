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


def test_three_lines_say_what_it_is(explained):
    assert repr(explained).splitlines() == [
        "Explanation: distance 2 between graphs of 2 nodes and 3 nodes",
        "  d² from: one cloud of encoded nodes",
        "  nodes with the largest shares: 0 75 %, 1 25 % and 2 70 %, 1 20 %, 0 10 %",
    ]
    terms = {f"way {i}": share for i, share in enumerate((0.6, 0.3, 0.12, 0.004, -0.024))}
    named = replace(explained, graphs=replace(explained.graphs, names=["C$C$C", "N" * 100]), term_share=terms)
    assert named.names == ("C$C$C", "N" * 100)
    first, second, _ = named.in_words()
    assert first == f"Explanation: distance 2 between 'C$C$C' (2 nodes) and '{'N' * 39}…' (3 nodes)"
    assert second == "  d² from: 60 % way 0, 30 % way 1, 12 % way 2 and 2 more"


def test_nodes_have_the_names_of_the_user(explained):
    one, two = nx.Graph([("Oslo", "Rome")]), nx.path_graph(["x", "y", "z"])
    drawn = explained.drawn_as([one, two])
    assert drawn.node_names == (["Oslo", "Rome"], ["x", "y", "z"])
    assert "Oslo 75 %, Rome 25 % and z 70 %" in repr(drawn)
    assert explained.node_names == (["0", "1"], ["0", "1", "2"])


def test_shares_of_parallel_edges_are_added(explained):
    ends = [np.array([[0, 1], [1, 0]]), np.array([[0, 2], [1, 1]])]
    shares = {"edge_ends": ends, "edge_source_share": np.array([0.5, 0.25]), "edge_target_share": np.array([0.0, 0.9])}
    edged = replace(explained, **shares)
    assert edged.edge_shares(0) == {(0, 1): 0.75}
    assert edged.edge_shares(1) == {(0, 1): 0.0, (1, 2): 0.9}
    assert explained.edge_shares(0) == {}
