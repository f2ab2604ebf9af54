import numpy as np
import pytest

from graph_metric_learn.linalg.ridge import (
    fit_ridge,
    held_out_fits,
    known_means,
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


def test_a_kernel_that_rounding_made_indefinite(rng):
    """Eigenvalues below −λ count as 0."""
    axes, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    values = np.array([2.0, 1.0, 0.5, 0.2, 0.0, -1e-5])
    targets = rng.normal(size=(6, 2))
    wanted = axes @ np.diag(1 / (np.maximum(values, 0) + 1e-6)) @ axes.T @ targets
    np.testing.assert_allclose(fit_ridge(axes @ np.diag(values) @ axes.T, targets, 1e-6), wanted, rtol=1e-6)


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
