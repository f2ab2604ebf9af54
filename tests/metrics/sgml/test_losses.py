import math

import numpy as np
import pytest
import torch

from graph_metric_learn import nca, nccml
from graph_metric_learn.metrics.sgml.losses import LOSSES, resolve_loss


def batch(rng, size=6, classes=3):
    points = rng.normal(size=(size, 2))
    d2 = ((points[:, None] - points[None]) ** 2).sum(2)
    return torch.from_numpy(d2), torch.from_numpy(rng.integers(0, classes, size))


def by_hand(d2, y, name):
    """The formulas, with sums written out."""
    d2, y = d2.tolist(), y.tolist()
    elements, present = range(len(y)), sorted(set(y))
    total = 0.0
    if name.startswith("nccml"):
        for i in elements:
            score = {}
            for e in present:
                members = [d2[i][j] for j in elements if y[j] == e]
                score[e] = sum(members) if name.endswith("paper") else sum(members) / len(members) / 2
            total -= math.log(math.exp(-score[y[i]]) / sum(math.exp(-s) for s in score.values()))
        return total
    pairs = [(i, j) for i in elements for j in elements if i != j]
    for i, j in pairs:
        others = pairs if name.endswith("paper") else [(i, k) for k in elements if k != i]
        if y[i] == y[j]:
            total -= math.exp(-d2[i][j]) / sum(math.exp(-d2[a][b]) for a, b in others)
    return total


@pytest.mark.parametrize("name", LOSSES)
def test_against_the_formulas(rng, name):
    for _ in range(3):
        d2, y = batch(rng)
        assert float(LOSSES[name](d2, y)) == pytest.approx(by_hand(d2, y, name))


@pytest.mark.parametrize("name", LOSSES)
def test_gradients(rng, name):
    d2, y = batch(rng)
    assert torch.autograd.gradcheck(lambda d: LOSSES[name](d, y), d2.requires_grad_())


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("scale", [1e-30, 1e12, 1e30])
@pytest.mark.parametrize("y", [[0, 1, 2, 3], [0, 0, 0, 0], [0, 0, 0, 1]])
def test_stable_in_float32_for_huge_distances_and_lonely_classes(rng, name, scale, y):
    d2 = (batch(rng, 4)[0] * scale).float().requires_grad_()
    value = LOSSES[name](d2, torch.tensor(y))
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(d2.grad).all()


def test_one_class_or_one_element_teaches_nothing():
    d2 = torch.rand(3, 3, requires_grad=True)
    nccml(d2, torch.zeros(3, dtype=torch.int64)).backward()
    assert (d2.grad == 0).all()
    assert float(nca(torch.zeros(1, 1), torch.tensor([0]))) == 0


def test_class_numbers_do_not_matter(rng):
    d2, y = batch(rng)
    for name in LOSSES:
        assert float(LOSSES[name](d2, y * 17 - 5)) == pytest.approx(float(LOSSES[name](d2, y)))


def test_bad_choices():
    with pytest.raises(ValueError, match="'triplet'"):
        resolve_loss("triplet")
    with pytest.raises(ValueError, match="form='x'"):
        nccml(torch.zeros(2, 2), torch.zeros(2), form="x")
    with pytest.raises(ValueError, match="for 3 classes"):
        nca(torch.zeros(2, 2), torch.zeros(3))
    assert resolve_loss(np.mean) is np.mean
