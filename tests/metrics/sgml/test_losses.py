import math

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn import mlkr, nca, nccml
from graph_metric_learn.metrics.sgml.losses import LOSSES, Loss, named_loss, resolve_loss, wants_vectors
from graph_zoo import zoo

FOR_CLASSES = [name for name, loss in LOSSES.items() if loss.task == "classes"]


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


@pytest.mark.parametrize("name", FOR_CLASSES)
def test_against_the_formulas(rng, name):
    for _ in range(3):
        d2, y = batch(rng)
        assert float(LOSSES[name].autograd(d2, y)) == pytest.approx(by_hand(d2, y, name))


@pytest.mark.parametrize("name", FOR_CLASSES)
def test_gradients(rng, name):
    d2, y = batch(rng)
    assert torch.autograd.gradcheck(lambda d: LOSSES[name].autograd(d, y), d2.requires_grad_())


@pytest.mark.parametrize("name", FOR_CLASSES)
@pytest.mark.parametrize("scale", [1e-30, 1e12, 1e30])
@pytest.mark.parametrize("y", [[0, 1, 2, 3], [0, 0, 0, 0], [0, 0, 0, 1]])
def test_stable_in_float32_for_huge_distances_and_lonely_classes(rng, name, scale, y):
    d2 = (batch(rng, 4)[0] * scale).float().requires_grad_()
    value = LOSSES[name].autograd(d2, torch.tensor(y))
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
    for name in FOR_CLASSES:
        assert float(LOSSES[name].autograd(d2, y * 17 - 5)) == pytest.approx(float(LOSSES[name].autograd(d2, y)))


@pytest.mark.parametrize("name", FOR_CLASSES)
def test_batches_side_by_side_as_one_by_one(rng, name):
    """The batched twin, on batches of different lengths, against autograd."""
    lengths, most = (6, 5, 2, 1, 7), 7
    squared, y = torch.full((5, most, most), 1e6, dtype=torch.float64), torch.full((5, most), -1)
    values, grad_d2 = [], torch.zeros_like(squared)
    for k, size in enumerate(lengths):
        d2, own = batch(rng, size, 3 if k else 1)
        squared[k, :size, :size], y[k, :size] = d2, own
        value = LOSSES[name].autograd(d2.requires_grad_(), own)
        value.backward()
        values.append(value.item())
        grad_d2[k, :size, :size] = d2.grad
    got, got_grad = LOSSES[name].batched(squared, y, 4)
    np.testing.assert_allclose(got, values, atol=1e-12)
    np.testing.assert_allclose(got_grad, grad_d2, atol=1e-12)


def mlkr_by_hand(d2, y):
    """The formula, with sums written out; y is a list of rows."""
    elements, columns, total = range(len(y)), range(len(y[0])), 0.0
    for i in elements:
        errors = []
        for t in columns:
            if math.isnan(y[i][t]):
                continue
            weight = {j: math.exp(-d2[i][j]) for j in elements if j != i and not math.isnan(y[j][t])}
            predicted = sum(w * y[j][t] for j, w in weight.items()) / sum(weight.values()) if weight else 0.0
            errors.append((predicted - y[i][t]) ** 2)
        total += sum(errors) / len(errors) if errors else 0.0
    return total


def numbers(rng, size=6, columns=3, missing=()):
    y = torch.from_numpy(rng.normal(size=(size, columns)))
    for entry in missing:
        y[entry] = torch.nan
    return y


# a column that one element has alone, an element that has nothing, and one entry that lacks
MISSING = ((slice(1, None), 0), (4,), (2, 1))


@pytest.mark.parametrize("missing", [(), MISSING])
@pytest.mark.parametrize("columns", [2, 3])
def test_kernel_regression_against_the_formula(rng, missing, columns):
    d2, y = batch(rng)[0], numbers(rng, columns=columns, missing=missing)
    assert float(mlkr(d2, y)) == pytest.approx(mlkr_by_hand(d2.tolist(), y.tolist()))
    one = numbers(rng, columns=1)
    assert float(mlkr(d2, one)) == float(mlkr(d2, one[:, 0])) == pytest.approx(mlkr_by_hand(d2.tolist(), one.tolist()))


@pytest.mark.parametrize("missing", [(), MISSING])
def test_gradients_of_kernel_regression(rng, missing):
    d2, y = batch(rng)[0], numbers(rng, missing=missing)
    assert torch.autograd.gradcheck(lambda d: mlkr(d, y), d2.requires_grad_())
    d2.grad = None
    mlkr(d2, y).backward()
    assert d2.grad.abs().sum() > 0
    if missing:
        assert (d2.grad[4] == 0).all()
        assert (d2.grad[:, 4] == 0).all()


@pytest.mark.parametrize("scale", [1e-30, 1e12, 1e30])
@pytest.mark.parametrize("missing", [(), MISSING, ((slice(None),),)])
def test_kernel_regression_is_stable_in_float32(rng, scale, missing):
    d2 = (batch(rng)[0] * scale).float().requires_grad_()
    value = mlkr(d2, numbers(rng, missing=missing))
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(d2.grad).all()


def test_an_element_without_others_is_predicted_by_the_mean():
    d2 = torch.zeros(1, 1, requires_grad=True)
    value = mlkr(d2, torch.tensor([3.0]))
    value.backward()
    assert float(value.detach()) == 9.0
    assert float(d2.grad) == 0.0


def test_a_loss_says_what_it_is_for():
    assert {name: loss.task for name, loss in LOSSES.items() if loss.task != "classes"} == {"mlkr": "numbers"}
    assert Loss(nca).task == "classes"


def test_a_loss_from_outside_is_one_line(rng, monkeypatch):
    """Registered with its form by autograd alone, it trains everywhere that a built-in loss does."""

    def contrastive(squared_distances, y):
        same = y.unsqueeze(0) == y.unsqueeze(1)
        return torch.where(same, squared_distances, (1 - squared_distances).relu()).mean(1).sum()

    monkeypatch.setitem(LOSSES, "contrastive", Loss(contrastive))
    pairs, y = zoo(rng, 20)
    options = {"n_epochs": 3, "random_state": 0, "device": "cpu"}
    by_name = gml.SGML(loss="contrastive", **options).fit(pairs, y)
    by_function = gml.SGML(loss=contrastive, **options).fit(pairs, y)
    assert by_name.history_.loss == by_function.history_.loss
    assert by_name.history_.loss[-1] < by_name.history_.loss[0]
    (together,) = gml.fit_many([gml.SGML(loss="contrastive", **options)], pairs, y, device="cpu")
    assert together.history_.loss == by_name.history_.loss


def test_losses_by_name():
    assert named_loss("nca") is LOSSES["nca"]
    assert resolve_loss("nca") is nca
    assert resolve_loss(np.mean) is np.mean
    assert named_loss(nca) is named_loss("triplet") is named_loss([]) is None


def test_losses_on_vectors_are_recognised():
    from pytorch_metric_learning.losses import TripletMarginLoss

    assert wants_vectors(TripletMarginLoss())
    assert not wants_vectors(nca)
    assert not wants_vectors("nca")


def test_bad_choices():
    with pytest.raises(ValueError, match=r"unknown loss='triplet': use one of 'nccml', .*, or a function"):
        resolve_loss("triplet")
    with pytest.raises(ValueError, match="unknown loss='triplet'"):
        gml.SGML(loss="triplet").fit(*zoo(np.random.default_rng(0), 4))
    with pytest.raises(ValueError, match=r"unknown loss=\['nca'\]"):
        resolve_loss(["nca"])
    with pytest.raises(ValueError, match="saved with a loss of its own"):
        resolve_loss(None)
    with pytest.raises(ValueError, match="form='x'"):
        nccml(torch.zeros(2, 2), torch.zeros(2), form="x")
    with pytest.raises(ValueError, match="for 3 graphs"):
        nca(torch.zeros(2, 2), torch.zeros(3))
