"""The losses of `losses` for many batches at once, with their derivatives in the squared distances."""

from __future__ import annotations

import torch
from torch import Tensor


def loss_and_slopes(squared: Tensor, y: Tensor, classes: int, loss: str) -> tuple[Tensor, Tensor]:
    """Losses [K] of K batches and their slopes [K, B, B].

    Parameters
    ----------
    squared : Tensor [K, B, B]
        Squared distances within each batch.
    y : Tensor [K, B]
        Classes, 0 … classes - 1; -1 where a batch has fewer than B elements.
    classes : int
    loss : {"nccml", "nccml-paper", "nca", "nca-paper"}
    """
    real = y >= 0
    both = real.unsqueeze(1) & real.unsqueeze(2)
    if loss.startswith("nccml"):
        return _nccml(squared, y.clamp(min=0), real, both, classes, mean=loss == "nccml")
    return _nca(squared, y, both, by_row=loss == "nca")


def _nccml(squared: Tensor, y: Tensor, real: Tensor, both: Tensor, classes: int, mean: bool) -> tuple[Tensor, Tensor]:
    members = (y.unsqueeze(2) == torch.arange(classes, device=y.device)) & real.unsqueeze(2)
    members = members.to(squared.dtype)  # [K, B, classes]
    count = members.sum(1, keepdim=True)
    factor = 0.5 / count.clamp(min=1) if mean else torch.ones_like(count)  # [K, 1, classes]
    scores = torch.matmul(squared.masked_fill(~both, 0.0), members) * factor
    shares = (-scores).masked_fill(count == 0, -torch.inf).log_softmax(2)
    own = torch.gather(shares, 2, y.unsqueeze(2)).squeeze(2)
    losses = -own.masked_fill(~real, 0.0).sum(1)
    each = (members - shares.exp()) * factor  # slope of row i in the distances to any element of class e
    slopes = torch.gather(each, 2, y.unsqueeze(1).expand_as(squared))
    return losses, slopes.masked_fill(~both, 0.0)


def _nca(squared: Tensor, y: Tensor, both: Tensor, by_row: bool) -> tuple[Tensor, Tensor]:
    others = both & ~torch.eye(y.shape[1], dtype=torch.bool, device=y.device)
    logits = (-squared).masked_fill(~others, -torch.inf)
    shares = logits.softmax(2) if by_row else logits.flatten(1).softmax(1).view_as(logits)
    shares = shares.masked_fill(~others, 0.0)  # also where nothing but -inf was there
    same = (y.unsqueeze(1) == y.unsqueeze(2)) & others
    found = (shares * same).sum(2, keepdim=True)
    found = found if by_row else found.sum(1, keepdim=True)
    return -found.sum((1, 2)), shares * (same.to(shares.dtype) - found)
