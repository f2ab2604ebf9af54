import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graph_metric_learn as gml
from embedding_clouds import clouds, columns, fitted
from graph_metric_learn.embeddings import EMBEDDINGS, Axes, Embedding, restore
from graph_metric_learn.embeddings.base import subsample

IN_SPACE = [kind for kind, embedding in EMBEDDINGS.items() if not embedding.takes_columns]


@pytest.mark.parametrize("kind", IN_SPACE)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_the_numbering_of_the_points_does_not_matter(kind, seed):
    rng = np.random.default_rng(seed)
    points, sizes = clouds(rng, (7, 12))
    embedding = fitted(kind, points)
    order = np.concatenate([rng.permutation(7), 7 + rng.permutation(12)])
    one, two = embedding.vectors(points, sizes), embedding.vectors(points[order], sizes)
    np.testing.assert_allclose(one, two, atol=1e-4)


@pytest.mark.parametrize("kind", IN_SPACE)
def test_vectors_are_the_means_of_the_slots(rng, kind):
    points, sizes = clouds(rng)
    embedding = fitted(kind, points)
    vectors = embedding.vectors(points, sizes)
    shares = embedding.shares(points[5:14])
    np.testing.assert_allclose(shares.sum(1), 1.0, atol=1e-6)
    np.testing.assert_allclose(shares.sum(0), len(shares) / 9, atol=1e-6)
    assert (shares > -1e-12).all()
    np.testing.assert_allclose(vectors[1], shares @ points[5:14] / np.sqrt(len(shares)), atol=1e-5)


@pytest.mark.parametrize("kind", IN_SPACE)
def test_restored_from_options_and_arrays(rng, kind):
    points, sizes = clouds(rng)
    embedding = fitted(kind, points)
    again = restore(kind, embedding.options(), embedding.arrays())
    np.testing.assert_array_equal(embedding.vectors(points, sizes), again.vectors(points, sizes))


def test_options_of_the_constructor_come_back(rng):
    """Cells of projected transport are in no array: restored with other ones, vectors would have another length."""
    points, sizes = clouds(rng)
    embedding = Axes(2, 4).fit(points, sizes, np.random.default_rng(0))
    again = restore("axes", embedding.options(), embedding.arrays())
    assert again.options() == {"n_axes": 2, "n_cells": 4}
    np.testing.assert_array_equal(embedding.vectors(points, sizes), again.vectors(points, sizes))


@pytest.mark.parametrize("kind", EMBEDDINGS)
def test_comparisons_add_up_to_the_squared_distance(rng, kind):
    sizes = np.array([5, 9])
    if EMBEDDINGS[kind].takes_columns:
        points = columns(rng, sizes)
    else:
        points, _ = clouds(rng, tuple(sizes))
    embedding = fitted(kind, points)
    weights = rng.uniform(size=points.shape[1])
    one, two = embedding.vectors(points, sizes).astype(float)
    wanted = np.sum(weights * (one - two) ** 2)
    plan, source, target = embedding.compare(points[:5], points[5:], weights)
    np.testing.assert_allclose(plan.sum(1), 1 / 5, atol=1e-6)
    np.testing.assert_allclose(plan.sum(0), 1 / 9, atol=1e-6)
    assert plan.min() > -1e-12
    assert source.sum() == pytest.approx(wanted, rel=1e-4)
    assert target.sum() == pytest.approx(wanted, rel=1e-4)


def test_many_points_are_subsampled_in_their_order():
    points = np.arange(10_000.0)[:, None]
    some = subsample(points, np.random.default_rng(0))
    assert len(some) == 3000
    assert (np.diff(some[:, 0]) > 0).all()
    assert subsample(points[:3000], np.random.default_rng(0)) is not points
    np.testing.assert_array_equal(subsample(points[:3000], np.random.default_rng(0)), points[:3000])


def test_an_unknown_embedding_is_named():
    with pytest.raises(ValueError, match="unknown embedding 'best': use one of 'mean', 'reference'"):
        restore("best", {}, {})


class Extremes(Embedding):
    """The largest value in each column, and the smallest. A toy from outside the library."""

    name = "extremes"

    def __init__(self, n_repeats: int = 1) -> None:
        self.n_repeats = n_repeats

    def vectors(self, points, sizes):
        parts = np.split(points, np.cumsum(sizes)[:-1])
        return np.array([[part.max(0), part.min(0)] * self.n_repeats for part in parts], dtype=np.float32)

    def compare(self, x, z, weights):
        adds = ((x.max(0) - z.max(0)) ** 2 + (x.min(0) - z.min(0)) ** 2) @ weights
        n, m = len(x), len(z)
        return np.full((n, m), 1 / (n * m)), np.full(n, adds / n), np.full(m, adds / m)


def test_an_embedding_from_outside_is_used_from_end_to_end(monkeypatch, tmp_path, rng):
    monkeypatch.setitem(EMBEDDINGS, "extremes", Extremes)
    graphs, y = [], np.arange(40) % 2
    for kind in y:  # the same mean and variance; one class has outliers
        x = rng.uniform(-1, 1, size=(30, 1)) if kind else np.sign(rng.normal(size=(30, 1))) * 0.01
        x[0] = 3.0 if kind else 3.3
        graphs.append((np.zeros((30, 30)), x))
    metric = gml.GraphMetric(features=["attributes@0"], embedding="extremes", random_state=0).fit(graphs, y)
    assert list(metric.choice_.scores) == ["extremes of attributes@0"]
    assert metric.choice_.accuracy == 1.0
    loaded = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(loaded.transform(graphs), metric.transform(graphs))
    assert loaded.terms_[0].embedding.n_repeats == 1
    why = metric.explain(graphs[0], graphs[1])
    assert why.source_share.sum() == pytest.approx(1)
    every = gml.GraphMetric(features=["attributes@0"], random_state=0).fit(graphs, y)
    assert "extremes of attributes@0" in every.choice_.scores  # a candidate like any other
