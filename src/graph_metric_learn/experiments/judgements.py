"""Sentences that say how measured accuracies compare with the paper's; their wording is in `prose/`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..report.render import render_sentence
from .choices import missed
from .comparisons import other_systems
from .published import PUBLISHED
from .records import Record
from .settings import PACKAGE, TABLES, TASKS, title
from .tables import signed, table_entry


def sgml_judgement(records: Sequence[Record]) -> str:
    """How the k-NN means of SGML compare with the paper's."""
    names = (*TABLES["table1"], *TABLES["table2"])
    gaps = []
    for name in names:
        found = table_entry(records, TASKS[name], "rpw", "knn")
        if not isinstance(found, str):
            gaps.append(found.mean - PUBLISHED[name, "rpw", "knn"][0])
    return render_sentence(
        PACKAGE,
        "sgml.md",
        n_measured=len(gaps),
        n_tasks=len(names),
        mean=signed(np.mean(gaps)) if gaps else "",
        median=signed(np.median(gaps)) if gaps else "",
        below=missed(records),
    )


def graph_metric_judgement(records: Sequence[Record]) -> str:
    """How GraphMetric compares with the paper's k-NN, the best number of the paper, and other systems run here."""
    gaps, best, behind = {}, [], []
    for name in TABLES["beyond"]:
        found = {c: table_entry(records, TASKS[name], "graphmetric", c) for c in ("head-knn", "head-auto")}
        # in tenths, as the paper's
        means = {classifier: round(entry.mean, 1) for classifier, entry in found.items() if not isinstance(entry, str)}
        if "head-knn" not in means:
            continue
        gaps[name] = means["head-knn"] - PUBLISHED[name, "rpw", "knn"][0]
        ours = max(means.values())
        if ours >= max(mean for (task, *_), (mean, _) in PUBLISHED.items() if task == name):
            best.append(name)
        others = {system: round(mean, 1) for system, mean in other_systems(records, name).items()}
        if others and others[ahead := max(others, key=others.__getitem__)] > ours:
            behind.append(
                {"task": name, "mean": f"{others[ahead]:.1f}", "system": title(*ahead), "ours": f"{ours:.1f}"}
            )
    if not gaps:
        return render_sentence(PACKAGE, "graph_metric.md", n_measured=0)
    differences, largest = np.array(list(gaps.values())), max(gaps, key=gaps.__getitem__)
    return render_sentence(
        PACKAGE,
        "graph_metric.md",
        n_measured=len(gaps),
        n_reached=int(np.sum(differences >= 0)),
        median=signed(np.median(differences)),
        mean=signed(differences.mean()),
        largest={"task": largest, "difference": signed(gaps[largest])},
        best=best,
        behind=behind,
    )
