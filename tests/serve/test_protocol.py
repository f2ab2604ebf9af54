import json
import socket
import threading
import time
from contextlib import ExitStack

import pytest

httpx = pytest.importorskip("httpx", reason="needs graph-metric-learn[serve] and httpx")
pytest.importorskip("uvicorn", reason="needs graph-metric-learn[serve]")
pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")

from explorer_graphs import fitted  # noqa: E402
from graph_metric_learn.serve import Limits, Service, make_app  # noqa: E402
from graph_metric_learn.serve.connections import server_options  # noqa: E402
from running_server import Running  # noqa: E402

LIMITS = Limits(connections=6, header_seconds=0.5, seconds=3.0)
GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def server():
    running = Running(make_app(Service(fitted()), limits=LIMITS), **server_options(LIMITS))
    yield running
    running.stop()


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def all_of(line):
    """What comes until the other side closes; what it did not read may make it a reset."""
    read = b""
    try:
        while part := line.recv(65536):
            read += part
    except ConnectionResetError:
        pass
    return read


@pytest.mark.parametrize("sent", [b"", b"GET /hea", GET])
def test_who_sends_no_whole_headers_is_told_so_and_closed(server, sent):
    with connect(server) as line:
        start = time.monotonic()
        line.sendall(sent)
        read = all_of(line)
        assert time.monotonic() - start < 5
    assert read.startswith(b"HTTP/1.1 408 ")
    assert json.loads(read.partition(b"\r\n\r\n")[2]) == {"error": "the headers did not arrive within 0.5 s"}


def test_headers_that_come_a_little_at_a_time_are_not_waited_for(server):
    with connect(server) as line:
        line.settimeout(0.05)
        start = time.monotonic()
        closed = False
        while not closed and time.monotonic() - start < 10:
            try:
                line.sendall(b"X: y\r\n" if time.monotonic() - start > 0.1 else b"")
                closed = b" 408 " in line.recv(1000)
            except TimeoutError:
                line.sendall(GET[:5])
            except OSError:
                closed = True
        assert closed
        assert time.monotonic() - start < 5


def test_half_a_request_after_an_answer_is_not_waited_for_either(server):
    with connect(server) as line:
        line.sendall(GET + b"\r\n")
        assert line.recv(1000).startswith(b"HTTP/1.1 200 ")
        line.sendall(GET)
        start = time.monotonic()
        all_of(line)
        assert time.monotonic() - start < 4  # uvicorn itself closes after 5 s, if nothing was sent


def test_who_goes_on_sending_after_the_answer_is_closed(server):
    with connect(server) as line:
        line.sendall(POST.replace(b"json", b"text") + b"Content-Length: 100000\r\n\r\n")
        assert b" 415 " in line.recv(1000)
        start = time.monotonic()
        closed = False
        while not closed and time.monotonic() - start < 10:
            try:
                line.sendall(b" ")
                time.sleep(0.05)
            except OSError:
                closed = True
        assert time.monotonic() - start < 5


def test_who_waits_longest_without_a_request_makes_room(server):
    with ExitStack() as stack:
        silent = [stack.enter_context(connect(server)) for _ in range(6)]
        assert httpx.get(f"{server.address}/health", timeout=20).status_code == 200
        silent[0].settimeout(0.2)
        assert silent[0].recv(100) == b""  # without a word; the others are still there
        silent[5].settimeout(0.05)
        with pytest.raises(TimeoutError):
            silent[5].recv(100)


def test_one_connection_more_is_refused_where_all_have_requests(server):
    time.sleep(1.0)  # the connections of other tests are gone
    with ExitStack() as stack:
        for _ in range(6):
            stack.enter_context(connect(server)).sendall(POST + b"Content-Length: 9\r\n\r\n{")
        time.sleep(0.2)
        with connect(server) as line:
            read = all_of(line)
    assert read.startswith(b"HTTP/1.1 503 ")
    assert b"too many connections" in read
    for _ in range(100):
        if httpx.get(f"{server.address}/health", timeout=20).status_code == 200:
            return
        time.sleep(0.1)
    raise AssertionError("the server does not recover")


def test_a_body_in_very_many_parts_is_refused_while_others_are_answered(server):
    answers, done = [], threading.Event()

    def send():
        with connect(server) as line:
            try:
                line.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n")
                for _ in range(60):
                    line.sendall(b"1\r\n[\r\n" * 10_000)
            except OSError:
                pass
            answers.append(all_of(line))
        done.set()

    thread = threading.Thread(target=send)
    thread.start()
    longest = 0.0
    while not done.wait(0.01):
        start = time.monotonic()
        assert httpx.get(f"{server.address}/health", timeout=20).status_code == 200
        longest = max(longest, time.monotonic() - start)
    thread.join()
    assert longest < 1.0
    assert b"error" not in answers[0]  # refused by the connection, not by what answers requests


def test_parts_of_some_size_are_taken(server):
    graph = {"nodes": [{"id": i} for i in range(9)], "edges": [{"source": 0, "target": i} for i in range(1, 9)]}
    body = json.dumps({"graphs": [graph] * 60}).encode()

    def parts():
        for start in range(0, len(body), 100):
            yield body[start : start + 100]

    headers = {"content-type": "application/json"}
    answer = httpx.post(f"{server.address}/predict", content=parts(), headers=headers, timeout=60)
    assert len(answer.json()["predictions"]) == 60


def test_a_slow_body_does_not_hold_up_the_end():
    running = Running(make_app(Service(fitted()), limits=Limits()), **server_options(Limits()))
    with connect(running) as line:
        line.sendall(POST + b"Content-Length: 9\r\n\r\n{")
        time.sleep(0.3)
        start = time.monotonic()
        running.stop()
        assert not running.thread.is_alive()
        assert time.monotonic() - start < 5
