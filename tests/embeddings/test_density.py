import numpy as np
import pytest

import graph_metric_learn as gml
from embedding_clouds import clouds, fitted
from graph_metric_learn._core.schema import FieldError
from graph_metric_learn.embeddings import EMBEDDINGS, Density, density
from graph_metric_learn.embeddings.embedding import restore


def exact_square(x, z, spread):
    """The squared distance of two smoothed densities, by loops over all pairs of points and over widths."""

    def mean_kernel(one, two):
        widths = spread * np.geomspace(*density._WIDTHS, 200)
        squares = [float(((a - b) ** 2).sum()) for a in one for b in two]
        return float(np.mean([np.exp(-square / (2 * widths)).mean() for square in squares]))

    return mean_kernel(x, x) + mean_kernel(z, z) - 2 * mean_kernel(x, z)


def test_the_vector_is_the_mean_of_the_waves(rng):
    points, sizes = clouds(rng)
    embedding = fitted("density", points)
    vector = embedding.vectors(points, sizes)[1, 0]
    wanted = []
    for wave in (np.cos, np.sin):
        for frequency in embedding.frequencies.T:
            wanted.append(np.mean([wave(float(frequency @ x)) for x in points[5:14].astype(float)]) / 16)
    np.testing.assert_allclose(vector, wanted, atol=1e-6)


def test_distances_are_those_of_smoothed_densities(rng):
    points, sizes = clouds(rng, zeros=False)
    x, z = points[5:14].astype(float), 0.5 * points[15:].astype(float)
    embedding = Density(4096).fit(points, sizes, rng)
    one, two = embedding.vectors(np.concatenate([x, z]), np.array([len(x), len(z)]))[:, 0]
    spread = 2 * points.astype(float).var(0).sum()
    assert ((one - two) ** 2).sum() == pytest.approx(exact_square(x, z, spread), abs=0.01)


def test_clouds_of_any_size_are_embedded_some_at_a_time(rng, monkeypatch):
    points, sizes = clouds(rng)
    embedding = fitted("density", points)
    wanted = embedding.vectors(points, sizes)
    for most in (1, 2, 10, 17, 1000):
        monkeypatch.setattr(density, "_AT_ONCE", most * embedding.n_waves)
        np.testing.assert_allclose(embedding.vectors(points, sizes), wanted, atol=1e-6)


def test_points_that_are_all_equal_have_one_density():
    points = np.full((6, 2), 3.0, dtype=np.float32)
    embedding = fitted("density", points)
    assert np.isfinite(embedding.frequencies).all()
    one, two = embedding.vectors(points, np.array([2, 4]))
    np.testing.assert_array_equal(one, two)


def test_points_are_compared_with_those_near_them(rng):
    x = rng.normal(size=(8, 3)).astype(np.float32)
    order = rng.permutation(8)
    plan = fitted("density", x).plan(x, x[order] + 0.01)
    np.testing.assert_array_equal(plan.argmax(0), order)
    assert plan.max(0).sum() > 0.5  # most of the mass


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("m", [1, 3, 8, 13, 23])
def test_plans_of_points_that_look_alike(rng, n, m):
    """What rounding leaves over must not be blown up; far points have a plan as well."""
    kernels = [np.ones((n, m)), np.eye(n, m) + 1e-6, rng.integers(2, size=(n, m)) + 1e-6, np.full((n, m), 1e-6)]
    for kernel in kernels:
        plan = density._balanced(kernel)
        np.testing.assert_allclose(plan.sum(1), 1 / n, rtol=1e-9)
        np.testing.assert_allclose(plan.sum(0), 1 / m, rtol=1e-9)
        assert plan.min() >= 0


def test_points_without_columns_have_a_plan():
    x = np.zeros((3, 0), dtype=np.float32)
    np.testing.assert_allclose(fitted("density", x).plan(x, x[:2]), 1 / 6)


def test_slopes_of_many_pairs_are_those_of_the_nearest(rng, monkeypatch):
    points = rng.normal(size=(60, 3)).astype(np.float32)
    embedding, gradient = fitted("density", points), rng.normal(size=512)
    x, z = points[:30], points[30:] + 0.1
    exact = embedding.attribute_columns(x, z, gradient)
    monkeypatch.setattr(density, "_PAIRS", 450)
    half = embedding.attribute_columns(x, z, gradient)
    assert np.abs(half[0] - exact[0]).max() > 0
    np.testing.assert_allclose(half[0], exact[0], atol=0.1 * np.abs(exact[0]).max())


@pytest.mark.parametrize("count", [1, 7])
def test_slopes_add_up_to_the_product(rng, count):
    points, _ = clouds(rng)
    embedding = fitted("density", points)
    x, z = points[:count], points[10:19]
    one, two = (embedding.vectors(cloud, np.array([len(cloud)]))[0, 0].astype(float) for cloud in (x, z))
    for gradient in (rng.normal(size=512), one - two):
        source, target = embedding.attribute_columns(x, z, gradient)
        assert (source * x).sum() - (target * z).sum() == pytest.approx(gradient @ (one - two), abs=1e-5)


def test_files_with_other_waves_are_refused(rng):
    points, _ = clouds(rng)
    arrays = {"frequencies": fitted("density", points).frequencies[:, :-1]}
    with pytest.raises(FieldError, match="frequencies has 255 columns, expected 256"):
        restore("density", {"n_waves": 256}, arrays, 3)


def test_classes_that_are_patterns_in_space_are_learned(rng, monkeypatch):
    """Points on the black fields of a board, or on the white ones, more often than not."""
    graphs, y = [], np.arange(240) % 2
    for colour in y:
        places = rng.uniform(0, 4, size=(200, 2))
        often = np.where(places.astype(int).sum(1) % 2 == colour, 0.75, 0.25)
        places = places[rng.choice(200, 20, replace=False, p=often / often.sum())]
        graphs.append((np.zeros((20, 20)), places))

    def share_right():
        metric = gml.GraphMetric(features=["attributes@0"], random_state=0)
        return gml.GraphKNNClassifier(metric).fit(graphs[:160], y[:160]).score(graphs[160:], y[160:])

    assert share_right() > 0.78
    monkeypatch.delitem(EMBEDDINGS, "density")
    assert share_right() < 0.75
