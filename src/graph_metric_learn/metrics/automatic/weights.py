"""The weights of families: even, by the marginal likelihood of the targets, or half of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

SHARES = (0.1, 0.5, 1.0)  # of the even weights, that are tried: with a little of all, no two graphs are called equal
_CHEAP = ("multiset", "mean")  # embeddings that even weights are spread over
_STEPS = 16  # of the search for the likeliest weights, at most
_FIRST, _LEAST = 0.5, 0.03  # lengths of its steps
_GAIN = 1e-4  # increase of the log likelihood of a graph that a step must bring
_PROMISE = 1e-3  # slope below which no step is tried
_NOISE = 0.3  # λ at the beginning
_NOISE_EVERY = 3  # steps after which λ is looked at again
_FACTOR = 2.0  # by which λ goes up or down
_SMALL = 0.01  # weight of a family that is left out


def even_weights(kinds: Mapping[str, str]) -> dict[str, float]:
    """Equal weights for all kinds, and within each for all families; from the kind of each family.

    >>> even_weights({"trees": "surroundings", "codes": "surroundings", "size": "structure"})
    {'trees': 0.25, 'codes': 0.25, 'size': 0.5}
    """
    of_kind = list(kinds.values())
    return {name: 1.0 / len(set(of_kind)) / of_kind.count(kind) for name, kind in kinds.items()}


def likeliest_weights(kernels: np.ndarray, outputs: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Weights [F] of kernels [F, n, n] under which centred outputs [n, T] of a Gaussian process are likeliest.

    From weights `start` [F], step by step towards the one kernel that promises most (Frank-Wolfe), so that few have a
    weight; few steps, so that what they find on few graphs holds on others. The log likelihood of outputs with
    covariance σ² (Σ_f w_f K_f + λ I) is, with the likeliest σ², −n T log(σ²) / 2 − T log|K + λ I| / 2; its gradient by
    w_f is −T tr((K + λ I)⁻¹ K_f) / 2 + Σ_t α_tᵀ K_f α_t / (2 σ²), α = (K + λ I)⁻¹ Y. λ follows.
    """
    count, n = len(kernels), kernels.shape[1]
    table, weights, noise = kernels.reshape(count, -1), start.astype(float), _NOISE
    mean = (weights.astype(table.dtype) @ table).reshape(n, n).astype(float)
    best = _Fit.of(mean, noise, outputs)
    length = _FIRST
    for step in range(_STEPS):
        for other in (noise / _FACTOR, noise * _FACTOR) if step % _NOISE_EVERY == 0 else ():
            fit = _Fit.of(mean, other, outputs)
            if fit.cost < best.cost:
                best, noise = fit, other
                break
        slopes = table @ best.gradient().astype(table.dtype).reshape(-1)
        towards = int(slopes.argmin())
        if slopes[towards] - weights @ slopes > -_PROMISE * n:
            break
        while length >= _LEAST:
            moved = (1 - length) * mean + length * kernels[towards]
            fit = _Fit.of(moved, noise, outputs)
            if fit.cost < best.cost - _GAIN * n:
                break
            length /= 2
        else:
            break
        best, mean = fit, moved
        weights *= 1 - length
        weights[towards] += length
    return weights


class _Fit:
    """A Gaussian process: twice its negative log likelihood for each output, but for constants."""

    factor: np.ndarray  # of the covariance [n, n], lower
    solved: np.ndarray  # [n, T]
    scale: float  # σ²
    cost: float = np.inf

    @classmethod
    def of(cls, kernel: np.ndarray, noise: float, outputs: np.ndarray) -> _Fit:
        from scipy.linalg import cho_solve, lapack

        fit = cls()
        matrix = np.array(kernel, order="F")
        np.einsum("ii->i", matrix)[:] += noise
        fit.factor, failed = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
        if failed:
            return fit
        fit.solved = cho_solve((fit.factor, True), outputs, check_finite=False)
        fit.scale = max(float((outputs * fit.solved).sum()) / outputs.size, 1e-12)
        fit.cost = len(kernel) * np.log(fit.scale) + 2 * float(np.log(np.diag(fit.factor)).sum())
        return fit

    def gradient(self) -> np.ndarray:
        """Of the cost by the kernel [n, n]."""
        from scipy.linalg import lapack

        inverse, _ = lapack.dpotri(self.factor, lower=1)
        lower = np.tril(inverse)
        inverse = lower + np.tril(lower, -1).T
        return inverse - self.solved @ self.solved.T / (self.scale * self.solved.shape[1])


def mixed_weights(likeliest: np.ndarray, even: np.ndarray, share: float) -> np.ndarray:
    """Weights [F] with this share of the even ones; small ones of the others are left out."""
    kept = np.where(likeliest < _SMALL * likeliest.max(), 0.0, likeliest)
    return (1 - share) * kept / kept.sum() + share * even


def centred(outputs: np.ndarray) -> np.ndarray:
    """Outputs [n, T] less their means, 0 where one is missing; columns that do not vary are left out."""
    known = np.isfinite(outputs)
    means = np.where(known, outputs, 0.0).sum(0) / np.maximum(known.sum(0), 1)
    values = np.where(known, outputs - means, 0.0)
    return values[:, np.abs(values).max(0) > 0]


def even_over(
    names: Sequence[str], kinds: Mapping[str, str], embeddings: Mapping[str, str], *, cheap: bool
) -> np.ndarray:
    """Even weights [F] over families of bounded kernels: all, or those that are `cheap` to compute, if any are."""
    chosen = [name for name in names if embeddings[name] != "linear"] or list(names)
    if cheap:
        chosen = [name for name in chosen if embeddings[name] in _CHEAP] or chosen
    even = even_weights({name: kinds[name] for name in chosen})
    return np.array([even.get(name, 0.0) for name in names])
