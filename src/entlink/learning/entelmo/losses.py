"""A softmax over a sample of the vocabulary, for language models and for bags of words."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from entlink.learning.entelmo.network import SampledLayer


class Sample(NamedTuple):
    """Words drawn as negatives, each once; `correction` is the logarithm of how often a word was to be expected."""

    words: Tensor  # [n]
    is_drawn: Tensor  # [vocabulary]
    correction: Tensor  # [vocabulary]


def log_uniform_sample(vocabulary: int, size: int) -> Sample:
    """Draw until `size` different words are there; word k has the probability log((k + 2) / (k + 1)) / log(V + 1).

    Words are numbered from the most frequent on, so that this is about how frequent they are. A sample as large as
    the vocabulary is all of it, without a correction: the softmax is exact then.
    """
    if size >= vocabulary:
        return Sample(torch.arange(vocabulary), torch.ones(vocabulary, dtype=torch.bool), torch.zeros(vocabulary))
    is_drawn = torch.zeros(vocabulary, dtype=torch.bool)
    tries, count = 0, 0
    while count < size:
        drawn = (torch.exp(torch.rand(2 * size) * log(vocabulary + 1)).long() - 1).clamp_(0, vocabulary - 1)
        fresh = _first_times(drawn, is_drawn, size - count)
        tries += int(fresh[-1]) + 1 if len(fresh) == size - count else len(drawn)
        is_drawn[drawn[fresh]] = True
        count += len(fresh)
    places = torch.arange(vocabulary, dtype=torch.float64)
    chance = torch.log((places + 2) / (places + 1)) / log(vocabulary + 1)
    expected = -torch.expm1(tries * torch.log1p(-chance))  # the chance to be among so many draws
    return Sample(is_drawn.nonzero()[:, 0], is_drawn, torch.log(expected).float())


def _first_times(drawn: Tensor, known: Tensor, most: int) -> Tensor:
    """The places of the first draws of words that are not known yet, in order, at most so many."""
    order = torch.arange(len(drawn))
    first = torch.full((len(known),), len(drawn)).scatter_reduce_(0, drawn, order, "amin")
    return order[(first[drawn] == order) & ~known[drawn]][:most]


def log_normalisers(layer: SampledLayer, states: Tensor, sample: Sample, *, bf16: bool = False) -> Tensor:
    """Of each state the logarithm of the sum over the sampled words, corrected for how they were drawn."""
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        scores = functional.linear(states, functional.embedding(sample.words, layer.weight))
    shift = layer.bias[sample.words] - sample.correction[sample.words]
    return torch.logsumexp(scores.float() + shift, dim=1)


def negative_logs(
    layer: SampledLayer, states: Tensor, rows: Tensor, targets: Tensor, sample: Sample, *, bf16: bool = False
) -> Tensor:
    """-log q(target | state) for each target; `rows` are the states that the targets are of.

    A target is always among the words compared. If it is sampled as well, it counts once.
    """
    sums = log_normalisers(layer, states, sample, bf16=bf16)[rows]
    weights = functional.embedding(targets, layer.weight)
    own = (states.index_select(0, rows) * weights).sum(dim=1) + layer.bias[targets] - sample.correction[targets]
    return torch.where(sample.is_drawn[targets], sums, torch.logaddexp(sums, own)) - own


def at_most(rows: Tensor, most: int) -> Tensor:
    """The places of at most so many items of each row, by chance; `rows` are the rows that items are of, sorted."""
    order = torch.argsort(rows.double() + torch.rand(len(rows), dtype=torch.float64))  # by chance within each row
    counts = torch.bincount(rows)
    starts = counts.cumsum(0) - counts
    rank = torch.arange(len(rows)) - starts[rows]  # rows[order] is rows again
    return order[rank < most].sort().values
