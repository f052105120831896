"""The words of two readers side by side, with a cause for each difference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import agreement_causes as causes
from agreement_causes import Cause
from agreement_page import Words, words
from agreement_readings import PageReadings, leaves_braces, running_text

Caused = Counter[Cause]

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>?")
_SWITCH = re.compile(r"__[^\W\d_]+__")
_GLUED = re.compile(r"(\w+)''+(\w+)")
_LEFT_TABLE = re.compile(r"^[ :]*(?:\{\||\|[-}+]|\|.*\|)", re.MULTILINE)
_TWO_SIGNS = re.compile(r"^(?:!!|\|\|).*", re.MULTILINE)
_NAMELESS = re.compile(r"^\[\[File:\|.*", re.MULTILINE)


class WordAgreement:
    """How many words of the running text both have, and what makes them differ."""

    def __init__(self, page: PageReadings) -> None:
        theirs, ours = words(page.peer_text), words(page.own_text)
        self.both = (theirs & ours).total()
        self.theirs, self.theirs_unexplained = _caused(theirs - ours, _theirs_only(page))
        self.ours, self.ours_unexplained = _caused(ours - theirs, _ours_only(page))


def _caused(rest: Words, explanations: Iterator[tuple[Cause, Words]]) -> tuple[Caused, Words]:
    """How many of the words each cause accounts for, the first one first; and the words that none does."""
    caused: Caused = Counter()
    while rest and (explanation := next(explanations, None)):
        cause, explained = explanation
        caused[cause] += (rest & explained).total()
        rest = rest - explained
    if rest:
        caused[causes.UNEXPLAINED] += rest.total()
    return +caused, rest


def _theirs_only(page: PageReadings) -> Iterator[tuple[Cause, Words]]:
    text = page.peer_text
    yield causes.LEFT_TAG, _found(_TAG.findall(text))
    yield causes.SWITCH, _found(_SWITCH.findall(text))
    yield causes.QUOTES, Counter(first + second for first, second in _GLUED.findall(text))
    everything = words(text)
    yield causes.QUOTES, everything - words(running_text(page.peer_without_style.pieces))
    # Such markup can run over the whole page, so that no word of it is known to be text.
    if leaves_braces(page):
        yield causes.LEFT_BRACES, everything
    if _LEFT_TABLE.search(text):
        yield causes.LEFT_TABLE, everything


def _ours_only(page: PageReadings) -> Iterator[tuple[Cause, Words]]:
    yield causes.NAMELESS, _found(_NAMELESS.findall(page.own_text))
    yield causes.GALLERY, words(running_text(page.peer.gallery_pieces))
    yield causes.LABEL, _found(link.source for link in page.peer.links if "{{" in link.source)
    yield causes.TWO_SIGNS, _found(_TWO_SIGNS.findall(page.text))
    yield causes.UNKNOWN_TAG, _found(_TAG.findall(page.own_text))
    yield causes.QUOTES, _found(_GLUED.sub(r"\1 \2", found[0]) for found in _GLUED.finditer(page.peer_text))
    yield causes.QUOTES, words(running_text(page.peer_without_style.pieces)) - words(page.peer_text)


def _found(texts: Iterable[str]) -> Words:
    return words("\n".join(texts))
