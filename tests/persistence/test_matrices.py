import csv
import errno
import os

import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.persistence import matrices
from graph_metric_learn.persistence.matrices import write_csv, write_npy


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
