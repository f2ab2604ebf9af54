import numpy as np
import pytest

from graph_metric_learn.viz.demo.digits import split_digits


def test_one_seed_gives_one_split():
    for one, other in zip(split_digits(150, seed=3), split_digits(150, seed=3), strict=True):
        assert (one.y == other.y).all()
        assert all((a.x == b.x).all() for a, b in zip(one.graphs, other.graphs, strict=True))


def test_split_keeps_parts_apart_and_balanced():
    train, test = split_digits()
    assert (len(train.y), len(test.y)) == (1437, 360)
    assert np.ptp(np.bincount(test.y)) <= 3
    assert not {graph.x.numpy().tobytes() + graph.pos.numpy().tobytes() for graph in test.graphs} & {
        graph.x.numpy().tobytes() + graph.pos.numpy().tobytes() for graph in train.graphs
    }


def test_labels_are_row_and_column():
    train, _ = split_digits(100)
    graph = train.graphs[0]
    row, column = graph.node_labels.T
    assert np.allclose(graph.pos[:, 0], 2 * column / 7 - 1, atol=1e-6)
    assert np.allclose(graph.pos[:, 1], 1 - 2 * row / 7, atol=1e-6)


def test_too_few_graphs():
    with pytest.raises(ValueError, match="at least 100"):
        split_digits(99)
