"""Kernel ridge regression on graphs, whose scores are coordinates of the learned metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from scipy import sparse

from ..._core.schema import FieldError, Positive, Rows, Saved, array, check_choice, dims_of, within
from ...embeddings import ColumnEmbedding
from ...linalg.ridge import best_penalty, fit_ridge, known_means
from ...linalg.squared_distances import inner_products, squared_distances, squared_norms
from .kernels import gaussian_scale
from .terms import Term

_SCALED_ON = 600  # graphs that the scale of a kernel is computed from
# Places along the line between two graphs, from 0 to 1, at which gradients are averaged, and how much each counts.
_PLACES, _SHARES = (np.polynomial.legendre.leggauss(32)[part] / 2 + (0.5, 0.0)[part] for part in (0, 1))


class PartState(Saved):
    """What files hold of a :class:`Part`."""

    term: str  # its key
    form: Literal["gaussian", "linear"]
    scale: Positive
    references: Annotated[Rows, array("M r")]
    centre: Annotated[np.ndarray, array("c")]

    def __post_init__(self) -> None:
        super().__post_init__()
        width = 0 if self.form == "gaussian" else self.references.shape[1]
        dims_of(self, c=width)


class KernelRidgeState(Saved):
    """What files hold of a :class:`KernelRidge`."""

    parts: Annotated[list[PartState], Meta(min_length=1)]
    penalty: Positive
    weights: Annotated[np.ndarray, array("M T")]
    mean: Annotated[np.ndarray, array("T")]


@dataclass
class Part:
    """One kernel of the regression: a term, the form of its kernel, and the graphs that it was fitted to.

    Attributes
    ----------
    term : Term
        Dense vectors are projected as in the distance, sparse ones are taken as they are.
    form : {"gaussian", "linear"}
        exp(−d² / scale), or 2 ⟨v − centre, w − centre⟩ / scale + 1.
    references : ndarray [M, r], float64, or csr_array [M, D]
    scale : float
    centre : ndarray [r]
        Of linear kernels.
    """

    term: Term
    form: str
    references: Any
    scale: float
    centre: np.ndarray

    @classmethod
    def fit(cls, term: Term, form: str, embedded: Any) -> Part:
        """The kernel on graphs with these vectors [M, D], scaled by some of them."""
        references = part_vectors(term, embedded)
        some = references[:: max(1, references.shape[0] // _SCALED_ON)]
        squares = squared_distances(some)
        if form == "gaussian":
            return cls(term, form, references, gaussian_scale(squares), np.zeros(0))
        centre = np.asarray(references.mean(0)).reshape(-1)
        return cls(term, form, references, max(float(squares.mean()), 1e-30), centre)

    def kernel(self, vectors: Any) -> np.ndarray:
        """Between graphs with these vectors and the references [N, M]."""
        if self.form == "gaussian":
            squares = squared_distances(vectors, self.references)
            return np.exp(-squares / self.scale, out=squares)
        products = inner_products(vectors, self.references)
        products -= (vectors @ self.centre)[:, None] + (self.references @ self.centre)[None, :]
        return (products + self.centre @ self.centre) * (2.0 / self.scale) + 1.0

    def mean_gradient(self, first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The gradients of Σ_m weights_m k(·, m), one for each column of weights [M, C], averaged along the line from
        `second` to `first` [D, C].
        """
        references = self.references
        if self.form == "linear":
            return (references.T @ weights - np.outer(self.centre, weights.sum(0))) * (2.0 / self.scale)
        places, shares = _PLACES[:, None], _SHARES
        norms, gap = squared_norms(references), first - second
        to_first, to_second = (norms - 2 * (references @ end) + end @ end for end in (first, second))
        squares = places * to_first + (1 - places) * to_second - places * (1 - places) * (gap @ gap)  # [steps, M]
        near = np.exp(-squares / self.scale)
        sums = near @ weights
        total = references.T @ ((shares @ near)[:, None] * weights)
        total -= np.outer(second, shares @ sums) + np.outer(gap, shares @ (sums * places))
        return total * (2.0 / self.scale)


@dataclass
class KernelRidge:
    """A fitted regression: scores are the mean kernel to the references, times weights.

    Attributes
    ----------
    parts : list of Part
    weights : ndarray [M, T]
        α, of the references and outputs.
    mean : ndarray [T]
        Of the outputs.
    penalty : float
        λ.
    """

    parts: list[Part]
    weights: np.ndarray
    mean: np.ndarray
    penalty: float

    @classmethod
    def fit(
        cls,
        parts: list[Part],
        kernel: np.ndarray,
        outputs: np.ndarray,
        guess: float,
        *,
        scale_invariant: bool = False,
        groups: np.ndarray | None = None,
    ) -> KernelRidge:
        """From the mean kernel among the references [M, M] and their outputs [M, T]; the penalty by leaving one out."""
        mean = known_means(outputs)
        penalty, _ = best_penalty(kernel, outputs - mean, guess, scale_invariant=scale_invariant, groups=groups)
        return cls(parts, fit_ridge(kernel, outputs - mean, penalty), mean, penalty)

    def kernel(self, embedded: dict[str, Any]) -> np.ndarray:
        """The mean kernel of graphs to the references [N, M], from vectors by the key of the term."""
        return mean_kernel(self.parts, embedded)

    def reference_kernel(self) -> np.ndarray:
        """The mean kernel among the references [M, M]."""
        total: Any = 0.0
        for part in self.parts:
            total = total + part.kernel(part.references)
        return total / len(self.parts)

    def targets(self, kernel: np.ndarray) -> np.ndarray:
        """The outputs that it was fitted to [M, T], from the kernel among the references; NaN where one was missing."""
        found = kernel @ self.weights + self.penalty * self.weights + self.mean
        return np.where(self.weights != 0, found, np.nan)

    def scores(self, embedded: dict[str, Any]) -> np.ndarray:
        """Predicted outputs [N, T]."""
        return self.kernel(embedded) @ self.weights + self.mean

    def compared(self, embedded: dict[str, Any]) -> dict[str, Any]:
        """What the kernels compare of graphs, by the key of the term, from their vectors."""
        return {part.term.key: part_vectors(part.term, embedded[part.term.key]) for part in self.parts}

    def mean_gradients(self, compared: dict[str, Any], directions: np.ndarray) -> list[tuple[Term, np.ndarray]]:
        """Of ⟨scores, direction⟩ along the line between two graphs, for several directions [T, C].

        From what is `compared` of the two: for each part its term, and the gradients by vectors of the term [D, C].
        """
        weights = self.weights @ directions / len(self.parts)
        found = []
        for part in self.parts:
            both = compared[part.term.key]
            first, second = both.toarray() if sparse.issparse(both) else both
            gradients = part.mean_gradient(first, second, weights)
            projection = None if sparse.issparse(both) else part.term.projection
            found.append((part.term, gradients if projection is None else projection.backward(gradients)))
        return found

    def state(self) -> KernelRidgeState:
        """What files hold; terms by their keys."""
        parts = []
        for part in self.parts:
            rows = part.references if sparse.issparse(part.references) else part.references.astype(np.float32)
            parts.append(PartState(part.term.key, part.form, part.scale, rows, part.centre))  # type: ignore[arg-type]
        return KernelRidgeState(parts, self.penalty, self.weights, self.mean)

    @classmethod
    def from_state(cls, saved: KernelRidgeState, terms: dict[str, Term], n_outputs: int | None) -> KernelRidge:
        """The machine that `state` came from, on terms by key, for so many outputs; or a :class:`FieldError`."""
        count = dims_of(saved, T=n_outputs)["M"]
        parts = []
        for i, part in enumerate(saved.parts):
            with within(f"parts.{i}"):
                term, rows = terms[check_choice("term", part.term, terms)], part.references
                sparse_rows = sparse.issparse(rows)
                if isinstance(term.embedding, ColumnEmbedding) and hasattr(term.embedding, "vocabulary") != sparse_rows:
                    raise FieldError("references", "must be sparse where vectors are, and only there")
                dims_of(part, M=count, r=term.embedding.width(term.columns) if sparse_rows else term.width)
                references = rows if sparse_rows else rows.astype(np.float64)
            parts.append(Part(term, part.form, references, part.scale, part.centre))
        return cls(parts, saved.weights, saved.mean, saved.penalty)


def part_vectors(term: Term, embedded: Any) -> Any:
    """What a kernel compares: dense vectors projected, in the precision of files but as float64; sparse ones as is."""
    if sparse.issparse(embedded):
        return embedded
    vectors = embedded if term.projection is None else term.projection.apply(embedded)
    return vectors.astype(np.float64)


def mean_kernel(parts: list[Part], embedded: dict[str, Any]) -> np.ndarray:
    """The mean of the kernels of several parts [N, M]."""
    total: Any = 0.0
    for part in parts:
        total = total + part.kernel(part_vectors(part.term, embedded[part.term.key]))
    return total / len(parts)
