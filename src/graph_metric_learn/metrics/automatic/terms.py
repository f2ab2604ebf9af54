"""Terms of a distance between graphs: some blocks of node features, through one embedding, with a weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..._core.linear import MAX_COLUMNS, principal_components
from ...embeddings import EMBEDDINGS, ColumnEmbedding, Embedding, restore
from ...features.blocks import cloud_of
from ...persistence.models import strip_prefix
from .compaction import MAX_WIDTH, Projection
from .sample import Blocks


@dataclass
class Term:
    """One part of the squared distance: some blocks of node features, through one embedding.

    Attributes
    ----------
    title : str
        Readable title, for reports.
    names : list of str
        The blocks.
    basis : ndarray [Q, q] or None
        Map of the blocks side by side, Q columns: principal components where there are many.
    kind, embedding
        Which embedding, by its name and fitted.
    weight : float
        Factor of its squared distance, so that d² = Σ weight · d²(embedding).
    projection : Projection or None
        Onto fewer coordinates, where the embedding has many.
    column_weights : ndarray [q] or None
        Factors of the columns in the squared distance of the embedding, in models of earlier versions.
    """

    title: str
    names: list[str]
    basis: np.ndarray | None
    kind: str
    embedding: Embedding
    weight: float = 1.0
    projection: Projection | None = None
    column_weights: np.ndarray | None = None

    @classmethod
    def fit_each(
        cls,
        title: str,
        names: list[str],
        kinds: Sequence[str],
        blocks: Blocks,
        sizes: np.ndarray,
        rng: np.random.Generator,
    ) -> list[Term]:
        """A term for each kind of embedding, fitted to the nodes of graphs of these sizes."""
        if not kinds:
            return []
        points, basis = _joined(blocks, names), None
        if points.dtype.kind == "f" and not sparse.issparse(points) and points.shape[1] > MAX_COLUMNS:
            basis = principal_components(points)  # blocks are centred
            points = points @ basis
        return [cls(title, names, basis, kind, EMBEDDINGS[kind]().fit(points, sizes, rng)) for kind in kinds]

    @property
    def name(self) -> str:
        return f"{self.embedding.name} of {self.title}"

    @property
    def key(self) -> str:
        """What it is called in files and tables of vectors."""
        return f"{self.kind} | {self.title}"

    @property
    def cloud(self) -> str:
        """Whether its points are "nodes" or "edges"."""
        return cloud_of(self.names)

    def points(self, blocks: Blocks) -> Any:
        """Node features [S, q], or names of trees."""
        joined = _joined(blocks, self.names)
        return joined if self.basis is None else joined @ self.basis

    def embedded(self, blocks: Blocks, sizes: np.ndarray) -> Any:
        """Vectors of the embedding [G, D], float32, or sparse rows."""
        vectors = self.embedding.vectors(self.points(blocks), sizes)
        if sparse.issparse(vectors):
            return vectors
        if self.column_weights is not None:
            vectors = vectors * np.sqrt(self.column_weights, dtype=np.float32)
        return vectors.reshape(len(vectors), -1)

    def see_all(self, blocks: Blocks, sizes: np.ndarray, rng: np.random.Generator) -> None:
        """Fits columns of names to more graphs than the embedding was fitted to, before it is projected."""
        if isinstance(self.embedding, ColumnEmbedding) and not sparse.issparse(points := self.points(blocks)):
            self.embedding.fit(points, sizes, rng)

    def compact(self, embedded: Any) -> None:
        """Projects onto at most 256 coordinates, where there are more or the vectors are sparse."""
        if sparse.issparse(embedded) or embedded.shape[1] > MAX_WIDTH:
            self.projection = Projection.fit(embedded, MAX_WIDTH)

    def coordinates(self, embedded: Any) -> Any:
        """Vectors of the embedding [G, D] in the coordinates of the distance: projected, and times √weight."""
        vectors = embedded if self.projection is None else self.projection.apply(embedded)
        return vectors * (np.sqrt(self.weight) if sparse.issparse(vectors) else np.float32(np.sqrt(self.weight)))

    def pull(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient by vectors of the embedding [D], from that by the coordinates [r]."""
        gradient = np.sqrt(self.weight) * gradient
        return gradient if self.projection is None else self.projection.pull(gradient)

    def plan(self, blocks: Blocks, first: int) -> np.ndarray:
        """Which points of two graphs are compared, the first of which has `first` points."""
        points = self.points(blocks)
        return self.embedding.plan(points[:first], points[first:])

    def attribute(self, blocks: Blocks, first: int, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each point of the two adds to ⟨gradient, difference of their embedded vectors⟩ [D]."""
        points = self.points(blocks)
        if self.column_weights is not None:
            gradient = (gradient.reshape(-1, len(self.column_weights)) * np.sqrt(self.column_weights)).reshape(-1)
        return self.embedding.attribute(points[:first], points[first:], gradient)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What JSON can hold, and arrays."""
        arrays = {f"embedding.{name}": value for name, value in self.embedding.arrays().items()}
        for name in ("basis", "column_weights"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        if self.projection is not None:
            arrays |= {f"projection.{name}": value for name, value in self.projection.arrays().items()}
        config = {"title": self.title, "names": self.names, "kind": self.kind, "weight": self.weight}
        return {**config, "options": self.embedding.options()}, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> Term:
        """The term that `state` came from."""
        embedding = restore(config["kind"], config.get("options", {}), strip_prefix(arrays, "embedding."))
        return cls(
            config["title"], config["names"], arrays.get("basis"), config["kind"], embedding, config["weight"],
            Projection.from_arrays(strip_prefix(arrays, "projection.")), arrays.get("column_weights"),
        )  # fmt: skip


def embed_anew(
    terms: Mapping[str, Term], blocks: Blocks, sizes: Mapping[str, np.ndarray], rng: np.random.Generator, *, whole: bool
) -> dict[str, Any]:
    """Vectors of training graphs by the key of the term, with all trees that they have as columns.

    With `whole`, no term is projected onto fewer coordinates.
    """
    embedded = {}
    for key, term in terms.items():
        if whole:
            term.projection = None
        term.see_all(blocks, sizes[term.cloud], rng)
        embedded[key] = term.embedded(blocks, sizes[term.cloud])
        if term.projection is not None and sparse.issparse(embedded[key]):
            term.compact(embedded[key])
    return embedded


def _joined(blocks: Blocks, names: Sequence[str]) -> Any:
    """Blocks side by side, divided by the root of their number; names of trees as they are."""
    parts = [blocks[name] for name in names]
    if sparse.issparse(parts[0]):
        return sparse.hstack(parts, format="csr")
    joined = np.concatenate(parts, axis=1)
    return joined if joined.dtype.kind == "u" else joined / np.float32(np.sqrt(len(parts)))
