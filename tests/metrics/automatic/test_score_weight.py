import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.metrics import roc_auc_score

from graph_metric_learn.linalg.ridge import fit_ridge, weighted_means
from graph_metric_learn.metrics.automatic import score_weight as module
from graph_metric_learn.metrics.automatic.exact import Fold
from graph_metric_learn.metrics.automatic.score_weight import (
    CERTAIN,
    Held,
    best_setting,
    decide,
    error_of_mean,
    few_factor,
    fewer_columns,
    held_views,
)
from graph_metric_learn.metrics.automatic.training import Training
from graph_metric_learn.objectives import Classes, Numbers
from graph_metric_learn.objectives.scoring import scorer_for
from made_up_vectors import squares_of

COUNT = 100


def training_of(made, groups=None, scoring="auto"):
    objective, target = made
    groups = np.arange(len(target)) if groups is None else groups
    return Training(objective, scorer_for(scoring, objective, target), target, groups)


def kernel_of(vectors):
    squares = squares_of(vectors)
    return np.exp(-squares / np.median(squares[squares > 0])).astype(np.float32)


def ridge_folds(kernel, seen, training, penalty, rng, near=None):
    """Folds of a regression on a kernel; and another kernel for the unlearned part."""
    drawn, outputs = training.folds(rng), training.outputs

    def folds():
        for fold in np.unique(drawn):
            train, test = np.flatnonzero(drawn != fold), np.flatnonzero(drawn == fold)
            mean = weighted_means(outputs[train])
            alpha = fit_ridge(seen[np.ix_(train, train)], outputs[train] - mean, penalty)
            yield Fold(train, test, seen[:, train] @ alpha + mean, kernel)

    return folds


def decided(noise, seen, training, rng, penalty=0.1, draws=3, most=None):
    return decide([ridge_folds(noise, seen, training, penalty, rng) for _ in range(draws)], training, most=most)


def problem(rng, signal, count=COUNT):
    """Classes that two columns tell apart, and ten columns of noise for the unlearned distance."""
    codes = np.arange(count) % 2
    seen = signal * codes[:, None] + rng.normal(size=(count, 2))
    return kernel_of(rng.normal(size=(count, 10))), kernel_of(seen), training_of(Classes.of(codes))


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_not_learned(seed):
    rng = np.random.default_rng(seed)
    found, _ = decided(*problem(rng, signal=0.0), rng)
    assert found.weight == 0
    assert found.learned == found.unlearned
    assert not found.is_certain


@pytest.mark.parametrize("numbers", [False, True])
def test_noise_of_groups_is_not_learned(numbers):
    """Each of 16 groups has its place and, at random, its target: counted by graphs, luck looks like certainty."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(16), 8)
        values = rng.normal(size=16)[group] if numbers else rng.permutation(np.arange(16) % 2)[group]
        kernel = kernel_of(rng.normal(size=(16, 2))[group] + 0.2 * rng.normal(size=(128, 2)))
        training = training_of((Numbers if numbers else Classes).of(values), group)
        found, _ = decided(kernel, kernel, training, rng, 1.0)
        assert not found.is_certain
        assert found.weight == 0


@pytest.mark.parametrize("seed", range(6))
def test_noise_is_not_learned_where_a_class_is_rare(seed):
    rng = np.random.default_rng(seed)
    training = training_of(Classes.of(rng.permutation(np.arange(300) % 20 == 0).astype(int)))
    assert training.scorer.ranks
    kernel = kernel_of(rng.normal(size=(300, 3)))
    found, _ = decided(kernel, kernel, training, rng)
    assert found.weight == 0
    assert not found.is_certain


def test_what_tells_new_graphs_apart_is_learned(rng):
    noise, seen, training = problem(rng, signal=3.0)
    found, folds = decided(noise, seen, training, rng)
    assert found.weight > 0
    assert found.learned > 0.9 > 0.7 > found.unlearned
    assert found.regression > 0.9
    assert found.is_certain
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(COUNT))


def test_a_rare_class_that_is_found_is_learned(rng):
    """Its score is an AUC, and its gain twice that less 1."""
    codes = (np.arange(400) % 20 == 0).astype(int)
    training = training_of(Classes.of(codes))
    seen = kernel_of(3.0 * codes[:, None] + rng.normal(size=(400, 2)))
    found, folds = decided(kernel_of(rng.normal(size=(400, 10))), seen, training, rng, draws=1)
    assert found.weight > 0
    wanted = np.mean([roc_auc_score(codes[fold.test], fold.scores[fold.test, 1]) for fold in folds])
    assert found.regression == pytest.approx(wanted)
    assert found.gain == pytest.approx(2 * wanted - 1)
    by_chance = 2 * np.sqrt((400 + 1) / (12 * 20 * 380)) * few_factor(20)
    assert found.error == pytest.approx(by_chance)


def test_predictions_that_are_too_bold_tell_graphs_apart_too(rng):
    """A fourth of the classes is wrong, and the regression repeats the nearest: worse than the mean, but useful."""
    count = 600
    clusters = np.arange(count) % 2
    codes = np.where(rng.random(count) < 0.25, 1 - clusters, clusters)
    bold = np.exp(-np.sqrt(squares_of(6.0 * clusters[:, None] + rng.normal(size=(count, 1)))))
    noise, _, _ = problem(rng, signal=0.0, count=count)
    found, folds = decided(noise, bold, training_of(Classes.of(codes)), rng, 1e-6, draws=1)
    errors = [((np.eye(2)[codes] - fold.scores)[fold.test] ** 2).sum(1) for fold in folds]
    assert np.concatenate(errors).mean() > 0.5  # that of the mean
    assert found.is_certain
    assert found.weight > 0
    assert found.learned > found.unlearned + 0.05


def test_what_does_not_help_neighbours_is_off(rng):
    """The regression predicts well, and so do neighbours without it, always."""
    _, seen, training = problem(rng, signal=3.0)
    apart = kernel_of(training.target[:, None] + 0.01 * rng.normal(size=(COUNT, 1)))
    found, _ = decided(apart, seen, training, rng)
    assert found.weight == 0
    assert found.unlearned == 1
    assert found.is_certain


def test_what_is_decided_is_what_neighbours_predict(rng):
    """One draw of folds, and the score of the weight and k that were chosen, by hand."""
    noise, seen, training = problem(rng, signal=1.5)
    found, folds = decided(noise, seen, training, rng, draws=1)
    codes, hits = training.target, 0
    for fold in folds:
        unit = squares_of(fold.scores[fold.train]).mean()
        spread = 1.0 - noise[np.ix_(fold.train, fold.train)].mean()
        for i in fold.test:
            gaps = ((fold.scores[i] - fold.scores[fold.train]) ** 2).sum(1)
            distances = np.sqrt((1 - noise[i, fold.train]) / spread + found.weight * gaps / unit)
            near = np.argsort(distances)[: found.n_neighbors]
            votes = np.bincount(codes[fold.train][near], 1 / distances[near], minlength=2)
            hits += votes.argmax() == codes[i]
    assert found.weight > 0
    assert found.learned == pytest.approx(hits / COUNT)


def test_weights_count_as_in_the_distance(rng):
    """Scores by setting are those of the views of the fold."""
    training = training_of(Numbers.of(50.0 * rng.normal(size=60)))
    seen = kernel_of(training.target)
    _, folds = decided(kernel_of(rng.normal(size=(60, 3))), seen, training, rng, draws=1)
    for fold in folds:
        found, weight = module._scores_by_setting(fold, fold.test, training, [1, 3])
        assert weight == len(fold.test)
        for of_scores, scores in zip(module._WEIGHTS, found, strict=True):
            across = fold.view(of_scores, np.arange(60), 60).across
            wanted, _ = training.scorer.of_neighbors(
                across, training.target[fold.train], training.target[fold.test], [1, 3]
            )
            np.testing.assert_allclose(scores, wanted, rtol=1e-4)


@pytest.mark.parametrize("most", [0, 1])
def test_scores_without_a_place_in_the_distance_do_not_count(rng, most):
    """Four classes, of which one coordinate tells two apart, and none nothing."""
    codes = np.arange(200) % 4
    corners = 6.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[codes]
    seen, noise = kernel_of(corners + rng.normal(size=(200, 2))), kernel_of(rng.normal(size=(200, 10)))
    training = training_of(Classes.of(codes))
    every, folds = decided(noise, seen, training, rng)
    few, fewer = decided(noise, seen, training, rng, most=most)
    assert every.learned > 0.9
    assert few.learned < every.learned - 0.05
    assert (few.weight == 0) == (few.learned == few.unlearned) == (most == 0)
    np.testing.assert_array_equal(folds[0].placed, folds[0].scores)
    assert fewer[0].placed.shape == (200, most)
    assert fewer[0].scores.shape == (200, 4)


def test_fewer_columns_are_those_in_which_known_graphs_differ_most(rng):
    scores = rng.normal(size=(50, 3)) * [5.0, 0.1, 1.0]
    one = fewer_columns(scores, scores[:30], 1)
    assert abs(np.corrcoef(one[:, 0], scores[:, 0])[0, 1]) > 0.99
    assert fewer_columns(scores, scores, 3) is fewer_columns(scores, scores, None) is scores


# --- how certain it is -----------------------------------------------------------------------------------------------


def test_the_error_of_a_gain_counts_groups(rng):
    """Against the scatter of means of groups that are drawn anew, and of single graphs."""
    sizes = 6
    means = [np.repeat(rng.normal(size=30), sizes).mean() for _ in range(4000)]
    gains, group = np.repeat(rng.normal(size=30), sizes), np.repeat(np.arange(30), sizes)
    found = [error_of_mean(np.repeat(rng.normal(size=30), sizes), group, draws=1) for _ in range(400)]
    assert np.mean(found) == pytest.approx(np.std(means), rel=0.05)
    alone = error_of_mean(gains, np.arange(180), draws=1)
    assert alone == pytest.approx(gains.std(ddof=1) / np.sqrt(180))
    twice = error_of_mean(np.tile(gains, 2), np.concatenate([group, group + 30]), draws=2)
    assert twice == pytest.approx(error_of_mean(gains, group, draws=1), rel=0.02)


def test_the_gain_of_a_perfect_regression_is_certain(rng):
    """However uneven the numbers are: the error is that of the ratio, not of its numerator."""
    training = training_of(Numbers.of(np.exp(1.5 * rng.normal(size=COUNT))))
    seen = np.outer(training.target, training.target) + 1.0
    found, _ = decided(kernel_of(rng.normal(size=(COUNT, 5))), seen, training, rng, 1e-9)
    assert found.gain == pytest.approx(1.0)
    assert found.is_certain
    assert found.weight > 0


def test_the_error_of_the_gain_is_its_scatter(rng):
    """Over samples that are drawn anew, of numbers with heavy tails and predictions that explain half of them."""
    truth = rng.standard_t(5, size=(2000, 300, 1))
    predicted = truth / 2 + rng.normal(size=truth.shape) / 2
    found = [module._gain(*one) for one in zip(truth, predicted, strict=True)]
    errors = [error_of_mean(influence, np.arange(300), draws=1) for _, influence in found]
    assert np.median(errors) == pytest.approx(np.std([gain for gain, _ in found]), rel=0.1)
    assert abs(found[0][1].mean()) < 1e-12


def test_the_error_of_an_auc_is_its_scatter_by_chance(rng):
    """Over labels that are drawn anew."""
    codes, scores = (np.arange(300) % 15 == 0).astype(int), rng.normal(size=300)
    scatter = np.std([2 * roc_auc_score(rng.permutation(codes), scores) - 1 for _ in range(1000)])
    training = training_of(Classes.of(codes))
    kernel = kernel_of(rng.normal(size=(300, 2)))
    found, _ = decided(kernel, kernel, training, rng, draws=1)
    assert found.error / few_factor(20) == pytest.approx(scatter, rel=0.1)


def test_few_groups_must_be_more_certain():
    """Three standard errors from two groups are one chance in ten, from many, in a thousand."""
    assert few_factor(10**6) == pytest.approx(1.0, abs=1e-4)
    assert few_factor(5) == pytest.approx(student.ppf(norm.cdf(CERTAIN), 4) / CERTAIN)
    assert few_factor(2) > 50


@pytest.mark.parametrize("count", [2, 3, 4])
def test_noise_of_few_groups_is_not_learned(count):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        vectors = rng.normal(size=(60, 3))
        training = training_of(Numbers.of(rng.normal(size=60)), np.arange(60) % count)
        found, _ = decided(kernel_of(vectors), vectors @ vectors.T, training, rng, 10.0)
        assert not found.is_certain


def test_groups_that_are_known_by_heart_do_not_count(rng):
    """Targets that belong to groups and to nothing else: neighbours of the own group would predict them."""
    groups = np.repeat(np.arange(20), 5)
    codes = rng.integers(2, size=20)[groups]
    kernel = kernel_of(rng.normal(size=(20, 4))[groups] + 0.01 * rng.normal(size=(COUNT, 4)))
    apart, _ = decided(kernel, kernel, training_of(Classes.of(codes)), np.random.default_rng(0), 0.01)
    together, _ = decided(kernel, kernel, training_of(Classes.of(codes), groups), np.random.default_rng(0), 0.01)
    assert apart.unlearned > 0.95
    assert together.unlearned < 0.8
    assert together.weight == 0


# --- gaps ------------------------------------------------------------------------------------------------------------


def test_numbers_with_missing_entries(rng):
    seen = rng.uniform(-1, 1, size=(COUNT, 1))
    target = np.concatenate([seen, -seen], axis=1) / seen.std()
    target[::3, 1] = np.nan
    training = training_of((Numbers(), target))
    found, folds = decided(kernel_of(rng.normal(size=(COUNT, 10))), kernel_of(seen), training, rng, 1e-3)
    assert found.weight > 0
    assert found.learned > 0.8 > 0.3 > found.unlearned
    assert all(np.isfinite(fold.placed).all() for fold in folds)


def test_what_is_predicted_of_missing_numbers_does_not_count(rng):
    target = rng.normal(size=(COUNT, 2))
    target[::2, 1] = np.nan
    training, kernel = training_of((Numbers(), target)), kernel_of(rng.normal(size=(COUNT, 5)))
    test = np.arange(COUNT) % 5 == 0
    found = []
    for scale in (0.0, 7.0):  # of what is predicted of the second number where it is missing
        scores = np.where(np.isnan(target), scale * rng.normal(size=target.shape), 0.5)
        fold = Fold(np.flatnonzero(~test), np.flatnonzero(test), scores, kernel)
        found.append(decide([lambda fold=fold: [fold]], training)[0])
    assert (found[0].gain, found[0].error) == (found[1].gain, found[1].error)


def test_scores_that_are_not_there_are_placed_at_the_mean():
    scores = np.array([[1.0], [np.nan], [3.0]])
    held = Held.of(Fold(np.arange(2), np.array([2]), scores, np.eye(3, dtype=np.float32)), None)
    assert held.placed[1, 0] == 2.0


# --- which setting, and views ----------------------------------------------------------------------------------------


def test_the_best_setting_has_good_neighbours():
    """A lucky score counts less than three that are good; of equal ones the smaller weight and k."""
    table = np.array([[0.5, 0.9, 0.5, 0.5, 0.5], [0.5, 0.5, 0.7, 0.8, 0.7]])
    assert best_setting(table) == (1, 3)
    assert best_setting(np.ones((3, 4))) == (0, 0)


def test_views_are_of_as_many_graphs_as_are_asked_for(rng):
    noise, seen, training = problem(rng, signal=3.0)
    found, folds = decided(noise, seen, training, rng)
    rows = 1000 + np.arange(COUNT)
    views = held_views(folds, found.weight, rows)
    for view, fold in zip(views(1000), folds, strict=True):
        np.testing.assert_array_equal(view.test, rows[fold.test])
        np.testing.assert_array_equal(view.train, rows[fold.train])
        assert (np.diag(view.within) == 0).all()
        np.testing.assert_allclose(view.within, view.within.T, atol=1e-6)
        np.testing.assert_array_equal(view.scores, fold.scores[fold.test])
        everything = np.sqrt(fold.squares(fold.test, fold.train, found.weight))
        np.testing.assert_array_equal(view.across, everything)
    few = views(20)
    assert {len(view.train) for view in few} == {16}
    assert {len(view.test) for view in few} == {4}
