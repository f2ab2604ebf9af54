import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits as load_images

from graph_metric_learn.datasets import load_digits
from graph_metric_learn.graphs import as_graphs


@pytest.fixture(scope="module")
def digits():
    return load_digits()


def test_every_image_becomes_a_graph_of_its_digit(digits):
    assert len(digits) == 1797
    np.testing.assert_array_equal(digits.y, load_images().target)
    assert [int(graph.y) for graph in digits.graphs] == digits.y.tolist()
    assert min(graph.num_nodes for graph in digits.graphs) >= 2
    assert digits.y.dtype == np.int64


@pytest.mark.parametrize("i", [0, 7, 1796])
def test_nodes_and_edges_follow_the_definition(digits, i):
    image = load_images().images[i] / 16
    ink = [(row, column) for row in range(8) for column in range(8) if image[row, column] > 0.1]
    features = [[row / 3.5 - 1, column / 3.5 - 1, image[row, column]] for row, column in ink]
    edges = [
        [a, b]
        for a, (row, column) in enumerate(ink)
        for b, (other_row, other_column) in enumerate(ink)
        if a != b and abs(row - other_row) <= 1 and abs(column - other_column) <= 1
    ]
    graph = digits.graphs[i]
    assert graph.x.dtype == torch.float32
    np.testing.assert_allclose(graph.x.numpy(), features, atol=1e-6)
    assert graph.edge_index.T.tolist() == edges
    assert graph.num_nodes == len(ink)


def test_positions_draw_the_digit_upright(digits):
    graph = digits.graphs[0]
    assert graph.pos.dtype == torch.float32
    np.testing.assert_array_equal(graph.pos[:, 0], graph.x[:, 1])
    np.testing.assert_array_equal(graph.pos[:, 1], -graph.x[:, 0])


def test_places_for_drawing_are_not_called_unused(digits):
    assert as_graphs(digits).unused == ()


def test_a_higher_threshold_keeps_the_darker_pixels(digits):
    darker = load_digits(threshold=0.5)
    for light, dark in zip(digits.graphs[:50], darker.graphs[:50], strict=True):
        np.testing.assert_array_equal(dark.x, light.x[light.x[:, 2] > 0.5])
    assert sum(graph.num_nodes for graph in darker.graphs) < sum(graph.num_nodes for graph in digits.graphs)


@pytest.mark.parametrize(
    ("threshold", "words"),
    [(-0.1, r"expected a number in \[0, 1\)"), (1.0, "expected"), (float("nan"), "expected"), (0.99, "lower it")],
)
def test_thresholds_that_leave_no_digit_are_refused(threshold, words):
    with pytest.raises(ValueError, match=words):
        load_digits(threshold=threshold)
