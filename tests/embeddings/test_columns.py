from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from embedding_clouds import dense, fitted, names
from graph_metric_learn.embeddings import EMBEDDINGS, ColumnEmbedding
from graph_metric_learn.embeddings.columns import count_names

KINDS = [kind for kind, embedding in EMBEDDINGS.items() if embedding.takes_columns]


def word(*values):
    """Points with one name each."""
    return np.array(values, dtype=np.uint64)[:, None]


@given(st.integers(0, 10_000))
def test_counts_are_those_of_a_counter(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, size=4)
    points = names(rng, sizes)
    cloud, name, count = count_names(points, sizes)
    found = {(c, n): k for c, n, k in zip(cloud.tolist(), name.tolist(), count.tolist(), strict=True)}
    owner = np.repeat(np.arange(4), sizes)
    assert len(found) == len(cloud)
    assert found == Counter((c, n) for c, row in zip(owner.tolist(), points.tolist(), strict=True) for n in row)


def test_all_embeddings_of_names_are_column_embeddings():
    assert KINDS == ["histogram", "counts", "assignment", "normalized-assignment"]
    assert all(issubclass(EMBEDDINGS[kind], ColumnEmbedding) for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_sparse_and_as_wide_as_what_was_seen(kind, rng):
    sizes = np.array([5, 9])
    points = names(rng, sizes)
    embedding = fitted(kind, points, sizes)
    vectors = embedding.vectors(points, sizes)
    assert sparse.issparse(vectors)
    assert vectors.dtype == np.float64
    assert vectors.shape == (2, len(embedding.vocabulary) + 1)
    assert dense(vectors)[:, -1].tolist() == [0, 0]  # all is seen
    assert (dense(vectors)[:, :-1].max(0) > 0).all()  # and used
    assert embedding.vocabulary.dtype == np.int64  # files hold no uint64
    assert embedding.vocabulary.min() < 0
    assert (np.diff(embedding.vocabulary) > 0).all()
    new = embedding.vectors(names(rng, sizes, different=50), sizes)
    assert new.shape == vectors.shape
    assert (dense(new)[:, -1] > 0).all()


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_distances_between_training_clouds_and_new_ones_are_exact(kind, seed):
    """As if all names had been seen; between new clouds they are at most that, and never more."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 10, size=6)
    points = names(rng, sizes, different=6)
    train = int(sizes[:3].sum())
    seen = dense(fitted(kind, points[:train], sizes[:3]).vectors(points, sizes))
    every = dense(fitted(kind, points, sizes).vectors(points, sizes))
    found, exact = (np.linalg.norm(v[:, None] - v[None], axis=2) for v in (seen, every))
    np.testing.assert_allclose(found[:3], exact[:3], atol=1e-12)
    assert (found <= exact + 1e-12).all()
    np.testing.assert_allclose(np.linalg.norm(seen, axis=1), np.linalg.norm(every, axis=1))


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_clouds_does_not_matter(kind, rng):
    sizes = np.array([4, 6, 3])
    points = names(rng, sizes)
    embedding = fitted(kind, points[:6], np.array([6]))
    one_by_one = [
        dense(embedding.vectors(part, np.array([len(part)])))[0] for part in np.split(points, np.cumsum(sizes)[:-1])
    ]
    np.testing.assert_allclose(dense(embedding.vectors(points, sizes)), one_by_one)


def test_an_embedding_fitted_to_other_names_sees_none():
    embedding = fitted("counts", word(1, 2))
    np.testing.assert_allclose(dense(embedding.vectors(word(3, 3, 3, 4), np.array([4]))), [[0, 0, np.sqrt(9 + 1)]])


def obvious_plan(x, z):
    """Points [n, L] and [m, L] named by lists: within names first, then all that is left with all."""
    n, m, levels = len(x), len(z), x.shape[1]
    plan = np.zeros((n, m))
    for name in set(x.ravel().tolist()) & set(z.ravel().tolist()):
        ours, theirs = (x == name).sum(1), (z == name).sum(1)
        common = min(ours.sum() / n, theirs.sum() / m) / levels
        for i in range(n):
            for j in range(m):
                plan[i, j] += common * ours[i] / ours.sum() * theirs[j] / theirs.sum()
    rest, rest_z = 1 / n - plan.sum(1), 1 / m - plan.sum(0)
    return plan + (np.outer(rest, rest_z) / rest.sum() if rest.sum() > 1e-9 else 0)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_points_are_compared_with_those_of_the_same_name_first(kind, seed):
    rng = np.random.default_rng(seed)
    x, z = (names(rng, [rng.integers(1, 7)], different=3) for _ in range(2))
    np.testing.assert_allclose(fitted(kind, x).plan(x, z), obvious_plan(x, z), atol=1e-12)


def obvious_attribution(embedding, x, z, gradient):
    """What each point of x adds: of each name the products of its columns, shared by the points that have it."""
    sizes = np.array([len(x), len(z)])
    gap = np.subtract(*dense(embedding.vectors(np.concatenate([x, z]), sizes)))
    of_name = {}
    for name in set(x.ravel().tolist()) | set(z.ravel().tolist()):
        most = max((x == name).sum(), (z == name).sum())
        own = {int(place) for place in embedding._columns(codes_of(embedding, name, int(most)))}
        of_name[name] = sum(gradient[place] * gap[place] for place in own if place < len(gap) - 1), len(gap) - 1 in own
    new = sum(is_new for _, is_new in of_name.values())
    found = np.zeros(len(x))
    for name, (adds, is_new) in of_name.items():
        adds += gradient[-1] * gap[-1] / new if is_new else 0.0
        count = (x == name).sum(1)
        found += adds * (count / count.sum() if count.any() else np.full(len(x), 1 / len(x)))
    return found


def codes_of(embedding, name, count):
    """The codes of a cloud that has one name so many times."""
    cloud = np.full((count, 1), name, dtype=np.uint64)
    return embedding._entries(cloud, np.array([count])).code


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_what_a_name_adds_is_shared_by_the_points_that_have_it(kind, seed):
    rng = np.random.default_rng(seed)
    x, z, seen = (names(rng, [rng.integers(1, 8)], different=5) for _ in range(3))
    embedding = fitted(kind, seen)
    gradient = rng.normal(size=len(embedding.vocabulary) + 1)
    source, target = embedding.attribute(x, z, gradient)
    np.testing.assert_allclose(source, obvious_attribution(embedding, x, z, gradient), atol=1e-12)
    np.testing.assert_allclose(target, obvious_attribution(embedding, z, x, -gradient), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_clouds_differ_by_nothing_anywhere(kind, rng):
    x = names(rng, [6])
    embedding = fitted(kind, x[:2])
    gradient = rng.normal(size=len(embedding.vocabulary) + 1)
    source, target = embedding.attribute(x, x[::-1], gradient)
    np.testing.assert_allclose(np.concatenate([source, target]), 0, atol=1e-12)


def test_clouds_of_the_same_names_have_nothing_left_to_spread(rng):
    one = word(7)
    assert fitted("counts", one).plan(one, one).tolist() == [[1]]
    x = word(7, 7, 9)
    np.testing.assert_allclose(fitted("counts", x).plan(x, x), [[1 / 6, 1 / 6, 0], [1 / 6, 1 / 6, 0], [0, 0, 1 / 3]])


@pytest.mark.parametrize("kind", ["histogram", "counts", "assignment"])
def test_names_that_were_never_seen_are_attributed_too(kind):
    embedding = EMBEDDINGS[kind]().fit(word(1, 2, 3), np.array([3]), np.random.default_rng(0))
    x, z = word(7, 7, 8), word(9)
    gradient = np.array([*np.zeros(len(embedding.vocabulary)), 2.0])
    gap = embedding.vectors(np.concatenate([x, z]), np.array([3, 1])).toarray()
    for part in embedding.attribute(x, z, gradient):
        assert part.sum() == pytest.approx(2.0 * (gap[0, -1] - gap[1, -1]))
