import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_metric_learn.index import rows as rows_module
from graph_metric_learn.index.folder import create
from graph_metric_learn.index.rows import State
from graph_metric_learn.index.search import nearest
from graph_metric_learn.index.store import Store
from toy_metrics import FirstColumn, points
from vector_oracle import distances_to

WIDTH = 18


def contents(store):
    """Vectors and metadata by id, read row by row."""
    state, found = store.state, {}
    for row in state.alive:
        (name,), (note,) = state.catalogue.ids(np.array([row])), state.metadata(np.array([row]))
        assert name not in found
        found[name] = state.arrays["vectors"][row].tolist(), note
    return found


def vectors_for(rng, n):
    return rng.normal(size=(n, WIDTH)).astype(np.float32)


@pytest.fixture(params=["memory", "disk"])
def opened(request, tmp_path):
    """An empty store, and a function that opens it anew."""
    if request.param == "memory":
        store = Store()
        return store, lambda: store
    path = create(tmp_path / "index", State(), FirstColumn().fit(points(1, 2)))
    return Store.open(path), lambda: Store.open(path)


def test_add_update_remove_compact(opened, rng):
    store, again = opened
    first, more = vectors_for(rng, 5), vectors_for(rng, 2)
    assert store.add(first, ["a", "b", 7, "d", -1], ["x", None, 3, None, None]) == ["a", "b", 7, "d", -1]
    assert store.add(more[:1]) == [8]  # the number after the largest
    store.update(more[1:], ["b"])
    store.update(first[:1], ["d"], ["new"])
    store.remove(["a", 7])
    expected = {
        "b": (more[1].tolist(), None),
        "d": (first[0].tolist(), "new"),
        -1: (first[4].tolist(), None),
        8: (more[0].tolist(), None),
    }
    for _ in range(2):
        assert contents(store) == contents(again()) == expected
        assert len(store) == 4
        store.compact()
    assert store.state.count == 4
    assert store.add(first[:1]) == [9]


def test_updating_keeps_metadata_unless_told(opened, rng):
    store, again = opened
    store.add(vectors_for(rng, 2), ["a", "b"], [{"n": 1}, {"n": 2}])
    store.update(vectors_for(rng, 1), ["a"])
    state = again().state
    assert state.metadata(state.rows_of(["a", "b"])) == [{"n": 1}, {"n": 2}]


def test_what_is_refused_changes_nothing(opened, rng):
    store, again = opened
    store.add(vectors_for(rng, 2), ["a", "b"])
    before = contents(store)
    with pytest.raises(ValueError, match="id 'b' is in the index already"):
        store.add(vectors_for(rng, 2), ["c", "b"])
    with pytest.raises(ValueError, match="id 'c' is not in the index"):
        store.update(vectors_for(rng, 2), ["a", "c"])
    with pytest.raises(ValueError, match="id 5 is not in the index"):
        store.remove(["a", 5])
    with pytest.raises(ValueError, match="vectors of width 3, those of the index have 18"):
        store.add(np.zeros((1, 3), np.float32))
    assert contents(store) == contents(again()) == before


def test_everything_can_be_removed(opened, rng):
    store, again = opened
    store.add(vectors_for(rng, 3))
    store.remove([0, 1, 2])
    store.compact()
    assert len(store) == len(again()) == 0
    store.close()
    store = again()
    assert store.add(vectors_for(rng, 1)) == [3]  # numbers are not used twice
    assert len(again()) == 1
    store.remove([3])
    assert len(again()) == 0
    store.close()
    assert again().add(vectors_for(rng, 1)) == [4]


def test_one_by_one_is_as_together_and_axes_follow(opened, rng):
    store, again = opened
    vectors = vectors_for(rng, 300) * np.linspace(1, 9, WIDTH, dtype=np.float32)
    for row in range(300):
        store.add(vectors[row : row + 1])
    state = again().state
    assert state.axes.fitted_to == 256
    queries = vectors[:7]
    distances, rows = nearest(state, queries, 4)
    for q in range(7):
        exact = distances_to(vectors, queries[q])
        assert state.catalogue.ids(rows[q]) == np.argsort(exact, kind="stable")[:4].tolist()
        np.testing.assert_allclose(distances[q], np.sort(exact)[:4], atol=1e-12)


def test_compaction_leaves_no_gaps_however_many_rows_are_read_at_a_time(opened, rng, monkeypatch):
    monkeypatch.setattr(rows_module, "_BATCH_BYTES", 50 * 4 * WIDTH)
    store, again = opened
    vectors = vectors_for(rng, 230)
    for lo, hi in ((0, 130), (130, 140), (140, 230)):
        store.add(vectors[lo:hi])
    store.remove([0, 131, 229])
    store.compact()
    assert store.state.count == 227
    kept = [i for i in range(230) if i not in (0, 131, 229)]
    assert contents(again()) == {i: (vectors[i].tolist(), None) for i in kept}
    assert list(contents(again())) == kept  # in the order of adding


def test_a_state_stays_as_it_was(opened, rng):
    """Also its ids and metadata, after these graphs were replaced, removed, and everything was written anew."""
    store, _ = opened
    store.add(vectors_for(rng, 3), ["a", "b", 7], ["x", "y", None])
    before, wanted = store.state, contents(store)
    store.update(vectors_for(rng, 1), ["a"], ["new"])
    store.remove([7])
    store.add(vectors_for(rng, 200))
    store.compact()
    assert contents(Store(before)) == wanted
    assert before.find(["a", "b", 7, 8]).tolist() == [0, 1, 2, -1]
    assert before.metadata(before.rows_of(["a"])) == ["x"]
    assert store.state.metadata(store.state.rows_of(["a"])) == ["new"]


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "update", "remove", "compact", "reopen"]),
        st.lists(
            st.one_of(st.integers(-3, 12), st.sampled_from(list("abcdefgh"))), min_size=1, max_size=4, unique=True
        ),
        st.booleans(),
    ),
    max_size=25,
)


@pytest.mark.parametrize("on_disk", [False, True])
@settings(max_examples=30)
@given(changes=CHANGES, seed=st.integers(0, 9))
def test_any_sequence_of_changes_is_that_of_a_dictionary(tmp_path_factory, on_disk, changes, seed):
    rng = np.random.default_rng(seed)
    store, expected = Store(), {}
    if on_disk:
        path = create(tmp_path_factory.mktemp("any") / "index", State(), FirstColumn().fit(points(1, 2)))
        store = Store.open(path)
    for what, ids, with_notes in changes:
        vectors = vectors_for(rng, len(ids))
        notes = [str(i) for i in ids] if with_notes else None
        rows = {i: (v.tolist(), None if notes is None else str(i)) for i, v in zip(ids, vectors, strict=True)}
        if what == "add":
            if any(i in expected for i in ids):
                with pytest.raises(ValueError, match="is in the index already"):
                    store.add(vectors, ids, notes)
            else:
                store.add(vectors, ids, notes)
                expected |= rows
        elif what in ("update", "remove") and any(i not in expected for i in ids):
            with pytest.raises(ValueError, match="is not in the index"):
                store.update(vectors, ids) if what == "update" else store.remove(ids)
        elif what == "update":
            store.update(vectors, ids, notes)
            expected |= {i: (v, n if with_notes else expected[i][1]) for i, (v, n) in rows.items()}
        elif what == "remove":
            store.remove(ids)
            for i in ids:
                del expected[i]
        elif what == "compact":
            store.compact()
        elif on_disk:
            store.close()
            store = Store.open(path)
        assert contents(store) == expected
        if expected:
            state = store.state
            query = vectors[:1]
            k = min(3, len(expected))
            distances, found = nearest(state, query, k)
            exact = np.sort(distances_to([v for v, _ in expected.values()], query[0]))[:k]
            np.testing.assert_allclose(distances[0], exact, rtol=1e-12, atol=1e-12)
            assert (state.find(state.catalogue.ids(found[0])) == found[0]).all()
    store.close()


def test_searches_go_on_while_others_change(rng):
    store = Store()
    store.add(vectors_for(rng, 200))
    failures, stop = [], threading.Event()

    def search(seed):
        own = np.random.default_rng(seed)
        while not stop.is_set():
            state, query = store.state, vectors_for(own, 1)
            distances, rows = nearest(state, query, 20)
            if len(set(state.catalogue.ids(rows[0]))) != 20 or (np.diff(distances[0]) < 0).any():
                failures.append(rows)

    threads = [threading.Thread(target=search, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for step in range(100):
        store.add(vectors_for(rng, 3), [f"{step} {i}" for i in range(3)])
        store.remove([f"{step} 1", step])
        if step % 30 == 0:
            store.compact()
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(store) == 200 + 100 * 3 - 2 * 100
