"""The command line: `graph-metric-learn demo | bench`, each with --help.

Thin: parses, calls, prints. Nothing heavy is imported before a command is known.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


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

    demo = commands.add_parser("demo", help="distances between a few clouds, in seconds")
    demo.set_defaults(run=_demo)

    bench = commands.add_parser("bench", help="measure speed and memory against their targets")
    bench.add_argument("what", choices=["transport"], help="what to measure")
    bench.add_argument("--out", type=Path, default=Path("bench-results"), help="folder for JSON and PNG (%(default)s)")
    bench.add_argument("--quick", action="store_true", help="small sizes, for a first look")
    bench.add_argument("--overwrite", action="store_true", help="replace results of an earlier run")
    bench.set_defaults(run=_bench)
    return parser


def _demo(options: argparse.Namespace) -> None:
    import numpy as np

    from . import pairwise_distances

    rng = np.random.default_rng(0)
    clouds = {
        "cross": np.concatenate([np.eye(2), -np.eye(2)]),
        "cross, renumbered": np.concatenate([-np.eye(2), np.eye(2)]),
        "square": np.array([[x, y] for x in (-1.0, 1.0) for y in (-1.0, 1.0)]),
        "noise": rng.normal(size=(50, 2)),
        "noise, moved": rng.normal(size=(40, 2)) + 3,
    }
    distances = pairwise_distances(list(clouds.values()))
    print("RPW2 distances between point clouds of different sizes:\n")
    for name, row in zip(clouds, distances, strict=True):
        print(f"  {name:>18} " + " ".join(f"{value:6.2f}" for value in row))


def _bench(options: argparse.Namespace) -> int:
    import json

    from .bench import transport
    from .files import write_atomic

    paths = [options.out / f"{options.what}.json", options.out / f"{options.what}.png"]
    for path in paths:
        if path.exists() and not options.overwrite:
            raise ValueError(f"{path} exists already: choose another --out or add --overwrite")
    report = transport.run(quick=options.quick)
    write_atomic(paths[0], json.dumps(report.as_dict(), indent=1, ensure_ascii=False), overwrite=True)
    write_atomic(paths[1], transport.draw(report), overwrite=True)
    print(f"written: {paths[0]}, {paths[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
