"""Read the hand-written page files (`*.wiki`): a title line, header lines, a blank line, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import NoReturn

from entlink.errors import SourceError

SINGLE_KEYS = ("id", "language", "image", "version")
LIST_KEYS = ("type", "alias")
FIRST_DAY, LAST_DAY = "0000-00-00", "9999-99-99"

_TITLE = re.compile(r"=== (\S.*?) ===")
_HEADER = re.compile(r"([a-z]+(?:\.[a-z]+)?):\s*(\S.*)")
_PERIOD = re.compile(r"(\S*?)\s*\.\.\s*(\S*)")


def fail(file: str, line: int, problem: str, hint: str) -> NoReturn:
    """Raise the error of one line of one page file."""
    raise SourceError(problem, file, f"line {line}", hint)


@dataclass
class WikiPage:
    """One version of one page as it stands in its file; paragraphs come with their line numbers."""

    file: str
    line: int
    title: str
    single: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    external: dict[str, str] = field(default_factory=dict)
    paragraphs: list[tuple[int, str]] = field(default_factory=list)
    valid_from: str | None = None
    valid_to: str | None = None

    @property
    def id(self) -> str:
        return self.single["id"]

    @property
    def language(self) -> str:
        return self.single.get("language", "en")

    @property
    def image(self) -> str | None:
        return self.single.get("image")

    @property
    def types(self) -> list[str]:
        return self.lists.get("type", [])

    @property
    def aliases(self) -> list[str]:
        return self.lists.get("alias", [])

    @property
    def period(self) -> tuple[str, str]:
        """Half-open, as ISO dates; an open end is earlier or later than any date."""
        return self.valid_from or FIRST_DAY, self.valid_to or LAST_DAY


def read_folder(folder: Path) -> Iterator[WikiPage]:
    """All pages of all `*.wiki` files of a folder, files in the order of their names."""
    files = sorted(folder.glob("*.wiki"))
    if not files:
        raise SourceError("no *.wiki file here", str(folder), hint="Name the folder of the page files.")
    for file in files:
        yield from read_file(file)


def read_file(path: Path) -> Iterator[WikiPage]:
    """The pages of one file, in order."""
    page: WikiPage | None = None
    in_header = False
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            text = line.strip()
            if text.startswith("==="):
                if page:
                    yield _checked(page)
                page, in_header = _start(path, number, text), True
            elif page is None:
                _refuse_stray(path, number, text)
            elif not text:
                in_header = False
            elif in_header:
                _add_header(page, number, text)
            else:
                page.paragraphs.append((number, text))
    if page:
        yield _checked(page)


def _start(path: Path, number: int, text: str) -> WikiPage:
    match = _TITLE.fullmatch(text)
    if not match:
        fail(str(path), number, f"bad title line {text!r}", "Write it as '=== Title ==='.")
    return WikiPage(str(path), number, match[1])


def _refuse_stray(path: Path, number: int, text: str) -> None:
    if text:
        fail(str(path), number, "text before the first title line", "Start with '=== Title ==='.")


def _add_header(page: WikiPage, number: int, text: str) -> None:
    match = _HEADER.fullmatch(text)
    if not match:
        hint = "Write 'key: value', and a blank line between the header and the text."
        fail(page.file, number, f"bad header line {text!r}", hint)
    key, value = match[1], match[2]
    if key in LIST_KEYS:
        page.lists.setdefault(key, []).extend(_split(value))
    elif key in SINGLE_KEYS:
        _set_once(page, page.single, number, key, value)
    elif key.startswith("external."):
        _set_once(page, page.external, number, key.removeprefix("external."), value)
    else:
        known = ", ".join((*SINGLE_KEYS, *LIST_KEYS, "external.NAME"))
        fail(page.file, number, f"unknown header {key!r}", f"Known headers: {known}.")
    if key == "version":
        page.valid_from, page.valid_to = _parse_period(page, number, value)


def _split(value: str) -> list[str]:
    return [part.strip() for part in value.split(";") if part.strip()]


def _set_once(page: WikiPage, fields: dict[str, str], number: int, key: str, value: str) -> None:
    if key in fields:
        fail(page.file, number, f"header {key!r} given twice", "Keep one of the two lines.")
    fields[key] = value


def _parse_period(page: WikiPage, number: int, value: str) -> tuple[str | None, str | None]:
    match = _PERIOD.fullmatch(value)
    if not match or not (match[1] or match[2]):
        hint = "Write 'FROM .. TO', 'FROM ..' or '.. TO' with dates like 2018-04-19."
        fail(page.file, number, f"bad version {value!r}", hint)
    start, end = _parse_date(page, number, match[1]), _parse_date(page, number, match[2])
    if start and end and start >= end:
        fail(page.file, number, f"version {value!r} ends before it begins", "Put the earlier date first.")
    return start, end


def _parse_date(page: WikiPage, number: int, text: str) -> str | None:
    if not text:
        return None
    try:
        day = date.fromisoformat(text).isoformat()
    except ValueError:
        day = ""
    if day != text:
        fail(page.file, number, f"bad date {text!r}", "Write dates as YYYY-MM-DD.")
    return text


def _checked(page: WikiPage) -> WikiPage:
    if "id" not in page.single:
        fail(page.file, page.line, f"page {page.title!r} has no id", "Add a line 'id: some-short-name'.")
    if not page.paragraphs:
        hint = "Put a blank line after the header, then the text, one line a paragraph."
        fail(page.file, page.line, f"page {page.title!r} has no text", hint)
    return page
