"""Means of embedded measures in closed form: distances are L2 distances, so the pointwise mean is the Fréchet mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from .._core.ragged import by_size, groups, offsets
from ..linalg.squared_distances import squared_distances as squares_between
from .curves import Curves, have_equal_steps
from .embedded import Embedded, Kind, Vectors
from .engines.allpairs import squared_distances
from .engines.base import pieces
from .grids import running_sums
from .walks import walk_pairs

_NUMBERS = 2**22  # numbers that are converted to float64 at a time
_NEAR = 1e-9  # share of |u|² + |v|² below which |u|² + |v|² − 2 <u, v> has lost too many digits of d² in float64


def mean_curve(curves: Kind, weights: Any = None) -> Kind:
    r"""The curve with the least mean squared distance to the given ones: their pointwise mean.

    .. math:: \bar\Phi = \sum_g w_g \Phi_g = \arg\min_\Psi \sum_g w_g \|\Phi_g - \Psi\|^2

    Parameters
    ----------
    curves : Curves or Vectors
        What to average.
    weights : array [G], optional
        Weights w_g, not negative, adding up to 1; equal when None.

    Returns
    -------
    Curves or Vectors
        One item of the kind that was given. A mean of curves is exact: its steps end wherever a step of any of the
        curves ends. In general it is the curve of no cloud.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> curves = gml.as_curves([np.zeros((2, 1)), np.full((3, 1), 4.0)])
    >>> mean = gml.mean_curve(curves)
    >>> gml.pairwise_distances(mean, curves)
    array([[2., 2.]])
    """
    G = len(curves)
    if not G:
        raise ValueError(f"no {curves.kind} were given: a mean needs at least one")
    shares = np.full(G, 1.0 / G) if weights is None else np.asarray(weights, dtype=float)
    if shares.shape != (G,) or (shares < 0).any() or not np.isclose(shares.sum(), 1.0):
        raise ValueError(f"weights must be {G} numbers, not negative, adding up to 1")
    curves.check_numbers()
    functions = curves.as_step_functions()
    total, steps = _mean(functions, shares)
    values = total.to(functions.values.dtype)
    if isinstance(curves, Vectors):
        return cast(Kind, Vectors(values[:, 0], curves.numpy))
    same_steps = have_equal_steps(functions, None) and (functions.sizes == functions.sizes[0]).all()
    return cast(Kind, Curves(values, np.array([len(values)]), None if same_steps else steps, curves.numpy))


class Means:
    """The means of groups of embedded items, for exact distances from any items to them.

    The mean curve of a group has a step for every time i / n, n being the sizes in the group: all means together are
    never longer than the curves they are made from. For a curve u of n equal steps,

        d²(u, mean) = |u|² + |mean|² − 2 <u, mean>,

    where <u, mean> needs only the mean's averages on n cells: differences of its running integral, which is computed
    once. So one matrix product per size gives the distances of all curves of that size to all means. Vectors are curves
    of one step. All in float64. `codes` [N] are the groups of the items, 0 … count − 1; none may be empty.

    >>> vectors = Vectors(torch.tensor([[0.0], [2.0], [9.0]]))
    >>> Means(vectors, np.array([0, 0, 1]), 2).squared_distances(vectors)
    array([[ 1., 81.],
           [ 1., 49.],
           [64.,  0.]])
    """

    def __init__(self, items: Embedded, codes: np.ndarray, count: int) -> None:
        items.check_numbers()
        curves = _detached(items)
        means, of_one_size = [], []
        for group in range(count):
            members = np.flatnonzero(codes == group)
            if not len(members):
                raise ValueError(f"group {group} of {count} is empty: it has no mean")
            values, steps = _mean(curves[members], np.full(len(members), 1.0 / len(members)))
            means.append(Curves(values, np.array([len(values)]), steps))
            of_one_size.append(bool((curves.sizes[members] == curves.sizes[members[0]]).all()))
        self.of_equal_steps = have_equal_steps(curves, None)
        self._of_one_size = np.array(of_one_size)
        self.curves = Curves.concatenate(means)
        lengths = self.curves.lengths.unsqueeze(2)
        self.centre = (self.curves.values * lengths).sum(0) / count
        self._values = self.curves.values - self.centre
        self._integral = running_sums(self._values * lengths)  # [ΣT + 1, M, c], through all means
        squares = (self._values.square() * lengths).sum((1, 2)) / self.curves.n_directions
        self.squared_norms = squares.new_zeros(count).index_add(0, self.curves.owners, squares)
        # the times of mean k are shifted to (k, k + 1], so that one search serves all means
        self._shifted_ends = self.curves.ends[:, 0] + self.curves.owners
        self._numbers = torch.arange(count, device=self.curves.device).unsqueeze(1)
        bounds = torch.from_numpy(self.curves.offsets).to(self.curves.device).unsqueeze(1)
        self._first, self._last = bounds[:-1], bounds[1:] - 1

    def __len__(self) -> int:
        return len(self.curves)

    def squared_distances(self, items: Embedded) -> np.ndarray:
        """Squared distances of items to all means [N, K] in float64."""
        items.check_numbers()
        if isinstance(items, Vectors):
            means = self.curves.values[:, 0]
            parts = pieces(slice(0, len(items)), max(1, _NUMBERS // means.shape[1]))
            blocks = [squares_between(items.values[some].detach().to(means), means) for some in parts]
            return torch.cat(blocks).cpu().numpy()
        curves = _detached(items).to(self.curves.device)
        if not self.of_equal_steps or not have_equal_steps(curves, None):
            return squared_distances(_in_float64(curves), self.curves).cpu().numpy()
        order = by_size(curves.sizes)
        ascending = curves[order]
        products, norms = [], []
        for n, lo, hi in groups(ascending.sizes):
            averages = self._averages(n)
            for some in pieces(slice(lo, hi), max(1, _NUMBERS // averages.shape[1])):
                x = (ascending[some].values - self.centre).view(-1, averages.shape[1])  # in float64, as the centre
                norms.append(torch.linalg.vecdot(x, x) / (n * curves.n_directions))
                products.append(x @ averages.T / (n * curves.n_directions))
        back = torch.from_numpy(np.argsort(order)).to(curves.device)
        both = torch.cat(norms)[back].unsqueeze(1) + self.squared_norms
        by_products = both - 2 * torch.cat(products)[back]
        rows, cols = (i.cpu().numpy() for i in (by_products <= _NEAR * both).nonzero(as_tuple=True))
        squares = by_products.cpu().numpy()
        for steps, some in ((None, self._of_one_size[cols]), (self.curves.steps, ~self._of_one_size[cols])):
            if some.any():
                near, first = np.unique(rows[some], return_inverse=True)
                centres = replace(self.curves, steps=steps)  # None: a curve that is its own mean is at 0 exactly
                exact = walk_pairs(_in_float64(curves[near]), centres, first, cols[some])
                squares[rows[some], cols[some]] = exact.cpu().numpy()
        return squares

    def _averages(self, n: int) -> Tensor:
        """Averages of all means, minus the centre, on n cells [K, n · M · c]."""
        grid = torch.arange(n + 1, dtype=torch.float64, device=self.curves.device) / n
        row = torch.searchsorted(self._shifted_ends, self._numbers + grid).minimum(self._last).maximum(self._first)
        left = (self._shifted_ends[row] - self._numbers - grid)[..., None, None]  # time left in the step
        at = self._integral[row + 1] - left * self._values[row]
        return (at.diff(dim=1) * n).flatten(1)


def _detached(items: Embedded) -> Curves:
    """The items as step functions, without gradients."""
    curves = items.as_step_functions()
    return replace(curves, values=curves.values.detach(), steps=None if curves.steps is None else curves.steps.detach())


def _in_float64(curves: Curves) -> Curves:
    return replace(curves, values=curves.values.double())


def _mean(curves: Curves, shares: np.ndarray) -> tuple[Tensor, Tensor]:
    """The sum of shares [G] times curves: values [T, M, c] in float64 and lengths of its steps [T, M].

    Every curve begins with its first value and changes at the end of each step. All changes of all curves, sorted by
    time and added up, are the sum of the curves: the cost is linear in the number of steps.
    """
    M, device = curves.n_directions, curves.device
    if curves.steps is None:
        values, sizes = _sums_by_size(curves, shares)
        if len(sizes) == 1:
            return values, torch.full((len(values), M), 1.0 / len(values), dtype=torch.float64, device=device)
        times = torch.from_numpy(_common_ends(sizes)).to(device).unsqueeze(1)
        ends = torch.from_numpy(np.concatenate([np.arange(1, n + 1) / n for n in sizes])).to(device).unsqueeze(1)
    else:
        weights = torch.from_numpy(shares).to(device)[curves.owners]
        values, sizes = curves.values.double() * weights[:, None, None], curves.sizes
        ends = curves.ends.detach()
        times = ends.sort(dim=0).values
    row = torch.searchsorted(times.T.contiguous(), ends.T.contiguous()).T  # the step of the mean that ends there
    starts = torch.from_numpy(offsets(sizes)[:-1]).to(device)
    inner = torch.ones(len(values), dtype=torch.bool, device=device)
    inner[starts] = False
    changes = (values[1:] - values[:-1])[inner[1:]]  # at the end of the step before
    entry = (row[:-1][inner[1:]] + 1).expand(-1, M) * M + torch.arange(M, device=device)
    total = torch.zeros(len(times) * M, values.shape[2], dtype=torch.float64, device=device)
    total = total.index_add(0, entry.flatten(), changes.flatten(0, 1)).view(len(times), M, -1)
    total = torch.cat([total[:1] + values[starts].sum(0), total[1:]])
    steps = times.diff(dim=0, prepend=torch.zeros_like(times[:1])).expand(-1, M).contiguous()
    return running_sums(total)[1:], steps


def _sums_by_size(curves: Curves, shares: np.ndarray) -> tuple[Tensor, np.ndarray]:
    """Sums of shares times curves of equal steps, one curve per size: values [S, M, c] in float64, and the sizes."""
    order = by_size(curves.sizes)
    M, c = curves.values.shape[1:]
    sums, sizes = [], []
    for n, lo, hi in groups(curves.sizes[order]):
        total = torch.zeros(n * M * c, dtype=torch.float64, device=curves.device)
        for some in pieces(slice(lo, hi), max(1, _NUMBERS // (n * M * c))):
            which = order[some]
            weights = torch.from_numpy(shares[which]).to(curves.device)
            total = total + weights @ curves[which].values.double().view(len(which), -1)
        sums.append(total.view(n, M, c))
        sizes.append(n)
    return torch.cat(sums), np.array(sizes)


def _common_ends(sizes: np.ndarray) -> np.ndarray:
    """All i / n for the given n, without the nearly equal duplicates that rounding makes."""
    ends = np.sort(np.concatenate([np.arange(1, n + 1) / n for n in sizes]))
    return np.append(ends[:-1][np.diff(ends) > 1e-13], 1.0)
