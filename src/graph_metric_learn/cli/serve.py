"""`serve`: a saved model over HTTP."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from .shared_options import SOURCE, read_source, source_options

if TYPE_CHECKING:
    from ..serve import Limits

_TOKEN = "GRAPH_METRIC_LEARN_TOKEN"
_LARGEST_PORT = 65535


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="model folder")
    parser.add_argument("index", type=Path, nargs="?", help="folder of an index to search (the model's own graphs)")
    parser.add_argument("--source", help=f"graphs for the explorer page, at most 5000 (the index): {SOURCE}")
    parser.add_argument("--labels", type=Path, help="CSV with the classes of a folder of graph files: graph,label")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (%(default)s: this computer alone)")
    parser.add_argument("--port", type=int, default=8000, help="(%(default)s); 0 takes a free one")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="name that requests may call this server by, beside localhost; may be given several times",
    )  # fmt: skip
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds that a request may take (%(default)s)")
    parser.add_argument("--max-graphs", type=int, default=64, help="graphs in one request (%(default)s)")
    parser.add_argument(
        "--max-connections", type=int, default=512,
        help="connections at a time, as far as the limit on open files allows (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--access-log", type=Path, metavar="FILE", help="append a line of JSON for each request; - is standard output"
    )
    source_options(parser, target=True)
    parser.epilog = f"Set the environment variable {_TOKEN} to ask every request for a token."


def run(options: argparse.Namespace) -> None:
    try:
        import uvicorn
    except ImportError:
        raise ValueError("serving needs FastAPI and uvicorn: pip install graph-metric-learn[serve]") from None
    if not 0 <= options.port <= _LARGEST_PORT:
        raise ValueError(f"--port must be from 0 to {_LARGEST_PORT}, got {options.port}")
    if options.max_connections < 1:
        raise ValueError(f"--max-connections must be at least 1, got {options.max_connections}")
    from ..serve.connections import BACKLOG, server_options

    with _bound(options.host, options.port) as listener, _opened(options.access_log) as log:
        app, notes = application(options, log)
        port = listener.getsockname()[1]
        try:
            listener.listen(BACKLOG)
        except OSError as error:  # another one has been bound to the same port, and was first to listen
            raise _no_address(options.host, port, error) from None
        host = f"[{options.host}]" if ":" in options.host else options.host
        for note in (f"serving {options.model} at http://{host}:{port}/", *notes):
            print(note, flush=True)
        uvicorn.run(app, fd=listener.fileno(), **server_options(_limits(options)))


def _opened(path: Path | None) -> AbstractContextManager[TextIO | None]:
    """The access log, to be written to at its end."""
    if path is None:
        return nullcontext()
    if str(path) == "-":
        return nullcontext(sys.stdout)
    try:
        return path.open("a", encoding="utf-8")
    except OSError as error:
        raise ValueError(f"cannot write to {path}: {error.strerror}") from None


def _limits(options: argparse.Namespace) -> Limits:
    from ..serve import Limits

    return Limits(seconds=options.timeout, graphs=options.max_graphs, connections=options.max_connections)


def _bound(host: str, port: int) -> socket.socket:
    """A socket at this address, which does not listen yet: a port that is used is found before anything is loaded.

    Of several addresses of a name, the first of IPv4.
    """
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = min(addresses, key=lambda entry: entry[0] != socket.AF_INET)
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise _no_address(host, port, error) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that was left a moment ago
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # also of connections: answers go at once
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise _no_address(host, port, error) from None
    return listener


def _no_address(host: str, port: int, error: Exception) -> ValueError:
    return ValueError(f"cannot listen at {host}:{port}: {getattr(error, 'strerror', None) or error}")


def application(options: argparse.Namespace, access_log: TextIO | None = None) -> tuple[Any, list[str]]:
    """What is to be served, and what to warn of."""
    from ..index import GraphIndex
    from ..predictors import load
    from ..serve import Service, make_app
    from ..serve.app import LOCAL

    model = load(options.model)
    index = None if options.index is None else GraphIndex.load(options.index, read_only=True)
    shown = read_source(options, options.source, options.labels) if options.source else (None, None, None)
    names, graphs, y = shown
    service = Service(model, index, graphs, y, names, title=Path(options.source).name if options.source else "")
    token = os.environ.get(_TOKEN) or None
    hosts = [*LOCAL, options.host.lower(), *(name.lower() for name in options.allow_host)]
    warning = f"anyone who reaches this address can ask: set {_TOKEN} to ask for a token"
    notes = [warning] if options.host not in LOCAL and token is None else []
    app = make_app(service, hosts=hosts, token=token, limits=_limits(options), access_log=access_log)
    return app, notes
