import json
import multiprocessing
import os
import re

import pytest

from graph_metric_learn.datasets import EditCosts
from graph_metric_learn.datasets.edit_record import EditRecord, Known

A, B, C = ("0" * 32, "7" * 32, "f" * 32)
FOUND = [((A, B), Known(1.0, 2.5, 0.1)), ((B, C), Known(3.0, 3.0, 0.1))]


def written(path, found=FOUND, costs=None):
    with EditRecord.opened(path, costs or EditCosts()) as record:
        record.add(found)


def read(path, costs=None):
    with EditRecord.opened(path, costs or EditCosts()) as record:
        return dict(record.known)


def test_a_file_gives_back_what_was_written(tmp_path):
    path = tmp_path / "folder" / "pairs.txt"
    written(path)
    assert read(path) == dict(FOUND)
    written(path, [((A, C), Known(0.1 + 0.2, float(10**20), float("inf")))])
    assert read(path) == dict(FOUND) | {(A, C): Known(0.1 + 0.2, 1e20, float("inf"))}
    assert len(path.read_text().splitlines()) == 4


def test_bounds_of_several_calls_are_joined(tmp_path):
    path = tmp_path / "pairs.txt"
    written(path, [((A, B), Known(1.0, 5.0, 1.0)), ((A, B), Known(2.0, 6.0, 3.0))])
    written(path, [((A, B), Known(0.0, 4.0, 2.0))])
    assert read(path) == {(A, B): Known(2.0, 4.0, 3.0)}


def test_the_end_of_a_line_that_was_not_written_is_cut_off(tmp_path):
    path = tmp_path / "pairs.txt"
    written(path)
    whole = path.read_bytes()
    header = whole.index(b"\n") + 1
    first = whole.index(b"\n", header) + 1
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        known = read(path)
        assert known == dict(FOUND[: (size >= first)]), size
        assert path.read_bytes() == whole[: header if size < first else first]
        written(path)
        assert read(path) == dict(FOUND)


def test_without_a_file_it_is_kept_in_memory():
    with EditRecord.opened(None, EditCosts()) as record:
        record.add(FOUND)
        assert record.known == dict(FOUND)


def test_other_files_and_other_costs_are_refused(tmp_path):
    path = tmp_path / "pairs.txt"
    written(path)
    with pytest.raises(ValueError, match=r"pairs.txt has edit distances with other costs, .*'node': 1.0"):
        read(path, EditCosts(node=2.0))
    for text in ("", "{", "[]", '{"format": "another"}', "a letter\nto somebody\n", json.dumps({"costs": {}}) + "\n"):
        path.write_text(text)
        if not "{".startswith(text):
            with pytest.raises(ValueError, match=r"pairs.txt is no file of edit distances"):
                read(path)
            assert path.read_text() == text


@pytest.mark.parametrize("line", [
    "", "a b 1 2 3", f"{A} {B} 1.0 2.0", f"{A} {B} 1.0 x 1.0", f"{B} {A} 1.0 2.0 1.0", f"{A} {B} 3.0 2.0 1.0",
    f"{A} {B} -1.0 2.0 1.0", f"{A} {B} 1.0 inf 1.0", f"{A} {B} nan 2.0 1.0", f"{A} {B} 1.0 2.0 nan", "\x00\xff",
])  # fmt: skip
def test_damaged_lines_are_named(tmp_path, line):
    path = tmp_path / "pairs.txt"
    written(path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], line, *lines[2:]]) + "\n")
    with pytest.raises(ValueError, match=re.escape("line 3 of pairs.txt is damaged")):
        read(path)


def test_a_full_disk_leaves_whole_lines(tmp_path, monkeypatch):
    path = tmp_path / "pairs.txt"
    written(path, FOUND[:1])
    before, write = path.read_bytes(), os.write

    def full(handle, content):
        if len(content) < 60:
            raise OSError(28, "No space left on device")
        return write(handle, content[:50])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="was not written: there is no space left"):
        written(path, FOUND[1:])
    assert path.read_bytes() == before


def _hold(path, held, done):
    with EditRecord.opened(path, EditCosts()):
        held.set()
        done.wait(60)


def test_one_process_at_a_time(tmp_path):
    path, context = tmp_path / "pairs.txt", multiprocessing.get_context("spawn")
    held, done = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(path, held, done))
    process.start()
    assert held.wait(60)
    try:
        with pytest.raises(ValueError, match=r"another process is writing pairs.txt"):
            read(path)
    finally:
        done.set()
        process.join()
    assert read(path) == {}
