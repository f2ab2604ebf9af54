"""Optimal plans between few points of equal masses: network simplex, compiled, to be called from compiled loops.

It can start from an earlier solution. Conditional gradient solves a linear programme per step, with the same masses and
slightly different costs: the last basis is still feasible, and a few pivots away from the new optimum, where a solver
that starts from scratch needs hundreds.

A basis is a spanning tree of the n rows and m columns. Masses are whole numbers, perturbed as Orden did (1956), so that
no flow of a tree is ever 0: each pivot makes progress, and none can be undone.
"""

from __future__ import annotations

import numpy as np

from ..._core.compiled import njit

BLOCK = 2.0  # entries searched before a pivot, in units of the square root of their number


@njit
def start_tree(cost, parent, flow):
    """A feasible tree, into parent [n + m] and flow [n + m]: each row fills the cheapest columns that have room left.

    `parent` is the neighbour of each node towards the root (−1 at the root), `flow` the flow of the edge to it. The
    masses are m for each of the n rows and n for each of the m columns, times a factor, plus the perturbation.
    """
    n, m = cost.shape
    factor = perturbation(n, m)
    left = np.full(m, n * factor)
    left[m - 1] += n
    open_columns = m
    for i in range(n):
        own = m * factor + 1
        while True:
            best = -1
            for j in range(m):
                if left[j] > 0 and (best < 0 or cost[i, j] < cost[i, best]):
                    best = j
            if own < left[best] or (open_columns == 1 and i < n - 1):  # the row is used up
                left[best] -= own
                parent[i], flow[i] = n + best, own
                break
            own -= left[best]
            if own == 0:  # the last edge: the row is the root
                parent[n + best], flow[n + best] = i, left[best]
                parent[i], flow[i] = -1, 0
                left[best] = 0
                break
            parent[n + best], flow[n + best] = i, left[best]
            left[best] = 0
            open_columns -= 1


@njit
def perturbation(n, m):
    """The factor of all masses: more than twice the sum of all perturbations."""
    return 4 * (n + m)


@njit
def _attach(v, parent, child, after, before):
    """Node v becomes the first child of its parent."""
    p = parent[v]
    before[v], after[v] = -1, child[p]
    if child[p] >= 0:
        before[child[p]] = v
    child[p] = v


@njit
def _detach(v, parent, child, after, before):
    """Node v is removed from the children of its parent."""
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        child[parent[v]] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@njit
def _update_subtree(start, cost, parent, child, after, depth, potential, stack):
    """Depths and potentials of a node and all its descendants: the reduced cost of every edge of the tree is 0."""
    n = cost.shape[0]
    stack[0], count = start, 1
    while count > 0:
        count -= 1
        v = stack[count]
        p = parent[v]
        if p < 0:
            depth[v], potential[v] = 0, 0.0
        else:
            depth[v] = depth[p] + 1
            potential[v] = (cost[v, p - n] if v < n else cost[p, v - n]) - potential[p]
        w = child[v]
        while w >= 0:
            stack[count] = w
            count += 1
            w = after[w]


@njit
def solve(cost, parent, flow, max_pivots):
    """Pivots until the tree is optimal for costs [n, m]; returns their number, −1 if max_pivots were too few."""
    n, m = cost.shape
    nodes = n + m
    depth, potential, stack = np.empty(nodes, np.int64), np.empty(nodes), np.empty(nodes, np.int64)
    child, after, before = np.full(nodes, -1), np.full(nodes, -1), np.full(nodes, -1)
    for v in range(nodes):
        if parent[v] >= 0:
            _attach(v, parent, child, after, before)
    for v in range(nodes):
        if parent[v] < 0:
            _update_subtree(v, cost, parent, child, after, depth, potential, stack)
    largest = 1e-300
    for i in range(n):
        for j in range(m):
            largest = max(largest, abs(cost[i, j]))
    small = 1e-12 * largest
    block = max(1, int(BLOCK * np.sqrt(n / m)))  # rows, that is, BLOCK · √(n m) entries
    row, pivots = 0, 0
    while True:
        best, r, c, since = -small, -1, -1, 0
        for _ in range(n):  # rows in turn; the best entry of a block of rows enters the basis
            u = potential[row]
            for j in range(m):
                gain = cost[row, j] - u - potential[n + j]
                if gain < best:
                    best, r, c = gain, row, n + j
            row = row + 1 if row + 1 < n else 0
            since += 1
            if since >= block:
                since = 0
                if r >= 0:
                    break
        if r < 0:
            return pivots
        if pivots == max_pivots:
            return -1
        pivots += 1
        # Round the cycle, from both ends of the entering edge up to their common ancestor: flow falls on edges from a
        # row to its parent on the row's side, and from a column to its parent on the column's side.
        a, b, least, leaves, on_row_side = r, c, np.int64(2**62), -1, True
        while a != b:
            if depth[a] >= depth[b]:
                if a < n and flow[a] < least:
                    least, leaves, on_row_side = flow[a], a, True
                a = parent[a]
            else:
                if b >= n and flow[b] < least:
                    least, leaves, on_row_side = flow[b], b, False
                b = parent[b]
        top = a
        a = r
        while a != top:
            flow[a] += -least if a < n else least
            a = parent[a]
        b = c
        while b != top:
            flow[b] += -least if b >= n else least
            b = parent[b]
        # The subtree below the leaving edge is attached at the entering edge.
        v, above, amount = (r, c, least) if on_row_side else (c, r, least)
        moved = v
        while True:
            upper, flow_up = parent[v], flow[v]
            _detach(v, parent, child, after, before)
            parent[v], flow[v] = above, amount
            _attach(v, parent, child, after, before)
            if v == leaves:
                break
            v, above, amount = upper, v, flow_up
        _update_subtree(moved, cost, parent, child, after, depth, potential, stack)


@njit
def plan_of(parent, flow, plan):
    """The plan [n, m] of a tree, for masses 1/n and 1/m."""
    n, m = plan.shape
    factor = perturbation(n, m)
    plan[:] = 0.0
    for v in range(n + m):
        if parent[v] >= 0:
            i, j = (v, parent[v] - n) if v < n else (parent[v], v - n)
            plan[i, j] = ((flow[v] + factor // 2) // factor) / (n * m)  # rounding removes the perturbation
