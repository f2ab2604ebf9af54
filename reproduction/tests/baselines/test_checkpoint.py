import hashlib

import numpy as np
import pytest

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines import FGW, W2, EntropicW2
from graph_metric_learn_reproduction.baselines import checkpoint as module
from graph_metric_learn_reproduction.baselines.checkpoint import Checkpoint, fingerprint
from small_graphs import random_graphs


@pytest.fixture
def file(tmp_path):
    return tmp_path / "rows.npz"


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = {"seconds": 0.0}
    monkeypatch.setattr(module.time, "monotonic", lambda: now["seconds"])
    return now


def finish(checkpoint, row):
    checkpoint.upper[row, row + 1 :] = row + 1.0
    checkpoint.finish([row])


def test_rows_come_back_from_the_file(file):
    first = Checkpoint(file, "key", 4)
    finish(first, 1)
    first.save()
    second = Checkpoint(file, "key", 4)
    np.testing.assert_array_equal(second.done, [False, True, False, False])
    np.testing.assert_array_equal(second.upper, [[0, 0, 0, 0], [0, 0, 2, 2], [0, 0, 0, 0], [0, 0, 0, 0]])


def test_the_file_is_written_when_the_last_time_is_long_ago(file, clock):
    checkpoint = Checkpoint(file, "key", 4)
    clock["seconds"] = 30.0
    finish(checkpoint, 0)
    assert not file.exists()
    clock["seconds"] = 30.1
    finish(checkpoint, 1)
    assert Checkpoint(file, "key", 4).done.sum() == 2
    clock["seconds"] = 60.0
    finish(checkpoint, 2)
    assert Checkpoint(file, "key", 4).done.sum() == 2
    checkpoint.save()
    assert Checkpoint(file, "key", 4).done.sum() == 3


def test_nothing_new_is_not_written(file):
    Checkpoint(file, "key", 4).save()
    assert not file.exists()


def test_without_a_file_all_stays_in_memory(tmp_path):
    checkpoint = Checkpoint(None, "key", 4)
    finish(checkpoint, 0)
    checkpoint.save()
    assert list(tmp_path.iterdir()) == []
    assert checkpoint.done.sum() == 1


@pytest.mark.parametrize("cause", ["other key", "other number", "damage", "other arrays", "pickle"])
def test_a_file_that_does_not_fit_is_ignored_and_replaced(file, cause):
    old = Checkpoint(file, "old key" if cause == "other key" else "key", 5 if cause == "other number" else 4)
    finish(old, 0)
    old.save()
    if cause == "damage":
        file.write_bytes(file.read_bytes()[:100])
    elif cause == "other arrays":
        np.savez(file, something=np.zeros(3))
    elif cause == "pickle":
        np.savez(file, key=np.array([object()]), upper=np.ones((4, 4)), done=np.ones(4, dtype=bool))
    new = Checkpoint(file, "key", 4)
    assert not new.done.any()
    assert not new.upper.any()
    finish(new, 2)
    new.save()
    assert Checkpoint(file, "key", 4).done.tolist() == [False, False, True, False]


def test_the_fingerprint_knows_the_system_its_parameters_and_the_graphs(rng):
    graphs = random_graphs(rng, 3, smallest=3)
    (adjacency, x), *rest = graphs
    seen = {
        fingerprint(W2(), as_graphs(graphs)),
        fingerprint(EntropicW2(reg=0.1), as_graphs(graphs)),
        fingerprint(EntropicW2(reg=0.5), as_graphs(graphs)),
        fingerprint(W2(), as_graphs([(adjacency, x + 1.0), *rest])),
        fingerprint(W2(), as_graphs([(1.0 - adjacency, x), *rest])),
        fingerprint(W2(), as_graphs(rest)),
    }
    assert len(seen) == 6
    assert fingerprint(W2(), as_graphs(graphs)) in seen


def test_edge_data_is_part_of_the_key_only_where_it_is_used(rng):
    graphs = random_graphs(rng, 3, smallest=3)
    weighted = [(2.5 * a, x) for a, x in graphs]
    keys = [
        fingerprint(system, system.read(given)) for system in (FGW(), FGW(edges=True)) for given in (graphs, weighted)
    ]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    params = sorted({"alpha": 0.5, "solver": "lean"}.items())  # as before there was the option
    digest = hashlib.sha256(f"fgw {params!r}".encode())
    given = FGW().read(graphs)
    for array in (given.sizes, given.edges, given.x):
        digest.update(f"{array.shape} {array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    assert keys[0] == digest.hexdigest()
