import numpy as np

from graph_metric_learn.report.drawings import draw_graph, draw_map


def test_each_edge_is_drawn_once_and_y_goes_up():
    positions = np.array([[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0]])
    edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    drawing = draw_graph(positions, edges, np.array([0.0, 1.0, 0.5]), "three nodes")
    assert drawing.path == "M6 74L74 6M74 6L40 40"
    assert drawing.circles == [(6, 74, 1.2), (74, 6, 3.4), (40, 40, 2.3)]
    assert drawing.alt == "three nodes"


def test_a_map_fills_its_square_and_has_one_colour_per_label():
    points = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 5.0]])
    drawing = draw_map(points, np.array(["b", "a", "b"]), "a map")
    assert [mark[:2] for mark in drawing.marks] == [(10.0, 65.0), (230.0, 65.0), (120.0, 175.0)]
    assert [mark[2:] for mark in drawing.marks] == [(1, "b"), (0, "a"), (1, "b")]
    assert drawing.side == 240


def test_a_map_of_equal_points_is_finite_and_colours_repeat():
    drawing = draw_map(np.ones((12, 2)), np.arange(12), "a map")
    assert {mark[:2] for mark in drawing.marks} == {(120.0, 120.0)}
    assert [mark[2] for mark in drawing.marks] == [*range(10), 0, 1]
