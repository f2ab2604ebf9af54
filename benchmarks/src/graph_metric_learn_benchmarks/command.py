"""`bench`: measures speed and memory against their targets."""

from __future__ import annotations

import argparse
from pathlib import Path

from graph_metric_learn.cli.shared_options import check_new, overwrite_option, root_option


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["transport", "training", "gpu", "scale"], help="what to measure")
    parser.add_argument("--out", type=Path, default=Path("bench-results"), help="folder for the results (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="small sizes, for a first look")
    parser.add_argument("--molecules", type=Path, help="folder with qm9_smiles.csv.gz, for scale")
    overwrite_option(parser, "results of an earlier run")
    root_option(parser)


def run(options: argparse.Namespace) -> None:
    import importlib
    import json

    from graph_metric_learn._core.files import write_atomic

    paths = [options.out / f"{options.what}{suffix}" for suffix in (".json", ".png")]
    for path in paths:
        check_new(path, options.overwrite)
    bench = importlib.import_module(f".{options.what}", __package__)
    datasets = {} if options.what == "transport" else {"root": options.root}
    if options.what == "scale":
        datasets["molecules"] = options.molecules
    elif options.molecules:
        raise ValueError(f"--molecules goes with bench scale, not {options.what}")
    report = bench.run(quick=options.quick, **datasets)
    text = json.dumps(report.as_dict(), indent=1, ensure_ascii=False)
    write_atomic(paths[0], text, overwrite=options.overwrite)
    write_atomic(paths[1], bench.draw(report), overwrite=options.overwrite)
    print(f"written: {paths[0]}, {paths[1]}")
