import networkx as nx
import numpy as np
import pytest
from scipy.optimize import approx_fprime

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.objectives import Classes
from graph_metric_learn.objectives.classes import check_classes

PATHS = as_graphs([nx.path_graph(n) for n in (2, 3, 4)])


def test_classes_are_encoded_and_come_back():
    objective = Classes()
    np.testing.assert_array_equal(objective.encode(PATHS, ["b", "a", "b"]), [1, 0, 1])
    assert objective.classes_.tolist() == ["a", "b"]
    assert objective.summary() == "2 classes"
    again = Classes()
    again.set_state(objective.state())
    assert again.classes_.tolist() == ["a", "b"]


def test_classes_are_found_in_the_graphs():
    graphs = [nx.path_graph(n) for n in (2, 3)]
    for graph, y in zip(graphs, (5, 3), strict=True):
        graph.graph["y"] = y
    np.testing.assert_array_equal(Classes().encode(as_graphs(graphs), None), [1, 0])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "no class labels"),
        ([0, 1], "3 graphs, but class labels of shape"),
        ([0.5, 1.2, 3.3], "must be discrete"),
        ([0.0, 1.0, np.nan], "without NaN"),
        ([1, 1, 1], "of one class"),
    ],
)
def test_bad_classes_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        check_classes(PATHS, y)


def test_a_subsample_keeps_all_classes():
    codes = np.repeat([0, 1], [990, 10])
    for most in (4, 50, 2000):
        some = Classes().subsample(codes, most, np.random.default_rng(0))
        counts = np.bincount(codes[some], minlength=2)
        assert counts.sum() == min(most, 1000)
        assert counts.min() >= 2
        assert (np.diff(some) > 0).all()


def test_folds_hold_as_many_of_each_class(rng):
    codes = np.repeat([0, 1, 2], [50, 30, 21])
    folds = Classes().folds(codes, 5, rng.permutation(101))
    for code in range(3):
        counts = np.bincount(folds[codes == code], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert not np.array_equal(folds, Classes().folds(codes, 5, rng.permutation(101)))  # the order matters


def test_held_out_scores_are_shares_of_right_votes(rng):
    squares, neighbors, truth = rng.random((20, 9)), rng.integers(0, 3, (20, 9)), rng.integers(0, 3, 20)
    squares[:, 7:] = np.inf  # two that do not count
    scores = Classes().held_out_scores(squares, neighbors, truth, (1, 3))
    for row, codes, code, score in zip(squares, neighbors, truth, scores, strict=True):
        order = codes[np.argsort(row)[:7]]
        assert score == np.mean([np.bincount(order[:k], minlength=3).argmax() == code for k in (1, 3)])


def test_the_gradient_of_the_pair_loss_is_that_of_finite_differences(rng):
    scaled = rng.uniform(0.1, 3.0, size=(4, 6))
    known, alike = rng.random((4, 6)) < 0.8, rng.random((4, 6)) < 0.5
    known[:, 0] = alike[:, 0] = True
    alike &= known
    value, gradient = Classes().pair_loss(scaled, known, alike)
    numeric = approx_fprime(
        scaled.ravel(), lambda s: Classes().pair_loss(s.reshape(4, 6), known, alike)[0], 1e-6
    ).reshape(4, 6)
    np.testing.assert_allclose(gradient, numeric, atol=1e-4)
    shares = np.where(known, np.exp(-scaled), 0.0)
    wanted = -np.log((shares * alike).sum(1) / shares.sum(1)).sum()
    assert value == pytest.approx(wanted)
