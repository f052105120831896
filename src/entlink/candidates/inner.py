"""Candidates from the names inside a mention: "good pizza" for Pizza, "jazz musician" for Jazz."""

from __future__ import annotations

import re
from collections.abc import Iterator

from entlink.candidates._lookup import ScoringLookup
from entlink.documents import Candidate
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.aliases import prior
from entlink.text.folding import key_of

_WORD = re.compile(r"\w+(?:['’&.\-]\w+)*")
_MOST_WORDS = 8  # of a mention that is looked into
_BEGINNING = 0.5  # what a name at the beginning counts: in English, the head of a phrase is its end


class InnerNamesRetriever(ScoringLookup):
    """The entities one of whose names is the end or the beginning of the mention, but not all of it.

    A score is the share of the mention's words that the name has, times P(e|m) of that name; of a name at the
    beginning, half of that. Of each side, the longest name counts.
    """

    gives = ("inner",)

    def __init__(self, kb: KnowledgeBase, *, limit: int = 5) -> None:
        super().__init__(kb, limit)

    def _look_up(self, surface: str) -> tuple[Candidate, ...]:
        words = list(_WORD.finditer(surface))
        if not 1 < len(words) <= _MOST_WORDS or self.kb.meaning(surface).blocked:
            return ()
        ends = (surface[words[at].start() : words[-1].end()] for at in range(1, len(words)))
        beginnings = (surface[words[0].start() : words[at].end()] for at in range(len(words) - 2, -1, -1))
        scores: dict[str, tuple[float, str]] = {}
        for runs, weight in ((ends, 1.0), (beginnings, _BEGINNING)):
            for id, title, score in self._first_name(runs, len(words)):
                if weight * score > scores.get(id, (0.0, ""))[0]:
                    scores[id] = (weight * score, title)
        ordered = sorted(scores.items(), key=lambda one: (-one[1][0], one[0]))
        return tuple(Candidate(id, score, {}, title) for id, (score, title) in ordered)

    def _first_name(self, runs: Iterator[str], words: int) -> Iterator[tuple[str, str, float]]:
        """The entities of the first run that is a name, in whatever way it is written."""
        for run in runs:
            written = self.kb.meaning(run)
            if written.blocked:
                continue
            folded = self.kb.meaning_of_key(key_of(run))
            meaning = written if written.pinned or not folded.entries else folded
            most = None if self._types else 2 * self.limit
            named = [one for one in self.kb.entities_named(meaning, most) if self._is_wanted(one[1])]
            if not named:
                continue
            share = len(_WORD.findall(run)) / words
            counted = [entry for entry, _, _ in named] if self._types else meaning.entries
            total = sum(entry.support for entry in counted)
            for entry, id, title in named:
                yield id, title, share * (prior(entry.support, total) if total else 1 / len(counted))
            return

    def _is_wanted(self, id: str) -> bool:
        return not self._types or bool(self._types.intersection(self.kb.types(id)))
