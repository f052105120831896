"""What one reader of wikitext finds on a page, in a form in which two readers can be compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from entlink.sources.page import Paragraph
from entlink.sources.wikitext import Expander, Site, parse

PAGE, PICTURE, CATEGORY, LANGUAGE, ELSEWHERE = "page", "picture", "category", "language", "elsewhere"
KINDS = (PAGE, PICTURE, CATEGORY, LANGUAGE)
Words = Counter[str]

_WORD = re.compile(r"[^\W_]+")
_QUOTES = re.compile("''+")


class Link(NamedTuple):
    """A link as a reader found it. `trail` is what follows it directly; `places` are the constructs it stands in."""

    kind: str
    title: str
    shown: str = ""
    trail: str = ""
    places: tuple[str, ...] = ()
    source: str = ""

    @property
    def target(self) -> tuple[str, str]:
        return self.kind, self.title

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kind, self.title, self.shown


def words(text: str) -> Words:
    """How often each word stands in a text; signs of bold and italics that were left in it part no word."""
    return Counter(_WORD.findall(_QUOTES.sub("", text)))


def tidy(text: str) -> str:
    """A shown text with single blanks and without signs of bold and italics."""
    return " ".join(_QUOTES.sub("", text).split())


def own_reading(text: str, site: Site, expand: Expander | None = None) -> tuple[list[Link], str]:
    """The links and the text that entlink finds."""
    page = parse(text, site, expand)
    links = list(_anchors(page.paragraphs))
    links += [Link(PICTURE, name) for name in page.images]
    links += [Link(CATEGORY, name) for name in page.categories]
    links += [Link(LANGUAGE, f"{code}:{title}") for code, title in page.languages.items()]
    return links, "\n".join(paragraph.text for paragraph in page.paragraphs)


def _anchors(paragraphs: Iterable[Paragraph]) -> Iterable[Link]:
    for paragraph in paragraphs:
        for anchor in paragraph.links:
            yield Link(PAGE, anchor.target, tidy(paragraph.text[anchor.start : anchor.end]))


def without_templates(name: str, arguments: object) -> str | None:
    """The expander that drops every template."""
    return None
