"""neleval's tab-separated annotations: a mention a line, with one or more candidates.

    doc	start	end	entity	score	type	(entity	score	type)…

**The end is the last character of the mention, not the one behind it**: neleval says so, and measures overlaps so.
"Go" at the fourth character is `3 4`, and becomes the span 3–5. Files of TAC-KBP scorers must go through neleval's
`prepare-tac` first.

As in neleval the candidate with the highest score is what the line says; those of one score keep their order. An
entity that begins with NIL is NIL. What the line leaves out has the score 1. There are no texts, so a document's
text is empty, and its `meta` says that it lacks one. The lines of a document must stand together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from math import isfinite, nan
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from entlink.documents import Candidate, Document, GoldLink, Link, Mention, Span
from entlink.errors import InputError
from entlink.formats.foreign import LACKS_TEXT, Fail
from entlink.formats.gold_meta import SCORE, score_of
from entlink.formats.writing import Role, encoded, unwritable, with_role
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.text.spans import OFFSETS, Place, span_problem

# An entity (None is NIL), its score and its type.
Column = tuple[str | None, float, str | None]

NIL = "NIL"
NO_TYPE = "-"
_MOST_LINES = 20
# What was matched is never given back, so that a long line cannot take long.
# A score that is no number is told by the reader, with its line.
_NUMBER = r"[+-]?+(?:(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+|(?i:nan|inf(?:inity)?+))"
_CANDIDATES = rf"(?:\t[^\t]++\t{_NUMBER}\t[^\t]*+)+?(?:\t[^\t]++\t{_NUMBER})?"
_LINE = re.compile(rf"[^\t]*+\t[0-9]++\t[0-9]++(?:\t[^\t]++(?:\t{_NUMBER})?|{_CANDIDATES})?\t*")


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document for each run of lines of one document, its links in the order of the file."""
    fail = failing(on_error, on_problem)
    for id, links in groupby(_links(source, fail), key=itemgetter(0)):
        yield Document(id, "", links=tuple(link for _, link in links), meta=dict(LACKS_TEXT))


def looks_like(path: Path, head: bytes) -> bool:
    """Its first lines have two whole numbers behind the first tab, then nothing but candidates."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    whole = [line.decode(errors="replace").rstrip("\r") for line in (lines[:-1] or lines)[:_MOST_LINES]]
    return any(whole) and all(_LINE.fullmatch(line) for line in whole if line.strip())


def write(documents: Iterable[Document], file: BinaryIO) -> None:
    """A line a link, or a gold link, with its alternatives as candidates; gold if any document has gold.

    Of a link's candidates those are left out that have a higher score than what was chosen: neleval would take them
    for the answer. Each NIL is a cluster of its own. Lines are joined by the document's id, so that none may come
    twice.
    """
    nils, seen = 0, set[str]()
    for document, role in with_role(documents):
        lines = list(_columns_of(document, role))
        if lines and document.id in seen:
            problem = "another document has the same id, and the lines of both would be one document's"
            raise unwritable(document, "neleval", problem, "Give each an id of its own")
        seen.add(document.id)
        for span, columns in lines:
            nils += columns[0][0] is None
            file.write(encoded([_line(document, span, columns, nils)], document, "neleval"))


# Reading


def _links(source: Input, fail: Fail) -> Iterator[tuple[str, Link]]:
    name, seen, last = input_name(source), set[str](), ""
    with open_input(source) as file:
        for number, line in input_lines(file, name, fail):
            place = Place(name, number)
            try:
                id, link = _link(line, place)
                if id != last and id in seen:
                    problem = f"document {id!r} comes again, behind others"
                    raise place.error(problem, "Sort the file by its first column: sort -s -t$'\\t' -k1,1")
            except InputError as error:
                fail(error)
                continue
            seen.add(id)
            last = id
            yield id, link


def _link(line: bytes, place: Place) -> tuple[str, Link]:
    try:
        cells = line.decode().rstrip("\r\n\t").split("\t")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} of the line, 0x{line[error.start]:02x}, is not valid UTF-8"
        raise place.error(problem, "Convert the file to UTF-8") from error
    if len(cells) < 3:
        raise place.error(f"the line has {len(cells)} columns", "It needs at least document, start and end")
    mention = Span(_offset(cells[1], "start", place), _offset(cells[2], "end", place) + 1)
    if mention.start >= mention.end:
        problem = f"the mention ends at {cells[2]}, before it starts at {cells[1]}"
        raise place.error(problem, "The end is the mention's last character")
    columns = sorted(_columns(cells[3:], place), key=itemgetter(1), reverse=True)
    return cells[0], _link_of(mention, columns)


def _offset(cell: str, name: str, place: Place) -> int:
    if not re.fullmatch("[0-9]{1,15}", cell):
        raise place.error(f"the {name} is {cell!r}", "Give a whole number of characters, from 0")
    return int(cell)


def _columns(cells: list[str], place: Place) -> Iterator[Column]:
    """The candidates of a line: an entity alone, or any number of them with scores and types."""
    if len(cells) > 1 and len(cells) % 3 == 1:
        problem = f"the line has {len(cells) + 3} columns"
        raise place.error(problem, "Of several candidates each needs entity, score and type")
    for at in range(0, len(cells), 3):
        entity, score, type = [*cells[at : at + 3], "", ""][:3]
        if not entity:
            raise place.error(f"column {at + 4}, an entity, is empty", "Give its id, or NIL")
        yield None if entity.startswith(NIL) else entity, _score(score, at + 5, place), _type(type)


def _score(cell: str, column: int, place: Place) -> float:
    try:
        score = float(cell) if cell else SCORE
    except ValueError:
        score = nan
    if not isfinite(score):
        raise place.error(f"column {column}, a score, is {cell!r}", "Give a number")
    return score


def _type(cell: str) -> str | None:
    """The type; newer versions of neleval also take an object with one in it."""
    if not cell.startswith("{"):
        return None if cell in ("", NO_TYPE) else cell
    try:
        type = msgspec.json.decode(cell.encode(), type=dict[str, Any]).get("type")
    except (msgspec.DecodeError, RecursionError):
        return cell
    return None if type is None else str(type)


def _link_of(span: Span, columns: list[Column]) -> Link:
    if not columns:
        return Link(Mention(span, ""), None, SCORE)
    entity, score, type = columns[0]
    others = [] if entity is not None and len(columns) == 1 else columns
    candidates = tuple(Candidate(one, number) for one, number, _ in others if one is not None)
    nil_type = type if entity is None else None
    return Link(Mention(span, "", type), entity, score, nil_type=nil_type, candidates=candidates)


# Writing


def _columns_of(document: Document, role: Role) -> Iterator[tuple[Span, list[Column]]]:
    if role == "links":
        yield from ((link.mention.span, _link_columns(link)) for link in document.links)
    else:
        yield from ((gold.span, _gold_columns(gold)) for gold in document.gold if not gold.optional)


def _link_columns(link: Link) -> list[Column]:
    type = link.mention.type or link.nil_type
    others = [one for one in link.candidates if one.score <= link.score and one.entity != link.entity]
    return [(link.entity, link.score, type), *((one.entity, one.score, type) for one in others)]


def _gold_columns(gold: GoldLink) -> list[Column]:
    score, type = score_of(gold), gold.nil_type or gold.meta.get("type")
    return [(entity, score, type) for entity in gold.entities or (None,)]


def _line(document: Document, span: Span, columns: list[Column], nils: int) -> str:
    if not 0 <= span.start < span.end:
        raise Place().span_error(document.id, span_problem(span.start, span.end), OFFSETS)
    cells = [document.id, str(span.start), str(span.end - 1)]
    for entity, score, type in columns:
        if entity is not None and (not entity or entity.startswith(NIL)):
            problem = f"the entity {entity!r} would be read as NIL"
            raise unwritable(document, "neleval", problem, "Give it another id")
        cells += [f"{NIL}{nils:04d}" if entity is None else entity, repr(float(score))]
        # Without a type a line of one candidate ends here; between candidates something must stand.
        cells += [type or NO_TYPE] if type or len(columns) > 1 else []
    if any(re.search(r"[\t\r\n]", cell) for cell in cells):
        problem = "its id, an entity or a type of it has a tab or a line end"
        raise unwritable(document, "neleval", problem, "Rename it")
    return "\t".join(cells) + "\n"
