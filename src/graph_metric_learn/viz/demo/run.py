"""Runs the demo: learns a metric for digits and one for molecules, and writes pages to look at both."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..._core.files import write_atomic
from ...metrics.automatic.estimator import GraphMetric
from ...predictors.head_choice import GraphRegressor
from ..explorer import explore
from ..render import percent
from .comparison import N_NEIGHBORS, UNLEARNED, Comparison, evaluate, one_by_one, pixel_accuracy
from .digits import split_digits
from .molecules import TARGET, well_known_molecules
from .page import Explored, demo_page

MAX_GRAPHS = 700  # digits used: all 1797 take the demo beyond a minute on two cores
_EXPLANATIONS = 1200  # pairs of digits that are explained in advance; of molecules half as many


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

    train, test = split_digits(max_graphs, seed)
    say(f"{len(train.y) + len(test.y)} handwritten digits as graphs: nodes are pixels with ink and carry their")
    say(f"intensity, row and column; {len(train.y)} graphs to learn from, {len(test.y)} to test on")
    say("compiling, where that was not done before (some 15 s) ...")
    GraphMetric(random_state=seed).fit(train.graphs[:64], train.y[:64])  # compiled now, so that learning is timed alone
    before = evaluate(GraphMetric(**UNLEARNED, random_state=seed), train, test)
    say(f"{N_NEIGHBORS}-NN accuracy before learning: {percent(before.accuracy, 1)}")
    after = evaluate(GraphMetric(random_state=seed), train, test)
    learned_in = after.metric.seconds_
    say(f"{N_NEIGHBORS}-NN accuracy after learning:  {percent(after.accuracy, 1)}  (learned in {learned_in:.1f} s)")
    pixels = pixel_accuracy(train, test)
    say(f"{N_NEIGHBORS}-NN accuracy on raw pixels:   {percent(pixels, 1)}")
    say(after.metric.report_)
    comparison = Comparison(train, test, before, after, pixels, one_by_one(after.classifier, test.graphs))

    say("writing the pages ...")
    options = {"overwrite": overwrite, "random_state": seed, "progress": progress}
    pages = [_explore_digits(comparison, folder, explanations, options)]
    if find_spec("rdkit") is not None:
        pages.append(_explore_molecules(folder, seed, explanations // 2, options, say))
    write_atomic(path, demo_page(comparison, pages, seed), overwrite=overwrite)
    seconds = time.perf_counter() - began
    for page in (path, *(folder / one.file for one in pages)):
        say(f"written: {page}")
    say(f"{seconds:.0f} s in all; open {path}")
    return {
        "accuracy_before": before.accuracy,
        "accuracy_after": after.accuracy,
        "accuracy_pixels": pixels,
        "n_train": len(train.y),
        "n_test": len(test.y),
        "milliseconds": comparison.milliseconds,
        "train_seconds": learned_in,
        "seconds": seconds,
        "path": str(path),
        "pages": [one.file for one in pages],
    }


def _explore_digits(comparison: Comparison, folder: Path, explanations: int, options: dict[str, Any]) -> Explored:
    train, test = comparison.train, comparison.test
    names = [f"training {i}" for i in range(len(train.y))] + [f"test {i}" for i in range(len(test.y))]
    title = "Handwritten digits as graphs"
    explore(
        comparison.after.classifier, [*train.graphs, *test.graphs], np.concatenate([train.y, test.y]), names,
        folder / "digits.html", title=title, explanations=explanations, **options,
    )  # fmt: skip
    text = (
        f"{len(names)} graphs of ink, a class each. Which digits are mistaken for each other, and because of what ink?"
    )
    return Explored("digits.html", title, text)


def _explore_molecules(
    folder: Path, seed: int, explanations: int, options: dict[str, Any], say: Callable[[str], Any]
) -> Explored:
    """The same with well-known molecules, three quarters of which the model is fitted to."""
    graphs, names, y = well_known_molecules()
    order = np.random.default_rng(seed).permutation(len(y))
    known = np.sort(order[: 3 * len(y) // 4])
    new = np.setdiff1d(order, known)
    model = GraphRegressor(GraphMetric(random_state=seed)).fit([graphs[i] for i in known], y[known])
    error = float(np.abs(model.predict([graphs[i] for i in new]) - y[new]).mean())
    mean = float(np.abs(y[known].mean() - y[new]).mean())
    say(f"{len(y)} molecules: mean error of logP on {len(new)} new ones {error:.2f} (predicting the mean: {mean:.2f})")
    title = "Well-known molecules"
    explore(model, graphs, y, names, folder / "molecules.html", title=title, explanations=explanations, **options)
    text = (
        f"{len(y)} molecules, a number each: {TARGET}. Learned from {len(known)} of them; on the other {len(new)} the "
        f"mean error is {error:.2f}, that of always predicting the mean is {mean:.2f}. Which atoms raise it?"
    )
    return Explored("molecules.html", title, text)
