"""Records of a few runs, made by hand."""

from graph_metric_learn.experiments.methods import grid
from graph_metric_learn.experiments.settings import TASKS

MUTAG = TASKS["MUTAG (degree)"]
SECONDS = {"training": 0.1, "distances": 0.01, "classifier": 0.01}


def add_sgml(records, tests, *, zeros=0.25, **changes):
    """SGML at depth 2 with k-NN on MUTAG: one run per test accuracy."""
    (setting,) = grid(MUTAG, "rpw", depth=2, **changes)
    for run, test in enumerate(tests):
        result = {"validation": 0.8, "test": test, "zeros": zeros, "loss": [1.0] * 10, "seconds": SECONDS}
        records.add(config("rpw", "knn", run, setting), result)


def add_graph_metric(records, tests, *, part="mean of labels", kept=()):
    """GraphMetric with k-NN on MUTAG; `kept` are the runs in which learning was kept."""
    for run, test in enumerate(tests):
        learning = [{"name": "weights of blocks", "gain": 0.02, "kept": run in kept}]
        result = {"validation": 0.9, "test": test, "weights": {part: 1.0}, "learning": learning, "seconds": SECONDS}
        records.add(config("graphmetric", "knn-weighted", run, {}), result)


def config(method, classifier, run, model, task=MUTAG):
    """The configuration of one run."""
    return {
        "dataset": task.dataset, "features": task.features, "method": method, "classifier": classifier, "run": run,
        "model": model,
    }  # fmt: skip
