"""What a token is: a word between white space, or a word piece where a tokenizer is given."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from entlink.encoders.models.hugging_face import read_tokenizer
from entlink.text.folding import SPACELESS

# In a script that writes without spaces, a character is a token.
_TOKEN = re.compile(rf"[{SPACELESS}]|[^\s{SPACELESS}]+")
_PIECES_A_TIME = 20_000  # characters


class Tokens:
    """Counts the tokens of texts, and cuts contexts out of them."""

    def __init__(self, tokenizer: str | None = None) -> None:
        self._pieces = None if tokenizer is None else _tokenizer(tokenizer)

    def count(self, text: str) -> int:
        if self._pieces is None:
            return sum(1 for _ in _TOKEN.finditer(text))
        return len(self.pieces(text))

    def pieces(self, text: str) -> list[str]:
        """The word pieces of a text; without a tokenizer, its words."""
        if self._pieces is None:
            return _TOKEN.findall(text)
        return list(self._pieces.encode(text, add_special_tokens=False).tokens)

    def before(self, text: str, end: int, most: int) -> str:
        """The last so many tokens before a place, as the text has them."""
        starts = [start for start, _ in self._places(text[:end], most, is_left=True)]
        return text[starts[-most] if len(starts) > most else 0 : end]

    def after(self, text: str, start: int, most: int) -> str:
        """The first so many tokens from a place on."""
        ends = [end for _, end in self._places(text[start:], most, is_left=False)]
        return text[start : start + ends[most - 1]] if len(ends) > most else text[start:]

    def _places(self, text: str, most: int, *, is_left: bool) -> list[tuple[int, int]]:
        """Where tokens are: of a long text only near the end that is asked for."""
        if self._pieces is None:
            return [match.span() for match in _TOKEN.finditer(text)]
        room = max(_PIECES_A_TIME, 20 * most)
        moved = max(0, len(text) - room) if is_left else 0
        offsets = self._pieces.encode(text[moved : moved + room], add_special_tokens=False).offsets
        found = [(start + moved, end + moved) for start, end in offsets]
        return [(0, 0), *found] if moved else found


@lru_cache(maxsize=2)
def _tokenizer(folder: str) -> Any:
    from entlink.errors import MissingExtraError

    try:
        return read_tokenizer(Path(folder))
    except ImportError:
        raise MissingExtraError("a tokenizer", "retrieval") from None
