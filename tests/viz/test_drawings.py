import numpy as np

from graph_metric_learn.viz.drawings import draw_graph


def test_each_edge_is_drawn_once_and_y_goes_up():
    positions = np.array([[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0]])
    edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    drawing = draw_graph(positions, edges, np.array([0.0, 1.0, 0.5]), "three nodes")
    assert drawing.path == "M6 74L74 6M74 6L40 40"
    assert drawing.circles == [(6, 74, 1.2), (74, 6, 3.4), (40, 40, 2.3)]
    assert drawing.alt == "three nodes"
