import numpy as np
import pytest

from graph_metric_learn._core.validation import draw_seed, one_of, whole_number


@pytest.mark.parametrize("value", ["last", None, 3, ["first"]])
def test_unknown_options_are_named_with_the_known_ones(value):
    assert one_of("ties", "first", ["first", "optimal"]) == "first"
    with pytest.raises(ValueError, match=r"unknown ties=.*: use one of 'first', 'optimal'"):
        one_of("ties", value, ["first", "optimal"])


@pytest.mark.parametrize("value", [0, 2.0, True, "2", None, np.float64(2)])
def test_whole_numbers_are_whole_and_large_enough(value):
    assert whole_number("depth", np.int64(2), 1) == 2
    with pytest.raises(ValueError, match="depth must be a whole number >= 1, got"):
        whole_number("depth", value, 1)


def test_seeds_come_from_numbers_and_generators():
    assert draw_seed(7) == draw_seed(np.int64(7)) == 7
    assert draw_seed(None) is None
    assert draw_seed(np.random.default_rng(0)) == draw_seed(np.random.default_rng(0))
    assert draw_seed(np.random.RandomState(0)) == draw_seed(np.random.RandomState(0))
    rng = np.random.default_rng(0)
    assert draw_seed(rng) != draw_seed(rng)
    with pytest.raises(ValueError, match="random_state must be"):
        draw_seed("seven")
