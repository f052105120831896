"""What WikiExtractor writes: `<doc …>` elements or JSON lines, in one file or a folder of `wiki_00` files."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import msgspec

from entlink.documents import Entity
from entlink.errors import FieldError, SourceError
from entlink.io.lines import decoded, read_json_lines, read_lines
from entlink.sources.fields import as_id, as_title, converted
from entlink.sources.page import Anchor, Page, Paragraph
from entlink.sources.reading import Reading
from entlink.text.field_limits import check_texts

# Titles are written unescaped: a quote ends the value only where the next attribute or the tag's end follows.
_ATTRIBUTE = re.compile(r'(\w+)="((?:[^"]|"(?!\s+\w+="|\s*>\s*$))*)"')
# Recent versions escape the whole text, their own links included.
_LINK = re.compile(r'(?:<|&lt;)a href=(?:"|&quot;)(.*?)(?:"|&quot;)(?:>|&gt;)(.*?)(?:<|&lt;)/a(?:>|&gt;)')
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//|mailto:", re.IGNORECASE)
_CLOSE = "</doc>"


class _Article(msgspec.Struct):
    id: str | int
    title: str
    text: str = ""
    url: str | None = None


_DECODER = msgspec.json.Decoder(_Article)


def read(reading: Reading) -> Iterator[Page]:
    """One page a document, a paragraph a line; links of `--links` name the title of their target."""
    for path in reading.files:
        if _is_json(path, reading):
            yield from _read_json(path, reading)
        else:
            yield from _read_elements(path, reading)


def _is_json(path: Path, reading: Reading) -> bool:
    """Whether the file's first line is a JSON object; this look ahead is not part of the pass."""
    ahead = Reading((path,), reading.columns, "skip", None)
    first = (line.lstrip()[:1] for _, line in read_lines(path, ahead) if not line.isspace())
    return next(first, b"") == b"{"


def _read_json(path: Path, reading: Reading) -> Iterator[Page]:
    for number, article, _ in read_json_lines(path, reading, _DECODER):
        try:
            page = _page(article, article.text.split("\n"), reading.language)
        except FieldError as error:
            reading.fail(error.at(path, f"line {number}"))
            continue
        yield page


class _Element:
    """A `<doc>` being read: where it began, what stands in it, and the first thing wrong with it."""

    def __init__(self, start: int, tag: str) -> None:
        self.start = start
        self.lines: list[str] = []
        self.error: SourceError | None = None
        attributes = dict(_ATTRIBUTE.findall(tag))
        self.article = _Article(
            html.unescape(attributes.get("id", "")),
            html.unescape(attributes.get("title", "")),
            url=html.unescape(attributes.get("url", "")) or None,
        )

    def unclosed(self, path: Path) -> SourceError:
        problem = f"the <doc> that begins here, {self.article.title[:80]!r}, has no </doc>"
        return SourceError(problem, str(path), f"line {self.start}", "Is the file complete?")


def _read_elements(path: Path, reading: Reading) -> Iterator[Page]:
    for element in _elements(path, reading):
        try:
            if element.error is not None:
                raise element.error
            page = _page(element.article, element.lines, reading.language)
        except FieldError as error:
            reading.fail(error.at(path, f"line {element.start}"))
        except SourceError as error:
            reading.fail(error)
        else:
            yield page


def _elements(path: Path, reading: Reading) -> Iterator[_Element]:
    element: _Element | None = None
    for number, raw in read_lines(path, reading):
        line, error = _line(raw, path, number)
        if line.startswith("<doc ") and line.endswith(">"):
            if element is not None:
                reading.fail(element.unclosed(path))
            element = _Element(number, line)
        elif element is None:
            if line:
                error = error or SourceError("the line stands outside of any <doc>", str(path), f"line {number}")
                reading.fail(error)
            continue
        elif line == _CLOSE:
            yield element
            element = None
            continue
        else:
            element.lines.append(line)
        element.error = element.error or error
    if element is not None and not reading.is_cut_off:
        reading.fail(element.unclosed(path))


def _line(raw: bytes, path: Path, number: int) -> tuple[str, SourceError | None]:
    """The stripped line; one that is not UTF-8 comes with its error, for its document to be left out."""
    try:
        return decoded(raw, path, number).strip(), None
    except SourceError as error:
        return raw.decode(errors="replace").strip(), error


def _page(article: _Article, lines: list[str], language: str | None) -> Page:
    id = converted("id", as_id, article.id)
    title = converted("title", as_title, article.title)
    check_texts({"id": id, "title": title, "url": article.url, "text": "\n".join(lines)})
    paragraphs = tuple(paragraph for line in lines if (paragraph := clean_line(line)).text)
    if paragraphs and paragraphs[0].text == title:
        paragraphs = paragraphs[1:]
    description = paragraphs[0].text if paragraphs else ""
    external = {"url": article.url} if article.url else {}
    return Page(Entity(id, title, description, language=language, external=external), paragraphs)


def clean_line(line: str) -> Paragraph:
    """A line without its markup, with the links at their places in what is left."""
    line = line.strip()
    if "a href=" not in line:
        return Paragraph(html.unescape(line))
    pieces: list[str] = []
    links: list[Anchor] = []
    length = done = 0
    for match in _LINK.finditer(line):
        for piece, target in ((line[done : match.start()], None), (match[2], _target(match[1]))):
            text = html.unescape(piece)
            if target and text:
                links.append(Anchor(length, length + len(text), target))
            pieces.append(text)
            length += len(text)
        done = match.end()
    pieces.append(html.unescape(line[done:]))
    return Paragraph("".join(pieces), tuple(links))


def _target(href: str) -> str | None:
    """The title a link names, None when it leads out of the wiki or only to a section."""
    address = unquote(html.unescape(href))
    if _ADDRESS.match(address):
        return None
    title = address.partition("#")[0].replace("_", " ").strip().lstrip(":")
    # MediaWiki begins every title with a capital, and authors of links need not.
    first = title[:1].upper()
    return (first + title[1:] if len(first) == 1 else title) or None
