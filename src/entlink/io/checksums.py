"""SHA-256 of files, for manifests and for finding out what was altered."""

from __future__ import annotations

import hashlib
from pathlib import Path


def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(text: str) -> str:
    """A short name of a text, by which it is known again."""
    return hashlib.blake2b(text.encode("utf8", "surrogatepass"), digest_size=8).hexdigest()


def checksums(folder: Path) -> dict[str, str]:
    """Of every file of a folder, by its path in it."""
    return {str(path.relative_to(folder)): checksum(path) for path in sorted(folder.rglob("*")) if path.is_file()}
