"""The paper's two implementations of RPW2, kept simple: what Figure 1 and the benchmark compare with."""

from __future__ import annotations

import numpy as np


def rpw_sequential(X_s: np.ndarray, X_t: np.ndarray, a: np.ndarray | None = None, b: np.ndarray | None = None) -> float:
    """RPW2 by walking both sorted clouds point by point, axis by axis. Quasi-linear, and slow in Python.

    >>> rpw_sequential(np.array([[0., 0.], [1., 0.]]), np.array([[0., 1.], [1., 1.]]))
    1.0
    """
    (n, p), m = X_s.shape, len(X_t)
    a = np.full(n, 1 / n) if a is None else a
    b = np.full(m, 1 / m) if b is None else b
    total = 0.0
    for k in range(p):
        sort_s, sort_t = np.argsort(X_s[:, k], kind="stable"), np.argsort(X_t[:, k], kind="stable")
        i = j = 0
        left_s, left_t = a[sort_s[0]], b[sort_t[0]]
        while True:
            moved = min(left_s, left_t)
            total += moved * float(np.sum((X_s[sort_s[i]] - X_t[sort_t[j]]) ** 2))
            left_s, left_t = left_s - moved, left_t - moved
            if left_s <= left_t:
                i += 1
                if i == n:
                    break
                left_s = a[sort_s[i]]
            else:
                j += 1
                if j == m:
                    break
                left_t = b[sort_t[j]]
    return float(np.sqrt(total / p))


def rpw_quadratic(X_s: np.ndarray, X_t: np.ndarray, a: np.ndarray | None = None, b: np.ndarray | None = None) -> float:
    """RPW2 as the sum of all costs times the plans as dense matrices. Vectorised, n · m · p numbers.

    The mass that points i and j exchange is how long their intervals of time overlap.

    >>> rpw_quadratic(np.array([[0., 0.], [1., 0.]]), np.array([[0., 1.], [1., 1.]]))
    1.0
    """
    (n, p), m = X_s.shape, len(X_t)
    a = np.full(n, 1 / n) if a is None else a
    b = np.full(m, 1 / m) if b is None else b
    costs = ((X_s[:, None] - X_t[None]) ** 2).sum(2)
    total = 0.0
    for k in range(p):
        sort_s, sort_t = np.argsort(X_s[:, k], kind="stable"), np.argsort(X_t[:, k], kind="stable")
        ends_s, ends_t = np.cumsum(a[sort_s])[:, None], np.cumsum(b[sort_t])[None]
        starts_s, starts_t = ends_s - a[sort_s][:, None], ends_t - b[sort_t][None]
        plan = np.maximum(np.minimum(ends_s, ends_t) - np.maximum(starts_s, starts_t), 0.0)
        total += float((plan * costs[np.ix_(sort_s, sort_t)]).sum())
    return float(np.sqrt(total / p))
