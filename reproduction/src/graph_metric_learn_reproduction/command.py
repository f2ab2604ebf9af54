"""`reproduce`: runs the paper's experiments, resumably, and prints its tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from graph_metric_learn.cli.shared_options import root_option

from .experiments.settings import CLASSIFIERS, PARTS, PRESETS


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "what", choices=[*PARTS, "all"],
        help="which part; edges: GraphMetric with and without edge data; outlook: what the paper left for later, and "
        "metrics without labels; choices: ties, propagation, loss, ReLU, Adam",
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
    root_option(parser)


def run(options: argparse.Namespace) -> int:
    from .experiments.reproduce import reproduce

    arguments = {name: value for name, value in vars(options).items() if name not in ("command", "run", "quiet")}
    failures = reproduce(**arguments)
    return 1 if failures else 0
