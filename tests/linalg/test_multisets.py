import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_metric_learn.linalg.multisets import MinSums

EXTREME = np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64)


def names(kind):
    """Twelve names: hashes, or words that are anything but spread out."""
    hashes = np.random.default_rng(1).integers(0, 2**64, 8, dtype=np.uint64)
    return np.concatenate([EXTREME, hashes if kind == "hashes" else np.arange(2, 10, dtype=np.uint64)])


def dense(rng, n, levels, *, whole=True, share=0.4):
    """Counts [n, levels, 12]; some are empty, at all levels or the first."""
    counts = rng.integers(1, 5, size=(n, levels, 12)) if whole else rng.random((n, levels, 12)).astype(np.float32) * 3
    counts = counts * (rng.random(counts.shape) < share)
    counts[rng.random(n) < 0.15] = 0
    counts[rng.random(n) < 0.15, 0] = 0
    return counts


def entries(rng, counts, words, zeros=0.0):
    """The same as entries, in any order; some counts of 0 among them."""
    item, level, column = np.nonzero((counts > 0) | (rng.random(counts.shape) < zeros))
    order = rng.permutation(len(item))
    item, level, column = item[order], level[order], column[order]
    return item, words[column], counts[item, level, column], level


def index_of(rng, counts, words, zeros=0.0):
    return MinSums(*entries(rng, counts, words, zeros), n_references=len(counts), n_levels=counts.shape[1])


def oracle(one, other, ranges):
    """Weighted Jaccard indices of dense counts, pair by pair."""
    kernel = np.zeros((len(one), len(other)))
    for i, a in enumerate(one.astype(float)):
        for j, b in enumerate(other.astype(float)):
            for last in ranges:
                common, either = (f(a[: last + 1], b[: last + 1]).sum() for f in (np.minimum, np.maximum))
                kernel[i, j] += (common / either if either > 0 else 1.0) / len(ranges)
    return kernel


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(["hashes", "small"]))
def test_the_kernel_is_that_of_dense_counts(seed, whole, kind):
    rng = np.random.default_rng(seed)
    levels, words = int(rng.integers(1, 5)), names(kind)
    references, graphs = (dense(rng, int(n), levels, whole=whole) for n in rng.integers(1, 8, 2))
    if seed % 2:  # names that no reference has
        references[:, :, 9:] = 0
    sums = index_of(rng, references, words, zeros=0.0 if seed % 2 else 0.1)
    ranges = rng.integers(0, levels, int(rng.integers(1, 4))).tolist()
    found = sums.kernel(*entries(rng, graphs, words, 0.1), n_graphs=len(graphs), ranges=ranges)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, oracle(graphs, references, ranges), rtol=1e-5, atol=1e-6)
    assert found.min() >= 0
    assert found.max() <= 1


@given(st.integers(0, 10_000), st.booleans())
def test_pairs_of_references_are_those_of_the_kernel(seed, whole):
    rng = np.random.default_rng(seed)
    counts, words = dense(rng, int(rng.integers(1, 15)), 3, whole=whole), names("hashes")
    sums = index_of(rng, counts, words)
    kernel = sums.kernel(*entries(rng, counts, words), n_graphs=len(counts))
    pairwise = sums.pairwise()
    np.testing.assert_allclose(kernel, pairwise, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(pairwise, oracle(counts, counts, range(3)), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(pairwise, pairwise.T)
    assert (np.diag(pairwise) == 1).all()
    if whole:
        np.testing.assert_array_equal(kernel, pairwise)
    assert np.linalg.eigvalsh(pairwise.astype(float)).min() > -1e-6 * len(counts)


def test_by_hand():
    """Level 0: {5: 2} and {5: 1, 6: 1}; level 1: {5: 1} and {7: 3}, the same name meaning another thing."""
    item, level = np.array([0, 1, 1, 0, 1]), np.array([0, 0, 0, 1, 1])
    name, count = np.array([5, 5, 6, 5, 7], dtype=np.uint64), np.array([2, 1, 1, 1, 3])
    sums = MinSums(item, name, count, level, n_references=2, n_levels=2)
    assert sums.vocabulary.tolist() == [5, 6, 5, 7]
    assert sums.levels.tolist() == [0, 2, 4]
    assert sums.reference.tolist() == [0, 1, 1, 0, 1]
    assert sums.totals.tolist() == [[2, 2], [3, 5]]
    for ranges, wanted in (([0], 1 / 3), ([1], 1 / 7), (None, 5 / 21), ([0, 1, 1], 13 / 63)):
        assert sums.pairwise(ranges)[0, 1] == pytest.approx(wanted)


def test_many_at_once_are_those_one_by_one(rng):
    """With threads, and names that are hashes of many kinds."""
    words = rng.integers(0, 2**64, 3000, dtype=np.uint64)
    item, level = np.repeat(np.arange(300), 100), np.tile(np.repeat([0, 1], 50), 300)
    name = np.concatenate([rng.choice(words, 50, replace=False) for _ in range(600)])
    count = rng.integers(1, 6, len(item))
    sums = MinSums(item, name, count, level, n_references=300, n_levels=2)
    together = sums.kernel(item, name, count, level, n_graphs=300)
    np.testing.assert_array_equal(together, sums.pairwise())
    for i in (0, 17, 299):
        own = item == i
        alone = sums.kernel(item[own] - i, name[own], count[own], level[own], n_graphs=1)
        np.testing.assert_array_equal(alone[0], together[i])
    off = together[~np.eye(300, dtype=bool)]
    assert 0 < off.mean() < 0.05


def test_rounding_makes_nothing_greater_than_one(rng):
    """The sum of the minima of 2,000 counts that are no whole numbers may be more than the sum of the counts."""
    item, level = np.repeat(np.arange(20), 2000), np.zeros(40_000, np.int64)
    name, count = np.tile(np.arange(2000, dtype=np.uint64), 20), np.repeat(rng.random((1, 2000)), 20, axis=0).ravel()
    for scale in np.linspace(0.1, 1, 10):
        sums = MinSums(item, name, count * scale, level, n_references=20, n_levels=1)
        kernel = sums.kernel(item, name, count * scale, level, n_graphs=20)
        np.testing.assert_allclose(kernel, 1.0, rtol=1e-4)
        assert max(kernel.max(), sums.pairwise().max()) <= 1


def test_nothing_is_like_nothing_and_unlike_something():
    nothing = np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0), np.zeros(0, np.int64)
    sums = MinSums(np.array([1]), EXTREME[:1], np.array([1.0]), np.array([1]), n_references=2, n_levels=2)
    assert sums.kernel(*nothing, n_graphs=1, ranges=[1]).tolist() == [[1, 0]]
    assert sums.kernel(*nothing, n_graphs=1, ranges=[0]).tolist() == [[1, 1]]
    assert sums.kernel(*nothing, n_graphs=0).shape == (0, 2)
    empty = MinSums(*nothing, n_references=2, n_levels=1)
    assert empty.pairwise().tolist() == [[1, 1], [1, 1]]
    other = empty.kernel(np.array([0]), EXTREME[:1], np.array([2]), np.array([0]), n_graphs=1)
    assert other.tolist() == [[0, 0]]
    assert MinSums(*nothing, n_references=0, n_levels=1).kernel(*nothing, n_graphs=3).shape == (3, 0)


GOOD = {
    "reference": np.array([0, 1]),
    "name": EXTREME[:2],
    "count": np.array([1.0, 2.0]),
    "level": np.array([0, 0]),
    "n_references": 2,
    "n_levels": 1,
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"reference": np.array([0])}, r"reference, name, count and level differ in shape: \[\[1\], \[2\]"),
        ({"name": np.array([1, 2])}, "name must be uint64, got int64"),
        ({"reference": np.array([0, 2])}, "reference must hold whole numbers from 0 to 1"),
        ({"reference": np.array([0.0, 1.0])}, "reference must hold whole numbers"),
        ({"level": np.array([0, -1])}, "level must hold whole numbers from 0 to 0"),
        ({"count": np.array([1.0, -2.0])}, "reference 1 has a name -2.0 times"),
        ({"count": np.array([np.nan, 1.0])}, "reference 0 has a name nan times"),
        ({"n_levels": 0}, "at least one level, got n_levels=0"),
        ({"reference": np.array([1, 1]), "name": EXTREME[[1, 1]]}, "reference 1 has a name twice at level 0"),
    ],
)
def test_bad_references_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        MinSums(**(GOOD | changed))


def test_bad_graphs_and_ranges_are_refused():
    sums = MinSums(**GOOD)
    with pytest.raises(ValueError, match="graph must hold whole numbers from 0 to 0"):
        sums.kernel(np.array([1]), EXTREME[:1], np.array([1]), np.array([0]), n_graphs=1)
    for ranges in ([], [1], [-1], [0.5]):
        with pytest.raises(ValueError, match="ranges must be whole numbers between 0 and 0, at least one"):
            sums.pairwise(ranges)
