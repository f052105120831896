"""What a knowledge base was built from, with checksums, so that a score can name its KB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from entlink.errors import DamagedError

if TYPE_CHECKING:
    from entlink.kb.store.store import Store


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


def manifest_of(store: Store) -> Manifest:
    """The manifest of a finished knowledge base."""
    try:
        return msgspec.json.decode(store.meta("manifest"), type=Manifest)
    except (msgspec.DecodeError, UnicodeError) as problem:
        raise DamagedError(
            f"{store.folder}: the manifest in kb.sqlite cannot be read ({problem}). Build it again, or restore a copy"
        ) from problem
