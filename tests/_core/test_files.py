import os

import pytest

from graph_metric_learn._core.files import write_atomic


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = write_atomic(tmp_path / "deep" / "a.txt", "old")
    monkeypatch.setattr(os, "replace", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_atomic(path, "new", overwrite=True)
    assert path.read_text() == "old"
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


def test_overwriting_must_be_asked_for(tmp_path):
    path = write_atomic(tmp_path / "a.txt", b"old")
    with pytest.raises(ValueError, match=r"a\.txt exists already"):
        write_atomic(path, b"new")
    assert write_atomic(path, b"new", overwrite=True).read_bytes() == b"new"
