import os
import signal
import threading
import time
from itertools import pairwise

import pytest

import graph_metric_learn as gml
from graph_metric_learn.graphs.sources.smiles_workers import SmilesWorkers
from odd_molecules import cycloparaphenylene, necklace, sheet

SLOW = ".".join([sheet(5, 7, "P")] * 12)  # not refused, but takes some seconds


@pytest.fixture(scope="module")
def workers():
    return SmilesWorkers(1, seconds=1)


def pid_of(workers):
    return workers._free.queue[0]._process.pid


def test_molecules_are_the_same_as_without_workers(workers):
    texts = ["CC(=O)Oc1ccccc1C(=O)O", "[Na+].[Cl-]", "C", "c1ccccc1 benzene"]
    wanted = gml.from_smiles(texts)
    for one, other in zip(workers.read(texts, 60), wanted, strict=True):
        fields = one.to_dict()
        assert fields.keys() == other.to_dict().keys()
        for key, value in other.to_dict().items():
            assert fields[key] == value if isinstance(value, (str, int)) else fields[key].equal(value)
            assert type(fields[key]) is type(value)


def test_what_is_no_molecule_is_said_of_each(workers):
    found = workers.read(["C1CC", "CCO", "\ud800", "", necklace(20)], 60)
    assert [isinstance(one, str) for one in found] == [True, False, True, True, True]
    assert found[0].startswith("row 0 ('C1CC') is not a valid SMILES")
    assert found[2] == "row 2 ('\\ud800') is not a valid SMILES"
    assert "has no SMILES" in found[3]
    assert "more than 5000 rings" in found[4]


def test_who_takes_too_much_time_is_ended_and_replaced(workers):
    workers.read(["C"], 60)
    before, deaths = pid_of(workers), workers.deaths
    start = time.monotonic()
    found = workers.read(["CCO", SLOW, "CCN"], 120)
    assert time.monotonic() - start < 60
    assert [isinstance(one, str) for one in found] == [False, True, False]
    assert found[1].endswith("takes more time or memory to read than it may")
    assert (pid_of(workers) != before, workers.deaths) == (True, deaths + 1)


def test_who_takes_too_much_memory_is_ended_and_replaced():
    workers = SmilesWorkers(1, memory=8 << 20)
    found = workers.read(["CCO", cycloparaphenylene(12), "CCN"], 60)
    assert [isinstance(one, str) for one in found] == [False, True, False]


def test_a_process_that_is_killed_is_replaced(workers):
    workers.read(["C"], 60)
    os.kill(pid_of(workers), signal.SIGKILL)
    first, second = workers.read(["CCO", "CCN"], 60)
    assert "takes more time or memory" in first
    assert second.smiles == "CCN"


def test_a_list_has_an_end(workers, monkeypatch):
    monkeypatch.setattr("graph_metric_learn.graphs.sources.smiles_workers._MOST_DEATHS", 1)
    found = workers.read([SLOW, "CCO"], 120)
    assert found[1] == "row 1 was not read: the molecules before it took too long"
    assert workers.read(["CCO"], -1) == ["row 0 was not read: the molecules before it took too long"]


def test_other_threads_go_on_meanwhile(workers):
    """The interpreter is not held while a molecule is read."""
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    workers.read(["C"], 60)
    thread = threading.Thread(target=tick)
    thread.start()
    workers.read([SLOW], 60)
    done.set()
    thread.join()
    assert max(later - earlier for earlier, later in pairwise(ticks)) < 0.7


def test_processes_end_with_those_who_ask():
    workers = SmilesWorkers(1)
    workers.read(["C"], 60)
    process = workers._free.queue[0]._process
    del workers
    assert process.wait(20) is not None


def test_no_process_knows_the_token(monkeypatch):
    monkeypatch.setenv("GRAPH_METRIC_LEARN_TOKEN", "secret")
    workers = SmilesWorkers(1)
    workers.read(["C"], 60)
    with open(f"/proc/{pid_of(workers)}/environ", "rb") as file:
        assert b"secret" not in file.read()
