import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

import graph_metric_learn as gml
from graph_metric_learn.objectives.ranking import Ranking, auc, average_precision, bedroc, enrichment

MEASURES = (auc, average_precision, bedroc, enrichment)


def orders_of_ties(scores):
    """All orders of the items, best first, in which only equal scores change places."""
    groups = [np.flatnonzero(scores == value) for value in np.unique(scores)[::-1]]
    for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield np.concatenate(parts).astype(int)


def mean_over_orders(measure, scores, truth):
    """The mean of a measure of 0/1 lists, best first, over all orders of ties; items without truth are left out."""
    scores, truth = scores[~np.isnan(truth)], truth[~np.isnan(truth)]
    return np.mean([measure(truth[order]) for order in orders_of_ties(scores)])


def obvious_auc(truth):
    pairs = [(i, j) for i in np.flatnonzero(truth == 1) for j in np.flatnonzero(truth == 0)]
    return np.mean([i < j for i, j in pairs]) if pairs else np.nan


def obvious_average_precision(truth):
    places = np.flatnonzero(truth) + 1
    return np.mean([truth[:place].mean() for place in places]) if len(places) else np.nan


def obvious_bedroc(truth):
    def weights(truth):
        return np.exp(-20.0 * (np.flatnonzero(truth) + 1) / len(truth)).sum()

    worst, best = weights(np.sort(truth)), weights(np.sort(truth)[::-1])
    return (weights(truth) - worst) / (best - worst) if best > worst else np.nan


def obvious_enrichment(truth, fraction=0.01):
    return truth[: int(np.ceil(fraction * len(truth)))].mean() / truth.mean() if truth.any() else np.nan


OBVIOUS = {
    auc: obvious_auc,
    average_precision: obvious_average_precision,
    bedroc: obvious_bedroc,
    enrichment: obvious_enrichment,
}


@st.composite
def small_rankings(draw):
    """A few items with ties, some of them not measured."""
    count = draw(st.integers(1, 6))
    scores = draw(st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, np.inf]), min_size=count, max_size=count))
    truth = draw(st.lists(st.sampled_from([0.0, 1.0, 1.0, 0.0, np.nan]), min_size=count, max_size=count))
    return np.array(scores), np.array(truth)


def larger(seed, columns=5, missing=0.2):
    """Rankings [200, T] with many ties and gaps, and their truth."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((200, columns)) < 0.3).astype(float)
    truth[rng.random(truth.shape) < missing] = np.nan
    return rng.integers(0, 40, size=truth.shape) + 10.0 * (truth == 1), truth


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
@pytest.mark.parametrize("measure", MEASURES)
@given(items=small_rankings())
def test_mean_over_all_orders_of_ties(measure, items):
    scores, truth = items
    wanted = np.nan if np.isnan(truth).all() else mean_over_orders(OBVIOUS[measure], scores, truth)
    np.testing.assert_allclose(measure(scores, truth), wanted, atol=1e-12)


@given(items=small_rankings(), places=st.integers(1, 6))
def test_sums_that_end_early(items, places):
    """Precision, discounted gain and average precision of the first few places."""
    scores, truth = items[0], np.nan_to_num(items[1])
    places = min(places, len(truth))
    ranking, discounts = Ranking.of(scores[:, None], truth[:, None]), 1 / np.log2(np.arange(2, places + 2))

    def cut(truth):
        return np.sum([truth[: i + 1].mean() * truth[i] for i in range(places)]) / places

    def ndcg(truth):
        return truth[:places] @ discounts / (np.sort(truth)[::-1][:places] @ discounts)

    limit = np.array([places])
    np.testing.assert_allclose(ranking.average_precision(limit), mean_over_orders(cut, scores, truth), atol=1e-12)
    wanted = mean_over_orders(lambda truth: truth[:places].mean(), scores, truth)
    np.testing.assert_allclose(ranking.precision(limit), wanted, atol=1e-12)
    wanted = mean_over_orders(ndcg, scores, truth) if truth.any() else np.nan
    np.testing.assert_allclose(ranking.ndcg(places), wanted, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_auc_with_ties_is_that_of_scikit_learn(dtype):
    scores, truth = larger(0, missing=0.0)
    wanted = [roc_auc_score(*columns) for columns in zip(truth.T, scores.T, strict=True)]
    np.testing.assert_allclose(auc(scores.astype(dtype), truth), wanted, atol=1e-12)


def test_average_precision_without_ties_is_that_of_scikit_learn(rng):
    scores, truth = rng.normal(size=(300, 4)), rng.random((300, 4)) < 0.1
    wanted = [average_precision_score(*columns) for columns in zip(truth.T, scores.T, strict=True)]
    np.testing.assert_allclose(average_precision(scores, truth), wanted, atol=1e-12)


def test_discounted_gain_with_ties_is_that_of_scikit_learn():
    scores, truth = larger(1, missing=0.0)
    for k in (1, 5, 200, 1000):
        wanted = [ndcg_score(t[None], s[None], k=k) for s, t in zip(scores.T, truth.T, strict=True)]
        np.testing.assert_allclose(Ranking.of(scores, truth).ndcg(k), wanted, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 20.0, 160.9, 700.0])
def test_early_recognition_is_that_of_rdkit(rng, alpha):
    scoring = pytest.importorskip("rdkit.ML.Scoring.Scoring", reason="needs graph-metric-learn[chem]")
    for positives in (1, 30, 250):
        scores, truth = rng.normal(size=300), rng.permutation(300) < positives
        ordered = truth[np.argsort(-scores)][:, None]
        wanted = scoring.CalcBEDROC(ordered, 0, alpha)
        np.testing.assert_allclose(bedroc(scores, truth, alpha), wanted, rtol=1e-9, atol=1e-12)


def test_enrichment_is_that_of_rdkit(rng):
    scoring = pytest.importorskip("rdkit.ML.Scoring.Scoring", reason="needs graph-metric-learn[chem]")
    scores, truth = rng.normal(size=1234), rng.random(1234) < 0.1
    fractions = [0.001, 0.01, 0.02, 0.05, 0.3]
    wanted = scoring.CalcEnrichment(truth[np.argsort(-scores)][:, None], 0, fractions)
    np.testing.assert_allclose([enrichment(scores, truth, part) for part in fractions], wanted)


def test_a_fraction_that_is_whole_is_not_rounded_up():
    """0.07 · 100 is 7.000000000000001."""
    assert enrichment(-np.arange(100.0), np.arange(100) < 7, 0.07) == pytest.approx(100 / 7)


@pytest.mark.parametrize("measure", MEASURES)
@given(seed=st.integers(0, 10_000))
def test_only_the_order_matters(measure, seed):
    scores, truth = larger(seed)
    found = measure(scores, truth)
    np.testing.assert_allclose(measure(np.exp(scores / 20), truth), found, atol=1e-12)
    np.testing.assert_allclose(measure(3 * scores - 7, truth), found, atol=1e-12)
    order = np.random.default_rng(seed).permutation(len(scores))
    np.testing.assert_allclose(measure(scores[order], truth[order]), found, atol=1e-12)


@given(seed=st.integers(0, 10_000))
def test_the_opposite_order_has_the_opposite_area(seed):
    scores, truth = larger(seed)
    np.testing.assert_allclose(auc(-scores, truth), 1 - auc(scores, truth), atol=1e-12)
    np.testing.assert_allclose(auc(scores, 1 - truth), 1 - auc(scores, truth), atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_columns_are_rankings_of_their_own(measure):
    scores, truth = larger(3)
    each = [measure(s, t) for s, t in zip(scores.T, truth.T, strict=True)]
    np.testing.assert_allclose(measure(scores, truth), each)
    np.testing.assert_allclose(measure(scores, truth[:, 0]), [measure(s, truth[:, 0]) for s in scores.T])
    np.testing.assert_allclose(measure(scores[:, 0], truth), [measure(scores[:, 0], t) for t in truth.T])
    assert np.isscalar(each[0])


@pytest.mark.parametrize("measure", MEASURES)
def test_what_was_not_measured_does_not_count(measure):
    scores, truth = larger(4, columns=1)
    scores, truth = scores[:, 0], truth[:, 0]
    there = ~np.isnan(truth)
    found = measure(scores[there], truth[there])
    np.testing.assert_allclose(measure(scores, truth), found, atol=1e-12)
    np.testing.assert_allclose(measure(np.where(there, scores, np.nan), truth), found, atol=1e-12)
    np.testing.assert_allclose(measure(np.where(there, scores, np.inf), truth), found, atol=1e-12)


def test_one_class_alone_has_no_area():
    truth = np.array([[1, 0, np.nan, 1], [1, 0, np.nan, 0]])
    scores = np.zeros(truth.shape)
    assert np.isnan(auc(scores, truth)).tolist() == [True, True, True, False]
    assert np.isnan(bedroc(scores, truth)).tolist() == [True, True, True, False]
    assert average_precision(scores, truth)[0] == enrichment(scores, truth)[0] == 1.0
    for measure in (average_precision, enrichment):
        assert np.isnan(measure(scores, truth)).tolist() == [False, True, True, False]


def test_huge_alpha_counts_the_first_place_alone():
    assert bedroc([3.0, 2.0, 1.0], [1, 0, 0], alpha=1e5) == pytest.approx(1.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_bad_input(measure):
    for scores, truth, message in (
        ([1.0, np.nan, 2.0], [0, 1, 1], "the score of row 1 is NaN"),
        ([1.0, 3.0], [0, 2], "the truth of row 1 is 2"),
        ([1.0, 3.0], [0, 1, 1], r"shape \(2,\) and truth of shape \(3,\) do not fit"),
        (np.zeros((2, 3)), np.zeros((2, 2)), "do not fit"),
        ([], [], "there are no scores"),
    ):
        with pytest.raises(ValueError, match=message):
            measure(scores, truth)
    with pytest.raises(ValueError, match="alpha must be a number of at least"):
        bedroc([1.0], [1], alpha=0.0)
    for fraction in (0.0, 1.5):
        with pytest.raises(ValueError, match="fraction must be above 0 and at most 1"):
            enrichment([1.0], [1], fraction)


def test_all_scores_at_once():
    scores, truth = larger(5)
    found = gml.ranking_scores(scores, truth)
    assert list(found) == ["auc", "average_precision", "bedroc", "enrichment"]
    for measure in MEASURES:
        np.testing.assert_array_equal(found[measure.__name__], measure(scores, truth))
    found = gml.ranking_scores(torch.tensor(scores), torch.tensor(truth), alpha=5.0, fraction=0.1)
    np.testing.assert_array_equal(found["bedroc"], bedroc(scores, truth, 5.0))
    np.testing.assert_array_equal(found["enrichment"], enrichment(scores, truth, 0.1))


def test_scores_of_one_class():
    scores, truth = (array[:, 0] for array in larger(6))
    found = gml.ranking_scores(scores, truth)
    assert found["auc"] == auc(scores, truth)
    assert isinstance(found["auc"], float)
    words = [None if np.isnan(one) else "active" if one else "no" for one in truth]
    assert gml.ranking_scores(scores, words, positive="active") == found
    assert gml.ranking_scores(scores, np.where(truth == 1, 3, truth), positive=3) == found
    assert gml.ranking_scores(-scores, words, positive="no")["auc"] == pytest.approx(found["auc"])


def test_scores_of_what_is_neither_relevant_nor_not():
    with pytest.raises(ValueError, match=r"row 1 of y is 'no': give 1 .*; positive= names a class"):
        gml.ranking_scores([1.0, 2.0], [1, "no"])
    for y in (["yes", "no"], [0, 1]):
        with pytest.raises(ValueError, match="nothing is of the class 'Yes'"):
            gml.ranking_scores([1.0, 2.0], y, positive="Yes")
    with pytest.raises(ValueError, match="alpha must be"):
        gml.ranking_scores([1.0, 2.0], [0, 1], alpha=0)
