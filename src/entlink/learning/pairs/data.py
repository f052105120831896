"""From documents with gold to what a training takes: examples with negatives, and some held out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy

from entlink.errors import ConfigError
from entlink.io.progress import Progress, ignore_progress
from entlink.learning.joint.texts import TaughtText, taught_texts, with_negatives_of
from entlink.learning.multimodal.examples import PicturedExample, pictured
from entlink.learning.pairs.examples import Example, gold_examples
from entlink.learning.pairs.mining import Retrieve, name_negatives, nearest_negatives, retrieved_negatives

if TYPE_CHECKING:
    from entlink.documents import Document
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.train_config import TrainConfig

_HELD_OUT_SHARE = 0.05
_One = TypeVar("_One", Example, TaughtText)


class Prepared(NamedTuple):
    """What `train` takes: mentions, for a multimodal model with candidates; for a joint model, texts."""

    examples: list[Example] | list[TaughtText] | list[PicturedExample]
    held_out: list[Example] | list[TaughtText] | list[PicturedExample]


def prepare(
    config: TrainConfig,
    kb: KnowledgeBase,
    documents: Iterable[Document],
    dev: Iterable[Document] | None = None,
    *,
    retrieve: Retrieve | None = None,
    progress: Progress = ignore_progress,
) -> Prepared:
    """Examples of the documents, and held-out ones of `dev`; without `dev`, a twentieth of the documents is held out.

    `retrieve` finds the candidates of a linker, where negatives are mined with one.
    """
    training = config.training
    if config.model.kind == "joint":
        return _texts(config, kb, documents, dev, retrieve=retrieve, progress=progress)
    examples = list(gold_examples(kb, documents))
    if dev is None:
        examples, held_out = split(examples, training.held_out, training.seed)
    else:
        held_out = drawn(list(gold_examples(kb, dev)), training.held_out, training.seed)
    both = mine(config, kb, [*examples, *held_out], retrieve=retrieve, progress=progress)
    if config.model.kind == "multimodal":
        seen = pictured(kb, both)
        return Prepared(seen[: len(examples)], seen[len(examples) :])
    return Prepared(both[: len(examples)], both[len(examples) :])


def _texts(
    config: TrainConfig,
    kb: KnowledgeBase,
    documents: Iterable[Document],
    dev: Iterable[Document] | None,
    *,
    retrieve: Retrieve | None,
    progress: Progress,
) -> Prepared:
    training = config.training
    texts = list(taught_texts(kb, documents, training.speakers))
    if dev is None:
        texts, held_out = split(texts, training.held_out, training.seed)
    else:
        held_out = drawn(list(taught_texts(kb, dev, training.speakers)), training.held_out, training.seed)

    def mined(examples: Sequence[Example]) -> list[Example]:
        return mine(config, kb, examples, retrieve=retrieve, progress=progress)

    both = with_negatives_of([*texts, *held_out], mined)
    return Prepared(both[: len(texts)], both[len(texts) :])


def mine(
    config: TrainConfig,
    kb: KnowledgeBase,
    examples: Sequence[Example],
    *,
    retrieve: Retrieve | None = None,
    progress: Progress = ignore_progress,
) -> list[Example]:
    """Examples with the negatives that the configuration asks for."""
    count, way = config.training.negatives, config.training.mine
    if not count or not examples:
        return list(examples)
    if way == "names":
        return name_negatives(kb, examples, count, progress)
    if way == "vectors":
        from entlink.encoders.dual import load_dual

        return nearest_negatives(kb, load_dual(config.model.base), examples, count, progress)
    if retrieve is None:
        raise ConfigError('training.mine = "linker" needs a linker to mine with. Give one, or set it to "names"')
    return retrieved_negatives(retrieve, examples, count, progress)


def split(examples: Sequence[_One], most: int, seed: int) -> tuple[list[_One], list[_One]]:
    """The examples without, and those of, a twentieth of the documents: no document is in both."""
    documents = list(dict.fromkeys(one.document.id for one in examples))
    count = min(round(len(documents) * _HELD_OUT_SHARE), len(documents) - 1)
    chosen = numpy.random.default_rng([seed, 2]).permutation(len(documents))[: max(count, 0)]
    aside = {documents[row] for row in chosen.tolist()}
    kept = [one for one in examples if one.document.id not in aside]
    return kept, drawn([one for one in examples if one.document.id in aside], most, seed)


def drawn(examples: Sequence[_One], most: int, seed: int) -> list[_One]:
    """At most so many of the examples, in their order."""
    if len(examples) <= most:
        return list(examples)
    rows = numpy.random.default_rng([seed, 1]).choice(len(examples), most, replace=False)
    return [examples[row] for row in sorted(rows.tolist())]
