"""Real requests to a real server, many at once, and bad ones."""

import asyncio
import socket
import subprocess
import sys
import threading
import time

import pytest

import graph_metric_learn as gml
from explorer_graphs import HOSTILE, fitted, rings_and_stars

httpx = pytest.importorskip("httpx", reason="needs graph-metric-learn[serve] and httpx")
pytest.importorskip("uvicorn", reason="needs graph-metric-learn[serve]")
pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")

from graph_metric_learn.serve import Limits, Service, make_app, requests  # noqa: E402
from running_server import Running  # noqa: E402

STAR = {"nodes": [{"id": i} for i in range(9)], "edges": [{"source": 0, "target": i} for i in range(1, 9)]}
RING = {"nodes": STAR["nodes"], "edges": [{"source": i, "target": (i + 1) % 9} for i in range(9)]}


def weighted(weight):
    return {"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1, "weight": weight}]}


@pytest.fixture(scope="module")
def service():
    graphs, y = rings_and_stars()
    return Service(fitted(), graphs=graphs, y=y, title="Rings")


@pytest.fixture(scope="module")
def server(service):
    running = Running(make_app(service, limits=Limits(bytes=20_000)))
    yield running
    running.stop()


@pytest.fixture
def client(server):
    with httpx.Client(base_url=server.address, timeout=60) as found:
        yield found


def test_health_and_the_page(client):
    assert client.get("/health").json() == {"status": "ok", "model": "GraphKNNClassifier", "graphs": 36}
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["x-content-type-options"] == "nosniff"
    assert HOSTILE not in page.text
    assert client.get("/openapi.json").status_code == 200
    assert client.get("/docs").status_code == 404  # it would load scripts from elsewhere


def test_predict_neighbors_and_explain(client, service):
    found = client.post("/predict", json={"graphs": [STAR, RING]}).json()
    assert found["predictions"] == ["star & co", "ring"]
    near = client.post("/neighbors", json={"graphs": [STAR], "k": 4}).json()
    assert near["ids"][0][0] == "graph number 24"  # a star of nine nodes
    assert near["distances"][0][0] == pytest.approx(0, abs=1e-4)
    near = client.post("/neighbors", json={"graphs": [STAR], "k": 37}).json()
    assert len(near["ids"][0]) == 36  # as many as there are
    why = client.post("/explain", json={"graphs": [STAR, RING]}).json()
    assert sum(why["terms"].values()) == pytest.approx(1)
    assert [len(nodes) for nodes in why["nodes"]] == [9, 9]
    assert client.get("/explained/0/30").json() == service.explained(0, 30)


def test_many_requests_at_once_get_their_own_answers(server):
    async def ask_all():
        async with httpx.AsyncClient(base_url=server.address, timeout=120) as found:
            asked = [found.post("/predict", json={"graphs": [STAR if i % 2 else RING]}) for i in range(40)]
            asked += [found.post("/neighbors", json={"graphs": [STAR], "k": i + 1}) for i in range(10)]
            return await asyncio.gather(*asked)

    answers = asyncio.run(ask_all())
    assert [answer.status_code for answer in answers] == [200] * 50
    predicted = [answer.json()["predictions"][0] for answer in answers[:40]]
    assert predicted == ["ring", "star & co"] * 20
    assert [len(answer.json()["ids"][0]) for answer in answers[40:]] == list(range(1, 11))


@pytest.mark.parametrize(
    ("way", "options", "status", "why"),
    [
        ("/predict", {"content": b"{", "headers": {"content-type": "application/json"}}, 400, "not JSON"),
        ("/predict", {"content": b"[" * 9000, "headers": {"content-type": "application/json"}}, 400, "not JSON"),
        ("/predict", {"content": b"{}", "headers": {"content-type": "text/plain"}}, 415, "send JSON"),
        ("/predict", {"json": {"graphs": []}}, 422, "at least one"),
        ("/predict", {"json": {"graphs": [{**STAR, "nodes": []}]}}, 422, "not listed"),
        ("/neighbors", {"json": {"graphs": [STAR], "k": 0}}, 422, "whole number"),
        ("/explain", {"json": {"graphs": [STAR]}}, 422, "exactly 2"),
        ("/neighbors", {"json": {"graphs": [STAR], "K": 3}}, 422, "unknown field 'K'"),
        ("/predict", {"json": {"graphs": [STAR], "k": 3}}, 422, "unknown field 'k'"),
        ("/explain", {"json": {"graphs": [STAR, RING], "top": 3}}, 422, "unknown field 'top'"),
        (
            "/predict",
            {"json": {"graphs": [{**STAR, "edges": [{"source": 0}]}]}},
            422,
            "edge 0 of graph 0 has no target",
        ),
        ("/predict", {"json": {"graphs": [{"nodes": [{"id": 0, "x": 10**400}], "edges": []}]}}, 422, "number"),
        ("/predict", {"json": {"graphs": [weighted(10**400)]}}, 422, "graph 0"),
        ("/predict", {"content": b"1" * 5000, "headers": {"content-type": "application/json"}}, 422, "too large"),
        ("/predict", {"json": {"graphs": ["x" * 30_000]}}, 413, "larger than 20000 bytes"),
        ("/predict", {"json": {"graphs": [STAR]}, "headers": {"host": "evil.example"}}, 421, "not served here"),
        ("/predict", {"json": {"graphs": [STAR]}, "headers": {"host": "localhost.evil.example"}}, 421, "not served"),
    ],
)
def test_bad_requests_get_a_status_and_a_sentence(client, way, options, status, why):
    answer = client.post(way, **options)
    assert answer.status_code == status
    assert why in answer.json()["error"]
    assert client.get("/health").status_code == 200


def test_a_body_without_a_length_is_counted(client):
    def parts():
        for _ in range(30):
            yield b"[" + b" " * 1000

    answer = client.post("/predict", content=parts(), headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_wrong_ways_and_pairs(client):
    for way, status, why in (
        ("/predict", 405, "/predict does not take GET: use POST"),
        ("/nothing", 404, "there is nothing at /nothing"),
        ("/explained/0/99", 422, "there is no pair of graphs 0 and 99 on the page"),
        ("/explained/a/b", 422, "not a whole number: one, other"),
    ):
        answer = client.get(way)
        assert (answer.status_code, answer.json()) == (status, {"error": why})
    assert client.get("/predict").headers["allow"] == "POST"
    assert client.get("/health", headers={"host": "LOCALHOST:80"}).status_code == 200


def test_a_token_is_asked_for(service):
    running = Running(make_app(service, token="secret é"))
    try:
        with httpx.Client(base_url=running.address, timeout=60) as client:
            assert client.get("/health").status_code == 200
            for headers in ({}, {"authorization": "Bearer wrong"}):
                assert client.get("/", headers=headers).status_code == 401
                assert client.post("/predict", json={"graphs": [STAR]}, headers=headers).status_code == 401
            assert client.get("/", params={"token": "secret é"}).status_code == 200
    finally:
        running.stop()


def test_an_index_is_searched_while_another_process_adds_to_it(service, tmp_path):
    graphs, _ = rings_and_stars()
    path = (
        gml.GraphIndex(service.metric)
        .add(graphs[:10], metadata=[{"n": len(one)} for one in graphs[:10]])
        .save(tmp_path / "index")
    )
    running = Running(make_app(Service(service.model, gml.GraphIndex.load(path, read_only=True))))

    async def ask_until_all_are_there():
        """Four at a time; what each finds, until the other process has written its last graph."""
        found = []
        async with httpx.AsyncClient(base_url=running.address, timeout=60) as client:
            while not found or found[-1]["ids"][0][0] != "late 29":
                asked = [client.post("/neighbors", json={"graphs": [STAR], "k": 3}) for _ in range(3)]
                last = client.post("/neighbors", json={"graphs": [LATE], "k": 3})
                answers = await asyncio.gather(*asked, last)
                assert [answer.status_code for answer in answers] == [200] * 4
                found += [answer.json() for answer in answers]
        return found

    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)])
    try:
        found = asyncio.run(asyncio.wait_for(ask_until_all_are_there(), 120))
        assert writer.wait(60) == 0
        for one in found:
            assert one["distances"][0] == sorted(one["distances"][0])
            assert len(one["ids"][0]) == len(one["metadata"][0]) == 3
        with httpx.Client(base_url=running.address, timeout=60) as client:
            assert client.get("/health").json()["graphs"] == 40
            near = client.post("/neighbors", json={"ids": ["late 29"], "k": 2}).json()
            assert (near["ids"][0][0], near["distances"][0][0], near["metadata"][0][0]) == (
                "late 29",
                0,
                {"late": True},
            )
            assert client.get("/").headers["content-type"].startswith("text/html")
            assert client.post("/neighbors", json={"ids": ["nobody"]}).json() == {
                "error": "id 'nobody' is not in the index"
            }
            for bad in (
                {"ids": "late 29"},
                {"ids": [["late 29"]]},
                {"ids": []},
                {"ids": ["late 29"], "graphs": [STAR]},
            ):
                assert client.post("/neighbors", json=bad).status_code == 422
    finally:
        writer.kill()
        running.stop()


LATE = {"nodes": [{"id": i} for i in range(70)], "edges": [{"source": 0, "target": i} for i in range(1, 70)]}
WRITER = """
import sys
import networkx as nx
import graph_metric_learn as gml
with gml.GraphIndex.load(sys.argv[1]) as index:
    for i in range(30):
        index.add([nx.star_graph(40 + i)], ids=[f"late {i}"], metadata=[{"late": True}])
        if i == 20:
            index.compact()
"""


def test_who_waits_behind_slow_requests_is_answered_afterwards(service, monkeypatch):
    slow = Service(service.model)
    release = threading.Event()
    monkeypatch.setattr(slow, "predict", lambda graphs: {"released": release.wait(30)})
    running = Running(make_app(slow, limits=Limits(seconds=0.5, waiting=4)))

    async def ask(count):
        async with httpx.AsyncClient(base_url=running.address, timeout=60) as client:
            return await asyncio.gather(*(client.post("/predict", json={"graphs": [STAR]}) for _ in range(count)))

    try:
        answers = asyncio.run(ask(6))  # two are computed, two wait, two are refused
        assert [answer.status_code for answer in answers] == [503] * 6
        said = sorted(answer.json()["error"] for answer in answers)
        assert [one.startswith("too many") for one in said] == [False] * 4 + [True] * 2
        with httpx.Client(base_url=running.address, timeout=60) as client:
            assert client.get("/health").status_code == 200  # needs no turn
            release.set()
            assert client.post("/neighbors", json={"graphs": [STAR], "k": 1}).status_code == 200
    finally:
        release.set()
        running.stop()


def test_a_body_that_does_not_arrive_is_given_up(service):
    running = Running(make_app(Service(service.model), limits=Limits(seconds=0.3)))
    try:
        with socket.create_connection(("127.0.0.1", running.port), timeout=30) as line:
            head = ["POST /predict HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Content-Length: 9"]
            line.sendall("\r\n".join([*head, "", "{"]).encode())
            assert b" 408 " in line.recv(200)
    finally:
        running.stop()


def without_rdkit(smiles):
    raise ImportError("molecules need RDKit")


def test_who_takes_too_long_is_given_up_and_errors_stay_inside(service, monkeypatch):
    slow = Service(service.model)
    monkeypatch.setattr(slow, "predict", lambda graphs: time.sleep(1.0))
    monkeypatch.setattr(slow, "explain", lambda graphs: {}["a secret path"])
    monkeypatch.setattr(slow, "neighbors", lambda graphs, k: float(10**400))
    running = Running(make_app(slow, limits=Limits(seconds=0.2)))
    try:
        with httpx.Client(base_url=running.address, timeout=60) as client:
            answer = client.post("/predict", json={"graphs": [STAR]})
            assert answer.status_code == 503
            assert "no answer within 0.2 s" in answer.json()["error"]
            answer = client.post("/explain", json={"graphs": [STAR, RING]})
            assert (answer.status_code, answer.json()) == (500, {"error": "something went wrong inside"})
            answer = client.post("/neighbors", json={"graphs": [STAR]})  # a number that no check has found
            assert (answer.status_code, answer.json()) == (422, {"error": "a number in the request is too large"})
            monkeypatch.setattr(requests, "from_smiles", without_rdkit)
            answer = client.post("/predict", json={"smiles": ["CCO"]})
            assert (answer.status_code, answer.json()) == (503, {"error": "molecules need RDKit"})
            assert client.get("/").text.startswith("graph-metric-learn")
    finally:
        running.stop()
