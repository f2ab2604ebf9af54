"""`reproduce` and its records are killed in the middle: the same records in the end, none lost and none twice."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from test_crashes import empty, killed_at_every_step

from graph_metric_learn.cli import main
from graph_metric_learn_reproduction.experiments.records import Records
from graph_zoo import write_tu

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

ARGUMENTS = ["reproduce", "table1", "--datasets", "TOY", "--features", "degree", "--runs", "2", "--classifiers", "knn"]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tu")
    write_tu(folder, 24)
    return folder


def arguments(root, out, methods):
    return [*ARGUMENTS, "--methods", *methods, "--root", str(root), "--out", str(out), "--quiet"]


def lines(out):
    """All lines of the files of records, whole or not."""
    return [line for path in (out / "records").glob("*.jsonl") for line in path.read_bytes().split(b"\n") if line]


def results(out):
    """What was recorded, but for times, by key; each key once."""
    found = [json.loads(line) for line in lines(out)]
    assert len({one["key"] for one in found}) == len(found) == len(Records(out / "records")), "recorded twice"
    return {one["key"]: {name: value for name, value in one["result"].items() if name != "seconds"} for one in found}


def test_a_record_is_there_whole_or_not(tmp_path):
    def prepare():
        empty(tmp_path / "records")
        Records(tmp_path / "records").add({"dataset": "A", "n": 1}, {"test": 1})

    def check():
        records = Records(tmp_path / "records")
        records.add({"dataset": "A", "n": 3}, {"test": 3})
        numbers = [record["config"]["n"] for record in Records(tmp_path / "records")]
        assert numbers in ([1, 3], [1, 2, 3])

    add = {"dataset": "A", "n": 2}
    assert killed_at_every_step(prepare, lambda: Records(tmp_path / "records").add(add, {"test": 2}), check) > 2


def test_killed_at_every_step(root, tmp_path, monkeypatch):
    """Each process goes on where the one before was killed; a line that was written by half is computed again.

    Without the page, which is written anew each time.
    """
    monkeypatch.setattr("graph_metric_learn_reproduction.experiments.reproduce.write_page", lambda records, out: out)
    methods, seen = ["random", "mean-pool"], []
    assert main(arguments(root, tmp_path / "whole", methods)) == 0
    wanted = results(tmp_path / "whole")
    out = tmp_path / "killed"

    def check():
        seen.append(len(Records(out / "records")))
        known = results(out)
        assert all(wanted[key] == result for key, result in known.items())

    killed_at_every_step(lambda: None, lambda: main(arguments(root, out, methods)), check)
    assert results(out) == wanted
    assert seen == sorted(seen), "a record was lost"
    assert len(set(seen)) > 2


def test_killed_from_outside(root, tmp_path):
    """The command as a process of its own, killed as soon as it has recorded something."""
    methods = ["rpw", "random"]
    assert main(arguments(root, tmp_path / "whole", methods)) == 0
    wanted, out = results(tmp_path / "whole"), tmp_path / "killed"
    command = [sys.executable, "-m", "graph_metric_learn", *arguments(root, out, methods)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 240
        while not lines(out) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        said = process.stderr.read()
    assert lines(out), said
    assert main(arguments(root, out, methods)) == 0
    assert results(out) == wanted
