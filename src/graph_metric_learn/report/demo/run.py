"""Runs the demo: splits the digits, learns, compares, and writes the page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from ..._core.files import write_atomic
from ...metrics.automatic.estimator import GraphMetric
from ..render import percent
from .comparison import N_NEIGHBORS, UNLEARNED, Comparison, evaluate
from .digits import split_digits
from .page import demo_page


def run_demo(
    out: str | Path,
    *,
    max_graphs: int | None = None,
    seed: int = 0,
    progress: bool | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Learns a metric on digits as graphs, compares k-NN with it and without, and writes out/index.html.

    Nothing is downloaded. Four fifths of the graphs are for learning, one fifth for testing.

    Parameters
    ----------
    out : path
        Folder of the page; created if it does not exist.
    max_graphs : int, optional
        How many of the 1797 graphs to use, for a quicker look; at least 100. All of them when None.
    seed : int
        For the split and for the metric: one seed, one result.
    progress : bool, optional
        False prints nothing.
    overwrite : bool
        Whether to replace the page of an earlier run.

    Returns
    -------
    dict
        "accuracy_before", "accuracy_after": k-NN accuracy on the test graphs by the mean of the node features and by
        the learned metric; "n_train", "n_test"; "train_seconds", "seconds"; "path": of the page.
    """
    began = time.perf_counter()
    path = Path(out) / "index.html"
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another folder or ask to overwrite it")
    say = (lambda line: None) if progress is False else print

    train, test = split_digits(max_graphs, seed)
    say(f"{len(train.y) + len(test.y)} handwritten digits as graphs: nodes are pixels with ink and carry their")
    say(f"intensity, row and column; {len(train.y)} graphs to learn from, {len(test.y)} to test on")

    say("compiling (some 20 s, on the first run only) ...")
    GraphMetric(random_state=seed).fit(train.graphs[:64], train.y[:64])  # compiled now, so that learning is timed alone
    before = evaluate(GraphMetric(**UNLEARNED, random_state=seed), train, test)
    say(f"{N_NEIGHBORS}-NN accuracy before learning: {percent(before.accuracy, 1)}")
    after = evaluate(GraphMetric(random_state=seed), train, test)
    learned_in = after.metric.seconds_
    say(f"{N_NEIGHBORS}-NN accuracy after learning:  {percent(after.accuracy, 1)}  (learned in {learned_in:.1f} s)")
    say(after.metric.report_)

    say("drawing the page ...")
    write_atomic(path, demo_page(Comparison(train, test, before, after), seed), overwrite=overwrite)
    seconds = time.perf_counter() - began
    say(f"written: {path}  ({seconds:.0f} s in all)")
    return {
        "accuracy_before": before.accuracy,
        "accuracy_after": after.accuracy,
        "n_train": len(train.y),
        "n_test": len(test.y),
        "train_seconds": learned_in,
        "seconds": seconds,
        "path": str(path),
    }
