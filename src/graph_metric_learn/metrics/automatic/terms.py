"""Terms of a distance between graphs: some blocks of node features, through one embedding, with a weight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from scipy import sparse

from ..._core.parallel import by_threads
from ..._core.schema import FieldError, NonNegative, Saved, array, check_choice, dims_of, within
from ...embeddings import EMBEDDINGS, ColumnEmbedding, Embedding, restore
from ...features.blocks import BLOCKS, NodeBlocks, cloud_of, parse_name
from ...graphs import Graphs
from ...linalg.principal_axes import MAX_COLUMNS, principal_components
from .compaction import MAX_WIDTH, Projection
from .sample import Blocks

AT_ONCE = 200_000  # nodes of graphs that are embedded together: their features take a gigabyte at most


class TermState(Saved):
    """What files hold of a :class:`Term`."""

    title: str
    names: Annotated[list[str], Meta(min_length=1)]
    kind: str
    weight: NonNegative
    options: dict[str, Any]  # of the embedding
    embedding: dict[str, np.ndarray]  # what it has fitted
    basis: Annotated[np.ndarray, array("Q q")] | None = None
    projection: Projection | None = None


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
    """

    title: str
    names: list[str]
    basis: np.ndarray | None
    kind: str
    embedding: Embedding
    weight: float = 1.0
    projection: Projection | None = None
    columns: int = 0  # of its points, of a term from a file

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

    @cached_property
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

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient by vectors of the embedding [D], from that by the coordinates [r]."""
        gradient = np.sqrt(self.weight) * gradient
        return gradient if self.projection is None else self.projection.backward(gradient)

    def plan(self, blocks: Blocks, first: int) -> np.ndarray:
        """Which points of two graphs are compared, the first of which has `first` points."""
        points = self.points(blocks)
        return self.embedding.plan(points[:first], points[first:])

    def attribute(self, blocks: Blocks, first: int, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each point of the two adds to ⟨gradient, difference of their embedded vectors⟩ [D]."""
        points = self.points(blocks)
        return self.embedding.attribute(points[:first], points[first:], gradient)

    def state(self) -> TermState:
        """What files hold."""
        return TermState(
            self.title, self.names, self.kind, self.weight, self.embedding.options(), self.embedding.arrays(),
            self.basis, self.projection,
        )  # fmt: skip

    @classmethod
    def from_state(cls, saved: TermState, blocks: NodeBlocks) -> Term:
        """The term that `state` came from, on these blocks, or a :class:`FieldError`."""
        names, kind, basis = saved.names, check_choice("kind", saved.kind, EMBEDDINGS), saved.basis
        for place, name in enumerate(names):
            check_choice(f"names.{place}", name, blocks.names_)
        makes = {BLOCKS[parse_name(name).kind].categorical for name in names}
        if makes != {EMBEDDINGS[kind].takes_columns} or len({cloud_of([name]) for name in names}) > 1:
            raise FieldError("names", f"are blocks that do not go together, or not with {kind!r}")
        columns = sum(blocks.columns(name) for name in names)
        dims_of(saved, Q=columns)
        if basis is not None and True in makes:
            raise FieldError("basis", "is for points in space, not for names")
        columns = columns if basis is None else basis.shape[1]
        with within("embedding"):
            embedding = restore(kind, saved.options, saved.embedding, columns)
        if saved.projection is not None:
            with within("projection"):
                dims_of(saved.projection, D=embedding.width(columns))
        return cls(saved.title, names, basis, kind, embedding, saved.weight, saved.projection, columns)

    @property
    def width(self) -> int | None:
        """Coordinates that it has in the distance, of a term from a file; None if unknown."""
        return self.embedding.width(self.columns) if self.projection is None else self.projection.width


def embed_anew(
    terms: Mapping[str, Term],
    graphs: Graphs,
    reading: NodeBlocks,
    rng: np.random.Generator,
    *,
    whole: bool,
    known: tuple[Blocks, Mapping[str, np.ndarray]] | None = None,
) -> dict[str, Any]:
    """Vectors of training graphs by the key of the term, with all trees that they have as columns.

    Names of trees are read of all graphs at once; features, which take more memory, of some at a time.

    Parameters
    ----------
    reading : NodeBlocks
        Fitted to the blocks of the terms.
    whole : bool
        Whether no term is projected onto fewer coordinates.
    known : (blocks, sizes), optional
        Of these graphs, where they were computed already.
    """
    named = [term for term in terms.values() if isinstance(term.embedding, ColumnEmbedding)]
    others = [term for term in terms.values() if not isinstance(term.embedding, ColumnEmbedding)]
    parts: dict[str, list[Any]] = {key: [] for key in terms}
    for some, pieces in ((named, iter([graphs])), (others, graphs.pieces(AT_ONCE))):
        read = _read(reading, some, pieces) if known is None else [known]
        for blocks, sizes in read if some else ():

            def vectors(term: Term, blocks: Blocks = blocks, sizes: Mapping[str, np.ndarray] = sizes) -> Any:
                if whole:
                    term.projection = None
                term.see_all(blocks, sizes[term.cloud], rng)
                return term.embedded(blocks, sizes[term.cloud])

            for term, found in zip(some, by_threads(vectors, some), strict=True):
                parts[term.key].append(found)
    embedded = {key: stacked(found) for key, found in parts.items()}
    again = [key for key, term in terms.items() if term.projection is not None and sparse.issparse(embedded[key])]
    for _ in by_threads(lambda key: terms[key].compact(embedded[key]), again):
        pass
    return embedded


def _read(
    reading: NodeBlocks, terms: Sequence[Term], pieces: Iterable[Graphs]
) -> Iterator[tuple[Blocks, Mapping[str, np.ndarray]]]:
    """Blocks of these terms, and sizes, of some graphs after the other."""
    fewer = reading.only([name for term in terms for name in term.names])
    for piece in pieces:
        yield dict(zip(fewer.names_, fewer.transform(piece), strict=True)), fewer.sizes(piece)


def stacked(parts: Sequence[Any]) -> Any:
    """Rows of several arrays, dense or sparse, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def _joined(blocks: Blocks, names: Sequence[str]) -> Any:
    """Blocks side by side, divided by the root of their number; names of trees as they are."""
    parts = [blocks[name] for name in names]
    if sparse.issparse(parts[0]):
        return sparse.hstack(parts, format="csr")
    joined = np.concatenate(parts, axis=1)
    return joined if joined.dtype.kind == "u" else joined / np.float32(np.sqrt(len(parts)))
