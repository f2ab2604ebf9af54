import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.graphs.placement import place_nodes


def edges_of(graph):
    return np.array(graph.edges).reshape(-1, 2).T


def stress(places, graph):
    """Σ (|x_i − x_j| − d_ij)² / d_ij², pair by pair."""
    steps = dict(nx.all_pairs_shortest_path_length(graph))
    return sum(
        (np.linalg.norm(places[i] - places[j]) / steps[i][j] - 1) ** 2 for i in graph for j in graph if steps[i].get(j)
    )


@pytest.mark.parametrize("graph", [nx.path_graph(7), nx.cycle_graph(6), nx.balanced_tree(2, 3)], ids=str)
def test_lengths_follow_the_steps_along_edges(graph):
    places = place_nodes(len(graph), edges_of(graph))
    random = np.random.default_rng(0).normal(size=places.shape) * places.std()
    assert stress(places, graph) < 0.35 * stress(random, graph)
    assert len(np.unique(places.round(3), axis=0)) == len(graph)  # leaves of one node do not coincide


def test_a_ring_is_drawn_round():
    places = place_nodes(8, edges_of(nx.cycle_graph(8)))
    radii = np.linalg.norm(places - places.mean(0), axis=1)
    assert radii.std() < 0.02 * radii.mean()


def test_parts_stand_side_by_side():
    graph = nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(5))
    places = place_nodes(11, edges_of(graph))  # and a node that nobody is joined to
    low, high = places[:5].min(0), places[:5].max(0)
    for other in places[5:]:
        assert (other < low - 0.5).any() or (other > high + 0.5).any()


def test_one_seed_gives_one_drawing_and_large_graphs_are_placed_too():
    graph = nx.grid_2d_graph(25, 25)
    edges = edges_of(nx.convert_node_labels_to_integers(graph))
    places = place_nodes(625, edges)
    assert np.array_equal(places, place_nodes(625, edges))
    lengths = np.linalg.norm(places[edges[0]] - places[edges[1]], axis=1)
    assert lengths.mean() < 0.1 * np.ptp(places, axis=0).max()  # joined nodes are near each other
    assert place_nodes(1, np.zeros((2, 0), int)).tolist() == [[0.0, 0.0]]
