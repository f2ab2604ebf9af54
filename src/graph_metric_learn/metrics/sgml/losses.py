"""Losses on squared distances within a batch: small where graphs of one class are near each other.

Squared, because the root has no gradient at 0. Each comes in two forms: "authors", what the code published with the
paper computes, and "paper", what its formulas say.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

FORMS = ("authors", "paper")


def nccml(squared_distances: Tensor, y: Tensor, *, form: str = "authors") -> Tensor:
    r"""Nearest Class Cloud Metric Learning: −Σ log p(y_i | i), a softmax over the classes in the batch.

    .. math:: p(e \mid i) \propto \exp(-s_{ie}), \quad s_{ie} = \tfrac12 \mathrm{mean}_{j: y_j = e}\, d_{ij}^2
        \ \text{(authors)} \quad \text{or} \quad s_{ie} = \sum_{j: y_j = e} d_{ij}^2 \ \text{(paper)}

    An element counts in its own class, at distance 0. A batch of one class gives 0.

    Parameters
    ----------
    squared_distances : Tensor [B, B]
    y : Tensor [B]
        Classes, whole numbers.
    form : {"authors", "paper"}

    Examples
    --------
    >>> d2 = torch.tensor([[0., 8.], [8., 0.]])
    >>> round(float(nccml(d2, torch.tensor([0, 1]))), 4)      # 2 log(1 + e^-4)
    0.0363
    """
    squared_distances, y = _checked(squared_distances, y, form)
    _, own = torch.unique(y, return_inverse=True)
    members = torch.nn.functional.one_hot(own).to(squared_distances.dtype)
    totals = squared_distances @ members
    logits = -0.5 * totals / members.sum(0) if form == "authors" else -totals
    return torch.nn.functional.cross_entropy(logits, own, reduction="sum")


def nca(squared_distances: Tensor, y: Tensor, *, form: str = "authors") -> Tensor:
    r"""Neighbourhood Component Analysis: minus the probability mass on neighbours of the same class.

    .. math:: -\sum_i \sum_{j \ne i,\, y_j = y_i} p_{ij}, \quad p_{ij} \propto \exp(-d_{ij}^2)

    normalised over the other elements j of each row (authors), or over all pairs of different elements (paper).

    Parameters
    ----------
    squared_distances, y, form
        See :func:`nccml`.

    Examples
    --------
    >>> d2 = torch.tensor([[0., 0., 50.], [0., 0., 50.], [50., 50., 0.]])
    >>> round(float(nca(d2, torch.tensor([0, 0, 1]))), 4)     # two elements find their like, the third has none
    -2.0
    """
    squared_distances, y = _checked(squared_distances, y, form)
    itself = torch.eye(len(y), dtype=torch.bool, device=y.device)
    if len(y) < 2:
        return squared_distances.sum() * 0
    logits = (-squared_distances).masked_fill(itself, -torch.inf)
    shares = logits.softmax(1) if form == "authors" else logits.flatten().softmax(0).view_as(logits)
    same = (y.unsqueeze(0) == y.unsqueeze(1)) & ~itself
    return -shares.masked_fill(~same, 0.0).sum()


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "nccml": nccml,
    "nccml-paper": partial(nccml, form="paper"),
    "nca": nca,
    "nca-paper": partial(nca, form="paper"),
}


def resolve_loss(loss: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """A loss by name, or the caller's own function of (squared distances [B, B], classes [B])."""
    if callable(loss):
        return loss
    if loss is None:
        raise ValueError("this metric was saved with a loss of its own: set_params(loss=…) before training it again")
    if loss not in LOSSES:
        raise ValueError(f"unknown loss={loss!r}: use one of {', '.join(map(repr, LOSSES))}, or a function")
    return LOSSES[loss]


def wants_vectors(loss: Any) -> bool:
    """Whether a loss takes (vectors, classes), as those of pytorch-metric-learning do, and not squared distances."""
    return any(base.__module__.startswith("pytorch_metric_learning") for base in type(loss).__mro__)


def _checked(squared_distances: Any, y: Any, form: str) -> tuple[Tensor, Tensor]:
    squared_distances = torch.as_tensor(squared_distances)
    y = torch.as_tensor(y, device=squared_distances.device)
    if form not in FORMS:
        raise ValueError(f"unknown form={form!r}: use one of {', '.join(map(repr, FORMS))}")
    if squared_distances.ndim != 2 or squared_distances.shape != (len(y), len(y)):
        raise ValueError(f"squared distances of shape {tuple(squared_distances.shape)} for {len(y)} classes")
    return squared_distances, y
