"""What `/openapi.json` says of each route: what it takes, what it answers and why it refuses."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_REFUSED = {
    400: "The request is not JSON.",
    401: "The token is missing or wrong.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The header Content-Type is not application/json.",
    421: "The Host header names another host.",
    422: "Fields, graphs or numbers of the request cannot be used.",
    500: "Something went wrong inside.",
    503: "No answer in time, too many requests, or an index that cannot be read.",
}
_OF_BODIES = (400, 408, 413, 415)  # statuses of requests that bring one
_GRAPH = {
    "type": "object",
    "description": "A graph in the node-link format of NetworkX",
    "required": ["nodes", "edges"],
    "properties": {
        "directed": {"type": "boolean"},
        "multigraph": {"type": "boolean"},
        "graph": {"type": "object"},
        "nodes": {"type": "array", "items": {"type": "object", "required": ["id"]}, "minItems": 1},
        "edges": {"type": "array", "items": {"type": "object", "required": ["source", "target"]}},
    },
}
_ERRORS = {
    "type": "array",
    "description": "SMILES that cannot be read, whose answers are null; missing where there are none",
    "items": {
        "type": "object",
        "required": ["row", "error"],
        "properties": {"row": {"type": "integer"}, "error": _TEXT},
    },
}


def description(path: str, most: int, neighbors: int) -> dict[str, Any]:
    """`responses` and `openapi_extra` of a route; at most so many graphs in a request, and neighbours of each."""
    told: dict[str, Any] = {"summary": _SUMMARIES[path], "responses": _responses(path)}
    if path in _FIELDS:
        ways = [_body(field, own, path, most, neighbors) for field, own in _FIELDS[path].items()]
        content = {"application/json": {"schema": {"oneOf": ways}}}
        told["openapi_extra"] = {"requestBody": {"required": True, "content": content}}
    return told


def _body(field: str, entry: Schema, path: str, most: int, neighbors: int) -> Schema:
    """A body that brings graphs in one of the fields."""
    least, most = (2, 2) if path == "/explain" else (1, most)
    properties: Schema = {field: {"type": "array", "items": entry, "minItems": least, "maxItems": most}}
    if path == "/neighbors":
        properties["k"] = {"type": "integer", "minimum": 1, "maximum": neighbors, "default": 10}
    return {"type": "object", "required": [field], "properties": properties, "additionalProperties": False}


def _responses(path: str) -> dict[int | str, dict[str, Any]]:
    refused = {"type": "object", "required": ["error"], "properties": {"error": _TEXT}}
    left_out = () if path in _FIELDS else _OF_BODIES if path == "/explained/{one}/{other}" else (*_OF_BODIES, 422)
    kind, answer = _ANSWERS[path]
    responses: dict[int | str, dict[str, Any]] = {
        200: {"description": "The answer.", "content": {kind: {"schema": answer}}}
    }
    for status, why in _REFUSED.items():
        if status not in left_out:
            responses[status] = {"description": why, "content": {"application/json": {"schema": refused}}}
    return responses


def _lists(entry: Schema) -> Schema:
    """A list for each entry of a request, or null."""
    return {"type": "array", "items": {"type": ["array", "null"], "items": entry}}


def _answer(required: list[str], **properties: Schema) -> Schema:
    return {"type": "object", "required": required, "properties": properties}


_SUMMARIES = {
    "/": "The explorer page",
    "/health": "That it is there, and what it is",
    "/metrics": "Numbers for Prometheus",
    "/predict": "Classes or numbers of graphs",
    "/neighbors": "The nearest graphs",
    "/explain": "Why two graphs are near or far",
    "/explained/{one}/{other}": "The explanation of two graphs of the page",
}
_MOLECULES_AND_GRAPHS: Schema = {"smiles": _TEXT, "graphs": _GRAPH}
_ID: Schema = {"type": ["string", "integer"]}
_FIELDS: dict[str, Schema] = {
    "/predict": _MOLECULES_AND_GRAPHS,
    "/neighbors": {**_MOLECULES_AND_GRAPHS, "ids": _ID},
    "/explain": _MOLECULES_AND_GRAPHS,
}
_CHANCES = {"type": ["object", "null"], "additionalProperties": _NUMBER}
_ANSWERS: dict[str, tuple[str, Schema]] = {
    "/": ("text/html", _TEXT),
    "/health": (
        "application/json",
        _answer(["status", "version", "model", "graphs"], status=_TEXT, version=_TEXT, model=_TEXT,
                graphs={"type": "integer"}),
    ),
    "/metrics": ("text/plain", _TEXT),
    "/predict": (
        "application/json",
        _answer(["predictions"], predictions={"type": "array"}, probabilities={"type": "array", "items": _CHANCES},
                errors=_ERRORS),
    ),
    "/neighbors": (
        "application/json",
        _answer(["ids", "distances"], ids=_lists(_ID), distances=_lists(_NUMBER),
                metadata=_lists({"type": ["object", "null"]}), errors=_ERRORS),
    ),
    "/explain": (
        "application/json",
        _answer(["graphs", "distance", "terms", "blocks", "nodes", "matches"], distance=_NUMBER),
    ),
    "/explained/{one}/{other}": ("application/json", _answer(["record", "terms"], record=_TEXT)),
}  # fmt: skip
