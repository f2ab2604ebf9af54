import pytest

from graph_metric_learn._core.registry import Registry


def test_things_are_found_by_name_in_the_order_they_came():
    shapes = Registry("shape")
    shapes["square"] = 4
    assert shapes.register("circle")(0) == 0
    assert list(shapes) == ["square", "circle"]
    assert shapes["circle"] == 0


def test_an_unknown_name_lists_the_known_ones():
    shapes = Registry("shape")
    shapes["square"] = 4
    with pytest.raises(ValueError, match="unknown shape 'ring': use one of 'square'"):
        shapes["ring"]
    assert "ring" not in shapes
    assert shapes.get("ring") is None


def test_a_name_is_registered_once():
    shapes = Registry("shape")
    shapes.register("square")(4)
    with pytest.raises(ValueError, match="there is a shape 'square' already"):
        shapes.register("square")(5)
    assert shapes["square"] == 4
