"""Compiled training of the SGCN encoder: one call for many steps of forward, backward and Adam.

Every piece has its counterpart in plain torch (`encoders`, `losses`, `transport`), which the tests compare it with.
Shapes: a batch of B graphs with R nodes in all; node features Y [R, p]; M directions; curves in c coordinates, stored
graph by graph as [M, n, c], so that row starts[b] * M + k * n is the first step of graph b along direction k.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ....transport.kernels.loops import _sort_cloud, _walk

_MATH = {"reassoc", "contract"}
_OPTIONS = {"cache": True, "fastmath": _MATH, "error_model": "numpy", "nogil": True}

LOSS_CODES = {"nccml": 0, "nccml-paper": 1, "nca": 2, "nca-paper": 3}


@njit(**_OPTIONS)
def project(features, directions, along):
    """<y, θ> of all nodes and directions [R, M]."""
    for i in range(len(features)):
        for k in range(directions.shape[1]):
            total = features[i, 0] * directions[0, k]
            for d in range(1, directions.shape[0]):
                total += features[i, d] * directions[d, k]
            along[i, k] = total


@njit(**_OPTIONS)
def curves(features, along, starts, canonical, whole, order, values):
    """Sorts every graph of the batch and lays out its curves: order [R, M], values [R * M, c]."""
    directions = along.shape[1]
    for b in range(len(starts) - 1):
        lo, hi = starts[b], starts[b + 1]
        _sort_cloud(features, along, lo, hi, canonical, order)
        for k in range(directions):
            row = lo * directions + k * (hi - lo)
            for i in range(lo, hi):
                if whole:
                    for d in range(features.shape[1]):
                        values[row + i - lo, d] = features[order[i, k], d]
                else:
                    values[row + i - lo, 0] = along[order[i, k], k]


@njit(**_OPTIONS)
def squares(values, starts, directions, out):
    """Squared distances within the batch [B, B]."""
    for a in range(len(starts) - 1):
        n = starts[a + 1] - starts[a]
        out[a, a] = 0.0
        for b in range(a + 1, len(starts) - 1):
            m = starts[b + 1] - starts[b]
            total = 0.0
            for k in range(directions):
                s, t = starts[a] * directions + k * n, starts[b] * directions + k * m
                total += _walk(values[s : s + n], values[t : t + m], 1.0)
            out[a, b] = out[b, a] = total / directions


@njit(**_OPTIONS)
def pull(values, starts, directions, slopes, out):
    """Gradient with respect to the values, added to out, for slopes [B, B] of the loss in the squared distances."""
    width = values.shape[1]
    for a in range(len(starts) - 1):
        n = starts[a + 1] - starts[a]
        for b in range(a + 1, len(starts) - 1):
            m = starts[b + 1] - starts[b]
            slope = 2.0 * (slopes[a, b] + slopes[b, a]) / directions
            if slope == 0.0:
                continue
            for k in range(directions):
                s, t = starts[a] * directions + k * n, starts[b] * directions + k * m
                i = j = now = 0
                while i < n and j < m:
                    end, fin = (i + 1) * m, (j + 1) * n
                    then = min(end, fin)
                    share = values.dtype.type(slope * (then - now) / (n * m))
                    for d in range(width):
                        force = share * (values[s + i, d] - values[t + j, d])
                        out[s + i, d] += force
                        out[t + j, d] -= force
                    now = then
                    i += end <= fin
                    j += fin <= end


@njit(**_OPTIONS)
def scatter(forces, order, starts, whole, directions, out):
    """From the steps of the curves back to the nodes, added to out [R, p]; directions [p, M]."""
    count = order.shape[1]
    for b in range(len(starts) - 1):
        lo, hi = starts[b], starts[b + 1]
        for k in range(count):
            row = lo * count + k * (hi - lo)
            for i in range(lo, hi):
                if whole:
                    for d in range(out.shape[1]):
                        out[order[i, k], d] += forces[row + i - lo, d]
                else:
                    for d in range(out.shape[1]):
                        out[order[i, k], d] += forces[row + i - lo, 0] * directions[d, k]


@njit(**_OPTIONS)
def _nccml(squared, y, classes, mean, slopes):
    """Loss, and its slopes in the squared distances [B, B]."""
    size = len(y)
    members = np.zeros(classes)
    for i in range(size):
        members[y[i]] += 1.0
    loss = 0.0
    scores = np.empty(classes)
    for i in range(size):
        for e in range(classes):
            scores[e] = 0.0
        for j in range(size):
            scores[y[j]] += squared[i, j]
        least = np.inf
        for e in range(classes):
            if members[e] > 0:
                if mean:
                    scores[e] *= 0.5 / members[e]
                least = min(least, scores[e])
        total = 0.0
        for e in range(classes):
            if members[e] > 0:
                total += np.exp(least - scores[e])
        loss += scores[y[i]] - least + np.log(total)
        for j in range(size):
            share = np.exp(least - scores[y[j]]) / total
            slope = (1.0 if y[j] == y[i] else 0.0) - share
            slopes[i, j] = slope * 0.5 / members[y[j]] if mean else slope
    return loss


@njit(**_OPTIONS)
def _nca(squared, y, by_row, slopes):
    """Loss, and its slopes in the squared distances [B, B]."""
    size = len(y)
    loss = 0.0
    for i in range(size):
        slopes[i, i] = 0.0
    groups = size if by_row else 1
    for group in range(groups):
        first, last = (group, group + 1) if by_row else (0, size)
        least = np.inf
        for i in range(first, last):
            for j in range(size):
                if j != i:
                    least = min(least, squared[i, j])
        total = found = 0.0
        for i in range(first, last):
            for j in range(size):
                if j != i:
                    slopes[i, j] = np.exp(least - squared[i, j])
                    total += slopes[i, j]
                    if y[i] == y[j]:
                        found += slopes[i, j]
        if total == 0.0:  # a batch of one
            continue
        found /= total
        loss -= found
        for i in range(first, last):
            for j in range(size):
                if j != i:
                    slopes[i, j] *= ((1.0 if y[i] == y[j] else 0.0) - found) / total
    return loss


@njit(**_OPTIONS)
def loss_and_slopes(squared, y, classes, code, slopes):
    """A loss of `losses.LOSSES` and its derivative with respect to each squared distance."""
    if code <= 1:
        return _nccml(squared, y, classes, code == 0, slopes)
    return _nca(squared, y, code == 2, slopes)


@njit(**_OPTIONS)
def clear(array, rows):
    """Zeros in the first rows; a plain loop compiles much faster than a slice."""
    for i in range(rows):
        for d in range(array.shape[1]):
            array[i, d] = 0


@njit(**_OPTIONS)
def train_steps(
    mixed, offsets, y, classes, members, bounds,
    theta, moment, moment2, step, rate, epsilon,
    directions, axes, whole, relu, canonical, code, losses,
):  # fmt: skip
    """Adam steps on the listed batches; theta [q, p] and its moments are changed in place. Returns the step count.

    mixed [S, q]: propagated features of all nodes; offsets [G + 1]; members: the graphs of all batches one after the
    other; bounds: where each batch begins. losses [batches]: filled.
    """
    q, p = theta.shape
    count = p if axes else directions.shape[1]
    width = p if whole else 1
    most = 0
    for batch in range(len(bounds) - 1):
        rows = 0
        for g in members[bounds[batch] : bounds[batch + 1]]:
            rows += offsets[g + 1] - offsets[g]
        most = max(most, rows)
    features, pushes = np.empty((most, p), theta.dtype), np.empty((most, p), theta.dtype)
    along = np.empty((most, count), theta.dtype)
    order = np.empty((most, count), np.int64)
    values, forces = np.empty((most * count, width), theta.dtype), np.empty((most * count, width), theta.dtype)
    slope = np.empty_like(theta)
    for batch in range(len(bounds) - 1):
        graphs = members[bounds[batch] : bounds[batch + 1]]
        size = len(graphs)
        starts = np.empty(size + 1, np.int64)
        starts[0] = 0
        for b in range(size):
            starts[b + 1] = starts[b] + offsets[graphs[b] + 1] - offsets[graphs[b]]
        rows = starts[size]
        clear(features, rows)
        for b in range(size):
            for i in range(starts[b + 1] - starts[b]):
                node = offsets[graphs[b]] + i
                for f in range(q):
                    x = mixed[node, f]
                    if x != 0:  # one-hot features stay sparse for a few hops
                        for d in range(p):
                            features[starts[b] + i, d] += x * theta[f, d]
        if relu:
            for i in range(rows):
                for d in range(p):
                    features[i, d] = max(features[i, d], theta.dtype.type(0))
        if axes:
            curves(features, features[:rows], starts, canonical, whole, order, values)
        else:
            project(features[:rows], directions, along)
            curves(features, along[:rows], starts, canonical, whole, order, values)
        squared, slopes = np.empty((size, size)), np.empty((size, size))
        squares(values, starts, count, squared)
        own = np.empty(size, np.int64)
        for b in range(size):
            own[b] = y[graphs[b]]
        losses[batch] = loss_and_slopes(squared, own, classes, code, slopes)
        clear(forces, rows * count)
        pull(values, starts, count, slopes, forces)
        clear(pushes, rows)
        scatter(forces, order[:rows], starts, whole, directions, pushes)
        clear(slope, q)
        for b in range(size):
            for i in range(starts[b + 1] - starts[b]):
                node, row = offsets[graphs[b]] + i, starts[b] + i
                if relu:
                    for d in range(p):
                        if features[row, d] <= 0:
                            pushes[row, d] = 0
                for f in range(q):
                    x = mixed[node, f]
                    if x != 0:
                        for d in range(p):
                            slope[f, d] += x * pushes[row, d]
        step += 1
        scale, scale2 = 1.0 - 0.9**step, 1.0 - 0.999**step
        for f in range(q):
            for d in range(p):
                g = slope[f, d]
                moment[f, d] += theta.dtype.type(0.1) * (g - moment[f, d])
                moment2[f, d] += theta.dtype.type(0.001) * (g * g - moment2[f, d])
                theta[f, d] -= rate * (moment[f, d] / scale) / (np.sqrt(moment2[f, d] / scale2) + epsilon)
    return step
