"""Mentions that a knowledge base gives of itself: what to calibrate on where nobody has annotated anything.

*Known* mentions are names of its entities in its own descriptions, as they stand there or altered. Some of them are
*taken out*: their entity is kept from the linker. *Never seen* are names in the descriptions that no entity has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from random import Random
from typing import NamedTuple

from entlink.documents import Document, Entity, Mention, Span
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.own_texts.alterations import altered
from entlink.learning.own_texts.names import own_names, recombined
from entlink.learning.own_texts.passages import Found, found_in, passages

ALTERED = 0.4  # of known mentions: about as many links of Wikipedia are not written as the title is
TAKEN_OUT = 1 / 3  # of known mentions: more, and those around them would no longer be told by their neighbours
_LISTED = 200_000  # entities: of more, some are drawn by number and the others never read
_PASSAGES = 2  # an entity
_ENTITIES_A_MENTION = 4  # how many entities are read for each mention wanted, at most
_NEVER_SEEN_A_PASSAGE = 1
_ENOUGH = 300  # mentions in descriptions that do, even if more are wanted


class Kind(StrEnum):
    """Where a mention comes from."""

    KNOWN = "known"
    TAKEN_OUT = "taken out"
    NEVER_SEEN = "never seen"


class SelfMention(NamedTuple):
    """A mention of the knowledge base itself; `entity` is what it means, or would mean if it were not taken out.

    `source` is the entity in whose description it stands.
    """

    document: Document
    mention: Mention
    entity: str | None
    kind: Kind
    source: str | None = None

    @property
    def gone(self) -> set[str]:
        """What the linker must not find: an entity taken out, and the text itself, which no text to come will be."""
        taken = self.entity if self.kind is Kind.TAKEN_OUT else None
        source = self.source if self.source != self.entity else None
        return {one for one in (taken, source) if one is not None}

    @property
    def right(self) -> str | None:
        """What the linker should find; None is NIL."""
        return self.entity if self.kind is Kind.KNOWN else None


class Gathered(NamedTuple):
    """Mentions to calibrate on; `from_names`: some or all are names without a text around them."""

    mentions: list[SelfMention]
    from_names: bool


def gathered(kb: KnowledgeBase, wanted: int, seed: int, progress: Progress) -> Gathered:
    """Mentions in descriptions; where those do not give enough, names alone make up for it, with a warning."""
    mentions = self_mentions(kb, wanted, seed, progress)
    kinds = {one.kind for one in mentions}
    if len(mentions) >= min(wanted, _ENOUGH) and len(kinds) == len(Kind):
        return Gathered(mentions, False)
    import logging

    logging.getLogger(__name__).warning(
        "%s: its descriptions give %d mentions only, or none of a kind; names without a text around them make up "
        "for the rest, and new names are put together from their parts. How sure a linker is in texts may differ",
        kb.folder,
        len(mentions),
    )
    # There may be enough of them, and none that is never seen.
    from_names = max(wanted - len(mentions), wanted // 3)
    return Gathered([*mentions, *name_mentions(kb, from_names, seed, progress)], True)


def self_mentions(kb: KnowledgeBase, wanted: int, seed: int, progress: Progress) -> list[SelfMention]:
    """At least `wanted` mentions from as many entities as that takes, fewer where the knowledge base has no more.

    They come by document; a part of a document's known mentions is taken out. The same seed gives the same ones.
    """
    random = Random(seed)
    mentions: list[SelfMention] = []
    for entity in sampled(kb, wanted * _ENTITIES_A_MENTION, random):
        mentions += _of_entity(kb, entity, random)
        progress("reading descriptions", min(len(mentions), wanted), wanted)
        if len(mentions) >= wanted:
            break
    return mentions


def name_mentions(kb: KnowledgeBase, wanted: int, seed: int, progress: Progress) -> list[SelfMention]:
    """The same from names alone, each a document of its own; those never seen are put together from parts."""
    random = Random(seed)
    entities = list(islice(sampled(kb, wanted, random), wanted))
    names = [(name, entity) for entity in entities for name in own_names(entity)]
    random.shuffle(names)
    mentions: list[SelfMention] = []
    for number, (name, entity) in enumerate(names[: (2 * wanted) // 3]):
        form = _form(kb, name, entity.id, random)
        mentions.append(_alone(f"name:{number}", form, entity.id, _drawn_kind(random)))
        progress("reading names", number, wanted)
    made = recombined(kb, [name for name, _ in names], random)
    for number, name in enumerate(islice(made, len(mentions) // 2)):
        mentions.append(_alone(f"made:{number}", name, None, Kind.NEVER_SEEN))
    return mentions


def _alone(id: str, name: str, entity: str | None, kind: Kind) -> SelfMention:
    return SelfMention(Document(id, name), Mention(Span(0, len(name)), name), entity, kind)


def sampled(kb: KnowledgeBase, most: int, random: Random) -> Iterator[Entity]:
    """Entities in a random order, each read when it is asked for; of a large knowledge base, `most` of them."""
    count = len(kb)
    if count <= _LISTED:
        keys = list(kb.all_keys()) if count <= most else _reservoir(kb.all_keys(), most, random)
        random.shuffle(keys)
    else:
        keys = random.sample(range(1, kb.last_key + 1), min(most, kb.last_key))
    for key in keys:
        entity = kb.entity(key)  # numbers of removed entities are drawn in vain
        if entity is not None:
            yield entity


def _reservoir(keys: Iterable[int], most: int, random: Random) -> list[int]:
    kept: list[int] = []
    for number, key in enumerate(keys):
        if number < most:
            kept.append(key)
        elif (place := random.randrange(number + 1)) < most:
            kept[place] = key
    return kept


def _of_entity(kb: KnowledgeBase, entity: Entity, random: Random) -> Iterator[SelfMention]:
    for number, passage in enumerate(passages(entity, _PASSAGES, random)):
        known, unseen = found_in(kb, entity, passage)
        if len(unseen) > _NEVER_SEEN_A_PASSAGE:
            unseen = random.sample(unseen, _NEVER_SEEN_A_PASSAGE)
        yield from _rewritten(kb, entity.id, number, passage.text, [*known, *unseen], random)


def _rewritten(
    kb: KnowledgeBase, source: str, number: int, text: str, found: Sequence[Found], random: Random
) -> Iterator[SelfMention]:
    """The mentions of a passage in the text that comes of altering some of them."""
    pieces: list[str] = []
    placed: list[tuple[Mention, str | None, Kind]] = []
    end = length = 0
    for start, stop, entity, may_alter in sorted(found):
        surface = text[start:stop]
        kind = Kind.NEVER_SEEN if entity is None else _drawn_kind(random)
        if entity is not None and may_alter:
            surface = _form(kb, surface, entity, random)
        pieces += (text[end:start], surface)
        at = length + start - end
        placed.append((Mention(Span(at, at + len(surface)), surface), entity, kind))
        length, end = at + len(surface), stop
    document = Document(f"{source}#{number}", "".join([*pieces, text[end:]]))
    return (SelfMention(document, *one, source) for one in placed)


def _drawn_kind(random: Random) -> Kind:
    return Kind.TAKEN_OUT if random.random() < TAKEN_OUT else Kind.KNOWN


def _form(kb: KnowledgeBase, name: str, entity: str, random: Random) -> str:
    """The name, or, for a part of the mentions, another form of it that is no name of another entity."""
    if random.random() >= ALTERED:
        return name
    form = altered(name, random)
    if form is None or _is_of_another(kb, form, entity):
        return name
    return form


def _is_of_another(kb: KnowledgeBase, form: str, entity: str) -> bool:
    meaning = kb.meaning(form)
    return bool(meaning.blocked or meaning.entries) and entity not in {id for _, id, _ in kb.entities_named(meaning)}
