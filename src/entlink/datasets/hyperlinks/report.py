"""What a corpus was made from and what is in it: the card that stands beside it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from entlink.datasets.hyperlinks.documents import ReadCounts
from entlink.datasets.hyperlinks.join import FileCounts
from entlink.io.checksums import checksum, checksums
from entlink.kb.store.manifest import Manifest, SourceCard
from entlink.kb.store.store import DATABASE, Store


class KnowledgeBaseCard(msgspec.Struct):
    """The knowledge base that links were resolved with; `sha256` is that of its database."""

    name: str
    sha256: str
    manifest: Manifest


class FileCard(FileCounts, kw_only=True):
    """One file of a corpus."""

    name: str
    bytes: int
    sha256: str


class HyperlinksReport(msgspec.Struct):
    """The record a corpus leaves beside itself; what `read` counts is before any choice among documents."""

    entlink: str
    built: str
    command: str
    options: dict[str, Any]
    sources: list[SourceCard]
    kb: KnowledgeBaseCard | None
    read: ReadCounts
    documents: int
    pages: int
    links: int
    nil: int
    files: list[FileCard]
    problems: list[str] = []


def kb_card(folder: Path) -> KnowledgeBaseCard:
    """Of a knowledge base that must be there."""
    store = Store(folder)
    try:
        manifest = msgspec.json.decode(store.meta("manifest"), type=Manifest)
        return KnowledgeBaseCard(folder.name, _database_checksum(folder), manifest)
    finally:
        store.close()


def _database_checksum(folder: Path) -> str:
    """Edits that were committed just now may stand in the log beside the database only."""
    log = folder / f"{DATABASE}-wal"
    whole = checksum(folder / DATABASE)
    if not log.exists() or not log.stat().st_size:
        return whole
    return hashlib.sha256(f"{whole}{checksum(log)}".encode()).hexdigest()


def source_checksum(path: Path) -> str:
    """SHA-256 of a file; of a folder, that of the names and checksums of its files."""
    return checksum(path) if path.is_file() else hashlib.sha256(msgspec.json.encode(checksums(path))).hexdigest()


def file_card(path: Path, name: str, counts: FileCounts) -> FileCard:
    return FileCard(**msgspec.structs.asdict(counts), name=name, bytes=path.stat().st_size, sha256=checksum(path))
