"""`explain`: why two graphs are near or far by a saved model."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from . import shared_options as shared

_N_NODES = 5  # of each graph that are listed


def options(parser: argparse.ArgumentParser) -> None:
    shared.model_options(parser)
    parser.add_argument("one", metavar="A", help="name of a graph, as `predict` lists it, or its number among them")
    parser.add_argument("other", metavar="B", help="the other graph")
    parser.add_argument("--picture", type=Path, help="also draw it, to a .png, .svg or .pdf")
    shared.format_option(parser, ("table", "json"), "table: a few lines; json: one JSON object with all shares")
    shared.overwrite_option(parser, "an earlier picture")
    shared.source_options(parser)


def run(options: argparse.Namespace) -> None:
    if options.picture:
        shared.check_new(options.picture, options.overwrite)
    model = shared.load_model(options)
    metric = getattr(model, "metric_", model)
    names, graphs, _ = shared.read_source(options, options.source)
    one, other = (_index_of(wanted, names, options.source) for wanted in (options.one, options.other))
    explanation = metric.explain(graphs[one], graphs[other])
    if options.format == "json":
        print(json.dumps({**explanation.as_dict(), "graphs": [names[one], names[other]]}, ensure_ascii=False))
    else:
        print(f"{names[one]} and {names[other]}: distance {explanation.distance:.4g}")
        for name, share in (explanation.term_share or {}).items():
            print(f"{100 * share:6.1f} %  {name}")
        shares_of_nodes = (explanation.source_share, explanation.target_share)
        for i, nodes, shares in zip((one, other), explanation.node_names, shares_of_nodes, strict=True):
            heaviest = shares.argsort()[::-1][:_N_NODES]
            print(f"{names[i]}: " + ", ".join(f"{nodes[j]} {100 * shares[j]:.1f} %" for j in heaviest))
    if options.picture:
        options.picture.parent.mkdir(parents=True, exist_ok=True)
        explanation.plot().figure.savefig(options.picture, dpi=150)


def _index_of(wanted: str, names: list[str], source: str) -> int:
    """The index of the graph of this name, or else of this number."""
    if names.count(wanted) > 1:
        raise ValueError(f"{source} has {names.count(wanted)} graphs called {wanted!r}: give its number instead")
    if wanted in names:
        return names.index(wanted)
    own_numbers = all(name.isdecimal() for name in names)  # of TU files: a number that is not there was left out
    if wanted.isdecimal() and int(wanted) < len(names) and not own_numbers:
        return int(wanted)
    raise ValueError(f"{source} has no graph {wanted!r}: it has {len(names)} graphs, the first is {names[0]!r}")
