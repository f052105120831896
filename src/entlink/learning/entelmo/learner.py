"""EntELMo's losses on a batch of contexts with their descriptions, and its perplexity on what is held out."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy
import torch
from torch import Tensor

from entlink.learning.entelmo.batches import Batch, make_batch
from entlink.learning.entelmo.losses import Sample, at_most, log_uniform_sample, negative_logs
from entlink.learning.entelmo.material import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.io.progress import Progress
    from entlink.learning.entelmo.config import EntElmoModel
    from entlink.learning.entelmo.material import EntElmoMaterial, Lesson
    from entlink.learning.entelmo.network import EntElmo, Layers, SampledLayer
    from entlink.learning.pairs.batches import Chosen

_LOOKED_AT_ONCE = 8  # lessons


class Parts(NamedTuple):
    """The losses of a batch, each a value a token that was predicted or reconstructed; empty where it is not used."""

    contexts: Tensor
    descriptions: Tensor
    from_mention: Tensor  # l_desc
    from_description: Tensor  # l_ctx or l_etn


class Measures(msgspec.Struct, frozen=True):
    """How a model does on held-out contexts and on their descriptions, by a softmax over the whole vocabulary.

    Perplexities are of words in both directions, the unknown one counted as one word. A loss of reconstruction is
    the mean of -log q of a word; None where the model has no decoder for it.
    """

    contexts: float
    descriptions: float
    l_desc: float | None
    l_ctx: float | None


class EntElmoLearner:
    """What the loop trains: a step is a batch of contexts, each with the description of its entity."""

    def __init__(self, network: EntElmo, model: EntElmoModel) -> None:
        self.network, self._model = network, model

    def prepare(self, material: EntElmoMaterial, progress: Progress) -> None:
        """Nothing: every batch is made as it comes."""

    def weigh(self, material: EntElmoMaterial, chosen: Sequence[Chosen]) -> float:
        """The words of the batch: the loss is that of a word, both directions and reconstructions added."""
        return float(sum(material.tokens(one.example) for one in chosen))

    def loss(self, material: EntElmoMaterial, chosen: Sequence[Chosen]) -> Tensor:
        sample = log_uniform_sample(len(material.vocabulary), self._model.samples)
        parts = self.parts(material, [one.example for one in chosen], sample)
        return torch.stack([part.sum() for part in parts]).sum()

    def figure(self, material: EntElmoMaterial, progress: Progress, stage: str) -> float:
        """The mean probability of a word of the held-out contexts: one divided by the perplexity."""
        size, found = len(material.vocabulary), []
        everything = log_uniform_sample(size, size)
        for start in range(0, len(material), _LOOKED_AT_ONCE):
            progress(stage, start, len(material))
            rows = range(start, min(start + _LOOKED_AT_ONCE, len(material)))
            batch, words = _read(material, [material.lessons[at].words for at in rows])
            found.append(self._language(self.network.lm(batch), batch, words, everything)[0].double())
        return exp(-float(torch.cat(found).mean()))

    def measure(self, material: EntElmoMaterial, progress: Progress, stage: str) -> Measures:
        """All losses over lessons, with the whole vocabulary."""
        size = len(material.vocabulary)
        everything = log_uniform_sample(size, size)
        found: list[list[Tensor]] = [[] for _ in Parts._fields]
        for start in range(0, len(material), _LOOKED_AT_ONCE):
            progress(stage, start, len(material))
            rows = range(start, min(start + _LOOKED_AT_ONCE, len(material)))
            for own, part in zip(found, self.parts(material, rows, everything), strict=True):
                own.append(part.double())
        means = [float(torch.cat(own).mean()) if sum(map(len, own)) else None for own in found]
        contexts, descriptions, l_desc, l_ctx = means
        return Measures(exp(contexts or 0.0), exp(descriptions or 0.0), l_desc, l_ctx)

    def parts(self, material: EntElmoMaterial, examples: Sequence[int], sample: Sample) -> Parts:
        """The losses of these lessons."""
        lessons = [material.lessons[at] for at in examples]
        texts = [one.words for one in lessons] + [material.descriptions[one.description] for one in lessons]
        batch, words = _read(material, texts)
        layers = self.network.lm(batch)
        of_words, places = self._language(layers, batch, words, sample)
        is_context = batch.rows < len(lessons)
        contexts, descriptions = of_words[is_context[places]], of_words[~is_context[places]]
        from_mention = from_description = contexts.new_zeros(0)
        inner, mentions = _without_signs(batch), _mentions(lessons, len(words))
        described, rows = inner & ~is_context, batch.rows % len(lessons)  # a context and its description are one row
        if self.network.description is not None:
            seen = _means(layers.top(), rows, mentions, len(lessons))
            from_mention = self._bag(self.network.description, seen, rows, described, words, sample)
        if self.network.context is not None:
            seen = _means(layers.top(), rows, described, len(lessons))
            wanted = mentions if self._model.variant == "etn" else inner & is_context
            from_description = self._bag(self.network.context, seen, rows, wanted, words, sample)
        return Parts(contexts, descriptions, from_mention, from_description)

    def _language(self, layers: Layers, batch: Batch, words: Tensor, sample: Sample) -> tuple[Tensor, Tensor]:
        """-log p of each word by both directions, and the places of the tokens that these are of."""
        network, here = self.network, batch.next_ones
        states = torch.cat([layers.forward[-1].index_select(0, here), layers.backward[-1].index_select(0, here + 1)])
        targets = torch.cat([words[here + 1], words[here]])
        rows = torch.arange(len(targets))
        found = negative_logs(network.softmax, network.dropout(states), rows, targets, sample, bf16=network.bf16)
        return found, torch.cat([here, here])

    def _bag(
        self, layer: SampledLayer, seen: Tensor, rows: Tensor, wanted: Tensor, words: Tensor, sample: Sample
    ) -> Tensor:
        """-log q of words of each row, given what was seen of its other side; unknown words are not asked for."""
        places = (wanted & (words != UNKNOWN)).nonzero()[:, 0]
        places = places[at_most(rows[places], self._model.bag_words)]
        states = self.network.dropout(seen)
        return negative_logs(layer, states, rows[places], words[places], sample, bf16=self.network.bf16)


def _read(material: EntElmoMaterial, texts: Sequence[NDArray[numpy.int32]]) -> tuple[Batch, Tensor]:
    """Texts as a batch, and what each of their words is in the vocabulary."""
    return make_batch(texts, material.table), torch.from_numpy(material.known[numpy.concatenate(texts)])


def _without_signs(batch: Batch) -> Tensor:
    """Of each token whether it is a word, neither the first nor the last of its row."""
    found = torch.zeros(len(batch.rows), dtype=torch.bool)
    found[batch.next_ones] = True
    first = torch.ones_like(found)
    first[1:] = batch.rows[1:] != batch.rows[:-1]
    return found & ~first


def _mentions(lessons: Sequence[Lesson], size: int) -> Tensor:
    """Of each token of a batch, whose first rows are the contexts of these lessons, whether it is of the mention."""
    found = torch.zeros(size, dtype=torch.bool)
    start = 0
    for one in lessons:
        found[start + one.first : start + one.last] = True
        start += len(one.words)
    return found


def _means(states: Tensor, rows: Tensor, wanted: Tensor, count: int) -> Tensor:
    """The mean of the wanted tokens of each of so many rows."""
    places = wanted.nonzero()[:, 0]
    own = rows[places]
    summed = states.new_zeros(count, states.shape[1]).index_add(0, own, states.index_select(0, places))
    return summed / torch.bincount(own, minlength=count).clamp(min=1)[:, None]
