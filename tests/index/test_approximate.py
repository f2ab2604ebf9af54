import numpy as np
import pytest

from graph_metric_learn.index import approximate
from graph_metric_learn.index.approximate import ENGINES, Approximate, vectors_at
from graph_metric_learn.index.search import nearest
from vector_oracle import decaying, distances_to, segments_of


@pytest.fixture(params=["usearch", "faiss"])
def engine(request, monkeypatch):
    pytest.importorskip(request.param, reason="needs graph-metric-learn[index]")
    monkeypatch.setattr(approximate, "find_spec", lambda name: name == request.param or None)
    return ENGINES[request.param]


def test_most_neighbours_are_found_and_the_recall_says_how_many(engine, rng):
    vectors = decaying(rng, 2000, 24)
    dead = list(range(100, 200))
    segments, axes = segments_of(vectors, cuts=[500], dead=dead)
    found = Approximate(24)
    assert isinstance(found._engine, engine)
    found.follow(segments[:1], axes.coordinates)
    found.follow(segments, axes.coordinates)
    queries = decaying(rng, 30, 24)
    distances, rows = found.search(segments, queries, 10)
    exact, _ = nearest(segments, axes.coordinates(queries), queries, 10)
    share = (distances <= exact[:, -1:]).mean()
    assert share > 0.9
    assert abs(share - found.recall_) < 0.1
    assert not np.isin(rows, dead).any()
    np.testing.assert_allclose(distances[0], distances_to(vectors[rows[0]], queries[0]), rtol=1e-12)
    assert (np.diff(distances, axis=1) >= 0).all()


def test_the_recall_is_measured_again_when_the_index_has_grown(engine, rng, monkeypatch):
    vectors = decaying(rng, 400, 24)
    segments, axes = segments_of(vectors, cuts=[300, 310])
    found = Approximate(24)
    measured = []
    monkeypatch.setattr(found, "_measure", lambda segments, heads: measured.append(sum(map(len, segments))))
    for count in (1, 2, 3):
        found.follow(segments[:count], axes.coordinates)
    assert measured == [300, 400]


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
    segments, axes = segments_of(decaying(rng, 1000, 24))
    found = Approximate(24)
    found.follow(segments, axes.coordinates)
    assert found.recall_ < 0.2


def test_when_most_was_removed_the_rest_is_found(engine, rng):
    vectors = decaying(rng, 300, 24)
    segments, axes = segments_of(vectors, dead=list(range(295)))
    found = Approximate(24)
    found.follow(segments, axes.coordinates)
    _, rows = found.search(segments, vectors[:2], 5)
    assert [sorted(row) for row in rows.tolist()] == [[295, 296, 297, 298, 299]] * 2


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(approximate, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install graph-metric-learn\[index\]"):
        Approximate(3)


def test_vectors_of_rows(rng):
    vectors = decaying(rng, 50, 24)
    segments, _ = segments_of(vectors, cuts=[20])
    np.testing.assert_array_equal(vectors_at(segments, np.array([3, 19, 20, 49])), vectors[[3, 19, 20, 49]])
