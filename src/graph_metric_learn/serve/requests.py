"""What a request may hold: graphs as SMILES or in node-link format, few, small, and checked before they are used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._core.validation import first_few
from ..datasets.json_graphs import graphs_from_node_link

GRAPH_FIELDS = ("smiles", "graphs")  # of a request that brings graphs
_MOST_LISTED = 5  # unknown fields in an answer
_SKIP_HINT = " (on_error='skip' leaves such rows out)"  # how `from_smiles` ends: of use in Python alone


@dataclass(frozen=True)
class Limits:
    """How large a request may be, and how long it may take."""

    bytes: int = 2_000_000  # of the body
    graphs: int = 64  # in one request
    nodes: int = 2000  # of one graph
    edges: int = 20_000  # of one graph
    all_nodes: int = 10_000  # of all graphs of a request together: this and the next bound how long it is computed
    all_edges: int = 50_000
    smiles: int = 1000  # characters of one SMILES
    smiles_seconds: int = 2  # of a CPU, to read one SMILES
    smiles_memory: int = 512 << 20  # bytes, to read SMILES
    neighbors: int = 1000  # that may be asked for
    waiting: int = 100  # requests that are computed or wait for their turn; more are refused at once
    seconds: float = 30.0  # after which a request is given up
    connections: int = 512  # at once
    header_seconds: float = 10.0  # until the headers of a request must be there


@dataclass(frozen=True)
class Batch:
    """Graphs of a request, and what is wrong with those entries that are none."""

    graphs: list[Any]
    errors: dict[int, str] = field(default_factory=dict)  # by entry of the request, from 0

    def complete(self, answer: dict[str, list[Any]]) -> dict[str, Any]:
        """An answer for each graph as an answer for each entry: null, and an error, where it is no graph.

        >>> Batch(["ring"], {1: "row 1 is not a valid SMILES"}).complete({"predictions": [7]})
        {'predictions': [7, None], 'errors': [{'row': 1, 'error': 'row 1 is not a valid SMILES'}]}
        """
        if not self.errors:
            return answer
        entries = range(len(self.graphs) + len(self.errors))
        spread: dict[str, Any] = {}
        for key, values in answer.items():
            left = iter(values)
            spread[key] = [None if entry in self.errors else next(left) for entry in entries]
        return spread | {"errors": [{"row": entry, "error": why} for entry, why in sorted(self.errors.items())]}


Reader = Callable[[list[str], float], list[Any]]  # SMILES to graphs, or to what is wrong with them, in so many seconds


def check_fields(body: Any, fields: Sequence[str]) -> None:
    """Refuses a request with other fields than these: a misspelt one would be ignored."""
    unknown = [name for name in body if name not in fields] if isinstance(body, dict) else []
    if unknown:
        listed = first_few([f"{name!r:.60}" for name in unknown], _MOST_LISTED)
        raise ValueError(f"unknown field {listed}: known are {', '.join(map(repr, fields))}")


def read_graphs(body: Any, limits: Limits, reader: Reader, count: int | None = None) -> Batch:
    """Graphs of a request: ``{"smiles": ["CCO", …]}``, or ``{"graphs": [{"nodes": […], "edges": […]}, …]}``.

    `body` is what the JSON holds, `reader` reads SMILES. There must be `count` graphs, if that is said, and all of them
    good then; else SMILES that cannot be read are errors of the batch, unless all of them are.
    """
    if not isinstance(body, dict) or ("smiles" in body) == ("graphs" in body):
        raise ValueError(
            'expected a JSON object with "smiles", a list of strings, or "graphs", a list in node-link format'
        )
    key = "smiles" if "smiles" in body else "graphs"
    entries = body[key]
    if not isinstance(entries, list) or not entries:
        raise ValueError(f'"{key}" must be a list with at least one entry')
    if len(entries) > limits.graphs:
        raise ValueError(f"{len(entries)} graphs in one request: at most {limits.graphs} are taken")
    if count is not None and len(entries) != count:
        raise ValueError(f"{len(entries)} graphs: exactly {count} are wanted")
    if key == "graphs":
        return Batch(_node_link(entries, limits))
    batch = _molecules(entries, limits, reader)
    if batch.errors and (count is not None or not batch.graphs):
        raise ValueError(batch.errors[min(batch.errors)])
    return batch


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


def _molecules(smiles: list[Any], limits: Limits, reader: Reader) -> Batch:
    errors = {}
    for i, text in enumerate(smiles):
        if not isinstance(text, str):
            raise ValueError(f"row {i} is a {type(text).__name__}, expected a SMILES string")  # noqa: TRY004
        if len(text) > limits.smiles:
            errors[i] = f"row {i} has {len(text)} characters: a SMILES may have {limits.smiles}"
    graphs = []
    for i, graph in enumerate(reader(["" if i in errors else text for i, text in enumerate(smiles)], limits.seconds)):
        if isinstance(graph, str):
            errors.setdefault(i, graph.removesuffix(_SKIP_HINT))
        else:
            graphs.append(graph)
    _check_sizes("nodes", [int(graph.num_nodes) for graph in graphs], limits.nodes, limits.all_nodes)
    _check_sizes("edges", [int(graph.edge_index.shape[1]) // 2 for graph in graphs], limits.edges, limits.all_edges)
    return Batch(graphs, errors)


def _node_link(graphs: list[Any], limits: Limits) -> list[Any]:
    nodes, edges = zip(*(_nodes_and_edges(i, graph) for i, graph in enumerate(graphs)), strict=True)
    _check_sizes("nodes", [len(part) for part in nodes], limits.nodes, limits.all_nodes)
    _check_sizes("edges", [len(part) for part in edges], limits.edges, limits.all_edges)
    return graphs_from_node_link(graphs, [f"graph {i}" for i in range(len(graphs))])


def _nodes_and_edges(number: int, graph: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The two lists of a graph in node-link format."""
    if not isinstance(graph, dict):  # bad input is a ValueError throughout
        kind = type(graph).__name__
        raise ValueError(f'graph {number} is a {kind}, expected an object with "nodes" and "edges"')  # noqa: TRY004
    nodes, edges = graph.get("nodes"), graph.get("links", graph.get("edges"))
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise ValueError(f'graph {number} needs "nodes" and "edges", both lists')  # noqa: TRY004
    if not all(isinstance(one, dict) for one in [*nodes, *edges]):
        raise ValueError(f"graph {number} has a node or an edge that is not an object")
    for j, edge in enumerate(edges):
        for end in ("source", "target"):
            if end not in edge:
                raise ValueError(f"edge {j} of graph {number} has no {end}")
    return nodes, edges


def _check_sizes(what: str, sizes: list[int], most: int, most_together: int) -> None:
    """Refuses graphs of too many nodes or edges, each of them or all together."""
    for i, size in enumerate(sizes):
        if size > most:
            raise ValueError(f"graph {i} has {size} {what}: at most {most} are taken")
    if sum(sizes) > most_together:
        raise ValueError(
            f"the graphs have {sum(sizes)} {what} together: at most {most_together} are taken in one request"
        )
