"""Descriptions as words, with a token for each entity that a link leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from entlink.encoders.static.encoder import bigram_units
from entlink.kb.names.alias_index import AliasIndex
from entlink.kb.store.hyperlinks import Hyperlink, has_hyperlinks, hyperlinks_of
from entlink.kb.store.store import Store

ENTITY, OWNER = "\x01", "\x02"  # what tokens of entities begin with: linked ones, and the one that is described
DESCRIBED = 300  # words of a description that count as contexts of its entity

Links = Callable[[int, str], Sequence[Hyperlink]]


def links_of(store: Store, names: AliasIndex) -> Links:
    """The links of a description: those that the store keeps, or else the titles that are named in it."""
    if has_hyperlinks(store):
        return lambda key, description: hyperlinks_of(store, key, description)
    from entlink.kb.indexes.cooccurrence.paragraphs import ParagraphReader

    reader = ParagraphReader(names)
    return lambda key, description: [link for link in reader.names_in(description) if link[2] != key]


def tokens_of(description: str, links: Sequence[Hyperlink]) -> Iterator[str]:
    """The words of a text; after those of each link, a token for its entity."""
    done = 0
    for start, end, target in links:
        if start < done:
            continue  # it overlaps the one before
        yield from bigram_units(description[done:start])
        yield from bigram_units(description[start:end])
        yield f"{ENTITY}{target}"
        done = end
    yield from bigram_units(description[done:])


def described(title: str, description: str, links: Sequence[Hyperlink] = ()) -> list[str]:
    """The title and the first words of a description: what is near an entity, whatever links lead to it."""
    return [*bigram_units(title), *islice(tokens_of(description, links), DESCRIBED)]
