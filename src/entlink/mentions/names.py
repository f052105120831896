"""Every name in a text is a proposal, overlaps included: which of them are links is decided after ranking."""

from __future__ import annotations

import re
from collections.abc import Sequence

from entlink.documents import Document, Mention, Span
from entlink.interfaces import What
from entlink.kb.indexes.short_names import ShortNames
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.near_names import NearNames
from entlink.mentions.closing_signs import CLOSING_SIGNS, end_with_signs, may_end_with_sign
from entlink.text.segmentation import whole_words
from entlink.text.word_frequency import word_frequency

_CACHED = 200_000
_CAPITALISED = re.compile(r"(?:[A-Z]\.){2,}|[^\W\d_a-z][\w'’.\-]*\w")
_ANY_WORD = re.compile(r"(?:[A-Z]\.){2,}|[^\W\d_][\w'’.\-]*\w")
_POSSESSIVE = ("'s", "’s")
_EVERYDAY = {"names": 0.0, "terms": 3.4, "all": 4.6}  # log10 of occurrences per million words, plus 2
_HAS_CAPITALS = re.compile(r"[a-z0-9,;)] [A-Z][a-z]")  # beside those that sentences begin with
_CLAUSE_END = re.compile("[，。；：！？、]")
_WORDS = """
    a an the this that these those i you he she it we they me him her us them my your his its our their and or
    but if so as at by for from in into of on off over to up with who what which when where why how not no yes
    is are was were be been am do does did has have had will would can could may might must shall should one
    two new first last next then there here all any some more most
"""
_FUNCTION_WORDS = frozenset(_WORDS.split())
_LONGEST_SHORT = 2  # words of a name cut short
_SMALL = 5_000  # entities: up to there, words in lower case are looked at as names cut short
_COMMON = 4.0  # words as common as "later" are no name cut short


class NamesDetector:
    """All names of the knowledge base in a text, and capitalised words that are one of its names cut short.

    In a small knowledge base, words in lower case may be a name cut short, too ("my juniper tent leaks"), or a name
    that is misspelt ("lumn analytics"). Elsewhere they may be cut short in a text without capitals only.

    `what` says which words without a capital are looked at: `names` none, `terms` those that are not everyday words
    of English, `all` all but the most common. Mentions may overlap: use the NIL policy `keep`, which settles that.
    """

    may_overlap = True

    def __init__(self, kb: KnowledgeBase, *, what: What = "terms") -> None:
        self.kb, self.what = kb, what
        self._short = ShortNames(kb)
        self.knowledge_base_changed()

    def knowledge_base_changed(self) -> None:
        self._scanner = self.kb.scanner(plurals=True)
        self._short.knowledge_base_changed()
        is_small = len(self.kb) <= _SMALL
        self._any_word_is_cut = is_small and self.what != "names"
        self._near = NearNames(self.kb) if is_small else None
        self._occurrences: dict[str, int] = {}
        self._signed: dict[str, bool] = {}
        self._is_proposed: dict[str, bool] = {}
        self._is_short: dict[str, bool] = {}

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        return [self._mentions(document.text) for document in documents]

    def _mentions(self, text: str) -> list[Mention]:
        if len(self._is_proposed) + len(self._is_short) + len(self._occurrences) > _CACHED:
            self._occurrences.clear()
            self._signed.clear()
            self._is_proposed.clear()
            self._is_short.clear()
        short = set(self._short_names(text))
        found = {*self._scanner.matches(text), *short}
        if not text.isascii():
            in_clauses = (span for span in found if self._is_in_one_clause(text[span[0] : span[1]]))
            found = set(whole_words(text, in_clauses, self._times))
        spans = {span for span in found if span in short or self._proposes(text[span[0] : span[1]])}
        if self._near is not None:
            spans.update(self._near.spans(text))
        whole = {(start, self._whole_end(text, start, end)) for start, end in spans}
        return [Mention(Span(start, end), text[start:end]) for start, end in sorted(whole)]

    def _is_in_one_clause(self, surface: str) -> bool:
        return _CLAUSE_END.search(surface) is None or self.kb.is_written_so(surface)

    def _whole_end(self, text: str, start: int, end: int) -> int:
        if text[end : end + 1] not in CLOSING_SIGNS:
            return end
        surface = text[start:end]
        if surface not in self._signed:
            self._signed[surface] = may_end_with_sign(self.kb, surface)
        return end_with_signs(self.kb, text, start, end) if self._signed[surface] else end

    def _proposes(self, surface: str) -> bool:
        found = self._is_proposed.get(surface)
        if found is None:
            found = self._is_proposed[surface] = self._is_possible(surface)
        return found

    def _times(self, surface: str) -> int:
        """How often the texts of the knowledge base have a surface."""
        found = self._occurrences.get(surface)
        if found is None:
            meaning = self.kb.meaning(surface)
            found = self._occurrences[surface] = meaning.linked + meaning.unlinked
        return found

    def _is_possible(self, surface: str) -> bool:
        meaning = self.kb.meaning(surface)
        if meaning.blocked or meaning.pinned:
            return meaning.pinned
        words = surface.split()
        if len(surface) < 2 or not any(map(str.isalpha, surface)) or "\n\n" in surface:
            return False
        if len(words) > 1:
            return words[0] not in _FUNCTION_WORDS and words[-1] not in _FUNCTION_WORDS
        if surface.lower() == surface.upper():
            return True
        if surface.lower() in _FUNCTION_WORDS:
            return surface.isupper() and len(surface) > 1 and any(form == surface for form in meaning.forms)
        return not surface.islower() or word_frequency(surface).lower < _EVERYDAY[self.what]

    def _short_names(self, text: str) -> list[tuple[int, int]]:
        found = []
        before: list[re.Match[str]] = []
        any_word = self._any_word_is_cut or (self.what != "names" and not _HAS_CAPITALS.search(text))
        for match in (_ANY_WORD if any_word else _CAPITALISED).finditer(text):
            if before and text[before[-1].end() : match.start()] != " ":
                before = []
            before = [*before[1 - _LONGEST_SHORT :], match]
            end = match.end() - 2 if match[0].endswith(_POSSESSIVE) else match.end()
            for first in before:
                if self._is_cut(text[first.start() : end]):
                    found.append((first.start(), end))
        return found

    def _is_cut(self, surface: str) -> bool:
        found = self._is_short.get(surface)
        if found is None:
            found = self._is_short[surface] = self._can_be_cut(surface) and bool(self._short.of(surface))
        return found

    def _can_be_cut(self, surface: str) -> bool:
        if surface.isupper():
            return surface.lower() not in _FUNCTION_WORDS
        common = min(word_frequency(word).lower for word in surface.split())
        return (
            common < (_EVERYDAY[self.what] if surface.islower() else _COMMON) and not self.kb.meaning(surface).blocked
        )
