"""`fit`: learns a metric and a predictor of classes, labels or numbers from graphs, and saves them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .shared_options import SOURCE, check_new, overwrite_option, read_source, say, scheduler_option, source_options

# Options of `fit --metric sgml`, with the defaults of SGML in brackets.
SGML_OPTIONS: dict[str, dict[str, Any]] = {
    "features": {
        "choices": ["auto", "x", "attributes", "labels", "degree", "fuse"],
        "help": "node features; auto takes attributes and labels if there, else degrees (auto)",
    },
    "depth": {"type": int, "help": "hops of the graph convolution (2)"},
    "components": {"type": int, "help": "output features of the encoder (5)"},
    "distance": {"choices": ["rpw", "pw", "sw"], "help": "(rpw)"},
    "loss": {"choices": ["nccml", "nccml-paper", "nca", "nca-paper", "mlkr"], "help": "mlkr for numbers (nccml)"},
    "epochs": {"type": int, "help": "(10)"},
    "batch-size": {"type": int, "help": "(8)"},
    "learning-rate": {"type": float, "help": "(0.00999)"},
}
SGML_PARAMETERS = {"components": "n_components", "epochs": "n_epochs"}  # where the names differ

# Options of one predictor: the setting, and the --model that has it.
_HEAD_SETTINGS = {
    "neighbors": ("n_neighbors", "knn"), "votes": ("weights", "knn"), "gamma": ("gamma", "svc"), "C": ("C", "svc"),
}  # fmt: skip

_HEADS = {"knn": "nearest neighbours", "ridge": "ridge regression", "svc": "a support vector machine"}


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", help=SOURCE)
    add("--labels", type=Path, help="CSV with columns graph,label (for a folder of graph files)")
    add("--out", type=Path, required=True, help="model folder to write")
    add(
        "--task", choices=["auto", "classes", "labels", "numbers", "none"], default="auto",
        help="what the labels are; auto: classes if strings or whole numbers; several columns of 0 and 1, with gaps, "
        "are labels, others numbers (%(default)s)",
    )  # fmt: skip
    add(
        "--model", choices=["knn", "ridge", "svc", "auto", "metric"], default="knn",
        help="what to save; auto chooses among the predictors (%(default)s)",
    )  # fmt: skip
    add("--neighbors", type=_auto_or(int), help="k of k-NN (auto)")
    add("--votes", choices=["distance", "uniform"], help="whether nearer neighbours count more in k-NN (distance)")
    add("--gamma", type=_auto_or(float), help="of the SVM kernel exp(-gamma d) (auto)")
    add("--C", type=_auto_or(float), help="cost of the SVM (auto)")
    add(
        "--metric", choices=["auto", "sgml"], default="auto",
        help="auto chooses features, embeddings and weights by itself (GraphMetric); sgml is the paper's model",
    )  # fmt: skip
    sgml = parser.add_argument_group("with --metric sgml")
    for option, settings in SGML_OPTIONS.items():
        sgml.add_argument(f"--{option}", **settings)
    add("--seed", type=int, default=0, help="(%(default)s)")
    text = "also print the score of the model in a shuffled 5-fold cross-validation"
    add("--evaluate", action="store_true", help=text)
    add(
        "--no-estimate", action="store_true",
        help="do not measure how well neighbours predict new graphs, which takes five times as long as learning",
    )  # fmt: skip
    scheduler_option(parser)
    overwrite_option(parser, "an earlier model")
    source_options(parser, target=True)


def _auto_or(kind: type) -> Any:
    """Reads a number, or the word auto."""

    def read(text: str) -> Any:
        return text if text == "auto" else kind(text)

    read.__name__ = f"{kind.__name__} or auto"  # for the message of argparse
    return read


def run(options: argparse.Namespace) -> None:
    from ..io.models import check_free

    check_new(options.out, options.overwrite)
    check_free(options.out, overwrite=options.overwrite)
    names, graphs, y = read_source(options, options.source, labels=options.labels)
    task = _task(options, y)
    metric = _metric(options, graphs, task)
    model = metric if options.model == "metric" else _predictor(options, metric, task)
    what = {"classes": lambda: f", {len(set(y.tolist()))} classes", "labels": lambda: f", {y.shape[1]} labels"}
    say(f"{len(names)} graphs{what.get(task, str)()}")
    if options.evaluate:
        if task == "none":
            raise ValueError("--evaluate needs classes or numbers")
        _cross_validate(options, _predictor(options, metric, task) if model is metric else model, graphs, y, task)
    model.fit(graphs, y)
    fitted = model if options.model == "metric" else model.metric_
    say(fitted.report_ if options.metric == "auto" else _training_line(fitted.history_))
    if options.model == "auto":
        head, score = model.chosen_["head"], model.chosen_["settings"]["held_out_score"]
        how_good = f"{model.chosen_['scored_by']} {score:.3f}"
        say(f"predicts by {_HEADS[head]} ({head}), the best of its predictors on graphs held out: {how_good}")
    if options.model != "metric" and y.ndim == 2:
        model.target_names_ = list(options.target)
    model.save(options.out, overwrite=options.overwrite)
    say(f"written: {options.out}")


def _task(options: argparse.Namespace, y: Any) -> str:
    """What is learned for, checked against what there is to learn from."""
    from ..objectives.tasks import likely_task

    task = likely_task(y) if options.task == "auto" else options.task
    if y is None and (options.task != "none" or options.model != "metric"):
        raise ValueError(
            f"{options.source} has no class labels: give a CSV with --labels, or the column of a CSV with --target; "
            "to learn without, --task none --model metric"
        )
    if task == "none" and options.model != "metric":
        raise ValueError(f"--task none learns a metric alone: --model metric, not {options.model}")
    if task in ("labels", "numbers") and options.model == "svc":
        raise ValueError(f"--model svc is for classes: knn, ridge or auto predict {task}")
    if task == "none" and options.metric == "sgml":
        raise ValueError("--metric sgml learns from classes or numbers: --task none goes with --metric auto")
    return task


def _predictor(options: argparse.Namespace, metric: Any, task: str) -> Any:
    """The predictor that was asked for, not fitted."""
    from ..predictors.head_choice import predictor

    model = "knn" if options.model == "metric" else options.model
    settings = {}
    for option, (setting, owner) in _HEAD_SETTINGS.items():
        if getattr(options, option) is not None:
            if owner != model:
                raise ValueError(f"--{option} goes with --model {owner}, not {options.model}")
            settings[setting] = getattr(options, option)
    return predictor(model, task, metric, **settings)


def _cross_validate(options: argparse.Namespace, model: Any, graphs: Any, y: Any, task: str) -> None:
    """Prints the score of a model by five shuffled folds: files are often sorted."""
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

    kind = StratifiedKFold if task == "classes" else KFold
    folds = kind(5, shuffle=True, random_state=options.seed)
    plain = {"metric__estimate": False} if options.metric == "auto" else {}
    scores = cross_val_score(clone(model).set_params(**plain), graphs, y, cv=folds)
    if task == "numbers":
        say(f"R² in 5-fold cross-validation: {scores.mean():.3f} ± {scores.std():.3f}")
    else:
        of_labels = " of labels" if task == "labels" else ""
        say(f"accuracy{of_labels} in 5-fold cross-validation: {100 * scores.mean():.1f} % ± {100 * scores.std():.1f}")


def _metric(options: argparse.Namespace, graphs: Any, task: str) -> Any:
    """The metric that was asked for, not fitted."""
    values = ((name, getattr(options, name.replace("-", "_"))) for name in SGML_OPTIONS)
    chosen = {name: value for name, value in values if value is not None}
    if options.metric == "auto":
        from ..metrics.automatic.estimator import GraphMetric

        if chosen:
            raise ValueError(f"--{next(iter(chosen))} goes with --metric sgml")
        return GraphMetric(task=task, estimate=not options.no_estimate, random_state=options.seed)
    from ..metrics.sgml.estimator import SGML
    from ..metrics.sgml.inputs import default_features

    settings = {SGML_PARAMETERS.get(name, name.replace("-", "_")): value for name, value in chosen.items()}
    if settings.get("features", "auto") == "auto":
        settings["features"] = default_features(graphs)
    return SGML(**settings, random_state=options.seed)


def _training_line(history: Any) -> str:
    text = f"trained {len(history.loss)} epochs in {sum(history.seconds):.1f} s"
    return f"{text}, loss {history.loss[0]:.3f} -> {history.loss[-1]:.3f}" if history.loss else text
