"""What a knowledge base was built from, with checksums, so that a score can name its KB."""

from __future__ import annotations

import msgspec


class SourceCard(msgspec.Struct):
    """One source of a build."""

    name: str
    format: str
    bytes: int
    sha256: str
    records: int
    skipped: int
    left_out: dict[str, int] = {}


class WikiTotals(msgspec.Struct):
    """What became of a wiki's redirects and disambiguation pages."""

    redirects: int = 0
    loops: int = 0
    to_nothing: int = 0
    meanings: int = 0


class OpeningTotals(msgspec.Struct):
    """Of names in openings: how many were found, how many of them hold, and how many became redirects."""

    found: int = 0
    names: int = 0
    redirects: int = 0


class MergeTotals(msgspec.Struct):
    """Of a merge by title: how many entities were joined to an earlier one and why, and how many got a new id."""

    by_title: int = 0
    by_redirect: int = 0
    by_openings: int = 0
    renamed: int = 0


class Manifest(msgspec.Struct):
    """The record a build leaves in the store."""

    entlink: str
    built: str
    command: str
    sources: list[SourceCard]
    entities: int
    links: int
    links_unresolved: int
    texts: int
    counts: dict[str, str]
    problems: list[str] = []
    wiki: WikiTotals | None = None
    openings: OpeningTotals | None = None
    joined: MergeTotals | None = None
