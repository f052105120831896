"""The readings of one page that are compared, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from agreement_page import CATEGORY, LANGUAGE, Link, own_reading, without_templates
from agreement_peer import (
    ADDRESS,
    ATTRIBUTE,
    HEADING,
    NAME,
    OPTION,
    REFERENCE,
    TARGET,
    TEMPLATE,
    UNREAD_TAGS,
    PeerReading,
    Piece,
    peer_reading,
)

from entlink.sources.wikitext import Site

NOT_RUNNING = frozenset({TEMPLATE, *REFERENCE, *UNREAD_TAGS})
NO_TEXT = NOT_RUNNING | {HEADING, ATTRIBUTE, ADDRESS, NAME, TARGET, OPTION, CATEGORY, LANGUAGE}


class PageReadings:
    """A page as both readers see it. `own` is entlink without rules for templates."""

    def __init__(self, text: str, site: Site) -> None:
        self.text, self._site = text, site

    @cached_property
    def peer(self) -> PeerReading:
        return peer_reading(self.text, self._site)

    @cached_property
    def peer_without_style(self) -> PeerReading:
        """As mwparserfromhell reads the page if it passes over bold and italics."""
        return peer_reading(self.text, self._site, skip_style_tags=True)

    @cached_property
    def peer_by_lines(self) -> list[Link]:
        """The links it finds if each line is a page."""
        lines = (line for line in self.text.split("\n") if "[[" in line)
        return [link for line in lines for link in peer_reading(line, self._site, skip_style_tags=True).links]

    @cached_property
    def peer_text(self) -> str:
        return running_text(self.peer.pieces)

    @cached_property
    def _own_reading(self) -> tuple[list[Link], str]:
        return own_reading(self.text, self._site, without_templates)

    @property
    def own(self) -> list[Link]:
        return self._own_reading[0]

    @property
    def own_text(self) -> str:
        return self._own_reading[1]

    @cached_property
    def own_with_rules(self) -> list[Link]:
        return own_reading(self.text, self._site)[0]


def is_running(link: Link) -> bool:
    """Whether a link stands in no template, reference or unread tag."""
    return NOT_RUNNING.isdisjoint(link.places)


def is_read(link: Link) -> bool:
    """Whether a link stands where entlink reads."""
    return (NO_TEXT - {TARGET}).isdisjoint(link.places)


def leaves_braces(page: PageReadings) -> bool:
    """Whether mwparserfromhell takes the braces of a template for text."""
    return "{{" in page.peer_text or "}}" in page.peer_text


def running_text(pieces: Iterable[Piece]) -> str:
    """The text without what entlink drops by rule."""
    return "".join(piece.text for piece in pieces if NO_TEXT.isdisjoint(piece.places))
