"""`serve`: a saved model over HTTP."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from .sources import SOURCE, read_source, source_options

_TOKEN = "GRAPH_METRIC_LEARN_TOKEN"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="model folder")
    parser.add_argument("index", type=Path, nargs="?", help="folder of an index to search (the model's own graphs)")
    parser.add_argument("--source", help=f"graphs for the explorer page, at most 5000 (the index): {SOURCE}")
    parser.add_argument("--labels", type=Path, help="CSV with the classes of a folder of graph files: graph,label")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (%(default)s: this computer alone)")
    parser.add_argument("--port", type=int, default=8000, help="(%(default)s)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="name that requests may call this server by, beside localhost; may be given several times",
    )  # fmt: skip
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds that a request may take (%(default)s)")
    parser.add_argument("--max-graphs", type=int, default=64, help="graphs in one request (%(default)s)")
    source_options(parser, target=True)
    parser.epilog = f"Set the environment variable {_TOKEN} to ask every request for a token."


def run(options: argparse.Namespace) -> None:
    try:
        import uvicorn
    except ImportError:
        raise ValueError("serving needs FastAPI and uvicorn: pip install graph-metric-learn[serve]") from None
    app, notes = application(options)
    for note in notes:
        print(note, flush=True)
    uvicorn.run(app, host=options.host, port=options.port, log_level="warning", timeout_keep_alive=5)


def application(options: argparse.Namespace) -> tuple[Any, list[str]]:
    """What is to be served, and what to say about it."""
    from ..neighbors import load
    from ..report.serve.app import LOCAL, make_app
    from ..report.serve.requests import Limits
    from ..report.serve.service import Service

    model = load(options.model)
    index = None
    if options.index is not None:
        from ..index import GraphIndex

        index = GraphIndex.load(options.index, read_only=True)
    names = graphs = y = None
    if options.source:
        names, graphs, y = read_source(options, options.source, options.labels)
    service = Service(model, index, graphs, y, names, title=Path(options.source).name if options.source else "")
    token = os.environ.get(_TOKEN) or None
    hosts = [*LOCAL, options.host.lower(), *(name.lower() for name in options.allow_host)]
    limits = Limits(seconds=options.timeout, graphs=options.max_graphs)
    notes = [f"serving {options.model} at http://{options.host}:{options.port}/"]
    if options.host not in LOCAL and token is None:
        notes.append(f"anyone who reaches this address can ask: set {_TOKEN} to ask for a token")
    return make_app(service, hosts=hosts, token=token, limits=limits), notes
