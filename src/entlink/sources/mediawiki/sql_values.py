"""The text of a MySQL dump, a block at a time, and what stands in it: statements, rows and their values."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Literal, Protocol

from entlink.errors import FieldError, SourceError
from entlink.io.files import broken_stream_errors
from entlink.io.lines import cut_off
from entlink.text.field_limits import check_text

Value = str | int | float | None
Row = tuple[Value, ...]
Converter = Callable[[Sequence[str]], Sequence[Value]]

BLOCK = 1 << 18
# What MySQL itself takes for one packet by default, so that a quote left open cannot fill the memory.
MAX_ROW = 1 << 24

# No choice in any of these can be taken back: a text that does not match is given up after one look at it.
_STRING = r"'[^'\\]*+(?:\\.[^'\\]*+)*+'"
_VALUE = rf"[^'\\,();]*+(?:{_STRING})?+"
_STRINGS = re.compile(_STRING, re.DOTALL)
_ANY_ROW = re.compile(rf"(?P<row>\((?:[^')]++|{_STRING})*+\))\s*+(?:,|(?=;)|(?P<garbage>\S))", re.DOTALL)
_SPACE = re.compile(r"\s*+")

_BLANK = re.compile(r"(?:[\s;\ufeff]++|--[^\n]*+\n|\#[^\n]*+\n|/\*(?:[^*]++|\*(?!/))*+\*/)++")
_NAME = r"(?:`[^`]++`|[\w$]++)"
INSERT = re.compile(
    rf"(?:INSERT|REPLACE)\s++(?:IGNORE\s++)?INTO\s++(?:{_NAME}\.)?(?P<table>{_NAME})"
    r"\s*+(?:\((?P<columns>[^()]*+)\)\s*+)?VALUES\s*+(?=\()",
    re.IGNORECASE,
)
_INSERTING = re.compile("INSERT|REPLACE", re.IGNORECASE)
_STATEMENT = re.compile(
    r"""[a-z](?:[^;'"`]++|'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+"|`[^`]*+`)*+;""", re.DOTALL | re.IGNORECASE
)
_BEGINNING = re.compile(
    r"/\*|--|\#|(?:ALTER|ANALYZE|BEGIN|COMMIT|CREATE|DELETE|DROP|INSERT|LOCK|REPLACE|SET|START|TRUNCATE|UNLOCK|USE)\b",
    re.IGNORECASE,
)
_LONGEST_BEGINNING = 16
_DAMAGED = "Is the file damaged? Fetch it again"

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")  # Python makes no integer of many more digits
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX = re.compile(r"0x(?:[0-9a-f]{2})*", re.IGNORECASE)
_BAD_BYTE = re.compile("[\udc80-\udcff]")


class ByteStream(Protocol):
    """A file that gives what it has, at most so many bytes."""

    def read1(self, size: int = -1, /) -> bytes: ...


class SqlText:
    """The unread part of a dump: `ahead[at:]`; whoever reads on moves `at`.

    Bytes that are not UTF-8 stand in it as lone surrogates, since columns that nobody asks for may well be
    binary. `is_odd` says that there are such bytes, or a NUL.
    """

    def __init__(self, file: ByteStream, path: Path) -> None:
        self.path = path
        self.ahead, self.at, self.is_odd = "", 0, False
        self.rows = 0  # how many came before `at`
        self._file = file
        self._undecoded = b""
        self._is_at_end = False
        self._broken: Exception | None = None
        self._counted, self._line, self._byte = 0, 1, 0

    def more(self) -> bool:
        """Read at least as much again as is unread; False at the end.

        As the text doubles, looking at it anew each time costs no more than a few looks at the last of it.
        """
        if self._is_at_end:
            return False
        self._count()
        unread = self.ahead[self.at :]
        if len(unread) > MAX_ROW:
            raise self.error(f"what begins here does not end within {MAX_ROW:,} characters", "Is a quote left open?")
        self.is_odd = self.is_odd and bool(unread)
        self.ahead, self.at, self._counted = unread + self._read(max(BLOCK, len(unread))), 0, 0
        return True

    def _read(self, size: int) -> str:
        pieces = [self._undecoded]
        try:
            while size > 0 and (piece := self._file.read1(BLOCK)):
                pieces.append(piece)
                size -= len(piece)
            self._is_at_end = size > 0
        except broken_stream_errors() as error:
            self._broken, self._is_at_end = error, True
        # A comment in the last line ends with it, whether or not the line does.
        return self._decoded(b"".join(pieces)) + "\n" * self._is_at_end

    def _decoded(self, data: bytes) -> str:
        try:
            text, used = codecs.utf_8_decode(data, "strict", self._is_at_end)
        except UnicodeDecodeError:
            text, used = codecs.utf_8_decode(data, "surrogateescape", self._is_at_end)
            self.is_odd = True
        self._undecoded = data[used:]
        self.is_odd = self.is_odd or "\0" in text
        return text

    def place(self) -> str:
        """Where `at` is in the unpacked file: the line from 1 and the byte from 0."""
        self._count()
        return f"line {self._line}, byte {self._byte}"

    def _count(self) -> None:
        passed = self.ahead[self._counted : self.at]
        self._line += passed.count("\n")
        self._byte += len(passed) if passed.isascii() else len(passed.encode(errors="surrogateescape"))
        self._counted = self.at

    def error(self, problem: str, hint: str = "") -> SourceError:
        """An error about what stands at `at`."""
        return SourceError(problem, str(self.path), self.place(), hint)

    def cut_off_in(self, what: str) -> SourceError:
        """The error for a text that ends too early."""
        so_far = f"{self.rows} rows were read"
        if self._broken is not None:
            return cut_off(self.path, self._broken, self.place(), so_far)
        return self.error(f"the file ends in the middle of a {what}; {so_far} before that", "Is the file complete?")

    def next_statement(self) -> re.Match[str] | None:
        """The next statement, `at` behind it; of an INSERT only what precedes its first row. None at the end."""
        while True:
            if blank := _BLANK.match(self.ahead, self.at):
                self.at = blank.end()
            if found := INSERT.match(self.ahead, self.at) or _STATEMENT.match(self.ahead, self.at):
                self._check_beginning()
                if found.re is not INSERT and _INSERTING.match(found[0]):
                    raise self.error("this INSERT names no table with VALUES", "Dump the table with mysqldump")
                self.at = found.end()
                return found
            unread = len(self.ahead) - self.at
            if unread >= _LONGEST_BEGINNING:
                self._check_beginning()
            if not self.more():
                if self._broken is None and not unread:
                    return None
                if self._broken is None:
                    self._check_beginning()
                raise self.cut_off_in("statement")

    def _check_beginning(self) -> None:
        if not _BEGINNING.match(self.ahead, self.at):
            found = self.ahead[self.at : self.at + 20]
            raise self.error(
                f"{found!r} is no SQL: this is not a dump of a table", "Give a file like enwiki-page.sql.gz"
            )

    def skip_space(self) -> None:
        """Move to what is not blank."""
        if found := _SPACE.match(self.ahead, self.at):
            self.at = found.end()

    def any_row(self) -> re.Match[str] | None:
        """What stands in brackets, be it a `row` of the table or not; None where it is not all there.

        An error when it is not followed by what may follow a row.
        """
        if self.at < len(self.ahead) and self.ahead[self.at] != "(":
            raise self.error(f"a row should begin here, not {self.ahead[self.at : self.at + 20]!r}", _DAMAGED)
        found = _ANY_ROW.match(self.ahead, self.at)
        if found and found["garbage"]:
            self.at = found.start("garbage")
            raise self.error(f"{self.ahead[self.at : self.at + 20]!r} follows a row", _DAMAGED)
        return found


def values_in(row: str) -> int:
    """How many values the text of a row has."""
    return _STRINGS.sub("", row).count(",") + 1


def unquoted(name: str) -> str:
    """A name without its backticks."""
    return name.strip().strip("`")


_LARGEST = 2**63 - 1


def value_of(token: str) -> Value:
    """What a value as written in SQL means."""
    plain = token.strip().removeprefix("_binary").lstrip()
    if plain.startswith("'"):
        return _unescaped(plain[1:-1])
    if plain.upper() == "NULL":
        return None
    if _INTEGER.fullmatch(plain):
        return int(plain)
    if _HEX.fullmatch(plain):
        return _clean(bytes.fromhex(plain[2:]).decode(errors="surrogateescape"))
    if _FLOAT.fullmatch(plain):
        return float(plain)
    raise FieldError(f"holds {plain[:40]!r}, which is no value in SQL")


def _unescaped(text: str) -> str:
    if "\\\\" not in text:
        text = text.replace("\\'", "'").replace('\\"', '"')  # these two are nearly all, and this is the quickest
    if "\\" in text:
        text = _ESCAPE.sub(_meaning, text)
        if "\0" in text:
            check_text(text)
    return text


def _meaning(escape: re.Match[str]) -> str:
    return _ESCAPED.get(escape[1], escape[1])


def _clean(text: str) -> str:
    if bad := _BAD_BYTE.search(text):
        raise FieldError(f"holds the byte 0x{ord(bad[0]) - 0xDC00:02x}, which is not valid UTF-8 there")
    check_text(text)
    return text


def any_values(tokens: Sequence[str]) -> Sequence[Value]:
    """The values of a column, whatever they are."""
    if tokens[0][:1].isdigit():
        try:
            return list(map(int, tokens))
        except ValueError:
            pass
    return _all_quoted(tokens) or [value_of(token) for token in tokens]


def integers(tokens: Sequence[str]) -> Sequence[Value]:
    """The values of a column of numbers without fraction."""
    try:
        values = list(map(int, tokens))
    except ValueError:
        return [_of_type(int, token) for token in tokens]
    if max(values) > _LARGEST or min(values) < -_LARGEST:
        raise FieldError("holds a number of more than 64 bits")
    return values


def strings(tokens: Sequence[str]) -> Sequence[Value]:
    """The values of a column of texts."""
    return _all_quoted(tokens) or [_of_type(str, token) for token in tokens]


def _all_quoted(tokens: Sequence[str]) -> Sequence[Value]:
    """The values of tokens that are all of them quoted; none at all when one is not, or holds a NUL."""
    joined = "\0".join(tokens)
    values = joined[1:-1].split("'\0'")
    if not joined.count("\0") + 1 == len(tokens) == len(values) or joined[:1] != "'" or joined[-1] != "'":
        return ()
    if "\\" in joined:
        return [_unescaped(value) if "\\" in value else value for value in values]
    return values


def _of_type(type: type[int] | type[str], token: str) -> Value:
    value = value_of(token)
    if not isinstance(value, type):
        raise FieldError(f"holds {token.strip()[:40]} instead of a {'number' if type is int else 'text'}")
    return value


Kind = Literal["any", "integer", "string"]
_CONVERTERS: Mapping[Kind, Converter] = {"any": any_values, "integer": integers, "string": strings}


class RowPlan:
    """Which columns of a table's rows are wanted, as a pattern that takes a whole row, and as what they are given.

    Only rows are given whose column has one of the values that `only` has for it.
    """

    def __init__(
        self, columns: Sequence[str], wanted: Mapping[str, Kind], only: Mapping[str, Collection[Value]], insert: str
    ) -> None:
        captured = [name for name in columns if name in wanted or name in only]
        self.columns = columns
        self._filters = [(name, captured.index(name), frozenset(allowed)) for name, allowed in only.items()]
        self._wanted = [(name, captured.index(name), _CONVERTERS[kind]) for name, kind in wanted.items()]
        self.row = _row_pattern([name in captured for name in columns], insert)

    def window(self, text: SqlText) -> int:
        """How much must be looked at to find the row at `at`; 0 where there is no good row."""
        found = self.row.match(text.ahead, text.at)
        if found is None or found[self.row.groups] is not None:
            return 0
        return found.end() - text.at + 1  # with the character that ends it, which is no part of it

    def rows_of(self, found: Sequence[tuple[str, ...]], is_odd: bool) -> list[Row]:
        """The rows that `row` found; a FieldError when one of them is bad, without saying which."""
        for name, number, allowed in self._filters:
            values = _converted(name, any_values, [tokens[number] for tokens in found], is_odd)
            found = list(compress(found, [value in allowed for value in values]))
            if not found:
                return []
        tokens = list(zip(*found, strict=True))
        given = [_converted(name, converter, tokens[number], is_odd) for name, number, converter in self._wanted]
        return list(zip(*given, strict=True))


def _row_pattern(is_captured: Sequence[bool], insert: str) -> re.Pattern[str]:
    """Matches a row with the comma behind it, or with the semicolon and the next statement that begins like `insert`.

    What begins with no row is one match as well, the last and all of it, so that no text is passed over.
    """
    values = ",".join(f"({_VALUE})" if is_wanted else _VALUE for is_wanted in is_captured)
    between = rf"\s*+(?:,\s*+|;\s*+{re.escape(insert)}(?=\()|(?=;))"
    return re.compile(rf"\({values}\){between}|(.++)", re.DOTALL)


def _converted(name: str, converter: Converter, tokens: Sequence[str], is_odd: bool) -> Sequence[Value]:
    try:
        values = converter(tokens)
        if is_odd:
            # One look at all of them together: in some tables there are odd bytes everywhere, in columns not wanted.
            _clean_together(values)
    except FieldError as error:
        raise error.of("column", name) from None
    return values


def _clean_together(values: Sequence[Value]) -> None:
    _clean("".join([value for value in values if isinstance(value, str)]))
