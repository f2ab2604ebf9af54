import errno
import os
import subprocess
import sys

import pytest

from graph_metric_learn._core.files import check_writable, fcntl, locked, new_file, write_atomic


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = write_atomic(tmp_path / "deep" / "a.txt", "old")
    monkeypatch.setattr(os, "replace", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_atomic(path, "new", overwrite=True)
    assert path.read_text() == "old"
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


@pytest.mark.skipif(fcntl is None, reason="no locks here")
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    """But not what another process writes to, what is new, or what has another name."""
    code = (
        "import os, signal, sys; from graph_metric_learn._core.files import new_file\n"
        "with new_file(sys.argv[1]) as name:\n"
        "    name.write_bytes(b'half'); os.utime(name, (0, 0)); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "page[1].html"
    assert subprocess.run([sys.executable, "-c", code, path], check=False).returncode < 0
    others = [tmp_path / ".other.html.abcdefgh", tmp_path / ".page[1].html.kept", tmp_path / ".page[1].html.newnewne"]
    for other in others:
        other.write_text("")
        os.utime(other, (0, 0))
    os.utime(others[2])
    assert len(list(tmp_path.iterdir())) == 4
    with new_file(path) as under_way:
        os.utime(under_way, (0, 0))
        write_atomic(path, "whole")
        assert sorted(tmp_path.iterdir()) == sorted([*others, path, under_way])
    assert sorted(tmp_path.iterdir()) == sorted([*others, path])


def test_overwriting_must_be_asked_for(tmp_path):
    path = write_atomic(tmp_path / "a.txt", b"old")
    with pytest.raises(ValueError, match=r"a\.txt exists already"):
        write_atomic(path, b"new")
    assert write_atomic(path, b"new", overwrite=True).read_bytes() == b"new"


def test_a_full_disk_is_said_with_the_name_of_the_file(tmp_path):
    def full():
        with new_file(tmp_path / "a.npy") as name:
            name.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"a.npy was not written: there is no space left"):
        full()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="no posix_fallocate here")
def test_room_is_taken_before_it_is_used(tmp_path):
    """Under a limit on the size of files, as on a full disk, it is an error and not a signal."""
    code = (
        "import resource, sys; from graph_metric_learn._core.files import new_file, reserve\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, 2**16))\n"
        "try:\n"
        "    with new_file(sys.argv[1]) as name: reserve(name, 2**20)\n"
        "except OSError as error: print('refused', error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, tmp_path / "x.npy"], capture_output=True, text=True, check=True)
    assert "refused" in ran.stdout
    assert "x.npy was not written" in ran.stdout
    assert list(tmp_path.iterdir()) == []


def test_whether_a_place_can_be_written(tmp_path):
    check_writable(tmp_path / "new" / "folder" / "x.npy")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="is not a folder"):
        check_writable(tmp_path / "file" / "x.npy")


@pytest.mark.skipif(fcntl is None, reason="no locks here")
def test_one_holds_the_lock(tmp_path):
    with locked(tmp_path) as first, locked(tmp_path) as second:
        assert first
        assert not second
    with locked(tmp_path) as again:
        assert again
