import pickle

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.predictors.reference_graphs import ReferenceGraphs
from graph_metric_learn.transport import Embedded
from vector_oracle import decaying, nearest_rows


def vectors(rng, n, d=20):
    return gml.Vectors(torch.from_numpy(decaying(rng, n, d)), numpy=True)


def curves(rng, n):
    return gml.as_curves([rng.normal(size=(3, 2)).astype(np.float32) for _ in range(n)])


@pytest.mark.parametrize("kind", [vectors, curves])
def test_growing_leaves_the_earlier_moment_as_it_was(rng, kind):
    first, more = kind(rng, 40), kind(rng, 2)
    before = ReferenceGraphs(first, np.arange(40) % 3)
    after = before.grown(more, np.array([7, 1]), None)
    assert (len(before), len(after)) == (40, 42)
    assert after.y.tolist() == [*(np.arange(40) % 3), 7, 1]
    np.testing.assert_array_equal(after.embedded.values, Embedded.concatenate([first, more]).values)
    for moment, count in ((before, 40), (after, 42)):
        expected = gml.kneighbors(more, moment.embedded, n_neighbors=count)
        found = moment.nearest(more, count, "auto")
        np.testing.assert_allclose(found[0], expected[0], atol=1e-5)
        np.testing.assert_array_equal(found[1], expected[1])
        np.testing.assert_allclose(
            moment.distances(more, "auto"), gml.pairwise_distances(more, moment.embedded), atol=1e-5
        )


def test_vectors_are_searched_exactly_and_seldom_copied(rng):
    values = vectors(rng, 5000)
    moment = ReferenceGraphs(values, np.zeros(5000))
    queries, where = vectors(rng, 3), set()
    moment.nearest(queries, 6, "cpu")
    assert np.shares_memory(moment._state.arrays["vectors"], values.values.numpy())
    for _ in range(30):
        moment = moment.grown(vectors(rng, 1), np.ones(1), None)
        where.add(moment._state.arrays["vectors"].ctypes.data)
    assert len(where) == 1  # room for half as many more was made once
    distances, rows = moment.nearest(queries, 6, "cpu")
    for q in range(3):
        expected, where = nearest_rows(moment.embedded.values.numpy(), queries.values[q].numpy(), 6)
        np.testing.assert_array_equal(rows[q], where)
        np.testing.assert_allclose(distances[q], expected, rtol=1e-6)


def test_names_of_those_with_and_without(rng):
    names = np.array(["water", "salt"], dtype=object)
    plain = ReferenceGraphs(vectors(rng, 2), np.zeros(2))
    assert plain.grown(vectors(rng, 1), np.zeros(1), None).names is None
    assert plain.grown(vectors(rng, 2), np.zeros(2), names).names.tolist() == ["0", "1", "water", "salt"]
    named = ReferenceGraphs(vectors(rng, 2), np.zeros(2), names)
    assert named.grown(vectors(rng, 1), np.zeros(1), None).names.tolist() == ["water", "salt", "2"]


def test_classes_follow(rng):
    first = ReferenceGraphs(vectors(rng, 2), np.array(["b", "a"]))
    assert first.classes.tolist() == ["a", "b"]
    assert first.grown(vectors(rng, 1), np.array(["abc"]), None).classes.tolist() == ["a", "abc", "b"]


def test_rounding_and_pickling(rng):
    values = vectors(rng, 120)
    moment = ReferenceGraphs(values[:110], np.zeros(110)).grown(values[110:], np.ones(10), None)
    expected = 1e-6 * gml.pairwise_distances(values[:100]).max()
    assert moment.rounding == pytest.approx(expected, rel=1e-4)
    copy = pickle.loads(pickle.dumps(moment))
    np.testing.assert_array_equal(copy.embedded.values, values.values)
    np.testing.assert_array_equal(copy.y, moment.y)
    np.testing.assert_array_equal(copy.nearest(values, 3, "auto")[1], moment.nearest(values, 3, "auto")[1])
