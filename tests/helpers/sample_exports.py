"""The sample wikis as the tests see them: read by the standard library, not by what is tested."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
WIKI = SAMPLES / "wiki"
EXPORTS = {"en": WIKI / "samplewiki.xml", "zh": WIKI / "samplewiki-zh.xml"}
TABLES = {"en": WIKI / "samplewiki-page_props.sql", "zh": WIKI / "samplewiki-zh-page_props.sql"}
SOURCES = [*EXPORTS.values(), *TABLES.values()]
NAMESPACE = "{http://www.mediawiki.org/xml/export-0.11/}"

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]*))?\]\]([a-z]*)")
_ITEM = re.compile(r"^\* \[\[([^\[\]|]+)\]\]", re.MULTILINE)
_ROW = re.compile(r"^\((\d+),'(\w+)','([^']*)',NULL\)[,;]$", re.MULTILINE)


class Revision(NamedTuple):
    id: int
    parent: int | None
    time: str
    comment: str
    text: str
    bytes: int


class WikiPage(NamedTuple):
    language: str
    title: str
    namespace: int
    id: int
    redirect: str | None
    revisions: tuple[Revision, ...]

    @property
    def text(self) -> str:
        """The newest text, without comments."""
        return _COMMENT.sub("", self.revisions[-1].text)

    @property
    def is_disambiguation(self) -> bool:
        return self.namespace == 0 and re.search(r"\{\{(disambiguation|消歧义)\}\}", self.text) is not None

    @property
    def is_article(self) -> bool:
        return self.namespace == 0 and self.redirect is None and not self.is_disambiguation

    @property
    def meanings(self) -> list[str]:
        return _ITEM.findall(self.text)


def root(language: str) -> ElementTree.Element:
    return ElementTree.parse(EXPORTS[language]).getroot()


def pages(language: str) -> list[WikiPage]:
    return [_page(element, language) for element in root(language).iter(f"{NAMESPACE}page")]


def _page(element: ElementTree.Element, language: str) -> WikiPage:
    redirect = element.find(f"{NAMESPACE}redirect")
    return WikiPage(
        language,
        _text(element, "title"),
        int(_text(element, "ns")),
        int(_text(element, "id")),
        None if redirect is None else redirect.attrib["title"],
        tuple(_revision(one) for one in element.iter(f"{NAMESPACE}revision")),
    )


def _revision(element: ElementTree.Element) -> Revision:
    text = element.find(f"{NAMESPACE}text")
    assert text is not None
    parent = _text(element, "parentid")
    return Revision(
        int(_text(element, "id")),
        int(parent) if parent else None,
        _text(element, "timestamp"),
        _text(element, "comment"),
        text.text or "",
        int(text.attrib["bytes"]),
    )


def _text(element: ElementTree.Element, name: str) -> str:
    return element.findtext(f"{NAMESPACE}{name}", "")


def links(text: str) -> list[tuple[str, str]]:
    """(target as a title, surface) of every link, those to categories, files and other wikis included."""
    return [
        (target[:1].upper() + target[1:], (shown or target) + ending) for target, shown, ending in _LINK.findall(text)
    ]


def article_links(text: str) -> list[tuple[str, str]]:
    """(title, surface) of the links to articles."""
    return [(target, surface) for target, surface in links(text) if not re.match(r"\w+:\S", target)]


def table_rows(language: str) -> list[tuple[int, str, str]]:
    """(page, property, value) of the table beside an export."""
    return [(int(id), name, value) for id, name, value in _ROW.findall(TABLES[language].read_text(encoding="utf-8"))]
