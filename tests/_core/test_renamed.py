"""Names that were public before still work, and say what they are called now."""

import pytest

from graph_metric_learn import objectives
from graph_metric_learn.features.block_kind import Block
from graph_metric_learn.objectives import Classes, Unlabelled


def test_a_block_of_names_may_say_so_in_the_old_way():
    with pytest.warns(FutureWarning, match="Parity.makes_columns is now called categorical"):

        class Parity(Block):
            makes_columns = True

    assert Parity.categorical
    assert not Block.categorical


def test_an_objective_may_say_in_the_old_way_that_any_scale_is_fine():
    with pytest.warns(FutureWarning, match="Own.any_scale is now called scale_invariant"):

        class Own(Classes):
            any_scale = False

    assert not Own.scale_invariant
    assert Classes.scale_invariant


def test_the_old_name_of_the_objective_without_targets():
    with pytest.warns(FutureWarning, match="Unlabelled"):
        assert objectives.Nothing is Unlabelled
    with pytest.raises(AttributeError, match="Something"):
        _ = objectives.Something
