"""Terms of a distance between graphs: some blocks of node features, through one embedding, with a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..._core.linear import MAX_COLUMNS, principal_components
from ...embeddings import EMBEDDINGS, Embedding, restore
from ...features.blocks import cloud_of
from ...persistence.models import strip_prefix
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
        Map of the blocks side by side, Q columns: principal components where there are many, and what was learned.
    kind, embedding
        Which embedding, by its name and fitted.
    weight : float
        Factor of its squared distance, so that d² = Σ weight · d²(embedding).
    column_weights : ndarray [q] or None
        Factors of the columns in the squared distance of the embedding, where they were learned.
    """

    title: str
    names: list[str]
    basis: np.ndarray | None
    kind: str
    embedding: Embedding
    weight: float = 1.0
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
        if not sparse.issparse(points) and points.shape[1] > MAX_COLUMNS:
            basis = principal_components(points)  # blocks are centred
            points = points @ basis
        return [cls(title, names, basis, kind, EMBEDDINGS[kind]().fit(points, sizes, rng)) for kind in kinds]

    @property
    def name(self) -> str:
        return f"{self.embedding.name} of {self.title}"

    @property
    def cloud(self) -> str:
        """Whether its points are "nodes" or "edges"."""
        return cloud_of(self.names)

    def points(self, blocks: Blocks) -> Any:
        """Node features [S, q]; sparse where the embedding takes columns of 0 and 1."""
        joined = _joined(blocks, self.names)
        return joined if self.basis is None else joined @ self.basis

    def vectors(self, blocks: Blocks, sizes: np.ndarray) -> np.ndarray:
        """Vectors [G, slots, q] whose squared distance is this term."""
        vectors = self.embedding.vectors(self.points(blocks), sizes)
        if self.column_weights is not None:
            vectors *= np.sqrt(self.column_weights, dtype=np.float32)
        vectors *= np.float32(np.sqrt(self.weight))
        return vectors

    def compare(self, blocks: Blocks, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How two graphs are compared, the first of which has `first` points; see :meth:`Embedding.compare`."""
        points = self.points(blocks)
        weights = np.ones(points.shape[1]) if self.column_weights is None else self.column_weights
        plan, source, target = self.embedding.compare(points[:first], points[first:], weights)
        return plan, self.weight * source, self.weight * target

    def column_groups(self, blocks: Blocks) -> tuple[np.ndarray, np.ndarray]:
        """Groups of columns that share a weight: the group of each column [q], and the block of each group [G].

        Columns of trees are too many to be weighted one by one; principal components belong to no block.
        """
        widths = [blocks[name].shape[1] for name in self.names]
        if self.embedding.takes_columns:
            return np.repeat(np.arange(len(widths)), widths), np.arange(len(widths))
        if self.basis is not None:
            return np.arange(self.basis.shape[1]), np.zeros(self.basis.shape[1], dtype=np.int64)
        return np.arange(sum(widths)), np.repeat(np.arange(len(widths)), widths)

    def weight_columns(self, factors: np.ndarray) -> None:
        """Multiplies the weights of the columns [q]."""
        before = 1.0 if self.column_weights is None else self.column_weights
        self.column_weights = (before * factors).astype(np.float32)

    def refreshed(self, blocks: Blocks, sizes: np.ndarray, rng: np.random.Generator) -> Term:
        """The same term with the learned weights of columns moved into its basis, and the embedding fitted anew.

        Plans of transport then take the weights into account, too.
        """
        assert self.column_weights is not None
        scale = np.sqrt(self.column_weights, dtype=np.float32)
        basis = np.diag(scale) if self.basis is None else self.basis * scale
        embedding = EMBEDDINGS[self.kind](**self.embedding.options())
        term = Term(self.title, self.names, basis, self.kind, embedding, self.weight)
        term.embedding.fit(term.points(blocks), sizes, rng)
        return term

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What JSON can hold, and arrays."""
        arrays = {f"embedding.{name}": value for name, value in self.embedding.arrays().items()}
        for name in ("basis", "column_weights"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        config = {"title": self.title, "names": self.names, "kind": self.kind, "weight": self.weight}
        return {**config, "options": self.embedding.options()}, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> Term:
        """The term that `state` came from."""
        embedding = restore(config["kind"], config.get("options", {}), strip_prefix(arrays, "embedding."))
        return cls(
            config["title"], config["names"], arrays.get("basis"), config["kind"], embedding, config["weight"],
            arrays.get("column_weights"),
        )  # fmt: skip


def _joined(blocks: Blocks, names: Sequence[str]) -> Any:
    """Blocks side by side, divided by the root of their number; sparse ones as they are."""
    parts = [blocks[name] for name in names]
    if sparse.issparse(parts[0]):
        return sparse.hstack(parts, format="csr")
    return np.concatenate(parts, axis=1) / np.float32(np.sqrt(len(parts)))
