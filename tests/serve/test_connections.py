import logging
import resource

import pytest

pytest.importorskip("uvicorn", reason="needs graph-metric-learn[serve]")

from graph_metric_learn.serve import Limits, connections
from graph_metric_learn.serve.connections import BACKLOG, Sparing, server_options


def test_connections_leave_descriptors_for_all_else(monkeypatch):
    limits = {}
    monkeypatch.setattr(resource, "setrlimit", lambda which, pair: limits.update({which: pair}))
    for soft, hard, most in (
        (256, 256, 96),
        (1024, 1_048_576, 512),
        (256, resource.RLIM_INFINITY, 512),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, 512),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda which, pair=(soft, hard): pair)
        options = server_options(Limits(connections=512))
        assert options["http"].most == most
        assert options["backlog"] == BACKLOG
    assert limits[resource.RLIMIT_NOFILE] == (4096, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (128, 128))
    with pytest.raises(ValueError, match="128 open files are too few"):
        server_options(Limits())


def test_a_log_is_limited_and_says_so(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(connections.time, "monotonic", lambda: now[0])
    sparing, written = Sparing(3, 10), []

    def log(count):
        for i in range(count):
            record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "no %s", (i,), None)
            if sparing.filter(record):
                written.append(record.getMessage())

    log(100)
    assert written == ["no 0", "no 1", "no 2"]
    now[0] = 11.0
    log(2)
    assert written[3:] == ["no 0 (97 lines before were left out)", "no 1"]
    now[0] = 22.0
    log(1)
    assert written[5:] == ["no 0"]


def test_logs_are_limited_once():
    server_options(Limits())
    server_options(Limits())
    for name in ("asyncio", "uvicorn.error"):
        assert sum(isinstance(one, Sparing) for one in logging.getLogger(name).filters) == 1
