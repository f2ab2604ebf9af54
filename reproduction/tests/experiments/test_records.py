import json
import os

import pytest

from graph_metric_learn_reproduction.experiments import records as module
from graph_metric_learn_reproduction.experiments.records import Records


def config(run):
    return {"dataset": "TOY", "run": run, "model": {"depth": 1}}


def test_what_was_added_is_found_again(tmp_path):
    records = Records(tmp_path / "r")
    assert config(0) not in records
    records.add(config(0), {"test": 0.5})
    assert config(0) in records
    again = Records(tmp_path / "r")
    assert config(0) in again
    assert config(1) not in again
    assert [record["result"] for record in again] == [{"test": 0.5}]


def test_each_dataset_and_features_have_a_file_of_their_own(tmp_path):
    records = Records(tmp_path)
    given = [{"dataset": "TOY", "features": features, "run": 0} for features in ("fuse", "labels", None)]
    for one in given:
        records.add(one, {"test": 0.5})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["TOY-fuse.jsonl", "TOY-labels.jsonl", "TOY.jsonl"]
    assert all(one in Records(tmp_path) for one in given)
    (tmp_path / "TOY-labels.jsonl").rename(tmp_path / "all.jsonl")  # whatever the names of files
    assert all(one in Records(tmp_path) for one in given)


def test_a_line_cut_off_is_dropped_and_the_rest_stays(tmp_path):
    records = Records(tmp_path)
    for run in range(3):
        records.add(config(run), {"test": run})
    path = tmp_path / "TOY.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    again = Records(tmp_path)
    assert len(again) == 2
    again.add(config(2), {"test": 2})
    assert [json.loads(line)["result"]["test"] for line in path.read_text().splitlines()] == [0, 1, 2]


def test_records_of_another_protocol_do_not_count(tmp_path, monkeypatch):
    Records(tmp_path).add(config(0), {"test": 0.5})
    monkeypatch.setattr(module, "PROTOCOL", module.PROTOCOL + 1)
    assert config(0) not in Records(tmp_path)
    assert len(Records(tmp_path)) == 0


def test_a_foreign_line_is_named(tmp_path):
    (tmp_path / "TOY.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match=r"TOY\.jsonl, line 1: not a record"):
        Records(tmp_path)


def test_a_short_write_is_an_error_and_leaves_whole_lines(tmp_path, monkeypatch):
    """As on a full disk: the record does not count, and the next one does not hang on half a line."""
    records = Records(tmp_path)
    records.add({"dataset": "A", "n": 1}, {"test": 1})
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[: len(data) // 2]))
    with pytest.raises(OSError, match=r"A.jsonl was not written: there is no space left"):
        records.add({"dataset": "A", "n": 2}, {"test": 2})
    monkeypatch.undo()
    assert {"dataset": "A", "n": 2} not in records
    records.add({"dataset": "A", "n": 3}, {"test": 3})
    assert [record["config"]["n"] for record in Records(tmp_path)] == [1, 3]
