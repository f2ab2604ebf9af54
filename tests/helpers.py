"""Clouds for tests, and slow, obvious oracles."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

KINDS = ("normal", "relu", "grid", "duplicates")


def make_cloud(rng, n, p, kind="normal"):
    """n points: without ties; with many exact zeros; on a coarse grid; or copies of few points."""
    x = rng.normal(size=(n, p))
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "grid":
        return rng.integers(0, 3, size=(n, p)).astype(float)
    if kind == "duplicates":
        return x[rng.integers(0, max(1, n // 3), size=n)]
    return x


@st.composite
def cloud_lists(draw, count=2, max_points=9, max_dim=4, kinds=KINDS):
    """`count` clouds of one kind and dimension, and a generator for more."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = draw(st.integers(1, max_dim))
    kind = draw(st.sampled_from(kinds))
    return [make_cloud(rng, draw(st.integers(1, max_points)), p, kind) for _ in range(count)], rng


def make_weights(rng, clouds):
    return [rng.dirichlet(np.ones(len(x))) for x in clouds]


def curve_at(x, a, direction, t):
    """The value of the canonical walk through (x, a) along a direction at time t: by definition, point by point."""
    along = x @ direction
    order = sorted(range(len(x)), key=lambda i: (along[i], *x[i]))
    ends = np.cumsum(np.asarray(a)[order])
    return x[order[min(int(np.searchsorted(ends, t, side="right")), len(x) - 1)]]


def integrate(f, breaks):
    """∫ f over [0, 1] for a function constant between the breaks."""
    breaks = np.unique(np.concatenate([[0.0, 1.0], np.clip(breaks, 0, 1)]))
    return sum((b - a) * f((a + b) / 2) for a, b in pairwise(breaks))


def rpw_by_definition(x, y, a, b, order=2.0):
    """RPW with canonical ties, as the integral over time of the distance between the two walks."""
    total = 0.0
    for e in np.eye(x.shape[1]):
        breaks = []
        for points, w in ((x, a), (y, b)):
            sort = sorted(range(len(points)), key=lambda i, points=points, e=e: (points[i] @ e, *points[i]))
            breaks.append(np.cumsum(np.asarray(w)[sort]))
        total += integrate(
            lambda t, e=e: np.linalg.norm(curve_at(x, a, e, t) - curve_at(y, b, e, t)) ** order,
            np.concatenate(breaks),
        )
    return (total / x.shape[1]) ** (1 / order)


def least_plan_by_linear_programme(x, y, a, b, direction, order=2.0):
    """min Σ π |x − y|^order over the plans that are optimal for the squared distance of the projections."""
    n, m = len(x), len(y)
    marginals = np.zeros((n + m, n * m))
    for i in range(n):
        marginals[i, i * m : (i + 1) * m] = 1
    for j in range(m):
        marginals[n + j, j::m] = 1
    sums = np.concatenate([a, b])
    along = ((x @ direction)[:, None] - (y @ direction)[None]).ravel() ** 2
    best = linprog(along, A_eq=marginals, b_eq=sums).fun
    full = np.linalg.norm(x[:, None] - y[None], axis=2).ravel() ** order
    solved = linprog(full, A_ub=along[None], b_ub=[best + 1e-9], A_eq=marginals, b_eq=sums)
    assert solved.success
    return solved.fun


def plain_votes(distances):
    """What `weights="distance"` means, as scikit-learn's `weights`: from the distances of k neighbours [N, k]."""
    return 1 / np.maximum(distances, distances.max(axis=1, keepdims=True) / 10)
