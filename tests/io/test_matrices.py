import csv
import errno
import os

import joblib
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.io import matrices
from graph_metric_learn.io.matrices import write_csv, write_npy


@pytest.fixture
def curves(rng):
    return gml.as_curves([rng.normal(size=(n, 2)) for n in (3, 5, 4, 6)])


def test_a_matrix_of_all_pairs_and_of_two_sides(curves, tmp_path):
    write_npy(tmp_path / "all.npy", curves, None)
    write_npy(tmp_path / "two.npy", curves, curves[:2])
    whole = gml.pairwise_distances(curves)
    np.testing.assert_allclose(np.load(tmp_path / "all.npy"), whole, rtol=1e-6)
    np.testing.assert_allclose(np.load(tmp_path / "two.npy"), whole[:, :2], rtol=1e-6)


def test_csv_has_names_and_is_written_block_by_block(curves, tmp_path, monkeypatch):
    monkeypatch.setattr(matrices, "_BLOCK_BYTES", 40)  # two rows at a time
    names = ["a", 'b "quoted"', "c,d", "e"]
    write_csv(tmp_path / "all.csv", curves, None, names, names)
    with (tmp_path / "all.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["graph", *names]
    assert [row[0] for row in rows] == names
    np.testing.assert_allclose(np.array(rows)[:, 1:].astype(float), gml.pairwise_distances(curves), rtol=1e-5)


def test_an_interruption_leaves_the_old_file(curves, tmp_path, monkeypatch):
    (tmp_path / "all.npy").write_text("old")
    monkeypatch.setattr(
        matrices, "pairwise_distances", lambda *args, **options: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        write_npy(tmp_path / "all.npy", curves, None)
    assert (tmp_path / "all.npy").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["all.npy"]


@pytest.mark.parametrize("symmetric", [True, False])
def test_after_an_interruption_finished_blocks_are_not_computed_again(curves, tmp_path, monkeypatch, symmetric):
    """The last line of the log is cut off, as by a crash."""
    monkeypatch.setattr(matrices, "_BLOCK_ROWS", 2)
    other = None if symmetric else curves[:3]
    total, left, computed = 3 if symmetric else 4, 2, []
    real = matrices._distances

    def some(sides, block):
        if len(computed) == left:
            raise KeyboardInterrupt
        computed.append(block)
        return real(sides, block)

    monkeypatch.setattr(matrices, "_distances", some)
    with pytest.raises(KeyboardInterrupt):
        write_npy(tmp_path / "all.npy", curves, other)
    log = tmp_path / ".all.npy.partial" / "done"
    assert log.read_text().count("\n") == 2
    log.write_text(log.read_text()[:-1])
    assert not (tmp_path / "all.npy").exists()
    left = 10
    write_npy(tmp_path / "all.npy", curves, other)
    assert len(computed) == total + 1
    assert [path.name for path in tmp_path.iterdir()] == ["all.npy"]
    wanted = gml.pairwise_distances(curves, other)
    np.testing.assert_allclose(np.load(tmp_path / "all.npy"), wanted, rtol=1e-6, atol=1e-7)


def test_finished_blocks_of_something_else_are_not_used(curves, tmp_path, monkeypatch):
    monkeypatch.setattr(matrices, "_BLOCK_ROWS", 2)
    real, calls = matrices._distances, []

    def some(sides, block):
        if len(calls) == 1:
            raise KeyboardInterrupt
        calls.append(block)
        return real(sides, block)

    monkeypatch.setattr(matrices, "_distances", some)
    with pytest.raises(KeyboardInterrupt):
        write_npy(tmp_path / "all.npy", curves, None)
    monkeypatch.setattr(matrices, "_distances", real)
    turned = curves[[3, 2, 1, 0]]
    write_npy(tmp_path / "all.npy", turned, None)
    np.testing.assert_allclose(np.load(tmp_path / "all.npy"), gml.pairwise_distances(turned), rtol=1e-6, atol=1e-7)


def test_two_writers_of_one_file(curves, tmp_path, monkeypatch):
    real = matrices._distances

    def again(sides, block):
        with pytest.raises(ValueError, match=r"another process is writing all\.npy"):
            write_npy(tmp_path / "all.npy", curves, None)
        return real(sides, block)

    monkeypatch.setattr(matrices, "_distances", again)
    write_npy(tmp_path / "all.npy", curves, None)


def test_workers_compute_the_same(curves, tmp_path, monkeypatch):
    write_npy(tmp_path / "here.npy", curves, None)
    with joblib.parallel_config("loky", n_jobs=2):
        write_npy(tmp_path / "there.npy", curves, None)
    np.testing.assert_array_equal(np.load(tmp_path / "there.npy"), np.load(tmp_path / "here.npy"))


def test_distances_that_are_rounding_are_zero(curves, tmp_path):
    whole = gml.pairwise_distances(curves)
    floor = float(np.median(whole[whole > 0]))
    write_npy(tmp_path / "all.npy", curves, None, rounding=floor)
    write_csv(tmp_path / "all.csv", curves, None, list("abcd"), list("abcd"), rounding=floor)
    wanted = np.where(whole < floor, 0.0, whole)
    np.testing.assert_allclose(np.load(tmp_path / "all.npy"), wanted, rtol=1e-6)
    with (tmp_path / "all.csv").open(newline="") as file:
        written = np.array(list(csv.reader(file))[1:])[:, 1:].astype(float)
    np.testing.assert_allclose(written, wanted, rtol=1e-5)


def test_a_full_disk_is_noticed_before_anything_is_computed(curves, tmp_path, monkeypatch):
    def full(handle, start, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr(matrices, "pairwise_distances", lambda *args, **options: pytest.fail("computed"))
    with pytest.raises(OSError, match=r"all.npy was not written: there is no space left"):
        write_npy(tmp_path / "all.npy", curves, None)
    assert list(tmp_path.iterdir()) == []
