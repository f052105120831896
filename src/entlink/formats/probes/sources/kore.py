"""KORE: a seed entity, then the entities related to it behind a tab each, the most related first."""

from __future__ import annotations

from collections.abc import Iterator

from entlink.documents import Record
from entlink.errors import InputError
from entlink.formats.probes.lines import cells_of
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.text.spans import Place


class RankedEntities(Record, frozen=True):
    """A seed entity and those related to it, best first."""

    seed: str
    entities: tuple[str, ...]


def read(
    source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
) -> Iterator[RankedEntities]:
    """The seeds of `rankedrelatedentities.txt`, each with its entities."""
    name, fail = input_name(source), failing(on_error, on_problem)
    seed, ranked = "", list[str]()
    with open_input(source) as file:
        for number, line in input_lines(file, name, fail):
            place = Place(name, number)
            try:
                is_related, entity = _entity(cells_of(line, place), place)
                if is_related and not seed:
                    raise place.error("an entity is listed before the first seed", "A seed is written without a tab")
            except InputError as error:
                fail(error)
                continue
            if is_related:
                ranked.append(entity)
                continue
            if seed:
                yield RankedEntities(seed, tuple(ranked))
            seed, ranked = entity, []
    if seed:
        yield RankedEntities(seed, tuple(ranked))


def _entity(cells: list[str], place: Place) -> tuple[bool, str]:
    """Whether the line is of a related entity, and which it is."""
    first, *rest = (cell.strip() for cell in cells)
    if first and not any(rest):
        return False, first
    if not first and len(rest) == 1 and rest[0]:
        return True, rest[0]
    problem = f"the line has {len(cells)} columns between tabs"
    raise place.error(problem, "Write a seed alone, and an entity related to it behind one tab")
