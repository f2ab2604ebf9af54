import numpy as np
import pytest
from scipy import sparse

from graph_metric_learn._core.schema import FieldError, join, read, split
from graph_metric_learn.metrics.automatic import compaction
from graph_metric_learn.metrics.automatic.compaction import Projection
from made_up_vectors import squares_of

FORMS = [lambda x: x.astype(np.float32), sparse.csr_array]


@pytest.fixture
def vectors(rng):
    """Rows [80, 60] that vary in 12 directions, away from the origin; many entries are 0."""
    loads = rng.normal(size=(12, 60)) * (rng.random((12, 60)) < 0.3)
    return rng.normal(size=(80, 12)) * np.logspace(0, -1, 12) @ loads + 3.0 * (rng.random(60) < 0.2)


@pytest.mark.parametrize("form", FORMS)
def test_distances_are_the_same_where_the_width_suffices(vectors, form):
    projection = Projection.fit(form(vectors), 30)
    assert projection.width == 12
    found = projection.apply(form(vectors))
    assert found.dtype == np.float32
    wanted = squares_of(vectors)
    np.testing.assert_allclose(squares_of(found), wanted, atol=1e-4 * wanted.max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("width", [1, 3, 8])
def test_distances_never_grow(rng, vectors, form, width):
    """Also those of vectors that it was not fitted to."""
    projection = Projection.fit(form(vectors[:50]), width)
    assert projection.width == width
    others = np.concatenate([vectors, vectors[:20] + rng.normal(size=(20, 60))])
    wanted = squares_of(others)
    found = squares_of(projection.apply(form(others)))
    assert (found <= wanted * (1 + 1e-4) + 1e-5).all()
    assert found[:50, :50].sum() < (1 - 1e-3) * wanted[:50, :50].sum()


def test_directions_are_those_of_largest_variance(vectors):
    """Variances are the eigenvalues of the covariance, by definition."""
    wanted = np.sort(np.linalg.eigvalsh(np.cov(vectors.T)))[::-1]
    for form in FORMS:
        found = Projection.fit(form(vectors), 5).apply(form(vectors))
        np.testing.assert_allclose(found.var(0, ddof=1), wanted[:5], rtol=1e-3)


def test_directions_of_little_variance_are_orthogonal_too(rng):
    vectors = (rng.normal(size=(60, 200)) * np.logspace(0, -3.2, 200)).astype(np.float32)
    directions = Projection.fit(vectors, 256).directions
    assert directions.shape[1] > 50
    np.testing.assert_allclose(directions.T @ directions, np.eye(directions.shape[1]), atol=1e-5)


def test_sparse_and_dense_agree(vectors):
    dense, thin = (Projection.fit(form(vectors), 6) for form in FORMS)
    one, two = dense.apply(FORMS[0](vectors)), thin.apply(FORMS[1](vectors))
    np.testing.assert_allclose(squares_of(one), squares_of(two), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("form", FORMS)
def test_pull_is_the_adjoint(rng, vectors, form):
    projection = Projection.fit(form(vectors), 6)
    given, gradient = rng.normal(size=(1, 60)), rng.normal(size=6)
    applied = projection.apply(form(given))[0].astype(float)
    assert given[0] @ projection.backward(gradient) == pytest.approx(applied @ gradient, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_it_comes_back_from_files(vectors, form):
    projection = Projection.fit(form(vectors), 6)
    again = read(Projection, join(*split(projection)), D=60)
    np.testing.assert_array_equal(again.apply(form(vectors)), projection.apply(form(vectors)))
    assert again.width == 6
    with pytest.raises(FieldError, match=r"compaction.directions or landmarks and their coefficients"):
        read(Projection, {}, "compaction")
    with pytest.raises(FieldError, match=r"has shape .*, expected .*D = 61"):
        read(Projection, join(*split(projection)), D=61)


@pytest.mark.parametrize("form", FORMS)
def test_directions_are_computed_from_some_of_many(vectors, form, monkeypatch):
    monkeypatch.setattr(compaction, "_FITTED_TO", 30)
    many = form(np.repeat(vectors, 3, axis=0))
    projection = Projection.fit(many, 40)
    assert projection.width == 12
    if projection.landmarks is not None:
        assert projection.landmarks.shape[0] <= 30


@pytest.mark.parametrize("form", FORMS)
def test_equal_vectors_have_no_direction(form):
    projection = Projection.fit(form(np.ones((5, 4))), 3)
    assert projection.apply(form(np.ones((5, 4)))).shape == (5, projection.width)
    assert squares_of(projection.apply(form(np.ones((5, 4))))).max() == 0
