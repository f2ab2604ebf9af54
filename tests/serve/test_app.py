"""Real requests to a real server, many at once, and bad ones."""

import asyncio
import io
import json
import socket
import subprocess
import sys
import threading
import time

import networkx as nx
import pytest

import graph_metric_learn as gml
from explorer_graphs import HOSTILE, fitted, rings_and_stars

httpx = pytest.importorskip("httpx", reason="needs graph-metric-learn[serve] and httpx")
pytest.importorskip("uvicorn", reason="needs graph-metric-learn[serve]")
pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")

from graph_metric_learn.graphs.sources.smiles_workers import SmilesWorkers  # noqa: E402
from graph_metric_learn.serve import Limits, Service, make_app  # noqa: E402
from odd_molecules import necklace, sheet  # noqa: E402
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
    served = {"model": "GraphKNNClassifier", "graphs": 36}
    assert client.get("/health").json() == {"status": "ok", "version": gml.__version__, **served}
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["x-content-type-options"] == "nosniff"
    assert HOSTILE not in page.text
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
            for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic secret é".encode()}):
                assert client.get("/", headers=headers).status_code == 401
            for scheme in ("Bearer", "bearer", "BEARER"):
                for encoding in ("utf-8", "latin-1"):
                    headers = {"authorization": f"{scheme} secret é".encode(encoding)}
                    assert client.get("/metrics", headers=headers).status_code == 200
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


def without_rdkit(*_):
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
            monkeypatch.setattr(SmilesWorkers, "read", without_rdkit)
            answer = client.post("/predict", json={"smiles": ["CCO"]})
            assert (answer.status_code, answer.json()) == (503, {"error": "molecules need RDKit"})
            assert client.get("/").text.startswith("graph-metric-learn")
    finally:
        running.stop()


@pytest.fixture(scope="module")
def chemist():
    """A server of molecules, with a log of its requests."""
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    texts = ["CCO", "CCN", "CCC", "CCCC", "c1ccccc1", "c1ccncc1", "Cc1ccccc1", "c1ccccc1O"]
    metric = gml.GraphMetric(features=["trees@0", "trees@1"], embedding="counts", random_state=0)
    model = gml.GraphKNNClassifier(metric, n_neighbors=1).fit(gml.from_smiles(texts), ["chain"] * 4 + ["ring"] * 4)
    log = io.StringIO()
    running = Running(make_app(Service(model), limits=Limits(smiles=20_000, smiles_seconds=1), access_log=log))
    with httpx.Client(base_url=running.address, timeout=120) as client:
        yield client, log
    running.stop()


def test_one_bad_molecule_among_many_is_an_error_of_its_own(chemist):
    client, _ = chemist
    texts = ["CCO", "c1ccccc1"] * 32
    texts[17] = "C1CC"
    answer = client.post("/predict", json={"smiles": texts})
    found = answer.json()
    assert answer.status_code == 200
    assert found["predictions"] == [None if i == 17 else ["chain", "ring"][i % 2] for i in range(64)]
    assert [share is None for share in found["probabilities"]] == [i == 17 for i in range(64)]
    assert found["errors"] == [{"row": 17, "error": "row 17 ('C1CC') is not a valid SMILES"}]
    near = client.post("/neighbors", json={"smiles": ["C1CC", "CCO"], "k": 1}).json()
    assert (near["ids"], near["distances"][0]) == ([None, ["CCO"]], None)
    assert "errors" not in client.post("/predict", json={"smiles": ["CCO"]}).json()
    for way, bad in (("/predict", ["C1CC", "x"]), ("/explain", ["CCO", "C1CC"])):
        answer = client.post(way, json={"smiles": bad})
        assert answer.status_code == 422
        assert "('C1CC') is not a valid SMILES" in answer.json()["error"]


def test_molecules_that_take_too_long_hold_nobody_up(chemist):
    client, _ = chemist
    address = str(client.base_url).rstrip("/")
    for slow in (necklace(22), ".".join([sheet(5, 7, "P")] * 12)):
        start = time.monotonic()
        answers = []
        thread = threading.Thread(
            target=lambda slow=slow, answers=answers: answers.append(
                httpx.post(f"{address}/predict", json={"smiles": [slow, "CCO"]}, timeout=120)
            )
        )
        thread.start()
        while thread.is_alive():
            asked = time.monotonic()
            assert client.get("/health").status_code == 200
            assert time.monotonic() - asked < 1.5
            time.sleep(0.05)
        thread.join()
        assert time.monotonic() - start < 30
        assert answers[0].json()["predictions"] == [None, "chain"]


def test_numbers_for_prometheus(chemist):
    client, _ = chemist
    client.post("/predict", json={"smiles": ["CCO", "x"]})
    client.get("/somewhere")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
    assert int(lines['graph_metric_learn_requests_total{path="/predict",method="POST",status="200"}']) >= 1
    assert int(lines['graph_metric_learn_requests_total{path="other",method="GET",status="404"}']) >= 1
    assert int(lines['graph_metric_learn_request_seconds_bucket{path="/predict",le="+Inf"}']) >= 1
    assert int(lines["graph_metric_learn_unread_smiles_total"]) >= 1
    assert lines["graph_metric_learn_graphs"] == "8"
    assert f'graph_metric_learn_info{{version="{gml.__version__}",model="GraphKNNClassifier"}}' in lines


def test_a_line_is_logged_for_each_request_without_its_token(chemist):
    client, log = chemist
    client.get("/health?token=secret")
    client.post("/predict", json={"graphs": []})
    last = [json.loads(line) for line in log.getvalue().splitlines()[-2:]]
    assert [(line["method"], line["path"], line["status"]) for line in last] == [
        ("GET", "/health", 200),
        ("POST", "/predict", 422),
    ]
    assert last[0].keys() == {"time", "client", "method", "path", "status", "seconds", "bytes"}
    assert last[0]["client"] == "127.0.0.1"
    assert last[0]["bytes"] > 20
    assert "secret" not in log.getvalue()


def test_names_that_are_no_text_break_nothing(service, tmp_path):
    """As files have them whose names are in another encoding."""
    graphs, _ = rings_and_stars()
    odd = "caf\udce9"
    metric = fitted().metric_
    model = gml.GraphKNNClassifier(metric, n_neighbors=1)
    named = [nx.Graph(graph) for graph in graphs[:12]]
    for i, graph in enumerate(named):
        graph.name = odd if i == 0 else f"graph {i}"
    model.fit(named, ["a", "b"] * 6)
    running = Running(make_app(Service(model, graphs=named, y=["a", "b"] * 6, names=[odd, *"bcdefghijkl"])))
    try:
        with httpx.Client(base_url=running.address, timeout=60) as client:
            assert r"caf\udce9" in client.get("/").text
            star = nx.node_link_data(nx.Graph(graphs[0]), edges="edges")
            answer = client.post("/neighbors", json={"graphs": [star], "k": 12})
            assert answer.status_code == 200
            assert odd in answer.json()["ids"][0]
            body = json.dumps({"graphs": [star, star | {"graph": {"name": odd}}]})
            answer = client.post("/explain", content=body, headers={"content-type": "application/json"})
            assert answer.status_code == 200
    finally:
        running.stop()
