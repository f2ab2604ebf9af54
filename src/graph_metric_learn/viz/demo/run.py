"""Runs the demo: learns a metric for digits and one for molecules, and writes pages to look at both."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..._core.files import write_atomic
from ...datasets import load_smiles
from ...metrics.automatic.estimator import GraphMetric
from ...predictors.head_choice import GraphRegressor
from ..explorer import explore
from .comparison import Comparison, compare_digits, split_digits
from .page import Explored, demo_page

MAX_GRAPHS = 700  # digits used: all 1797 take the demo beyond a minute on two cores
_EXPLANATIONS = 1200  # pairs of digits that are explained in advance; of molecules half as many
_LOGP = "logP by Crippen's rules: how much rather a molecule dissolves in oil than in water"


def run_demo(
    out: str | Path,
    *,
    max_graphs: int | None = MAX_GRAPHS,
    seed: int = 0,
    progress: bool | None = None,
    overwrite: bool = False,
    explanations: int = _EXPLANATIONS,
) -> dict[str, Any]:
    """Learns a metric on digits as graphs, compares k-NN with it and without, and writes out/index.html.

    Beside it stand two explorers (:func:`explore`): digits.html and, where RDKit is installed, molecules.html. Nothing
    is downloaded. Four fifths of the digits are for learning, one fifth for testing.

    Parameters
    ----------
    out : path
        Folder of the pages; created if it does not exist.
    max_graphs : int, optional
        How many of the 1797 digits to use, at least 100. All of them when None.
    seed : int
        For the split, the metrics and the maps: one seed, one result.
    progress : bool, optional
        False prints nothing.
    overwrite : bool
        Whether to replace the pages of an earlier run.
    explanations : int
        Pairs of digits to explain in advance.

    Returns
    -------
    dict
        "accuracy_before", "accuracy_after": k-NN accuracy on the test graphs by the mean of the node features and by
        the learned metric; "accuracy_pixels": on the images; "n_train", "n_test"; "milliseconds": to read one graph;
        "train_seconds", "seconds"; "path": of the first page; "pages": files of the explorers.
    """
    began = time.perf_counter()
    folder = Path(out)
    path = folder / "index.html"
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another folder or ask to overwrite it")
    say = (lambda line: None) if progress is False else print
    comparison = compare_digits(*split_digits(max_graphs, seed), seed, say)
    say("writing the pages ...")
    options: dict[str, Any] = {"overwrite": overwrite, "random_state": seed, "progress": progress}
    pages = [_explore_digits(comparison, folder, explanations=explanations, **options)]
    if find_spec("rdkit") is not None:
        pages.append(_explore_molecules(folder, say, explanations=explanations // 2, **options))
    write_atomic(path, demo_page(comparison, pages, seed), overwrite=overwrite)
    seconds = time.perf_counter() - began
    for page in (path, *(folder / one.file for one in pages)):
        say(f"written: {page}")
    say(f"{seconds:.0f} s in all; open {path}")
    return {
        "accuracy_before": comparison.before.accuracy,
        "accuracy_after": comparison.after.accuracy,
        "accuracy_pixels": comparison.pixels,
        "n_train": len(comparison.train.y),
        "n_test": len(comparison.test.y),
        "milliseconds": comparison.milliseconds,
        "train_seconds": comparison.after.metric.seconds_,
        "seconds": seconds,
        "path": str(path),
        "pages": [one.file for one in pages],
    }


def _explore_digits(comparison: Comparison, folder: Path, **options: Any) -> Explored:
    train, test = comparison.train, comparison.test
    names = [f"training {i}" for i in range(len(train.y))] + [f"test {i}" for i in range(len(test.y))]
    title, y = "Handwritten digits as graphs", np.concatenate([train.y, test.y])
    graphs = [*train.graphs, *test.graphs]
    explore(comparison.after.classifier, graphs, y, names, folder / "digits.html", title=title, **options)
    asked = "Which digits are mistaken for each other, and because of what ink?"
    return Explored("digits.html", title, f"{len(names)} graphs of ink, a class each. {asked}")


def _explore_molecules(folder: Path, say: Callable[[str], Any], *, random_state: int, **options: Any) -> Explored:
    """The same with well-known molecules, three quarters of which the model is fitted to."""
    graphs, names, y = well_known_molecules()
    order = np.random.default_rng(random_state).permutation(len(y))
    train = np.sort(order[: 3 * len(y) // 4])
    test = np.setdiff1d(order, train)
    model = GraphRegressor(GraphMetric(random_state=random_state)).fit([graphs[i] for i in train], y[train])
    error = float(np.abs(model.predict([graphs[i] for i in test]) - y[test]).mean())
    mean = float(np.abs(y[train].mean() - y[test]).mean())
    say(f"{len(y)} molecules: mean error of logP on {len(test)} new ones {error:.2f} (predicting the mean: {mean:.2f})")
    title, path = "Well-known molecules", folder / "molecules.html"
    explore(model, graphs, y, names, path, title=title, random_state=random_state, **options)
    text = (
        f"{len(y)} molecules, a number each: {_LOGP}. Learned from {len(train)} of them; on the other {len(test)} the "
        f"mean error is {error:.2f}, that of always predicting the mean is {mean:.2f}. Which atoms raise it?"
    )
    return Explored("molecules.html", title, text)


def well_known_molecules() -> tuple[list[Any], list[str], np.ndarray]:
    """149 molecules, their names, and the logP [149] that RDKit computes; needs RDKit to read them."""
    molecules = load_smiles(Path(__file__).with_name("molecules.csv"), target="logP", name="name")
    return list(molecules.graphs), molecules.names, np.asarray(molecules.y)
