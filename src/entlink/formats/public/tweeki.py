"""TweekiGold: tweets with links to Wikidata, as JSON lines with offsets or as a tagged token a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from itertools import count as count_from
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from entlink.documents import Document, GoldLink, Span
from entlink.errors import InputError
from entlink.formats.json_records import Fail, decoded, first_keys, other_fields
from entlink.formats.offset_units import checked_span
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.io.lines import decoded as decoded_text
from entlink.text.spans import Place

_HEADER = re.compile(r"#\s*tweet_id\s+(\S+)")
_TAG = re.compile(r"O|[BIUSLE]-(\S+)")
# Some of the real links have a blank before or after them, and one lacks its Q.
_LINK = re.compile(r"(.+)\|\s*Q?(\d+)\s*")
_TOKEN_LINE = re.compile(rb"1\t[^\t\n]+\t(?:O|[BIUSLE]-\S+)\t(?:-|[^\t\n]+\|Q\d+)\s")
_NO_LINK = "-"
_Lines = Iterable[tuple[int, bytes]]


class _Row(msgspec.Struct):
    id: str | int
    sentence: str
    index: list[tuple[int, int]]
    link: list[str]


class _Target(NamedTuple):
    title: str
    qid: str


class _Token(NamedTuple):
    text: str
    tag: str
    type: str | None
    target: _Target | None


class _Named(NamedTuple):
    """A mention while its tokens pass by."""

    span: Span
    type: str | None
    target: _Target | None


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a tweet. The token form also has the mentions that mean nothing in Wikidata: they are NIL."""
    name, fail = input_name(source), failing(on_error, on_problem)
    with open_input(source) as file:
        lines = input_lines(file, name, fail)
        first = next(lines, None)
        if first is None:
            return
        make = _json_documents if first[1].lstrip().startswith(b"{") else _token_documents
        yield from make(chain([first], lines), name, fail)


def looks_like(path: Path, head: bytes) -> bool:
    """Objects with a sentence, index and link, or numbered and tagged tokens."""
    if {"sentence", "index", "link"} <= first_keys(head):
        return True
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    while start.startswith(b"#"):
        start = start.partition(b"\n")[2]
    return bool(_TOKEN_LINE.match(start))


def _target(link: str, field: str, place: Place) -> _Target | None:
    if link.strip() in (_NO_LINK, ""):
        return None
    match = _LINK.fullmatch(link)
    if match is None:
        problem = f"{field}: {link!r} is not a title and a Wikidata id with | between them"
        raise place.error(problem, "Write it as in Austin, Texas|Q16559, or - for none")
    return _Target(match[1].strip(), f"Q{match[2]}")


def _gold(span: Span, type: str | None, target: _Target | None) -> GoldLink:
    meta = {} if type is None else {"type": type}
    if target is None:
        return GoldLink(span, (), nil_type=type, meta=meta)
    return GoldLink(span, (target.qid,), meta={"title": target.title, **meta})


# JSON lines


def _json_documents(lines: _Lines, name: str, fail: Fail) -> Iterator[Document]:
    for number, line in lines:
        place = Place(name, number)
        try:
            row, fields = decoded(line, _Row, place)
            document = _json_document(row, fields, place)
        except InputError as error:
            fail(error)
        else:
            yield document


def _json_document(row: _Row, fields: dict[str, Any], place: Place) -> Document:
    id = str(row.id)
    if len(row.index) != len(row.link):
        problem = f"there are {len(row.index)} spans in index and {len(row.link)} links in link"
        raise place.error(problem, "Give a link for each span")
    gold = []
    for number, ((start, end), link) in enumerate(zip(row.index, row.link, strict=True)):
        span = checked_span(row.sentence, start, end, None, f"index[{number}]", id, place)
        gold.append(_gold(span, None, _target(link, f"field link[{number}]", place)))
    return Document(id, row.sentence, gold=tuple(gold), meta=other_fields(fields, _Row))


# A token a line


def _token_documents(lines: _Lines, name: str, fail: Fail) -> Iterator[Document]:
    seen: set[str] = set()
    for number, (header, tweet) in enumerate(_tweets(lines), 1):
        id = _unused(header or str(number), seen)
        seen.add(id)
        try:
            tokens = [_token(line, Place(name, at)) for at, line in tweet]
        except InputError as error:
            fail(error)
        else:
            gold = tuple(_gold(*named) for named in _named(tokens))
            yield Document(id, " ".join(token.text for token in tokens), gold=gold)


def _unused(id: str, seen: set[str]) -> str:
    """The id, or with a number behind it where it came before: documents are joined by their ids.

    TweekiGold has two tweets with the id 500.
    """
    if id not in seen:
        return id
    return next(numbered for count in count_from(2) if (numbered := f"{id}#{count}") not in seen)


def _tweets(lines: _Lines) -> Iterator[tuple[str | None, list[tuple[int, bytes]]]]:
    """The lines of each tweet with its id. A header begins one, and so does a token with the number 1."""
    id: str | None = None
    tweet: list[tuple[int, bytes]] = []
    for number, line in lines:
        is_comment = line.startswith(b"#")
        if tweet and (is_comment or line.startswith(b"1\t")):
            yield id, tweet
            id, tweet = None, []
        if not is_comment:
            tweet.append((number, line))
        elif header := _HEADER.match(line.decode(errors="replace")):
            id = header[1]
    if tweet:
        yield id, tweet


def _token(line: bytes, place: Place) -> _Token:
    cells = decoded_text(line, Path(place.file), place.line).rstrip("\r\n").split("\t")
    # Some real lines have a tab too many at their end.
    if len(cells) < 4 or any(cells[4:]):
        problem = f"the line has {len(cells)} columns between tabs, not 4"
        raise place.error(problem, "The columns are number, token, tag and link")
    if not cells[1]:
        raise place.error("the token is empty", "The columns are number, token, tag and link")
    tag = _TAG.fullmatch(cells[2])
    if tag is None:
        raise place.error(f"{cells[2]!r} is not a tag", "A tag is O, or B- or I- and a type")
    return _Token(cells[1], cells[2][0], tag[1], _target(cells[3], "the fourth column", place))


def _named(tokens: Iterable[_Token]) -> Iterator[_Named]:
    """The mentions that the tags mark, and those that have only a link."""
    current: _Named | None = None
    start = 0
    for token in tokens:
        end = start + len(token.text)
        is_named = token.tag != "O" or token.target is not None
        if current is not None and is_named and not _opens(token, current):
            current = _Named(Span(current.span.start, end), current.type, current.target or token.target)
        else:
            if current is not None:
                yield current
            current = _Named(Span(start, end), token.type, token.target) if is_named else None
        start = end + 1
    if current is not None:
        yield current


def _opens(token: _Token, current: _Named) -> bool:
    """Whether a new mention begins: the tag says so, or the type or the entity is another."""
    others = token.target is not None and current.target is not None and token.target.qid != current.target.qid
    return token.tag in "BUS" or token.type != current.type or others
