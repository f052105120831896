"""AIDA CoNLL-YAGO: a token a line, with B or I and the entity where it belongs to a mention.

    -DOCSTART- (947testa CRICKET)
    LONDON	B	LONDON	London	http://en.wikipedia.org/wiki/London	17867	/m/04jpl
    1996-08-30

The text is the tokens with a space between two, and a line end where a blank line ends a sentence. `meta["split"]`
is `testa` or `testb` where the id says so. `meta["tokenised"]` says that the text stands in tokens already, so that
writing it does not split them again.

The entity is the YAGO name, decoded: `\\u0028` is a bracket and `_` a space. Where there is none, it is the title in
the Wikipedia address. `--NME--` is NIL. The gold's `meta` keeps the address (`url`), the page's number (`id`) and
the Freebase mid (`freebase`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from entlink.documents import Document, GoldLink, Span
from entlink.errors import InputError
from entlink.formats.writing import as_gold, encoded, text_of, unwritable
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.text.spans import Place
from entlink.text.titles import spaced

Line = tuple[int, bytes]

DOCSTART = "-DOCSTART-"
NIL = "--NME--"
META = ("url", "id", "freebase")
_START = DOCSTART.encode()
_SPLIT = re.compile(r"\d+(testa|testb)\b")
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_PLAIN = re.compile(r"[A-Za-z0-9.,'!:;*/-]")
_WORD = re.compile(r"\S+")


class _Building:
    """A document that is being read, token by token."""

    def __init__(self, id: str) -> None:
        self._id = id
        self._parts: list[str] = []
        self._size = 0
        self._gold: list[GoldLink] = []
        self._is_open = False

    def add(self, columns: list[str], separator: str, place: Place) -> None:
        """The next token, behind a space or the end of a sentence."""
        if not columns[0]:
            raise place.error("column 1, the token, is empty", "Leave the line out")
        if self._parts:
            self._append(separator)
        start = self._size
        self._append(columns[0])
        tag = columns[1] if len(columns) > 1 else ""
        if tag == "B":
            self._gold.append(_gold(columns, Span(start, self._size), place))
        elif tag == "I":
            self._go_on(place)
        elif tag:
            raise place.error(f"column 2 is {tag!r}", "It must be B, I or left out")
        self._is_open = bool(tag)

    def document(self) -> Document:
        """What was read."""
        split = _SPLIT.match(self._id)
        meta = {"tokenised": True, "split": split[1]} if split else {"tokenised": True}
        return Document(self._id, "".join(self._parts), gold=tuple(self._gold), meta=meta)

    def _append(self, part: str) -> None:
        self._parts.append(part)
        self._size += len(part)

    def _go_on(self, place: Place) -> None:
        if not self._is_open:
            raise place.error("column 2 is 'I', but no mention is open", "A mention must begin with B")
        last = self._gold[-1]
        self._gold[-1] = GoldLink(Span(last.span.start, self._size), last.entities, meta=last.meta)


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """The documents one after the other; a bad line spoils its document."""
    name, fail = input_name(source), failing(on_error, on_problem)
    with open_input(source) as file:
        for count, block in enumerate(_blocks(input_lines(file, name, fail)), 1):
            try:
                document = _document(block, name, count)
            except InputError as error:
                fail(error)
            else:
                yield document


def looks_like(path: Path, head: bytes) -> bool:
    """It begins with the start of a document."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_START)


def write(documents: Iterable[Document], file: BinaryIO) -> None:
    """A token a line: words, and the signs around them, cut so that every mention begins and ends with a token.

    White space between tokens becomes one space, or the end of a sentence where it has a line end. Of alternatives
    the first is written.
    """
    for document in as_gold(documents):
        if re.search(r"[\r\n]", document.id):
            raise unwritable(document, "AIDA", "its id has a line end", "Give it an id of one line")
        lines = chain([f"{DOCSTART} ({document.id})"], _lines(document, text_of(document, "AIDA")), [""])
        file.write(encoded((f"{line}\n" for line in lines), document, "AIDA"))


# Reading


def _blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The lines of each document; one that belongs to none is a block of its own."""
    block: list[Line] = []
    for number, line in lines:
        if block and (line.startswith(_START) or not block[0][1].startswith(_START)):
            yield block
            block = []
        block.append((number, line))
    if block:
        yield block


def _document(block: list[Line], file: str, count: int) -> Document:
    last, first = block[0]
    start = _columns(first, Place(file, last))[0]
    if not start.startswith(DOCSTART):
        raise Place(file, last).error(f"a token stands before the first {DOCSTART}", "Is this AIDA CoNLL-YAGO?")
    building = _Building(_id(start, count))
    for number, line in block[1:]:
        place = Place(file, number)
        # Blank lines are not among the lines, but they count.
        building.add(_columns(line, place), "\n" if number > last + 1 else " ", place)
        last = number
    return building.document()


def _columns(line: bytes, place: Place) -> list[str]:
    try:
        return line.decode().rstrip("\r\n").split("\t")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} of the line, 0x{line[error.start]:02x}, is not valid UTF-8"
        raise place.error(problem, "Convert the file to UTF-8") from error


def _id(start: str, count: int) -> str:
    """What stands between the outer brackets, or the number of the document."""
    inner = re.search(r"\((.*)\)", start)
    return inner[1] if inner else str(count)


def _gold(columns: list[str], span: Span, place: Place) -> GoldLink:
    if len(columns) < 4:
        problem = f"the line of a mention has {len(columns)} columns"
        raise place.error(problem, f"It needs the token, B, the mention and the entity, or {NIL}")
    name, values = columns[3], columns[4:]
    meta = {key: value for key, value in zip(META, values, strict=False) if value}
    if name == NIL:
        return GoldLink(span, (), meta=meta)
    if not name and "url" not in meta:
        raise place.error("column 4 is empty", f"Give the entity, or {NIL} where there is none")
    return GoldLink(span, (_decoded(name) if name else _title(meta["url"]),), meta=meta)


def _decoded(name: str) -> str:
    """A YAGO name as a title."""
    parts, end = [], 0
    for match in _ESCAPES.finditer(name):
        # Characters outside the first plane stand as two escapes, so a run of them is decoded as one.
        units = bytes.fromhex(match.group().replace("\\u", ""))
        parts += [spaced(name[end : match.start()]), units.decode("utf-16-be", "replace")]
        end = match.end()
    return "".join([*parts, spaced(name[end:])])


def _title(url: str) -> str:
    return spaced(unquote(url.rpartition("/")[2]))


# Writing


def _lines(document: Document, text: str) -> Iterator[str]:
    """The lines of a document's tokens; an empty one between two sentences."""
    is_tokenised = document.meta.get("tokenised") is True
    end = 0
    for gold, piece in _pieces(document, text):
        cells = [] if gold is None else _cells(gold, document)
        for index, (start, stop) in enumerate(_tokens(text, piece, is_tokenised)):
            if end and "\n" in text[end:start]:
                yield ""
            token, end = text[start:stop], stop
            if token.startswith(DOCSTART):
                problem = f"a token of its text begins with {DOCSTART}, which would begin a document"
                raise unwritable(document, "AIDA", problem, "Leave it out of the text")
            yield "\t".join([token, "I" if index else "B", *cells]) if cells else token


def _pieces(document: Document, text: str) -> Iterator[tuple[GoldLink | None, Span]]:
    """The text cut into mentions and what stands between them."""
    gold = sorted(document.gold, key=lambda one: one.span.start)
    for one, following in pairwise(gold):
        if following.span.start < one.span.end:
            problem = f"its gold at {one.span.start} and at {following.span.start} overlaps"
            raise unwritable(document, "AIDA", problem, "Keep one of them, or write NIF")
    end = 0
    for one in gold:
        if text[one.span.start : one.span.end].isspace():
            problem = f"its gold at {one.span.start} covers white space only"
            raise unwritable(document, "AIDA", problem, "Leave it out")
        yield None, Span(end, one.span.start)
        yield one, one.span
        end = one.span.end
    yield None, Span(end, len(text))


def _tokens(text: str, piece: Span, is_tokenised: bool) -> Iterator[tuple[int, int]]:
    """Words, and each sign of punctuation that stands before or behind one."""
    for match in _WORD.finditer(text, piece.start, piece.end):
        start, end = match.span()
        first, last = start, end
        while not is_tokenised and first < last and unicodedata.category(text[first]).startswith("P"):
            first += 1
        while not is_tokenised and first < last and unicodedata.category(text[last - 1]).startswith("P"):
            last -= 1
        yield from ((index, index + 1) for index in range(start, first))
        if first < last:
            yield first, last
        yield from ((index, index + 1) for index in range(last, end))


def _cells(gold: GoldLink, document: Document) -> list[str]:
    """The columns of a mention behind B or I."""
    mention = " ".join(document.text[gold.span.start : gold.span.end].split())
    values = [str(gold.meta.get(key) or "") for key in META]
    if any(re.search(r"[\t\r\n]", value) for value in values):
        problem = f"a field of the gold at {gold.span.start} has a tab or line end"
        raise unwritable(document, "AIDA", problem, f"Clean {', '.join(META)} in its meta")
    while values and not values[-1]:
        values.pop()
    return [mention, _encoded(gold.entities[0], document) if gold.entities else NIL, *values]


def _encoded(entity: str, document: Document) -> str:
    """An entity as a YAGO name: nothing but what is plain stands as it is."""
    if not entity:
        raise unwritable(document, "AIDA", "an entity of it has an empty id", "Give it an id, or none for NIL")
    name = "".join("_" if one == " " else one if _PLAIN.match(one) else _escaped(one) for one in entity)
    return _escaped(name[0]) + name[1:] if name == NIL else name


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
