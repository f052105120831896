"""How far two readers agree on a page, as counts that can be added up over many."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import agreement_causes as causes
from agreement_links import Match, counts, explained, match_links, side_of
from agreement_page import ELSEWHERE, PICTURE, Link
from agreement_readings import PageReadings, is_running
from agreement_words import WordAgreement

from entlink.sources.wikitext import Site

RUNNING, WHOLE, WORDS = "running text", "whole page", "words"
BOTH, LABEL, THEIRS, OURS = "both", "label", "theirs", "ours"
PATTERN = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")


class Tally(NamedTuple):
    """The counts of one page or of many.

    `links` by part, kind and side; `words` by side; `causes` of what differs by part, side and cause; `pattern` what
    becomes of the links that mwparserfromhell finds and a bare pattern does not.
    """

    pages: int
    links: Counter[tuple[str, str, str]]
    words: Counter[str]
    causes: Counter[tuple[str, str, causes.Cause]]
    pattern: Counter[str]
    unexplained: tuple[str, ...] = ()
    given_up: int = 0

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        return Tally(
            self.pages + other.pages,
            self.links + other.links,
            self.words + other.words,
            self.causes + other.causes,
            self.pattern + other.pattern,
            self.unexplained + other.unexplained,
            self.given_up + other.given_up,
        )


NOTHING = Tally(0, Counter(), Counter(), Counter(), Counter())
GIVEN_UP = NOTHING._replace(given_up=1)


def tally(task: tuple[str, str, Site]) -> Tally:
    """The counts of a page, given by its title, wikitext and site."""
    title, text, site = task
    page = PageReadings(text, site)
    running = explained(match_links(filter(is_running, page.peer.links), page.own), page)
    whole = explained(match_links(page.peer.links, page.own_with_rules), page)
    agreement = WordAgreement(page)
    return Tally(
        1,
        _links(RUNNING, running) + _links(WHOLE, whole),
        Counter({BOTH: agreement.both, THEIRS: agreement.theirs.total(), OURS: agreement.ours.total()}),
        _causes(RUNNING, running) + _causes(WHOLE, whole) + _word_causes(agreement),
        pattern_misses(text, page.peer.links, whole),
        tuple(f"{title}: {what}" for what in _unexplained(running + whole, agreement)),
    )


def _links(part: str, matches: list[Match]) -> Counter[tuple[str, str, str]]:
    return Counter({(part, kind, side): number for (kind, side), number in counts(matches).items()})


def _causes(part: str, matches: list[Match]) -> Counter[tuple[str, str, causes.Cause]]:
    return Counter((part, side_of(match), match.cause) for match in matches if match.cause)


def _word_causes(agreement: WordAgreement) -> Counter[tuple[str, str, causes.Cause]]:
    found = Counter({(WORDS, THEIRS, cause): number for cause, number in agreement.theirs.items()})
    return found + Counter({(WORDS, OURS, cause): number for cause, number in agreement.ours.items()})


def _unexplained(matches: list[Match], agreement: WordAgreement) -> Iterable[str]:
    for match in matches:
        if match.cause is causes.UNEXPLAINED:
            yield f"{match.theirs or '-'} {match.ours or '-'}"
    if agreement.theirs_unexplained or agreement.ours_unexplained:
        yield f"words {dict(agreement.theirs_unexplained)} {dict(agreement.ours_unexplained)}"


def pattern_misses(text: str, links: Iterable[Link], matches: Iterable[Match]) -> Counter[str]:
    """How many links each finds, and what entlink makes of those that a bare pattern misses."""
    found = Counter(match[0] for match in PATTERN.finditer(text))
    sources = Counter(link.source for link in links)
    missed = sources - found
    outcome = Counter({"mwparserfromhell": sources.total(), "pattern": found.total()})
    outcome["only the pattern"] = (found - sources).total()
    causes_by_source: dict[str, list[str]] = {}
    for match in matches:
        if match.theirs:
            causes_by_source.setdefault(match.theirs.source, []).append(_outcome(match))
    for link in {link.source: link for link in links if missed[link.source]}.values():
        outcomes = causes_by_source.get(link.source, [])[: missed[link.source]]
        shape = _shape(link)
        outcome.update(f"{shape}: {what}" for what in outcomes)
    return outcome


def _shape(link: Link) -> str:
    if link.kind == ELSEWHERE:
        return "a link out of the wiki"
    return "a picture with brackets in its caption" if link.kind == PICTURE else "a link with brackets in its label"


def _outcome(match: Match) -> str:
    if match.ours:
        return "found"
    return f"left out, {match.cause.name}" if match.cause else "left out"
