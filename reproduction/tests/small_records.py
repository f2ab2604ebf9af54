"""Records of a few runs, made by hand."""

from graph_metric_learn_reproduction.experiments.edges import edge_cells
from graph_metric_learn_reproduction.experiments.methods import grid
from graph_metric_learn_reproduction.experiments.outlook import PREDICTORS, VARIANTS, number_cells, outlook_cells
from graph_metric_learn_reproduction.experiments.settings import TASKS
from graph_metric_learn_reproduction.experiments.unlabelled import unlabelled_cells

MUTAG = TASKS["MUTAG (degree)"]
SECONDS = {"training": 0.1, "distances": 0.01, "classifier": 0.01}


def add_sgml(records, tests, *, zeros=0.25, **changes):
    """SGML at depth 2 with k-NN on MUTAG: one run per test accuracy."""
    (setting,) = grid(MUTAG, "rpw", depth=2, **changes)
    for run, test in enumerate(tests):
        result = {"validation": 0.8, "test": test, "zeros": zeros, "loss": [1.0] * 10, "seconds": SECONDS}
        records.add(config("rpw", "knn", run, setting), result)


def add_graph_metric(records, tests, *, part="mean of labels", learning=None, head="head-knn"):
    """GraphMetric with a head on MUTAG; `learning` has the weight of learned scores of each run."""
    learning = learning or [{"weight": 3.0, "even_share": 0.1, "penalty": 0.1}] * len(tests)
    for run, (test, learned) in enumerate(zip(tests, learning, strict=True)):
        result = {"validation": 0.9, "test": test, "weights": {part: 1.0}, "learning": learned, "seconds": SECONDS}
        records.add(config("graphmetric", head, run, {}), result)


def config(method, classifier, run, model, task=MUTAG):
    """The configuration of one run."""
    return {
        "dataset": task.dataset, "features": task.features, "method": method, "classifier": classifier, "run": run,
        "model": model,
    }  # fmt: skip


def add_edges(records, dataset, with_data, without, *, share=0.25, largest=0.5, carried=None, left_out=None):
    """GraphMetric on whole graphs of a dataset: one run per test accuracy, with edge data and without."""
    data = {
        "graphs": 1234, "classes": 2, "single_nodes": 1,
        "left_out": left_out or {"no_nodes": 0, "small_classes": 0, "classes": 0},
        "edges": carried or {"labels": 4, "vectors": 0, "weights": False, "directions": False},
    }  # fmt: skip
    for edges, tests in (("auto", with_data), (False, without)):
        for run, test in enumerate(tests):
            seen = share if edges else 0.0
            result = {
                "validation": 0.9, "test": test, "seconds": SECONDS, "data": data, "largest_class": largest,
                "edge_share": seen, "weights": {"mean of labels": 1 - seen, "mean of edges": seen},
            }  # fmt: skip
            records.add(edge_cells([dataset], run + 1)[2 * run + (not edges)], result)


def add_outlook(records, dataset, metric, knn, ncm, *, largest=0.5):
    """k-NN and nearest class means on a metric of the outlook: one split per test accuracy."""
    cells = [c for c in outlook_cells(10, [dataset]) if (c["method"], c["model"]) == VARIANTS[metric]]
    for predictor, tests in zip(PREDICTORS, (knn, ncm), strict=True):
        chosen = [cell for cell in cells if cell["classifier"] == predictor]
        for cell, test in zip(chosen, tests, strict=False):
            records.add(cell, {"test": test, "largest_class": largest, "chosen": {}, "seconds": SECONDS})


def add_numbers(records, untrained, trained):
    """SGML on molecules, as it comes: one split per error."""
    cells = [cell for cell in number_cells(10) if "edge_sums" not in cell["model"]]
    for is_trained, errors in enumerate((untrained, trained)):
        chosen = [cell for cell in cells if ("n_epochs" not in cell["model"]) == is_trained]
        for cell, error in zip(chosen, errors, strict=False):
            records.add(cell, {"test": error, "mean_error": 2.0, "seconds": SECONDS})


def add_unlabelled(records, dataset, judge, by_method):
    """Systems without labels on a dataset: one split or seed per score."""
    cells = [cell for cell in unlabelled_cells(10, [dataset]) if cell["classifier"] == judge]
    for method, scores in by_method.items():
        chosen = [cell for cell in cells if cell["method"] == method]
        for cell, score in zip(chosen, scores, strict=False):
            records.add(cell, {"test": score, "seconds": {"all": 1.0}})
