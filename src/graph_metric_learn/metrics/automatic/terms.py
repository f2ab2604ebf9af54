"""Terms of a distance between graphs: some blocks of node features, through one embedding, with a weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...embeddings.base import EMBEDDINGS, Embedding, restore
from ...features.blocks import MOST_COLUMNS, principal_components
from ...persistence.models import inside

Blocks = Mapping[str, Any]  # node features [S, q] by name; sparse for trees


def recipes(kinds: Sequence[str]) -> dict[str, list[str]]:
    """Sets of blocks worth trying for graphs with these kinds of node information, by a name to read.

    >>> list(recipes(["labels", "degree", "wl"]))[:3]
    ['labels', 'labels, hops 0–1', 'labels, hops 0–2']
    """
    own = [kind for kind in kinds if kind in ("attributes", "labels")] or ["degree"]
    title = " and ".join(own)

    def hops(bases: list[str], last: int) -> list[str]:
        return [f"{base}@{hop}" for base in bases for hop in range(last + 1)]

    found = {title: hops(own, 0)}
    for last in (1, 2, 4):
        found[f"{title}, hops 0–{last}"] = hops(own, last)
    if len(own) == 2:
        found |= {"attributes": hops(own[:1], 0), "attributes, hops 0–2": hops(own[:1], 2)}
    if own != ["degree"]:
        found["degrees, hops 0–1"] = hops(["degree"], 1)
    found["size"] = ["size@0"]
    found["structure, hops 0–2"] = hops(["structure"], 2)
    found["structure, hops 0–2 + size"] = [*hops(["structure"], 2), "size@0"]
    for last in (1, 2, 3):
        found[f"WL codes 0–{last}"] = hops(["wl"], last)
    found[f"{title} + WL codes 1–2"] = [*hops(own, 0), "wl@1", "wl@2"]
    found[f"{title}, hops 0–2 + WL codes 1–2"] = [*hops(own, 2), "wl@1", "wl@2"]
    for last in (1, 2, 3):
        found[f"trees 0–{last}"] = hops(["trees"], last)
    return found


def embeddings_for(names: Sequence[str], wanted: str = "auto") -> list[str]:
    """Kinds of embedding that make sense for these blocks; of them the wanted one alone, which may be none."""
    columns = {name.startswith("trees@") for name in names}
    if len(columns) == 2:
        raise ValueError(f"trees go with trees alone, got {', '.join(names)}")
    fitting = [kind for kind, embedding in EMBEDDINGS.items() if embedding.takes_columns in columns]
    if wanted != "auto":
        return [wanted] if wanted in fitting else []
    return ["mean"] if all(name.startswith("size@") for name in names) else fitting


@dataclass
class Term:
    """One part of the squared distance: some blocks of node features, through one embedding.

    Attributes
    ----------
    title : str
        For people.
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
        if not sparse.issparse(points) and points.shape[1] > MOST_COLUMNS:
            basis = principal_components(points)  # blocks are centred
            points = points @ basis
        return [cls(title, names, basis, kind, EMBEDDINGS[kind]().fit(points, sizes, rng)) for kind in kinds]

    @property
    def name(self) -> str:
        return f"{self.embedding.name} of {self.title}"

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
        """How two graphs, the first with so many nodes, are compared; see :meth:`Embedding.compare`."""
        points = self.points(blocks)
        weights = np.ones(points.shape[1]) if self.column_weights is None else self.column_weights
        plan, source, target = self.embedding.compare(points[:first], points[first:], weights)
        return plan, self.weight * source, self.weight * target

    def column_groups(self, blocks: Blocks) -> tuple[np.ndarray, np.ndarray]:
        """Which columns are weighted together [q], and which block each such group is part of [G].

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
        """The same with the learned weights inside: couplings are made with weighted columns, too."""
        assert self.column_weights is not None
        scale = np.sqrt(self.column_weights, dtype=np.float32)
        basis = np.diag(scale) if self.basis is None else self.basis * scale
        term = Term(self.title, self.names, basis, self.kind, EMBEDDINGS[self.kind](), self.weight)
        term.embedding.fit(term.points(blocks), sizes, rng)
        return term

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What JSON can hold, and arrays."""
        arrays = {f"embedding.{name}": value for name, value in self.embedding.arrays().items()}
        for name in ("basis", "column_weights"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        return {"title": self.title, "names": self.names, "kind": self.kind, "weight": self.weight}, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> Term:
        """The term that `state` came from."""
        embedding = restore(config["kind"], inside(arrays, "embedding."))
        return cls(
            config["title"], config["names"], arrays.get("basis"), config["kind"], embedding, config["weight"],
            arrays.get("column_weights"),
        )  # fmt: skip


def _joined(blocks: Blocks, names: Sequence[str]) -> Any:
    """Blocks side by side, so scaled that their number does not matter; sparse ones as they are."""
    parts = [blocks[name] for name in names]
    if sparse.issparse(parts[0]):
        return sparse.hstack(parts, format="csr")
    return np.concatenate(parts, axis=1) / np.float32(np.sqrt(len(parts)))
