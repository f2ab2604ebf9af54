import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from graph_metric_learn.linalg.ridge import fit_ridge
from graph_metric_learn.metrics.automatic import score_weight
from graph_metric_learn.metrics.automatic.kernels import kernel_from_squares
from graph_metric_learn.metrics.automatic.score_weight import (
    CERTAIN,
    N_FOLDS,
    best_setting,
    decide,
    error_of_mean,
    few_factor,
    held_out,
    score_squares,
)
from graph_metric_learn.objectives import Classes, Numbers
from made_up_vectors import squares_of

COUNT = 100


def classes_of(codes):
    objective = Classes()
    objective.classes_ = np.unique(codes)
    return objective


def always(squares):
    """Squared distances of mean 1, whichever graphs are known."""
    squares = (squares / squares.mean()).astype(np.float32)
    return lambda known: squares


def fixed(kernel, penalty):
    """A kernel and a penalty, whichever graphs are known."""
    return lambda known: (kernel, penalty)


def problem(rng, signal, count=COUNT):
    """Classes that two columns tell apart, and ten columns of noise for the unlearned distance."""
    codes = np.arange(count) % 2
    seen = signal * codes[:, None] + rng.normal(size=(count, 2))
    noise = squares_of(rng.normal(size=(count, 10)))
    kernel = kernel_from_squares(squares_of(seen), "gaussian")
    return always(noise), kernel, codes


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_not_learned(seed):
    rng = np.random.default_rng(seed)
    squares, kernel, codes = problem(rng, signal=0.0)
    found, _ = decide(squares, fixed(kernel, 0.1), classes_of(codes), codes, np.arange(COUNT), rng)
    assert found.weight == 0
    assert found.learned == found.unlearned
    assert found.gain <= 3 * found.error


@pytest.mark.parametrize("numbers", [False, True])
def test_noise_of_groups_is_not_learned(numbers):
    """Each of 16 groups has its place and, at random, its target: counted by graphs, luck looks like certainty."""
    for seed in range(16):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(16), 8)
        codes, values = rng.permutation(np.arange(16) % 2)[group], rng.normal(size=16)[group]
        squares = squares_of(rng.normal(size=(16, 2))[group] + 0.2 * rng.normal(size=(128, 2)))
        kernel = kernel_from_squares(squares, "gaussian")
        objective, target = Numbers.of(values) if numbers else (classes_of(codes), codes)
        found, _ = decide(always(squares), fixed(kernel, 1.0), objective, target, group, rng)
        assert found.gain <= CERTAIN * found.error
        assert found.weight == 0


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


@pytest.mark.parametrize("most", [0, 1])
def test_scores_without_a_place_in_the_distance_do_not_count(rng, most):
    """Four classes, of which one coordinate tells two apart, and none nothing."""
    codes = np.arange(200) % 4
    corners = 6.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[codes]
    kernel = kernel_from_squares(squares_of(corners + rng.normal(size=(200, 2))), "gaussian")
    squares = always(squares_of(rng.normal(size=(200, 10))))
    every, folds = decide(squares, fixed(kernel, 0.1), classes_of(codes), codes, np.arange(200), rng)
    few, fewer = decide(squares, fixed(kernel, 0.1), classes_of(codes), codes, np.arange(200), rng, most=most)
    assert every.learned > 0.9
    assert few.learned < every.learned - 0.05
    assert (few.weight == 0) == (few.learned == few.unlearned) == (most == 0)
    assert folds[0].placed is folds[0].scores
    assert fewer[0].placed.shape == (200, most)
    assert fewer[0].scores.shape == (200, 4)


def test_what_tells_new_graphs_apart_is(rng):
    squares, kernel, codes = problem(rng, signal=3.0)
    found, folds = decide(squares, fixed(kernel, 0.1), classes_of(codes), codes, np.arange(COUNT), rng)
    assert found.weight > 0
    assert found.learned > 0.9 > 0.7 > found.unlearned
    assert found.machine > 0.9
    assert found.gain > 3 * found.error > 0
    assert sorted(np.concatenate([fold.held for fold in folds])) == list(range(COUNT))


def test_predictions_that_are_too_bold_tell_graphs_apart_too(rng):
    """A fourth of the classes is wrong, and the machine repeats the nearest: worse than the mean, but useful."""
    count = 600
    clusters = np.arange(count) % 2
    codes = np.where(rng.random(count) < 0.25, 1 - clusters, clusters)
    kernel = np.exp(-np.sqrt(squares_of(6.0 * clusters[:, None] + rng.normal(size=(count, 1)))))
    squares, _, _ = problem(rng, signal=0.0, count=count)
    found, folds = decide(squares, fixed(kernel, 1e-6), classes_of(codes), codes, np.arange(count), rng)
    errors = [((np.eye(2)[codes] - fold.scores)[fold.held] ** 2).sum(1) for fold in folds]
    assert np.concatenate(errors).mean() > 0.5  # that of the mean
    assert found.gain > 3 * found.error
    assert found.weight > 0
    assert found.learned > found.unlearned + 0.05


def test_what_does_not_help_neighbours_is_off(rng):
    """The machine predicts well, and so do neighbours without it, always."""
    _, kernel, codes = problem(rng, signal=3.0)
    apart = squares_of(codes[:, None] + 0.01 * rng.normal(size=(COUNT, 1)))
    found, _ = decide(always(apart), fixed(kernel, 0.1), classes_of(codes), codes, np.arange(COUNT), rng)
    assert found.weight == 0
    assert found.unlearned == 1
    assert found.gain > 3 * found.error


def test_scores_are_those_of_a_machine_without_the_fold(rng):
    squares, kernel, codes = problem(rng, signal=1.0, count=30)
    outputs, folds = np.eye(2)[codes], np.arange(30) % 3
    for number, fold in enumerate(held_out(fixed(kernel, 0.3), outputs, folds, squares)):
        np.testing.assert_array_equal(fold.held, np.flatnonzero(folds == number))
        np.testing.assert_array_equal(fold.known, np.flatnonzero(folds != number))
        mean = outputs[fold.known].mean(0)
        weights = fit_ridge(kernel[np.ix_(fold.known, fold.known)], outputs[fold.known] - mean, 0.3)
        np.testing.assert_allclose(fold.scores, kernel[:, fold.known] @ weights + mean)
        assert fold.unit == pytest.approx(squares_of(fold.scores[fold.known]).mean(), rel=1e-5)


def test_targets_of_the_fold_do_not_change_its_scores(rng):
    squares, kernel, codes = problem(rng, signal=1.0)
    outputs, folds = np.eye(2)[codes], np.arange(COUNT) // 20
    wanted = list(held_out(fixed(kernel, 0.3), outputs, folds, squares))
    for number, fold in enumerate(wanted):
        changed = outputs.copy()
        changed[fold.held] = rng.normal(size=(len(fold.held), 2))
        again = list(held_out(fixed(kernel, 0.3), changed, folds, squares))
        np.testing.assert_array_equal(again[number].scores, fold.scores)
        other = (number + 1) % N_FOLDS
        assert np.abs(again[other].scores - wanted[other].scores).max() > 1e-3


def test_what_is_decided_is_what_neighbours_predict(rng, monkeypatch):
    """One draw of folds, and the score of each weight and k by hand."""
    monkeypatch.setattr(score_weight, "_DRAWS", 1)
    squares, kernel, codes = problem(rng, signal=1.5)
    objective = classes_of(codes)
    found, folds = decide(squares, fixed(kernel, 0.1), objective, codes, np.arange(COUNT), rng)
    hits = 0
    for fold in folds:
        unit = squares_of(fold.scores[fold.known]).mean()
        for i in fold.held:
            gaps = ((fold.scores[i] - fold.scores[fold.known]) ** 2).sum(1)
            distances = np.sqrt(fold.squares[i, fold.known] + found.weight * gaps / unit)
            near = np.argsort(distances)[: found.n_neighbors]
            votes = np.bincount(codes[fold.known][near], 1 / distances[near], minlength=2)
            hits += votes.argmax() == codes[i]
    assert found.weight > 0
    assert found.learned == pytest.approx(hits / COUNT)


def test_the_gain_of_a_perfect_machine_is_certain(rng):
    """However uneven the numbers are: the error is that of the ratio, not of its numerator."""
    values = np.exp(1.5 * rng.normal(size=COUNT))
    objective, target = Numbers.of(values)
    squares = squares_of(rng.normal(size=(COUNT, 5)))
    kernel = np.outer(target, target) + 1.0
    found, _ = decide(always(squares), fixed(kernel, 1e-9), objective, target, np.arange(COUNT), rng)
    assert found.gain == pytest.approx(1.0)
    assert found.gain > CERTAIN * found.error
    assert found.weight > 0


def test_the_error_of_the_gain_is_its_scatter(rng):
    """Over samples that are drawn anew, of numbers with heavy tails and predictions that explain half of them."""
    truth = rng.standard_t(5, size=(2000, 300, 1))
    predicted = truth / 2 + rng.normal(size=truth.shape) / 2
    found = [score_weight._gain(*one) for one in zip(truth, predicted, strict=True)]
    errors = [error_of_mean(influence, np.arange(300), draws=1) for _, influence in found]
    assert np.median(errors) == pytest.approx(np.std([gain for gain, _ in found]), rel=0.1)
    assert abs(found[0][1].mean()) < 1e-12


def test_what_is_predicted_of_missing_numbers_does_not_count(rng):
    squares = always(squares_of(rng.normal(size=(COUNT, 5))))
    target = rng.normal(size=(COUNT, 2))
    target[::2, 1] = np.nan
    folds, found = np.arange(COUNT) % 5, []
    objective = Numbers()
    objective.folds = lambda *given: folds
    for scale in (0.0, 7.0):  # the second output is known to half of the graphs, the others have another scale

        def held(kernels, outputs, drawn, squares, most, scale=scale):
            for fold in held_out(kernels, outputs, drawn, squares, most):
                fold.scores[::2, 1] *= scale
                yield fold

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(score_weight, "held_out", held)
            found.append(decide(squares, fixed(np.eye(COUNT), 1.0), objective, target, np.arange(COUNT), rng)[0])
    assert (found[0].gain, found[0].error) == (found[1].gain, found[1].error)


def test_few_groups_must_be_more_certain():
    """Three standard errors from two groups are one chance in ten, from many, in a thousand."""
    assert few_factor(10**6) == pytest.approx(1.0, abs=1e-4)
    assert few_factor(5) == pytest.approx(student.ppf(norm.cdf(CERTAIN), 4) / CERTAIN)
    assert few_factor(2) > 50


@pytest.mark.parametrize("count", [2, 3, 4])
def test_noise_of_few_groups_is_not_learned(count):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        squares = squares_of(rng.normal(size=(60, 3)))
        kernel, group = kernel_from_squares(squares, "linear"), np.arange(60) % count
        objective, target = Numbers.of(rng.normal(size=60))
        found, _ = decide(always(squares), fixed(kernel, 10.0), objective, target, group, rng)
        assert found.gain <= CERTAIN * found.error


def test_weights_count_as_in_the_distance(rng):
    """Scores by setting are those of the views of the fold."""
    values = 50.0 * rng.normal(size=60)
    objective, target = Numbers.of(values)
    squares = always(squares_of(rng.normal(size=(60, 3))))
    kernel = kernel_from_squares(squares_of(values[:, None]), "gaussian")
    for fold in held_out(fixed(kernel, 0.1), target, np.arange(60) % 5, squares):
        found = score_weight._scores_by_setting(fold, fold.squares, objective, target, [1, 3])
        for weight, scores in zip(score_weight._WEIGHTS, found, strict=True):
            across = fold.view(weight, np.arange(60), 60).across
            wanted = objective.neighbor_scores(across, target[fold.known], target[fold.held], [1, 3], weighted=True)
            np.testing.assert_allclose(scores, wanted.sum(0), rtol=1e-4)


def test_without_scores_all_coordinates_count(rng):
    """Scores take the place of coordinates; where they do not help, these are there again."""
    codes = np.arange(COUNT) % 2
    noise, apart = always(squares_of(rng.normal(size=(COUNT, 3)))), always(squares_of(codes[:, None] + 0.0))
    kernels = fixed(np.eye(COUNT), 1.0)
    found, folds = decide(noise, kernels, classes_of(codes), codes, np.arange(COUNT), rng, alone=apart)
    assert found.weight == 0
    assert found.learned == found.unlearned == 1
    np.testing.assert_array_equal(folds[0].squares, apart(None))


def test_groups_stay_together(rng):
    squares, kernel, codes = problem(rng, signal=1.0)
    groups = rng.integers(12, size=COUNT)
    _, folds = decide(squares, fixed(kernel, 0.1), classes_of(codes), codes, groups, rng)
    for fold in folds:
        assert not set(groups[fold.held]) & set(groups[fold.known])


def test_groups_that_are_known_by_heart_do_not_count(rng):
    """Targets that belong to groups and to nothing else: neighbours of the own group would predict them."""
    groups = np.repeat(np.arange(20), 5)
    codes = rng.integers(2, size=20)[groups]
    places = rng.normal(size=(20, 4))[groups] + 0.01 * rng.normal(size=(COUNT, 4))
    kernel = kernel_from_squares(squares_of(places), "gaussian")
    squares = always(squares_of(places))
    apart, _ = decide(
        squares, fixed(kernel, 0.01), classes_of(codes), codes, np.arange(COUNT), np.random.default_rng(0)
    )
    together, _ = decide(squares, fixed(kernel, 0.01), classes_of(codes), codes, groups, np.random.default_rng(0))
    assert apart.unlearned > 0.95
    assert together.unlearned < 0.8
    assert together.weight == 0


def test_numbers_with_missing_entries(rng):
    seen = rng.uniform(-1, 1, size=(COUNT, 1))
    target = np.concatenate([seen, -seen], axis=1) / seen.std()
    target[::3, 1] = np.nan
    noise = squares_of(rng.normal(size=(COUNT, 10)))
    kernel = kernel_from_squares(squares_of(seen), "gaussian")
    found, folds = decide(always(noise), fixed(kernel, 1e-3), Numbers(), target, np.arange(COUNT), rng)
    assert found.weight > 0
    assert found.learned > 0.8 > 0.3 > found.unlearned
    assert all(np.isfinite(fold.scores).all() for fold in folds)


def test_a_target_that_only_the_fold_has(rng):
    """Nothing is known about it: its mean, 0, is predicted."""
    squares, kernel, _ = problem(rng, signal=0.0, count=30)
    target = rng.normal(size=(30, 2))
    target[2:, 1] = np.nan
    first, second = held_out(fixed(kernel, 0.3), target, np.arange(30) // 15, squares)
    assert (first.scores[:, 1] == 0).all()
    assert np.isfinite(second.scores).all()


def test_one_group_cannot_be_held_out(rng):
    squares, kernel, codes = problem(rng, signal=1.0)
    with pytest.raises(ValueError, match="all graphs are of one group"):
        decide(squares, fixed(kernel, 0.1), classes_of(codes), codes, np.zeros(COUNT), rng)


def test_few_graphs(rng):
    codes = np.array([0, 1, 0, 1])
    squares = squares_of(rng.normal(size=(4, 2)))
    found, _ = decide(always(squares), fixed(np.exp(-squares), 0.1), classes_of(codes), codes, np.arange(4), rng)
    assert found.n_neighbors < 4


def test_the_unlearned_part_is_asked_for_with_the_known_graphs_alone(rng):
    squares, kernel, codes = problem(rng, signal=1.0)
    asked = []

    def spied(known):
        asked.append(known)
        return squares(known)

    _, folds = decide(spied, fixed(kernel, 0.1), classes_of(codes), codes, np.arange(COUNT), rng)
    assert len(asked) == N_FOLDS * score_weight._DRAWS
    for known, fold in zip(asked, folds, strict=False):
        np.testing.assert_array_equal(known, fold.known)


def test_a_view_of_a_fold_has_the_distances_with_learned_scores(rng):
    squares, kernel, codes = problem(rng, signal=1.0)
    _, (fold, *_) = decide(squares, fixed(kernel, 0.1), classes_of(codes), codes, np.arange(COUNT), rng)
    rows = 1000 + np.arange(COUNT)
    view = fold.view(3.0, rows, COUNT)
    np.testing.assert_array_equal(view.train, rows[fold.known])
    np.testing.assert_array_equal(view.test, rows[fold.held])
    learned = fold.squares + 3.0 * squares_of(fold.scores) / fold.unit
    np.testing.assert_allclose(view.across, np.sqrt(learned[np.ix_(fold.held, fold.known)]), rtol=1e-4)
    np.testing.assert_allclose(view.within, np.sqrt(learned[np.ix_(fold.known, fold.known)]), rtol=1e-4)
    assert (np.diag(view.within) == 0).all()
    np.testing.assert_array_equal(view.scores, fold.scores[fold.held])


def test_a_view_of_some_graphs_only(rng):
    squares, kernel, codes = problem(rng, signal=1.0)
    _, (fold, *_) = decide(squares, fixed(kernel, 0.1), classes_of(codes), codes, np.arange(COUNT), rng)
    whole, part = fold.view(1.0, np.arange(COUNT), COUNT), fold.view(1.0, np.arange(COUNT), 50)
    assert (len(part.train), len(part.test)) == (40, 10)
    known, held = np.searchsorted(whole.train, part.train), np.searchsorted(whole.test, part.test)
    np.testing.assert_array_equal(part.across, whole.across[np.ix_(held, known)])
    np.testing.assert_array_equal(part.within, whole.within[np.ix_(known, known)])
    np.testing.assert_array_equal(part.scores, whole.scores[held])


def test_the_best_setting():
    """With the next smaller and larger k, not by one lucky score; the smaller of equal weights, then k."""
    assert best_setting(np.array([[0.5, 0.6, 0.6, 0.6], [0.5, 0.6, 0.6, 0.6], [0.2, 0.9, 0.2, 0.2]])) == (0, 2)
    assert best_setting(np.array([[0.5, 0.6, 0.5], [0.7, 0.6, 0.5]])) == (1, 0)
    assert best_setting(np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]])) == (0, 0)
    assert best_setting(np.array([[0.5], [0.7]])) == (1, 0)
    assert best_setting(np.array([[0.5, 0.6], [-np.inf, -np.inf]])) == (0, 1)


def test_many_neighbours_vote_where_classes_are_noisy(rng):
    """Scores are right, but three classes of ten are not: the more neighbours, the better."""
    count = 400
    x = rng.uniform(-1, 1, size=(count, 1))
    codes = ((x[:, 0] > 0) ^ (rng.random(count) < 0.3)).astype(int)
    kernel = kernel_from_squares(squares_of(x), "gaussian")
    found, _ = decide(always(squares_of(x)), fixed(kernel, 1.0), classes_of(codes), codes, np.arange(count), rng)
    assert found.n_neighbors in (25, 40)
    clean, _ = decide(
        always(squares_of(x)), fixed(kernel, 1.0), classes_of(codes), (x[:, 0] > 0) * 1, np.arange(count), rng
    )
    assert clean.n_neighbors < 25


def test_squared_distances_of_scores(rng):
    one, two = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    np.testing.assert_allclose(score_squares(one, two), squares_of(one, two), rtol=1e-5)
