"""What is served: predictions, neighbours and explanations of graphs by one model, in forms that JSON can hold."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import __version__
from ..index import GraphIndex
from ..metrics.base import BaseGraphMetric, is_same_metric
from ..predictors.predictor import target_titles
from ..viz.explorer.exploration import Exploration, explored, explored_index, metric_of
from ..viz.explorer.page import render_explorer


class Unavailable(Exception):
    """What is served cannot be read any more."""


class Service:
    """A model, an index to search in, and graphs to show.

    Parameters
    ----------
    model : fitted metric or predictor
    index : GraphIndex, optional
        Where neighbours are looked for; the reference graphs of a k-NN predictor when None. It must have been made with
        this metric. What other processes write to its folder is seen by the next request.
    graphs, y, names : optional
        What the page shows, see :func:`explore`; graphs of the index, without drawings, when there are none.
    """

    def __init__(
        self,
        model: Any,
        index: GraphIndex | None = None,
        graphs: Any = None,
        y: Any = None,
        names: Sequence[str] | None = None,
        *,
        title: str = "",
    ) -> None:
        self.model, self.index, self.graphs = model, index, graphs
        self.metric: BaseGraphMetric = metric_of(model)
        if index is not None and not is_same_metric(index.metric, self.metric):
            raise ValueError("the index was made with another model: make it anew with this one, or serve that one")
        self.exploration: Exploration | None = None
        if graphs is not None:  # explanations are made when they are asked for
            self.exploration = explored(model, graphs, y, names, title=title or None, explanations=0, progress=False)
            if self.exploration.note:
                raise ValueError(f"{self.exploration.note} Give a smaller source for the page")
        elif index is not None and len(index) > 1:
            self.exploration = explored_index(index, title=title or "Graphs of the index")

    def health(self) -> dict[str, Any]:
        """That it is there, and what it is."""
        self._refresh()
        searched = self.index if self.index is not None else getattr(self.model, "embedded_", ())
        served = {"model": type(self.model).__name__, "graphs": len(searched)}
        return {"status": "ok", "version": __version__, **served}

    def predict(self, graphs: list[Any]) -> dict[str, Any]:
        """Classes or numbers, of several labels or numbers by name; and probabilities where the model has such."""
        if not hasattr(self.model, "predict"):
            raise ValueError("the model is a metric without a predictor: it cannot predict")
        titles = target_titles(self.model)

        def listed(rows: np.ndarray, names: list[str]) -> list[Any]:
            return [dict(zip(names, row, strict=True)) for row in rows.tolist()] if names else rows.tolist()

        if not hasattr(self.model, "predict_proba"):
            return {"predictions": listed(np.asarray(self.model.predict(graphs)), titles)}
        predicted, chances = self.model.predict_with_shares(graphs)
        classes = titles or [str(one) for one in self.model.classes_.tolist()]
        return {"predictions": listed(predicted, titles), "probabilities": listed(chances, classes)}

    def neighbors(self, graphs: list[Any], k: int) -> dict[str, Any]:
        """Ids, distances and, of an index, metadata of the nearest graphs, nearest first."""
        if (index := self.index) is not None:
            return self._in_index(index, k, lambda count: index.search(graphs, count, metadata=True))
        if not hasattr(self.model, "kneighbors"):
            raise ValueError("there is nothing to search in: serve a k-NN model, or give an index")
        distances, rows = self.model.kneighbors(graphs, min(k, len(self.model.embedded_)))
        names = self.model.names_
        return {"ids": (rows if names is None else names[rows]).tolist(), "distances": distances.tolist()}

    def neighbors_of_ids(self, ids: list[str | int], k: int) -> dict[str, Any]:
        """The same for graphs of the index; each is its own nearest."""
        if (index := self.index) is None:
            raise ValueError('"ids" are those of an index, and none is served: send graphs')
        return self._in_index(index, k, lambda count: index.search_ids(ids, count, metadata=True))

    def _in_index(self, index: GraphIndex, k: int, search: Callable[[int], tuple[Any, ...]]) -> dict[str, Any]:
        self._refresh()
        if len(index) == 0:
            raise ValueError("the index is empty")
        distances, ids, metadata = search(min(k, len(index)))
        return {"ids": ids.tolist(), "distances": distances.tolist(), "metadata": metadata}

    def _refresh(self) -> None:
        """Sees what other processes have written to the folder of the index."""
        try:
            if self.index is not None:
                self.index.refresh()
        except (ValueError, OSError):
            raise Unavailable("the index was replaced or cannot be read: the server must be started again") from None

    def explain(self, graphs: list[Any]) -> dict[str, Any]:
        """All shares of the distance of two graphs."""
        one, other = graphs
        return self.metric.explain(one, other).as_dict()

    def page(self) -> str | None:
        """The explorer, which asks for explanations that it does not hold; None without graphs."""
        return None if self.exploration is None else render_explorer(self.exploration, served=True)

    def explained(self, one: int, other: int) -> dict[str, Any]:
        """The explanation of two graphs of the page, packed as in it."""
        if self.graphs is None:
            raise ValueError(
                "an index keeps no graphs, so they cannot be explained: serve with --source, or POST /explain"
            )
        shown = self.exploration
        if shown is None or not (0 <= one < len(shown.names) and 0 <= other < len(shown.names)) or one == other:
            raise ValueError(f"there is no pair of graphs {one} and {other} on the page")
        (explanation,) = self.metric.explain_pairs(self.graphs, [(one, other)])
        terms: dict[str, int] = {}
        record = shown.packed((one, other), explanation, terms)
        return {"record": base64.b64encode(record).decode(), "terms": list(terms)}
