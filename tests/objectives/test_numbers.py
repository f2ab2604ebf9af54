from decimal import Decimal

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from torch_geometric.data import Data

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.objectives import Numbers
from graph_metric_learn.objectives.numbers import as_numbers, check_numbers, check_scored_numbers, in_digits
from helpers import plain_votes

PATHS = as_graphs([nx.path_graph(n) for n in (2, 3, 4)])
NAN = np.nan
NOT_AVAILABLE = type("NAType", (), {"__eq__": lambda self, other: self})()  # as pandas' NA: `float` of it is an error


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
        ([[1.0, NAN], [2.0, 5.0], [3.0, NAN]], "target 1 is known for one graph only: there is nothing to learn from"),
    ],
)
def test_bad_numbers_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        check_numbers(PATHS, y)


def test_missing_entries_of_several_columns():
    wanted = [[1.0, NAN], [NAN, 2.0], [3.0, 4.0]]
    np.testing.assert_array_equal(check_numbers(PATHS, wanted), wanted)
    np.testing.assert_array_equal(check_numbers(PATHS, [[1, None], [None, 2], [3, 4]]), wanted)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "no numbers: pass y"),
        ([0.5, 1.0], "3 graphs, but 2 targets"),
        (np.zeros((3, 2, 2)), r"3 graphs, but targets of shape \(3, 2, 2\)"),
        (["a"] * 3, "targets must be numbers, that of graph 0 is 'a'"),
        ([0.5, NAN, 1.0], "the target of graph 1 is NaN or infinite"),
        ([0.5, np.inf, 1.0], "the target of graph 1 is NaN or infinite"),
        ([0.5, None, 1.0], "the target of graph 1 is NaN"),
        ([[0.5, 1.0], [1.0, 3.0], [-np.inf, NAN]], "the targets of graph 2 are all NaN, or some infinite"),
        ([1.0, 10**400, 3.0], "the target of graph 1 is a number of hundreds of digits"),
        (np.arange(3) + 1j, "targets must be real numbers, got complex128"),
    ],
)
def test_numbers_that_cannot_be_scored_are_refused_as_in_fit(y, words):
    with pytest.raises(ValueError, match=words):
        check_scored_numbers(PATHS, y)


@pytest.mark.parametrize(
    ("y", "wanted"),
    [
        ([2, 2, 2], [2.0, 2.0, 2.0]),
        (["1", "0.5", "2"], [1.0, 0.5, 2.0]),
        ((one for one in (1, 2, 3)), [1.0, 2.0, 3.0]),
        ([[1, None], [2, None], [NAN, 3]], [[1.0, NAN], [2.0, NAN], [NAN, 3.0]]),
        (np.array([[1.5, NOT_AVAILABLE]] * 3, dtype=object), [[1.5, NAN]] * 3),  # a table of pandas, of type Float64
    ],
)
def test_numbers_that_are_scored_may_be_the_same_or_missing(y, wanted):
    found = check_scored_numbers(PATHS, y)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, wanted)


def test_targets_of_any_type_as_numbers():
    np.testing.assert_array_equal(
        as_numbers(np.array([[True, None], [Decimal("0.5"), 3]], dtype=object)), [[1, NAN], [0.5, 3]]
    )
    np.testing.assert_array_equal(as_numbers(np.array([1, 2], dtype=np.uint8)), [1.0, 2.0])


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
    assert (objective.in_words(-1e-5), objective.in_words(-0.01)) == ("0.000", "-0.010")
    assert objective.balanced(np.zeros(3), np.zeros((3, 1))) is None
    objective.encode(PATHS, [[1.0, 2.0], [2.0, 3.0], [5.0, 1.0]])
    assert objective.summary() == "2 numbers per graph"


@pytest.mark.parametrize("column", [False, True])
def test_a_score_as_error_in_units_of_the_target(rng, column):
    """By definition: the root of the mean of the squared differences."""
    y, predicted = rng.normal(3, 5, (2, 50))
    objective = Numbers()
    target = objective.encode(many(50), y[:, None] if column else y)
    score = objective.output_scores((predicted[:, None] - objective.centre_) / objective.scale_, target).mean()
    assert objective.error_in_words(score) == in_digits(np.sqrt(np.mean((predicted - y) ** 2)))
    assert objective.error_in_words(objective.guess(target, target).mean()) == in_digits(y.std())
    assert objective.error_in_words(1 + 1e-12) == "0"
    objective.encode(many(50), np.stack([y, predicted], axis=1))
    assert objective.error_in_words(score) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0"), (0.8234, "0.823"), (999.6, "1000"), (123456.7, "123457"), (1.5e6, "1.5e+06"), (2e-9, "2e-09")],
)
def test_numbers_have_an_exponent_where_they_are_long(value, words):
    assert in_digits(value) == words


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
