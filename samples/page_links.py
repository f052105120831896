"""The one piece of wikitext the page files use: links, written [[Target]] or [[Target|anchor]]."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NoReturn

from page_files import WikiPage, fail

# As in MediaWiki, small letters that follow a link belong to its anchor: [[planet]]s shows "planets".
_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]([a-z]*)")
_OTHER_MARKUP = re.compile(r"'''|''|\{\{|\}\}|<[a-z/!]")


@dataclass(frozen=True)
class AnchoredLink:
    """The characters `[start, end)` of the plain text point to the page named `target`."""

    start: int
    end: int
    target: str


def parse_links(text: str, file: str, line: int) -> tuple[str, list[AnchoredLink]]:
    """The plain text of one paragraph, and its links with offsets in that plain text."""
    links: list[AnchoredLink] = []
    plain, read = "", 0
    for match in _LINK.finditer(text):
        plain += _refuse_markup(text[read : match.start()], file, line)
        anchor = (match[2] or match[1]) + match[3]
        links.append(AnchoredLink(len(plain), len(plain) + len(anchor), match[1]))
        plain += anchor
        read = match.end()
    return plain + _refuse_markup(text[read:], file, line), links


def _refuse_markup(piece: str, file: str, line: int) -> str:
    """Text between links; whatever is left of a link there was not written as one."""
    for mark in ("[[", "]]"):
        if mark in piece:
            excerpt = piece[piece.index(mark) :][:30]
            problem = f"{mark!r} without its partner, or an empty link, at {excerpt!r}"
            fail(file, line, problem, "Write [[Target]] or [[Target|anchor]].")
    found = _OTHER_MARKUP.search(piece)
    if found:
        fail(file, line, f"markup {found[0]!r} is not understood", "Use links and plain text only.")
    return piece


@dataclass
class LinkTargets:
    """What a link may name: the titles of all versions of all pages, and their ids."""

    by_title: dict[str, str] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)

    def add(self, page: WikiPage) -> None:
        """Make a page known; two different pages cannot have one title."""
        owner = self.by_title.setdefault(_title_key(page.title), page.id)
        if owner != page.id:
            problem = f"title {page.title!r} is taken by the page with id {owner!r}"
            fail(page.file, page.line, problem, "Add what tells them apart, as in 'Mercury (planet)'.")
        self.ids.add(page.id)

    def resolve(self, target: str, file: str, line: int) -> str:
        """The id of the page a link names by title, else by id."""
        found = self.by_title.get(_title_key(target), target)
        if found not in self.ids:
            self._refuse(target, file, line)
        return found

    def _refuse(self, target: str, file: str, line: int) -> NoReturn:
        near = get_close_matches(_title_key(target), self.by_title, n=1)
        hint = f"Did you mean [[{near[0]}]]?" if near else "Write that page, or remove the link."
        fail(file, line, f"link to a page that is not there: [[{target}]]", hint)


def _title_key(title: str) -> str:
    """As in MediaWiki, the first letter's case and the kind of blank make no difference."""
    words = " ".join(title.replace("_", " ").split())
    return words[:1].upper() + words[1:]
