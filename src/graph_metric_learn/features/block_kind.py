"""What a kind of block is: a description of nodes at levels 0, 1, 2, …; the registry of kinds, and views of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta

from .._core.registry import Registry
from .._core.renamed import adopt_old_attribute
from .._core.schema import FieldError, Saved
from ..graphs.collection import Graphs
from .propagation import hop_by_hop


class BlockOptions(Saved, frozen=True):  # type: ignore[misc]  # Saved itself is not frozen
    """What `NodeBlocks` says to its blocks: how many columns codes of trees have."""

    code_size: Annotated[int, Meta(ge=1, le=4096)] = 32


class Block:
    """A kind of description of nodes. Level h takes in more of a node's surroundings than level h − 1.

    A new kind is a subclass in the registry, ``BLOCKS["name"] = MyBlock``, and then has the names "name@0", "name@1", …
    It needs `at_levels`, or, as a :class:`SmoothBlock`, `start`.

    Attributes
    ----------
    scaling : {"together", "apart", "none"}
        Whether columns are centred and share one scale, or have one each (columns of different units), or stay as they
        are (names).
    categorical : bool
        Whether rows are names of what is equal or different (64-bit hashes), and not points in space.
    embeddings : tuple of str or None
        Embeddings that make families where every block of a set has such a list; None for all that take such points.
    reads_labels : bool
        Whether new graphs must carry labels of the kind that was fitted.
    cloud : {"nodes", "edges", "pairs"}
        Whether rows describe nodes, edges or pairs of nodes.
    needs_edges : bool
        Whether it sees what edges carry, also without the view "edges".
    n_columns : int or None
        How many columns rows have, where it is always the same number.
    """

    scaling: ClassVar[str] = "together"
    categorical: ClassVar[bool] = False
    embeddings: ClassVar[tuple[str, ...] | None] = None
    reads_labels: ClassVar[bool] = False
    cloud: ClassVar[str] = "nodes"
    needs_edges: ClassVar[bool] = False
    n_columns: ClassVar[int | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        adopt_old_attribute(cls, "makes_columns", "categorical")

    def __init__(self, options: BlockOptions) -> None:
        self.options = options

    @classmethod
    def lacks(cls, graphs: Graphs) -> str | None:
        """What these graphs would have to carry to be described so, in words; None where nothing is missing."""
        return None

    @classmethod
    def worth_trying(cls, graphs: Graphs) -> bool:
        """Whether `GraphMetric` makes families of it for such graphs, if they lack nothing."""
        return True

    def fit(self, graphs: Graphs, sample: Graphs) -> Block:
        """Learns columns from all graphs, statistics from a sample of them."""
        return self

    def at_levels(self, graphs: Graphs, levels: Sequence[int], shared: dict[str, Any]) -> list[Any]:
        """Descriptions [S, q] of all nodes, one for each of the levels.

        `shared` is empty at the first call for these graphs: a place for what several kinds need.
        """
        raise NotImplementedError

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What was fitted: what JSON can hold, and arrays."""
        return {}, {}

    def set_state(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Restores what `state` returned. It comes from a file: a `ValueError` for what it cannot be."""
        for name in (*config, *arrays):
            raise FieldError(name, "is not known")

    def widths(self) -> tuple[int, ...] | None:
        """How many columns rows may have, after `fit` or `set_state`, by which files are checked; None if unknown."""
        return None if self.n_columns is None else (self.n_columns,)


class SmoothBlock(Block):
    """Features of the nodes, at level h smoothed over h hops, symmetrically normalised."""

    def start(self, graphs: Graphs) -> np.ndarray:
        """Features [S, q], float32, at level 0."""
        raise NotImplementedError

    def at_levels(self, graphs: Graphs, levels: Sequence[int], shared: dict[str, Any]) -> list[Any]:
        hops = hop_by_hop(replace(graphs, x=self.start(graphs)), max(levels))
        return [hops[level] for level in levels]


def lacking_of_edges(graphs: Graphs, *parts: str) -> str | None:
    """None where edges carry one of these parts, as `EdgeData.carries` names them; else what is missing, in words."""
    if graphs.edge_data is not None and set(parts) & set(graphs.edge_data.carries):
        return None
    return f"{', '.join(parts[:-1])} or {parts[-1]} of edges"


BLOCKS: Registry[type[Block]] = Registry("kind of block")

# Views of graphs: what of a graph a block gets to see.
VIEWS = {
    "edges": "labels, weights and directions of edges, which blocks do not see otherwise",
    "first": "of several labels of a node, the first one only",
    "bare": "neither labels nor attributes of nodes",
    "coarse": "in place of labels of atoms, what they are to other molecules: donors, acceptors, acids, …",
    "stereo": "handedness of atoms and sides of double bonds, which blocks do not see otherwise",
}


def seen(graphs: Graphs, views: tuple[str, ...]) -> Graphs:
    """The graphs as blocks with these views see them.

    >>> from graph_metric_learn.graphs import as_graphs
    >>> import numpy as np
    >>> weighted = as_graphs([(np.array([[0.0, 2.0], [2.0, 0.0]]), None)])
    >>> seen(weighted, ()).edge_data is None, seen(weighted, ("edges",)).edge_data.carries
    (True, ['weights'])
    """
    if "edges" not in views:
        graphs = graphs.without_edge_data()
    if "stereo" not in views and graphs.stereo is not None:
        graphs = replace(graphs, stereo=None)
    if "coarse" in views and graphs.coarse is not None:
        graphs = replace(graphs, labels=graphs.coarse[:, None].astype(np.int64))
    if "first" in views and graphs.labels is not None and graphs.labels.shape[1] > 1:
        graphs = replace(graphs, labels=graphs.labels[:, :1])
    if "bare" in views and (graphs.labels is not None or graphs.x is not None):
        graphs = replace(graphs, labels=None, x=None, columns=None, stereo=None)
    return graphs
