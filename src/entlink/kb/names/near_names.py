"""Names of a small knowledge base that a text has almost: "lumn analytics", "enterprize plan"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.folding import key_of
from entlink.text.word_frequency import word_frequency

_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 3
_SHORTEST, _BEGINNING = 6, 3  # characters: of a name, and at its beginning that have to be right
_EDITS_OF_ONE_WORD, _EDITS = 1, 2
_ALIKE = 0.8
_RARE = 1.5  # log10 per million, plus 2: what is as rare may be misspelt


class NearNames:
    """Finds spans that are no names, have a word that is hardly ever used, and are a few edits from a name."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._by_beginning: dict[str, list[str]] = {}
        self._known: set[str] = set()
        self._found: dict[str, bool] = {}
        for key in chain(kb.alias_index.keys(""), kb.fresh_keys()):
            self._known.update(key.split(" "))
            if len(key) >= _SHORTEST and key.isascii():
                self._by_beginning.setdefault(key[:_BEGINNING], []).append(key)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Every such span of up to three words; of those that begin alike, any."""
        before: list[re.Match[str]] = []
        for match in _WORD.finditer(text):
            if before and text[before[-1].end() : match.start()] != " ":
                before = []
            before = [*before[1 - _MOST_WORDS :], match]
            if any(self._may_be_misspelt(one[0]) for one in before):
                for first in before:
                    if self._is_near(text[first.start() : match.end()]):
                        yield first.start(), match.end()

    def _may_be_misspelt(self, word: str) -> bool:
        return len(word) > _BEGINNING and word.lower() not in self._known and word_frequency(word).either < _RARE

    def _is_near(self, surface: str) -> bool:
        found = self._found.get(surface)
        if found is None:
            found = self._found[surface] = self._compare(key_of(surface))
        return found

    def _compare(self, key: str) -> bool:
        from rapidfuzz.distance import DamerauLevenshtein

        edits = _EDITS if " " in key else _EDITS_OF_ONE_WORD
        for other in self._by_beginning.get(key[:_BEGINNING], ()) if len(key) >= _SHORTEST else ():
            if abs(len(other) - len(key)) <= edits:
                distance = DamerauLevenshtein.distance(key, other, score_cutoff=edits)
                if 0 < distance <= edits and 1.0 - distance / max(len(key), len(other)) >= _ALIKE:
                    return True
        return False
