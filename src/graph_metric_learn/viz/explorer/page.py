"""The explorer's page: data, template, style and scripts in one file that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._core.files import write_atomic
from ..render import cut, render_html, static_text
from .exploration import LONGEST_NAME, Exploration, explored
from .packing import pack_drawings, packed, safe_json

SCRIPTS = ("explorer_data.js", "explorer_draw.js", "explorer_map.js", "explorer_compare.js", "explorer.js")
_NOBODY = 65535  # stands for −1 among indices of graphs, of which a page has fewer


def explore(
    model: Any,
    graphs: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    path: str | Path = "explorer.html",
    *,
    title: str | None = None,
    label: str | int | None = None,
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
    y : array [N] or [N, T], optional
        Classes, labels or numbers; from the graphs when None. Entries may be missing (None, NaN).
    names : list of str, optional
        What graphs are called; from the graphs when None, else their numbers.
    path : path
        The file to write.
    title : str, optional
        Of the page.
    label : str or int, optional
        Which of several labels or numbers is shown, by name or place; the first when None.
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
    exploration = explored(
        model,
        graphs,
        y,
        names,
        title=title,
        label=label,
        explanations=explanations,
        random_state=random_state,
        progress=progress,
    )
    return write_atomic(path, render_explorer(exploration), overwrite=overwrite)


def render_explorer(exploration: Exploration, *, served: bool = False) -> str:
    """The page as HTML; a served one may ask the server that it came from, others can reach nothing."""
    data = page_data(exploration)
    style = static_text("explorer.css")
    script = "(() => {\n'use strict';\n" + "\n".join(static_text(name) for name in SCRIPTS) + "\n})();"
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        f"connect-src '{'self' if served else 'none'}'; base-uri 'none'; form-action 'none'"
    )
    return render_html(
        "explorer.html", title=exploration.title, policy=policy, style=style, script=script,
        data=safe_json({**data, "served": True} if served else data),
    )  # fmt: skip


def page_data(exploration: Exploration) -> dict[str, Any]:
    """What the scripts of the page read, as JSON can hold it."""
    targets, near = exploration.targets, exploration.near
    return {
        "title": exploration.title,
        "report": exploration.report,
        "note": exploration.note,
        "names": [cut(name, LONGEST_NAME) for name in exploration.names],
        "map": packed(np.rint(65535 * np.clip(exploration.positions, 0, 1)), "u2"),
        "target": {
            "kind": targets.kind,
            "classes": [cut(name, LONGEST_NAME) for name in targets.classes],
            "values": _listed(targets.values),
            "predicted": _listed(targets.predicted),
            "how": _listed(targets.origin),
            "words": targets.sentences,
            "honest": targets.unbiased,
            "known": None if targets.fitted is None else targets.fitted.astype(int).tolist(),
        },
        "drawings": pack_drawings(exploration.looks, exploration.most_edges, exploration.drawn),
        "undrawn": exploration.undrawn,
        "near": {
            "k": near.indices.shape[1],
            "wide": "u2",
            "ids": packed(near.indices, "u2"),
            "distances": packed(near.distances, "f4"),
            "own": packed(np.where(near.own < 0, _NOBODY, near.own), "u2"),
            "ownDistances": packed(np.nan_to_num(near.own_distances), "f4"),
            "other": packed(np.where(near.other < 0, _NOBODY, near.other), "u2"),
            "otherDistances": packed(np.nan_to_num(near.other_distances), "f4"),
        },
        "explained": exploration.explained.as_dict(),
    }


def _listed(values: np.ndarray | None) -> list[Any] | None:
    """Numbers as JSON can hold them: None for NaN, six digits."""
    if values is None or values.dtype.kind != "f":
        return None if values is None else values.tolist()
    return [None if not np.isfinite(value) else float(f"{value:.6g}") for value in values.tolist()]


def _digest(text: str) -> str:
    """How a policy names one script or style sheet: by the hash of its text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
