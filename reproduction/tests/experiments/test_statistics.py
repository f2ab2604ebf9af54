import numpy as np
import pytest
from scipy import stats

from graph_metric_learn_reproduction.experiments.statistics import average_over_tasks, corrected_resampled_t, p_text


def test_the_corrected_test_by_hand():
    """Differences 1, 2, 3, 6: mean 3, s² = (4 + 1 + 0 + 9) / 3; ten percent for testing."""
    found = corrected_resampled_t(np.array([1.0, 2.0, 3.0, 6.0]))
    assert found.mean == 3
    assert found.error == pytest.approx(np.sqrt((1 / 4 + 1 / 9) * 14 / 3))
    assert found.t == pytest.approx(3 / np.sqrt(13 / 36 * 14 / 3))
    assert found.df == 3
    # The distribution function of t with 3 degrees of freedom, written out.
    u = found.t / np.sqrt(3)
    assert found.p == pytest.approx(1 - 2 / np.pi * (u / (1 + u**2) + np.arctan(u)))


def test_without_overlap_it_is_the_paired_t_test(rng):
    one, other = rng.normal(size=(2, 10))
    found = corrected_resampled_t(one - other, test_share=0.0)
    expected = stats.ttest_rel(one, other)
    assert found.t == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert corrected_resampled_t(one - other).p > found.p


def test_it_has_two_sides_and_knows_no_difference_from_a_certain_one():
    assert corrected_resampled_t(np.array([-1.0, -2.0])).p == corrected_resampled_t(np.array([1.0, 2.0])).p
    assert corrected_resampled_t(np.zeros(5)).p == 1
    assert corrected_resampled_t(np.full(5, 0.1)).p == 0
    assert np.isnan(corrected_resampled_t(np.array([1.0])).p)
    with pytest.raises(ValueError, match="no differences"):
        corrected_resampled_t(np.array([]))


def test_the_rejection_rate_of_overlapping_splits_is_near_its_level(rng):
    """Differences with correlation ρ = 1/10, as between splits of 90 and 10 percent, and mean 0."""
    shared, own = rng.normal(size=(4000, 1)), rng.normal(size=(4000, 10))
    gaps = np.sqrt(0.1) * shared + np.sqrt(0.9) * own
    rejected = np.mean([corrected_resampled_t(row).p < 0.05 for row in gaps])
    naive = np.mean([corrected_resampled_t(row, test_share=0.0).p < 0.05 for row in gaps])
    assert 0.03 < rejected < 0.07
    assert naive > 0.1


def test_tasks_count_the_same_and_their_errors_add_up():
    tests = [corrected_resampled_t(np.array(gaps)) for gaps in ([1.0, 3.0, 2.0], [5.0, 7.0, 3.0, 5.0])]
    found = average_over_tasks(tests)
    assert found.mean == pytest.approx(3.5)
    assert found.error == pytest.approx(np.hypot(tests[0].error, tests[1].error) / 2)
    a, b = (test.error**2 for test in tests)
    assert found.df == pytest.approx((a + b) ** 2 / (a**2 / 2 + b**2 / 3))
    assert found.p == pytest.approx(2 * stats.t.sf(3.5 / found.error, found.df))
    assert average_over_tasks(tests[:1]) == pytest.approx(tests[0])
    assert np.isnan(average_over_tasks([tests[0], corrected_resampled_t(np.array([1.0]))]).p)
    with pytest.raises(ValueError, match="no tasks"):
        average_over_tasks([])


def test_small_p_values_have_more_digits():
    assert [p_text(p) for p in (0.00099, 0.0049, 0.0149, 1.0)] == ["p < 0.001", "p = 0.005", "p = 0.01", "p = 1.00"]
