import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_metric_learn.metrics.sgml.training.batches import partition


@given(st.integers(2, 60), st.integers(2, 9), st.integers(1, 4), st.sampled_from(["covered", "shuffled"]))
def test_every_element_once_and_no_batch_of_one(count, batch_size, classes, batching):
    rng = np.random.default_rng(count)
    batches = partition(rng.integers(0, classes, count), batch_size, rng, batching)
    assert sorted(np.concatenate(batches)) == list(range(count))
    assert all(2 <= len(batch) <= batch_size + 1 for batch in batches)
    assert all(len(batch) == batch_size for batch in batches[:-1])


@given(st.integers(0, 1000))
def test_covered_batches_have_two_classes_where_there_are_enough(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], [30, 12]))
    covered = partition(y, 4, np.random.default_rng(seed), "covered")
    assert all(len(np.unique(y[batch])) == 2 for batch in covered)


def test_plain_shuffling_leaves_batches_of_one_class():
    y = np.repeat([0, 1], [30, 12])
    lonely = [
        len(np.unique(y[batch])) == 1
        for seed in range(20)
        for batch in partition(y, 4, np.random.default_rng(seed), "shuffled")
    ]
    assert sum(lonely) > 10


def test_the_seed_decides():
    y = np.arange(20) % 3
    one, two, three = (np.concatenate(partition(y, 4, np.random.default_rng(s))) for s in (0, 0, 1))
    assert (one == two).all()
    assert not (one == three).all()


def test_unknown_batching():
    with pytest.raises(ValueError, match="'random'"):
        partition(np.arange(4), 2, np.random.default_rng(0), "random")
