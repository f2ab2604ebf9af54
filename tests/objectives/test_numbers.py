import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from torch_geometric.data import Data

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.objectives import Numbers
from graph_metric_learn.objectives.numbers import check_numbers
from helpers import plain_votes

PATHS = as_graphs([nx.path_graph(n) for n in (2, 3, 4)])
NAN = np.nan


def many(count):
    return as_graphs([nx.path_graph(2)] * count)


@pytest.mark.parametrize(
    "y", [[1.0, 2.0, 6.0], [[1.0], [2.0], [6.0]], [[1.0, -5.0], [2.0, NAN], [6.0, 7.0]], np.array(["1", "2", "6"])]
)
def test_numbers_are_centred_and_scaled_and_come_back(y):
    objective = Numbers()
    target = objective.encode(PATHS, y)
    assert target.shape == (3, np.size(y) // 3)
    np.testing.assert_allclose(np.nanmean(target, axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.nanstd(target, axis=0), 1)
    assert objective.outputs(target) is target
    again = Numbers()
    again.set_state(objective.state())
    np.testing.assert_allclose(again.decode(target), np.array(y, dtype=float))  # of the same shape


def test_numbers_of_the_graphs():
    graphs = as_graphs([Data(num_nodes=2, y=torch.tensor([[0.5, 1.0 * i]])) for i in range(3)])
    np.testing.assert_array_equal(check_numbers(graphs, [[1, 0], [2, 0], [3, 1]]), [[1, 0], [2, 0], [3, 1]])
    with pytest.raises(ValueError, match="target 0 is the same for all graphs"):
        check_numbers(graphs, None)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "no numbers to learn from"),
        ([0.5, 1.0], "3 graphs, but 2 targets"),
        (np.zeros((3, 2, 2)), r"3 graphs, but targets of shape \(3, 2, 2\)"),
        (np.zeros((3, 0)), r"3 graphs, but targets of shape \(3, 0\)"),
        (["1.5", "soluble", "2"], "targets must be numbers, that of graph 1 is 'soluble'"),
        ([0.5, NAN, 1.0], r"the target of graph 1 is NaN or infinite \(1 such"),
        ([0.5, None, 1.0], "the target of graph 1 is NaN"),
        ([0.5, 1.0, np.inf], "the target of graph 2 is NaN or infinite"),
        ([[0.5, NAN], [1.0, np.inf], [2.0, 3.0]], "the targets of graph 1 are all NaN, or some infinite"),
        ([[0.5, 2.0], [NAN, NAN], [2.0, 3.0]], "the targets of graph 1 are all NaN"),
        ([0.1, 0.1, 0.1], "the target is the same for all graphs: there is nothing to learn from"),
        ([[1.0, 2.0], [2.0, NAN], [3.0, 2.0]], "target 1 is the same for all graphs"),
        ([[1.0, NAN], [2.0, NAN], [3.0, NAN]], "target 1 is missing for all graphs"),
    ],
)
def test_bad_numbers_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        check_numbers(PATHS, y)


def test_missing_entries_of_several_columns():
    wanted = [[1.0, NAN], [NAN, 2.0], [3.0, 4.0]]
    np.testing.assert_array_equal(check_numbers(PATHS, wanted), wanted)
    np.testing.assert_array_equal(check_numbers(PATHS, [[1, None], [None, 2], [3, 4]]), wanted)


def test_scores_are_r2(rng):
    y = rng.normal(3, 5, 400)
    objective = Numbers()
    target = objective.encode(many(400), y)
    predicted = y + rng.normal(0, 2, 400)
    outputs = (predicted[:, None] - objective.centre_) / objective.scale_
    assert objective.output_scores(outputs, target).mean() == pytest.approx(r2_score(y, predicted))
    assert (objective.output_scores(target, target) == 1).all()


def test_scores_are_means_over_the_numbers_that_are_there():
    scores = Numbers().output_scores(np.array([[1.0, 5.0], [1.0, 1.0]]), np.array([[0.5, NAN], [0.0, -1.0]]))
    np.testing.assert_allclose(scores, [1 - 0.25, 1 - (1 + 4) / 2])


@pytest.mark.parametrize("weighted", [False, True])
def test_neighbours_predict_their_mean(rng, weighted):
    places, target = rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    known, held = slice(0, 30), slice(30, 40)
    ks = (1, 3, 30, 50)
    scores = Numbers().neighbor_scores(distances[held, known], target[known], target[held], ks, weighted=weighted)
    for q, k in enumerate(ks):
        knn = KNeighborsRegressor(min(k, 30), weights=plain_votes if weighted else "uniform")
        predicted = knn.fit(places[known], target[known]).predict(places[held])
        np.testing.assert_allclose(scores[:, q], 1 - ((predicted - target[held]) ** 2).mean(1), atol=1e-6)


def test_neighbours_without_a_number_do_not_count():
    neighbors = np.array([[1.0, NAN], [3.0, NAN], [NAN, 2.0]])
    distances = np.array([[1.0, 2.0, 3.0]])
    scores = Numbers().neighbor_scores(distances, neighbors, np.array([[0.0, 1.0]]), (2, 3))
    # two neighbours: mean 2 and nothing, so 0; three: mean 2 of the two that have it, and 2
    np.testing.assert_allclose(scores, [[1 - (4 + 1) / 2, 1 - (4 + 1) / 2]])
    weighted = Numbers().neighbor_scores(distances, neighbors, np.array([[0.0, 2.0]]), (3,), weighted=True)
    mean = (1.0 / 1 + 3.0 / 2) / (1 / 1 + 1 / 2)
    np.testing.assert_allclose(weighted, [[1 - mean**2 / 2]])


def test_a_graph_is_not_its_own_neighbour():
    places = np.array([0.0, 1.0, 3.0])
    scores = Numbers().left_out_scores(np.abs(places[:, None] - places), places[:, None], (1,))
    np.testing.assert_allclose(scores[:, 0], [1 - 1, 1 - 1, 1 - 4])


def test_the_guess_is_the_mean_of_those_known():
    known, others = np.array([[1.0, NAN], [3.0, NAN]]), np.array([[0.0, 2.0], [2.0, NAN]])
    np.testing.assert_allclose(Numbers().guess(known, others), [1 - (4 + 4) / 2, 1])  # 0 where none is known


def test_subsamples_and_folds_are_drawn_at_random():
    target = np.arange(50.0)[:, None]
    some = Numbers().subsample(target, 20, np.random.default_rng(0))
    assert len(some) == 20
    assert (np.diff(some) > 0).all()
    assert not np.array_equal(some, Numbers().subsample(target, 20, np.random.default_rng(1)))
    groups = np.arange(50) // 5
    folds = Numbers().folds(target, 5, np.random.default_rng(0), groups)
    assert np.bincount(folds).tolist() == [10] * 5
    assert (folds.reshape(10, 5) == folds[::5, None]).all()


def test_in_words():
    objective = Numbers()
    objective.encode(PATHS, [1.0, 2.0, 4.0])
    assert objective.summary() == "numbers"
    assert (objective.score_name, objective.in_words(0.71234)) == ("R²", "0.712")
    assert objective.balanced(np.zeros(3), np.zeros((3, 1))) is None
    objective.encode(PATHS, [[1.0, 2.0], [2.0, 3.0], [5.0, 1.0]])
    assert objective.summary() == "2 numbers per graph"


def test_numbers_that_cannot_be_squared_are_refused():
    graphs = as_graphs([(np.eye(2), None)] * 3)
    with pytest.raises(ValueError, match=r"targets beyond 1e.100"):
        check_numbers(graphs, [1.0, 2.0, 1e200])


def test_a_number_of_hundreds_of_digits_is_refused():
    with pytest.raises(ValueError, match="the target of graph 1 is a number of hundreds of digits"):
        check_numbers(PATHS, [1, 10**400, 3])


def test_numbers_too_alike_or_complex_are_refused():
    graphs = many(3)
    with pytest.raises(ValueError, match=r"differ by less than 1e-100"):
        check_numbers(graphs, np.arange(3) * 1e-200)
    np.testing.assert_array_equal(check_numbers(graphs, np.arange(3) * 1e-90), np.arange(3) * 1e-90)
    with pytest.raises(ValueError, match="targets must be real numbers, got complex128"):
        check_numbers(graphs, np.arange(3) + 1j)
