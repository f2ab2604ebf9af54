import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.curves import have_equal_steps
from helpers import KINDS, curve_at, make_cloud, make_weights


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_values_follow_the_definition(rng, kind, weighted):
    clouds = [make_cloud(rng, n, 3, kind) for n in (1, 4, 7)]
    weights = make_weights(rng, clouds) if weighted else None
    walked = gml.as_curves(clouds, weights=weights)
    for g, x in enumerate(clouds):
        a = weights[g] if weighted else np.full(len(x), 1 / len(x))
        one = walked[g : g + 1]
        for k, e in enumerate(np.eye(3)):
            ends = one.ends[:, k].numpy()
            assert ends[-1] == 1.0
            for t in (np.concatenate([[0.0], ends[:-1]]) + ends) / 2:
                step = int(np.searchsorted(ends, t, side="right"))
                np.testing.assert_array_equal(one.values[step, k].numpy(), curve_at(x, a, e, t))


def test_sliced_curves_carry_the_sorted_projections(rng):
    x, directions = rng.normal(size=(9, 3)), rng.normal(size=(3, 4))
    walked = gml.as_curves([x], metric="sw", projections=directions)
    np.testing.assert_allclose(walked.values[:, :, 0].numpy(), np.sort(x @ directions, axis=0))


def test_choosing_curves(rng):
    clouds = [rng.normal(size=(n, 2)) for n in (3, 1, 4)]
    walked = gml.as_curves(clouds, weights=make_weights(rng, clouds))
    chosen = walked[np.array([2, 0])]
    assert chosen.sizes.tolist() == [4, 3]
    assert torch.equal(chosen.values, torch.cat([walked.values[4:8], walked.values[0:3]]))
    assert torch.equal(chosen.steps, torch.cat([walked.steps[4:8], walked.steps[0:3]]))
    assert torch.equal(walked[1:3].values, walked.values[3:])
    assert torch.equal(walked[-1].values, walked.values[4:])
    assert [len(one) for one in walked] == [1, 1, 1]
    assert len(walked[3:3]) == 0


def test_ends_of_many_weighted_curves_are_exact_at_the_end(rng):
    clouds = [rng.normal(size=(11, 2)) for _ in range(500)]
    walked = gml.as_curves(clouds, weights=make_weights(rng, clouds))
    last = walked.ends[walked.offsets[1:] - 1]
    assert (last == 1.0).all()
    assert (walked.ends <= 1.0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_lengths_ends_and_owners_of_steps(rng, weighted):
    clouds = [rng.normal(size=(n, 2)) for n in (3, 1, 4)]
    walked = gml.as_curves(clouds, weights=make_weights(rng, clouds) if weighted else None)
    assert walked.owners.tolist() == [0, 0, 0, 1, 2, 2, 2, 2]
    for g in range(3):
        own = walked.owners == g
        np.testing.assert_allclose(walked.lengths[own].cumsum(0).numpy(), walked.ends[own].numpy(), atol=1e-14)


def test_parts_with_and_without_equal_steps_are_not_put_together(rng):
    clouds = [rng.normal(size=(n, 2)) for n in (3, 1, 4)]
    equal, weighted = gml.as_curves(clouds), gml.as_curves(clouds, weights=make_weights(rng, clouds))
    both = gml.Curves.concatenate([weighted[1:], weighted[:1]])
    assert torch.equal(both.steps, torch.cat([weighted.steps[3:], weighted.steps[:3]]))
    with pytest.raises(ValueError, match="cannot be put together"):
        gml.Curves.concatenate([equal, weighted])
    assert have_equal_steps(equal, equal)
    assert have_equal_steps(equal, None)
    assert not have_equal_steps(equal, weighted)
    assert not have_equal_steps(weighted, None)


@pytest.mark.parametrize(
    ("values", "sizes", "steps", "words"),
    [
        (torch.zeros(2, 1, 1), np.array([5000]), None, "sizes add up to 5000, but values has 2 rows"),
        (torch.zeros(2, 1, 1), np.array([2, 0]), None, "sizes holds 0: every curve has at least one step"),
        (torch.zeros(2, 1, 1), np.array([3, -1]), None, "sizes holds -1"),
        (torch.zeros(2, 1, 1), [2], None, "sizes must be a one-dimensional NumPy array"),
        (torch.zeros(2, 1, 1), np.array([2.0]), None, "sizes must be a one-dimensional NumPy array"),
        (torch.zeros(2, 1, 1), np.array([[2]]), None, "sizes must be a one-dimensional NumPy array"),
        (torch.zeros(2, 1), np.array([2]), None, r"values has shape \(2, 1\), expected \[S, M, c\]"),
        (torch.zeros(2, 0, 1), np.array([2]), None, "values has shape"),
        (torch.zeros(2, 1, 1), np.array([2]), torch.ones(2), r"steps has shape \(2,\), expected \(2, 1\)"),
    ],
)
def test_fields_that_do_not_fit_are_named(values, sizes, steps, words):
    with pytest.raises(ValueError, match=words):
        gml.pairwise_distances(gml.Curves(values, sizes, steps))


def test_bad_choices(rng):
    x = [rng.normal(size=(3, 2))]
    with pytest.raises(ValueError, match="'w2'"):
        gml.as_curves(x, metric="w2")
    with pytest.raises(ValueError, match="optimal"):
        gml.as_curves(x, ties="optimal")
    with pytest.raises(ValueError, match="canonical axes"):
        gml.as_curves(x, projections=np.eye(2))


def test_curves_on_a_device_are_those_of_the_cpu(rng, device):
    clouds = [make_cloud(rng, int(n), 3, "grid").astype(np.float32) for n in rng.integers(1, 100, 30)]
    here, there = gml.as_curves(clouds), gml.as_curves(clouds, device=device)
    assert there.device.type == device
    np.testing.assert_array_equal(there.values.cpu().numpy(), here.values.numpy())
    chosen = rng.permutation(30)[:11]
    np.testing.assert_array_equal(there[chosen].values.cpu().numpy(), here[chosen].values.numpy())


def test_sizes_whose_sum_wraps_around_are_refused():
    sizes = np.array([2**63 - 1, 2**63 - 1, 4])  # 2 in 64 bits
    with pytest.raises(ValueError, match="but values has 2 rows"):
        gml.Curves(torch.zeros(2, 1, 1), sizes)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([[0.5], [np.nan]], "steps must be numbers, none of them negative"),
        ([[1.5], [-0.5]], "steps must be numbers, none of them negative"),
        ([[0.5], [0.25]], "the steps of curve 0 add up to 0.75, expected 1"),
    ],
)
@pytest.mark.parametrize("use", [gml.pairwise_distances, gml.mean_curve, gml.curve_vectors])
def test_steps_are_checked_before_they_are_walked(steps, words, use):
    """NaN among them was an endless loop."""
    curves = gml.Curves(torch.zeros(2, 1, 1), np.array([2]), torch.tensor(steps, dtype=torch.float64))
    with pytest.raises(ValueError, match=words):
        use(curves)


def test_steps_must_be_numbers_in_the_right_place():
    for steps in (np.ones((2, 1)), torch.ones(2, 1, dtype=torch.int64)):
        with pytest.raises(ValueError, match="steps must be a tensor of floating-point numbers"):
            gml.Curves(torch.zeros(2, 1, 1), np.array([2]), steps)
