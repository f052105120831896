"""The network of a joint model: one BERT, three scores for each of its tokens, and a vector for each span.

In the shapes n is rows (texts), t tokens of the longest of them, h the width of the BERT, d the width of a vector,
and s spans.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from entlink.learning.pairs.networks import Rows, Tower

_SELDOM = -2.0  # of each score at first: hardly any span is a mention


class SpanRows(NamedTuple):
    """Spans of the texts of a block: the row of each, its first token, and the one after its last."""

    row: Tensor  # [s]
    first: Tensor  # [s]
    last: Tensor  # [s]


class JointNetwork(nn.Module):
    """Scores of spans as mentions, and their vectors, from one encoding."""

    def __init__(self, tower: Tower, width: int, dimension: int, *, cosine: bool) -> None:
        super().__init__()
        self.tower, self.dimension = tower, dimension
        self.edges = nn.Linear(width, 3)  # begins, ends, is inside
        self.entity = nn.Linear(width, dimension)
        self._cosine = cosine
        nn.init.zeros_(self.edges.weight)
        nn.init.constant_(self.edges.bias[:2], _SELDOM)
        nn.init.zeros_(self.edges.bias[2:])
        nn.init.zeros_(self.entity.bias)
        if width == dimension:  # at first, as the BERT gives them: those of a model of sentences mean something
            nn.init.eye_(self.entity.weight)

    def forward(self, rows: Rows) -> Tensor:
        """The hidden states."""
        return self.tower.hidden(rows)  # [n, t, h]

    def scores(self, hidden: Tensor, spans: SpanRows) -> Tensor:
        """The score of each span as a mention: it begins, it ends, and every token of it is inside."""
        told = self.edges(hidden)  # [n, t, 3]
        inside = nn.functional.pad(told[..., 2].cumsum(1), (1, 0))  # [n, t + 1]
        row, first, last = spans
        found: Tensor = told[row, first, 0] + told[row, last - 1, 1] + inside[row, last] - inside[row, first]
        return found  # [s]

    def vectors(self, hidden: Tensor, spans: SpanRows) -> Tensor:
        """The vector of each span: the mean of its tokens, in the space of the entities."""
        row, first, last = spans
        place = torch.arange(hidden.shape[1], device=hidden.device)  # [t]
        taken = ((place >= first[:, None]) & (place < last[:, None])).float()  # [s, t]
        means = torch.einsum("st,sth->sh", taken / taken.sum(1, keepdim=True), hidden[row])
        vectors: Tensor = self.entity(means)  # [s, d]
        return nn.functional.normalize(vectors, dim=1) if self._cosine else vectors
