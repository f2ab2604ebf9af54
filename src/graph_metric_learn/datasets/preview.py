"""What notebooks show of a dataset: its summary, how many graphs each class has, and the first graphs drawn."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ..graphs import as_graphs
from ..graphs.depiction import depictions
from ..graphs.svg import graph_svg

_N_DRAWN = 6
_N_CLASSES = 12  # listed


def dataset_html(summary: str, graphs: Sequence[Any], y: np.ndarray | None, names: Sequence[str] | None = None) -> str:
    """A piece of HTML, on white paper whatever the notebook."""
    parts = [f"<p style='margin:0 0 .4em'><b>{escape(summary)}</b></p>"]
    if y is not None and y.dtype.kind != "f":
        values, counts = np.unique(y, return_counts=True)
        listed = [f"{value}: {count}" for value, count in zip(values.tolist(), counts.tolist(), strict=True)]
        more = f" and {len(listed) - _N_CLASSES} more" if len(listed) > _N_CLASSES else ""
        parts.append(f"<p style='margin:0 0 .4em'>{escape(', '.join(listed[:_N_CLASSES]))}{more}</p>")
    elif y is not None:
        parts.append(f"<p style='margin:0 0 .4em'>from {np.nanmin(y):.3g} to {np.nanmax(y):.3g}</p>")
    few = list(graphs[:_N_DRAWN])
    if few:
        looks = depictions(few, as_graphs(few, directed=False))
        for i, look in enumerate(looks):
            title = str(i) if names is None else names[i]
            title = title if y is None else f"{title} ({y[i]})"
            drawing = graph_svg(look, side=110, alt=f"graph of {len(look.names)} nodes")
            caption = f"<figcaption style='max-width:110px;overflow:hidden'>{escape(title)}</figcaption>"
            parts.append(f"<figure style='display:inline-block;margin:0 .6em 0 0'>{drawing}{caption}</figure>")
    return f"<div style='background:#fff;color:#222;padding:.8em'>{''.join(parts)}</div>"
