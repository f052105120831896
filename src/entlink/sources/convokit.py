"""Corpora of ConvoKit as streams of utterances.

A corpus is a folder. Since 2020 its utterances are lines of `utterances.jsonl`, with `speaker` and `conversation_id`;
before, they were one array, `utterances.json`, with `user` and `root`. What an utterance answers is `reply-to` or
`reply_to`. Both layouts, and mixtures of them, are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from entlink.errors import FieldError, SourceError
from entlink.io.files import Meter, open_bytes, plain_name
from entlink.io.ledger import OnError
from entlink.io.lines import read_json_lines
from entlink.sources.columns import ColumnMapping
from entlink.sources.json_array import array_items, object_members
from entlink.sources.reading import Reading

_LINES, _ARRAY, _ABOUT = "utterances.jsonl", "utterances.json", "corpus.json"
_CONVERSATIONS = "conversations.json"
_PREFIX, _SUFFIX = "subreddit-", ".corpus"
_LATEST = 10**11  # seconds; later than the year 5000, so that milliseconds are told apart
_LEFT_OUT = "--on-error skip leaves it out"
Name = str | int | UnsetType | None


class Utterance(msgspec.Struct, frozen=True, gc=False):
    """One post or comment; `number` is its line, or its place in the array. A root has no parent."""

    id: str
    conversation: str
    parent: str | None
    speaker: str
    time: int
    text: str
    subreddit: str | None
    number: int


class _Meta(msgspec.Struct, gc=False):
    subreddit: Any = None


class _Row(msgspec.Struct, gc=False):
    id: Name = UNSET
    text: str | UnsetType | None = UNSET
    speaker: Name = UNSET
    user: Name = UNSET
    conversation_id: Name = UNSET
    root: Name = UNSET
    reply_to: Name = UNSET
    reply: Name = msgspec.field(default=UNSET, name="reply-to")
    timestamp: float | int | str | UnsetType | None = UNSET
    meta: _Meta | None = None


class _Titled(msgspec.Struct, gc=False):
    """What is said of a conversation: in newer corpora under `meta`."""

    title: Any = None
    meta: dict[str, Any] | None = None


class Corpus:
    """A corpus on disk. `subreddit` is what its folder or its `corpus.json` says it is of, None if neither does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_array = plain_name(path).endswith(".json")
        self.subreddit = _subreddit(path.parent)
        self.name = path.parent.name or path.name
        self.size = path.stat().st_size

    def where(self, number: int) -> str:
        """The place of an utterance, for messages."""
        return f"item {number}" if self.is_array else f"line {number}"

    def reading(self, on_error: OnError) -> Reading:
        """A ledger for `utterances`."""
        return Reading((self.path,), ColumnMapping(None), on_error, None)

    def utterances(self, reading: Reading) -> Iterator[Utterance]:
        """The utterances in the order of the file; bad ones stop the reading or are told to it."""
        for number, row in self._rows(reading):
            try:
                utterance = _utterance(row, self.subreddit, number)
            except FieldError as error:
                reading.fail(error.at(self.path, self.where(number)))
                continue
            reading.records += 1
            yield utterance

    def titles(self, reading: Reading) -> Iterator[tuple[str, str]]:
        """The title of each conversation that has one, from `conversations.json` beside the utterances."""
        path = next((file for file in self.path.parent.iterdir() if plain_name(file) == _CONVERSATIONS), None)
        if path is None:
            hint = "Fetch the corpus again, or do without titles"
            raise SourceError(
                f"titles of posts are in {_CONVERSATIONS}, which is not there", str(self.path), hint=hint
            )
        decoder, names = msgspec.json.Decoder(_Titled), msgspec.json.Decoder(str)
        with open_bytes(path, Meter()) as file:
            members = object_members(file, path)
            while True:
                try:
                    name, said = next(members)
                    titled = decoder.decode(said)
                    title = (titled.meta or {}).get("title") or titled.title
                    if isinstance(title, str) and title.strip():
                        yield names.decode(name).strip(), title.strip()
                except StopIteration:
                    return
                except SourceError as error:
                    reading.fail(error)
                    return
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    reading.fail(SourceError(f"conversation {name!r} is bad: {error}", str(path), hint=_LEFT_OUT))

    def _rows(self, reading: Reading) -> Iterator[tuple[int, _Row]]:
        decoder = msgspec.json.Decoder(_Row)
        if not self.is_array:
            for number, row, _ in read_json_lines(self.path, reading, decoder):
                yield number, row
            return
        with open_bytes(self.path, reading.meter) as file:
            items = array_items(file, self.path)
            while True:
                try:
                    number, item = next(items)
                    yield number, _decoded(item, decoder, self.path, number)
                except StopIteration:
                    return
                except SourceError as error:
                    reading.fail(error)


def find_corpora(path: Path) -> list[Corpus]:
    """The corpora at a path: a file of utterances, the folder of a corpus, or a folder of such folders."""
    if path.is_file():
        return [Corpus(path)]
    if not path.is_dir():
        raise SourceError("there is no such file or folder", str(path), hint="Check the path")
    own = _utterances_file(path)
    if own is not None:
        return [Corpus(own)]
    folders = sorted({file.parent for file in path.rglob("utterances.json*")})
    found = [file for folder in folders if (file := _utterances_file(folder)) is not None]
    if not found:
        hint = f"A corpus is a folder with {_LINES}, or {_ARRAY} in older ones; unpack it if it is a zip archive"
        raise SourceError("there is no ConvoKit corpus here", str(path), hint=hint)
    return [Corpus(file) for file in found]


def _utterances_file(folder: Path) -> Path | None:
    """Where both layouts are there, the newer one counts, as in ConvoKit itself."""
    files = sorted(file for file in folder.iterdir() if file.is_file())
    for name in (_LINES, _ARRAY):
        for file in files:
            if plain_name(file) == name:
                return file
    return None


def _subreddit(folder: Path) -> str | None:
    about = folder / _ABOUT
    if about.is_file():
        try:
            said = msgspec.json.decode(about.read_bytes(), type=_Meta).subreddit
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise SourceError(f"the JSON is bad: {error}", str(about), hint="Fetch the corpus again") from error
        if isinstance(said, str) and said:
            return said
    name = folder.name.removesuffix(_SUFFIX)
    return name.removeprefix(_PREFIX) if name.startswith(_PREFIX) or name != folder.name else None


def _decoded(item: bytes, decoder: msgspec.json.Decoder[_Row], path: Path, number: int) -> _Row:
    try:
        return decoder.decode(item)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"the utterance is bad: {error}", str(path), f"item {number}", _LEFT_OUT) from error


def _utterance(row: _Row, subreddit: str | None, number: int) -> Utterance:
    said = row.meta.subreddit if row.meta is not None else None
    if row.text is UNSET:
        raise FieldError("field 'text' is missing", _LEFT_OUT)
    return Utterance(
        _named("id", row.id),
        _named("conversation_id", row.conversation_id, row.root),
        _parent(row),
        _named("speaker", row.speaker, row.user),
        _seconds(row.timestamp),
        row.text or "",
        said if isinstance(said, str) and said else subreddit,
        number,
    )


def _named(field: str, *values: Name) -> str:
    """The first value that is one; every utterance must have an id, a conversation and a speaker."""
    given = [str(value).strip() for value in values if value is not UNSET and value is not None]
    if not given:
        raise FieldError(f"field {field!r} is missing or null", _LEFT_OUT)
    if not given[0]:
        raise FieldError(f"field {field!r} is empty", _LEFT_OUT)
    return given[0]


def _parent(row: _Row) -> str | None:
    if row.reply_to is UNSET and row.reply is UNSET:
        raise FieldError("field 'reply-to' is missing", f"It must name an utterance, or be null. {_LEFT_OUT}")
    values = [value for value in (row.reply_to, row.reply) if value is not UNSET and value is not None]
    return (str(values[0]).strip() or None) if values else None


def _seconds(value: float | int | str | UnsetType | None) -> int:
    """Seconds since 1970, whether they stand there as a number or as text."""
    if value is UNSET or value is None or value == "":
        raise FieldError("field 'timestamp' is missing or null", f"Without a date no split is told. {_LEFT_OUT}")
    try:
        seconds = int(float(value))
    except (ValueError, OverflowError):
        raise FieldError(f"field 'timestamp' is {value!r}", f"It must be seconds since 1970. {_LEFT_OUT}") from None
    if not 0 <= seconds < _LATEST:
        raise FieldError(f"field 'timestamp' is {value!r}", "It must be seconds since 1970, not milliseconds")
    return seconds
