"""The losses, each a sum over mentions: who calls divides by what the whole step weighs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def group_softmax(scores: Tensor, sizes: Tensor, weights: Tensor) -> Tensor:
    """How unlikely the first of each group is among its group, by the softmax.

    `scores` [pairs] has the groups one after the other; `sizes` [groups], `weights` [groups].
    """
    width = int(sizes.max())
    inside = torch.arange(width, device=scores.device) < sizes[:, None]  # [groups, width]
    table = scores.new_full(inside.shape, float("-inf")).masked_scatter(inside, scores)
    return (-functional.log_softmax(table, dim=1)[:, 0] * weights).sum()


def group_binary(scores: Tensor, sizes: Tensor, weights: Tensor) -> Tensor:
    """How unlikely it is that the first of each group is right and the others are wrong, each pair by itself."""
    starts = sizes.cumsum(0) - sizes
    target = torch.zeros_like(scores)
    target[starts] = 1.0
    each = functional.binary_cross_entropy_with_logits(scores, target, reduction="none")
    return (each * weights.repeat_interleave(sizes)).sum()


def batch_softmax(scores: Tensor, target: Tensor, allowed: Tensor, weights: Tensor) -> Tensor:
    """How unlikely the entity of each mention is among those of the batch that may be compared with it.

    `scores` and `allowed` [mentions, entities], `target` and `weights` [mentions]; its own entity is always allowed.
    """
    table = scores.masked_fill(~allowed, float("-inf"))
    return (functional.cross_entropy(table, target, reduction="none") * weights).sum()
