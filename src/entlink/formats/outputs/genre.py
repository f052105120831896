"""What GENRE generates: texts with marks for mentions and entities, or hypotheses for a mention that is marked.

End to end, a text a line, as GENRE's `sample` gives it or as its own helpers tidy it:

    In 1921, { Einstein } [ Albert Einstein ] received a { Nobel Prize } [ Nobel Prize in Physics ].
    In 1921, {Einstein}[Albert Einstein] received a {Nobel Prize}[Nobel Prize in Physics].

The document's text is the line without its marks, with the spaces that GENRE adds for them taken out, and its id is
the number of the line. `[ NIL ]` and an empty `[ ]` are NIL. There are no scores: all are 1.

For given mentions, JSON lines as `evaluate_kilt_dataset.py` saves them: a text with `[START_ENT]` and `[END_ENT]`
(mGENRE: `[START]`, `[END]`), and the hypotheses best first, as its provenance:

    {"id": "d1", "input": "a [START_ENT] German [END_ENT] physicist", "output": [{"provenance": [{"title": "Germany", "score": -0.19}]}]}
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from entlink.documents import Candidate, Document, Link, Mention, Span
from entlink.errors import InputError
from entlink.formats.foreign import decoded, id_of, rows_of
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.text.spans import Place

NIL = "NIL"
_TIDY = re.compile(r"\{([^{}\[\]\n]*)\} ?\[([^{}\[\]\n]*)\]")
# The space before the opening mark is GENRE's; that of the mention stands inside the marks.
_RAW = re.compile(r" ?\{([^{}\[\]\n]*?) \} \[([^{}\[\]\n]*)\]")
_MARKS = re.compile(r"[{}\[\]]")
_GIVEN = re.compile(r"\[START(?:_ENT)?\] ?(.*?) ?\[END(?:_ENT)?\]", re.DOTALL)


class Hypothesis(msgspec.Struct):
    """An entity that GENRE generated."""

    title: str
    score: float = 1.0
    wikipedia_id: str | int | None = None


class Output(msgspec.Struct):
    """The hypotheses for a mention, best first."""

    provenance: list[Hypothesis]


class KiltRow(msgspec.Struct):
    """A text with a marked mention, as the KILT benchmark has it, and what GENRE says."""

    input: str
    output: list[Output]
    id: str | int | None = None


_decoder = msgspec.json.Decoder(KiltRow)


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a line."""
    name, fail = input_name(source), failing(on_error, on_problem)
    with open_input(source) as file:
        for number, line in input_lines(file, name, fail):
            place = Place(name, number)
            try:
                document = _given(line, place) if line.lstrip().startswith(b'{"') else _marked(line, place)
            except InputError as error:
                fail(error)
            else:
                yield document


def looks_like(path: Path, head: bytes) -> bool:
    """Lines of text with GENRE's marks, or rows with a marked mention and provenance."""
    rows = rows_of(head)
    if rows or head.lstrip().startswith((b'{"', b"[")):
        return any(_GIVEN.search(str(row.get("input"))) and "output" in row for row in rows[:1])
    text = head.decode(errors="replace")
    return _TIDY.search(text) is not None


# End to end


def _marked(line: bytes, place: Place) -> Document:
    try:
        marked = line.decode().strip()  # GENRE pads its texts with spaces
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} of the line, 0x{line[error.start]:02x}, is not valid UTF-8"
        raise place.error(problem, "Convert the file to UTF-8") from error
    pattern = _RAW if _RAW.search(marked) else _TIDY
    text, links, end = "", [], 0
    for match in pattern.finditer(marked):
        text += _unmarked(marked[end : match.start()], place)
        surface = match[1] if text else match[1].lstrip()
        start = len(text) + len(surface) - len(surface.lstrip())
        text += surface
        links.append(_link(Span(start, len(text.rstrip())), text, match[2], place))
        end = match.end()
    text += _unmarked(marked[end:], place)
    return Document(str(place.line), text, links=tuple(links))


def _unmarked(part: str, place: Place) -> str:
    mark = _MARKS.search(part)
    if mark is not None:
        around = part[max(0, mark.start() - 20) : mark.end() + 20]
        problem = f"the mark {mark.group()!r} has no partner, in {around!r}"
        raise place.error(problem, "Marks are { mention } [ entity ]; is the line cut off?")
    return part


def _link(span: Span, text: str, entity: str, place: Place) -> Link:
    if span.start >= span.end:
        raise place.error(f"the mention of {entity!r} is empty", "Leave its marks out")
    mention = Mention(span, text[span.start : span.end])
    entity = entity.strip()
    return Link(mention, None, 1.0) if entity in ("", NIL) else Link(mention, entity, 1.0, title=entity)


# Given mentions


def _given(line: bytes, place: Place) -> Document:
    row = decoded(line, _decoder, place)
    matches = list(_GIVEN.finditer(row.input))
    if len(matches) != 1 or not matches[0][1]:
        problem = f"field input has {len(matches)} marked mentions"
        raise place.error(problem, "Mark one with [START_ENT] and [END_ENT]")
    match = matches[0]
    text = row.input[: match.start()] + match[1] + row.input[match.end() :]
    mention = Mention(Span(match.start(), match.start() + len(match[1])), match[1])
    hypotheses = [one for output in row.output for one in output.provenance]
    return Document(id_of(row.id, place), text, links=(_best(mention, hypotheses),))


def _best(mention: Mention, hypotheses: list[Hypothesis]) -> Link:
    ranked = sorted(hypotheses, key=lambda one: -one.score)
    candidates = tuple(Candidate(one.title, one.score, title=one.title) for one in ranked if one.title != NIL)
    if not ranked or ranked[0].title == NIL:
        return Link(mention, None, ranked[0].score if ranked else 1.0, candidates=candidates)
    best = ranked[0]
    return Link(mention, best.title, best.score, title=best.title, candidates=candidates)
