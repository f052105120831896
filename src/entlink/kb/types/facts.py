"""Types and claims of entities, read without the rest of their records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from entlink.documents import Entity

if TYPE_CHECKING:
    from entlink.kb.store.store import Store


class Facts(msgspec.Struct, frozen=True):
    """What is known of an entity beside its texts."""

    types: tuple[str, ...] = ()
    claims: Mapping[str, tuple[str, ...]] = {}


_DATE = re.compile(r"[+-]?[0-9]{3}[0-9X](-[0-9]{2}(-[0-9]{2}.*)?)?")
_decoder = msgspec.json.Decoder(Facts)


def all_facts(store: Store) -> Iterator[Facts]:
    """The facts of every entity, in the order they came in."""
    for (record,) in store.connection.execute("SELECT record FROM entities ORDER BY key"):
        yield _decoder.decode(record)


Known = Facts | Entity


def pairs_of(facts: Known) -> Iterator[tuple[str, str]]:
    """Each property with each of its values; of an entity without claims, its types as values of `type`.

    Dates are left out: they are no kind of thing.
    """
    if not facts.claims:
        yield from (("type", type) for type in dict.fromkeys(facts.types))
        return
    for property, values in facts.claims.items():
        yield from ((property, value) for value in dict.fromkeys(values) if not is_date(value))


def is_date(value: str) -> bool:
    """Whether a value is a date as ISO 8601 writes it, such as 1952, 195X or +1952-03-11T00:00:00Z."""
    return _DATE.fullmatch(value) is not None
