"""Sentences that say how measured accuracies compare with the paper's; their wording is in `pages/prose/`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..pages.render import render_sentence
from .choices import missed
from .comparisons import named, other_systems
from .published import PUBLISHED
from .records import Record
from .settings import TABLES, TASKS
from .tables import measured, paired_gaps, signed


def sgml_judgement(records: Sequence[Record]) -> str:
    """How the k-NN means of SGML compare with the paper's."""
    names = (*TABLES["table1"], *TABLES["table2"])
    gaps = []
    for name in names:
        if entry := measured(records, TASKS[name], "rpw", "knn"):
            gaps.append(entry.mean - PUBLISHED[name, "rpw", "knn"][0])
    return render_sentence(
        "sgml.md",
        n_measured=len(gaps),
        n_tasks=len(names),
        mean=signed(np.mean(gaps)) if gaps else "",
        median=signed(np.median(gaps)) if gaps else "",
        below=missed(records),
    )


def graph_metric_judgement(records: Sequence[Record]) -> str:
    """How GraphMetric compares with the paper's k-NN, the best number of the paper, and other systems run here."""
    gaps, heads, best, behind = {}, [], [], []
    for name in TABLES["beyond"]:
        neighbors, chosen = (measured(records, TASKS[name], "graphmetric", head) for head in ("head-knn", "head-auto"))
        if neighbors is None:
            continue
        gaps[name] = _tenths(neighbors.mean) - PUBLISHED[name, "rpw", "knn"][0]
        if chosen and len(paired := paired_gaps(neighbors, chosen)):
            heads.append(paired.mean())
        ours = max(entry.mean for entry in (neighbors, chosen) if entry)
        if _tenths(ours) >= max(mean for (task, *_), (mean, _) in PUBLISHED.items() if task == name):
            best.append(name)
        others = other_systems(records, name)
        ahead = max(others, key=lambda row: others[row].mean, default=None)
        if ahead is not None and _tenths(others[ahead].mean - ours) > 0:
            behind.append({
                "task": name, "mean": f"{others[ahead].mean:.1f}", "system": named(ahead, others[ahead]),
                "ours": f"{ours:.1f}", "difference": f"{others[ahead].mean - ours:.1f}",
            })  # fmt: skip
    if not gaps:
        return render_sentence("graph_metric.md", n_measured=0)
    differences, largest = np.array(list(gaps.values())), max(gaps, key=gaps.__getitem__)
    return render_sentence(
        "graph_metric.md",
        n_measured=len(gaps),
        n_reached=int(np.sum(differences >= 0)),
        median=signed(np.median(differences)),
        mean=signed(differences.mean()),
        largest={"task": largest, "difference": signed(gaps[largest])},
        n_heads=len(heads),
        heads_mean=signed(np.mean(heads)) if heads else "",
        heads_median=signed(np.median(heads)) if heads else "",
        best=best,
        behind=behind,
    )


def _tenths(points: float) -> float:
    """Rounded as the paper's numbers are."""
    return round(points, 1)
