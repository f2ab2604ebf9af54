from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from graph_metric_learn_reproduction.experiments import protocol


def clouds_and_distances(rng, count=90, classes=3):
    y = rng.integers(0, classes, count)
    points = rng.normal(size=(count, 2)) + 1.2 * np.stack([np.cos(2.1 * y), np.sin(2.1 * y)], 1)
    return y * 10 - 7, np.linalg.norm(points[:, None] - points[None], axis=2)


def test_splits_are_the_first_stratified_fold():
    y = np.repeat([0, 1], [60, 40])
    for run in (0, 3):
        wanted = next(StratifiedKFold(10, shuffle=True, random_state=42 + run).split(y, y))
        np.testing.assert_array_equal(protocol.split(y, run)[0], wanted[0])
        np.testing.assert_array_equal(protocol.split(y, run)[1], wanted[1])


def test_small_classes_fall_back_to_plain_folds():
    y = np.repeat(np.arange(12), 4)
    wanted = next(KFold(10, shuffle=True, random_state=42).split(y))
    np.testing.assert_array_equal(protocol.split(y, 0)[1], wanted[1])
    assert len(list(protocol.inner_folds(y))) == 5


def test_knn_is_a_grid_search_with_scikit_learn(rng):
    for _ in range(5):
        y, d = clouds_and_distances(rng)
        train, test = protocol.split(y, 0)
        search = GridSearchCV(
            KNeighborsClassifier(metric="precomputed"), {"n_neighbors": list(protocol.NEIGHBORS)}, cv=StratifiedKFold(5)
        ).fit(d[np.ix_(train, train)], y[train])
        choice = protocol.choose_knn(d, y, train, test)
        assert choice.chosen == {"k": search.best_params_["n_neighbors"]}
        assert choice.validation == pytest.approx(search.best_score_)
        assert choice.test == pytest.approx(search.score(d[np.ix_(test, train)], y[test]))


def test_test_labels_enter_no_choice(rng):
    y, d = clouds_and_distances(rng)
    train, test = protocol.split(y, 0)
    other = y.copy()
    other[test] = rng.permutation(y[test])
    for choose in (
        protocol.choose_knn,
        partial(protocol.choose_knn, ks=(1,)),
        protocol.choose_knn_loo,
        partial(protocol.choose_knn_loo, weighted=True),
        protocol.choose_svm,
        lambda d, *rest: protocol.choose_kernel_svm(np.exp(-d), *rest),
    ):
        one, two = choose(d, y, train, test), choose(d, other, train, test)
        assert one.chosen == two.chosen
        assert one.validation == two.validation


def test_svm_finds_the_best_of_the_whole_grid(rng):
    y, d = clouds_and_distances(rng, 60, 2)
    train, test = protocol.split(y, 1)
    choice = protocol.choose_svm(d, y, train, test)
    best = 0.0
    for scale in protocol.SCALES:
        kernel = np.exp(-scale * d)
        search = GridSearchCV(SVC(kernel="precomputed"), {"C": list(protocol.COSTS)}, cv=StratifiedKFold(5))
        best = max(best, search.fit(kernel[np.ix_(train, train)], y[train]).best_score_)
    assert choice.validation == pytest.approx(best)
    final = SVC(kernel="precomputed", C=choice.chosen["C"])
    kernel = np.exp(-choice.chosen["lambda"] * d)
    final.fit(kernel[np.ix_(train, train)], y[train])
    assert choice.test == pytest.approx(final.score(kernel[np.ix_(test, train)], y[test]))


def test_the_papers_grids():
    assert protocol.NEIGHBORS == (1, 2, 3, 5, 7)
    np.testing.assert_allclose(protocol.SCALES, [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0])
    assert protocol.COSTS[0] == 1
    np.testing.assert_allclose(protocol.COSTS[1:], [10 ** (9 * i / 11 - 4) for i in range(12)])


def test_of_equally_good_settings_the_first_counts(rng, monkeypatch):
    """Even where the fold scores come in another order, and add up to a little more."""
    y, d = clouds_and_distances(rng, 50, 2)
    train, test = protocol.split(y, 0)
    monkeypatch.setattr(protocol, "COSTS", (1.0, 2.0))
    folds = {1.0: [0.1, 0.2, 0.3, 0.4, 0.7], 2.0: [0.7, 0.3, 0.2, 0.1, 0.4]}
    assert sum(folds[2.0]) > sum(folds[1.0])
    given = {cost: iter([*scores, 0.5]) for cost, scores in folds.items()}

    class Fixed:
        fit_status_ = 0

        def __init__(self, cost):
            self.cost, self.dual_coef_ = cost, np.array([cost])

        def fit(self, gram, codes):
            return self

        def score(self, rows, codes):
            return next(given[self.cost])

    monkeypatch.setattr(protocol, "_svc", lambda cost, max_steps=-1: Fixed(cost))
    assert protocol.choose_kernel_svm(np.exp(-d), y, train, test).chosen == {"C": 1.0}


def test_svm_with_a_given_kernel(rng):
    y, d = clouds_and_distances(rng, 60, 3)
    train, test = protocol.split(y, 1)
    kernel = np.exp(-d)
    choice = protocol.choose_kernel_svm(kernel, y, train, test)
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": list(protocol.COSTS)}, cv=StratifiedKFold(5))
    search.fit(kernel[np.ix_(train, train)], y[train])
    assert choice.chosen == search.best_params_
    assert choice.validation == pytest.approx(search.best_score_)
    assert choice.test == pytest.approx(search.score(kernel[np.ix_(test, train)], y[test]))


def test_svm_leaves_out_what_takes_too_many_steps(rng, monkeypatch):
    """The best C among those below the first that is not solved in time, as a search over these alone finds it."""
    y, d = clouds_and_distances(rng, 80, 2)
    train, test = protocol.split(y, 0)
    kernel = np.exp(-(d**2))
    monkeypatch.setattr(protocol, "LARGE", 10)
    monkeypatch.setattr(protocol, "MAX_STEPS", 200)
    choice = protocol.choose_kernel_svm(kernel, y, train, test)
    folds = list(protocol.inner_folds(y[train]))

    def steps(cost, fit):
        part = train[fit]
        return SVC(kernel="precomputed", C=cost).fit(kernel[np.ix_(part, part)], y[part]).n_iter_.max()

    easy = [cost for cost in protocol.COSTS if max(steps(cost, fit) for fit, _ in folds) < 200]
    assert 3 < len(easy) < len(protocol.COSTS)
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": easy}, cv=StratifiedKFold(5))
    search.fit(kernel[np.ix_(train, train)], y[train])
    assert choice.chosen == search.best_params_
    assert choice.validation == pytest.approx(search.best_score_)


def test_votes_by_distance_are_scikit_learns(rng):
    points, y = rng.normal(size=(80, 2)), rng.integers(0, 3, 80)
    points[:, 0] += y
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    train, test = np.arange(60), np.arange(60, 80)
    choice = protocol.choose_knn_loo(distances, y, train, test, weighted=True)
    knn = KNeighborsClassifier(choice.chosen["k"], weights="distance", metric="precomputed")
    knn.fit(distances[:60, :60], y[:60])
    assert choice.test == knn.score(distances[60:, :60], y[60:])
