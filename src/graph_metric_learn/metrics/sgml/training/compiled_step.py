"""The training step of one SGCN on the CPU, compiled: many steps of forward, backward and Adam in one call.

The compiled implementation of what `encoders`, `losses` and `transport` compute in torch, the reference that the tests
compare each piece with; `loop.py` calls it where it applies. All but sorting and comparing two curves is in one file:
numba's cache of a compiled function notices changes of its own file only.

Shapes: a batch of B graphs with R nodes in all; points (node features after the encoder) [R, p]; M directions; curves
in c coordinates, c = p if they carry the points and 1 if they carry projections. The curves of a batch are stored
graph by graph as [M, n, c]: row starts[b] * M + k * n of `values` is the first step of graph b along direction k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._core.compiled import FAST_MATH, njit
from ....transport.kernels.sorting import sort_cloud
from ....transport.kernels.walks import walk
from ..losses import NCA, NCCML, NCCML_PAPER

_OPTIONS = {"fastmath": FAST_MATH, "error_model": "numpy", "nogil": True}


class TrainingSet(NamedTuple):
    """Graphs to train on."""

    propagated: np.ndarray  # Ã^r X of all nodes, float32 [S, q]
    offsets: np.ndarray  # nodes of graph g: offsets[g] … offsets[g + 1] - 1, int64 [G + 1]
    y: np.ndarray  # classes 0 … n_classes - 1, int64 [G]
    n_classes: int


class Batches(NamedTuple):
    """Batches one after the other: batch i holds the graphs members[bounds[i]] … members[bounds[i + 1] - 1]."""

    members: np.ndarray
    bounds: np.ndarray


class Adam(NamedTuple):
    """The trained matrix [q, p] and Adam's two moments of it, changed in place; learning rate and ε."""

    theta: np.ndarray
    moment: np.ndarray
    moment2: np.ndarray
    rate: float
    epsilon: float


class Model(NamedTuple):
    """What turns propagated features into distances, beside Θ; see `batch_distances.CurveRule`."""

    directions: np.ndarray  # float32 [p, M]; [p, 0] for the canonical axes
    on_axes: bool  # whether directions are None
    carry_points: bool
    canonical: bool  # the rule for ties
    relu: bool


# --- distances within a batch and their gradient ---------------------------------------------------------------------


@njit(**_OPTIONS)
def project(points, directions, projections):
    """<x, θ> of all points and directions, into projections [R, M]."""
    for i in range(len(points)):
        for k in range(directions.shape[1]):
            total = points[i, 0] * directions[0, k]
            for d in range(1, directions.shape[0]):
                total += points[i, d] * directions[d, k]
            projections[i, k] = total


@njit(**_OPTIONS)
def curves(points, projections, starts, canonical, carry_points, order, values):
    """Sorts every graph of the batch, into order [R, M], and lays out its curves, into values [R * M, c]."""
    directions = projections.shape[1]
    for b in range(len(starts) - 1):
        lo, hi = starts[b], starts[b + 1]
        sort_cloud(points, projections, lo, hi, canonical, order)
        for k in range(directions):
            row = lo * directions + k * (hi - lo)
            for i in range(lo, hi):
                if carry_points:
                    for d in range(points.shape[1]):
                        values[row + i - lo, d] = points[order[i, k], d]
                else:
                    values[row + i - lo, 0] = projections[order[i, k], k]


@njit(**_OPTIONS)
def squared_distances(values, starts, directions, squared):
    """Squared distances within the batch, into squared [B, B]."""
    for a in range(len(starts) - 1):
        n = starts[a + 1] - starts[a]
        squared[a, a] = 0.0
        for b in range(a + 1, len(starts) - 1):
            m = starts[b + 1] - starts[b]
            total = 0.0
            for k in range(directions):
                s, t = starts[a] * directions + k * n, starts[b] * directions + k * m
                total += walk(values[s : s + n], values[t : t + m], 1.0)
            squared[a, b] = squared[b, a] = total / directions


@njit(**_OPTIONS)
def backward_squared_distances(values, starts, directions, grad_d2, grad_values):
    """From the gradient in the squared distances [B, B] to that in the values of the curves, added to grad_values."""
    width = values.shape[1]
    for a in range(len(starts) - 1):
        n = starts[a + 1] - starts[a]
        for b in range(a + 1, len(starts) - 1):
            m = starts[b + 1] - starts[b]
            factor = 2.0 * (grad_d2[a, b] + grad_d2[b, a]) / directions
            if factor == 0.0:
                continue
            for k in range(directions):
                s, t = starts[a] * directions + k * n, starts[b] * directions + k * m
                i = j = now = 0  # both curves at equal times, in units of 1 / (n m)
                while i < n and j < m:
                    end, fin = (i + 1) * m, (j + 1) * n
                    then = min(end, fin)
                    weight = values.dtype.type(factor * (then - now) / (n * m))
                    for d in range(width):
                        grad = weight * (values[s + i, d] - values[t + j, d])
                        grad_values[s + i, d] += grad
                        grad_values[t + j, d] -= grad
                    now = then
                    i += end <= fin
                    j += fin <= end


@njit(**_OPTIONS)
def backward_curves(grad_values, order, starts, carry_points, directions, grad_points):
    """From the gradient in the values of the curves to that in the points, added to grad_points; directions [p, M]."""
    count = order.shape[1]
    for b in range(len(starts) - 1):
        lo, hi = starts[b], starts[b + 1]
        for k in range(count):
            row = lo * count + k * (hi - lo)
            for i in range(lo, hi):
                if carry_points:
                    for d in range(grad_points.shape[1]):
                        grad_points[order[i, k], d] += grad_values[row + i - lo, d]
                else:
                    for d in range(grad_points.shape[1]):
                        grad_points[order[i, k], d] += grad_values[row + i - lo, 0] * directions[d, k]


# --- losses: implementations of `losses.nccml` and `losses.nca`; `losses.py` says why there are several --------------


@njit(**_OPTIONS)
def loss_and_grad(squared, y, n_classes, code, grad_d2):
    """The loss of this code (`losses.Loss.compiled`); its gradient in the squared distances goes to grad_d2 [B, B].

    y [B]: classes 0 … n_classes - 1.
    """
    if code <= NCCML_PAPER:
        return _nccml(squared, y, n_classes, code == NCCML, grad_d2)
    return _nca(squared, y, code == NCA, grad_d2)


@njit(**_OPTIONS)
def _nccml(squared, y, n_classes, use_means, grad_d2):
    """Compiled implementation of `losses.nccml`; use_means: the form "authors"."""
    size = len(y)
    members = np.zeros(n_classes)
    for i in range(size):
        members[y[i]] += 1.0
    loss = 0.0
    scores = np.empty(n_classes)
    for i in range(size):
        for e in range(n_classes):
            scores[e] = 0.0
        for j in range(size):
            scores[y[j]] += squared[i, j]
        least = np.inf
        for e in range(n_classes):
            if members[e] > 0:
                if use_means:
                    scores[e] *= 0.5 / members[e]
                least = min(least, scores[e])
        total = 0.0
        for e in range(n_classes):
            if members[e] > 0:
                total += np.exp(least - scores[e])
        loss += scores[y[i]] - least + np.log(total)
        for j in range(size):
            p = np.exp(least - scores[y[j]]) / total
            grad = (1.0 if y[j] == y[i] else 0.0) - p
            grad_d2[i, j] = grad * 0.5 / members[y[j]] if use_means else grad
    return loss


@njit(**_OPTIONS)
def _nca(squared, y, by_row, grad_d2):
    """Compiled implementation of `losses.nca`; by_row: the form "authors", which normalises each row by itself."""
    size = len(y)
    loss = 0.0
    for i in range(size):
        grad_d2[i, i] = 0.0
    softmaxes = size if by_row else 1
    for which in range(softmaxes):
        first, last = (which, which + 1) if by_row else (0, size)  # the rows under this softmax
        least = np.inf
        for i in range(first, last):
            for j in range(size):
                if j != i:
                    least = min(least, squared[i, j])
        total = p_same = 0.0
        for i in range(first, last):
            for j in range(size):
                if j != i:
                    grad_d2[i, j] = np.exp(least - squared[i, j])
                    total += grad_d2[i, j]
                    if y[i] == y[j]:
                        p_same += grad_d2[i, j]
        if total == 0.0:  # a batch of one
            continue
        p_same /= total
        loss -= p_same
        for i in range(first, last):
            for j in range(size):
                if j != i:
                    grad_d2[i, j] *= ((1.0 if y[i] == y[j] else 0.0) - p_same) / total
    return loss


# --- the step --------------------------------------------------------------------------------------------------------


@njit(**_OPTIONS)
def train_steps(data, batches, adam, step, model, loss_code, losses):
    """Adam steps on the batches, one after the other, in place. Takes the steps so far, returns them with these.

    losses : float64 [number of batches], filled: the loss of each batch before its step.
    """
    theta = adam.theta
    q, p = theta.shape
    bounds, offsets = batches.bounds, data.offsets
    count = p if model.on_axes else model.directions.shape[1]
    width = p if model.carry_points else 1
    most = 0  # nodes of the largest batch
    for batch in range(len(bounds) - 1):
        rows = 0
        for g in batches.members[bounds[batch] : bounds[batch + 1]]:
            rows += offsets[g + 1] - offsets[g]
        most = max(most, rows)
    points, grad_points = np.empty((most, p), theta.dtype), np.empty((most, p), theta.dtype)
    projections = np.empty((most, count), theta.dtype)
    order = np.empty((most, count), np.int64)
    values, grad_values = np.empty((most * count, width), theta.dtype), np.empty((most * count, width), theta.dtype)
    grad_theta = np.empty_like(theta)
    for batch in range(len(bounds) - 1):
        graphs = batches.members[bounds[batch] : bounds[batch + 1]]
        size = len(graphs)
        starts, y = np.empty(size + 1, np.int64), np.empty(size, np.int64)
        starts[0] = 0
        for b in range(size):
            starts[b + 1] = starts[b] + offsets[graphs[b] + 1] - offsets[graphs[b]]
            y[b] = data.y[graphs[b]]
        rows = starts[size]
        _encode(data, graphs, starts, theta, model.relu, points)
        if model.on_axes:
            curves(points, points[:rows], starts, model.canonical, model.carry_points, order, values)
        else:
            project(points[:rows], model.directions, projections)
            curves(points, projections[:rows], starts, model.canonical, model.carry_points, order, values)
        squared, grad_d2 = np.empty((size, size)), np.empty((size, size))
        squared_distances(values, starts, count, squared)
        losses[batch] = loss_and_grad(squared, y, data.n_classes, loss_code, grad_d2)
        _clear(grad_values, rows * count)
        backward_squared_distances(values, starts, count, grad_d2, grad_values)
        _clear(grad_points, rows)
        backward_curves(grad_values, order[:rows], starts, model.carry_points, model.directions, grad_points)
        _clear(grad_theta, q)
        _backward_encode(data, graphs, starts, points, model.relu, grad_points, grad_theta)
        step += 1
        _adam_step(adam, step, grad_theta)
    return step


@njit(**_OPTIONS)
def _clear(array, rows):
    """Zeros in the first rows; a plain loop compiles much faster than a slice."""
    for i in range(rows):
        for d in range(array.shape[1]):
            array[i, d] = 0


@njit(**_OPTIONS)
def _encode(data, graphs, starts, theta, relu, points):
    """Points of the batch: rows of S Θ, with S the propagated features, through the activation; into points [R, p]."""
    q, p = theta.shape
    rows = starts[len(graphs)]
    _clear(points, rows)
    for b in range(len(graphs)):
        for i in range(starts[b + 1] - starts[b]):
            node = data.offsets[graphs[b]] + i
            for f in range(q):
                x = data.propagated[node, f]
                if x != 0:  # one-hot features stay sparse for a few hops
                    for d in range(p):
                        points[starts[b] + i, d] += x * theta[f, d]
    if relu:
        for i in range(rows):
            for d in range(p):
                points[i, d] = max(points[i, d], theta.dtype.type(0))


@njit(**_OPTIONS)
def _backward_encode(data, graphs, starts, points, relu, grad_points, grad_theta):
    """From the gradient in the points (set to 0 where ReLU is) to that in Θ, added to grad_theta [q, p]."""
    q, p = grad_theta.shape
    for b in range(len(graphs)):
        for i in range(starts[b + 1] - starts[b]):
            node, row = data.offsets[graphs[b]] + i, starts[b] + i
            if relu:
                for d in range(p):
                    if points[row, d] <= 0:
                        grad_points[row, d] = 0
            for f in range(q):
                x = data.propagated[node, f]
                if x != 0:
                    for d in range(p):
                        grad_theta[f, d] += x * grad_points[row, d]


@njit(**_OPTIONS)
def _adam_step(adam, step, grad_theta):
    """Step number `step` of Adam with decay rates 0.9 and 0.999, in place."""
    theta, moment, moment2 = adam.theta, adam.moment, adam.moment2
    scale, scale2 = 1.0 - 0.9**step, 1.0 - 0.999**step
    for f in range(theta.shape[0]):
        for d in range(theta.shape[1]):
            g = grad_theta[f, d]
            moment[f, d] += theta.dtype.type(0.1) * (g - moment[f, d])
            moment2[f, d] += theta.dtype.type(0.001) * (g * g - moment2[f, d])
            theta[f, d] -= adam.rate * (moment[f, d] / scale) / (np.sqrt(moment2[f, d] / scale2) + adam.epsilon)
