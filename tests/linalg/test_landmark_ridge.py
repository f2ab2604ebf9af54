import numpy as np
import pytest
import torch

from graph_metric_learn.linalg import landmark_ridge
from graph_metric_learn.linalg.landmark_ridge import FoldSums, KeptFeatures, Whitening
from graph_metric_learn.linalg.ridge import fit_ridge, weighted_means
from made_up_vectors import squares_of

N, M, FOLDS = 120, 15, 4


@pytest.fixture
def features(rng):
    return torch.from_numpy(rng.normal(size=(N, M)).astype(np.float32))


def split(rng):
    """Folds and sides, the second side the smaller."""
    return rng.permutation(N) % FOLDS, (rng.random(N) < 0.2).astype(np.int64)


def dense(features, targets, weights, penalty):
    """β and mean, target by target: (Σ w φ φᵀ + λ I) β = Σ w φ (y − mean); weights [N, T], 0 where unknown."""
    features = np.asarray(features, dtype=float)
    betas, means = [], []
    for target, w in zip(targets.T, weights.T, strict=True):
        y = np.where(w > 0, target, 0.0)
        mean = (w @ y) / w.sum()
        matrix = (features * w[:, None]).T @ features + penalty * np.eye(M)
        betas.append(np.linalg.solve(matrix, features.T @ (w * (y - mean))))
        means.append(mean)
    return np.stack(betas, axis=1), np.array(means)


def added(sums, features, targets, folds, sides, pieces=3):
    for rows in np.array_split(np.arange(len(targets)), pieces):
        sums.add(features[rows], targets[rows], folds[rows], sides[rows])
    return sums


def balanced(groups, power):
    """Weights [N] of graphs: one over the number in their group, to this power, and 1 on average."""
    weights = (1.0 / np.bincount(groups)[groups]) ** power
    return weights / weights.mean()


@pytest.mark.parametrize("without", [None, 0, 3])
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_sums_solve_the_same_as_all_features_at_once(features, rng, device, without, power):
    targets, (folds, sides) = rng.normal(size=(N, 3)) + 2.0, split(rng)
    sums = added(FoldSums(2, FOLDS, M, 3, device), features.to(device), targets, folds, sides)
    weights = balanced(sides, power) * (folds != (-1 if without is None else without))
    beta, mean = sums.solve(0.7, power, without)
    wanted, means = dense(features, targets, np.tile(weights[:, None], 3), 0.7)
    np.testing.assert_allclose(beta.cpu(), wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(mean.cpu(), means, rtol=1e-10)


def test_sums_of_parts_are_sums_of_all(features, rng):
    """Of other workers, merged; and as arrays, and back."""
    targets, (folds, sides) = rng.normal(size=(N, 2)), split(rng)
    whole = added(FoldSums(2, FOLDS, M, 2, "cpu"), features, targets, folds, sides)
    parts = [FoldSums(2, FOLDS, M, 2, "cpu") for _ in range(2)]
    for part, rows in zip(parts, (slice(0, 70), slice(70, N)), strict=True):
        part.add(features[rows], targets[rows], folds[rows], sides[rows])
    parts[0].merge(parts[1])
    again = FoldSums.of(parts[0].arrays(), "cpu")
    for sums in (parts[0], again):
        for found, wanted in zip(sums.solve(0.1, 1.0, 2), whole.solve(0.1, 1.0, 2), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    assert {name: array.shape for name, array in whole.arrays().items()} == {
        "squares": (2, FOLDS, M, M), "products": (2, FOLDS, M, 2), "features": (2, FOLDS, M),
        "targets": (2, FOLDS, 2), "counts": (2, FOLDS),
    }  # fmt: skip


def test_more_targets_are_0_for_all_graphs_so_far(features, rng):
    """As if there had been classes that no graph has, before, between and after the others."""
    targets, (folds, sides) = rng.normal(size=(N, 2)), split(rng)
    few, many = (added(FoldSums(2, FOLDS, M, targets.shape[1], "cpu"), features, targets, folds, sides)
                 for targets in (targets, np.insert(targets, [0, 1, 2], 0.0, axis=1)))  # fmt: skip
    few.widen(5, np.array([1, 3]))
    for found, wanted in zip(few.solve(0.5, 1.0, 1), many.solve(0.5, 1.0, 1), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


def gaps_and_sides(rng):
    """Labels 0 and 1 with gaps: common, rare, and known to few."""
    labels = (rng.random((N, 3)) < [0.5, 0.1, 0.4]).astype(float)
    labels[rng.random((N, 3)) < [0.1, 0.3, 0.8]] = np.nan
    return labels


@pytest.mark.parametrize("without", [None, 1])
@pytest.mark.parametrize("power", [0.0, 1.0])
@pytest.mark.parametrize("in_memory", [2**28, 700])
def test_each_label_is_solved_by_the_graphs_that_have_it(features, rng, monkeypatch, device, without, power, in_memory):
    """And by its own balance; also with features that are kept in a file."""
    monkeypatch.setattr(landmark_ridge, "_IN_MEMORY", in_memory)
    monkeypatch.setattr(landmark_ridge, "_ENOUGH", 1e-6)
    monkeypatch.setattr(landmark_ridge, "_ROWS", 50)
    labels, (folds, sides) = gaps_and_sides(rng), split(rng)
    kept = added(KeptFeatures(1, FOLDS, M, 3, device), features.to(device), labels, folds, sides)
    assert (kept._file is not None) == (in_memory < N * M)
    weights = np.zeros((N, 3))
    for t, label in enumerate(labels.T):
        rows = np.flatnonzero(np.isfinite(label) & (folds != (-1 if without is None else without)))
        weights[rows, t] = balanced(label[rows].astype(int), power)
    wanted, means = dense(features, labels, weights, 0.7)
    beta, mean = kept.solve(0.7, power, without)
    np.testing.assert_allclose(beta.cpu(), wanted, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(mean.cpu(), means, atol=1e-6)


def test_kept_features_without_gaps_are_sums(features, rng):
    labels, (folds, _) = (rng.random((N, 2)) < 0.3).astype(float), split(rng)
    none = np.zeros(N, dtype=np.int64)
    kept = added(KeptFeatures(1, FOLDS, M, 2, "cpu"), features, labels, folds, none)
    sums = added(FoldSums(1, FOLDS, M, 2, "cpu"), features, labels, folds, none)
    for found, wanted in zip(kept.solve(0.5, 0.0, 2), sums.solve(0.5, 0.0, 2), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


def test_kept_features_are_merged(features, rng):
    labels, (folds, sides) = gaps_and_sides(rng), split(rng)
    whole = added(KeptFeatures(1, FOLDS, M, 3, "cpu"), features, labels, folds, sides)
    one, two = KeptFeatures(1, FOLDS, M, 3, "cpu"), KeptFeatures(1, FOLDS, M, 3, "cpu")
    one.add(features[:50], labels[:50], folds[:50], sides[:50])
    one.solve(0.5)  # what was solved before more came must not linger
    two.add(features[50:], labels[50:], folds[50:], sides[50:])
    one.merge(two)
    np.testing.assert_allclose(one.solve(0.5, 1.0)[0], whole.solve(0.5, 1.0)[0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_where_all_graphs_are_landmarks_it_is_kernel_ridge(rng, power):
    """φ φᵀ = K, so the weights of landmarks predict what α of the exact regression predicts."""
    x = rng.normal(size=(60, 4))
    kernel = np.exp(-squares_of(x) / 8).astype(np.float32)
    targets, sides = np.column_stack([x[:, 0], np.sin(x[:, 1])]), (np.arange(60) % 6 == 0).astype(np.int64)
    whitening = Whitening.fit(kernel, "cpu")
    features = whitening.features(kernel)
    np.testing.assert_allclose(features @ features.T, kernel, atol=1e-4)
    sums = FoldSums(2, 1, 60, 2, "cpu")
    sums.add(features, targets, np.zeros(60, dtype=np.int64), sides)
    beta, mean = sums.solve(0.1, power)
    rows = balanced(sides, power)
    exact = fit_ridge(kernel, targets - weighted_means(targets, rows), 0.1, rows)
    new = np.exp(-squares_of(rng.normal(size=(20, 4)), x) / 8).astype(np.float32)
    wanted = new @ exact + weighted_means(targets, rows)
    np.testing.assert_allclose(new @ whitening.to_landmarks(beta) + mean.numpy(), wanted, atol=1e-4)
    np.testing.assert_allclose(whitening.features(new).double() @ beta + mean, wanted, atol=1e-4)


def test_landmarks_that_are_copies(rng):
    """A kernel that cannot be factorised as it is: copies add nothing, and nothing is infinite."""
    x = np.repeat(rng.normal(size=(10, 2)), 4, axis=0)
    kernel = np.exp(-squares_of(x)).astype(np.float32)
    features = Whitening.fit(kernel, "cpu").features(kernel)
    assert torch.isfinite(features).all()
    np.testing.assert_allclose(features @ features.T, kernel, atol=1e-2)
