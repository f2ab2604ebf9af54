import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from graph_metric_learn.metrics.automatic.selection import choose, leave_one_out


def squares_of(points):
    squares = ((points[:, None] - points[None]) ** 2).sum(2).astype(np.float32)
    return squares / squares.mean()


def test_leave_one_out_is_scikit_learns(rng):
    points, codes = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    points[:, 0] += codes
    d = np.sqrt(squares_of(points))
    for k, accuracy in zip((1, 3, 5), leave_one_out(d, codes, (1, 3, 5)), strict=True):
        knn = KNeighborsClassifier(k, metric="precomputed")
        assert accuracy == pytest.approx(cross_val_score(knn, d, codes, cv=LeaveOneOut()).mean())


def test_two_halves_of_the_truth_are_put_together(rng):
    """Four classes, each candidate sees one of two features: only their sum tells all four apart."""
    codes = np.arange(120) % 4
    left, right = codes // 2 + 0.1 * rng.normal(size=120), codes % 2 + 0.1 * rng.normal(size=120)
    candidates = {
        "left": squares_of(left[:, None]),
        "right": squares_of(right[:, None]),
        "noise": squares_of(rng.normal(size=(120, 1))),
    }
    choice = choose(candidates, codes)
    assert set(choice.weights) == {"left", "right"}
    assert sum(choice.weights.values()) == pytest.approx(1)
    assert choice.accuracy == 1.0
    assert max(choice.scores.values()) < 0.8
    assert [score for _, score in choice.trail] == sorted(score for _, score in choice.trail)
    assert len(choose(candidates, codes, n_steps=1).weights) == 1


def test_the_input_is_left_alone(rng):
    candidates = {"a": squares_of(rng.normal(size=(20, 2))), "b": squares_of(rng.normal(size=(20, 2)))}
    copies = {name: square.copy() for name, square in candidates.items()}
    choose(candidates, np.arange(20) % 2)
    for name, square in copies.items():
        np.testing.assert_array_equal(candidates[name], square)


def test_few_graphs():
    points, codes = np.array([[0.0], [0.1], [1.0], [1.1]]), np.array([0, 0, 1, 1])
    choice = choose({"good": squares_of(points), "bad": squares_of(points[[0, 2, 1, 3]])}, codes)
    assert choice.weights == {"good": 1.0}
    assert choice.n_neighbors == 1
    assert choose({"any": squares_of(points)}, codes[[0, 0, 0, 3]]).n_neighbors < 4
