"""What a server says of itself: numbers for Prometheus, and a line of JSON for each request."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, TextIO

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "graph_metric_learn"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds of the histogram
_METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH")
_LONGEST_PATH = 200  # characters of a path in the log


class Monitoring:
    """Counts requests by path, method and status, and how long they took.

    Parameters
    ----------
    log : text file, optional
        Where a line of JSON is written for each request.

    Examples
    --------
    >>> seen = Monitoring()
    >>> seen.add("/predict", "POST", 200, 0.02)
    >>> print(seen.text({}).splitlines()[2])
    graph_metric_learn_requests_total{path="/predict",method="POST",status="200"} 1
    """

    def __init__(self, log: TextIO | None = None) -> None:
        self._log, self._lock = log, threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: Counter[str] = Counter()  # in all, by path
        self._within: Counter[tuple[str, float]] = Counter()  # requests by path and the smallest bound above

    def add(self, path: str, method: str, status: int, seconds: float) -> None:
        """Counts a request; `path` is that of a route, of which there are few."""
        with self._lock:
            self._requests[path, method if method in _METHODS else "other", status] += 1
            self._seconds[path] += seconds  # type: ignore[assignment]
            self._within[path, next((bound for bound in _BOUNDS if seconds <= bound), float("inf"))] += 1

    def log(self, client: str, method: str, path: str, status: int, seconds: float, size: int) -> None:
        """Writes the line of a request; a token in its query is no part of the path."""
        if self._log is None:
            return
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": now, "client": client, "method": method[:20], "path": path[:_LONGEST_PATH]}
        line |= {"status": status, "seconds": round(seconds, 6), "bytes": size}
        with self._lock:
            print(json.dumps(line), file=self._log, flush=True)

    def text(self, values: Mapping[str, float], **info: str) -> str:
        """All numbers in the format of Prometheus: these and other `values`; `info` are labels of what is served."""
        lines = []
        with self._lock:
            lines += _head("requests_total", "counter", "Requests that were answered.")
            for (path, method, status), count in sorted(self._requests.items()):
                lines.append(_line("requests_total", count, path=path, method=method, status=str(status)))
            lines += _head("request_seconds", "histogram", "Time from a request to its answer.")
            for path in sorted(self._seconds):
                count = 0
                for bound in (*_BOUNDS, float("inf")):
                    count += self._within[path, bound]
                    limit = "+Inf" if bound == float("inf") else f"{bound:g}"
                    lines.append(_line("request_seconds_bucket", count, path=path, le=limit))
                lines.append(_line("request_seconds_sum", self._seconds[path], path=path))
                lines.append(_line("request_seconds_count", count, path=path))
        for name, value in values.items():
            lines += [*_head(name, "counter" if name.endswith("_total") else "gauge"), _line(name, value)]
        lines += [*_head("info", "gauge", "What is served."), _line("info", 1, **info)]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, text: str = "") -> list[str]:
    help_line = [f"# HELP {_PREFIX}_{name} {text}"] if text else []
    return [*help_line, f"# TYPE {_PREFIX}_{name} {kind}"]


def _line(name: str, value: float, **labels: str) -> str:
    listed = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{_PREFIX}_{name}{'{' + listed + '}' if listed else ''} {value:.17g}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
