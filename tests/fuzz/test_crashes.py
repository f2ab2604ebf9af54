"""Processes that are killed at every step of writing: what is read afterwards is the old state or the new one, whole.

A shim counts the calls of `os` by which files come to be, and kills its own process (SIGKILL) at the n-th of them.
"""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.io.models import load_model, save_model

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

STEPS = ("open", "mkdir", "write", "fsync", "rename", "replace", "chmod", "unlink", "close", "posix_fallocate", "rmdir")
MOST = 200  # steps of one operation


def kill_at(step):
    """Makes this process end at its n-th step, as by `kill -9`; what it was writing then is there by half."""
    left = [step]

    def shim(real):
        def call(*args, **options):
            left[0] -= 1
            if left[0] < 0:
                if real.__name__ == "write":
                    real(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), 9)
            return real(*args, **options)

        return call

    for name in STEPS:
        setattr(os, name, shim(getattr(os, name)))


def killed_at_every_step(prepare, work, check):
    """Runs `work` in a forked process that is killed at step 0, 1, …, until it comes to its end; checks each time."""
    for step in range(MOST):
        prepare()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                kill_at(step)
                work()
                code = 0
            finally:
                os._exit(code)
        status = os.waitpid(child, 0)[1]
        check()
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            return step
    raise AssertionError("it never came to its end")


OLD, NEW = ({"theta": np.full((3, 2), value, dtype=np.float32)} for value in (1.0, 2.0))


def found(path):
    """Which model is in the folder: its number, or None without a folder."""
    if not path.exists():
        return None
    _, config, tensors = load_model(path, "Toy")
    assert (tensors["theta"] == config["number"]).all()
    return config["number"]


def empty(folder):
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir()


def test_saving(tmp_path):
    path, seen = tmp_path / "place" / "model", set()
    steps = killed_at_every_step(
        lambda: empty(path.parent),
        lambda: save_model(path, "Toy", {"number": 1}, OLD),
        lambda: seen.add(found(path)),
    )
    assert steps > 5
    assert seen == {None, 1}
    save_model(path, "Toy", {"number": 2}, NEW, overwrite=True)
    assert os.listdir(path.parent) == ["model"]


def test_overwriting_always_leaves_a_model(tmp_path):
    path, seen = tmp_path / "place" / "model", set()

    def prepare():
        empty(path.parent)
        save_model(path, "Toy", {"number": 1}, OLD)

    def check():
        seen.add(found(path))
        save_model(path, "Toy", {"number": 3}, {"theta": OLD["theta"] * 3}, overwrite=True)  # what is left is removed
        assert found(path) == 3
        assert len(os.listdir(path)) == 2
        assert os.listdir(path.parent) == ["model"]

    steps = killed_at_every_step(prepare, lambda: save_model(path, "Toy", {"number": 2}, NEW, overwrite=True), check)
    assert steps > 5
    assert seen == {1, 2}


def test_a_matrix_of_distances(tmp_path):
    from graph_metric_learn.io.matrices import write_npy

    curves = gml.as_curves([np.ones((2, 1)), np.zeros((3, 1))])
    wanted, file = gml.pairwise_distances(curves), tmp_path / "place" / "d.npy"

    def check():
        if file.exists():
            np.testing.assert_allclose(np.load(file), wanted)

    assert killed_at_every_step(lambda: empty(file.parent), lambda: write_npy(file, curves, None), check) > 4


def test_many_writers_of_one_model(tmp_path):
    """One wins, others are told; there is a whole model at every moment, and nothing else at the end."""
    path, errors, stop = tmp_path / "place" / "model", [], threading.Event()
    path.parent.mkdir()

    def write(number):
        theta = {"theta": np.full((3, 2), number, np.float32)}
        for _ in range(10):
            try:
                save_model(path, "Toy", {"number": number}, theta, overwrite=True)
            except ValueError as error:
                errors.append(str(error))

    def read():
        while not stop.is_set():
            found(path)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(number,)) for number in range(1, 7)]
    reader.start()
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    stop.set()
    reader.join()
    assert all("is being written by somebody else" in error for error in errors)
    assert found(path) in range(1, 7)
    save_model(path, "Toy", {"number": 7}, {"theta": np.full((3, 2), 7, np.float32)}, overwrite=True)
    assert os.listdir(path.parent) == ["model"]
    assert len(os.listdir(path)) == 2


def test_the_version_of_the_library_is_recorded(tmp_path):
    save_model(tmp_path / "m", "Toy", {"number": 1}, OLD)
    head = json.loads((tmp_path / "m" / "model.json").read_text())
    assert head["library"] == __import__("graph_metric_learn").__version__


def test_the_shim_kills(tmp_path):
    """Otherwise nothing here is a test."""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_crashes, os\n"
    code += "test_crashes.kill_at(0); os.mkdir('x')"
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert ran.returncode == -9
    assert not (tmp_path / "x").exists()
