"""The links of a page alone, in bulk: where nobody asks for its text, most pages need not be read in full."""

from __future__ import annotations

import re

from entlink.sources.wikitext.blanks import one_blank
from entlink.sources.wikitext.external import has_external
from entlink.sources.wikitext.findings import Findings
from entlink.sources.wikitext.links import MOST_KNOWN, Links, trail
from entlink.sources.wikitext.literals import has_entity
from entlink.sources.wikitext.site import Site
from entlink.sources.wikitext.tags import has_tag
from entlink.sources.wikitext.titles import titles_of

LONGEST_KNOWN = 400  # characters of a link that is remembered: hardly any is longer, but such could fill the memory

_LONGEST_ENTITY = 40  # characters, or more than any has
_CONTROL = r"\x00-\x08\x0e-\x1f"  # among them signs that are set into a text while it is read
# Each opening bracket: of a link as a whole, else with the word after it. What may become a part of the link when
# bold, italics and signatures are gone comes with it. No character is gone over more than twice.
_BRACKET = re.compile(
    r"\[(?:"
    rf"\[[^\[\]\n]++\]\][^\W\d_A-Z]*+(?:['~]{{2,}}+[\w{_CONTROL}]|[{_CONTROL}])?"
    r"|(?:\[(?!\[))?[^\[\]\s]*+)"
)
_has_braces = re.compile(r"\{(?:[{|'~]|(?<=-\{))").search  # also with signs between them that go
_has_link_in_heading = re.compile(r"\n[ \t\xa0'~]*+=[^\n\[]*+\[").search
_depends_on_line = re.compile(rf"'''|~~~|[\r{_CONTROL}]").search
_has_signs = re.compile(rf"['~{_CONTROL}]").search

_Link = tuple[str, str] | tuple[()] | None
_NO_ANCHOR = ()
_WITH_CARE = None  # its page has to be read in full


def scan_links(text: str, site: Site) -> list[tuple[str, str]] | None:
    """What each link of a page shows and the title it leads to, in order, just as `parse` finds them.

    None for a page with markup that may matter, which has to be read with `parse`. All others are free of templates,
    tables, tags, entities, magic words, pictures, categories and links to other languages.
    """
    # A search for one character takes next to nothing; what is slower is asked only where it says yes.
    if (
        ("{" in text and _has_braces(text))
        or ("<" in text and has_tag(text))
        or ("&" in text and _has_entity(text))
        or ("_" in text and "__" in text)
        or ("=" in text and ("\r" in text or _has_link_in_heading(f"\n{text}")))
    ):
        return None
    links = list(map(_known_links(site).__getitem__, _BRACKET.findall(text)))
    if all(links):
        return links  # type: ignore[return-value]  # what is no pair is false
    return None if _WITH_CARE in links else [link for link in links if link]


def _has_entity(text: str) -> bool:
    """The same as `has_entity` of all the text, but from sign to sign, which are few."""
    place = text.find("&")
    while place >= 0:
        if has_entity(text, place, place + _LONGEST_ENTITY):
            return True
        place = text.find("&", place + 1)
    return False


def _known_links(site: Site) -> _KnownLinks:
    """What is known of a site's links; kept with it."""
    known = vars(site).get("wikitext_known_links")
    if not isinstance(known, _KnownLinks):
        known = vars(site)["wikitext_known_links"] = _KnownLinks(site)
    return known


class _KnownLinks(dict[str, _Link]):
    """Links as they are written, with what they show and where they lead: only those that are new cost a step."""

    def __init__(self, site: Site) -> None:
        super().__init__()
        self._links = Links(titles_of(site))

    def __missing__(self, bracket: str) -> _Link:
        inside, closing, tail = bracket.partition("]]")
        if not tail.isascii() and not _has_signs(tail) and (ending := trail(tail)) != tail:
            return self[inside + closing + ending]  # the rest may be long, in scripts without blanks
        link = self._read(bracket, inside, tail) if closing else _read_single(bracket)
        if len(self) >= MOST_KNOWN:
            self.clear()
        if len(bracket) <= LONGEST_KNOWN:
            self[bracket] = link
        return link

    def _read(self, bracket: str, inside: str, tail: str) -> _Link:
        if _depends_on_line(inside) or _has_signs(tail) or has_external(bracket):
            return _WITH_CARE
        raw = one_blank(bracket.replace("''", ""))  # two apostrophes are markup in any line
        if " : " in raw:  # which in an item may end a term
            return _WITH_CARE
        findings = Findings()
        text, anchors = self._links.read(raw, findings)
        if findings.categories or findings.images or findings.languages or findings.unread_picture:
            return _WITH_CARE
        if not anchors:
            return _NO_ANCHOR
        [anchor] = anchors
        return text[anchor.start : anchor.end], anchor.target


def _read_single(bracket: str) -> _Link:
    """A bracket that begins no link is text, unless it begins one to elsewhere, or one that something interrupts."""
    word = bracket[1:]
    if word.startswith("[") or has_external(f"{bracket}]"):
        return _WITH_CARE
    return _WITH_CARE if word and not word.strip("'~") else _NO_ANCHOR
