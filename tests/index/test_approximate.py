import numpy as np
import pytest

from graph_metric_learn.index import approximate
from graph_metric_learn.index.approximate import ENGINES, Approximate
from graph_metric_learn.index.search import nearest
from vector_oracle import decaying, distances_to, state_of


@pytest.fixture(params=["usearch", "faiss"])
def engine(request, monkeypatch):
    pytest.importorskip(request.param, reason="needs graph-metric-learn[index]")
    monkeypatch.setattr(approximate, "find_spec", lambda name: name == request.param or None)
    return ENGINES[request.param]


def test_most_neighbours_are_found_and_the_recall_says_how_many(engine, rng):
    vectors = decaying(rng, 2000, 24)
    dead = list(range(100, 200))
    state = state_of(vectors, cuts=[500], dead=dead)
    found = Approximate(24)
    assert isinstance(found._engine, engine)
    found.follow(state_of(vectors[:500], dead=dead))
    found.follow(state)
    queries = decaying(rng, 30, 24)
    distances, rows = found.search(state, queries, 10)
    exact, _ = nearest(state, queries, 10)
    share = (distances <= exact[:, -1:]).mean()
    assert share > 0.9
    assert abs(share - found.recall_) < 0.1
    assert not np.isin(rows, dead).any()
    np.testing.assert_allclose(distances[0], distances_to(vectors[rows[0]], queries[0]), rtol=1e-12)
    assert (np.diff(distances, axis=1) >= 0).all()


def test_the_recall_is_measured_again_when_the_index_has_grown(engine, rng):
    vectors = decaying(rng, 400, 24)
    approximate, recalls = Approximate(24), []
    for count in (300, 310, 400):
        approximate.follow(state_of(vectors[:count]))
        recalls.append(approximate.recall_)
        approximate.recall_ = None
    assert [recall is not None for recall in recalls] == [True, False, True]


def test_a_poor_engine_has_a_poor_recall(rng, monkeypatch):
    class Poor:
        def __init__(self, width):
            pass

        def add(self, first, vectors):
            pass

        def search(self, queries, k):
            return np.tile(np.arange(k), (len(queries), 1))

    monkeypatch.setitem(ENGINES, "usearch", Poor)
    monkeypatch.setattr(approximate, "find_spec", lambda name: name)
    state = state_of(decaying(rng, 1000, 24))
    found = Approximate(24)
    found.follow(state)
    assert found.recall_ < 0.2


def test_when_most_was_removed_the_rest_is_found(engine, rng):
    vectors = decaying(rng, 300, 24)
    state = state_of(vectors, dead=list(range(295)))
    found = Approximate(24)
    found.follow(state)
    _, rows = found.search(state, vectors[:2], 5)
    assert [sorted(row) for row in rows.tolist()] == [[295, 296, 297, 298, 299]] * 2


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(approximate, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install graph-metric-learn\[index\]"):
        Approximate(3)
