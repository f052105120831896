"""Lists of words and phrases, one a line."""

from __future__ import annotations

from pathlib import Path

from entlink.errors import SourceError
from entlink.io.inputs import input_text


def read_word_list(path: str | Path) -> tuple[str, ...]:
    """The entries of a file in UTF-8, in order and each once; blank lines are left out."""
    words = tuple(dict.fromkeys(line.strip() for line in input_text(path).splitlines() if line.strip()))
    if not words:
        raise SourceError("there is no entry in it", str(path), hint="Write one word or phrase a line")
    return words
