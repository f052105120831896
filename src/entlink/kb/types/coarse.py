"""Coarse types: a few names, each for a type and all its kinds, so that every entity with a type has one of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

OTHER = "OTHER"  # of entities that have types, and none that is named
COARSE_AT = "coarse_types"  # in `meta`: a user's own, as JSON
TIMES_SET = "types_set"  # in `meta`: how often types were set
DEFAULT_FILE = Path(__file__).with_name("coarse.tsv")


class CoarseType(NamedTuple):
    """A coarse name, and a type whose kinds it is for; several types may share a name."""

    name: str
    type: str


@cache
def default_coarse_types() -> tuple[CoarseType, ...]:
    """The five of Wikidata, less OTHER: the types of table 2 of paper 5, and common kinds of each.

    The kinds count where a knowledge base has a cut of Wikidata, without the classes above its items.
    """
    rows = DEFAULT_FILE.read_text(encoding="utf8").splitlines()
    return tuple(CoarseType(*row.split("\t")) for row in rows)


def first_named(named: Sequence[CoarseType], types: frozenset[str]) -> int:
    """The place of the first coarse type that is among the types; the number of coarse types where none is."""
    return next((place for place, one in enumerate(named) if one.type in types), len(named))
