import numpy as np
import pytest

from graph_metric_learn.transport.kernels import walks
from helpers import integrate, make_cloud

SIZES = [(1, 1), (4, 4), (1, 5), (6, 4), (3, 7)]


def cost_by_definition(u, ends, v, ends2, order):
    """∫ |u − v|^order for step functions [n, c], [m, c] that change at the ends."""

    def gap(t):
        i, j = int(np.searchsorted(ends, t)), int(np.searchsorted(ends2, t))
        return np.linalg.norm(u[min(i, len(u) - 1)] - v[min(j, len(v) - 1)]) ** order

    return integrate(gap, np.concatenate([ends, ends2]))


def equal_ends(n):
    return np.arange(1, n + 1) / n


def random_ends(rng, n):
    ends = np.cumsum(rng.dirichlet(np.ones(n)))
    ends[-1] = 1.0
    return ends


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
def test_walks_of_two_curves(rng, n, m, order):
    u, v = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    wanted = cost_by_definition(u, equal_ends(n), v, equal_ends(m), order)
    assert walks.walk(u, v, order / 2) == pytest.approx(wanted, rel=1e-12)
    ends, ends2 = random_ends(rng, n), random_ends(rng, m)
    wanted = cost_by_definition(u, ends, v, ends2, order)
    assert walks.walk_weighted(u, ends, v, ends2, order / 2) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("order", [1.0, 2.0])
def test_a_small_pair_is_sorted_and_walked(rng, whole, order):
    x, y, directions = make_cloud(rng, 6, 3), make_cloud(rng, 4, 3), rng.normal(size=(3, 5))
    costs = walks.small_pair(x, x @ directions, y, y @ directions, True, whole, order / 2)
    for k in range(5):
        u, v = (z[np.argsort(z @ directions[:, k])] for z in (x, y))
        if not whole:
            u, v = (z @ directions[:, k : k + 1] for z in (u, v))
        assert costs[k] == pytest.approx(cost_by_definition(u, equal_ends(6), v, equal_ends(4), order), rel=1e-12)


@pytest.fixture
def two_sides(rng):
    """Two lists of curves, direction by direction: values [M, S, c], ends [M, S], starts [G + 1]."""

    def side(sizes):
        starts = np.concatenate([[0], np.cumsum(sizes)])
        values = rng.normal(size=(3, starts[-1], 2))
        ends = np.concatenate([[random_ends(rng, n) for _ in range(3)] for n in sizes], axis=1)
        return values, ends, starts

    return side([3, 1, 4, 4]), side([2, 4, 5])


def square_by_definition(side, i, other, j, uniform):
    total = 0.0
    for k in range(3):
        (u, ends), (v, ends2) = (
            (values[k, starts[g] : starts[g + 1]], all_ends[k, starts[g] : starts[g + 1]])
            for (values, all_ends, starts), g in ((side, i), (other, j))
        )
        ends, ends2 = (equal_ends(len(u)), equal_ends(len(v))) if uniform else (ends, ends2)
        total += cost_by_definition(u, ends, v, ends2, 2.0) / 3
    return total


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("threads", [False, True])
def test_listed_pairs(two_sides, uniform, threads):
    u, v = two_sides
    first, second, out = np.array([0, 3, 2]), np.array([2, 0, 1]), np.empty(3)
    walks.walk_pairs(*u, first, *v, second, uniform, out, threads=threads)
    wanted = [square_by_definition(u, i, v, j, uniform) for i, j in zip(first, second, strict=True)]
    np.testing.assert_allclose(out, wanted, rtol=1e-12)


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [1, 3], [2]])
def test_listed_rows(two_sides, uniform, rows):
    u, v = two_sides
    out = np.full((4, 3), np.nan)
    walks.walk_block(*u, *v, np.array(rows), False, uniform, out)
    for i in rows:
        wanted = [square_by_definition(u, i, v, j, uniform) for j in range(3)]
        np.testing.assert_allclose(out[i], wanted, rtol=1e-12)
    assert np.isnan(np.delete(out, rows, axis=0)).all()


def test_rows_of_one_side_are_written_to_both_places(two_sides):
    u, _ = two_sides
    out = np.zeros((4, 4))
    walks.walk_block(*u, *u, np.arange(4), True, True, out)
    wanted = [[square_by_definition(u, i, u, j, True) for j in range(4)] for i in range(4)]
    np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-15)
    assert (out == out.T).all()


@pytest.mark.parametrize("uniform", [False, True])
def test_two_single_curves_per_direction(two_sides, uniform):
    (values, ends, _), (values2, ends2, _) = two_sides
    out = np.empty(3)
    walks.walk_one(values[:, 4:8], ends[:, 4:8], values2[:, :2], ends2[:, :2], uniform, 0.5, out)
    for k in range(3):
        times = (equal_ends(4), equal_ends(2)) if uniform else (ends[k, 4:8], ends2[k, :2])
        wanted = cost_by_definition(values[k, 4:8], times[0], values2[k, :2], times[1], 1.0)
        assert out[k] == pytest.approx(wanted, rel=1e-12)


def test_plan_entries_make_the_monotone_plan(rng):
    for n, m in ((1, 4), (5, 3), (4, 4)):
        ends, ends2 = random_ends(rng, n), random_ends(rng, m)
        i, j, mass = walks.plan_entries(ends, ends2)
        plan = np.zeros((n, m))
        np.add.at(plan, (i, j), mass)
        starts, starts2 = np.append(0, ends[:-1]), np.append(0, ends2[:-1])
        overlap = np.minimum(ends[:, None], ends2) - np.maximum(starts[:, None], starts2)
        np.testing.assert_allclose(plan, np.maximum(overlap, 0), atol=1e-15)
        assert len(i) <= n + m - 1
    i, j, mass = walks.plan_entries(np.array([0.5, 1.0]), np.array([0.5, 1.0]))  # both walks end a step at once
    assert (i.tolist(), j.tolist(), mass.tolist()) == ([0, 1], [0, 1], [0.5, 0.5])
