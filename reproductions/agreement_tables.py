"""The agreement of two readers of wikitext as tables of Markdown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agreement_causes import Cause
from agreement_page import KINDS, PAGE
from agreement_tally import BOTH, LABEL, OURS, RUNNING, THEIRS, WHOLE, WORDS, Tally

SIDES = {LABEL: "both, shown differently", THEIRS: "only mwparserfromhell", OURS: "only entlink"}


class Shares(NamedTuple):
    """Of what either reader finds: how much both do, and with the same text shown."""

    either: int
    both: int
    alike: int

    @property
    def rate(self) -> float:
        return self.both / self.either if self.either else 1.0


def link_shares(tally: Tally, part: str, kinds: Iterable[str] = (PAGE,)) -> Shares:
    """The shares of links."""
    both, label, theirs, ours = (
        sum(tally.links[part, kind, side] for kind in kinds) for side in (BOTH, LABEL, THEIRS, OURS)
    )
    return Shares(both + label + theirs + ours, both + label, both)


def word_shares(tally: Tally) -> Shares:
    """The shares of words."""
    return Shares(tally.words.total(), tally.words[BOTH], tally.words[BOTH])


def dump_table(tallies: Mapping[str, Tally]) -> str:
    """A row for each dump: links to pages, and words."""
    head = "dump", "pages", "given up", "links", "found by both", "whole page", "by both", "words", "by both"
    rows = []
    for name, tally in tallies.items():
        shares = link_shares(tally, RUNNING), link_shares(tally, WHOLE), word_shares(tally)
        figures = [figure for share in shares for figure in (number(share.either), percent(share.both, share.either))]
        rows.append((name, number(tally.pages), number(tally.given_up), *figures))
    return table(head, rows)


def kind_table(tally: Tally) -> str:
    """A row for each kind of link in either part."""
    rows = []
    for part in (RUNNING, WHOLE):
        for kind in KINDS:
            either, both, alike = link_shares(tally, part, (kind,))
            rows.append((part, kind, number(either), number(both), percent(both, either), percent(alike, either)))
    return table(("part", "kind", "found by either", "by both", "share", "and shown alike"), rows)


def cause_table(tally: Tally, part: str) -> str:
    """A row for each cause and side, the most frequent first."""
    found = [(-count, side, cause) for (where, side, cause), count in tally.causes.items() if where == part]
    rows = [(cause.name, SIDES[side], number(-count)) for count, side, cause in sorted(found)]
    return table(("cause", "found by", "count"), rows)


def summary_table(tally: Tally) -> str:
    """A row for each cause: links in the running text and on the whole page, words, and with whom MediaWiki sides."""
    counts: dict[Cause, Counter[str]] = defaultdict(Counter)
    for (part, _, cause), count in tally.causes.items():
        counts[cause][part] += count
    order = sorted(counts, key=lambda cause: (-counts[cause].total(), cause.name))
    parts = RUNNING, WHOLE, WORDS
    rows = [(c.name, c.example, *(number(counts[c][part]) for part in parts), c.right) for c in order]
    return table(("cause", "such as", *parts, "MediaWiki does as"), rows)


def pattern_table(tally: Tally) -> str:
    """What becomes of the links that a bare pattern misses."""
    rows = [
        (what, number(count)) for what, count in sorted(tally.pattern.items(), key=lambda item: (-item[1], item[0]))
    ]
    return table(("links", "count"), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def number(value: int) -> str:
    return f"{value:,}"


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "–"
