"""Options of a server with which no client stops it for others: connections, open files, and lines in its log."""

from __future__ import annotations

import logging
import resource
import time
from typing import Any

from .requests import Limits

BACKLOG = 64  # connections that wait to be accepted: asyncio accepts so many at once, before any of them is counted
_OTHER_FILES = 96  # descriptors for all else: the index, processes that read molecules, libraries
_WANTED_FILES = 4096
_KEPT_ALIVE = 5  # seconds that a connection may stay without a request
_TO_END = 10  # seconds for requests that are computed when the server is told to end
_LINES, _PERIOD = 20, 10.0  # so many lines in so many seconds
_LOGS = ("asyncio", "uvicorn.error", "graph_metric_learn.serve.app")


def server_options(limits: Limits) -> dict[str, Any]:
    """Options for `uvicorn.run`; raises the limit on open files where that is allowed, and limits what is logged."""
    from .protocol import guarded

    for name in _LOGS:
        log = logging.getLogger(name)
        if not any(isinstance(one, Sparing) for one in log.filters):
            log.addFilter(Sparing())
    return {
        "http": guarded(limits, _connections(limits)),
        "ws": "none",
        "backlog": BACKLOG,
        "log_level": "warning",
        "access_log": False,
        "timeout_keep_alive": _KEPT_ALIVE,
        "timeout_graceful_shutdown": _TO_END,
    }


def _connections(limits: Limits) -> int:
    """How many connections there may be at once, with the descriptors that this process may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _WANTED_FILES:
        soft = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(_WANTED_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    most = limits.connections if soft == resource.RLIM_INFINITY else soft - BACKLOG - _OTHER_FILES
    if most < 1:
        raise ValueError(f"{soft} open files are too few to serve: allow at least 256 (ulimit -n 256)")
    return min(limits.connections, most)


class Sparing(logging.Filter):
    """Lets a few lines through in a while; the first one after others were left out says how many.

    Parameters
    ----------
    lines : int
        How many lines in a period.
    period : float
        Its length in seconds.
    """

    def __init__(self, lines: int = _LINES, period: float = _PERIOD) -> None:
        super().__init__()
        self._lines, self._period = lines, period
        self._start, self._count = float("-inf"), 0

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now >= self._start + self._period:
            left_out, self._start, self._count = max(0, self._count - self._lines), now, 0
            if left_out:
                record.msg, record.args = f"{record.getMessage()} ({left_out} lines before were left out)", None
        self._count += 1
        return self._count <= self._lines
