"""The command line: `graph-metric-learn demo | fit | predict | distances | reproduce | bench`, each with --help.

Thin: parses, calls, prints. Nothing heavy is imported before a command is known, so --help answers at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SOURCE = (
    "name of a TU dataset (MUTAG), a folder in TU format, or a folder of .graphml, .pt or .safetensors files, "
    "one graph each"
)
# What `fit --metric sgml` takes; all have the defaults of SGML.
_SGML: dict[str, dict[str, Any]] = {
    "features": {
        "choices": ["auto", "x", "attributes", "labels", "degree", "fuse"],
        "help": "node features; auto takes attributes and labels if there, else degrees (auto)",
    },
    "depth": {"type": int, "help": "hops of the graph convolution (2)"},
    "components": {"type": int, "help": "output features of the encoder (5)"},
    "distance": {"choices": ["rpw", "pw", "sw"], "help": "(rpw)"},
    "loss": {"choices": ["nccml", "nccml-paper", "nca", "nca-paper"], "help": "(nccml)"},
    "epochs": {"type": int, "help": "(10)"},
    "batch-size": {"type": int, "help": "(8)"},
    "learning-rate": {"type": float, "help": "(0.00999)"},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; bad input ends with one line on stderr and exit code 2."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except (ValueError, ImportError, OSError) as error:
        print(f"graph-metric-learn {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graph-metric-learn", description="Learn a distance between attributed graphs."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    def add(name: str, run: Any, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.set_defaults(run=run)
        return command

    demo = add("demo", _demo, "learn a metric on handwritten digits as graphs and write an HTML report")
    demo.add_argument("--out", type=Path, default=Path("demo-report"), help="folder for the report (%(default)s)")

    fit = add("fit", _fit, "learn a metric and a classifier from labelled graphs, and save them")
    fit.add_argument("source", help=_SOURCE)
    fit.add_argument("--labels", type=Path, help="CSV with columns graph,label (for a folder of graph files)")
    fit.add_argument("--out", type=Path, required=True, help="model folder to write")
    fit.add_argument("--model", choices=["knn", "svc", "metric"], default="knn", help="what to save (%(default)s)")
    fit.add_argument("--neighbors", type=_neighbors, default="auto", help="k of k-NN, or auto (%(default)s)")
    fit.add_argument(
        "--votes", choices=["distance", "uniform"], default="distance",
        help="whether nearer neighbours count more in k-NN (%(default)s)",
    )  # fmt: skip
    fit.add_argument("--gamma", type=float, default=1.0, help="of the SVM kernel exp(-gamma d) (%(default)s)")
    fit.add_argument("--C", type=float, default=1.0, help="cost of the SVM (%(default)s)")
    fit.add_argument(
        "--metric", choices=["auto", "sgml"], default="auto",
        help="auto chooses features, embeddings and weights by itself (GraphMetric); sgml is the paper's model",
    )  # fmt: skip
    sgml = fit.add_argument_group("with --metric sgml")
    for option, settings in _SGML.items():
        sgml.add_argument(f"--{option}", **settings)
    fit.add_argument("--seed", type=int, default=0, help="(%(default)s)")
    fit.add_argument(
        "--evaluate", action="store_true", help="also print the accuracy of a shuffled 5-fold cross-validation"
    )
    fit.add_argument("--overwrite", action="store_true", help="replace an earlier model")
    _add_root(fit)

    predict = add("predict", _predict, "predict the classes of graphs with a saved model, to CSV")
    predict.add_argument("model", type=Path, help="model folder")
    predict.add_argument("source", help=_SOURCE)
    predict.add_argument("--out", type=Path, help="CSV to write (standard output)")
    predict.add_argument("--overwrite", action="store_true", help="replace an earlier file")
    _add_root(predict)

    distances = add("distances", _distances, "distances between graphs by a saved model, to .npy or .csv")
    distances.add_argument("model", type=Path, help="model folder")
    distances.add_argument("source", help=_SOURCE)
    distances.add_argument("--others", help="second set of graphs (columns); the same as source without it")
    distances.add_argument("--out", type=Path, required=True, help="file to write, .npy or .csv")
    distances.add_argument("--overwrite", action="store_true", help="replace an earlier file")
    _add_root(distances)

    reproduce = add("reproduce", _reproduce, "run the paper's experiments, resumably, and print its tables")
    _add_reproduce(reproduce)
    _add_root(reproduce)

    bench = add("bench", _bench, "measure speed and memory against their targets")
    bench.add_argument("what", choices=["transport", "training", "gpu"], help="what to measure")
    bench.add_argument("--out", type=Path, default=Path("bench-results"), help="folder for the results (%(default)s)")
    bench.add_argument("--quick", action="store_true", help="small sizes, for a first look")
    bench.add_argument("--overwrite", action="store_true", help="replace results of an earlier run")
    _add_root(bench)
    return parser


def _add_reproduce(command: argparse.ArgumentParser) -> None:
    parts = ["table1", "table2", "table3", "fgw", "beyond", "choices", "runtimes", "figure1", "all"]
    command.add_argument("what", choices=parts, help="which part; choices: ties, propagation, loss, ReLU, Adam")
    command.add_argument("--datasets", nargs="+", metavar="NAME", help="only these; also TU datasets beyond the paper")
    command.add_argument("--features", help="node features for datasets beyond the paper (auto)")
    command.add_argument(
        "--methods", nargs="+", metavar="METHOD",
        help="rpw, sw, nca, pw, random (variants of SGML), or other systems by name; as in the table",
    )  # fmt: skip
    command.add_argument(
        "--classifiers", nargs="+", choices=["knn", "1-nn", "knn-loo", "knn-weighted", "svm"], help="as in the table"
    )
    command.add_argument("--preset", choices=["authors", "paper", "default"], default="authors", help="(%(default)s)")
    command.add_argument("--runs", type=int, default=10, help="splits (%(default)s)")
    command.add_argument("--jobs", type=int, default=1, help="how many at a time (%(default)s)")
    command.add_argument("--backend", help="of joblib: loky, threading, or another registered one (loky)")
    command.add_argument("--out", type=Path, default=Path("results"), help="folder of the records (%(default)s)")
    command.add_argument("--readme", type=Path, help="Markdown file whose summary of the results is renewed, too")


def _add_root(command: argparse.ArgumentParser) -> None:
    command.add_argument("--root", type=Path, help="folder with TU datasets (NAME.zip or NAME/); else downloaded")


# --- commands --------------------------------------------------------------------------------------------------------


def _demo(options: argparse.Namespace) -> None:
    from .report.demo import run_demo

    run_demo(options.out, overwrite=True)


def _fit(options: argparse.Namespace) -> None:
    from .neighbors.knn import GraphKNNClassifier, GraphSVC

    _check_new(options.out, options.overwrite)
    names, graphs, y = _read_source(options.source, options.root, options.labels)
    if y is None:
        raise ValueError(f"{options.source} has no class labels: give a CSV with --labels")
    metric = _metric(options, graphs)
    model: Any = {
        "metric": lambda: metric,
        "knn": lambda: GraphKNNClassifier(metric, n_neighbors=options.neighbors, weights=options.votes),
        "svc": lambda: GraphSVC(metric, gamma=options.gamma, C=options.C),
    }[options.model]()
    print(f"{len(names)} graphs, {len(set(y.tolist()))} classes")
    if options.evaluate:
        from sklearn.model_selection import StratifiedKFold, cross_val_score

        judged = (
            GraphKNNClassifier(metric, n_neighbors=options.neighbors, weights=options.votes)
            if options.model == "metric"
            else model
        )
        folds = StratifiedKFold(5, shuffle=True, random_state=options.seed)  # files are often sorted
        scores = cross_val_score(judged, graphs, y, cv=folds)
        print(f"accuracy in 5-fold cross-validation: {100 * scores.mean():.1f} % ± {100 * scores.std():.1f}")
    model.fit(graphs, y)
    fitted = model if options.model == "metric" else model.metric_
    print(fitted.report_ if options.metric == "auto" else _training_line(fitted.history_))
    model.save(options.out, overwrite=options.overwrite)
    print(f"written: {options.out}")


def _metric(options: argparse.Namespace, graphs: Any) -> Any:
    """The metric that was asked for, not fitted."""
    given = {name: getattr(options, name.replace("-", "_")) for name in _SGML}
    given = {name: value for name, value in given.items() if value is not None}
    if options.metric == "auto":
        from .metrics.automatic.estimator import GraphMetric

        if given:
            raise ValueError(f"--{next(iter(given))} goes with --metric sgml")
        return GraphMetric(random_state=options.seed)
    from .metrics.sgml.estimator import SGML

    names = {"components": "n_components", "epochs": "n_epochs"}
    settings = {names.get(name, name.replace("-", "_")): value for name, value in given.items()}
    if settings.get("features", "auto") == "auto":
        settings["features"] = _default_features(graphs)
    return SGML(**settings, random_state=options.seed)


def _training_line(history: Any) -> str:
    text = f"trained {len(history.loss)} epochs in {sum(history.seconds):.1f} s"
    return f"{text}, loss {history.loss[0]:.3f} -> {history.loss[-1]:.3f}" if history.loss else text


def _neighbors(text: str) -> int | str:
    return text if text == "auto" else int(text)


def _predict(options: argparse.Namespace) -> None:
    import csv
    import io

    from ._core.files import write_atomic
    from .neighbors.knn import load

    if options.out:
        _check_new(options.out, options.overwrite)
    model = load(options.model)
    if not hasattr(model, "predict"):
        raise ValueError(f"{options.model} holds a metric without a classifier: fit with --model knn or svc")
    names, graphs, _ = _read_source(options.source, options.root)
    predicted = model.predict(graphs)
    shares = model.predict_proba(graphs) if hasattr(model, "predict_proba") else None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["graph", "prediction", *(f"share {c}" for c in (model.classes_ if shares is not None else ()))])
    for i, (name, label) in enumerate(zip(names, predicted, strict=True)):
        writer.writerow([name, label, *(f"{share:.4g}" for share in (shares[i] if shares is not None else ()))])
    if options.out:
        write_atomic(options.out, text.getvalue(), overwrite=options.overwrite)
        print(f"written: {options.out} ({len(names)} graphs)")
    else:
        print(text.getvalue(), end="")


def _distances(options: argparse.Namespace) -> None:
    from .neighbors.knn import load
    from .persistence.matrices import write_csv, write_npy

    if options.out.suffix not in (".npy", ".csv"):
        raise ValueError(f"{options.out}: the ending must be .npy or .csv")
    _check_new(options.out, options.overwrite)
    model = load(options.model)
    metric = getattr(model, "metric_", model)
    names, graphs, _ = _read_source(options.source, options.root)
    rows, columns, column_names = metric.embed(graphs), None, names
    if options.others:
        column_names, graphs, _ = _read_source(options.others, options.root)
        columns = metric.embed(graphs)
    if options.out.suffix == ".npy":
        write_npy(options.out, rows, columns)
    else:
        write_csv(options.out, rows, columns, names, column_names)
    print(f"written: {options.out} ({len(names)} x {len(column_names)})")


def _reproduce(options: argparse.Namespace) -> int:
    from .experiments.reproduce import reproduce

    failures = reproduce(
        options.what, options.out, datasets=options.datasets, features=options.features, methods=options.methods,
        classifiers=options.classifiers, preset=options.preset, runs=options.runs, jobs=options.jobs,
        backend=options.backend, root=options.root, readme=options.readme,
    )  # fmt: skip
    return 1 if failures else 0


def _bench(options: argparse.Namespace) -> None:
    import json

    from ._core.files import write_atomic
    from .bench import gpu, training, transport

    paths = [options.out / f"{options.what}{suffix}" for suffix in (".json", ".png")]
    for path in paths:
        _check_new(path, options.overwrite)
    if options.what == "transport":
        report, draw = transport.run(quick=options.quick), transport.draw
    else:
        bench: Any = training if options.what == "training" else gpu
        report, draw = bench.run(root=options.root, quick=options.quick), bench.draw
    text = json.dumps(report.as_dict(), indent=1, ensure_ascii=False)
    write_atomic(paths[0], text, overwrite=options.overwrite)
    write_atomic(paths[1], draw(report), overwrite=options.overwrite)
    print(f"written: {paths[0]}, {paths[1]}")


# --- shared ----------------------------------------------------------------------------------------------------------


def _check_new(path: Path, overwrite: bool) -> None:
    """Says so before the work starts, not after it."""
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another --out or add --overwrite")


def _read_source(source: str, root: Path | None, labels: Path | None = None) -> tuple[list[str], Any, Any]:
    """Names, graphs and classes (None where unknown) of what the user named."""
    from .datasets import load_tu
    from .datasets.folder import load_folder

    folder = Path(source)
    if folder.is_dir() and not (folder / f"{folder.name}_A.txt").is_file():
        return load_folder(folder, labels)
    if labels is not None:
        raise ValueError("--labels goes with a folder of graph files; TU datasets have their own")
    if ("/" in source or "\\" in source) and not folder.is_dir():
        raise ValueError(f"there is no folder {source}")
    if folder.is_dir():
        dataset = load_tu(folder.resolve().name, features=None, root=folder.resolve().parent)
    else:
        dataset = load_tu(source, features=None, root=root)
    return [str(i) for i in range(len(dataset))], dataset.graphs, dataset.y


def _default_features(graphs: Any) -> str:
    from .graphs import as_graphs

    given = as_graphs(graphs)
    if given.x is not None:
        return "attributes" if given.labels is None else "fuse"
    return "degree" if given.labels is None else "labels"


if __name__ == "__main__":
    sys.exit(main())
