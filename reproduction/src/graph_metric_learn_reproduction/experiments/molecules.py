"""Molecules: solubility, lipophilicity and an enzyme's inhibitors, beside other systems under the same splits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graph_metric_learn.datasets import load_smiles, scaffolds
from graph_metric_learn.graphs import Graphs, as_graphs
from graph_metric_learn.metrics.automatic.estimator import GraphMetric

from .differences import Scores, compared, scores_of, scores_text
from .heads import area_under_curve, head_results, root_mean_square_error
from .records import Config, Record, Result, cell, matching
from .settings import HEADS, OURS, title
from .tables import Rows, few_splits

MOLECULE_RIVALS = ("morgan-forest", "morgan-ridge", "chemprop")
TEST_SHARE = 0.1


class MoleculeTask(NamedTuple):
    """A file of molecules, its target, and what must not be on both sides of a split."""

    target: str
    task: str
    groups: str

    @property
    def score_name(self) -> str:
        return "RMSE" if self.task == "numbers" else "AUC"


MOLECULE_TASKS = {
    "ESOL": MoleculeTask("measured log solubility in mols per litre", "numbers", "copies"),
    "Lipophilicity": MoleculeTask("exp", "numbers", "copies"),
    "BACE": MoleculeTask("class", "classes", "scaffolds"),
}
COPIES = {"kept": "", "dropped": ", without copies"}  # molecules that differ in stereo alone, or not at all


class Molecules(NamedTuple):
    """Graphs, their targets, their SMILES and the groups that are split together."""

    graphs: Graphs
    y: np.ndarray
    smiles: np.ndarray
    groups: np.ndarray
    n_copies: int


@lru_cache(maxsize=2)
def read_molecules(name: str, folder: str, copies: str) -> Molecules:
    """A dataset of `MOLECULE_TASKS` from NAME.csv in a folder; with copies "dropped", the first of each stays."""
    from rdkit import Chem

    task = MOLECULE_TASKS[name]
    table = load_smiles(Path(folder) / f"{name}.csv", "smiles", task.target)
    flat = np.array([Chem.MolToSmiles(Chem.MolFromSmiles(one), isomericSmiles=False) for one in table.smiles])
    _, first = np.unique(flat, return_index=True)
    rows = np.sort(first) if copies == "dropped" else np.arange(len(flat))
    groups = np.array(scaffolds(table.smiles)) if task.groups == "scaffolds" else flat
    assert table.y is not None
    graphs = as_graphs(table.graphs)
    return Molecules(graphs[rows], table.y[rows], np.array(table.smiles)[rows], groups[rows], len(flat) - len(first))


def group_split(groups: np.ndarray, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test indices: groups in random order, until a tenth of all is in the test part.

    >>> train, test = group_split(np.arange(20) // 2, run=0)
    >>> len(test), set(train // 2) & set(test // 2)
    (2, set())
    """
    names, member_of, counts = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.random.default_rng(42 + run).permutation(len(names))
    n_test = int(np.searchsorted(np.cumsum(counts[order]), TEST_SHARE * len(groups))) + 1
    in_test = np.isin(member_of, order[:n_test])
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def molecule_cells(
    runs: int, datasets: Sequence[str] | None = None, rivals: Sequence[str] = MOLECULE_RIVALS
) -> list[Config]:
    """Cells of all heads and of these rivals; without copies, those of the heads."""
    names = [name for name in MOLECULE_TASKS if datasets is None or name in datasets]
    rows = [("graphmetric", head, copies) for copies in COPIES for head in HEADS]
    rows += [(method, "own", "kept") for method in rivals]
    return [
        cell("molecules", name, method, classifier, run, model={"copies": copies})
        for name in names
        for run in range(runs)
        for method, classifier, copies in rows
        if copies == "kept" or MOLECULE_TASKS[name].groups == "copies"
        if classifier != "head-svc" or MOLECULE_TASKS[name].task == "classes"
    ]


def evaluate_molecules(configs: list[Config], folder: str) -> list[Result]:
    """The cells of one dataset, run and method."""
    first = configs[0]
    task = MOLECULE_TASKS[first["dataset"]]
    data = read_molecules(first["dataset"], folder, first["model"]["copies"])
    train, test = group_split(data.groups, first["run"])
    score = root_mean_square_error if task.task == "numbers" else area_under_curve
    described = {"molecules": len(data.y), "copies": data.n_copies}
    if first["method"] == "graphmetric":
        metric = GraphMetric(task=task.task, random_state=first["run"])
        heads = [config["classifier"] for config in configs]
        parts = [(data.graphs[part], data.y[part]) for part in (train, test)]
        _, results = head_results(metric, heads, parts[0], parts[1], score, data.groups[train])
        return [{**result, **described} for result in results]
    from ..baselines import BASELINES

    start = time.perf_counter()
    kind: Any = BASELINES[first["method"]]
    system = kind(task=task.task)
    system.fit(data.smiles[train], data.y[train])
    if task.task == "numbers":
        reached = float(np.sqrt(np.mean((system.predict(data.smiles[test]) - data.y[test]) ** 2)))
    else:
        from sklearn.metrics import roc_auc_score

        scores = system.decision_function(data.smiles[test])
        reached = float(roc_auc_score(data.y[test], scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0]))
    return [{"test": reached, "seconds": {"training": time.perf_counter() - start}, **described} for _ in configs]


def molecule_rows(records: Sequence[Record]) -> Rows:
    """Mean test score ± its standard error over the splits, by system and dataset; no rows if nothing is measured.

    Below each rival, by how much the head that GraphMetric chooses by itself differs from it, paired by split.
    """
    rows = [["", *(f"{name}, {task.score_name}" for name, task in MOLECULE_TASKS.items())]]
    lines = [("graphmetric", head, copies) for copies in COPIES for head in HEADS]
    lines += [(method, "own", "kept") for method in MOLECULE_RIVALS]
    ours = [scores_of(records, molecule_wanted(name, *OURS, "kept")) for name in MOLECULE_TASKS]
    for method, classifier, copies in lines:
        reached = [scores_of(records, molecule_wanted(name, method, classifier, copies)) for name in MOLECULE_TASKS]
        cells = [scores_text(scores, 3) for scores in reached]
        if any(cells):
            rows.append([title(method, classifier) + COPIES[copies], *cells])
        if method in MOLECULE_RIVALS:
            gaps = [_gap(own, scores) for own, scores in zip(ours, reached, strict=True)]
            if any(gaps):
                rows.append([f"— {title(*OURS)}, less {title(method, classifier)}", *gaps])
    return rows if len(rows) > 1 else []


def _gap(own: Scores, scores: Scores) -> str:
    """The first less the second, with the number of shared splits where these are few; empty without any."""
    difference = compared(own, scores, 3)
    return "" if difference is None else f"{difference}{few_splits(len(set(own) & set(scores)))}"


def molecule_copies(records: Sequence[Record]) -> str:
    """How many molecules of each dataset are copies of an earlier one, in words; empty without records."""
    copies = {
        record["config"]["dataset"]: record["result"]["copies"]
        for record in matching(records, what="molecules")
        if "copies" in record["result"]
    }
    listed = [f"{copies[name]} on {name}" for name in MOLECULE_TASKS if name in copies]
    return " and ".join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))


def molecule_wanted(name: str, method: str, classifier: str, copies: str) -> Config:
    """What the configurations of a cell of the table have in common."""
    return {
        "what": "molecules", "dataset": name, "method": method, "classifier": classifier, "model": {"copies": copies}
    }  # fmt: skip
