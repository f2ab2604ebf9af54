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
        jitter = _JITTER
        while True:
            factor, failed = torch.linalg.cholesky_ex(exact + jitter * torch.eye(len(exact), device=device))
            if not failed:
                return cls(factor.to(torch.float32))
            jitter *= 10

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

    def merge(self, other: FoldSums) -> None:
        """Adds the sums over other graphs."""
        for name in self._names:
            getattr(self, name).add_(getattr(other, name).to(self.counts.device))

    def widen(self, n_targets: int) -> None:
        """Makes room for more targets, of which no graph so far has any."""
        more = n_targets - self.targets.shape[2]
        self.products = torch.nn.functional.pad(self.products, (0, more))
        self.targets = torch.nn.functional.pad(self.targets, (0, more))

    def solve(
        self, penalty: float, side_weights: np.ndarray, without: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """Weights of features [m, T] and means [T] of the regression on all folds, or without one.

        (Σ w φ φᵀ + λ I) β = Σ w φ (y − mean)ᵀ, graphs of each side with the weight w of the side [sides].
        """
        device = self.counts.device
        shares = torch.from_numpy(side_weights).to(device, torch.float64)
        kept = [fold for fold in range(self.counts.shape[1]) if fold != without]
        counts = float((self.counts[:, kept].sum(1) * shares).sum())
        mean = torch.einsum("s,sft->t", shares, self.targets[:, kept]) / max(counts, 1e-300)
        matrix = torch.zeros(self.squares.shape[2:], dtype=torch.float64, device=device)
        for side, share in enumerate(shares.tolist()):
            for fold in kept:
                if share:
                    matrix.add_(self.squares[side, fold], alpha=share)
        matrix.diagonal().add_(penalty)
        sums = torch.einsum("s,sfm->m", shares, self.features[:, kept])
        wanted = torch.einsum("s,sfmt->mt", shares, self.products[:, kept]) - torch.outer(sums, mean)
        factor, _ = torch.linalg.cholesky_ex(matrix)
        return torch.cholesky_solve(wanted, factor), mean

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
