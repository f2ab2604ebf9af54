"""The command line: `graph-metric-learn demo | fit | predict | distances | reproduce | bench`, each with --help.

Thin: parses, calls, prints. Nothing heavy is imported before a command is known, so that --help answers at once.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import __version__
from .experiments.settings import CLASSIFIERS, PARTS, PRESETS

_SOURCE = (
    "name of a TU dataset (MUTAG), a folder in TU format, a folder of .graphml, .json, .pt or .safetensors files, "
    "one graph each, or a .csv or .csv.gz with a column of SMILES"
)
# Options of `fit --metric sgml`, with the defaults of SGML in brackets.
_SGML: dict[str, dict[str, Any]] = {
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
_SGML_PARAMETERS = {"components": "n_components", "epochs": "n_epochs"}  # where the names differ

# Options of one predictor: the option, the setting, the --model that has it.
_HEAD_SETTINGS = [
    ("neighbors", "n_neighbors", "knn"), ("votes", "weights", "knn"), ("gamma", "gamma", "svc"), ("C", "C", "svc"),
]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; bad input ends with one line on stderr and exit code 2."""
    options = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: _say(options.command, f"warning: {message}")
            return options.run(options) or 0
    except (ValueError, ImportError, OSError) as error:
        _say(options.command, str(error))
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _say(command: str, text: str) -> None:
    """One line on stderr."""
    print(f"graph-metric-learn {command}: {text}", file=sys.stderr)


# --- options ---------------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graph-metric-learn", description="Learn a distance between attributed graphs."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, run, add_options, text in (
        ("demo", _demo, _demo_options, "learn a metric on handwritten digits as graphs and write an HTML report"),
        ("fit", _fit, _fit_options, "learn a metric and a predictor of classes or numbers from graphs, and save them"),
        ("predict", _predict, _predict_options, "predict classes or numbers of graphs with a saved model, to CSV"),
        ("distances", _distances, _distances_options, "distances between graphs by a saved model, to .npy or .csv"),
        ("reproduce", _reproduce, _reproduce_options, "run the paper's experiments, resumably, and print its tables"),
        ("bench", _bench, _bench_options, "measure speed and memory against their targets"),
    ):
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.set_defaults(run=run)
        add_options(command)
    return parser


def _root_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--root", type=Path, help="folder with TU datasets (NAME.zip or NAME/); else downloaded")


def _source_options(command: argparse.ArgumentParser, *, target: bool = False) -> None:
    """Where graphs come from, beside their name."""
    _root_option(command)
    add = command.add_argument_group("with a CSV of molecules").add_argument
    add("--smiles", metavar="COLUMN", help="column of SMILES (smiles)")
    if target:
        add("--target", metavar="COLUMN", help="column of classes or numbers")
    add("--name", metavar="COLUMN", help="column of names, which predictions carry (the SMILES)")
    add("--on-error", choices=["raise", "skip"], help="stop at a row that cannot be read, or leave it out (raise)")


def _overwrite_option(command: argparse.ArgumentParser, what: str = "an earlier file") -> None:
    command.add_argument("--overwrite", action="store_true", help=f"replace {what}")


def _demo_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", type=Path, default=Path("demo-report"), help="folder for the report (%(default)s)")


def _fit_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("source", help=_SOURCE)
    add("--labels", type=Path, help="CSV with columns graph,label (for a folder of graph files)")
    add("--out", type=Path, required=True, help="model folder to write")
    add(
        "--task", choices=["auto", "classes", "numbers", "none"], default="auto",
        help="what the labels are; auto: classes if strings or whole numbers (%(default)s)",
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
    sgml = command.add_argument_group("with --metric sgml")
    for option, settings in _SGML.items():
        sgml.add_argument(f"--{option}", **settings)
    add("--seed", type=int, default=0, help="(%(default)s)")
    add(
        "--evaluate",
        action="store_true",
        help="also print the score of the model in a shuffled 5-fold cross-validation",
    )
    add(
        "--no-estimate", action="store_true",
        help="do not measure how well neighbours predict new graphs, which takes five times as long as learning",
    )  # fmt: skip
    _overwrite_option(command, "an earlier model")
    _source_options(command, target=True)


def _predict_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", type=Path, help="model folder")
    command.add_argument("source", help=_SOURCE)
    command.add_argument("--out", type=Path, help="CSV to write (standard output)")
    _overwrite_option(command)
    _source_options(command)


def _distances_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", type=Path, help="model folder")
    command.add_argument("source", help=_SOURCE)
    command.add_argument("--others", help="second set of graphs (columns); the same as source without it")
    command.add_argument("--out", type=Path, required=True, help="file to write, .npy or .csv")
    _overwrite_option(command)
    _source_options(command)


def _reproduce_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add(
        "what", choices=[*PARTS, "all"],
        help="which part; edges: GraphMetric with and without edge data; choices: ties, propagation, loss, ReLU, Adam",
    )  # fmt: skip
    add("--datasets", nargs="+", metavar="NAME", help="only these; also TU datasets beyond the paper")
    add("--features", help="node features for datasets beyond the paper (auto)")
    add(
        "--methods", nargs="+", metavar="METHOD",
        help="rpw, sw, nca, pw, random (variants of SGML), or other systems by name; as in the table",
    )  # fmt: skip
    add("--classifiers", nargs="+", choices=CLASSIFIERS, help="as in the table")
    add("--preset", choices=list(PRESETS), default="authors", help="(%(default)s)")
    add("--runs", type=int, default=10, help="splits (%(default)s)")
    add("--jobs", type=int, default=1, help="how many at a time (%(default)s)")
    add("--backend", help="of joblib: loky, threading, or another registered one (loky)")
    add("--out", type=Path, default=Path("results"), help="folder of the records (%(default)s)")
    add("--molecules", type=Path, help="folder with ESOL.csv, Lipophilicity.csv and BACE.csv, for molecules")
    add("--splits", type=Path, help="folder with the published folds, NAME.json, for fair")
    add("--readme", type=Path, help="Markdown file whose summary of the results is renewed, too")
    _root_option(command)


def _bench_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", choices=["transport", "training", "gpu"], help="what to measure")
    command.add_argument("--out", type=Path, default=Path("bench-results"), help="folder for the results (%(default)s)")
    command.add_argument("--quick", action="store_true", help="small sizes, for a first look")
    _overwrite_option(command, "results of an earlier run")
    _root_option(command)


def _auto_or(kind: type) -> Any:
    """Reads a number, or the word auto."""

    def read(text: str) -> Any:
        return text if text == "auto" else kind(text)

    read.__name__ = f"{kind.__name__} or auto"  # for the message of argparse
    return read


# --- commands --------------------------------------------------------------------------------------------------------


def _demo(options: argparse.Namespace) -> None:
    from .report.demo import run_demo

    run_demo(options.out, overwrite=True)


def _fit(options: argparse.Namespace) -> None:
    _check_new(options.out, options.overwrite)
    names, graphs, y = _graphs(options, options.source, labels=options.labels)
    task = _task(options, y)
    metric = _metric(options, graphs, task)
    model = metric if options.model == "metric" else _predictor(options, metric, task)
    print(f"{len(names)} graphs, {len(set(y.tolist()))} classes" if task == "classes" else f"{len(names)} graphs")
    if options.evaluate:
        if task == "none":
            raise ValueError("--evaluate needs classes or numbers")
        _cross_validate(options, _predictor(options, metric, task) if model is metric else model, graphs, y, task)
    model.fit(graphs, y)
    fitted = model if options.model == "metric" else model.metric_
    print(fitted.report_ if options.metric == "auto" else _training_line(fitted.history_))
    model.save(options.out, overwrite=options.overwrite)
    print(f"written: {options.out}")


def _task(options: argparse.Namespace, y: Any) -> str:
    """What is learned for, checked against what there is to learn from."""
    from .objectives.tasks import likely_task

    task = likely_task(y) if options.task == "auto" else options.task
    if y is None and (options.task != "none" or options.model != "metric"):
        raise ValueError(
            f"{options.source} has no class labels: give a CSV with --labels, or the column of a CSV with --target; "
            "to learn without, --task none --model metric"
        )
    if task == "none" and options.model != "metric":
        raise ValueError(f"--task none learns a metric alone: --model metric, not {options.model}")
    if task == "numbers" and options.model == "svc":
        raise ValueError("--model svc is for classes: knn, ridge or auto predict numbers")
    if task == "none" and options.metric == "sgml":
        raise ValueError("--metric sgml learns from classes or numbers: --task none goes with --metric auto")
    return task


def _predictor(options: argparse.Namespace, metric: Any, task: str) -> Any:
    """The predictor that was asked for, not fitted."""
    from .neighbors.by_name import predictor

    model = "knn" if options.model == "metric" else options.model
    settings = {}
    for option, setting, owner in _HEAD_SETTINGS:
        if getattr(options, option) is not None:
            if owner != model:
                raise ValueError(f"--{option} goes with --model {owner}, not {options.model}")
            settings[setting] = getattr(options, option)
    return predictor(model, task, metric, **settings)


def _cross_validate(options: argparse.Namespace, model: Any, graphs: Any, y: Any, task: str) -> None:
    """Prints the score of a model by five shuffled folds: files are often sorted."""
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

    kind = KFold if task == "numbers" else StratifiedKFold
    folds = kind(5, shuffle=True, random_state=options.seed)
    plain = {"metric__estimate": False} if options.metric == "auto" else {}
    scores = cross_val_score(clone(model).set_params(**plain), graphs, y, cv=folds)
    if task == "numbers":
        print(f"R² in 5-fold cross-validation: {scores.mean():.3f} ± {scores.std():.3f}")
    else:
        print(f"accuracy in 5-fold cross-validation: {100 * scores.mean():.1f} % ± {100 * scores.std():.1f}")


def _graphs(options: argparse.Namespace, source: str, labels: Path | None = None) -> Any:
    """Names, graphs and classes of what was named."""
    from .datasets.sources import Columns, load_source

    given = Columns(**{column: getattr(options, column, None) for column in Columns._fields})
    return load_source(source, root=options.root, labels=labels, columns=given)


def _metric(options: argparse.Namespace, graphs: Any, task: str) -> Any:
    """The metric that was asked for, not fitted."""
    given = {name: getattr(options, name.replace("-", "_")) for name in _SGML}
    given = {name: value for name, value in given.items() if value is not None}
    if options.metric == "auto":
        from .metrics.automatic.estimator import GraphMetric

        if given:
            raise ValueError(f"--{next(iter(given))} goes with --metric sgml")
        return GraphMetric(task=task, estimate=not options.no_estimate, random_state=options.seed)
    from .metrics.sgml.estimator import SGML
    from .metrics.sgml.options import default_features

    settings = {_SGML_PARAMETERS.get(name, name.replace("-", "_")): value for name, value in given.items()}
    if settings.get("features", "auto") == "auto":
        settings["features"] = default_features(graphs)
    return SGML(**settings, random_state=options.seed)


def _training_line(history: Any) -> str:
    text = f"trained {len(history.loss)} epochs in {sum(history.seconds):.1f} s"
    return f"{text}, loss {history.loss[0]:.3f} -> {history.loss[-1]:.3f}" if history.loss else text


def _predict(options: argparse.Namespace) -> None:
    from ._core.files import write_atomic
    from .neighbors import load

    if options.out:
        _check_new(options.out, options.overwrite)
    model = load(options.model)
    if not hasattr(model, "predict"):
        raise ValueError(f"{options.model} holds a metric without a predictor: fit with --model knn or another")
    names, graphs, _ = _graphs(options, options.source)
    text = _predictions_csv(model, names, graphs)
    if options.out:
        write_atomic(options.out, text, overwrite=options.overwrite)
        print(f"written: {options.out} ({len(names)} graphs)")
    else:
        print(text, end="")


def _predictions_csv(model: Any, names: list[str], graphs: Any) -> str:
    """A line per graph: its name, its class, and the share of the votes of every class if the model has such."""
    import csv
    import io

    predicted = model.predict(graphs)
    shares = model.predict_proba(graphs) if hasattr(model, "predict_proba") else None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["graph", "prediction", *(f"share {c}" for c in (model.classes_ if shares is not None else ()))])
    for i, (name, label) in enumerate(zip(names, predicted, strict=True)):
        writer.writerow([name, label, *(f"{share:.4g}" for share in (shares[i] if shares is not None else ()))])
    return text.getvalue()


def _distances(options: argparse.Namespace) -> None:
    from .neighbors import load
    from .persistence.matrices import write_csv, write_npy

    if options.out.suffix not in (".npy", ".csv"):
        raise ValueError(f"{options.out}: the ending must be .npy or .csv")
    _check_new(options.out, options.overwrite)
    model = load(options.model)
    metric = getattr(model, "metric_", model)
    names, graphs, _ = _graphs(options, options.source)
    rows, columns, column_names = metric.embed(graphs), None, names
    if options.others:
        column_names, graphs, _ = _graphs(options, options.others)
        columns = metric.embed(graphs)
    if options.out.suffix == ".npy":
        write_npy(options.out, rows, columns, rounding=metric.rounding)
    else:
        write_csv(options.out, rows, columns, names, column_names, rounding=metric.rounding)
    print(f"written: {options.out} ({len(names)} x {len(column_names)})")


def _reproduce(options: argparse.Namespace) -> int:
    from .experiments.reproduce import reproduce

    failures = reproduce(**{name: value for name, value in vars(options).items() if name not in ("command", "run")})
    return 1 if failures else 0


def _bench(options: argparse.Namespace) -> None:
    import importlib
    import json

    from ._core.files import write_atomic

    paths = [options.out / f"{options.what}{suffix}" for suffix in (".json", ".png")]
    for path in paths:
        _check_new(path, options.overwrite)
    bench = importlib.import_module(f".bench.{options.what}", __package__)
    datasets = {} if options.what == "transport" else {"root": options.root}
    report = bench.run(quick=options.quick, **datasets)
    text = json.dumps(report.as_dict(), indent=1, ensure_ascii=False)
    write_atomic(paths[0], text, overwrite=options.overwrite)
    write_atomic(paths[1], bench.draw(report), overwrite=options.overwrite)
    print(f"written: {paths[0]}, {paths[1]}")


def _check_new(path: Path, overwrite: bool) -> None:
    """Refuses to overwrite before the work starts, not after it."""
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another --out or add --overwrite")


if __name__ == "__main__":
    sys.exit(main())
