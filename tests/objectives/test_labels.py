import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.objectives import SeveralLabels
from graph_metric_learn.objectives.labels import as_table

NAN = np.nan
PATHS = as_graphs([nx.path_graph(n) for n in (2, 3, 4, 5)])
TABLE = np.array([[1, 0], [0, NAN], [NAN, NAN], [1, 1]])


def test_labels_are_the_table_and_graphs_may_have_none():
    objective = SeveralLabels()
    target = objective.encode(PATHS, TABLE)
    np.testing.assert_array_equal(target, TABLE)
    np.testing.assert_array_equal(objective.outputs(target), TABLE)
    np.testing.assert_array_equal(objective.decode(target), TABLE)
    np.testing.assert_allclose(objective.rates_, [2 / 3, 1 / 2])
    assert (objective.summary(), objective.n_outputs()) == ("2 labels", 2)
    again = SeveralLabels()
    again.set_state(objective.state())
    np.testing.assert_array_equal(again.rates_, objective.rates_)


@pytest.mark.parametrize(
    "y", [TABLE.tolist(), [[1, 0], [0, None], [None, None], [1, 1]], TABLE.astype(object), torch.tensor(TABLE)]
)
def test_kinds_of_tables(y):
    np.testing.assert_array_equal(SeveralLabels().encode(PATHS, y), TABLE)


def test_truth_values_are_labels():
    y = np.array([[True, False], [False, True], [True, True], [False, False]])
    np.testing.assert_array_equal(SeveralLabels().encode(PATHS, y), y.astype(float))


def test_labels_of_the_graphs():
    graphs = as_graphs([Data(num_nodes=2, y=torch.tensor([[1.0 * i, 1.0 - i]])) for i in (0, 1)])
    np.testing.assert_array_equal(SeveralLabels().encode(graphs, None), [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "no labels to learn from: pass y"),
        ([0, 1, 0, 1], r"4 graphs, but labels of shape \(4,\): give a row per graph"),
        ([[0, 1], [1, 0]], "4 graphs, but 2 targets"),
        (np.zeros((4, 0)), r"4 graphs, but labels of shape \(4, 0\)"),
        ([[0, 1], [1, 0], [2, 1], [0, 0]], "label 0 of graph 2 is 2: labels are 0, 1, or NaN"),
        ([[0, 1], [1, 0], [1, 0.5], [0, 0]], 'label 1 of graph 2 is 0.5: .*task="numbers"'),
        ([[0, 1], [1, np.inf], [1, 0], [0, 0]], "label 1 of graph 1 is inf"),
        ([[0, 1], [1, 1], [0, 1], [0, 1]], "label 1 is 1 for all graphs: there is nothing to learn from; leave it out"),
        ([[0, NAN], [1, 0], [0, NAN], [0, 0]], "label 1 is 0 for all graphs"),
        ([[0, NAN], [1, NAN], [0, NAN], [0, NAN]], "label 1 is known for no graph"),
        (np.zeros((4, 10_001)), "10001 labels are too many: at most 10,000"),
    ],
)
def test_bad_labels_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        SeveralLabels().encode(PATHS, y)


def test_labels_that_are_scored_may_be_the_same_for_all():
    np.testing.assert_array_equal(as_table(PATHS, np.ones((4, 2))), np.ones((4, 2)))
    with pytest.raises(ValueError, match="label 1 of graph 0 is 3"):
        as_table(PATHS, np.full((4, 2), [0, 3]))


def test_scores_are_shares_of_known_labels():
    objective, target = SeveralLabels.of(TABLE)
    outputs = np.array([[0.9, 0.7], [0.2, 0.9], [0.0, 0.0], [0.4, 0.3]])
    np.testing.assert_allclose(objective.output_scores(outputs, target), [0.5, 1.0, 1.0, 0.0])
    np.testing.assert_allclose(objective.guess(target, target), [1.0, 0.0, 1.0, 0.5])  # 1 and, of two, 0


def test_neighbours_that_know_a_label_vote(rng):
    """Against counting, graph by graph and label by label."""
    table = rng.integers(0, 2, (12, 2)).astype(float)
    table[rng.random((12, 2)) < 0.4] = NAN
    objective, target = SeveralLabels.of(table)
    distances = rng.uniform(size=(5, 12))
    shares = objective.neighbor_outputs(distances, target, [1, 3])
    for g, row in enumerate(distances):
        for label in range(2):
            near = [i for i in np.argsort(row) if np.isfinite(table[i, label])]
            for q, k in enumerate([1, 3]):
                assert shares[g, q, label] == pytest.approx(table[near[:k], label].mean())
    truth = rng.integers(0, 2, (5, 2)).astype(float)
    wanted = ((shares[:, 1] > 0.5) == truth).mean(1)
    np.testing.assert_allclose(objective.neighbor_scores(distances, target, truth, [1, 3])[:, 1], wanted)


def test_the_rarest_label():
    objective, target = SeveralLabels.of(np.column_stack([[1.0] * 9 + [0.0], [0.0] * 5 + [1.0] * 5, np.zeros(10)]))
    assert objective.rarest_share(target) == pytest.approx(0.1)
    assert objective.rarest_share(np.zeros((3, 3))) is None


@pytest.mark.parametrize(
    "state", [{}, {"rates": []}, {"rates": [1.5]}, {"rates": ["a"]}, {"rates": [0.5], "more": 1}, 3]
)
def test_states_that_cannot_be(state):
    with pytest.raises(ValueError, match=r"labels|rates"):
        SeveralLabels().set_state(state)
