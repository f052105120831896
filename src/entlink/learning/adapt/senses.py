"""The senses of words that entities share, learnt from cases and written beside the linker."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from entlink.encoders.identities import AUTO
from entlink.errors import InputError
from entlink.io.progress import Progress
from entlink.learning.own_texts.cases import LINK, PLAIN, SENSE, Case, Parts
from entlink.linking.config import LinkerConfig
from entlink.version import __version__

if TYPE_CHECKING:
    from entlink.interfaces import Vectors
    from entlink.kb.knowledge_base import KnowledgeBase

SENSES = "senses"
MOST_SENSES = 4  # of a word, of which two that can be told apart are kept
MOST_OF_SENSE = 64
_FEWEST_OF_SENSE = 3
_SHARE_OF_SENSE = 0.01  # of all uses that are read, at most: in little time, fewer of each
_FEWEST_WORDS = 5
_SEEN = 30  # characters on each side by which a use is known again
Senses = Mapping[str, Mapping[str, Sequence[Case]]]  # by word and entity


def linked_uses(parts: Parts) -> list[Case]:
    """The links to train on, each once: a use of its name. What a name means most often comes first."""
    uses = {one.document.id: one for one in parts.train if one.kind in (LINK, PLAIN)}
    often = Counter((one.mention.text, one.entity) for one in uses.values())
    return sorted(uses.values(), key=lambda one: -often[one.mention.text, one.entity])


def unmeasured(uses: Sequence[Case], parts: Parts) -> list[Case]:
    """The uses but for those in passages that are measured on."""
    measured: dict[str, list[str]] = defaultdict(list)
    for one in (*parts.tune, *parts.held_back):
        measured[one.source].append(one.document.text)

    def near(one: Case) -> str:
        span = one.mention.span
        return one.document.text[max(0, span.start - _SEEN) : span.end + _SEEN]

    return [one for one in uses if not any(near(one) in text for text in measured.get(one.source, ()))]


def shared_words(uses: Iterable[Case], most: int, seed: int) -> Senses:
    """Words with several meanings, and uses of each, so many at most in all: those of the words used most.

    A word's meanings stand in the order in which they come first among the uses.
    """
    found: dict[str, dict[str, list[Case]]] = defaultdict(lambda: defaultdict(list))
    for one in uses:
        found[one.mention.text][one.entity].append(one)
    random = Random(seed)
    most_of_sense = min(MOST_OF_SENSE, max(_FEWEST_OF_SENSE, round(_SHARE_OF_SENSE * most)))
    words = [word for word, senses in found.items() if sum(map(_is_enough, senses.values())) > 1]
    words.sort(key=lambda word: (-sum(map(len, found[word].values())), word))
    chosen: dict[str, dict[str, list[Case]]] = {}
    for word in words:
        senses = [(entity, each) for entity, each in found[word].items() if _is_enough(each)][:MOST_SENSES]
        taken = {entity: random.sample(each, min(most_of_sense, len(each))) for entity, each in senses}
        most -= sum(map(len, taken.values()))
        if most < 0:
            break
        chosen[word] = taken
    return chosen


def _is_enough(uses: Sequence[Case]) -> bool:
    return len(uses) >= _FEWEST_OF_SENSE


def sense_encoder(config: LinkerConfig) -> str:
    """The encoder that words are read with: that of the linker."""
    encoder = next((one.get("encoder", AUTO) for one in config.retriever if one.get("name") == "dense"), None)
    if encoder in (None, AUTO):
        raise InputError("the linker has no encoder to tell senses by")
    return str(encoder)


def learn_senses(kb: KnowledgeBase, encoder: str, words: Senses, folder: Path, seed: int, progress: Progress) -> str:
    """Learn the senses of the words, write those that can be told apart, and say in a few words what they are."""
    from entlink.encoders.text.word_vectors import WordVectors
    from entlink.evidence.sense_model import SenseCard, sense_model, write_senses
    from entlink.learning.senses.fitting import Uses, fit_senses

    reader = WordVectors(encoder)
    entities = _entity_vectors(kb, encoder, {entity for senses in words.values() for entity in senses})
    words = _with_entities(words, entities)
    _check_enough(len(words), "were found")
    uses = [one for senses in words.values() for each in senses.values() for one in each]

    def told(done: int) -> None:
        progress("reading shared words", done, len(uses))

    read = Uses(
        reader.of([(one.document, one.mention) for one in uses], told),
        [one.mention.text for one in uses],
        [one.entity for one in uses],
        [one.document.id.rpartition(".")[0] if one.kind == SENSE else one.source for one in uses],
        {word: list(senses) for word, senses in words.items()},
        entities,
    )
    progress("learning the senses of words", 0, 0)
    fitted = fit_senses(read, seed)
    _check_enough(len(fitted.senses), "can be told apart")
    card = SenseCard(
        encoder=encoder,
        identity=reader.identity,
        senses=fitted.senses,
        reliability=fitted.reliability,
        examples=len(uses),
        entlink=__version__,
    )
    write_senses(folder, sense_model(card, fitted.mean, fitted.rows))
    return f"{len(fitted.senses):,} words with {len(fitted.rows):,} senses, from {len(uses):,} uses"


def _check_enough(words: int, what: str) -> None:
    if words < _FEWEST_WORDS:
        raise InputError(f"{words} words that entities share {what}, and {_FEWEST_WORDS} are needed")


def _entity_vectors(kb: KnowledgeBase, encoder: str, ids: Iterable[str]) -> dict[str, Vectors]:
    from entlink.encoders.dual import load_dual
    from entlink.kb.indexes.vectors.store import EntityVectors

    keys = {id: key for id in sorted(ids) if (key := kb.key(id)) is not None}
    rows = EntityVectors(kb, load_dual(encoder)).of(list(keys.values()))
    return dict(zip(keys, rows, strict=True))


def _with_entities(words: Senses, entities: Mapping[str, Vectors]) -> Senses:
    """Words that still mean several, if some entities were removed meanwhile."""
    there = {
        word: {entity: uses for entity, uses in senses.items() if entity in entities}
        for word, senses in words.items()
    }
    return {word: senses for word, senses in there.items() if len(senses) > 1}
