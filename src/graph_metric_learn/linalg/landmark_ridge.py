"""Ridge regression on landmarks: many graphs in one pass, by sums whose size does not depend on their number.

With kernels k(G) to m landmarks and K = R Rᵀ among these, φ(G) = R⁻¹ k(G) are m ordinary features, and ridge regression
needs Σ φ φᵀ, Σ φ yᵀ and Σ φ alone. Kept apart by fold, they give the regression without each fold, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .precision import products

_ROWS = 8192  # graphs that are multiplied at once
_IN_MEMORY = 2**28  # numbers of features that are kept in memory; more are kept in a file
_ENOUGH = 1e-4  # relative residual at which conjugate gradients stop
_STEPS = 100  # of conjugate gradients, at most
_JITTER = 1e-6  # added to the diagonal of the kernel among landmarks; ten times as much until it can be factorised


@dataclass
class Whitening:
    """The map from kernels to features.

    Attributes
    ----------
    factor : Tensor [m, m], float32
        R, lower triangular.
    """

    factor: Tensor

    @classmethod
    def fit(cls, kernel: np.ndarray, device: Any) -> Whitening:
        """Of the kernel among landmarks [m, m]."""
        exact = torch.from_numpy(np.ascontiguousarray(kernel)).to(device, torch.float64)
        exact.diagonal().add_(_JITTER)
        return cls(_factor(exact).to(torch.float32))

    def to(self, device: Any) -> Whitening:
        """The same on another device."""
        return Whitening(self.factor.to(device))

    def features(self, kernel: np.ndarray) -> Tensor:
        """φ of graphs [N, m], float32, on the device, from their kernels to the landmarks [N, m]."""
        rows = torch.from_numpy(kernel).to(self.factor.device)
        with products():
            return torch.linalg.solve_triangular(self.factor, rows.T, upper=False).T

    def to_landmarks(self, weights: Tensor) -> np.ndarray:
        """Weights of landmarks [m, T] that do what weights of features [m, T] do: k · R⁻ᵀ β."""
        exact = self.factor.to(torch.float64)
        return torch.linalg.solve_triangular(exact.T, weights, upper=True).cpu().numpy()


class FoldSums:
    """Sums over graphs by fold and side: a side is a class, or some of them, whose graphs may count more later.

    Attributes
    ----------
    squares : Tensor [sides, folds, m, m], float32
        Σ φ φᵀ.
    products : Tensor [sides, folds, m, T], float64
        Σ φ yᵀ.
    features : Tensor [sides, folds, m], float64
        Σ φ.
    targets : Tensor [sides, folds, T], float64
        Σ y.
    counts : Tensor [sides, folds], float64
    """

    _names = ("squares", "products", "features", "targets", "counts")

    def __init__(self, sides: int, folds: int, width: int, n_targets: int, device: Any) -> None:
        shape, exact = (sides, folds), {"dtype": torch.float64, "device": device}
        self.squares = torch.zeros(*shape, width, width, device=device)
        self.products = torch.zeros(*shape, width, n_targets, **exact)
        self.features = torch.zeros(*shape, width, **exact)
        self.targets = torch.zeros(*shape, n_targets, **exact)
        self.counts = torch.zeros(*shape, **exact)

    def add(self, features: Tensor, targets: np.ndarray, folds: np.ndarray, sides: np.ndarray) -> None:
        """Graphs with these features [N, m], targets [N, T], folds [N] and sides [N]."""
        wanted = torch.from_numpy(np.ascontiguousarray(targets, np.float64)).to(features.device)
        for side, fold in np.unique(np.stack([sides, folds]), axis=1).T.tolist():
            rows = torch.from_numpy(np.flatnonzero((sides == side) & (folds == fold))).to(features.device)
            own, y = features[rows], wanted[rows]
            with products():
                self.squares[side, fold].addmm_(own.T, own)
            self.products[side, fold] += own.T.to(torch.float64) @ y
            self.features[side, fold] += own.sum(0, dtype=torch.float64)
            self.targets[side, fold] += y.sum(0)
            self.counts[side, fold] += len(rows)

    def like(self, device: Any) -> FoldSums:
        """Sums of the same shape over no graphs."""
        sides, folds, width, n_targets = self.products.shape
        return FoldSums(sides, folds, width, n_targets, device)

    def merge(self, other: FoldSums) -> None:
        """Adds the sums over other graphs."""
        for name in self._names:
            getattr(self, name).add_(getattr(other, name).to(self.counts.device))

    def widen(self, n_targets: int, places: np.ndarray) -> None:
        """Makes room for more targets, which are 0 for all graphs so far; places [T] are those of the targets there."""
        for name in ("products", "targets"):
            before = getattr(self, name)
            after = torch.zeros(*before.shape[:-1], n_targets, dtype=before.dtype, device=before.device)
            after[..., torch.from_numpy(places)] = before
            setattr(self, name, after)

    def solve(self, penalty: float, power: float = 0.0, without: int | None = None) -> tuple[Tensor, Tensor]:
        """Weights of features [m, T] and means [T] of the regression on all folds, or without one.

        (Σ w φ φᵀ + λ I) β = Σ w φ (y − mean)ᵀ, where a graph has the weight w of its side: one over the number of
        graphs there, to this power, and 1 on average.
        """
        device = self.counts.device
        kept = [fold for fold in range(self.counts.shape[1]) if fold != without]
        counts = self.counts.sum(1)
        shares = counts.clamp(min=1.0) ** -power
        shares = shares * counts.sum() / (shares * counts).sum().clamp(min=1e-300)
        total = float((self.counts[:, kept].sum(1) * shares).sum())
        mean = torch.einsum("s,sft->t", shares, self.targets[:, kept]) / max(total, 1e-300)
        matrix = torch.zeros(self.squares.shape[2:], dtype=torch.float64, device=device)
        for side, share in enumerate(shares.tolist()):
            for fold in kept:
                matrix.add_(self.squares[side, fold], alpha=share)
        matrix.diagonal().add_(penalty)
        sums = torch.einsum("s,sfm->m", shares, self.features[:, kept])
        wanted = torch.einsum("s,sfmt->mt", shares, self.products[:, kept]) - torch.outer(sums, mean)
        return torch.cholesky_solve(wanted, _factor(matrix)), mean

    def arrays(self) -> dict[str, np.ndarray]:
        """All sums, as NumPy arrays by name."""
        return {name: getattr(self, name).cpu().numpy() for name in self._names}

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray], device: Any) -> FoldSums:
        """The sums that `arrays` came from."""
        sums = object.__new__(cls)
        for name in cls._names:
            setattr(sums, name, torch.from_numpy(np.array(arrays[name])).to(device))
        return sums


class KeptFeatures:
    """Features of all graphs, for targets that each have graphs and weights of their own: conjugate gradients.

    Where entries are missing, or classes of each target are balanced, every target has another matrix
    Σ w φ φᵀ + λ I. Each step of conjugate gradients is one pass over the features, for all targets at once;
    preconditioned by the matrix of all graphs, few are needed. More than 2²⁸ numbers are kept in a temporary file.
    """

    def __init__(self, sides: int, folds: int, width: int, n_targets: int, device: Any) -> None:
        self.device, self.width, self.n_targets = device, width, n_targets
        self._parts: list[Tensor] = []
        self._targets: list[np.ndarray] = []
        self._folds: list[np.ndarray] = []
        self._file: Any = None
        self._total = torch.zeros(width, width, device=device)
        self._factors: dict[tuple[float, float], Tensor] = {}

    def add(self, features: Tensor, targets: np.ndarray, folds: np.ndarray, sides: np.ndarray) -> None:
        """Graphs with these features [N, m], targets [N, T], NaN where missing, and folds [N]."""
        with products():
            self._total.addmm_(features.T, features)
        held = sum(part.numel() for part in self._parts)
        self._parts.append(features if held + features.numel() <= _IN_MEMORY else self._in_file(features))
        self._targets.append(targets)
        self._folds.append(folds)
        self._factors.clear()

    def _in_file(self, features: Tensor) -> Tensor:
        """The same numbers in a file without a name, which is gone with the process."""
        import tempfile

        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the features are used
        rows = features.cpu().numpy()
        self._file.seek(0, 2)
        start = self._file.tell()
        rows.tofile(self._file)
        self._file.flush()
        return torch.from_numpy(np.memmap(self._file, np.float32, "c", start, rows.shape))

    def merge(self, other: KeptFeatures) -> None:
        """Adds other graphs."""
        self._total += other._total.to(self.device)
        self._parts += other._parts
        self._targets += other._targets
        self._folds += other._folds
        self._factors.clear()

    def solve(self, penalty: float, power: float = 0.0, without: int | None = None) -> tuple[Tensor, Tensor]:
        """As :meth:`FoldSums.solve`, each target from the graphs that have it; sides are its 0 and its 1."""
        folds = np.concatenate(self._folds)
        table = torch.from_numpy(np.concatenate(self._targets)).to(self.device)
        known = torch.isfinite(table) & torch.from_numpy(folds != (-1 if without is None else without))[:, None].to(
            self.device
        )
        table = torch.where(known, table, 0.0)
        positive, count = (table > 0.5).double(), known.double().sum(0).clamp(min=1.0)
        ones = (positive * known).sum(0)
        shares = torch.stack([(count - ones).clamp(min=1.0), ones.clamp(min=1.0)]) ** -power
        weights = known * (shares[0] * (1 - positive) + shares[1] * positive)
        weights = (weights * count / weights.sum(0).clamp(min=1e-300)).float()
        mean = (weights * table).sum(0).double() / weights.sum(0).double().clamp(min=1e-300)
        wanted = self._products(lambda rows, lo, hi: weights[lo:hi] * (table[lo:hi] - mean).float())
        share = float(weights.sum()) / max(table.numel(), 1)
        key = round(share, 3), penalty
        if key not in self._factors:
            self._factors.clear()
            matrix = self._total.double() * key[0]
            matrix.diagonal().add_(penalty)
            self._factors[key] = _factor(matrix)
        return self._conjugate(wanted, weights, penalty, self._factors[key]), mean

    def _products(self, values: Any) -> Tensor:
        """Σ φ vᵀ [m, T], float64, of values of some rows of features: values(rows, first, end) [n, T]."""
        total, start = torch.zeros(self.width, self.n_targets, dtype=torch.float64, device=self.device), 0
        for part in self._parts:
            for piece in part.split(_ROWS):
                rows = piece.to(self.device)
                with products():
                    total += (rows.T @ values(rows, start, start + len(rows))).double()
                start += len(rows)
        return total

    def _conjugate(self, wanted: Tensor, weights: Tensor, penalty: float, factor: Tensor) -> Tensor:
        """The solutions [m, T] for right-hand sides [m, T]."""
        solution, residual = torch.zeros_like(wanted), wanted.clone()
        near = torch.cholesky_solve(residual, factor)
        towards, product = near.clone(), (residual * near).sum(0)
        least = _ENOUGH * wanted.norm(dim=0)
        for _ in range(_STEPS):
            if bool((residual.norm(dim=0) <= least).all()):
                break
            direction = towards.float()
            image = self._products(lambda rows, lo, hi, d=direction: weights[lo:hi] * (rows @ d))
            image += penalty * towards
            step = product / (towards * image).sum(0).clamp(min=1e-300)
            solution += step * towards
            residual -= step * image
            near = torch.cholesky_solve(residual, factor)
            after = (residual * near).sum(0)
            towards = near + (after / product.clamp(min=1e-300)) * towards
            product = after
        return solution


def _factor(matrix: Tensor) -> Tensor:
    """The lower factor of a positive matrix [m, m]; where rounding needs it, a little is added to the diagonal."""
    added = 0.0
    while True:
        factor, failed = torch.linalg.cholesky_ex(matrix)
        if not failed:
            return factor
        more = max(10 * added, _JITTER * float(matrix.diagonal().mean()))
        matrix.diagonal().add_(more - added)
        added = more
