"""TAC-KBP's entity linking (2015 to 2017): a tab file of mentions beside the XML documents they stand in.

    LDC	EDL_1	中国	CMN_NW_001:193-194	m.0d05w3	GPE	NAM	1.0

**The end is the last character of the mention**, and offsets count the characters of the XML file, markup included. A
document's text is that file with blanks in place of the markup, so that offsets hold; the names of authors in it
stay, because they are mentions, too. `AT&amp;T` is `AT&T` in it, with unseen word joiners behind the `&`.

The entity is a Freebase mid, written as in Wikidata's P646 (`/m/0d05w3`): a knowledge base whose entities have the
identifier `freebase` finds it. One that it does not find stays, and counts as an error and not as NIL.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from entlink.documents import Document, GoldLink, Span
from entlink.errors import InputError, SourceError
from entlink.formats.json_records import Fail
from entlink.formats.offset_units import guess_unit
from entlink.io.files import plain_name
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_text, open_input
from entlink.io.ledger import OnError
from entlink.io.lines import decoded
from entlink.text.spans import Place

NIL = "NIL"
# Table 2 of the Hansel paper: its LOC are places, countries and buildings.
COARSE = {"PER": "PER", "ORG": "ORG", "GPE": "LOC", "LOC": "LOC", "FAC": "LOC"}
OTHER = "OTHER"
_LANGUAGES = {"CMN": "zh", "ENG": "en", "SPA": "es"}
_GENRES = {"NW": "news", "DF": "discussion forum", "NEWS": "news"}
_COLUMNS = "run, mention id, mention, document:start-end, entity, type, kind of mention"
_PLACE = re.compile(r"(.+):(\d{1,15})[-–](\d{1,15})")
_MID = re.compile(r"(?:f_)?/?([mg])[./](\w+)")
_LINE = re.compile(r"[^\t]*\t[^\t]*\t[^\t]+\t[^\t]+:\d+[-–]\d+\t(?:NIL\w*|(?:f_)?[mg]\.\w+)\t[^\t]+(?:\t[^\t]*)*")
_MARKUP = re.compile(r"<[^<>]*>")
_ESCAPED = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|amp|lt|gt|quot|apos);")
_JOINER = "\u2060"  # is not seen in names
_AUTHOR = re.compile(r'(?<=author=")[^"]*')
_SUFFIXES = (".xml", ".sgm", ".txt", ".nw", ".df", ".mpdf", ".cmp")
_MOST_LINES = 20
_OFFSETS = "Offsets count the characters of the XML file from 0, and the end is the last one of the mention"


class _Mention(NamedTuple):
    start: int
    end: int
    text: str
    entity: str
    type: str
    kind: str
    id: str
    place: Place


_Mentions = dict[str, list[_Mention]]


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document for each that has mentions, in the order of the tab file.

    `source` is the tab file, with the documents in its folder or anywhere below, or a folder with one tab file. The
    mentions are held in memory, the documents pass by.
    """
    fail = failing(on_error, on_problem)
    path = _tab_file(source)
    mentions = _mentions(path, fail)
    files = _document_files(path.parent)
    for id, own in mentions.items():
        try:
            source_text = _text(files, id, own[0].place, path.parent)
        except InputError as error:
            fail(error)
            continue
        text = _blanked(source_text)
        yield Document(id, text, _language(id), gold=_gold(text, id, own, fail), meta=_meta(id))


def looks_like(path: Path, head: bytes) -> bool:
    """Lines with a document and offsets, and a mid or NIL, as columns 4 and 5; a folder with such a file."""
    if path.is_dir():
        return len(_tab_files(path)) == 1
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    whole = [line.decode(errors="replace").rstrip("\r") for line in (lines[:-1] or lines)[:_MOST_LINES]]
    return any(whole) and all(_LINE.fullmatch(line) for line in whole if line.strip())


# Files


def _tab_file(source: Input) -> Path:
    if not isinstance(source, str | Path):
        hint = "Pass the path of the tab file, or of the folder that holds it and the documents"
        raise SourceError("the documents beside an open file cannot be found", hint=hint)
    path = Path(source)
    if not path.is_dir():
        return path
    found = _tab_files(path)
    if len(found) != 1:
        problem = (
            f"{len(found)} files of mentions (.tab) are in it" if found else "no file of mentions (.tab) is in it"
        )
        raise SourceError(problem, str(path), hint="Name the one with the mentions")
    return found[0]


def _tab_files(folder: Path) -> list[Path]:
    """Those whose first lines are mentions: another tells where quotes are."""
    found = []
    for path in sorted(folder.rglob("*.tab*")):
        if path.is_file() and Path(plain_name(path)).suffix == ".tab":
            with open_input(path) as file:
                head = file.read(4096)
            found += [path] if looks_like(path, head) else []
    return found


def _document_files(folder: Path) -> dict[str, Path]:
    """The files that may be documents, by their names with and without what stands behind the id."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        name = plain_name(path)
        if Path(name).suffix not in _SUFFIXES or not path.is_file():
            continue
        while Path(name).suffix in _SUFFIXES:
            name = Path(name).stem
            found.setdefault(name, path)
    return found


def _text(files: dict[str, Path], id: str, place: Place, folder: Path) -> str:
    path = files.get(id)
    if path is None:
        raise place.error(f"the document {id!r} is not in {folder} or below", "Put the source documents beside")
    text = input_text(path)
    if "<LCTL_TEXT" in text[:500]:
        hint = "Make the source of it with ltf2src.perl, which comes with the data: offsets count its characters"
        raise SourceError("this is an LTF file, not the source document", str(path), hint=hint)
    return text


# Mentions


def _mentions(path: Path, fail: Fail) -> _Mentions:
    found: _Mentions = {}
    with open_input(path) as file:
        for number, line in input_lines(file, str(path), fail):
            place = Place(str(path), number)
            try:
                id, mention = _mention(line, place)
            except InputError as error:
                fail(error)
            else:
                found.setdefault(id, []).append(mention)
    return found


def _mention(line: bytes, place: Place) -> tuple[str, _Mention]:
    cells = decoded(line, Path(place.file), place.line).rstrip("\r\n").split("\t")
    if len(cells) < 6:
        raise place.error(f"the line has {len(cells)} columns", f"The columns are {_COLUMNS}")
    where = _PLACE.fullmatch(cells[3])
    if where is None:
        raise place.error(
            f"column 4 is {cells[3]!r}", "It must be a document and offsets, such as CMN_NW_001:193-194"
        )
    start, last = int(where[2]), int(where[3])
    if last < start:
        raise place.error(f"the mention ends at {last}, before it starts at {start}", "The end is its last character")
    kind = cells[6] if len(cells) > 6 else ""
    entity = _entity(cells[4], place)
    return where[1], _Mention(start, last + 1, cells[2], entity, cells[5], kind, cells[1], place)


def _entity(cell: str, place: Place) -> str:
    """A mid as Wikidata writes it; empty for NIL."""
    if cell.startswith(NIL):
        return ""
    mid = _MID.fullmatch(cell)
    if mid is not None:
        return f"/{mid[1]}/{mid[2]}"
    if not cell:
        raise place.error("column 5, the entity, is empty", "Give a mid such as m.0d05w3, or NIL")
    return cell


def _gold(text: str, id: str, mentions: list[_Mention], fail: Fail) -> tuple[GoldLink, ...]:
    gold = []
    for mention in sorted(mentions, key=lambda one: (one.start, one.end)):
        try:
            gold.append(_gold_link(text, id, mention))
        except InputError as error:
            fail(error)
    return tuple(gold)


def _gold_link(text: str, id: str, mention: _Mention) -> GoldLink:
    covered = text[mention.start : mention.end]
    if mention.end > len(text) or _folded(covered) != _folded(mention.text):
        said = f"the characters {mention.start} to {mention.end - 1} of {id!r}"
        if mention.end > len(text):
            found = f"lie outside of its {len(text)}"
        else:
            found = f"are {covered!r}" if covered.strip() else "stand in its markup"
        unit = guess_unit(text, mention.start, mention.end, mention.text)
        hint = f"These offsets seem to be {unit}. {_OFFSETS}" if unit else _OFFSETS
        raise mention.place.error(f"{said} {found}, not {mention.text!r}", hint)
    meta = {"type": mention.type, "mention_id": mention.id, "kind": mention.kind}
    known = {key: value for key, value in meta.items() if value}
    span = Span(mention.start, mention.end)
    if mention.entity:
        return GoldLink(span, (mention.entity,), meta=known)
    return GoldLink(span, (), nil_type=COARSE.get(mention.type, OTHER), meta=known)


def _folded(text: str) -> str:
    """As the tab file writes a mention: a line end is a space, or nothing behind a hyphen."""
    return " ".join(html.unescape(re.sub(r"-\s*\n\s*", "-", text.replace(_JOINER, ""))).split())


# Documents


def _blanked(text: str) -> str:
    """The text with blanks for its markup, but for the names of authors; as long as before."""
    bare = _MARKUP.sub(lambda markup: _only_authors(markup[0]), text)
    return _ESCAPED.sub(lambda escaped: html.unescape(escaped[0]).ljust(len(escaped[0]), _JOINER), bare)


def _only_authors(markup: str) -> str:
    kept = [" "] * len(markup)
    for author in _AUTHOR.finditer(markup):
        kept[author.start() : author.end()] = author[0]
    return "".join("\n" if was == "\n" else now for was, now in zip(markup, kept, strict=True))


def _language(id: str) -> str | None:
    return next((_LANGUAGES[part] for part in re.split("[_.]", id) if part in _LANGUAGES), None)


def _meta(id: str) -> dict[str, str]:
    genre = next((_GENRES[part] for part in re.split("[_.]", id) if part in _GENRES), None)
    language = _language(id)
    found = {"domain": genre, "language": language}
    return {key: value for key, value in found.items() if value}
