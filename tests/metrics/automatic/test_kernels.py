import numpy as np
import pytest

from graph_metric_learn.linalg.ridge import left_out_errors
from graph_metric_learn.metrics.automatic import kernels
from graph_metric_learn.metrics.automatic.kernels import (
    FORMS,
    choose_kernels,
    gaussian_scale,
    kernel_from_squares,
    shortlist,
)
from made_up_vectors import squares_of


def kernels_of(squares, names):
    return {(name, form): kernel_from_squares(squares[name], form) for name, form in names}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("copies", [1, 3])
def test_kernels_are_positive_semidefinite(rng, form, copies):
    vectors = np.tile(rng.normal(size=(20, 4)), (copies, 1))
    kernel = kernel_from_squares(squares_of(vectors), form)
    np.testing.assert_allclose(kernel, kernel.T)
    assert np.linalg.eigvalsh(kernel).min() > -1e-9
    assert np.diag(kernel).mean() == pytest.approx(1 if form == "gaussian" else 2)


def test_gaussian_kernels_are_scaled_by_the_median(rng):
    squares = squares_of(rng.normal(size=(30, 3)))
    median = np.median(squares[np.triu_indices(30, 1)])
    np.testing.assert_allclose(kernel_from_squares(squares, "gaussian"), np.exp(-squares / median))
    np.testing.assert_allclose(kernel_from_squares(7.0 * squares, "gaussian"), np.exp(-squares / median))


def test_linear_kernels_are_products_of_centred_vectors(rng):
    vectors = 5.0 + rng.normal(size=(30, 3))
    squares = squares_of(vectors)
    centred = vectors - vectors.mean(0)
    wanted = 2 * centred @ centred.T / squares.mean() + 1.0
    np.testing.assert_allclose(kernel_from_squares(squares, "linear"), wanted, atol=1e-9)


def test_the_scale_where_most_graphs_are_copies(rng):
    vectors = np.zeros((20, 1))
    vectors[:3] = 2.0
    assert gaussian_scale(squares_of(vectors)) == 4.0
    assert gaussian_scale(np.zeros((5, 5))) == 1.0


@pytest.fixture
def candidates(rng):
    """The target is the sum of what two candidates see; a third sees nothing of it."""
    left, right = rng.uniform(-1, 1, size=(2, 60, 1))
    squares = {
        "noise": squares_of(rng.normal(size=(60, 3))),
        "left": squares_of(left),
        "right": squares_of(right),
    }
    return squares, 2.0 * left + right + 0.05 * rng.normal(size=(60, 1))


def test_the_best_kernels_on_their_own_come_first(candidates, monkeypatch):
    squares, targets = candidates
    found = shortlist(squares, targets)
    assert len(found) == len(set(found)) == 6
    assert {name for name, _ in found[:2]} == {"left"}
    assert {name for name, _ in found[4:]} == {"noise"}
    errors = [
        left_out_errors(kernel_from_squares(squares[name], form), targets - targets.mean()).min()
        for name, form in found
    ]
    assert errors == sorted(errors)
    monkeypatch.setattr(kernels, "_SHORTLIST", 2)
    assert shortlist(squares, targets) == found[:2]


def test_two_halves_of_the_truth_are_put_together(candidates):
    squares, targets = candidates
    choice = choose_kernels(kernels_of(squares, shortlist(squares, targets)), targets)
    assert {name for name, _ in choice.names} == {"left", "right"}
    alone = choose_kernels(kernels_of(squares, [("left", "linear")]), targets)
    assert alone.names == [("left", "linear")]  # more of the same changes nothing
    assert choice.error < 0.1 * alone.error
    mean = np.mean([kernel_from_squares(squares[name], form) for name, form in choice.names], axis=0)
    centred = targets - targets.mean()
    wanted = left_out_errors(mean, centred, np.array([choice.penalty]))[0] / (centred**2).mean()
    assert choice.error == pytest.approx(wanted)


def test_a_kernel_that_predicts_too_little_may_order_graphs_best(rng):
    """One candidate sees the classes, but all graphs are far apart by it; by the other, classes overlap."""
    targets = np.repeat([[1.0], [-1.0]], 30, axis=0)
    far = 1.0 - 0.01 * targets @ targets.T
    np.fill_diagonal(far, 0.0)
    squares = {"far": far, "blurred": squares_of(targets + 0.7 * rng.normal(size=(60, 1)))}
    found = shortlist(squares, targets, scale_invariant=True)
    assert found[0][0] == "far"
    assert shortlist(squares, targets)[0][0] == "blurred"
    choice = choose_kernels(kernels_of(squares, found), targets, scale_invariant=True)
    assert {name for name, _ in choice.names} == {"far"}
    assert choice.error < 0.01
    assert "blurred" in {name for name, _ in choose_kernels(kernels_of(squares, found), targets).names}


def test_the_number_of_kernels_is_bounded(candidates, monkeypatch):
    squares, targets = candidates
    monkeypatch.setattr(kernels, "_STEPS", 1)
    assert len(choose_kernels(kernels_of(squares, shortlist(squares, targets)), targets).names) == 1


def test_targets_with_missing_entries(candidates):
    """Several targets at once, each missing elsewhere: what they share is found."""
    squares, targets = candidates
    several = np.concatenate([targets, -targets], axis=1)
    several[:20, 0] = np.nan
    several[40:, 1] = np.nan
    choice = choose_kernels(kernels_of(squares, shortlist(squares, several)), several)
    assert {name for name, _ in choice.names} <= {"left", "right"}
    assert 0 < choice.error < 0.5


def test_mates_do_not_choose_kernels_for_each_other(rng):
    """Pairs of graphs have like targets: one candidate knows the pairs, two others what the target is made of."""
    groups = np.arange(80) // 2
    one, two = (np.repeat(rng.normal(size=(40, 1)), 2, axis=0) + 0.05 * rng.normal(size=(80, 1)) for _ in range(2))
    squares = {"mates": (groups[:, None] != groups) * 1.0, "one": squares_of(one), "two": squares_of(two)}
    assert shortlist(squares, one + two)[0][0] == "mates"
    assert shortlist(squares, one + two, groups=groups)[0][0] != "mates"
    kernels_of_all = kernels_of(squares, [(name, "gaussian") for name in squares])
    choice = choose_kernels(kernels_of_all, one + two, groups=groups)
    assert {name for name, _ in choice.names} == {"one", "two"}
