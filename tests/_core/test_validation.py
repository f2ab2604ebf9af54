import numpy as np
import pytest

from graph_metric_learn._core.validation import as_iterated, as_listed, draw_seed, one_of, whole_number


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


def test_what_has_an_order_is_a_list_or_stays_as_it_is():
    for kept in ([1, 2], (1, 2), np.arange(3), "ab", 7, None):
        assert as_listed("targets", kept) is kept
    for given in ((i for i in (1, 2)), iter([1, 2]), {1: 0, 2: 0}.keys(), {0: 1, 1: 2}.values()):
        assert as_listed("targets", given) == [1, 2]
    assert list(as_iterated("groups", np.arange(2))) == [0, 1]
    for unordered in ({1, 2}, frozenset({1, 2}), {1: 2}):
        for check in (as_listed, as_iterated):
            with pytest.raises(ValueError, match=r"groups are a .*, which has no order: give a list or an array"):
                check("groups", unordered)
    for single in (7, np.array(7)):
        with pytest.raises(ValueError, match="groups must be a list or an array with one entry per graph, got"):
            as_iterated("groups", single)
