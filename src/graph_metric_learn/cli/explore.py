"""`explore`: a page to look at graphs through a saved model."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import shared_options as shared


def options(parser: argparse.ArgumentParser) -> None:
    shared.model_options(parser)
    parser.add_argument("--out", type=Path, default=Path("explorer.html"), help="file to write (%(default)s)")
    parser.add_argument("--labels", type=Path, help="CSV with the classes of a folder of graph files: graph,label")
    parser.add_argument("--label", metavar="NAME", help="which of several labels or numbers is shown (the first)")
    parser.add_argument("--title", help="of the page (the name of the source)")
    parser.add_argument(
        "--explanations", type=int, metavar="N", help="pairs to explain in advance, at most (as many as fit)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the map (%(default)s)")
    shared.overwrite_option(parser)
    shared.source_options(parser, target=True)


def run(options: argparse.Namespace) -> None:
    from ..viz.explorer import explore

    shared.check_new(options.out, options.overwrite)
    model = shared.load_model(options)
    names, graphs, y = shared.read_source(options, options.source, options.labels)
    path = explore(
        model, graphs, y, names, options.out, title=options.title or Path(options.source).name,
        label=options.label, explanations=options.explanations, overwrite=options.overwrite, random_state=options.seed,
    )  # fmt: skip
    print(f"written: {path} ({len(names)} graphs, {path.stat().st_size / 1e6:.1f} MB)")
