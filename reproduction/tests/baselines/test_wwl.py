import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines import WWL, pairs, wwl
from graph_metric_learn_reproduction.baselines.wl import wl_features, wl_labels
from small_graphs import path, random_graphs, renumbered, star


def by_pot(rows, sizes, ground):
    """Exact transport between all pairs, with POT's own function and costs computed entry by entry."""
    parts = np.split(rows, np.cumsum(sizes)[:-1])
    distances = np.zeros((len(parts), len(parts)))
    for i, a in enumerate(parts):
        for j, b in enumerate(parts[:i]):
            cost = np.array([[ground(u, v) for v in b] for u in a], dtype=float)
            distances[i, j] = distances[j, i] = ot.emd2(ot.unif(len(a)), ot.unif(len(b)), cost)
    return distances


def hamming(u, v):
    return np.mean(u != v)


def euclidean(u, v):
    return np.linalg.norm(u - v)


def test_a_path_against_a_star_by_hand():
    """WL labels after one step written by hand: end of a path or leaf 'a', inner node 'b', centre of the star 'c'."""
    sequences = np.array(
        [["0", "a"], ["0", "b"], ["0", "b"], ["0", "a"], ["0", "c"], ["0", "a"], ["0", "a"], ["0", "a"]]
    )
    expected = by_pot(sequences, [4, 4], hamming)
    assert expected[0, 1] == 0.25  # half of the nodes differ, at one of two levels
    graphs = [(path(4), np.ones((4, 1))), (star(3), np.ones((4, 1)))]
    for solver in ("tree", "emd"):
        np.testing.assert_allclose(WWL(depth=1, solver=solver).distances(graphs), expected)
        np.testing.assert_allclose(WWL(depth=1, solver=solver, last_only=True).distances(graphs), 2 * expected)


@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.booleans())
def test_the_closed_form_is_exact_transport(seed, depth, last_only):
    graphs = random_graphs(np.random.default_rng(seed), 4, kind="labels")
    flat = as_graphs(graphs)
    labels = wl_labels(flat, depth)[:, -1 if last_only else 0 :]
    expected = by_pot(labels, flat.sizes, hamming)
    for solver in ("tree", "emd"):
        system = WWL(depth=depth, last_only=last_only, solver=solver)
        np.testing.assert_allclose(system.distances(graphs), expected, atol=1e-12)


@pytest.mark.parametrize("last_only", [False, True])
def test_continuous_features_are_transported_by_the_euclidean_distance(last_only, rng):
    graphs = random_graphs(rng, 5)
    flat = as_graphs(graphs)
    levels = wl_features(flat, 2)
    rows = levels[-1] if last_only else np.hstack(list(levels))
    expected = by_pot(rows, flat.sizes, euclidean)
    np.testing.assert_allclose(WWL(depth=2, last_only=last_only).distances(graphs), expected, atol=1e-12)


def test_the_closed_form_is_exactly_zero_between_a_graph_and_its_renumbering(rng):
    graphs = random_graphs(rng, 10, kind="labels", largest=15)
    distances = WWL(depth=3).distances([*graphs, *[renumbered(graph, rng) for graph in graphs]])
    assert (np.diag(distances[:10, 10:]) == 0).all()


def test_one_hot_features_can_be_taken_as_continuous(rng):
    graphs = random_graphs(rng, 5, kind="labels")
    assert not np.allclose(WWL(kind="continuous").distances(graphs), WWL().distances(graphs))


def test_the_time_of_either_solver_is_estimated(rng, ticking_clock):
    """One tick each: all labels, the intersections of 20 of 30 graphs, the preparation, a pair."""
    graphs = random_graphs(rng, 30, kind="labels")
    ticking_clock(pairs, wwl)
    assert WWL(solver="tree").estimate_seconds(graphs, pairs=20) == 1 + (30 / 20) ** 2
    assert WWL(solver="emd").estimate_seconds(graphs, pairs=20) == 1 + 30 * 29 / 2


@pytest.mark.parametrize(("option", "value"), [("solver", "sinkhorn"), ("kind", "labels")])
def test_unknown_options(option, value, rng):
    with pytest.raises(ValueError, match=f"unknown {option}='{value}'"):
        WWL(**{option: value}).distances(random_graphs(rng, 2))
