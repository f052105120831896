"""The identity of an encoder: short enough for a file name, and another whenever a vector could be another."""

from __future__ import annotations

import re
from hashlib import blake2b

AUTO = "auto"  # in place of a name: the encoder that reads the language of the knowledge base
_UNSAFE = re.compile(r"[^A-Za-z0-9._]+")


def slug(name: str) -> str:
    """A name that can stand in a file name."""
    return _UNSAFE.sub("-", name).strip("-.")[:60] or "model"


def identity_of(name: str, checksums: str, *settings: str | int) -> str:
    """Such as `minilm-int8-mean-256-3f2a9c01`: readable, and with a hash of the weights and every setting."""
    hashed = blake2b(repr((checksums, *map(str, settings))).encode(), digest_size=4).hexdigest()
    return "-".join([slug(name), *map(str, settings), hashed])
