import http.server
import os
import threading
from pathlib import Path
from typing import ClassVar

import pytest

from graph_metric_learn.datasets import tu_files
from tu_toy import zipped

REPOSITORY = Path(__file__).resolve().parents[2]
REAL_FOLDER = Path(os.environ.get("GRAPH_METRIC_LEARN_DATA") or REPOSITORY.parent / "shared" / "datasets")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """No test sees or changes what the person running it keeps on disk, and none reaches the network."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.delenv("GRAPH_METRIC_LEARN_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(tu_files, "BASE_URL", "http://127.0.0.1:9")
    return cache / "graph-metric-learn" / "datasets"


class Server(http.server.BaseHTTPRequestHandler):
    """Serves `files`; each test gets its own subclass with its own files and list of what was asked for."""

    files: ClassVar[dict[str, bytes]]
    asked: ClassVar[list[str]]
    breaks_off = False
    status = 200

    def do_GET(self):
        self.asked.append(self.path)
        data = self.files.get(self.path)
        self.send_response(404 if data is None else self.status)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        if data is not None:
            self.wfile.write(data[: len(data) // 2] if self.breaks_off else data)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    handler = type("Handler", (Server,), {"files": {"/all/TOY.zip": zipped()}, "asked": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(tu_files, "BASE_URL", f"http://127.0.0.1:{running.server_port}/all")
        yield handler
        running.shutdown()
        thread.join()


@pytest.fixture
def real():
    """The folder with the nine zips."""
    if not (REAL_FOLDER / "MUTAG.zip").is_file():
        pytest.skip(
            f"no datasets in {REAL_FOLDER}: set GRAPH_METRIC_LEARN_DATA to the folder with MUTAG.zip and others"
        )
    return REAL_FOLDER
