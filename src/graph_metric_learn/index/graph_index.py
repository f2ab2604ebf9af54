"""GraphIndex: many graphs by id, their nearest neighbours by a fitted metric, in memory or on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._core.parallel import n_workers
from .._core.validation import whole_number
from ..graphs import Graphs
from ..graphs.stream import is_stream, read_chunks
from ..io.models import load_model
from ..io.vectors import new_vectors
from ..metrics.base import METRICS, BaseGraphMetric
from ..transport import Curves, Embedded, Vectors, curve_vectors
from .catalogue import checked_id, checked_ids, checked_metadata
from .drift import Drift
from .folder import IndexFolder, create
from .rows import State, batches_of
from .search import curve_arrays, curves_within, embedded_at, nearest, nearest_curves, within_radius
from .store import Store

_CHUNK = 4000  # graphs of a stream that are embedded, by several workers if there are, and added at a time
_CELLS = 16  # of the vectors of curves, where the metric does not say


class GraphIndex:
    """Graphs by id, and which of them are nearest to others.

    Search is exact: distances are those of `metric.pairwise_distances`, in float64. An index that was loaded from
    a folder is mapped into memory, and every change is on disk when the call returns: killed at any moment, it opens as
    it was before the change or after it. One process may change it while others search it.

    Parameters
    ----------
    metric : BaseGraphMetric
        A fitted metric. Those that compare curves (`SGML`) are searched by vectors that bound the distance from below,
        and then exactly.

    Attributes
    ----------
    metric : BaseGraphMetric
    recall_ : float or None
        Of approximate search: the share of the 10 nearest that it finds, as measured on 200 graphs of the index.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> rings, stars = [nx.cycle_graph(n) for n in range(4, 24)], [nx.star_graph(n) for n in range(4, 24)]
    >>> metric = gml.GraphMetric(random_state=0).fit(rings + stars, ["ring"] * 20 + ["star"] * 20)
    >>> index = gml.GraphIndex(metric)
    >>> index.add(rings + stars, ids=[f"{kind} {n}" for kind in ("ring", "star") for n in range(4, 24)])
    GraphIndex of 40 graphs
    >>> distances, ids = index.search([nx.star_graph(9)], k=1)
    >>> ids[0, 0], float(distances[0, 0])
    ('star 9', 0.0)
    >>> index.remove(["star 9"])
    >>> "star 9" in index, len(index)
    (False, 39)
    """

    def __init__(self, metric: BaseGraphMetric) -> None:
        if not isinstance(metric, BaseGraphMetric):
            raise ValueError(  # noqa: TRY004
                f"metric must be a fitted GraphMetric, SGML or another BaseGraphMetric, got {type(metric).__name__}: "
                "of a predictor, take its metric_"
            )
        check_is_fitted(metric)
        self._store = Store()
        self.metric = metric
        self.recall_: float | None = None

    # --- what is in it -----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._store)

    def __contains__(self, id: Any) -> bool:
        return bool(self._store.state.find([checked_id(id)])[0] >= 0)

    def __repr__(self) -> str:
        return f"GraphIndex of {len(self)} graphs"

    @property
    def ids(self) -> np.ndarray:
        """The ids of all graphs [N], in the order of adding; int64 if all are whole numbers, else objects."""
        state = self._store.state
        return _ids_at(state, state.alive)

    def metadata(self, ids: Any) -> list[Any]:
        """What was given as metadata for these ids; None where nothing was."""
        state = self._store.state
        return state.metadata(state.rows_of(_as_ids(ids)))

    # --- changes -----------------------------------------------------------------------------------------------------

    def add(self, graphs: Any, ids: Any = None, metadata: Any = None) -> GraphIndex:
        """Adds graphs.

        Parameters
        ----------
        graphs : list of graphs, or any iterable of graphs or batches
            See :func:`as_graphs`. A list is added as a whole or not at all; a generator or `DataLoader` is read 4000
            graphs at a time, each chunk a change of its own.
        ids : sequence, optional
            One id per graph: whole numbers and strings; in memory any hashable object. By default the names of the
            graphs if all have one and they differ, else running numbers. An id that is in the index already is an
            error, see `update`.
        metadata : sequence or dict of columns, optional
            What is to be returned with each graph: class, name, number, or a dictionary of such; anything JSON holds.
        """
        if not is_stream(graphs):
            self._add(graphs, ids, metadata)
            return self
        if hasattr(metadata, "keys"):
            names = list(metadata)
            metadata = (dict(zip(names, row, strict=True)) for row in zip(*metadata.values(), strict=False))
        columns = [None if values is None else iter(values) for values in (ids, metadata)]
        for chunk in self._chunks(graphs):
            self._add(chunk, *(None if values is None else list(islice(values, len(chunk))) for values in columns))
        return self

    def _add(self, graphs: Any, ids: Any, metadata: Any) -> None:
        graphs = self.metric.read(graphs)
        metadata = checked_metadata(metadata, len(graphs))
        if ids is None:
            names = graphs.names
            ids = names.tolist() if names is not None and len(set(names)) == len(names) else None
        else:
            ids = checked_ids(ids, len(graphs))
        vectors, curves = self._embedded(graphs)
        self._store.add(vectors, ids, metadata, curve_arrays(curves))

    def update(self, graphs: Any, ids: Any, metadata: Any = None) -> GraphIndex:
        """Puts other graphs in place of those with these ids; metadata=None keeps what is known."""
        graphs = self.metric.read(graphs)
        metadata = checked_metadata(metadata, len(graphs))
        ids = checked_ids(ids, len(graphs))
        self._store.state.rows_of(ids)  # before the work of embedding
        vectors, curves = self._embedded(graphs)
        self._store.update(vectors, ids, metadata, curve_arrays(curves))
        return self

    def remove(self, ids: Any) -> None:
        """Removes the graphs with these ids, which must be there."""
        self._store.remove(_as_ids(ids))

    def compact(self) -> None:
        """Writes all graphs anew, without the removed ones, in the order in which search is fastest."""
        self._store.compact()

    # --- search ------------------------------------------------------------------------------------------------------

    def search(
        self, graphs: Any, k: int = 10, *, approximate: bool = False, metadata: bool = False
    ) -> tuple[np.ndarray, ...]:
        """The k nearest graphs of each graph.

        Parameters
        ----------
        graphs : list of graphs, or any iterable of graphs or batches
            See :func:`as_graphs`.
        k : int
            How many neighbours.
        approximate : bool
            Whether neighbours may be missed, for speed: through usearch or faiss-cpu, install
            ``graph-metric-learn[index]``. `recall_` says how many are found, `describe_recall` in words. The first call
            builds a second index in memory, or reads the one that `save_approximate` wrote.
        metadata : bool
            Whether a third result is wanted: the metadata of the neighbours, a list of k for each graph.

        Returns
        -------
        distances : ndarray [N, k], float32
            Nearest first; of equal distances, the graph that was added first.
        ids : ndarray [N, k]
            int64 if all ids of the index are whole numbers, else objects.
        """
        if is_stream(graphs):
            parts = [self.search(chunk, k, approximate=approximate, metadata=True) for chunk in self._chunks(graphs)]
            distances, ids = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
            return (distances, ids, [note for part in parts for note in part[2]])[: 3 if metadata else 2]  # type: ignore[return-value]
        state = self._store.state
        k = _checked_k(state, k)
        vectors, curves = self._queries(state, graphs)
        return self._nearest(state, vectors, curves, k, approximate, metadata)

    def search_ids(self, ids: Any, k: int = 10, *, metadata: bool = False) -> tuple[np.ndarray, ...]:
        """The k nearest graphs of graphs of the index, which are themselves among them; see `search`."""
        state = self._store.state
        k = _checked_k(state, k)
        vectors, curves = embedded_at(state, state.rows_of(_as_ids(ids)))
        return self._nearest(state, vectors, curves, k, False, metadata)

    def embedded(self, ids: Any) -> Embedded:
        """The graphs with these ids in the space of the metric, as `metric.embed` made them; vectors are float32."""
        state = self._store.state
        vectors, curves = embedded_at(state, state.rows_of(_as_ids(ids)))
        return Vectors(torch.from_numpy(vectors), True) if curves is None else curves

    def _nearest(
        self, state: State, vectors: np.ndarray, curves: Curves | None, k: int, approximate: bool, metadata: bool
    ) -> tuple[np.ndarray, ...]:
        """What `search` returns, for graphs that are embedded."""
        if approximate:
            self._check_vectors()
            engine = self._store.approximate(state)
            self.recall_ = engine.recall_
            distances, rows = engine.search(state, vectors, k)
        elif curves is not None:
            distances, rows = nearest_curves(state, vectors, curves, k)
        else:
            distances, rows = nearest(state, vectors, k)
        distances = self._without_rounding(distances, rows)
        ids = _ids_at(state, rows)
        if not metadata:
            return distances.astype(np.float32), ids
        notes = state.metadata(rows.ravel())
        return distances.astype(np.float32), ids, [notes[lo : lo + k] for lo in range(0, len(notes), k)]  # type: ignore[return-value]

    def search_radius(self, graphs: Any, radius: float, *, metadata: bool = False) -> tuple[list[Any], ...]:
        """All graphs at most `radius` away from each graph: lists of one array of distances and one of ids per graph.

        Nearest first; of equal distances, the graph that was added first. metadata: as in `search`.
        """
        if isinstance(radius, bool) or not isinstance(radius, (int, float, np.number)) or not 0 <= radius < np.inf:
            raise ValueError(f"radius must be a number >= 0, got {radius!r}")
        state = self._store.state
        vectors, curves = self._queries(state, graphs)
        # Distances are handed out as float32: a radius that is one of them holds its graph.
        reach = max(float(np.nextafter(np.float32(radius), np.float32(np.inf))), self.metric.rounding)
        distances, ids, notes = [], [], []
        for q in range(len(vectors)):
            if curves is None:
                near, rows = within_radius(state, vectors[q], reach)
            else:
                near, rows = curves_within(state, vectors[q], curves[q : q + 1], reach)
            near = self._without_rounding(near[None], rows[None])[0].astype(np.float32)
            inside = near <= np.float32(radius)
            distances.append(near[inside])
            ids.append(_ids_at(state, rows[inside]))
            notes.append(state.metadata(rows[inside]) if metadata else [])
        return (distances, ids, notes) if metadata else (distances, ids)

    def drift(self, graphs: Any, reference: Any = None) -> Drift:
        """Whether graphs are farther from those of the index than is usual; print what it returns.

        Parameters
        ----------
        graphs : list of graphs, or any iterable of graphs or batches
            New ones. Those that are in the index already are at distance 0.
        reference : the same, optional
            Graphs that are as they should be, and neither in the index nor in the `fit` of the metric: their distances
            to the index are the usual ones. Without it these are `nearest_distances`. Where the metric has learned from
            the graphs of the index, they are nearer to each other than to any new graph, and a reference is needed.
        """
        usual = self.nearest_distances() if reference is None else self.search(reference, k=1)[0][:, 0]
        return Drift(self.search(graphs, k=1)[0][:, 0], usual)

    def nearest_distances(self, most: int = 1000) -> np.ndarray:
        """Distances of graphs of the index to the nearest other one [n]: of all, or of a sample of so many."""
        most, ids = whole_number("most", most, 1), self.ids
        if len(ids) < 2:
            return np.zeros(0, np.float32)
        some = np.sort(np.random.default_rng(0).permutation(len(ids))[:most])
        distances, found = self.search_ids(ids[some], k=2)
        is_itself = np.array([one == other for one, other in zip(found[:, 0], ids[some], strict=True)])
        return np.where(is_itself, distances[:, 1], distances[:, 0])

    def describe_recall(self) -> str:
        """What approximate search was measured to find, in a sentence."""
        if self.recall_ is None:
            return "approximate search has not been used"
        return f"approximate search finds {100 * self.recall_:.1f} % of the 10 nearest graphs (measured on a sample)"

    def _without_rounding(self, distances: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Distances below the metric's rounding are 0; these come by row, which is sorted in place."""
        below = distances < self.metric.rounding
        distances = np.where(below, 0.0, distances)
        for q in np.flatnonzero(below.sum(1) > 1):
            rows[q, below[q]] = np.sort(rows[q, below[q]])
        return distances

    def _embedded(self, graphs: Graphs) -> tuple[np.ndarray, Curves | None]:
        """Vectors [N, d], float32, and the curves of metrics that compare such."""
        curves = None
        if issubclass(self.metric.embedding_type, Curves):
            curves = cast(Curves, self.metric.embed(graphs).to("cpu"))
            vectors = np.asarray(curve_vectors(curves, getattr(self.metric, "n_cells", _CELLS)))
        else:
            vectors = self.metric.transform(graphs)
        if sparse.issparse(vectors):
            raise ValueError(
                f"{type(self.metric).__name__} has sparse vectors, which an index does not hold: fit it with a bounded "
                "width, GraphMetric(n_components=128)"
            )
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        bad = np.flatnonzero(~np.isfinite(vectors).all(1))
        if len(bad):
            raise ValueError(f"graph {bad[0]} has a vector that is not finite: look at its features")
        return vectors, curves

    def _queries(self, state: State, graphs: Any) -> tuple[np.ndarray, Curves | None]:
        """What `_embedded` makes of graphs that are to be compared with those of a state."""
        vectors, curves = self._embedded(self.metric.read(graphs))
        if state.axes is not None and vectors.shape[1] != len(state.axes.centre):
            raise ValueError(
                f"the metric makes vectors of width {vectors.shape[1]}, those of the index have "
                f"{len(state.axes.centre)}: it was fitted anew"
            )
        return vectors, curves

    def _chunks(self, graphs: Any) -> Iterator[Graphs]:
        """The graphs of a stream, some at a time."""
        return read_chunks(graphs, self.metric.read, _CHUNK * n_workers())

    # --- keeping it --------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Writes index and metric to a folder; what was loaded from that very folder is there already."""
        folder = self._store.folder
        if folder is not None and folder.path.resolve() == Path(path).resolve():
            return Path(path)
        return create(path, self._store.state, self.metric, overwrite=overwrite)

    def export(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Writes all vectors to a file for other programs, in the order of `ids`; see `new_vectors`.

        ``.npy`` is one float32 array [N, d]. ``.parquet`` has the columns id, vector and metadata (JSON), and needs
        pyarrow. Metrics that compare curves have vectors that bound the distance from below.
        """
        state = self._store.state
        with new_vectors(path, overwrite=overwrite) as write:
            for batch in batches_of(state):
                ids = cast(Sequence[Any], batch.ids)
                notes = [None if note is None else note.decode() for note in batch.notes or [None] * len(ids)]
                write(ids if state.only_numbers else list(map(str, ids)), batch.vectors, notes)
        return Path(path)

    @classmethod
    def load(cls, path: str | Path, *, read_only: bool = False, encoder: torch.nn.Module | None = None) -> GraphIndex:
        """The index in a folder, mapped into memory: opening reads none of the vectors.

        Changes are written to the folder. The first one makes this the only writer until `close`; a second writer gets
        a `ValueError`. Others may load and search meanwhile, and see changes after `refresh`.

        read_only : whether changes are refused. encoder : as in :meth:`SGML.load`.
        """
        from ..metrics import automatic, sgml  # noqa: F401  # so that their names are known

        def load_metric(folder: Path) -> BaseGraphMetric:
            home: Any = METRICS[load_model(folder, tuple(METRICS))[0]]
            return home.load(folder, encoder=encoder) if home.takes_encoder else home.load(folder)

        folder = IndexFolder(path)
        state, metric = folder.read_with_metric(load_metric)
        index = cls(metric)
        index._store = Store(state, folder, read_only=read_only)
        return index

    open = load

    def save_approximate(self) -> None:
        """Writes the second index of approximate search to the folder, so that it need not be built at each start.

        With usearch only. Graphs that are added later are added to it when it is read; `compact`, and additions that
        make the index four times as large, write all rows anew, and it has to be saved again.
        """
        self._check_vectors()
        self._store.save_approximate()

    def _check_vectors(self) -> None:
        """A `ValueError` where search is by curves, which there is no approximate search for."""
        if issubclass(self.metric.embedding_type, Curves):
            raise ValueError(  # noqa: TRY004
                f"approximate=True: {type(self.metric).__name__} compares curves, not vectors"
            )

    def refresh(self) -> bool:
        """Sees what another process has written to the folder since; whether there was something."""
        return self._store.refresh()

    def verify(self) -> None:
        """Reads all files of the folder and compares them with their checksums; a `ValueError` names a damaged one."""
        if self._store.folder is not None:
            self._store.folder.verify()

    def close(self) -> None:
        """Lets another process change the folder; the next change here takes over again."""
        self._store.close()

    def __enter__(self) -> GraphIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checked_k(state: State, k: Any) -> int:
    k = whole_number("k", k, 1)
    if k > len(state):
        raise ValueError(f"k={k}, but the index holds {len(state)} graphs")
    return k


def _as_ids(ids: Any) -> list[Any]:
    """One id, or several, as a list of checked ones."""
    ids = [ids] if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable) else list(ids)
    return checked_ids(ids, len(ids))


def _ids_at(state: State, rows: np.ndarray) -> np.ndarray:
    """The ids of rows, in their shape: int64 where all ids of the index are whole numbers, else objects."""
    ids = np.empty(rows.size, dtype=np.int64 if state.only_numbers else object)
    ids[:] = state.catalogue.ids(rows.ravel())
    return ids.reshape(rows.shape)
