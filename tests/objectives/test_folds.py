import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_metric_learn.objectives.folds import check_groups, held_together, joined_groups, spread_folds


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(2, 7), st.integers(0, 100))
def test_without_groups_each_class_is_spread_evenly(codes, count, seed):
    codes = np.array(codes)
    folds = spread_folds(codes, count, np.random.default_rng(seed))
    for part in (folds, *(folds[codes == code] for code in np.unique(codes))):
        counts = np.bincount(part, minlength=count)
        assert len(counts) == count
        assert counts.max() - counts.min() <= 1


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12)), min_size=1, max_size=60),
    st.integers(2, 5),
    st.integers(0, 100),
)
def test_groups_stay_together(graphs, count, seed):
    codes, groups = np.array(graphs).T
    folds = spread_folds(codes, count, np.random.default_rng(seed), groups)
    assert ((folds >= 0) & (folds < count)).all()
    for group in np.unique(groups):
        assert len(np.unique(folds[groups == group])) == 1


def test_groups_of_one_class_are_spread_as_well(rng):
    """60 groups of up to 4 graphs, a third of them of class 1: no fold lacks a class, none is much larger."""
    sizes = rng.integers(1, 5, 60)
    groups = np.repeat(np.arange(60), sizes)
    codes = np.repeat((np.arange(60) % 3 == 0).astype(int), sizes)
    folds = spread_folds(codes, 5, np.random.default_rng(0), groups)
    for code in (0, 1):
        counts = np.bincount(folds[codes == code], minlength=5)
        assert counts.max() - counts.min() <= 3
    sizes = np.bincount(folds)
    assert sizes.max() - sizes.min() <= 4


def test_a_large_group_does_not_fill_a_fold_further():
    """20 graphs of one group and 20 alone: three folds, the large group has one for itself."""
    groups = np.concatenate([np.zeros(20, dtype=int), np.arange(1, 21)])
    folds = spread_folds(np.zeros(40, dtype=int), 3, np.random.default_rng(0), groups)
    assert sorted(np.bincount(folds).tolist()) == [10, 10, 20]


@pytest.mark.parametrize("groups", [None, np.arange(50) // 3])
def test_the_seed_decides(groups):
    codes = np.arange(50) % 2
    draws = [spread_folds(codes, 5, np.random.default_rng(seed), groups) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


def test_groups_with_one_graph_each_are_no_groups():
    codes = np.arange(20) % 2
    alone = spread_folds(codes, 5, np.random.default_rng(0), np.arange(20)[::-1])
    np.testing.assert_array_equal(alone, spread_folds(codes, 5, np.random.default_rng(0)))


def test_groups_may_have_any_names():
    assert check_groups(None, 3) is None
    assert check_groups(["b", "a", "b"], 3).tolist() == [0, 1, 0]
    assert check_groups(np.array([7.5, 7.5, 2.0]), 3).tolist() == [0, 0, 1]
    assert check_groups([1, "1", 1], 3).tolist() == [0, 1, 0]  # not the same


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([0, 1], r"3 graphs, but groups of shape \(2,\): give one group per graph"),
        ([[0], [1], [1]], r"groups of shape \(3, 1\)"),
        (["a", None, "a"], "the group of graph 1 is None"),
        ([0.0, 1.0, np.nan], "the group of graph 2 is nan"),
        (["a", "a", "a"], "all graphs are of one group"),
    ],
)
def test_bad_groups_are_refused(groups, words):
    with pytest.raises(ValueError, match=words):
        check_groups(groups, 3)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=15))
def test_joined_groups_are_those_that_a_chain_of_either_rule_connects(graphs):
    groups, others = np.array(graphs).T
    near = (groups[:, None] == groups) | (others[:, None] == others)
    for _ in range(len(groups)):  # chains, link by link
        near = near @ near
    found = joined_groups(groups, others)
    np.testing.assert_array_equal(found[:, None] == found, near)


def test_copies_are_held_out_with_groups_unless_that_joins_most_of_them():
    groups = np.repeat(np.arange(10), 4)
    copies = np.arange(40)
    np.testing.assert_array_equal(held_together(None, copies), copies)
    copies[4] = copies[0]  # of groups 0 and 1
    joined = held_together(groups, copies)
    assert len(np.unique(joined)) == 9
    assert joined[0] == joined[7]
    with pytest.warns(UserWarning, match=r"some graphs have copies in other groups: .* 40 of 40 graphs"):
        np.testing.assert_array_equal(held_together(groups, np.arange(40) % 4), groups)
    large = np.arange(40) // 30  # more than half of all in one group, without copies
    with pytest.warns(UserWarning, match=r"one would hold 40 of 40"):
        np.testing.assert_array_equal(held_together(large, np.zeros(40, dtype=int)), large)
    copies = np.arange(40)
    copies[35:] = copies[30]
    np.testing.assert_array_equal(held_together(large, copies), large)  # copies within a group change nothing


def test_folds_of_equal_groups_are_equal():
    """Ten classes, a pair each: the fold that has the fewest graphs in all is next."""
    pairs = np.repeat(np.arange(10), 2)
    for seed in range(20):
        folds = spread_folds(pairs, 5, np.random.default_rng(seed), pairs)
        assert np.ptp(np.bincount(folds, minlength=5)) == 0


def test_joined_groups_take_names_too():
    assert joined_groups(np.array(["x", "x", "y"]), np.array([0.5, 1.5, 1.5])).tolist() == [0, 0, 0]
