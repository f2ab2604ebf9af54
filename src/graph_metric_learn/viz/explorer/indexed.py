"""The explorer of an index: a map of its graphs and their neighbours. An index keeps no graphs, so none is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graphs.depiction import Depiction
from ...index import GraphIndex
from ...objectives.targets import task_of
from ...transport import Curves, curve_vectors
from ..layout import map_layout
from .exploration import MOST_GRAPHS, Exploration
from .packing import packed
from .pairs import find_near
from .targets import Targets

_N_NEAR = 8  # neighbours listed
_UNDRAWN = "An index keeps no graphs, so none can be drawn: serve it with --source to see some."
_NOTHING = Depiction([], np.zeros((2, 0), dtype=np.int64))


def explored_index(index: GraphIndex, *, title: str = "Graphs of the index", random_state: int = 0) -> Exploration:
    """Map and neighbours of the graphs of an index, of at most 5000 that are drawn at random.

    Graphs are called by their ids. Where the metadata of graphs have a "target", as those that the command `index`
    writes, it is their class or number.
    """
    ids, note = index.ids, ""
    if len(ids) > MOST_GRAPHS:
        note = f"{MOST_GRAPHS} of {len(ids)} graphs, drawn at random; neighbours are looked for among these."
        ids = ids[np.sort(np.random.default_rng(random_state).permutation(len(ids))[:MOST_GRAPHS])]
    embedded = index.embedded(ids)
    targets = _targets(index.metadata(ids))
    vectors = curve_vectors(embedded, 16) if isinstance(embedded, Curves) else embedded.values  # type: ignore[attr-defined]
    return Exploration(
        title=title,
        report=str(getattr(index.metric, "report_", type(index.metric).__name__)),
        names=[str(one) for one in ids],
        places=map_layout(np.asarray(vectors), random_state),
        looks=[_NOTHING] * len(ids),
        targets=targets,
        near=find_near(index.metric, embedded, targets, _N_NEAR),
        explained={"pairs": "", "ends": packed(np.zeros(1), "u4"), "records": "", "terms": []},
        most_edges=1,
        note=note,
        drawn=np.zeros(len(ids), dtype=bool),
        undrawn=_UNDRAWN,
    )


def _targets(notes: list[Any]) -> Targets:
    """Classes or numbers by what the metadata say; nothing is predicted."""
    given = [note.get("target") if isinstance(note, dict) else None for note in notes]
    known = [one for one in given if isinstance(one, (str, int, float)) and one == one]
    if not known:
        return Targets()
    if task_of(np.array(known)) == "numbers" and not any(isinstance(one, str) for one in known):
        values = [float(one) if isinstance(one, (int, float)) else np.nan for one in given]
        return Targets("numbers", values=np.array(values))
    classes = sorted({str(one) for one in known})
    place = {name: i for i, name in enumerate(classes)}
    return Targets("classes", classes, np.array([-1 if one is None else place.get(str(one), -1) for one in given]))
