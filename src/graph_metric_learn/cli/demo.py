"""`demo`: learns a metric on handwritten digits as graphs and writes an HTML report."""

from __future__ import annotations

import argparse
from pathlib import Path


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("demo-report"), help="folder for the report (%(default)s)")


def run(options: argparse.Namespace) -> None:
    from ..viz.demo import run_demo

    run_demo(options.out, overwrite=True)
