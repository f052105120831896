"""The mentions that REL found: what its API answers for one text, or its batch mode for many.

A mention is `[start, length, mention, entity, confidence of the entity, confidence of the mention, tag]`; what
stands behind the first confidence may be left out. A file holds

- a list of such mentions, the answer for one text,
- an object that gives each document's list: `{"doc1": [[0, 5, "Obama", "Barack_Obama", 0.9, 0.8, "PER"]]}`,
- or lines of either.

REL gives back no texts: a document's text is empty, its `meta` says that it lacks one, and a mention keeps its own.
A document without an id has the number of its line. The entity is the title with spaces, where REL
has `_`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document, Link, Mention, Span
from entlink.errors import InputError
from entlink.formats.foreign import LACKS_TEXT, Fail, beginnings, decoded, id_of, json_values
from entlink.io.inputs import Input, OnProblem, failing
from entlink.io.ledger import OnError
from entlink.text.spans import Place, span_problem
from entlink.text.titles import spaced

Found = list[list[Any]]

# What older versions of REL wrote where the entity stands now, behind the entity.
_TAGS = ("PER", "LOC", "ORG", "MISC", "NULL")
_LARGEST = 2**53
_ROW = "A mention is [start, length, mention, entity, confidence, confidence of the mention, tag]"
_decoder = msgspec.json.Decoder(Found | dict[str, Found])


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document for each list of mentions."""
    fail = failing(on_error, on_problem)
    for place, value in json_values(source, fail):
        try:
            answer = decoded(value, _decoder, place)
        except InputError as error:
            fail(error)
            continue
        named = answer if isinstance(answer, dict) else {id_of(None, place): answer}
        yield from _documents(named, place, fail)


def looks_like(path: Path, head: bytes) -> bool:
    """Lists of mentions as REL has them, each with a number behind its entity."""
    lists = [one for value in beginnings(head) for one in (value.values() if isinstance(value, dict) else [value])]
    if not lists or not all(isinstance(one, list) for one in lists):
        return False
    rows = [row for one in lists for row in one]
    # The head may cut off the last mention.
    return bool(rows) and all(_problem(row) is None for row in rows[:-1] or rows)


def _documents(named: dict[str, Found], place: Place, fail: Fail) -> Iterator[Document]:
    for id, found in named.items():
        try:
            links = tuple(_link(row, index, id, place) for index, row in enumerate(found))
        except InputError as error:
            fail(error)
        else:
            yield Document(id, "", links=links, meta=dict(LACKS_TEXT))


def _link(row: list[Any], index: int, id: str, place: Place) -> Link:
    problem = _problem(row)
    if problem is not None:
        raise place.error(f"document {id!r}, mention {index}: {problem}", _ROW)
    start, length, surface, entity, score = row[:5]
    if start < 0 or length < 1:
        raise place.span_error(id, f"mention {index}: {span_problem(start, start + length)}", _ROW)
    confidence = next((float(value) for value in row[5:6] if isinstance(value, int | float)), None)
    tag = next((value for value in row[5:7] if isinstance(value, str)), None)
    mention = Mention(Span(start, start + length), surface, None if tag in (None, "", "NULL") else tag, confidence)
    if entity in ("", "NIL"):
        return Link(mention, None, float(score), nil_type=mention.type)
    title = spaced(entity)
    return Link(mention, title, float(score), title=title)


def _problem(row: Any) -> str | None:
    """What is wrong with a mention."""
    if not isinstance(row, list) or not 5 <= len(row) <= 7:
        return f"it has {len(row) if isinstance(row, list) else 'no'} values"
    kinds = ((int, "start"), (int, "length"), (str, "mention"), (str, "entity"), (int | float, "confidence"))
    for value, (kind, name) in zip(row, kinds, strict=False):
        if not isinstance(value, kind) or isinstance(value, bool):
            return f"its {name} is {value!r}"
    if any(isinstance(value, int) and abs(value) > _LARGEST for value in row):
        return "one of its numbers is too large"
    if row[3] in _TAGS and len(row[2]) != row[1]:
        return f"its entity is the tag {row[3]!r}, as in older versions of REL"
    return None
