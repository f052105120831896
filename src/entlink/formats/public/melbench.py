"""MELBench's JSON: a sentence with its picture and what one or several mentions mean.

    {"17": {"id": "17", "sentence": "Ann in Ulm.", "imgPath": "17.jpg", "mentions": "Ulm", "entities": "Ulm",
            "answer": "Q3012"}, …}

The three sets are one object of entries by id; others have made lists of such entries of them. There are no offsets:
mentions are looked for. Without `imgPath`, as in Richpedia-MEL, a picture is called by the id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document, GoldLink, Image
from entlink.errors import InputError, SourceError
from entlink.formats.json_records import Fail, ItemPlace, converted, other_fields
from entlink.formats.public.find_mentions import find_mentions
from entlink.io.inputs import Input, OnProblem, failing, input_name, input_text
from entlink.io.ledger import OnError
from entlink.text.spans import Place

NIL = "nil"
_OPENING = re.compile(rb'(?:\[|\{\s*"(?:[^"\\]|\\.)*+"\s*:)\s*\{')
_KEYS = (b'"sentence"', b'"mentions"', b'"answer"')
_entries_decoder = msgspec.json.Decoder(dict[str, dict[str, Any]] | list[dict[str, Any]])
One = str | list[str]


class _Entry(msgspec.Struct):
    sentence: str
    mentions: One
    answer: One | None
    entities: One | None = None
    id: str | int | None = None
    imgPath: str | None = None  # noqa: N815 (as the files have it)


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document an entry. With `on_error="skip"` a mention that is not in its sentence is left out; an entry
    without any mention, too."""
    fail = failing(on_error, on_problem)
    name = input_name(source)
    for key, fields in _entries(source, name):
        place = ItemPlace(name, f"entry {key!r}")
        try:
            entry = converted(fields, _Entry, "", place)
            gold = tuple(_gold(entry, place, fail))
        except InputError as error:
            fail(error)
        else:
            if gold:
                yield _document(key, entry, gold, other_fields(fields, _Entry))


def looks_like(path: Path, head: bytes) -> bool:
    """An object or list of objects with a sentence, mentions and an answer."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return bool(_OPENING.match(head)) and all(key in head for key in _KEYS)


def _entries(source: Input, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        entries = _entries_decoder.decode(input_text(source))
    except msgspec.ValidationError as error:
        raise SourceError(f"the file is not one object of entries: {error}", name, hint="Check its format") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise SourceError(f"the JSON is bad or cut off: {error}", name, hint="Fetch the file again") from error
    if isinstance(entries, dict):
        yield from entries.items()
    else:
        yield from ((str(entry.get("id", number)), entry) for number, entry in enumerate(entries))


def _gold(entry: _Entry, place: Place, fail: Fail) -> Iterator[GoldLink]:
    mentions, answers = _listed(entry.mentions), _listed(entry.answer)
    names = _listed(entry.entities) or [""] * len(mentions)
    if not len(mentions) == len(answers) == len(names):
        raise place.error(
            f"there are {len(mentions)} mentions, {len(names)} entities and {len(answers)} answers",
            "Each mention needs one of each",
        )
    spans = find_mentions(entry.sentence, mentions)
    for mention, name, answer, span in zip(mentions, names, answers, spans, strict=True):
        if span is None:
            fail(place.error(f"the mention {mention!r} is not in the sentence", "--on-error skip leaves it out"))
            continue
        is_nil = answer.lower() in ("", NIL)
        yield GoldLink(span, () if is_nil else (answer,), meta={"title": name} if name else {})


def _listed(value: One | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


def _document(key: str, entry: _Entry, gold: tuple[GoldLink, ...], meta: dict[str, Any]) -> Document:
    image = entry.imgPath or (f"{key}.jpg" if entry.imgPath is None else None)
    return Document(key, entry.sentence, images=(Image(image),) if image else (), gold=gold, meta=meta)
