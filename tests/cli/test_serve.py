import asyncio
import json
import re
import resource
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from graph_metric_learn import __version__
from graph_metric_learn.cli import main, serve
from graph_metric_learn.cli.parser import command_parser

pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")
httpx = pytest.importorskip("httpx", reason="needs httpx")


def client_of(arguments):
    app, notes = serve.application(command_parser().parse_args(["serve", *arguments]))

    def get(way, **headers):
        async def ask():
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://localhost:8000"
            ) as client:
                return await client.get(way, headers=headers)

        return asyncio.run(ask())

    return get, notes


def test_a_model_and_a_source_are_served(model, folder, monkeypatch):
    monkeypatch.delenv("GRAPH_METRIC_LEARN_TOKEN", raising=False)
    labels = str(folder / "classes.csv")
    get, notes = client_of([str(model), "--source", str(folder), "--labels", labels, "--allow-host", "Graphs.lan"])
    assert notes == []
    assert "ring10" in get("/").text
    assert get("/health", host="graphs.lan:8000").status_code == 200
    assert get("/health", host="other.lan").status_code == 421


def test_other_computers_are_warned_of_and_a_token_is_taken(model, monkeypatch):
    monkeypatch.delenv("GRAPH_METRIC_LEARN_TOKEN", raising=False)
    _, notes = client_of([str(model), "--host", "0.0.0.0"])
    assert "anyone who reaches this address" in notes[0]
    monkeypatch.setenv("GRAPH_METRIC_LEARN_TOKEN", "secret")
    get, notes = client_of([str(model), "--host", "0.0.0.0"])
    assert notes == []
    assert get("/").status_code == 401


def test_it_listens_where_it_is_told(model, monkeypatch, capsys):
    asked = []

    def connect(app, **options):
        asked.append(capsys.readouterr().out)
        port = int(re.search(r":(\d+)/$", asked[-1], re.MULTILINE)[1])
        socket.create_connection(("127.0.0.1", port), timeout=10).close()

    monkeypatch.setattr("uvicorn.run", connect)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for where in (["--port", str(port)], ["--port", "0"], ["--port", "0", "--host", "localhost"]):
        assert main(["serve", str(model), *where]) == 0
    assert asked[0] == f"serving {model} at http://127.0.0.1:{port}/\n"
    assert re.fullmatch(rf"serving {model} at http://localhost:[1-9]\d*/\n", asked[2])


@pytest.mark.parametrize(
    ("where", "why"),
    [
        (["--port", "99999"], "--port must be from 0 to 65535, got 99999"),
        (["--port", "-1"], "--port must be from 0 to 65535, got -1"),
        (["--host", "nobody.invalid"], "cannot listen at nobody.invalid:8000: "),
        (["--host", "a..b"], "cannot listen at a..b:8000: "),
    ],
)
def test_an_address_that_cannot_be_used_is_one_line(model, where, why, capsys):
    assert main(["serve", str(model), *where]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"graph-metric-learn serve: {why}")
    assert said.err.count("\n") == 1


def test_a_port_that_is_used_is_refused_before_and_after_the_model_is_read(model, capsys, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = used.getsockname()[1]
        assert main(["serve", str(model), "--port", str(port)]) == 2
    expected = f"graph-metric-learn serve: cannot listen at 127.0.0.1:{port}: Address already in use\n"
    assert capsys.readouterr() == ("", expected)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        monkeypatch.setattr(serve, "application", lambda *_: (other.listen(), []))
        assert main(["serve", str(model), "--port", str(port)]) == 2
    assert capsys.readouterr() == ("", expected)


def test_a_server_of_its_own_answers_at_the_port_it_names(model):
    command = [sys.executable, "-m", "graph_metric_learn", "serve", str(model), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            address = running.stdout.readline().split()[-1]
            found = httpx.get(f"{address}health", timeout=60)
            assert (found.status_code, found.json()["status"]) == (200, "ok")
        finally:
            running.terminate()


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


def test_three_hundred_silent_connections_stop_nothing(model, tmp_path):
    """With 256 open files; then it is told to end while a request arrives slowly."""
    log, command = tmp_path / "log", [sys.executable, "-m", "graph_metric_learn", "serve", str(model), "--port", "0"]
    with (tmp_path / "errors").open("w") as errors, ExitStack() as stack:
        running = stack.enter_context(
            subprocess.Popen(
                [*command, "--access-log", str(log)], stdout=subprocess.PIPE, stderr=errors, text=True,
                preexec_fn=few_files,
            )
        )  # fmt: skip
        try:
            address = running.stdout.readline().split()[-1]
            where = ("127.0.0.1", int(address.rstrip("/").rpartition(":")[2]))
            for _ in range(300):
                line = stack.enter_context(socket.create_connection(where, timeout=20))
                line.sendall(b"GET / HT")
            for _ in range(10):
                assert httpx.get(f"{address}health", timeout=20).status_code == 200
            head = "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9"
            line = stack.enter_context(socket.create_connection(where, timeout=20))
            line.sendall(f"{head}\r\n\r\n{{".encode())
            httpx.get(f"{address}health", timeout=20)
            start = time.monotonic()
            running.terminate()
            running.wait(60)
            assert time.monotonic() - start < 8
        finally:
            running.kill()
    assert (tmp_path / "errors").stat().st_size < 20_000
    paths = [json.loads(line)["path"] for line in log.read_text().splitlines()]
    assert paths.count("/health") == 11


def test_what_cannot_be_is_said_in_one_line(model, tmp_path, capsys):
    assert main(["serve", str(model), "--max-connections", "0"]) == 2
    assert "--max-connections must be at least 1" in capsys.readouterr().err
    assert main(["serve", str(model), "--port", "0", "--access-log", str(tmp_path / "no" / "log")]) == 2
    assert "cannot write to" in capsys.readouterr().err


def test_an_index_is_served_and_another_models_is_refused(model, chemist, folder, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("GRAPH_METRIC_LEARN_TOKEN", raising=False)
    out = tmp_path / "index"
    assert main(["index", str(model), str(folder), "--out", str(out)]) == 0
    get, _ = client_of([str(model), str(out)])
    served = {"model": "GraphKNNClassifier", "graphs": 20}
    assert get("/health").json() == {"status": "ok", "version": __version__, **served}
    assert "ring10" in get("/").text
    capsys.readouterr()
    assert main(["serve", str(chemist), str(out)]) == 2
    assert "made with another model" in capsys.readouterr().err
