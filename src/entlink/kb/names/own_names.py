"""The names an entity gives itself, and where each comes from."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntFlag
from typing import TYPE_CHECKING

from entlink.text.folding import unaccented
from entlink.text.short_forms import short_spaceless
from entlink.text.titles import tidy, without_parenthesis

if TYPE_CHECKING:
    from entlink.documents import Entity

LONGEST_NAME = 10_000  # characters; what is longer is a text that stands in the wrong field


class NameSource(IntFlag):
    """Where a (surface, entity) pair was seen; several may hold."""

    TITLE = 1
    STRIPPED = 2  # less than is written: without a closing parenthesis, accents, or in 南京市 the kind of place
    ALIAS = 4
    ANCHOR = 8
    OPENING = 16  # given by the first sentence of the entity's description
    PAST = 64  # named so by another dated version of the entity, not by the current one

    def words(self) -> list[str]:
        return [str(source.name).lower() for source in NameSource if source in self]


def given_names(entity: Entity) -> Iterator[tuple[str, NameSource]]:
    """The entity's title, the title cut short, and its aliases, as far as they are of a name's length."""
    return (named for named in _given(entity) if 0 < len(named[0]) <= LONGEST_NAME)


def _given(entity: Entity) -> Iterator[tuple[str, NameSource]]:
    """Names with accents without them, too, as people type them."""
    for name, source in _as_written(entity):
        yield name, source
        plain = unaccented(name)
        if plain != name:
            yield plain, NameSource.STRIPPED


def _as_written(entity: Entity) -> Iterator[tuple[str, NameSource]]:
    title = tidy(entity.title)
    yield title, NameSource.TITLE
    stripped = without_parenthesis(title)
    if stripped:
        yield stripped, NameSource.STRIPPED
    for short in short_spaceless(stripped or title):
        yield short, NameSource.STRIPPED
    for alias in entity.aliases:
        yield tidy(alias), NameSource.ALIAS
