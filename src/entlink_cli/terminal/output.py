"""Printing: results on stdout, notes on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

# One sign for one, so that offsets hold; a text must not be able to steer the terminal.
_SIGNS = (
    {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}
    | dict.fromkeys(range(0x7F, 0xA0), 0xFFFD)
    | {ord("\r"): ord(" ")}
)


def say(*lines: str) -> None:
    """Lines on stdout, for people."""
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))


def named(title: str, id: str) -> str:
    """An entity for a person: its title, and its id where that is another."""
    return title if title == id else f"{title} ({id})"


def printable(text: str) -> str:
    """The text with signs in place of its control characters, as many as there were."""
    return text if text.isprintable() else text.translate(_SIGNS)


def note(message: str) -> None:
    """A line on stderr, where it does not get mixed with results."""
    sys.stderr.write(f"entlink: {message}\n")


def say_json(value: Any) -> None:
    """A value as indented JSON on stdout, in UTF-8 whatever the terminal's encoding."""
    import msgspec

    write_bytes(msgspec.json.format(msgspec.json.encode(_plain(value))) + b"\n")


def write_bytes(data: bytes) -> None:
    """Bytes on stdout, after what was written as text."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def _plain(value: Any) -> Any:
    """Named tuples as objects, not as arrays."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items()}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def columns(rows: Iterable[Sequence[str]], indent: str = "") -> list[str]:
    """Rows as lines with their cells aligned; the last cell of a row is as long as it is."""
    rows = list(rows)
    widths: dict[int, int] = {}
    for row in rows:
        for place, cell in enumerate(row[:-1]):
            widths[place] = max(widths.get(place, 0), width(cell))
    return [indent + _line(row, widths) for row in rows]


def _line(row: Sequence[str], widths: dict[int, int]) -> str:
    padded = [cell + " " * (widths[place] - width(cell)) for place, cell in enumerate(row[:-1])]
    return "  ".join([*padded, row[-1]]).rstrip() if row else ""


def width(text: str) -> int:
    """Columns of a terminal that the text takes; Chinese characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def one_line(text: str, most: int = 100) -> str:
    """A text cut to the first `most` characters, without line breaks."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def size(count: int) -> str:
    """Bytes for people."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def number_of(count: int, noun: str, plural: str = "") -> str:
    """`1 entity`, `2,000 entities`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
