import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import graph_metric_learn as gml
from graph_metric_learn.objectives import retrieval

MEASURES = ("map_at_r", "r_precision", "precision_at_k", "ndcg_at_k")
NAN = np.nan


def obvious_scores(relevant, k):
    """The four scores of relevant graphs (0 or 1), the nearest first."""
    r, places = int(relevant.sum()), np.arange(1, len(relevant) + 1)
    precisions = np.cumsum(relevant) / places
    gains, k = 1 / np.log2(places + 1), min(k, len(relevant))
    return (
        (precisions * relevant)[:r].sum() / r,
        relevant[:r].mean(),
        relevant[:k].mean(),
        (relevant * gains)[:k].sum() / gains[: min(r, k)].sum(),
    )


def obvious_means(distances, relevance, k):
    """Means over queries [N] of the means over all orders of equal distances; NaN does not count."""
    rows = []
    for near, relevant in zip(distances, relevance, strict=True):
        near, relevant = near[~np.isnan(relevant)], relevant[~np.isnan(relevant)]
        if relevant.any():
            groups = [np.flatnonzero(near == value) for value in np.unique(near)]
            orders = itertools.product(*(itertools.permutations(group) for group in groups))
            scores = [obvious_scores(relevant[np.concatenate(order).astype(int)], k) for order in orders]
            rows.append(np.mean(scores, axis=0))
    return dict(zip(MEASURES, np.mean(rows, axis=0), strict=True)) | {"n_queries": len(rows)}


def same(found, wanted):
    assert list(found) == [*MEASURES, "n_queries"]
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, abs=1e-12), name


def ranks(distances):
    """The places of all entries among those of their row: the same order, without ties."""
    return distances.argsort(1).argsort(1).astype(float)


def diagonal_left_out(relevance):
    relevance = np.array(relevance, dtype=float)
    np.fill_diagonal(relevance, NAN)
    return relevance


@given(seed=st.integers(0, 10_000), k=st.integers(1, 7))
def test_mean_over_all_orders_of_ties(seed, k):
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 3, size=(4, 6)).astype(rng.choice([np.float32, np.float64]))
    distances[distances == 2] = rng.choice([2.0, np.inf])
    relevance = rng.choice([0.0, 1.0, NAN], size=(4, 6), p=[0.5, 0.3, 0.2])
    relevance[0] = [1, 0, 0, 1, 0, NAN]
    same(gml.retrieval_scores(distances, relevance=relevance, k=k), obvious_means(distances, relevance, k))


@pytest.mark.parametrize("squared", [False, True])
def test_same_as_pytorch_metric_learning(rng, squared):
    calculators = pytest.importorskip("pytorch_metric_learning.utils.accuracy_calculator")
    points, others = rng.normal(size=(60, 2)), rng.normal(size=(90, 2))
    y, others_y = rng.integers(0, 7, 60), rng.integers(0, 6, 90)
    y[0] = 99  # nothing is relevant for it
    names = ("mean_average_precision_at_r", "r_precision", "precision_at_1")
    calculator = calculators.AccuracyCalculator(include=names, k=None, device=torch.device("cpu"))
    given = [torch.tensor(points), torch.tensor(y)]
    if squared:
        found = gml.retrieval_scores(ranks(cdist(points, points)), y, k=1)
        wanted = calculator.get_accuracy(*given)
    else:
        found = gml.retrieval_scores(ranks(cdist(points, others)), y, others_y, k=1)
        wanted = calculator.get_accuracy(*given, torch.tensor(others), torch.tensor(others_y))
    for name, reference in zip(MEASURES, names, strict=False):
        assert found[name] == pytest.approx(wanted[reference]), name


def test_classes_of_any_kind_and_missing_ones(rng):
    distances = rng.integers(0, 20, size=(8, 8)).astype(float)
    y = ["a", "b", None, "a", "b", "c", "a", float("nan")]
    known = np.array([one in ("a", "b", "c") for one in y])
    relevance = np.equal.outer(np.array(y, object), np.array(y, object)).astype(float)
    relevance[~known] = relevance[:, ~known] = NAN
    wanted = obvious_means(distances, diagonal_left_out(relevance), 3)
    assert wanted["n_queries"] == 5
    same(gml.retrieval_scores(distances, y, k=3), wanted)
    codes = np.array([{"a": 1.0, "b": 0.0, "c": 5.0}.get(one, NAN) for one in y])
    same(gml.retrieval_scores(distances, codes, k=3), wanted)
    same(gml.retrieval_scores(torch.tensor(distances), torch.tensor(codes)[:, None], k=3), wanted)


def test_labels_that_are_shared(rng):
    """Others that were measured for none of the labels of the query do not count for it."""
    y = np.array([[1, 0, NAN], [1, 1, 0], [0, NAN, 1], [NAN, 1, 1], [0, 0, 0], [0, 1, NAN]])
    relevance = np.full((6, 6), NAN)
    for i, j in itertools.permutations(range(6), 2):
        measured = [y[j, t] for t in range(3) if y[i, t] == 1 and not np.isnan(y[j, t])]
        relevance[i, j] = max(measured, default=NAN)
    assert np.isnan(relevance[0, 3])
    distances = rng.integers(0, 6, size=(6, 6)).astype(float)
    same(gml.retrieval_scores(distances, y, k=2), obvious_means(distances, relevance, 2))
    same(gml.retrieval_scores(distances, y.tolist(), k=2), obvious_means(distances, relevance, 2))


def test_numbers_that_are_near(rng):
    y, others_y = [0.0, 0.8, NAN, 0.5, 9.0], [0.6, 0.2, None, 0.1]
    relevance = [[0, 1, NAN, 1], [1, 0, NAN, 0], [NAN] * 4, [1, 0, NAN, 0], [0, 0, NAN, 0]]
    distances = rng.random((5, 4))
    found = gml.retrieval_scores(distances, y, others_y, k=2, within=0.2)  # 0.8 − 0.6 is more than 0.2
    same(found, obvious_means(distances, np.array(relevance), 2))
    assert found["n_queries"] == 3


def test_the_diagonal_does_not_count(rng):
    distances, y = rng.random((9, 9)), rng.integers(0, 2, 9)
    relevance = np.equal.outer(y, y)
    wanted = obvious_means(distances, diagonal_left_out(relevance), 4)
    for diagonal in (0.0, NAN, 7.0):
        np.fill_diagonal(distances, diagonal)
        same(gml.retrieval_scores(distances, y, k=4), wanted)
        same(gml.retrieval_scores(distances, relevance=relevance, k=4), wanted)
    np.fill_diagonal(distances, 0.0)
    same(gml.retrieval_scores(distances, y, y, k=4), obvious_means(distances, relevance.astype(float), 4))


def test_rounding_does_not_make_an_order():
    """Nearly equal distances are equal; those that grow by small steps are not."""
    steps = 2.0 * (1 + 0.9e-5 * np.arange(4))  # the last two are tied with each other, and not with the first two
    relevance = np.array([[0.0, 1.0, 0.0, 1.0]])
    found = gml.retrieval_scores(steps[None], relevance=relevance, k=2)
    same(found, obvious_means(np.array([[0.0, 0.0, 1.0, 1.0]]), relevance, 2))
    same(gml.retrieval_scores(-steps[None, ::-1], relevance=relevance, k=2), found)
    near = np.float32(0.1) + np.array([[1, 0]], dtype=np.float32) * np.float32(1e-8)
    assert near[0, 0] > near[0, 1]
    assert gml.retrieval_scores(near, relevance=[[1, 0]], k=1)["precision_at_k"] == 0.5


def test_only_the_order_of_distances_matters(rng):
    distances, y = rng.integers(0, 9, size=(40, 40)).astype(float), rng.integers(0, 4, 40)
    found = gml.retrieval_scores(distances, y)
    same(gml.retrieval_scores(distances**2, y), found)
    same(gml.retrieval_scores(-1 / (1 + distances), y), found)
    same(gml.retrieval_scores(distances.astype(np.int32), y), found)
    order = rng.permutation(40)
    same(gml.retrieval_scores(distances[order][:, order], y[order]), found)


def test_chunks_of_queries_are_added_up(rng, monkeypatch):
    distances, y = rng.random((30, 30)), rng.integers(0, 4, 30)
    found = gml.retrieval_scores(distances, y)
    monkeypatch.setattr(retrieval, "_CHUNK", 70)
    same(gml.retrieval_scores(distances, y), found)
    distances[17, 3] = NAN
    with pytest.raises(ValueError, match="the distance of query 17 from graph 3 is nan"):
        gml.retrieval_scores(distances, y)


def test_perfect_and_useless(rng):
    y = np.repeat(np.arange(5), 20)
    perfect = np.not_equal.outer(y, y).astype(float)
    same(gml.retrieval_scores(perfect, y), dict.fromkeys(MEASURES, 1.0))
    useless = gml.retrieval_scores(np.ones((100, 100)), y)
    for name in ("r_precision", "precision_at_k", "ndcg_at_k"):
        assert useless[name] == pytest.approx(19 / 99)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give either y or relevance"),
        ({"y": [0, 1, 0], "relevance": np.eye(3)}, "give either y or relevance"),
        ({"y": [0, 1]}, r"y has the shape \(2,\), expected one entry or row for each of 3 graphs"),
        ({"y": [0, 1, 0], "others_y": [0]}, r"others_y has the shape \(1,\)"),
        ({"y": [0, 1, 2]}, "no query for which any graph is relevant"),
        ({"y": [0.5, 1.5, 0.5]}, "say by within="),
        ({"y": ["a", "b", "a"], "within": 1.0}, "y must be numbers where within="),
        ({"y": [0.5, np.inf, 0.5], "within": 1.0}, "the number of graph 1 is infinite"),
        ({"y": [0.5, 1.5, 0.5], "within": -1.0}, "within must be a number >= 0"),
        ({"y": np.eye(3), "within": 1.0}, "one number per graph"),
        ({"y": [[1, 0], [0, 2], [1, 1]]}, "row 1 of y is 2"),
        ({"y": np.eye(3), "others_y": [0, 1, 0]}, "give the same columns"),
        ({"y": np.eye(3), "others_y": 2 * np.eye(3)}, "row 0 of others_y is 2.0"),
        ({"y": [0, 1, 0], "k": 0}, "k must be a whole number >= 1"),
        ({"relevance": np.eye(2)}, "relevance has the shape"),
        ({"relevance": 2 * np.eye(3)}, "row 0 of relevance is 2.0.*not measured$"),
        ({"relevance": np.eye(3), "within": 1.0}, "leave out within"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        gml.retrieval_scores(np.ones((3, 3)), **arguments)


def test_bad_distances():
    for distances, message in (
        (np.ones(3), "must be a matrix"),
        (np.ones((3, 0)), "must be a matrix"),
        (np.full((3, 3), "a"), "expected numbers"),
        (np.ones((3, 4)), "pass others_y"),
        (np.array([[0, 1, NAN], [1, 0, 2], [1, 2, 0]]), "the distance of query 0 from graph 2 is nan"),
        (np.array([[0, 1, 2], [-np.inf, 0, 2], [1, 2, 0]]), "the distance of query 1 from graph 0 is -inf"),
    ):
        with pytest.raises(ValueError, match=message):
            gml.retrieval_scores(distances, [0, 0, 0])
