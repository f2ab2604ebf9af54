"""The HTTP side: routes, and what a request must fulfil before anything is computed.

A request must name a host that is expected, bring the token if one was set, be small, be JSON, and be done in time. One
that is not gets a status and one sentence, never a stack trace.
"""

# No postponed annotations: FastAPI reads those of the routes, and `Request` is known where they are written only.
import asyncio
import json
import logging
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .requests import GRAPH_FIELDS, Limits, check_fields, read_count, read_graphs, read_ids
from .service import Service, Unavailable

_LOG = logging.getLogger(__name__)
LOCAL = ("localhost", "127.0.0.1", "[::1]", "::1")
_WORKERS = 2  # requests that are computed at the same time; others wait for their turn, within their time
_LONGEST_QUOTED = 60  # letters of a path in an answer
_TOO_LARGE = "a number in the request is too large"
_PAGE = """graph-metric-learn

POST /predict    {"smiles": ["CCO"]} or {"graphs": [{"nodes": [{"id": 0}], "edges": []}]}
POST /neighbors  the same, and "k"; with an index also {"ids": ["ring 4"]}
POST /explain    the same, with exactly two graphs
GET  /health
"""


class Refused(Exception):
    """A request that is not answered: the status, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


def make_app(
    service: Service, *, hosts: Sequence[str] = LOCAL, token: str | None = None, limits: Limits | None = None
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
    """
    try:
        from fastapi import FastAPI, Request
        from fastapi.exceptions import RequestValidationError
        from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
        from starlette.exceptions import HTTPException
    except ImportError:
        raise ImportError("serving needs FastAPI: pip install graph-metric-learn[serve]") from None
    bounds = limits or Limits()
    page = service.page()
    asked = 0  # requests that are computed or wait for it
    workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="serve")
    app = FastAPI(title="graph-metric-learn", docs_url=None, redoc_url=None)  # their pages fetch scripts from elsewhere

    async def bytes_of(request: Any) -> bytes:
        read = b""
        async for part in request.stream():
            read += part
            if len(read) > bounds.bytes:
                raise Refused(413, f"the request is larger than {bounds.bytes} bytes")
        return read

    async def body_of(request: Any, known: Sequence[str] = GRAPH_FIELDS) -> Any:
        """The JSON of a request that is not too large and has no other fields than `known`."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "send JSON, with the header Content-Type: application/json")
        try:
            body = json.loads(await asyncio.wait_for(bytes_of(request), bounds.seconds))
        except asyncio.TimeoutError:
            raise Refused(408, f"the request did not arrive within {bounds.seconds:g} s") from None
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
            raise Refused(400, "the request is not JSON") from None
        except ValueError:  # Python reads whole numbers up to a length
            raise Refused(422, _TOO_LARGE) from None
        try:
            check_fields(body, known)
        except ValueError as error:
            raise Refused(422, str(error)) from None
        return body

    async def computed(work: Callable[..., Any], *values: Any) -> Any:
        """The answer of a function that runs in a thread, if it comes in time; who waits too long is not begun.

        What has begun cannot be stopped, but it ends: `Limits` bounds how much work a request can be.
        """
        nonlocal asked
        if asked >= bounds.waiting:
            raise Refused(503, "too many requests are waiting: ask later")
        asked += 1
        running = asyncio.get_running_loop().run_in_executor(workers, work, *values)
        try:
            return JSONResponse(await asyncio.wait_for(running, bounds.seconds))
        except asyncio.TimeoutError:
            raise Refused(503, f"no answer within {bounds.seconds:g} s: ask for less, or later") from None
        except (Unavailable, ImportError) as error:  # molecules need RDKit
            raise Refused(503, str(error)) from None
        except ValueError as error:
            raise Refused(422, str(error)) from None
        except OverflowError:  # where a number of the request is made a float
            raise Refused(422, _TOO_LARGE) from None
        finally:
            asked -= 1

    @app.middleware("http")
    async def checked(request: Request, answer: Any) -> Any:
        try:
            host = request.headers.get("host", "")
            name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host
            if name.lower() not in hosts:
                raise Refused(421, "this host is not served here")
            if token is not None and request.url.path != "/health":
                given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
                given = given or request.query_params.get("token", "")
                if not secrets.compare_digest(given.encode(), token.encode()):
                    raise Refused(401, "the token is missing or wrong")
            if int(request.headers.get("content-length") or 0) > bounds.bytes:
                raise Refused(413, f"the request is larger than {bounds.bytes} bytes")
            response = await answer(request)
        except Refused as refused:
            response = JSONResponse({"error": refused.why}, refused.status)
        except Exception:  # what went wrong stays here, in the log
            _LOG.exception("%s %s", request.method, request.url.path)
            response = JSONResponse({"error": "something went wrong inside"}, 500)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        return response

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Any:
        return JSONResponse({"error": error.why}, error.status)

    @app.exception_handler(HTTPException)
    async def not_routed(request: Request, error: HTTPException) -> Any:
        """No such path, or not with this method; `Allow` in the headers says with which."""
        path, allowed = request.url.path[:_LONGEST_QUOTED], (error.headers or {}).get("Allow")
        why = str(error.detail)
        if error.status_code == 404:
            why = f"there is nothing at {path}"
        elif error.status_code == 405 and allowed:
            why = f"{path} does not take {request.method}: use {allowed}"
        return JSONResponse({"error": why}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def not_numbers(_: Request, error: RequestValidationError) -> Any:
        wrong = ", ".join(str(one["loc"][-1]) for one in error.errors())
        return JSONResponse({"error": f"not a whole number: {wrong}"}, 422)

    @app.get("/health")
    async def health() -> Any:
        try:
            return service.health()
        except Unavailable as error:
            raise Refused(503, str(error)) from None

    @app.get("/")
    async def start() -> Any:
        return PlainTextResponse(_PAGE) if page is None else HTMLResponse(page)

    @app.get("/explained/{one}/{other}")
    async def explained(one: int, other: int) -> Any:
        return await computed(service.explained, one, other)

    @app.post("/predict")
    async def predict(request: Request) -> Any:
        body = await body_of(request)
        return await computed(lambda: service.predict(read_graphs(body, bounds)))

    @app.post("/neighbors")
    async def neighbors(request: Request) -> Any:
        body = await body_of(request, (*GRAPH_FIELDS, "ids", "k"))

        def found() -> Any:
            ids, k = read_ids(body, bounds), read_count(body, bounds)
            return service.neighbors(read_graphs(body, bounds), k) if ids is None else service.neighbors_of_ids(ids, k)

        return await computed(found)

    @app.post("/explain")
    async def explain(request: Request) -> Any:
        body = await body_of(request)
        return await computed(lambda: service.explain(read_graphs(body, bounds, count=2)))

    return app
