"""EntEval's own files: tokens with spaces between, cells with tabs between, spans of tokens without their end.

cap/train.txt         two lines `sentence start end`, then a line with the label
cerp/train.txt        label start1 end1 start2 end2 sentence
efp/train.txt         label sentence start end
et/train.txt          sentence start end label…, with labels.txt beside it
ert/train.txt         relation name1 name2 description1 description2
kore/all.txt          `@@ name description` for a seed, then its entities in the same way, best first
wikisrs/*.csv.pro     score name1 name2 description1 description2
rare/train.txt        the context, four lines `name description`, then a line with the right one's number
conll/*.final.txt     start end sentence … prior|||name|||description…, the right one first
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, get_args

from entlink.errors import InputError
from entlink.formats.probes.examples import ProbeEntity, ProbeExample
from entlink.formats.probes.lines import cells_of, check_columns, read_cells
from entlink.formats.probes.tokens import token_span, whole_number
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.text.spans import Place
from entlink.text.titles import spaced

Layout = Literal["cap", "cerp", "efp", "et", "ert", "kore", "wikisrs", "rare", "conll"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
BLANK = "**blank**"
_AROUND = 150  # words on each side of a blank, which are all that EntEval reads
_SEED, _RANKS = "@@", 20
_CANDIDATES = 4
_PIECES = "|||"

Row = tuple[list[str], Place]


def read_examples(
    layout: Layout, source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
) -> Iterator[ProbeExample]:
    """The rows of a file of EntEval. Labels are as the file has them: EntEval writes 0 and 1 for no and yes."""
    if layout in _LINES:
        return read_cells(source, _LINES[layout], on_error=on_error, on_problem=on_problem)
    fail = failing(on_error, on_problem)
    return _blocks(source, *_BLOCKS[layout], fail) if layout in _BLOCKS else _kore(source, fail)


def _mention(sentence: str, start: str, end: str, place: Place) -> ProbeEntity:
    tokens = sentence.split()
    first, last = whole_number(start, "the start", place), whole_number(end, "the end", place)
    span = token_span(tokens, first, last, place)
    return ProbeEntity(sentence=" ".join(tokens), start=span.start, end=span.end)


def _described(name: str, description: str) -> ProbeEntity:
    return ProbeEntity(title=spaced(name.strip()), description=description.strip())


# A row a line


def _cerp(cells: list[str], place: Place) -> ProbeExample:
    check_columns(cells, "label start1 end1 start2 end2 sentence", place)
    label, start, end, other_start, other_end, sentence = cells
    first = _mention(sentence, start, end, place)
    return ProbeExample((first, _mention(sentence, other_start, other_end, place)), (label.strip(),))


def _efp(cells: list[str], place: Place) -> ProbeExample:
    check_columns(cells, "label sentence start end", place)
    label, sentence, start, end = cells
    return ProbeExample((_mention(sentence, start, end, place),), (label.strip(),))


def _et(cells: list[str], place: Place) -> ProbeExample:
    labels = tuple(dict.fromkeys(cell.strip() for cell in cells[3:] if cell.strip()))
    if not labels:
        raise place.error(
            f"the line has {len(cells)} columns between tabs, and no label",
            "The columns are: sentence start end label, then more labels",
        )
    sentence, start, end = cells[:3]
    return ProbeExample((_mention(sentence, start, end, place),), labels)


def _ert(cells: list[str], place: Place) -> ProbeExample:
    check_columns(cells, "relation name1 name2 description1 description2", place)
    relation, first, second, of_first, of_second = cells
    return ProbeExample((_described(first, of_first), _described(second, of_second)), (relation.strip(),))


def _wikisrs(cells: list[str], place: Place) -> ProbeExample:
    check_columns(cells, "score name1 name2 description1 description2", place)
    score, first, second, of_first, of_second = cells
    return ProbeExample(
        (_described(first, of_first), _described(second, of_second)), score=_number(score, "the score", place)
    )


def _conll(cells: list[str], place: Place) -> ProbeExample:
    if len(cells) < 5:
        problem = f"the line has {len(cells)} columns between tabs, not 5 or more"
        raise place.error(problem, "The columns are: start end sentence _ candidate, then more candidates")
    start, end, sentence, _, *others = cells
    found = [_candidate(cell, place) for cell in others if cell.strip()]
    return ProbeExample(
        (_mention(sentence, start, end, place),),
        candidates=tuple(entity for entity, _ in found),
        priors=tuple(prior for _, prior in found),
        gold=0,
    )


def _candidate(cell: str, place: Place) -> tuple[ProbeEntity, float]:
    parts = cell.split(_PIECES, 2)
    if len(parts) != 3:
        raise place.error(f"the candidate {cell[:40]!r} has {len(parts)} parts", "Write prior|||name|||description")
    prior, name, description = parts
    return _described(name, description), _number(prior, "a prior", place)


def _number(cell: str, what: str, place: Place) -> float:
    try:
        return float(cell)
    except ValueError as error:
        raise place.error(f"{what} is {cell!r}", "It must be a number") from error


# A row of several lines


def _cap(rows: list[Row]) -> ProbeExample:
    entities = []
    for cells, place in rows[:2]:
        check_columns(cells, "sentence start end", place)
        sentence, start, end = cells
        entities.append(_mention(sentence, start, end, place))
    (label, *more), place = rows[2]
    if more:
        raise place.error(f"the label's line has {len(more) + 1} columns", "It follows two lines with a mention each")
    return ProbeExample(tuple(entities), (label.strip(),))


def _rare(rows: list[Row]) -> ProbeExample:
    cells, place = rows[0]
    words = next((cell.split() for cell in cells if BLANK in cell.split()), None)
    if words is None:
        raise place.error(f"the context has no {BLANK}", "A row is a context, four candidates and a number")
    at = words.index(BLANK)
    before, after = words[max(0, at - _AROUND) : at], words[at + 1 : at + _AROUND]
    candidates = []
    for cells, place in rows[1:-1]:
        check_columns(cells, "name description", place)
        candidates.append(_filled(before, cells[0], after, _described(*cells)))
    (number, *_), place = rows[-1]
    gold = whole_number(number.strip(), "the number of the right candidate", place)
    if not 0 <= gold < len(candidates):
        raise place.error(f"the number of the right candidate is {gold}", "Candidates are counted from 0")
    blank = _filled(before, BLANK, after, ProbeEntity())
    return ProbeExample((blank,), candidates=tuple(candidates), gold=gold)


def _filled(before: list[str], name: str, after: list[str], entity: ProbeEntity) -> ProbeEntity:
    """The context with a name in the place of the blank."""
    named = name.split()
    tokens = [*before, *named, *after]
    span = token_span(tokens, len(before), len(before) + max(1, len(named)), Place())
    return ProbeEntity(
        sentence=" ".join(tokens), start=span.start, end=span.end, title=entity.title, description=entity.description
    )


def _blocks(
    source: Input, size: int, make: Callable[[list[Row]], ProbeExample], fail: Callable[[InputError], None]
) -> Iterator[ProbeExample]:
    """What is made of each `size` lines; after a bad block reading goes on behind the next blank line."""
    name = input_name(source)
    with open_input(source) as file:
        lines = input_lines(file, name, fail)
        for block in _groups(lines):
            place = Place(name, block[0][0])
            try:
                if len(block) != size:
                    raise place.error(f"a row of {len(block)} lines", f"A row is {size} lines and a blank one")
                made = make([(cells_of(line, Place(name, number)), Place(name, number)) for number, line in block])
            except InputError as error:
                fail(error)
            else:
                yield made


def _groups(lines: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """The lines between blank ones, which are not among them but count."""
    block: list[tuple[int, bytes]] = []
    for number, line in lines:
        if block and number != block[-1][0] + 1:
            yield block
            block = []
        block.append((number, line))
    if block:
        yield block


def _kore(source: Input, fail: Callable[[InputError], None]) -> Iterator[ProbeExample]:
    name = input_name(source)
    seed, rank = ProbeEntity(), 0
    with open_input(source) as file:
        for number, line in input_lines(file, name, fail):
            place = Place(name, number)
            try:
                cells = cells_of(line, place)
                check_columns(cells, "@@-or-rank name description", place)
                if cells[0].strip() != _SEED and not seed.title:
                    raise place.error("an entity is listed before the first seed", f"A seed begins with {_SEED}")
            except InputError as error:
                fail(error)
                continue
            entity = _described(*cells[1:])
            if cells[0].strip() == _SEED:
                seed, rank = entity, 0
                continue
            yield ProbeExample((seed, entity), score=float(_RANKS - rank), head=seed.title)
            rank += 1


_LINES: dict[str, Callable[[list[str], Place], ProbeExample]] = {
    "cerp": _cerp,
    "efp": _efp,
    "et": _et,
    "ert": _ert,
    "wikisrs": _wikisrs,
    "conll": _conll,
}
_BLOCKS: dict[str, tuple[int, Callable[[list[Row]], ProbeExample]]] = {
    "cap": (3, _cap),
    "rare": (_CANDIDATES + 2, _rare),
}
