import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn._core.ragged import concatenated_ranges
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


def test_concatenated_ranges(rng):
    starts, lengths = rng.integers(0, 50, 6), rng.integers(0, 5, 6)
    wanted = np.concatenate([np.arange(s, s + n) for s, n in zip(starts, lengths, strict=True)])
    np.testing.assert_array_equal(concatenated_ranges(starts, lengths), wanted)


def test_bad_choices(rng):
    x = [rng.normal(size=(3, 2))]
    with pytest.raises(ValueError, match="'w2'"):
        gml.as_curves(x, metric="w2")
    with pytest.raises(ValueError, match="optimal"):
        gml.as_curves(x, ties="optimal")
    with pytest.raises(ValueError, match="canonical axes"):
        gml.as_curves(x, projections=np.eye(2))
