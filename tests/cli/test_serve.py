import asyncio

import pytest

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
    assert notes == [f"serving {model} at http://127.0.0.1:8000/"]
    assert "ring10" in get("/").text
    assert get("/health", host="graphs.lan:8000").status_code == 200
    assert get("/health", host="other.lan").status_code == 421


def test_other_computers_are_warned_of_and_a_token_is_taken(model, monkeypatch):
    monkeypatch.delenv("GRAPH_METRIC_LEARN_TOKEN", raising=False)
    _, notes = client_of([str(model), "--host", "0.0.0.0"])
    assert "anyone who reaches this address" in notes[1]
    monkeypatch.setenv("GRAPH_METRIC_LEARN_TOKEN", "secret")
    get, notes = client_of([str(model), "--host", "0.0.0.0"])
    assert len(notes) == 1
    assert get("/").status_code == 401


def test_it_listens_where_it_is_told(model, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("uvicorn.run", lambda app, **options: asked.append(options))
    assert main(["serve", str(model), "--port", "8123"]) == 0
    assert (asked[0]["host"], asked[0]["port"]) == ("127.0.0.1", 8123)
    assert "http://127.0.0.1:8123/" in capsys.readouterr().out


def test_an_index_is_served_and_another_models_is_refused(model, chemist, folder, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("GRAPH_METRIC_LEARN_TOKEN", raising=False)
    out = tmp_path / "index"
    assert main(["index", str(model), str(folder), "--out", str(out)]) == 0
    get, _ = client_of([str(model), str(out)])
    assert get("/health").json() == {"status": "ok", "model": "GraphKNNClassifier", "graphs": 20}
    assert "ring10" in get("/").text
    capsys.readouterr()
    assert main(["serve", str(chemist), str(out)]) == 2
    assert "made with another model" in capsys.readouterr().err
