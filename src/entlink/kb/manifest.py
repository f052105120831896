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
