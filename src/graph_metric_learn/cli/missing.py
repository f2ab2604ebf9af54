"""Commands of distributions that are not installed: says what to install."""

from __future__ import annotations

import argparse

_DISTRIBUTIONS = {
    "reproduce": "graph-metric-learn-reproduction (in a checkout: pip install ./reproduction)",
    "bench": "graph-metric-learn-benchmarks (in a checkout: pip install ./reproduction ./benchmarks)",
}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("anything", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> None:
    raise ImportError(f"this command comes with another distribution: install {_DISTRIBUTIONS[options.command]}")
