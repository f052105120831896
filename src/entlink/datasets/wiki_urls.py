"""Addresses of wikis' pages: which wiki, which language, which title, by patterns that can be given.

A pattern is an address with `{title}`, and perhaps `{wiki}` and `{language}`, in it:
`https://{wiki}.fandom.com/{language}/wiki/{title}`. The title may also be a parameter: `…/index.php?title={title}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote_to_bytes

from entlink.errors import InputError

# Fandom as it is, and as it was called before 2018 (wikia.com) and until 2021 for some wikis (wikia.org).
FANDOM_PATTERNS = tuple(
    f"https://{host}{path}"
    for host in (
        *("{wiki}.fandom.com", "{language}.{wiki}.fandom.com"),
        *("{wiki}.wikia.com", "{language}.{wiki}.wikia.com", "{wiki}.wikia.org"),
    )
    for path in ("/wiki/{title}", "/{language}/wiki/{title}", "/index.php?title={title}")
    if host.count("{language}") + path.count("{language}") < 2
)
_PLACES = {
    "wiki": r"(?P<wiki>[a-z0-9-]+)",
    "language": r"(?P<language>[a-z]{2,3}(?:-[a-z]{2,8})*)",
    "title": r"(?P<title>.+)",
}
_PLACE = re.compile(r"\{([^{}]*)\}")
_SCHEME = re.compile(r"\A(?:[a-z][a-z0-9+.-]*+:)?//", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_HAS_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_END_SIGNS = "?!.,:;*_~'\"<>|"
URL = re.compile(
    r"(?:https?://|www\.)[^\s<>\[\]]+|(?<![\w@./-])(?:[a-z0-9-]+\.)+[a-z]{2,}/[^\s<>\[\]]*", re.IGNORECASE
)


class WikiPage(NamedTuple):
    """A page that an address leads to; `anchor` is the section, which says nothing about the entity."""

    wiki: str
    title: str
    language: str | None = None
    anchor: str = ""


class _Pattern(NamedTuple):
    host: re.Pattern[str]
    path: re.Pattern[str]
    parameter: str
    template: str


class WikiUrls:
    """Tells pages from addresses by the first pattern that fits."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [_compiled(pattern) for pattern in patterns]
        if not self._patterns:
            raise InputError("there is no pattern of addresses. Give one, such as https://my.wiki/wiki/{title}")
        ends = {re.split(r"\{[^{}]*\}", one.template.partition("/")[0])[-1].lower() for one in self._patterns}
        self._hosts = re.compile("|".join(re.escape(end) for end in sorted(ends)), re.IGNORECASE)

    def may_be_in(self, text: str) -> bool:
        """Whether a text may hold such an address: quick, and never wrong when it says no."""
        return self._hosts.search(unescaped(text) if "\\" in text else text) is not None

    def page(self, url: str) -> WikiPage | None:
        """The page of an address, with or without its scheme; None if no pattern fits it."""
        bare, _, anchor = _SCHEME.sub("", unescaped(url).strip(), count=1).partition("#")
        address, _, query = bare.partition("?")
        host, slash, path = address.partition("/")
        host = host.rpartition("@")[2].partition(":")[0].lower()
        for pattern in self._patterns:
            if (page := _fitted(pattern, host, slash + path, query, anchor)) is not None:
                return page
        return None

    def url(self, page: WikiPage) -> str:
        """An address of a page, by the first pattern that has a place for all that is known of it."""
        for pattern in self._patterns:
            template = pattern.template
            if ("{language}" in template) == (page.language is not None):
                title = quote(page.title.replace(" ", "_"), safe="")
                made = template.replace("{wiki}", page.wiki).replace("{language}", page.language or "")
                anchor = f"#{page.anchor}" if page.anchor else ""
                return f"https://{made.replace('{title}', title)}{anchor}"
        raise InputError(f"no pattern has a place for the language {page.language!r} of {page.title!r}")


def find_urls(text: str) -> Iterator[tuple[int, int]]:
    """Where bare addresses stand in a text; signs that end a sentence are not theirs, nor a bracket left open."""
    if "/" not in text and "www." not in text.lower():
        return  # most texts have none, and looking for one takes longer than all the rest
    for match in URL.finditer(text):
        url = match.group()
        unopened = url.count(")") - url.count("(")
        while url and (url[-1] in _END_SIGNS or (url[-1] == ")" and unopened > 0)):
            unopened -= url[-1] == ")"
            url = url[:-1].removesuffix("\\") if url[-1] == ")" else url[:-1]
        yield match.start(), match.start() + len(url)


def unescaped(url: str) -> str:
    """Without the backslashes that Markdown's editors put before signs."""
    return _ESCAPE.sub(r"\1", url)


def normal_title(title: str) -> str:
    """The title as a wiki shows it: spaces for underscores, the first letter large."""
    shown = " ".join(title.replace("_", " ").split()).removeprefix(":").lstrip()
    return shown[:1].upper() + shown[1:]


def _fitted(pattern: _Pattern, host: str, path: str, query: str, anchor: str) -> WikiPage | None:
    named = pattern.host.fullmatch(host)
    if named is None:
        return None
    placed = pattern.path.fullmatch(path)
    if placed is None:
        return None
    found = {**named.groupdict(), **placed.groupdict()}
    if pattern.parameter:
        title: str | None = dict(parse_qsl(query)).get(pattern.parameter)
    else:
        title = _decoded(found["title"])
    if title is None or _HAS_CONTROL.search(title) or not normal_title(title):
        return None
    language = found.get("language")
    return WikiPage(found.get("wiki") or host, normal_title(title), language and language.lower(), anchor)


def _decoded(title: str) -> str | None:
    try:
        return unquote_to_bytes(title).decode()
    except UnicodeDecodeError:
        return None


def _compiled(pattern: str) -> _Pattern:
    template = _SCHEME.sub("", pattern.strip(), count=1)
    places = _PLACE.findall(template)
    unknown = [place for place in places if place not in _PLACES]
    if unknown or places.count("title") != 1 or len(set(places)) != len(places):
        raise InputError(
            f"{pattern!r} is no pattern of addresses: it must have {{title}} once, and {{wiki}} and {{language}} at "
            "most once, such as https://{wiki}.fandom.com/wiki/{title}"
        )
    address, _, query = template.partition("?")
    host, slash, path = address.partition("/")
    if "{title}" in host or not slash:
        raise InputError(f"{pattern!r} is no pattern of addresses: {{title}} must stand after the host")
    return _Pattern(_expression(_without_port(host.lower())), _expression(slash + path), _parameter(query), template)


def _parameter(query: str) -> str:
    """The name of the parameter whose value is the title; the others may have any values."""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return next((name for name, _, value in pairs if value == "{title}"), "")


def _without_port(host: str) -> str:
    return re.sub(r":\d+$", "", host)


def _expression(template: str) -> re.Pattern[str]:
    pieces = _PLACE.split(template)  # text and names of places in turn
    made = [_PLACES[piece] if odd % 2 else re.escape(piece) for odd, piece in enumerate(pieces)]
    return re.compile("".join(made), re.IGNORECASE)
