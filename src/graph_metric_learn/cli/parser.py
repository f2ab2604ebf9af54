"""The commands by name, and the parser of their options.

Thin: commands parse, call, print. Nothing heavy is imported before a command runs, so that --help answers at once.
"""

from __future__ import annotations

import argparse
import importlib
from contextlib import suppress
from importlib.metadata import entry_points
from typing import Any

from .. import __version__

# What each command does, in the order of --help. A command is the module of its name, with `options` and `run`.
COMMANDS = {
    "demo": "learn a metric on handwritten digits as graphs and write an HTML report",
    "fit": "learn a metric and a predictor of classes or numbers from graphs, and save them",
    "predict": "predict classes or numbers of graphs with a saved model, to CSV or JSON",
    "embed": "vectors of graphs by a saved model, to .npy or .parquet, for other programs",
    "info": "say what a saved model is: its settings, what was chosen, its size",
    "index": "write an index of many graphs by a saved model, or add graphs to one",
    "neighbors": "the nearest graphs in an index, or among a model's reference graphs, to CSV or JSON",
    "explore": "write a page to look at graphs through a saved model: a map, neighbours, and why they are near",
    "explain": "why two graphs are near or far by a saved model: shares of terms, nodes and edges",
    "serve": "answer requests for predictions, neighbours and explanations over HTTP, and show the explorer",
    "distances": "distances between graphs by a saved model, to .npy or .csv",
    "warm-up": "compile all loops now instead of at their first use, for images and after an installation",
}
# The same of commands that other distributions bring.
ELSEWHERE = {
    "reproduce": "run the paper's experiments, resumably, and print its tables",
    "bench": "measure speed and memory against their targets",
}
_DISTRIBUTIONS = {
    "reproduce": "graph-metric-learn-reproduction (in a checkout: pip install ./reproduction)",
    "bench": "graph-metric-learn-benchmarks (in a checkout: pip install ./reproduction ./benchmarks)",
}
_QUIET = "no progress bars: nothing on stderr but warnings and errors"


def command_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; `run` of what it returns is the function of the command."""
    parser = argparse.ArgumentParser(
        prog="graph-metric-learn", description="Learn a distance between attributed graphs."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("--quiet", action="store_true", help=_QUIET)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, text in (COMMANDS | ELSEWHERE).items():
        module = _module_of(name)
        if module is None:
            # Without a character that begins options, any arguments are taken: what is said does not depend on them.
            command = commands.add_parser(name, help=text, add_help=False, prefix_chars="\0")
            command.add_argument("arguments", nargs="*")
            command.set_defaults(run=_say_what_to_install)
            continue
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.set_defaults(run=module.run)
        module.options(command)
        # --quiet may stand before the command or behind it: without a default, the second does not undo the first.
        command.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help=_QUIET)
    return parser


def _module_of(command: str) -> Any:
    """The module of a command; None where its distribution is not installed, or its files are gone."""
    if command in COMMANDS:
        return importlib.import_module(f"{__package__}.{command.replace('-', '_')}")
    for point in entry_points(group="graph_metric_learn.commands", name=command):
        with suppress(ImportError):
            return point.load()
    return None


def _say_what_to_install(options: argparse.Namespace) -> None:
    raise ImportError(f"this command comes with another distribution: install {_DISTRIBUTIONS[options.command]}")
