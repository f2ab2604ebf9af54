"""`warm-up`: compiles all loops ahead of their first use."""

from __future__ import annotations

import argparse


def options(parser: argparse.ArgumentParser) -> None:
    """It has none; NUMBA_CACHE_DIR says where compiled loops are kept."""


def run(options: argparse.Namespace) -> None:
    from ..warming import warm_up

    print(f"compiled, or found compiled, in {warm_up():.1f} s")
