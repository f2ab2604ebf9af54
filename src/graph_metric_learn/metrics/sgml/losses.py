"""Losses on squared distances within a batch: small where graphs of one class, or of like numbers, are near each other.

Squared, because the root has no gradient at 0. NCCML and NCA each come in two forms: "authors", what the code published
with the paper computes, and "paper", what its formulas say.

Training needs up to three implementations of each. They agree up to rounding, and the tests compare them:

1. *Autograd*, `nccml` and `nca`: one batch, plain torch, the gradient by autograd. These are the public functions and
   the reference. They serve any encoder on any device. Every loss has this one, and needs no other.
2. *Compiled*, in `training/compiled_step.py`: one batch, scalar loops, the gradient in closed form. A step on 8 small
   graphs is so little work that most of its time goes into calling torch (on ENZYMES, one thread: 1.2 ms by autograd,
   0.2 ms compiled); the compiled step calls nothing outside.
3. *Batched*, `nccml_batched` and `nca_batched`: K batches side by side, one per model, for `training/many_models.py`.
   Its steps are replayed as a CUDA graph, which allows no autograd and no shapes that depend on the data: batches are
   padded to one size, and the gradient is in closed form.

MLKR, for numbers, has the first form alone.

:data:`LOSSES` lists them by name. A loss without 2 or 3 is trained by 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ..._core.registry import Registry
from ..._core.validation import one_of

FORMS = ("authors", "paper")
NCCML, NCCML_PAPER, NCA, NCA_PAPER = range(4)  # codes by which the compiled training step knows its losses


@dataclass(frozen=True)
class Loss:
    """A loss in its three implementations; see the top of this file."""

    # (squared distances [B, B], targets) → scalar, the sum over the batch. Targets are classes [B] or, for the task
    # "numbers", standardised numbers [B, T], NaN where one is missing.
    autograd: Callable[[Tensor, Tensor], Tensor]
    compiled: int | None = None  # its code in `training.compiled_step.loss_and_grad`
    # (squared distances [K, B, B], classes [K, B], number of classes) → losses [K], and their gradient with respect to
    # the squared distances [K, B, B]. Classes are 0, 1, …; -1 marks padding, where the gradient is 0.
    batched: Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]] | None = None
    task: str = "classes"  # what it learns from, or "numbers"


LOSSES: Registry[Loss] = Registry("loss")


def resolve_loss(loss: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """A loss by name, or the caller's own function of (squared distances [B, B], targets)."""
    if callable(loss):
        return loss
    if loss is None:
        raise ValueError("this metric was saved with a loss of its own: set_params(loss=…) before training it again")
    named = named_loss(loss)
    if named is None:
        raise ValueError(f"unknown loss={loss!r}: use one of {', '.join(map(repr, LOSSES))}, or a function")
    return named.autograd


def named_loss(loss: Any) -> Loss | None:
    """The loss of this name; None for a function, or a name that is not known."""
    return LOSSES.get(loss) if isinstance(loss, str) else None


def wants_vectors(loss: Any) -> bool:
    """Whether a loss takes (vectors, classes), as those of pytorch-metric-learning do, and not squared distances."""
    return any(base.__module__.startswith("pytorch_metric_learning") for base in type(loss).__mro__)


# --- NCCML -----------------------------------------------------------------------------------------------------------


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
    _, own_class = torch.unique(y, return_inverse=True)
    membership = torch.nn.functional.one_hot(own_class).to(squared_distances.dtype)
    totals = squared_distances @ membership
    logits = -0.5 * totals / membership.sum(0) if form == "authors" else -totals
    return torch.nn.functional.cross_entropy(logits, own_class, reduction="sum")


def nccml_batched(squared: Tensor, y: Tensor, n_classes: int, *, form: str = "authors") -> tuple[Tensor, Tensor]:
    """Batched implementation of :func:`nccml`: losses [K], and their gradient [K, B, B]; see :class:`Loss`."""
    real, both_real = _masks(y)
    y = y.clamp(min=0)
    membership = (y.unsqueeze(2) == torch.arange(n_classes, device=y.device)) & real.unsqueeze(2)
    membership = membership.to(squared.dtype)  # [K, B, classes]
    sizes = membership.sum(1, keepdim=True)
    factor = 0.5 / sizes.clamp(min=1) if form == "authors" else torch.ones_like(sizes)  # [K, 1, classes]
    scores = torch.matmul(squared.masked_fill(~both_real, 0.0), membership) * factor
    log_p = (-scores).masked_fill(sizes == 0, -torch.inf).log_softmax(2)
    log_p_own = torch.gather(log_p, 2, y.unsqueeze(2)).squeeze(2)
    losses = -log_p_own.masked_fill(~real, 0.0).sum(1)
    # d²_ij enters the loss of row i through the score of j's class alone: one gradient per row and class
    grad_by_class = (membership - log_p.exp()) * factor
    grad_d2 = torch.gather(grad_by_class, 2, y.unsqueeze(1).expand_as(squared))
    return losses, grad_d2.masked_fill(~both_real, 0.0)


# --- NCA -------------------------------------------------------------------------------------------------------------


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
    diagonal = torch.eye(len(y), dtype=torch.bool, device=y.device)
    if len(y) < 2:
        return squared_distances.sum() * 0
    logits = (-squared_distances).masked_fill(diagonal, -torch.inf)
    p = logits.softmax(1) if form == "authors" else logits.flatten().softmax(0).view_as(logits)
    same_class = (y.unsqueeze(0) == y.unsqueeze(1)) & ~diagonal
    return -p.masked_fill(~same_class, 0.0).sum()


def nca_batched(squared: Tensor, y: Tensor, n_classes: int, *, form: str = "authors") -> tuple[Tensor, Tensor]:
    """Batched implementation of :func:`nca`: losses [K], and their gradient [K, B, B]; see :class:`Loss`."""
    _, both_real = _masks(y)
    others = both_real & ~torch.eye(y.shape[1], dtype=torch.bool, device=y.device)
    logits = (-squared).masked_fill(~others, -torch.inf)
    p = logits.softmax(2) if form == "authors" else logits.flatten(1).softmax(1).view_as(logits)
    p = p.masked_fill(~others, 0.0)  # also where a row holds nothing but -inf, whose softmax is NaN
    same_class = (y.unsqueeze(1) == y.unsqueeze(2)) & others
    p_same = (p * same_class).sum(2, keepdim=True)
    p_same = p_same if form == "authors" else p_same.sum(1, keepdim=True)
    return -p_same.sum((1, 2)), p * (same_class.to(p.dtype) - p_same)


# --- MLKR ------------------------------------------------------------------------------------------------------------


def mlkr(squared_distances: Tensor, y: Tensor) -> Tensor:
    r"""Metric Learning for Kernel Regression: the squared error of predicting each element from the others.

    .. math:: \sum_i (\hat y_i - y_i)^2, \quad \hat y_i = \sum_{j \ne i} p_{ij} y_j, \quad
        p_{ij} \propto \exp(-d_{ij}^2)

    With several numbers per element, the mean over those that it has; missing ones (NaN) are neither predicted nor
    used. 0, the mean of standardised numbers, is predicted where no other element has the number.

    Parameters
    ----------
    squared_distances : Tensor [B, B]
    y : Tensor [B] or [B, T]
        Numbers, standardised.

    References
    ----------
    K. Q. Weinberger, G. Tesauro, "Metric Learning for Kernel Regression", AISTATS 2007.

    Examples
    --------
    >>> d2 = torch.tensor([[0., 1., 50.], [1., 0., 50.], [50., 50., 0.]])
    >>> round(float(mlkr(d2, torch.tensor([1., 1., 3.]))), 4)  # the first two find each other, the third is off by 2
    4.0
    """
    squared_distances, y = _checked(squared_distances, y)
    y = y.to(squared_distances.dtype).reshape(len(y), -1)
    is_known = y.isfinite()
    numbers = y.masked_fill(~is_known, 0.0)
    others = ~torch.eye(len(y), dtype=torch.bool, device=y.device)
    counts = others if bool(is_known.all()) else others & is_known.T.unsqueeze(1)  # [B, B], or [T, B, B]
    hidden = torch.finfo(squared_distances.dtype).min  # not -inf: a row of nothing else has no NaN in its gradient
    p = (-squared_distances).masked_fill(~counts, hidden).softmax(-1).masked_fill(~counts, 0.0)
    predicted = p @ numbers if p.ndim == 2 else (p @ numbers.T.unsqueeze(2)).squeeze(2).T
    errors = (predicted - numbers).square().masked_fill(~is_known, 0.0)
    return (errors.sum(1) / is_known.sum(1).clamp(min=1)).sum()


# --- names and checks ------------------------------------------------------------------------------------------------

LOSSES["nccml"] = Loss(nccml, NCCML, nccml_batched)
LOSSES["nccml-paper"] = Loss(partial(nccml, form="paper"), NCCML_PAPER, partial(nccml_batched, form="paper"))
LOSSES["nca"] = Loss(nca, NCA, nca_batched)
LOSSES["nca-paper"] = Loss(partial(nca, form="paper"), NCA_PAPER, partial(nca_batched, form="paper"))
LOSSES["mlkr"] = Loss(mlkr, task="numbers")


def _checked(squared_distances: Any, y: Any, form: str = "authors") -> tuple[Tensor, Tensor]:
    squared_distances = torch.as_tensor(squared_distances)
    y = torch.as_tensor(y, device=squared_distances.device)
    one_of("form", form, FORMS)
    if squared_distances.ndim != 2 or squared_distances.shape != (len(y), len(y)):
        raise ValueError(f"squared distances of shape {tuple(squared_distances.shape)} for {len(y)} graphs")
    return squared_distances, y


def _masks(y: Tensor) -> tuple[Tensor, Tensor]:
    """Which elements are not padding [K, B], and which pairs have none [K, B, B]."""
    real = y >= 0
    return real, real.unsqueeze(1) & real.unsqueeze(2)
