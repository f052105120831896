"""Which page a link's target names: titles brought to the one form a wiki knows them by."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import unquote

from entlink.sources.wikitext.external import begins_address
from entlink.sources.wikitext.literals import decode_entities, has_reserved, show
from entlink.sources.wikitext.prefixes import LANGUAGES, OTHER_WIKIS
from entlink.sources.wikitext.site import ARTICLE, CANONICAL, CATEGORY, FILE, Site

MOST_BYTES = 255

_BLANKS = r" _\x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BLANK_RUN = re.compile(f"[{_BLANKS}]+")
_MARKS = re.compile(r"[\u200e\u200f\u202a-\u202e]")  # of writing direction: invisible, and no part of a title
_ILLEGAL = re.compile(r"[\x00-\x1f\x7f\[\]{}|<>\ufffd]")
_CODED = re.compile(r"%[0-9A-Fa-f]{2}|&(?:#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z0-9\x80-\U0010ffff]+);")
_UNEVEN = re.compile(rf"[\x00-\x1f\x7f\[\]{{}}|<>\ufffd#%&:_{_BLANKS[2:]}\u200e\u200f\u202a-\u202e]")


class Target(NamedTuple):
    """Where a link leads: `title` is a page's, a picture's or category's name, or what a language calls the page."""

    kind: Literal["page", "picture", "category", "language", "outside", "here", "illegal"]
    title: str = ""
    language: str = ""


OUTSIDE, HERE, ILLEGAL = Target("outside"), Target("here"), Target("illegal")


class Titles:
    """The titles of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._numbers = {name: number for name, number in site.numbers.items() if number != ARTICLE}
        canonical = {number: names[0] for number, names in CANONICAL.items()}
        self._names = canonical | {number: name for number, name in site.namespaces.items() if name}

    def resolve(self, target: str) -> Target:
        """Where a target leads; its entities are decoded already."""
        name = target.strip(" ")
        if _UNEVEN.search(name) or "  " in name or name[:2] == "//":
            return ILLEGAL if begins_address(name) else self._resolve_uneven(name)
        return self._legal("page", self._capital(name)) if name else ILLEGAL

    def normalise(self, target: str) -> str | None:
        """The title of the page a target names, whatever its namespace; None where it names no page of this wiki."""
        kind, title, _ = self.resolve(":" + target.lstrip(": _"))
        return title if kind == "page" else None

    def begins_picture(self, target: str) -> bool:
        """Whether a target has the prefix of pictures, whatever follows it."""
        prefix, colon, _ = target.partition(":")
        return bool(colon) and self._numbers.get(prefix.strip(" _").lower()) == FILE

    def names_of(self, number: int) -> tuple[str, ...]:
        """The names of a namespace, lower-cased."""
        return tuple(name for name, other in self._numbers.items() if other == number)

    def _resolve_uneven(self, target: str) -> Target:
        name, section, _ = _tidy(target).partition("#")
        name = name.strip(" ")
        if not name:
            return HERE if section else ILLEGAL
        if _ILLEGAL.search(name) or _CODED.search(name):  # no title looks as if it were still to be decoded
            return ILLEGAL
        colon = name[0] == ":"
        name = _without_colons(name) if colon else name
        prefix, sign, rest = name.partition(":")
        if sign and prefix:
            return self._resolve_prefixed(name, prefix.rstrip(" "), rest.lstrip(" "), colon)
        return self._legal("page", self._capital(name)) if name and not sign else ILLEGAL

    def _resolve_prefixed(self, name: str, prefix: str, rest: str, colon: bool) -> Target:
        code = prefix.lower()
        number = self._numbers.get(code)
        if number is not None:
            return self._in_namespace(number, self._capital(rest), colon) if rest else ILLEGAL
        if code in LANGUAGES:
            return OUTSIDE if colon else Target("language", rest, code)
        if code in OTHER_WIKIS:
            return OUTSIDE
        return self._legal("page", self._capital(name))

    def _in_namespace(self, number: int, title: str, colon: bool) -> Target:
        if number == FILE and not colon:
            return self._legal("picture", title)
        if number == CATEGORY and not colon:
            return self._legal("category", title)
        return self._legal("page", title, f"{self._names[number]}:")

    def _legal(self, kind: Literal["page", "picture", "category"], title: str, prefix: str = "") -> Target:
        if len(title) > MOST_BYTES // 4 and len(title.encode("utf-8", "surrogatepass")) > MOST_BYTES:
            return ILLEGAL
        return Target(kind, prefix + title)

    def _capital(self, title: str) -> str:
        if not self._site.capital_links:
            return title
        first = title[0].upper() if title else ""
        return first + title[1:] if len(first) == 1 else title


def _without_colons(name: str) -> str:
    """The name without one colon, which makes a link of what else would be shown, and one for the articles."""
    return name[1:].lstrip(" ").removeprefix(":").lstrip(" ")


def _tidy(target: str) -> str:
    if "%" in target:
        target = unquote(target)
    return _BLANK_RUN.sub(" ", _MARKS.sub("", target)).strip(" ")


def titles_of(site: Site) -> Titles:
    """The titles of a site; made once and kept with it."""
    titles = vars(site).get("wikitext_titles")
    if not isinstance(titles, Titles):
        titles = vars(site)["wikitext_titles"] = Titles(site)
    return titles


def normalise_title(target: str, site: Site) -> str | None:
    """The title of the page that a link target names: without section, entities and %XX decoded, blanks tidied.

    The first letter is made a capital where the site does so, and a namespace is called as the site calls it.
    None for a target that names no page of this wiki: empty (a section of the same page), illegal, or with the
    prefix of another wiki.
    """
    if has_reserved(target):  # control characters, which no title has
        return None
    return titles_of(site).normalise(show(decode_entities(target)))
