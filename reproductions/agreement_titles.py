"""What a link's target names: written apart from entlink's own titles, so that the two can be compared."""

from __future__ import annotations

import html
from urllib.parse import unquote

from agreement_page import CATEGORY, ELSEWHERE, LANGUAGE, PAGE, PICTURE

from entlink.sources.wikitext import Site
from entlink.sources.wikitext.prefixes import LANGUAGES, OTHER_WIKIS
from entlink.sources.wikitext.site import CANONICAL

_INVISIBLE = dict.fromkeys(map(ord, "\u200e\u200f\u202a\u202b\u202c\u202d\u202e"))


def target_of(written: str, site: Site) -> tuple[str, str]:
    """The kind and the title of a target as written. What is no page of this wiki is `elsewhere`."""
    name = html.unescape(written)
    name = unquote(name) if "%" in name else name
    name = " ".join(name.translate(_INVISIBLE).partition("#")[0].replace("_", " ").split())
    is_shown = name.startswith(":")
    name = name.removeprefix(":").strip()
    prefix, colon, rest = (part.strip() for part in name.partition(":"))
    if not name:
        return ELSEWHERE, ""
    return _prefixed(name, prefix, rest, is_shown, site) if colon else (PAGE, _capital(name, site))


def _prefixed(name: str, prefix: str, rest: str, is_shown: bool, site: Site) -> tuple[str, str]:
    number = site.numbers.get(prefix.lower(), 0)
    if number:
        kind = {6: PICTURE, 14: CATEGORY}.get(number, PAGE)
        if kind != PAGE and not is_shown:
            return kind, _capital(rest, site)
        return PAGE, f"{site.namespaces.get(number) or CANONICAL[number][0]}:{_capital(rest, site)}"
    if prefix.lower() in LANGUAGES and not is_shown:
        return LANGUAGE, f"{prefix.lower()}:{rest}"
    if prefix.lower() in LANGUAGES | OTHER_WIKIS:
        return ELSEWHERE, ""
    return PAGE, _capital(name, site)


def _capital(title: str, site: Site) -> str:
    first = title[:1].upper()
    return first + title[1:] if site.capital_links and len(first) == 1 else title
