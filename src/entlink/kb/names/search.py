"""Finding entities by what people type: an identifier, a name, its beginning, or something spelt like it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from entlink.errors import InputError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.neighbours import near_keys
from entlink.text.folding import key_of

Match = Literal["identifier", "name", "beginning", "spelling"]
_KEYS_LOOKED_AT = 2_000


class Found(NamedTuple):
    """An entity found, by which of its names and how; `support` is the count behind that name."""

    entity: str
    title: str
    name: str
    match: Match
    support: int
    types: tuple[str, ...]


def search(kb: KnowledgeBase, text: str, limit: int = 20, *, types: Sequence[str] = ()) -> list[Found]:
    """Entities with this identifier or name, then those with a name that begins so, then near by spelling.

    Each entity comes once, at its best match; within a kind of match, by support. Of names with a common
    beginning the first two thousand of the index are looked at.
    """
    key = key_of(text)
    if not key:
        raise InputError("there is nothing to search for: the text is empty")
    wanted = kb.types.kinds_of(types)
    found: dict[str, Found] = {}
    for stage in (_identified, _named, _beginning, _near):
        matches = sorted(stage(kb, text, key), key=lambda one: (-one.support, len(one.name), one.entity))
        for one in matches:
            if len(found) >= limit:
                return list(found.values())
            if one.entity not in found and (not wanted or wanted.intersection(one.types)):
                found[one.entity] = one
    return list(found.values())


def _identified(kb: KnowledgeBase, text: str, key: str) -> Iterator[Found]:
    entity = kb.resolve(text)
    # A title resolves too, but is a name among others and takes its place by support.
    if entity is not None and key_of(entity.title) != key:
        yield Found(entity.id, entity.title, text, "identifier", 0, entity.types)


def _named(kb: KnowledgeBase, text: str, key: str) -> Iterator[Found]:
    return _entities_named(kb, [key], "name")


def _beginning(kb: KnowledgeBase, text: str, key: str) -> Iterator[Found]:
    fresh = (other for other in kb.fresh_keys() if other.startswith(key))
    return _entities_named(kb, islice(_chained(fresh, kb.alias_index.keys(key)), _KEYS_LOOKED_AT), "beginning")


def _near(kb: KnowledgeBase, text: str, key: str) -> Iterator[Found]:
    return _entities_named(kb, (other for other, _ in near_keys(kb, key)), "spelling")


def _chained(*streams: Iterable[str]) -> Iterator[str]:
    for stream in streams:
        yield from stream


def _entities_named(kb: KnowledgeBase, keys: Iterable[str], match: Match) -> Iterator[Found]:
    """The entities that have names with these keys, with a form of the name that is theirs."""
    for key in keys:
        forms = kb.names.group(key)
        for entry, id, title in kb.entities_named(kb.meaning_of_key(key)):
            own = next((form.text for form in forms if entry.entity in form.postings[::3]), title)
            yield Found(id, title, own, match, entry.support, kb.types(id))
