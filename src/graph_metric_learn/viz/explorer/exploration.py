"""Builds the explorer of a model: map, drawings, neighbours and explanations of graphs, in one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._core.files import write_atomic
from ..._core.progress import progress_bar
from ...graphs import Graphs
from ...graphs.depiction import Depiction, depictions
from ...metrics.base import BaseGraphMetric
from ...predictors.predictor import MetricPredictor
from ..layout import map_layout
from .packing import drawing_bytes, explanation_bytes, pack_drawings, pack_explanation, packed, safe_json
from .page import render_explorer
from .pairs import Near, choose_pairs, find_near
from .targets import Targets, read_targets

MOST_GRAPHS = 5000
_N_NEAR = 8  # neighbours listed
_MOST_PAIRS = 12_000  # explained: some minutes of work
_PAGE_BYTES = 13_000_000  # for names, drawings and explanations together
_BYTES = 7_000_000  # for explanations
_DRAWING_BYTES = 9_000_000  # for drawings: of larger graphs, the largest are not drawn
_NAME = 200  # letters of a name that the page shows
_TOO_LARGE = "Too large to be drawn: the drawings of all graphs together would make this page too large."
_EDGE_BYTES = 3_000_000  # for edges of drawings


@dataclass
class Exploration:
    """All that an explorer shows, computed."""

    title: str
    report: str
    names: list[str]
    places: np.ndarray
    looks: list[Depiction]
    targets: Targets
    near: Near
    explained: dict[str, Any]
    most_edges: int
    note: str
    drawn: np.ndarray
    undrawn: str = _TOO_LARGE

    def data(self) -> dict[str, Any]:
        """What the script of the page reads."""
        targets, near = self.targets, self.near
        wide = "u2" if len(self.names) <= 65535 else "u4"
        nobody = 2 ** (8 * int(wide[1])) - 1  # stands for −1
        return {
            "title": self.title,
            "report": self.report,
            "note": self.note,
            "names": [cut(name) for name in self.names],
            "map": packed(np.rint(65535 * np.clip(self.places, 0, 1)), "u2"),
            "target": {
                "kind": targets.kind,
                "classes": [cut(name) for name in targets.classes],
                "values": _listed(targets.values),
                "predicted": _listed(targets.predicted),
                "how": _listed(targets.how),
                "words": targets.words,
                "honest": targets.honest,
                "known": None if targets.known is None else targets.known.astype(int).tolist(),
            },
            "drawings": pack_drawings(self.looks, self.most_edges, self.drawn),
            "undrawn": self.undrawn,
            "near": {
                "k": near.ids.shape[1],
                "wide": wide,
                "ids": packed(near.ids, wide),
                "distances": packed(near.distances, "f4"),
                "own": packed(np.where(near.own < 0, nobody, near.own), wide),
                "ownDistances": packed(np.nan_to_num(near.own_distances), "f4"),
                "other": packed(np.where(near.other < 0, nobody, near.other), wide),
                "otherDistances": packed(np.nan_to_num(near.other_distances), "f4"),
            },
            "explained": self.explained,
        }


def explore(
    model: Any,
    graphs: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    path: str | Path = "explorer.html",
    *,
    title: str | None = None,
    explanations: int | None = None,
    overwrite: bool = False,
    random_state: int = 0,
    progress: bool | None = None,
) -> Path:
    """Writes a page to look at graphs through a model: a map, each graph's neighbours, and why they are near.

    The page is one file: it opens from disk, fetches nothing, and shows names as text whatever they hold.

    Parameters
    ----------
    model : fitted metric or predictor
        Of a predictor (k-NN, ridge, …), predictions are shown too. No graph is predicted from itself: those that the
        model was fitted to are held out or left out, and the page says which.
    graphs : list of graphs
        See :func:`as_graphs`; neighbours are among these. Of more than 5000, 5000 are drawn at random.
    y : array [N], optional
        Classes or numbers; from the graphs when None. Entries may be missing (None, NaN).
    names : list of str, optional
        What graphs are called; from the graphs when None, else their numbers.
    path : path
        The file to write.
    title : str, optional
        Of the page.
    explanations : int, optional
        Pairs to explain in advance, at most; as many as fit when None.
    overwrite : bool
        Whether to replace the file.
    random_state : int
        For the map and, of many graphs, the choice.
    progress : bool, optional
        Whether to show bars.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 12)] + [nx.star_graph(n) for n in range(4, 12)]
    >>> y = ["ring"] * 8 + ["star"] * 8
    >>> metric = gml.GraphMetric(features=["degree@0"], random_state=0).fit(graphs, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = gml.explore(metric, graphs, y, path=f"{folder}/explorer.html")
    ...     page.stat().st_size < 200_000
    True
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another name or pass overwrite=True")
    found = explored(
        model, graphs, y, names, title=title, explanations=explanations, random_state=random_state, progress=progress
    )
    return write_atomic(path, render_explorer(found.title, safe_json(found.data())), overwrite=overwrite)


def explored(
    model: Any,
    graphs: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    *,
    title: str | None = None,
    explanations: int | None = None,
    random_state: int = 0,
    progress: bool | None = None,
) -> Exploration:
    """What :func:`explore` writes, as arrays."""
    metric = model.metric_ if isinstance(model, MetricPredictor) else model
    if not isinstance(metric, BaseGraphMetric):
        raise ValueError(f"expected a fitted metric or a predictor on one, got a {type(model).__name__}")  # noqa: TRY004
    originals = _listed_graphs(graphs)
    given = metric.read(graphs if originals is None else originals)
    called = _names(given, names)
    y = None if y is None else list(y)
    if y is not None and len(y) != len(given):
        raise ValueError(f"{len(given)} graphs, but {len(y)} targets: give one per graph")
    note = ""
    if len(given) > MOST_GRAPHS:
        chosen = np.sort(np.random.default_rng(random_state).permutation(len(given))[:MOST_GRAPHS])
        note = f"{MOST_GRAPHS} of {len(given)} graphs, drawn at random: a page holds no more."
        given, called = given[chosen], [called[i] for i in chosen]
        originals = None if originals is None else [originals[i] for i in chosen]
        y = None if y is None else [y[i] for i in chosen]
    embedded = metric.embed(given)
    targets = read_targets(model, given, embedded, y)
    near = find_near(metric, embedded, targets, _N_NEAR)
    places = map_layout(metric.transform(given), random_state)
    looks = depictions(originals, given)
    most_edges = _most_edges(np.array([look.edges.shape[1] for look in looks]))
    costs = drawing_bytes(looks, most_edges)
    drawn = _drawn(costs)
    if not drawn.all():
        note += f"{' ' if note else ''}{int((~drawn).sum())} of the graphs are too large to be drawn in this page."
    with progress_bar(progress, "drawing graphs", total=int(drawn.sum()), unit="graph", delay=2.0) as bar:
        for i in np.flatnonzero(drawn):
            _ = looks[i].layout
            bar.update()
    room = _PAGE_BYTES - int(costs[drawn].sum()) - len(safe_json([cut(name) for name in called]).encode())
    most = _MOST_PAIRS if explanations is None else explanations
    explained = _explained(metric, originals or given, looks, drawn, targets, near, most_edges, room, most, progress)
    report = str(getattr(metric, "report_", type(metric).__name__))
    return Exploration(
        title or "Explore graphs", report, called, places, looks, targets, near, explained, most_edges, note, drawn
    )


def cut(name: str) -> str:
    """A name, or its beginning if it is very long."""
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _drawn(costs: np.ndarray) -> np.ndarray:
    """Which graphs are drawn [N]: all, or those with the smallest drawings, as many as fit."""
    order = np.argsort(costs, kind="stable")
    drawn = np.zeros(len(costs), dtype=bool)
    drawn[order[np.cumsum(costs[order]) <= _DRAWING_BYTES]] = True
    return drawn


def _listed_graphs(graphs: Any) -> list[Any] | None:
    """The user's own graphs, one by one; None where only the collection is there."""
    if isinstance(graphs, Graphs):
        return None
    return graphs.to_data_list() if hasattr(graphs, "to_data_list") else list(getattr(graphs, "graphs", graphs))


def _names(given: Graphs, names: Sequence[str] | None) -> list[str]:
    if names is not None:
        called = [str(name) for name in names]
        if len(called) != len(given):
            raise ValueError(f"{len(called)} names for {len(given)} graphs: give one name per graph")
        return called
    return [f"graph {i}" for i in range(len(given))] if given.names is None else [str(name) for name in given.names]


def _most_edges(counts: np.ndarray) -> int:
    """Edges drawn of one graph, at most, so that all of them fit."""
    most = max(int(counts.max(initial=1)), 1)
    while most > 50 and 4 * int(np.minimum(counts, most).sum()) > _EDGE_BYTES:
        most = int(0.9 * most)
    return most


def _explained(
    metric: BaseGraphMetric,
    graphs: Any,
    looks: list[Depiction],
    drawn: np.ndarray,
    targets: Targets,
    near: Near,
    most_edges: int,
    room: int,
    most: int,
    progress: bool | None,
) -> dict[str, Any]:
    """Explanations of the most wanted pairs of graphs that are drawn, packed; none where the metric has none."""
    counts = np.array([min(look.edges.shape[1], most_edges) for look in looks])
    sizes = np.array([len(look.names) for look in looks])
    costs = explanation_bytes(sizes, counts)
    pairs = choose_pairs(near, targets, costs, max(0, min(_BYTES, room)), most, drawn)
    terms: dict[str, int] = {}
    records = []
    try:
        with progress_bar(progress, "explaining pairs", total=len(pairs), unit="pair", delay=2.0) as bar:
            for (one, two), found in zip(pairs, metric.explain_pairs(graphs, pairs), strict=True):
                both = (looks[one], looks[two])
                records.append(pack_explanation(found, both, most_edges, terms, targets.classes))
                bar.update()
    except NotImplementedError:
        pairs, records = [], []
    ends = np.cumsum([0, *(len(record) for record in records)])
    return {
        "pairs": packed(np.array(pairs).reshape(-1, 2), "u4"),
        "ends": packed(ends, "u4"),
        "records": packed(np.frombuffer(b"".join(records), dtype=np.uint8), "u1"),
        "terms": list(terms),
    }


def _listed(values: np.ndarray | None) -> list[Any] | None:
    """Numbers as JSON can hold them: None for NaN, six digits."""
    if values is None:
        return None
    if values.dtype.kind != "f":
        return values.tolist()
    return [None if not np.isfinite(value) else float(f"{value:.6g}") for value in values.tolist()]
