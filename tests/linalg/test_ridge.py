import numpy as np
import pytest

from graph_metric_learn.linalg import ridge
from graph_metric_learn.linalg.ridge import (
    PENALTIES,
    best_penalty,
    fit_ridge,
    held_out_fits,
    known_means,
    left_out_error,
    left_out_errors,
    weighted_means,
)
from made_up_vectors import squares_of


@pytest.fixture
def problem(rng):
    """A kernel, and two targets: one smooth, one noise."""
    x = rng.uniform(-2, 2, size=(40, 2))
    kernel = np.exp(-squares_of(x))
    targets = np.stack([np.sin(x[:, 0]) + 0.1 * rng.normal(size=40), rng.normal(size=40)], axis=1)
    return kernel, targets - targets.mean(0)


def predicted_without(kernel, targets, penalty):
    """Predictions of graphs left out, by as many fits."""
    count = len(kernel)
    predicted = np.zeros_like(targets)
    for i in range(count):
        others = np.flatnonzero(np.arange(count) != i)
        weights = np.linalg.solve(kernel[np.ix_(others, others)] + penalty * np.eye(count - 1), targets[others])
        predicted[i] = kernel[i, others] @ weights
    return predicted


def refitted(kernel, targets, penalty):
    """Errors of leaving one out by as many fits: mean squares, added up over the targets."""
    return ((targets - predicted_without(kernel, targets, penalty)) ** 2).mean(0).sum()


def test_errors_are_those_of_fitting_again_without_each_graph(problem):
    penalties = np.array([1e-4, 1e-2, 1.0, 10.0])
    found = left_out_errors(*problem, penalties)
    np.testing.assert_allclose(found, [refitted(*problem, penalty) for penalty in penalties], rtol=1e-6)


def test_groups_are_left_out_together(problem, rng):
    kernel, targets = problem
    groups = rng.permutation(np.array([3] * 1 + [7] * 2 + [1] * 2 + [5] * 12 + [9] * 3 + list(range(20, 40))))
    predicted = np.zeros_like(targets)
    for group in np.unique(groups):
        left, others = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
        within = kernel[np.ix_(others, others)] + 0.1 * np.eye(len(others))
        predicted[left] = kernel[np.ix_(left, others)] @ np.linalg.solve(within, targets[others])
    wanted = ((targets - predicted) ** 2).mean(0).sum()
    assert left_out_errors(kernel, targets, np.array([0.1]), groups=groups)[0] == pytest.approx(wanted)
    assert left_out_error(kernel, targets, 0.1, groups=groups) == pytest.approx(wanted)
    alone = left_out_errors(kernel, targets, groups=np.arange(40))
    np.testing.assert_array_equal(alone, left_out_errors(kernel, targets))


@pytest.mark.parametrize("penalty", [1e-4, 1e-2, 1.0, 10.0])
def test_errors_whatever_the_scale_of_predictions(problem, penalty):
    """The factor that suits predictions best is found by trying; as the error, it does not depend on their scale."""
    kernel, targets = problem
    predicted = predicted_without(kernel, targets, penalty)
    factors = np.linspace(0, 20, 20_001)[:, None, None]
    wanted = ((targets - factors * predicted) ** 2).mean(1).sum(1).min()
    found = left_out_errors(kernel, targets, np.array([penalty]), scale_invariant=True)
    assert found[0] == pytest.approx(wanted, rel=1e-5)
    assert left_out_error(kernel, targets, penalty, scale_invariant=True) == pytest.approx(wanted, rel=1e-5)
    assert found[0] < refitted(kernel, targets, penalty)


def test_no_factor_makes_wrong_predictions_right():
    """Without anything to learn, graphs left out are predicted to be on the other side of the mean."""
    targets = np.array([[1.0], [-1.0]] * 10)
    found = left_out_errors(np.ones((20, 20)), targets, scale_invariant=True)
    np.testing.assert_allclose(found, 1.0)


def test_missing_entries_do_not_count_whatever_the_scale(problem):
    kernel, targets = problem
    missing = np.concatenate([targets, np.full_like(targets, np.nan)], axis=1)
    missing[:, 2] = np.where(np.arange(40) % 3, np.nan, 0.0)
    for penalty in (0.01, 1.0):
        wanted = left_out_error(kernel, targets, penalty, scale_invariant=True)
        assert left_out_error(kernel, missing, penalty, scale_invariant=True) == pytest.approx(wanted)


@pytest.mark.parametrize("exact", [True, False])
def test_the_best_penalty_whatever_the_scale(problem, monkeypatch, exact):
    kernel, targets = problem[0] ** 8, problem[1][:, :1]  # graphs farther apart: predictions are near the mean
    errors = left_out_errors(kernel, targets, scale_invariant=True)
    assert errors.argmin() != left_out_errors(kernel, targets).argmin()
    if not exact:
        monkeypatch.setattr(ridge, "_EXACT", 10)
    found = best_penalty(kernel, targets, PENALTIES[errors.argmin()], scale_invariant=True)
    assert found == pytest.approx((PENALTIES[errors.argmin()], errors.min()))


@pytest.mark.parametrize("exact", [8, 0])
@pytest.mark.parametrize("grouped", [False, True])
def test_graphs_without_a_target_do_not_predict_it(problem, monkeypatch, exact, grouped):
    """With too many patterns of gaps, they have the mean."""
    monkeypatch.setattr(ridge, "_GAPS", exact)
    kernel, targets = problem
    targets[::3, 1] = np.nan
    groups = np.arange(40) // 2 if grouped else np.arange(40)
    wanted = 0.0
    for column in targets.T:
        known = np.isfinite(column)
        voters, filled = known | (exact == 0), np.nan_to_num(column)
        missed = []
        for i in np.flatnonzero(known):
            others = np.flatnonzero((groups != groups[i]) & voters)
            matrix = kernel[np.ix_(others, others)] + 0.1 * np.eye(len(others))
            missed.append(filled[i] - kernel[i, others] @ np.linalg.solve(matrix, filled[others]))
        wanted += np.mean(np.square(missed))
    assert left_out_errors(kernel, targets, np.array([0.1]), groups=groups)[0] == pytest.approx(wanted)
    assert left_out_error(kernel, targets, 0.1, groups=groups) == pytest.approx(wanted)


def test_a_kernel_that_rounding_made_indefinite(rng):
    """Eigenvalues below −λ count as 0."""
    axes, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    values = np.array([2.0, 1.0, 0.5, 0.2, 0.0, -1e-5])
    targets = rng.normal(size=(6, 2))
    wanted = axes @ np.diag(1 / (np.maximum(values, 0) + 1e-6)) @ axes.T @ targets
    np.testing.assert_allclose(fit_ridge(axes @ np.diag(values) @ axes.T, targets, 1e-6), wanted, rtol=1e-6)


def test_one_penalty_by_an_inverse_is_the_same(problem):
    found = [left_out_error(*problem, penalty) for penalty in PENALTIES]
    np.testing.assert_allclose(found, left_out_errors(*problem), rtol=1e-6)


def test_what_is_not_positive_definite_has_no_error():
    assert left_out_error(-np.eye(5), np.ones((5, 1)), 0.5) == np.inf


def test_weights_solve_the_equations(problem):
    kernel, targets = problem
    np.testing.assert_allclose(
        fit_ridge(kernel, targets, 0.3), np.linalg.solve(kernel + 0.3 * np.eye(40), targets), rtol=1e-8
    )


def test_each_target_is_fitted_to_the_graphs_that_have_it(problem):
    kernel, targets = problem
    targets = np.concatenate([targets, targets[:, :1]], axis=1)
    targets[:7, 1] = np.nan
    targets[30:, 2] = np.nan
    found = fit_ridge(kernel, targets, 0.3)
    for column in range(3):
        known = np.flatnonzero(np.isfinite(targets[:, column]))
        wanted = np.zeros(40)
        matrix = kernel[np.ix_(known, known)] + 0.3 * np.eye(len(known))
        wanted[known] = np.linalg.solve(matrix, targets[known, column])
        np.testing.assert_allclose(found[:, column], wanted, rtol=1e-8, atol=1e-12)


def test_a_target_that_no_graph_has_is_zero(problem):
    """As in a fold that holds out the few graphs that have it."""
    kernel, targets = problem
    targets[:, 1] = np.nan
    np.testing.assert_allclose(known_means(targets + 1.0), [1.0, 0.0])
    assert (fit_ridge(kernel, targets, 0.3)[:, 1] == 0).all()
    assert left_out_error(kernel, targets, 0.3) == pytest.approx(refitted(kernel, targets[:, :1], 0.3))


@pytest.mark.parametrize("guess", [*PENALTIES, 1e-9, 1e9])
def test_a_guess_leads_to_the_best_penalty(problem, monkeypatch, guess):
    errors = left_out_errors(*problem)
    falls = np.diff(errors) < 0
    assert not (falls[1:] & ~falls[:-1]).any()  # one valley
    wanted = best_penalty(*problem)
    assert wanted == (PENALTIES[errors.argmin()], errors.min())
    monkeypatch.setattr(ridge, "_EXACT", 10)
    assert best_penalty(*problem, guess) == pytest.approx(wanted)


@pytest.mark.parametrize("place", [0, len(PENALTIES) - 1])
def test_the_best_penalty_may_be_the_first_or_last(rng, monkeypatch, place):
    """A kernel that tells everything, and one that tells nothing."""
    x = rng.normal(size=(30, 1))
    kernel = x @ x.T + 1.0 if place == 0 else np.eye(30)
    targets = x if place == 0 else rng.normal(size=(30, 1))
    targets = targets - targets.mean()
    if place:
        kernel = kernel + 0.3 * np.outer(targets, -targets) / (targets**2).sum()  # predicts the wrong sign
    assert best_penalty(kernel, targets)[0] == PENALTIES[place]
    monkeypatch.setattr(ridge, "_EXACT", 10)
    for guess in (PENALTIES[0], 0.1, PENALTIES[-1]):
        assert best_penalty(kernel, targets, guess)[0] == PENALTIES[place]


# --- weights of rows, and folds held out -----------------------------------------------------------------------------


def weighted_fit(kernel, target, penalty, weights, rows):
    """α of the rows, by the definition: the least Σ w (y − mean − K α)² + λ αᵀ K α; and the mean."""
    w, y, among = weights[rows], target[rows], kernel[np.ix_(rows, rows)]
    mean = (w @ y) / w.sum()
    return np.linalg.solve(np.diag(w) @ among + penalty * np.eye(len(rows)), w * (y - mean)), mean


def test_rows_of_weight_two_are_rows_given_twice(problem, rng):
    kernel, targets = problem
    times = rng.integers(1, 4, 40)
    rows = np.repeat(np.arange(40), times)
    found = fit_ridge(kernel, targets, 0.3, times.astype(float))
    wanted = fit_ridge(kernel[np.ix_(rows, rows)], targets[rows], 0.3)
    summed = np.stack([np.bincount(rows, column) for column in wanted.T], axis=1)
    np.testing.assert_allclose(found, summed, rtol=1e-8)
    np.testing.assert_allclose(weighted_means(targets, times), targets[rows].mean(0), atol=1e-12)
    np.testing.assert_array_equal(fit_ridge(kernel, targets, 0.3, np.ones(40)), fit_ridge(kernel, targets, 0.3))


def test_means_of_known_entries_by_weight():
    targets = np.array([[0.0, np.nan, np.nan], [1.0, 5.0, np.nan]])
    np.testing.assert_allclose(weighted_means(targets, np.array([1.0, 3.0])), [0.75, 5.0, 0.0])
    np.testing.assert_allclose(weighted_means(targets), known_means(targets))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("penalty", [1e-3, 1.0])
def test_folds_held_out_are_those_of_fitting_again(problem, rng, weighted, gaps, penalty):
    """Target by target, by its own graphs: predictions of the fold and the fit of the others, with their means."""
    kernel, targets = problem[0], problem[1] + 3.0
    if gaps:
        targets[::3, 1] = np.nan
        targets = np.column_stack([targets, np.where(np.arange(40) % 4 == 1, targets[:, 0], np.nan)])
    weights = rng.uniform(0.5, 3.0, 40) if weighted else np.ones(40)
    drawn = rng.permutation(40) % 5
    folds = [np.flatnonzero(drawn == fold) for fold in range(4)]  # those of the fifth are known in every fold
    alpha, mean, scores = held_out_fits(kernel, targets, penalty, folds, weights if weighted else None)
    assert len(scores) == 4
    for column, target in enumerate(targets.T):
        known = np.flatnonzero(np.isfinite(target))
        own, centre = weighted_fit(kernel, target, penalty, weights, known)
        np.testing.assert_allclose(alpha[known, column], own, rtol=1e-6, atol=1e-9)
        assert mean[column] == pytest.approx(centre)
        for test, found in zip(folds, scores, strict=True):
            rows = np.setdiff1d(known, test)
            own, centre = weighted_fit(kernel, target, penalty, weights, rows)
            np.testing.assert_allclose(found[known, column], (kernel[:, rows] @ own + centre)[known], rtol=1e-6)
            assert np.isnan(np.delete(found[:, column], known)).all()


def test_targets_of_a_fold_do_not_change_what_is_predicted_for_it(problem):
    kernel, targets = problem
    test = np.arange(7)
    changed = targets.copy()
    changed[test] += 100.0
    one, two = (held_out_fits(kernel, each, 0.1, [test])[2][0] for each in (targets, changed))
    np.testing.assert_allclose(one[test], two[test], rtol=1e-6, atol=1e-8)


def test_a_fold_that_holds_all_who_have_a_target(problem):
    """Nothing is known of it: 0 is predicted."""
    kernel, targets = problem
    targets[3:, 1] = np.nan
    scores = held_out_fits(kernel, targets, 0.1, [np.arange(5)])[2][0]
    np.testing.assert_allclose(scores[:3, 1], 0.0, atol=1e-12)
    assert np.isfinite(scores[:, 0]).all()
