"""What a request may hold: graphs as SMILES or in node-link format, few, small, and checked before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..datasets.json_graphs import graphs_from_node_link
from ..graphs.sources.smiles import from_smiles

GRAPH_FIELDS = ("smiles", "graphs")  # of a request that brings graphs
_MOST_LISTED = 5  # unknown fields in an answer
_SKIP_HINT = " (on_error='skip' leaves such rows out)"  # how `from_smiles` ends: of use in Python alone


@dataclass(frozen=True)
class Limits:
    """How large a request may be, and how long it may take.

    Attributes
    ----------
    bytes : int
        Of the body.
    graphs : int
        In one request.
    nodes, edges : int
        Of one graph.
    all_nodes, all_edges : int
        Of all graphs of one request together: these bound how long a request is computed.
    smiles : int
        Letters of one SMILES.
    neighbors : int
        That may be asked for.
    waiting : int
        Requests that are computed or wait for their turn; more are refused at once.
    seconds : float
        After which a request is given up.
    """

    bytes: int = 2_000_000
    graphs: int = 64
    nodes: int = 2000
    edges: int = 20_000
    all_nodes: int = 10_000
    all_edges: int = 50_000
    smiles: int = 1000
    neighbors: int = 1000
    waiting: int = 100
    seconds: float = 30.0


def check_fields(body: Any, known: Sequence[str]) -> None:
    """Refuses a request with other fields than these: a misspelt one would be ignored."""
    unknown = [name for name in body if name not in known] if isinstance(body, dict) else []
    if unknown:
        listed = ", ".join(f"{name!r:.60}" for name in unknown[:_MOST_LISTED])
        more = f" and {len(unknown) - _MOST_LISTED} more" if len(unknown) > _MOST_LISTED else ""
        raise ValueError(f"unknown field {listed}{more}: known are {', '.join(map(repr, known))}")


def read_graphs(body: Any, limits: Limits, count: int | None = None) -> list[Any]:
    """Graphs of a request: ``{"smiles": ["CCO", …]}``, or ``{"graphs": [{"nodes": […], "edges": […]}, …]}``.

    Parameters
    ----------
    body : Any
        What the JSON holds.
    limits : Limits
    count : int, optional
        How many there must be.
    """
    if not isinstance(body, dict) or ("smiles" in body) == ("graphs" in body):
        raise ValueError(
            'expected a JSON object with "smiles", a list of strings, or "graphs", a list in node-link format'
        )
    key = "smiles" if "smiles" in body else "graphs"
    given = body[key]
    if not isinstance(given, list) or not given:
        raise ValueError(f'"{key}" must be a list with at least one entry')
    if len(given) > limits.graphs:
        raise ValueError(f"{len(given)} graphs in one request: at most {limits.graphs} are taken")
    if count is not None and len(given) != count:
        raise ValueError(f"{len(given)} graphs: exactly {count} are wanted")
    return _molecules(given, limits) if key == "smiles" else _node_link(given, limits)


def read_ids(body: Any, limits: Limits) -> list[str | int] | None:
    """Ids of graphs of the index, ``{"ids": ["ring 4", 17]}``; None where the request brings graphs."""
    if not isinstance(body, dict) or "ids" not in body:
        return None
    ids = body["ids"]
    if "smiles" in body or "graphs" in body:
        raise ValueError('give "ids", or graphs, not both')
    if not isinstance(ids, list) or not 1 <= len(ids) <= limits.graphs:
        raise ValueError(f'"ids" must be a list of 1 to {limits.graphs} ids')
    for one in ids:
        if isinstance(one, bool) or not isinstance(one, (str, int)):
            raise ValueError(f"an id is a string or a whole number, got {one!r:.60}")  # noqa: TRY004
    return ids


def read_count(body: Any, limits: Limits, default: int = 10) -> int:
    """How many neighbours are asked for: "k"."""
    k = body.get("k", default) if isinstance(body, dict) else default
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= limits.neighbors:
        raise ValueError(f'"k" must be a whole number from 1 to {limits.neighbors}, got {k!r:.60}')
    return k


def _molecules(given: Sequence[Any], limits: Limits) -> list[Any]:
    for i, text in enumerate(given):
        if not isinstance(text, str):
            raise ValueError(f"row {i} is a {type(text).__name__}, expected a SMILES string")  # noqa: TRY004
        if len(text) > limits.smiles:
            raise ValueError(f"row {i} has {len(text)} letters: a SMILES may have {limits.smiles}")
    try:
        graphs = list(from_smiles(given))
    except ValueError as error:
        raise ValueError(str(error).removesuffix(_SKIP_HINT)) from None
    _check_sizes([(int(graph.num_nodes), int(graph.edge_index.shape[1]) // 2) for graph in graphs], limits)
    return graphs


def _node_link(given: Sequence[Any], limits: Limits) -> list[Any]:
    sizes = []
    for i, graph in enumerate(given):
        if not isinstance(graph, dict):  # bad input is a ValueError throughout
            what = type(graph).__name__
            raise ValueError(f'graph {i} is a {what}, expected an object with "nodes" and "edges"')  # noqa: TRY004
        nodes, edges = graph.get("nodes"), graph.get("links", graph.get("edges"))
        if not isinstance(nodes, list) or not isinstance(edges, list):
            raise ValueError(f'graph {i} needs "nodes" and "edges", both lists')  # noqa: TRY004
        if not all(isinstance(one, dict) for one in [*nodes, *edges]):
            raise ValueError(f"graph {i} has a node or an edge that is not an object")
        for j, edge in enumerate(edges):
            for end in ("source", "target"):
                if end not in edge:
                    raise ValueError(f"edge {j} of graph {i} has no {end}")
        sizes.append((len(nodes), len(edges)))
    _check_sizes(sizes, limits)
    return graphs_from_node_link(given, [f"graph {i}" for i in range(len(given))])


def _check_sizes(sizes: Sequence[tuple[int, int]], limits: Limits) -> None:
    """Refuses graphs of too many nodes or edges, each of them or all together."""
    for place, what, most, most_of_all in (
        (0, "nodes", limits.nodes, limits.all_nodes), (1, "edges", limits.edges, limits.all_edges),
    ):  # fmt: skip
        for i, size in enumerate(sizes):
            if size[place] > most:
                raise ValueError(f"graph {i} has {size[place]} {what}: at most {most} are taken")
        total = sum(size[place] for size in sizes)
        if total > most_of_all:
            raise ValueError(f"the graphs have {total} {what} together: at most {most_of_all} are taken in one request")
