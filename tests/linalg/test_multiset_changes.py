import numpy as np
import pytest

from graph_metric_learn.linalg.multiset_changes import changes_by_name
from graph_metric_learn.linalg.multisets import MinSums

WORDS = np.random.default_rng(1).integers(0, 2**64, 10, dtype=np.uint64)


def drawn(seed):
    """Counts of references [M, levels, 10] and of two multisets, weights [M, 2], and ranges of levels."""
    rng = np.random.default_rng(seed)
    levels = int(rng.integers(1, 4))
    counts = rng.integers(1, 6, (9, levels, 10)) * (rng.random((9, levels, 10)) < 0.4)
    ranges = rng.integers(0, levels, int(rng.integers(1, 4))).tolist()
    return counts[:7], counts[7].astype(float), counts[8].astype(float), rng.normal(size=(7, 2)), ranges


def index_of(references):
    item, level, column = np.nonzero(references)
    entries = item, WORDS[column], references[item, level, column], level
    return MinSums(*entries, n_references=len(references), n_levels=references.shape[1])


def sums_of(x, references, weights, ranges):
    """Σ_m weights_m k(x, m), by hand."""
    kernel = np.zeros(len(references))
    for i, reference in enumerate(references):
        for last in ranges:
            common, either = (f(x[: last + 1], reference[: last + 1]).sum() for f in (np.minimum, np.maximum))
            kernel[i] += common / either if either > 0 else 1.0
    return kernel @ weights / len(ranges)


@pytest.mark.parametrize("seed", range(12))
def test_changes_are_slopes_along_the_line(seed):
    references, x, z, weights, ranges = drawn(seed)
    level, column = np.nonzero(x + z)
    counts = x[level, column], z[level, column]
    found = changes_by_name(index_of(references), WORDS[column], level, counts, weights, ranges)
    expected = np.zeros_like(found)
    for i, (at, which) in enumerate(zip(level, column, strict=True)):
        for place in (np.arange(8) + 0.5) / 8:
            ends = [z + place * (x - z) for _ in range(2)]
            ends[0][at, which] += 1e-6
            ends[1][at, which] -= 1e-6
            up, down = (sums_of(end, references, weights, ranges) for end in ends)
            expected[i] += (x - z)[at, which] * (up - down) / 2e-6 / 8
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_changes_nearly_add_up():
    for seed in range(12):
        references, x, z, weights, ranges = drawn(seed)
        x, z = x + (np.arange(10) < 2), z + (np.arange(10) > 7)  # neither is empty at any level
        level, column = np.nonzero(x + z)
        counts = x[level, column], z[level, column]
        found = changes_by_name(index_of(references), WORDS[column], level, counts, weights, ranges)
        whole = sums_of(x, references, weights, ranges) - sums_of(z, references, weights, ranges)
        np.testing.assert_allclose(found.sum(0), whole, atol=0.05)


def test_names_that_no_reference_has_and_equal_counts():
    sums = index_of(np.array([[[0, 2] + [0] * 8]]))
    level, once = np.zeros(2, int), np.ones(2)
    found = changes_by_name(sums, WORDS[:2], level, (once, np.array([0.0, 1.0])), np.ones((1, 1)), [0])
    assert found[0, 0] < 0  # what only one has makes it less like the reference
    assert found[1, 0] == 0
