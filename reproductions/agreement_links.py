"""The links of two readers side by side, with a cause for each difference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import agreement_causes as causes
from agreement_causes import Cause
from agreement_page import ELSEWHERE, KINDS, LANGUAGE, PICTURE, Link
from agreement_peer import ATTRIBUTE, HEADING, OPTION, REFERENCE, TARGET, TEMPLATE, UNREAD_TAGS
from agreement_readings import PageReadings, is_read, is_running, leaves_braces

SIDES = ("both", "label", "theirs", "ours")

_BY_PLACE: tuple[tuple[frozenset[str], Cause], ...] = (
    (frozenset({TEMPLATE}), causes.TEMPLATE),
    (frozenset(REFERENCE), causes.REFERENCE),
    (frozenset(UNREAD_TAGS), causes.UNREAD),
    (frozenset({HEADING}), causes.HEADING),
    (frozenset({ATTRIBUTE}), causes.ATTRIBUTE),
    (frozenset({OPTION}), causes.OPTION),
    (frozenset({TARGET}), causes.MADE),
)


class Match(NamedTuple):
    """The outcome for one link: the link of either reader, None where it has none; a cause where they differ."""

    theirs: Link | None
    ours: Link | None
    cause: Cause | None

    @property
    def kind(self) -> str:
        link = self.theirs or self.ours
        return link.kind if link else ""


def match_links(theirs: Iterable[Link], ours: Iterable[Link]) -> list[Match]:
    """Pair the links off: first those that are equal, then those to one target with another label."""
    rest = list(ours)
    their_rest = sorted((link for link in theirs if link.kind != ELSEWHERE), key=lambda link: not is_read(link))
    matches, their_rest = _paired(their_rest, rest, _with_trail)
    more, their_rest = _paired(their_rest, rest, lambda link: link.key)
    near, unread = _paired([link for link in their_rest if is_read(link)], rest, lambda link: link.target)
    matches += [*more, *near]
    matches += [Match(link, None, None) for link in unread + [link for link in their_rest if not is_read(link)]]
    matches = [match._replace(cause=label_cause(match)) if match.ours else match for match in matches]
    return matches + [Match(None, link, None) for link in rest]


def _with_trail(link: Link) -> tuple[str, ...]:
    return link.kind, link.title, link.shown + link.trail


def _paired(
    theirs: list[Link], ours: list[Link], key: Callable[[Link], tuple[str, ...]]
) -> tuple[list[Match], list[Link]]:
    """The pairs with equal keys, taken out of `ours`; and what is left of theirs."""
    waiting: dict[tuple[str, ...], list[Link]] = {}
    for link in ours:
        waiting.setdefault(key(link), []).append(link)
    matches, rest = [], []
    for link in theirs:
        others = waiting.get(key(link))
        if others:
            matches.append(Match(link, others.pop(0), None))
        else:
            rest.append(link)
    ours[:] = [link for links in waiting.values() for link in links]
    return matches, rest


def label_cause(match: Match) -> Cause | None:
    """Why a link to one target is shown differently; None where it is not."""
    assert match.theirs and match.ours
    shown, trail, own = match.theirs.shown, match.theirs.trail, match.ours.shown
    if own == shown:
        return None
    if own == shown.removeprefix(":").strip():
        return causes.COLON
    if own == shown + trail:
        return causes.TRAIL
    if own.replace(" ", "") == shown.replace(" ", ""):
        return causes.BREAK
    if "{{" in match.theirs.source:
        return causes.LABEL
    return causes.QUOTES if "''" in match.theirs.source else causes.UNEXPLAINED


def explained(matches: Iterable[Match], page: PageReadings) -> list[Match]:
    """The same with a cause for links that only one reader found."""
    return [match if match.theirs and match.ours else match._replace(cause=_cause(match, page)) for match in matches]


def _cause(match: Match, page: PageReadings) -> Cause:
    if match.theirs:
        return _theirs_only(match.theirs, page)
    assert match.ours
    return _ours_only(match.ours, page)


def _theirs_only(link: Link, page: PageReadings) -> Cause:
    for places, cause in _BY_PLACE:
        if not places.isdisjoint(link.places):
            return cause
    if link.kind == LANGUAGE:
        return causes.REPEATED
    if _more(page.peer.links, page.peer_without_style.links, link):
        return causes.QUOTES
    return causes.LEFT_BRACES if leaves_braces(page) else causes.UNEXPLAINED


def _ours_only(link: Link, page: PageReadings) -> Cause:
    if any(other.target == link.target for other in page.peer.gallery_links):
        return causes.GALLERY
    if _more(page.own_with_rules, page.own, link):
        return causes.RULE
    if _more(page.peer_without_style.links, page.peer.links, link):
        return causes.QUOTES
    if _more(page.peer_by_lines, page.peer.links, link):
        return causes.LEFT_LINK
    return causes.BOX if link.kind == PICTURE and _is_named_in_box(link, page.text) else causes.UNEXPLAINED


def _is_named_in_box(link: Link, text: str) -> bool:
    """Whether a page has the name of a picture as the value of an argument, as infoboxes have it."""
    name = re.escape(link.title).replace(r"\ ", "[ _]+")
    return re.search(rf"=[\s\[\]:\w]*{name}", text, re.IGNORECASE) is not None


def _more(links: Iterable[Link], others: Iterable[Link], link: Link) -> bool:
    """Whether the first hold more running links to the target of a link than the others."""
    return _times(links, link) > _times(others, link)


def _times(links: Iterable[Link], link: Link) -> int:
    return sum(other.target == link.target and is_running(other) for other in links)


def counts(matches: Iterable[Match]) -> Counter[tuple[str, str]]:
    """How many links of each kind both, or only one reader found. One shown differently counts once, as `label`."""
    found: Counter[tuple[str, str]] = Counter({(kind, side): 0 for kind in KINDS for side in SIDES})
    for match in matches:
        found[match.kind, side_of(match)] += 1
    return found


def side_of(match: Match) -> str:
    if match.theirs and match.ours:
        return "label" if match.cause else "both"
    return "theirs" if match.theirs else "ours"
