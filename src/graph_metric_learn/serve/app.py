"""The HTTP side: routes, and what a request must fulfil before anything is computed.

A request must name a host that is expected, bring the token if one was set, be small, be JSON, and be done in time. One
that is not gets a status and one sentence, never a stack trace.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TextIO

from .. import __version__
from ..graphs.sources.smiles_workers import SmilesWorkers
from .monitoring import CONTENT_TYPE, Monitoring
from .openapi import description
from .requests import GRAPH_FIELDS, Batch, Limits, check_fields, read_count, read_graphs, read_ids
from .service import Service, Unavailable

try:  # an extra; FastAPI looks up the annotations of routes among these names
    from fastapi import FastAPI, Request, Response
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect
except ImportError:
    FastAPI = None
    JSONResponse = object  # type: ignore[assignment, misc]

_LOG = logging.getLogger(__name__)
LOCAL = ("localhost", "127.0.0.1", "[::1]", "::1")
_WORKERS = 2  # requests that are computed at the same time; others wait for their turn, within their time
_LONGEST_QUOTED = 60  # characters of a path in an answer
_TOO_LARGE = "a number in the request is too large"
_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
_PAGE = """graph-metric-learn

POST /predict    {"smiles": ["CCO"]} or {"graphs": [{"nodes": [{"id": 0}], "edges": []}]}
POST /neighbors  the same, and "k"; with an index also {"ids": ["ring 4"]}
POST /explain    the same, with exactly two graphs
GET  /health
GET  /metrics
"""


def make_app(
    service: Service,
    *,
    hosts: Sequence[str] = LOCAL,
    token: str | None = None,
    limits: Limits | None = None,
    access_log: TextIO | None = None,
) -> Any:
    """The application, for uvicorn or any other ASGI server; needs `pip install graph-metric-learn[serve]`.

    Parameters
    ----------
    service : Service
    hosts : sequence of str
        Names in the Host header that are answered: other names may be a page elsewhere that uses the reader's browser.
    token : str, optional
        Every request but `/health` must bring it: ``Authorization: Bearer TOKEN``, or ``?token=TOKEN`` for the page.
    limits : Limits, optional
    access_log : text file, optional
        Where a line of JSON is written for each request that was answered.
    """
    if FastAPI is None:
        raise ImportError("serving needs FastAPI: pip install graph-metric-learn[serve]")
    limits = limits or Limits()
    handlers: dict[Any, Any] = {HTTPException: _refused, RequestValidationError: _not_numbers}
    handlers |= dict.fromkeys((Unavailable, ImportError, ValueError, OverflowError), _failed)
    app = FastAPI(  # without pages that fetch scripts from elsewhere
        title="graph-metric-learn", version=__version__, docs_url=None, redoc_url=None, exception_handlers=handlers
    )
    seen = Monitoring(access_log)

    @app.middleware("http")
    async def checked(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        start = time.perf_counter()
        try:
            _check(request, hosts, token, limits)
            response = await answer(request)
        except HTTPException as error:
            response = await _refused(request, error)
        except ClientDisconnect:
            response = _Answer({"error": "the request was broken off"}, 400)
        except Exception:  # what went wrong stays here, in the log
            _LOG.exception("%s %.60r", request.method, request.url.path)
            response = _Answer({"error": "something went wrong inside"}, 500)
        response.headers.update(_HEADERS)
        _record(seen, request, response, time.perf_counter() - start)
        return response

    routes = _Routes(service, limits, seen)
    for path, method, route in (
        ("/health", "GET", routes.health),
        ("/metrics", "GET", routes.metrics),
        ("/", "GET", routes.start),
        ("/explained/{one}/{other}", "GET", routes.explained),
        ("/predict", "POST", routes.predict),
        ("/neighbors", "POST", routes.neighbors),
        ("/explain", "POST", routes.explain),
    ):
        told = description(path, limits.graphs, limits.neighbors)
        app.add_api_route(path, route, methods=[method], response_class=_Answer, **told)
    return app


class _Answer(JSONResponse):
    """JSON; characters of names that no encoding has, as of files in another one, are escaped."""

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


class _Routes:
    """What is answered at each path."""

    def __init__(self, service: Service, limits: Limits, seen: Monitoring) -> None:
        self._service, self._limits, self._seen = service, limits, seen
        page = service.page()
        self._page = None if page is None else page.encode("utf-8", "backslashreplace")
        self._waiting = 0  # requests that are computed or wait for it
        self._unread = 0  # SMILES that could not be read
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="serve")
        self._readers = SmilesWorkers(_WORKERS, memory=limits.smiles_memory, seconds=limits.smiles_seconds)

    async def health(self) -> Any:
        return self._service.health()

    async def metrics(self) -> Response:
        health = self._service.health()
        values = {
            "waiting_requests": self._waiting,
            "graphs": health["graphs"],
            "unread_smiles_total": self._unread,
            "reader_deaths_total": self._readers.deaths,
        }
        text = self._seen.text(values, version=health["version"], model=health["model"])
        return Response(text, media_type=CONTENT_TYPE)

    async def start(self) -> Response:
        return PlainTextResponse(_PAGE) if self._page is None else HTMLResponse(self._page)

    async def explained(self, one: int, other: int) -> Response:
        return await self._computed(self._service.explained, one, other)

    async def predict(self, request: Request) -> Response:
        body = await _body(request, self._limits)

        def predictions() -> dict[str, Any]:
            batch = self._read(body)
            return batch.complete(self._service.predict(batch.graphs))

        return await self._computed(predictions)

    async def neighbors(self, request: Request) -> Response:
        body = await _body(request, self._limits, (*GRAPH_FIELDS, "ids", "k"))

        def neighbors() -> dict[str, Any]:
            ids, k = read_ids(body, self._limits), read_count(body, self._limits)
            if ids is not None:
                return self._service.neighbors_of_ids(ids, k)
            batch = self._read(body)
            return batch.complete(self._service.neighbors(batch.graphs, k))

        return await self._computed(neighbors)

    async def explain(self, request: Request) -> Response:
        body = await _body(request, self._limits)
        return await self._computed(lambda: self._service.explain(self._read(body, count=2).graphs))

    def _read(self, body: Any, count: int | None = None) -> Batch:
        batch = read_graphs(body, self._limits, self._readers.read, count)
        self._unread += len(batch.errors)
        return batch

    async def _computed(self, work: Callable[..., Any], *values: Any) -> Response:
        """The answer of a function that runs in a thread, if it comes in time; who waits too long is not begun.

        What has begun cannot be stopped, but it ends: `Limits` bounds how much work a request can be.
        """
        if self._waiting >= self._limits.waiting:
            raise HTTPException(503, "too many requests are waiting: ask later")
        self._waiting += 1
        running = asyncio.get_running_loop().run_in_executor(self._workers, work, *values)
        try:
            return _Answer(await asyncio.wait_for(running, self._limits.seconds))
        except asyncio.TimeoutError:
            raise HTTPException(503, f"no answer within {self._limits.seconds:g} s: ask for less, or later") from None
        finally:
            self._waiting -= 1


def _check(request: Request, hosts: Sequence[str], token: str | None, limits: Limits) -> None:
    """What can be said of a request before its body is read."""
    _check_host(request, hosts)
    if token is not None and request.url.path != "/health":
        _check_token(request, token)
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > limits.bytes:
        raise _too_long(limits)


def _record(seen: Monitoring, request: Request, response: Response, seconds: float) -> None:
    """Counts a request and logs it."""
    route = request.scope.get("route")
    seen.add(getattr(route, "path", "other"), request.method, response.status_code, seconds)
    client, size = request.client, int(response.headers.get("content-length", 0))
    seen.log(client.host if client else "", request.method, request.url.path, response.status_code, seconds, size)


def _check_host(request: Request, hosts: Sequence[str]) -> None:
    host = request.headers.get("host", "")
    name, _, port = host.rpartition(":")
    if not port.isdigit() or host.endswith("]"):
        name = host
    if name.lower() not in hosts:
        raise HTTPException(421, "this host is not served here")


def _check_token(request: Request, token: str) -> None:
    scheme, _, brought = request.headers.get("authorization", "").partition(" ")
    brought = brought.strip() if scheme.lower() == "bearer" else ""
    ways = [request.query_params.get("token", "").encode()]
    if brought:  # as text in UTF-8, or in the encoding of headers, which is Latin-1
        ways = [brought.encode("latin-1"), brought.encode()]
    if True not in [secrets.compare_digest(way, token.encode()) for way in ways]:
        raise HTTPException(401, "the token is missing or wrong")


def _too_long(limits: Limits) -> HTTPException:
    return HTTPException(413, f"the request is larger than {limits.bytes} bytes")


async def _body(request: Request, limits: Limits, fields: Sequence[str] = GRAPH_FIELDS) -> Any:
    """The JSON of a request that is not too large and has no other fields than these."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send JSON, with the header Content-Type: application/json")
    try:
        body = json.loads(await asyncio.wait_for(_bytes(request, limits), limits.seconds))
    except asyncio.TimeoutError:
        raise HTTPException(408, f"the request did not arrive within {limits.seconds:g} s") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise HTTPException(400, "the request is not JSON") from None
    except ValueError:  # Python reads whole numbers up to a length
        raise HTTPException(422, _TOO_LARGE) from None
    check_fields(body, fields)
    return body


async def _bytes(request: Request, limits: Limits) -> bytes:
    """The body as it arrives, until it is too large."""
    read = bytearray()
    async for part in request.stream():
        read += part
        if len(read) > limits.bytes:
            raise _too_long(limits)
    return bytes(read)


async def _refused(request: Request, error: HTTPException) -> Response:
    """A status, and why: no such path, say, or not with this method; `Allow` in the headers says with which."""
    path, why = request.url.path[:_LONGEST_QUOTED], error.detail
    if error.status_code == 404:
        why = f"there is nothing at {path}"
    elif error.status_code == 405 and error.headers and "Allow" in error.headers:
        why = f"{path} does not take {request.method}: use {error.headers['Allow']}"
    return _Answer({"error": why}, error.status_code, error.headers)


async def _failed(_: Request, error: Exception) -> Response:
    """What cannot be answered now (the index is gone, molecules need RDKit), or never, by what the request holds."""
    status = 503 if isinstance(error, (Unavailable, ImportError)) else 422
    why = _TOO_LARGE if isinstance(error, OverflowError) else str(error)  # where a number of it is made a float
    return _Answer({"error": why}, status)


async def _not_numbers(_: Request, error: RequestValidationError) -> Response:
    wrong = ", ".join(str(one["loc"][-1]) for one in error.errors())
    return _Answer({"error": f"not a whole number: {wrong}"}, 422)
