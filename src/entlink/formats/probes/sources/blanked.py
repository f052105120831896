"""Rare entity prediction (Long et al. 2017): paragraphs with ids in the place of entities, and what the ids are.

corpus.txt    9202a8c04000641f8000000000000001 stands in the shallow water of 9202a8c04000641f8000000000000002 .
entities.txt  9202a8c04000641f8000000000000001<TAB>grey heron<TAB>…<TAB>Grey heron<TAB>The grey heron is a bird .
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from entlink.documents import Leaf, Record
from entlink.formats.probes.lines import read_cells
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place

_FEWEST = 3
# Ids of Freebase: numbers of sixteen digits and more in base 16, or `/m/…`.
_ID = re.compile(r"(?<![\w/])(?:[0-9a-f]{16,}|/m/\w+)(?!\w)")


class BlankedEntity(Leaf, frozen=True):
    """An entity that blanks may mean."""

    id: str
    name: str
    description: str


class BlankedText(Record, frozen=True):
    """A paragraph: `pieces` of text, and between each two of them the id of the entity that was there."""

    number: int
    pieces: tuple[str, ...]
    ids: tuple[str, ...]


def read_entities(
    source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
) -> dict[str, BlankedEntity]:
    """The entities of `entities.txt` by id: the first column, the name and the description are the last two."""
    found = read_cells(source, _entity, on_error=on_error, on_problem=on_problem)
    return {entity.id: entity for entity in found}


def read_texts(
    source: Input,
    entities: Mapping[str, BlankedEntity],
    *,
    on_error: OnError = "stop",
    on_problem: OnProblem | None = None,
) -> Iterator[BlankedText]:
    """The paragraphs of `corpus.txt`, one a line. An id that `entities` lacks is an error."""

    def text(cells: list[str], place: Place) -> BlankedText:
        line = "\t".join(cells).strip()
        ids = tuple(match[0] for match in _ID.finditer(line))
        if unknown := [id for id in ids if id not in entities]:
            raise place.error(f"the entity {unknown[0]} is not known", "Is entities.txt of the same dataset?")
        return BlankedText(place.line, tuple(_ID.split(line)), ids)

    return read_cells(source, text, on_error=on_error, on_problem=on_problem)


def _entity(cells: list[str], place: Place) -> BlankedEntity:
    if len(cells) < _FEWEST:
        hint = "The first is the id, the last two are the name and the description"
        raise place.error(f"the line has {len(cells)} columns between tabs, not {_FEWEST} or more", hint)
    id, name, description = (cell.strip() for cell in (cells[0], *cells[-2:]))
    if not id or not name:
        raise place.error("the id or the name is empty", "Leave the line out")
    if not _ID.fullmatch(id):
        raise place.error(
            f"{id!r} is no id of Freebase", "Ids are like 9202a8c04000641f8000000000006567 or /m/0d05l6"
        )
    return BlankedEntity(id, name, description)
