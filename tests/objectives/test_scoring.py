import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.objectives import Classes, Numbers, SeveralLabels, Unlabelled
from graph_metric_learn.objectives.ranking import average_precision
from graph_metric_learn.objectives.scoring import SCORERS, scorer_for
from helpers import plain_votes

NAN = np.nan
COUNT = 60


def paths(count):
    return as_graphs([nx.path_graph(2)] * count)


def rare(count=COUNT, every=20):
    return Classes.of((np.arange(count) % every == 0).astype(int))


def labels_with_gaps(rng):
    table = (rng.random((COUNT, 3)) < [0.5, 0.15, 0.3]).astype(float)
    table[rng.random((COUNT, 3)) < 0.2] = NAN
    return SeveralLabels.of(table)


def test_a_rare_class_is_ranked():
    for every, name, words in ((20, "roc_auc", "AUC"), (9, "", "accuracy")):
        scorer = scorer_for("auto", *rare(every=every))
        assert (scorer.name, scorer.ranks, scorer.words) == (name, name == "roc_auc", words)
    three = Classes.of(np.array([0] * 50 + [1] * 45 + [2] * 5))
    assert scorer_for("auto", *three).ranks


def test_labels_are_ranked_where_one_is_rare():
    """Rare on either side; a label that all graphs have does not count."""
    for column, ranks in (([0.0] * 19 + [1.0], True), ([1.0] * 19 + [0.0], True), ([0.0, 1.0] * 10, False)):
        objective, target = SeveralLabels.of(np.column_stack([column, [0.0, 1.0] * 10, np.ones(20)]))
        assert scorer_for("auto", objective, target).ranks == ranks


def test_numbers_are_judged_by_what_they_explain():
    objective, target = Numbers.of(np.arange(10.0))
    assert scorer_for("auto", objective, target).words == "R²"
    assert scorer_for("r2", objective, target).of_outputs(target, target) == (pytest.approx(1.0), 10.0)


@pytest.mark.parametrize(
    ("scoring", "made", "words"),
    [
        ("r2", rare(), "scoring='r2' is not for classes or labels: use 'accuracy' or 'roc_auc'"),
        ("roc_auc", Numbers.of(np.arange(9.0)), "scoring='roc_auc' is not for numbers: use 'r2'"),
        ("accuracy", Numbers.of(np.arange(9.0)), "scoring='accuracy' is not for numbers"),
        ("best", rare(), "unknown scoring='best'"),
        (
            "balanced_accuracy",
            SeveralLabels.of(np.array([[0.0, 1.0], [1.0, 0.0]])),
            "scoring='balanced_accuracy' is not for several labels",
        ),
    ],
)
def test_scores_that_do_not_go_with_the_targets(scoring, made, words):
    with pytest.raises(ValueError, match=words):
        scorer_for(scoring, *made)


def test_without_targets_nothing_is_asked():
    objective = Unlabelled()
    for scoring in SCORERS:
        assert not scorer_for(scoring, objective, objective.encode(paths(3), None)).ranks


# --- scores are those of scikit-learn --------------------------------------------------------------------------------

ORACLES = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}


@pytest.mark.parametrize("scoring", ORACLES)
def test_rankings_of_two_classes_are_by_the_rarer_one(rng, scoring):
    objective, target = rare()
    outputs = rng.normal(size=(COUNT, 2))
    score, weight = scorer_for(scoring, objective, target).of_outputs(outputs, target)
    assert score == pytest.approx(ORACLES[scoring](target, outputs[:, 1]))
    assert weight == 3  # graphs of the rarer side
    other = Classes.of(1 - target)
    assert scorer_for(scoring, *other).of_outputs(outputs[:, ::-1], other[1])[0] == pytest.approx(score)


@pytest.mark.parametrize("scoring", ORACLES)
def test_rankings_of_labels_are_means_over_what_is_known(rng, scoring):
    objective, target = labels_with_gaps(rng)
    outputs = rng.normal(size=target.shape)
    total = counted = 0.0
    for label, output in zip(target.T, outputs.T, strict=True):
        known = np.isfinite(label)
        pairs = min(label[known].sum(), (1 - label[known]).sum())
        total, counted = total + pairs * ORACLES[scoring](label[known], output[known]), counted + pairs
    score, weight = scorer_for(scoring, objective, target).of_outputs(outputs, target)
    assert (score, weight) == (pytest.approx(total / counted), counted)


def test_graphs_of_one_kind_cannot_be_ranked():
    """They count nothing beside other folds."""
    objective, target = rare()
    scorer = scorer_for("roc_auc", objective, target)
    zeros = np.zeros(7, dtype=int)
    assert scorer.of_outputs(np.zeros((7, 2)), zeros) == (0.5, 0.0)
    distances = np.ones((7, COUNT))
    scores, weight = scorer.of_neighbors(distances, target, zeros, [1, 3])
    assert (scores.tolist(), weight) == ([0.5, 0.5], 0.0)


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
def test_shares_that_are_right(rng, scoring):
    objective, target = Classes.of(rng.integers(0, 3, COUNT) ** 2)
    outputs = rng.normal(size=(COUNT, 3)) + np.eye(3)[target]
    right = outputs.argmax(1)
    wanted = np.mean(right == target) if scoring == "accuracy" else balanced_accuracy_score(target, right)
    assert scorer_for(scoring, objective, target).of_outputs(outputs, target)[0] == pytest.approx(wanted)


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc", "average_precision"])
def test_neighbours_are_judged_by_their_votes(rng, scoring):
    """Nearer ones count more."""
    target = rng.permutation(np.arange(COUNT) % 5 == 0).astype(int)
    objective, target = Classes.of(target)
    known, others = np.arange(40), np.arange(40, COUNT)
    distances = rng.uniform(0.1, 1.0, (20, 40))
    scores, _ = scorer_for(scoring, objective, target).of_neighbors(distances, target[known], target[others], [1, 5])
    for k, score in zip([1, 5], scores, strict=True):
        oracle = KNeighborsClassifier(k, metric="precomputed", weights=plain_votes)
        shares = oracle.fit(np.zeros((40, 40)), target[known]).predict_proba(distances)[:, 1]
        wanted = {
            "accuracy": np.mean((shares > 0.5) == target[others]),
            "balanced_accuracy": balanced_accuracy_score(target[others], shares > 0.5),
            "roc_auc": roc_auc_score(target[others], shares),
            "average_precision": average_precision(shares, target[others]),  # equal shares are many
        }[scoring]
        assert score == pytest.approx(wanted)
