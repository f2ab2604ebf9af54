"""`explore`: a page to look at graphs through a saved model."""

from __future__ import annotations

import argparse
from pathlib import Path

from .shared_options import SOURCE, check_model, check_new, overwrite_option, read_source, source_options


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="model folder")
    parser.add_argument("source", help=SOURCE)
    parser.add_argument("--out", type=Path, default=Path("explorer.html"), help="file to write (%(default)s)")
    parser.add_argument("--labels", type=Path, help="CSV with the classes of a folder of graph files: graph,label")
    parser.add_argument("--title", help="of the page (the name of the source)")
    parser.add_argument(
        "--explanations", type=int, metavar="N", help="pairs to explain in advance, at most (as many as fit)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the map (%(default)s)")
    overwrite_option(parser)
    source_options(parser, target=True)


def run(options: argparse.Namespace) -> None:
    from ..predictors import load
    from ..viz.explorer import explore

    check_new(options.out, options.overwrite)
    check_model(options.model, "explore")
    model = load(options.model)
    names, graphs, y = read_source(options, options.source, options.labels)
    path = explore(
        model,
        graphs,
        y,
        names,
        options.out,
        title=options.title or Path(options.source).name,
        explanations=options.explanations,
        overwrite=options.overwrite,
        random_state=options.seed,
        progress=False if options.quiet else None,
    )
    print(f"written: {path} ({len(names)} graphs, {path.stat().st_size / 1e6:.1f} MB)")
