import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graph_metric_learn as gml
from embedding_clouds import clouds, dense, drawn, fitted
from graph_metric_learn.embeddings import EMBEDDINGS, Axes, Embedding, Mean, restore
from graph_metric_learn.embeddings.embedding import subsample

IN_SLOTS = [kind for kind, embedding in EMBEDDINGS.items() if embedding.attribute is Embedding.attribute]
FIT = np.array([7, 12])


def random_pair(kind, seed):
    """A fitted embedding and two clouds; among named points some names are new to it."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, size=2)
    embedding = fitted(kind, drawn(kind, rng, FIT)[:: 1 + seed % 2 * 6])  # every other time from few points
    points = drawn(kind, rng, sizes)
    return embedding, points[: sizes[0]], points[sizes[0] :], rng


def difference(embedding, x, z):
    one, two = (dense(embedding.vectors(cloud, np.array([len(cloud)])))[0] for cloud in (x, z))
    return one - two


@pytest.mark.parametrize("kind", EMBEDDINGS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_the_numbering_of_the_points_does_not_matter(kind, seed):
    rng = np.random.default_rng(seed)
    points = drawn(kind, rng, FIT)
    embedding = fitted(kind, points)
    order = np.concatenate([rng.permutation(7), 7 + rng.permutation(12)])
    one, two = dense(embedding.vectors(points, FIT)), dense(embedding.vectors(points[order], FIT))
    np.testing.assert_allclose(one, two, atol=1e-4)


@pytest.mark.parametrize("kind", IN_SLOTS)
def test_vectors_are_the_means_of_the_slots(rng, kind):
    points, sizes = clouds(rng)
    embedding = fitted(kind, points)
    vectors = embedding.vectors(points, sizes)
    shares = embedding.shares(points[5:14])
    np.testing.assert_allclose(shares.sum(1), 1.0, atol=1e-6)
    np.testing.assert_allclose(shares.sum(0), len(shares) / 9, atol=1e-6)
    assert (shares > -1e-12).all()
    np.testing.assert_allclose(vectors[1], shares @ points[5:14] / np.sqrt(len(shares)), atol=1e-5)


@pytest.mark.parametrize("kind", EMBEDDINGS)
def test_restored_from_options_and_arrays(rng, kind):
    sizes = np.array([5, 9, 1, 16])
    points, new = drawn(kind, rng, sizes), drawn(kind, rng, sizes)
    embedding = fitted(kind, points[:3])
    again = restore(kind, embedding.options(), embedding.arrays(), points.shape[1])
    assert type(again) is type(embedding)
    np.testing.assert_array_equal(dense(embedding.vectors(new, sizes)), dense(again.vectors(new, sizes)))


def test_options_of_the_constructor_come_back(rng):
    """Cells of projected transport are in no array: restored with other ones, vectors would have another length."""
    points, sizes = clouds(rng)
    embedding = Axes(2, 4).fit(points, sizes, np.random.default_rng(0))
    again = restore("axes", embedding.options(), embedding.arrays(), points.shape[1])
    assert again.options() == {"n_axes": 2, "n_cells": 4}
    np.testing.assert_array_equal(embedding.vectors(points, sizes), again.vectors(points, sizes))


@pytest.mark.parametrize("kind", EMBEDDINGS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_what_points_add_adds_up_to_the_product(kind, seed):
    """Of any gradient with the difference of the two vectors, on both sides."""
    embedding, x, z, rng = random_pair(kind, seed)
    gap = difference(embedding, x, z)
    for gradient in (rng.normal(size=len(gap)), gap):
        source, target = embedding.attribute(x, z, gradient)
        assert source.shape == (len(x),)
        assert target.shape == (len(z),)
        wanted = gradient @ gap
        scale = np.abs(gradient) @ np.abs(gap) + 1e-3
        assert source.sum() == pytest.approx(wanted, abs=1e-4 * scale)
        assert target.sum() == pytest.approx(wanted, abs=1e-4 * scale)


@pytest.mark.parametrize("kind", EMBEDDINGS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_what_points_add_goes_with_them(kind, seed):
    """Renumbered points add what they added before; and the two clouds have the same say."""
    embedding, x, z, rng = random_pair(kind, seed)
    gradient = rng.normal(size=difference(embedding, x, z).shape)
    source, target = embedding.attribute(x, z, gradient)
    one, two = rng.permutation(len(x)), rng.permutation(len(z))
    moved = embedding.attribute(x[one], z[two], gradient)
    np.testing.assert_allclose(moved[0], source[one], atol=1e-4)
    np.testing.assert_allclose(moved[1], target[two], atol=1e-4)
    swapped = embedding.attribute(z, x, -gradient)
    np.testing.assert_allclose(swapped[0], target, atol=1e-6)
    np.testing.assert_allclose(swapped[1], source, atol=1e-6)


@pytest.mark.parametrize("kind", EMBEDDINGS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_plans_spend_the_mass_of_every_point(kind, seed):
    embedding, x, z, rng = random_pair(kind, seed)
    plan = embedding.plan(x, z)
    np.testing.assert_allclose(plan.sum(1), np.full(len(x), 1 / len(x)), atol=1e-6)
    np.testing.assert_allclose(plan.sum(0), np.full(len(z), 1 / len(z)), atol=1e-6)
    assert plan.min() > -1e-12
    one, two = rng.permutation(len(x)), rng.permutation(len(z))
    np.testing.assert_allclose(embedding.plan(x[one], z[two]), plan[np.ix_(one, two)], atol=1e-5)


@pytest.mark.parametrize("kind", IN_SLOTS)
def test_a_point_is_compared_with_the_mean_of_its_slots(rng, kind):
    """By loops over slots and points, from the shares."""
    embedding, x, z, _ = random_pair(kind, 3)
    left, right = embedding.shares(x), embedding.shares(z)
    gradient = rng.normal(size=(len(left), x.shape[1]))
    source, _ = embedding.attribute(x, z, gradient.reshape(-1))
    for i in range(len(x)):
        wanted = sum(left[s, i] * gradient[s] @ (x[i] - right[s] @ z) / np.sqrt(len(left)) for s in range(len(left)))
        assert source[i] == pytest.approx(wanted, abs=1e-5)


def test_many_points_are_subsampled_in_their_order():
    points = np.arange(10_000.0)[:, None]
    some = subsample(points, np.random.default_rng(0))
    assert len(some) == 3000
    assert (np.diff(some[:, 0]) > 0).all()
    assert subsample(points[:3000], np.random.default_rng(0)) is not points
    np.testing.assert_array_equal(subsample(points[:3000], np.random.default_rng(0)), points[:3000])


def test_an_unknown_embedding_is_named():
    with pytest.raises(ValueError, match="unknown embedding 'best': use one of 'mean', 'reference'"):
        restore("best", {}, {}, 1)


class Extremes(Embedding):
    """The largest value in each column, and the smallest. A toy from outside the library."""

    name = "extremes"

    def __init__(self, n_repeats: int = 1) -> None:
        self.n_repeats = n_repeats

    def vectors(self, points, sizes):
        parts = np.split(points, np.cumsum(sizes)[:-1])
        return np.array([[part.max(0), part.min(0)] * self.n_repeats for part in parts], dtype=np.float32)


class ExplainedExtremes(Extremes):
    """The same, with its distances explained: all points share them."""

    def plan(self, x, z):
        return np.full((len(x), len(z)), 1 / (len(x) * len(z)))

    def attribute(self, x, z, gradient):
        one, two = self.vectors(np.concatenate([x, z]), np.array([len(x), len(z)])).reshape(2, -1)
        return tuple(np.full(len(points), gradient @ (one - two) / len(points)) for points in (x, z))


def test_an_embedding_from_outside_is_used_from_end_to_end(monkeypatch, tmp_path, rng):
    monkeypatch.setitem(EMBEDDINGS, "extremes", ExplainedExtremes)
    graphs, y = [], np.arange(40) % 2
    for kind in y:  # the same mean and variance; one class has outliers
        x = rng.uniform(-1, 1, size=(30, 1)) if kind else np.sign(rng.normal(size=(30, 1))) * 0.01
        x[0] = 3.0 if kind else 3.3
        graphs.append((np.zeros((30, 30)), x))
    metric = gml.GraphMetric(features=["attributes@0"], embedding="extremes", random_state=0).fit(graphs, y)
    assert metric.weights_ == {"attributes@0 (extremes)": 1.0}
    assert gml.GraphKNNClassifier(metric).fit(graphs, y).score(graphs, y) == 1.0
    loaded = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(loaded.transform(graphs), metric.transform(graphs))
    (family,) = loaded.mixture_.describer.families.values()
    assert family.embeddings[0].n_repeats == 1
    why = metric.explain(graphs[0], graphs[1])
    assert why.source_share.sum() == pytest.approx(1)
    every = gml.GraphMetric(features=["attributes@0"], random_state=0).fit(graphs, y)
    assert "attributes@0 (extremes)" in every.weights_  # a family like any other


def test_an_embedding_that_cannot_explain_says_so():
    points = np.ones((3, 2), dtype=np.float32)
    for explain in (Extremes().plan, lambda x, z: Extremes().attribute(x, z, np.ones(4))):
        with pytest.raises(NotImplementedError, match="Extremes defines no shares, or plan and attribute"):
            explain(points, points)


def test_mean(rng):
    points, sizes = clouds(rng)
    vectors = Mean().vectors(points, sizes)
    np.testing.assert_allclose(vectors[1, 0], points[5:14].mean(0), rtol=1e-5)
