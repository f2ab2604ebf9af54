import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.objectives import Classes
from graph_metric_learn.objectives.classes import check_classes, elected_output
from helpers import plain_votes

PATHS = as_graphs([nx.path_graph(n) for n in (2, 3, 4)])


@pytest.fixture
def three():
    """Classes a, b and c."""
    objective = Classes()
    objective.encode(PATHS, ["a", "b", "c"])
    return objective


def test_classes_are_encoded_and_come_back():
    objective = Classes()
    codes = objective.encode(PATHS, ["b", "a", "b"])
    np.testing.assert_array_equal(codes, [1, 0, 1])
    assert objective.classes_.tolist() == ["a", "b"]
    assert objective.summary() == "2 classes"
    again = Classes()
    again.set_state(objective.state())
    assert again.decode(codes).tolist() == ["b", "a", "b"]


def test_classes_are_found_in_the_graphs():
    graphs = [nx.path_graph(n) for n in (2, 3)]
    for graph, y in zip(graphs, (5, 3), strict=True):
        graph.graph["y"] = y
    np.testing.assert_array_equal(Classes().encode(as_graphs(graphs), None), [1, 0])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "no class labels"),
        ([0, 1], "3 graphs, but 2 targets"),
        ([[0, 1], [1, 0], [1, 1]], r"3 graphs, but class labels of shape \(3, 2\); learn several"),
        ([0.5, 1.2, 3.3], 'must be discrete.*task="numbers"'),
        ([0.0, 1.0, np.nan], "the class of graph 2 is missing: its label is nan"),
        ([0.0, np.inf, 1.0], "the class of graph 1 is missing: its label is inf"),
        (["a", None, "b"], r"the class of graph 1 is missing: its label is None \(1 such"),
        (["a", np.nan, np.nan], r"the class of graph 1 is missing: its label is nan \(2 such"),
        (["a", 1, "b"], "all strings or all numbers"),
        ([1, 1, 1], "of one class"),
        (np.array(["2020", "2021", "2020"], dtype="datetime64[Y]"), "must be discrete"),
    ],
)
def test_bad_classes_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        check_classes(PATHS, y)


@pytest.mark.parametrize(
    "y", [[True, False, True], [[1], [0], [1]], np.array([1, 0, 1], dtype=object), [1.0, 0.0, 1.0], ["1", "0", "1"]]
)
def test_kinds_of_class_labels(y):
    assert Classes().encode(PATHS, y).tolist() == [1, 0, 1]


def test_a_subsample_keeps_all_classes():
    codes = np.repeat([0, 1], [990, 10])
    for most in (4, 50, 2000):
        some = Classes().subsample(codes, most, np.random.default_rng(0))
        counts = np.bincount(codes[some], minlength=2)
        assert counts.sum() == min(most, 1000)
        assert counts.min() >= 2
        assert (np.diff(some) > 0).all()


def test_folds_hold_as_many_of_each_class():
    codes = np.repeat([0, 1, 2], [50, 30, 21])
    folds = Classes().folds(codes, 5, np.random.default_rng(0))
    for code in range(3):
        counts = np.bincount(folds[codes == code], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert not np.array_equal(folds, Classes().folds(codes, 5, np.random.default_rng(1)))
    groups = np.arange(101) // 2
    together = Classes().folds(codes, 5, np.random.default_rng(0), groups)
    assert all(len(set(together[groups == group])) == 1 for group in range(51))


@pytest.mark.parametrize("weighted", [False, True])
def test_neighbours_are_right_where_most_of_their_votes_are(rng, three, weighted):
    distances, neighbors, truth = rng.random((20, 9)), rng.integers(0, 3, 9), rng.integers(0, 3, 20)
    distances[:, 7:] = np.inf  # two that do not count
    scores = three.neighbor_scores(distances, neighbors, truth, (1, 3, 9), weighted=weighted)
    assert scores.shape == (20, 3)
    for row, code, score in zip(distances, truth, scores, strict=True):
        order = np.argsort(row)[:7]
        for k, one in zip((1, 3, 7), score, strict=True):
            worth = plain_votes(row[None, order[:k]])[0] if weighted else None
            votes = np.bincount(neighbors[order[:k]], worth, minlength=3)
            assert one == (votes.argmax() == code)


def test_a_graph_does_not_vote_for_itself(three):
    """Each is nearest to itself, then to one of another class."""
    places = np.array([0.0, 0.1, 5.0, 5.2])
    distances = np.abs(places[:, None] - places)
    np.testing.assert_array_equal(three.left_out_scores(distances, np.array([0, 1, 2, 2]), (1,))[:, 0], [0, 0, 1, 1])
    assert (np.diag(distances) == 0).all()  # left as they were


def test_outputs_are_one_column_per_class(three):
    np.testing.assert_array_equal(three.outputs(np.array([2, 0])), [[0, 0, 1], [1, 0, 0]])
    outputs = np.array([[0.2, 0.5, 0.3], [0.1, 0.6, 0.3], [0.4, 0.4 + 1e-12, 0.2]])
    np.testing.assert_array_equal(elected_output(outputs), [1, 1, 0])
    np.testing.assert_array_equal(three.output_scores(outputs, np.array([1, 2, 0])), [1, 0, 1])


def test_the_guess_is_the_largest_class_of_those_known(three):
    np.testing.assert_array_equal(three.guess(np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])), [1, 0, 0, 1])


def test_balanced_scores_are_means_over_the_classes(three):
    target = np.repeat([0, 1], [90, 10])
    assert three.balanced((target == 0).astype(float), target) == pytest.approx(0.5)
    assert three.balanced(np.ones(10), np.repeat([0, 1], 5)) is None  # nothing to balance
    assert three.balanced_error(np.ones(10), np.repeat([0, 1], 5), np.arange(10)) is None


def test_the_error_of_a_balanced_score_is_that_of_the_mean_over_classes(rng, three):
    """By drawing the scores again and again: of single graphs, and of groups that are right or wrong together."""
    target = np.repeat([0, 1, 2], [200, 60, 20])
    for size in (1, 4):
        group = np.arange(280) // size
        right = rng.random((4000, 280 // size)) < np.array([0.9, 0.5, 0.3])[target[::size]]
        found = [three.balanced(one[group].astype(float), target) for one in right]
        errors = [three.balanced_error(one[group].astype(float), target, group) for one in right[:300]]
        assert np.mean(errors) == pytest.approx(np.std(found), rel=0.08)


def test_the_error_counts_groups_of_several_classes_as_one_draw(rng, three):
    """Where one of a group is right, the one of the other class is wrong: the mean over classes is the same always."""
    first = rng.random(40) < 0.5
    target, scores = np.repeat([0, 1, 1], [40, 40, 20]), np.concatenate([first, ~first, [True, False] * 10]) * 1.0
    alone = three.balanced_error(scores, target, np.arange(100))
    together = three.balanced_error(scores, target, np.concatenate([np.arange(40), np.arange(60)]))
    a, b = scores[:40] - scores[:40].mean(), scores[40:] - scores[40:].mean()
    assert alone == pytest.approx(np.sqrt((a**2).sum() / 40**2 + (b**2).sum() / 60**2) / 2)
    of_groups = np.concatenate([a / 40 + b[:40] / 60, b[40:] / 60])
    assert together == pytest.approx(np.sqrt((of_groups**2).sum()) / 2)
    assert together < alone


def test_few_graphs_of_a_class_are_never_certain(three):
    """All right of one class, or in one group: as if one more were right, and one wrong."""
    target = np.repeat([0, 1], [40, 2])
    scores = np.concatenate([np.tile([0.0, 1.0], 20), np.ones(2)])
    known, few = 0.25 / 40, 3 / 4**3
    assert three.balanced_error(scores, target, np.arange(42)) == pytest.approx(np.sqrt(known + few) / 2)
    scores[41] = 0.0
    one = np.minimum(np.arange(42), 40)
    assert three.balanced_error(scores, target, one) == pytest.approx(np.sqrt(known + 2 / 3**3) / 2)


def test_scores_in_words(three):
    assert (three.score_name, three.in_words(0.8766)) == ("accuracy", "87.7 %")
