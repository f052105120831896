"""SHA-256 of files, for manifests and for finding out what was altered."""

from __future__ import annotations

import hashlib
from pathlib import Path

_EMPTY_SEAL = b'"seal": ""'


def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sealed(content: bytes) -> bytes:
    """A JSON object whose last field, an empty `seal`, gets the checksum of all the rest."""
    start, empty, end = content.rpartition(_EMPTY_SEAL)
    return start + empty[:-1] + hashlib.sha256(start + end).hexdigest().encode() + empty[-1:] + end


def is_sealed(content: bytes) -> bool:
    """Whether the object is as it was sealed."""
    start, begun, end = content.rpartition(_EMPTY_SEAL[:-1])
    seal, quote, rest = end.partition(b'"')
    return bool(begun and quote) and hashlib.sha256(start + rest).hexdigest().encode() == seal


def fingerprint(text: str) -> str:
    """A short name of a text, by which it is known again."""
    return hashlib.blake2b(text.encode("utf8", "surrogatepass"), digest_size=8).hexdigest()


def checksums(folder: Path) -> dict[str, str]:
    """Of every file of a folder, by its path in it."""
    return {str(path.relative_to(folder)): checksum(path) for path in sorted(folder.rglob("*")) if path.is_file()}
