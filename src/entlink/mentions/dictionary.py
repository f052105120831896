"""Names of the knowledge base found in running text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from entlink.documents import Document, Mention, Span
from entlink.interfaces import Judgement, Reason, Verdict
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.aliases import Meaning
from entlink.kb.names.tiers import FACTORS, Tier
from entlink.mentions.closing_signs import CLOSING_SIGNS, end_with_signs, may_end_with_sign
from entlink.mentions.overlaps import Scored, without_overlaps
from entlink.text.folding import key_of

CasePolicy = Literal["exact", "smart", "fold"]
_CACHED_VERDICTS = 200_000
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_SENTENCE_END = re.compile(r"\w{4,}[.!?;:][\"'”’)\]]*\s|[。！？；：，、]")
_ENOUGH_UNLINKED = 5  # occurrences: a name that fewer texts hold, unlinked, is not thereby one that nobody links
_FEWEST_OCCURRENCES = 20  # to call a word common: a small table's few descriptions tell nothing


class DictionaryDetector:
    """Longest matches of the alias dictionary; overlaps go to the better score.

    A surface's score is P(link|m) where the texts were counted and hold links, else how exactly it is
    written as a name. `min_link_probability` is the threshold on the former; for a knowledge base without
    links, a single word that occurs more than `common` times a text (and twenty times in all), at least a tenth
    of the time in lower case, counts as a common word. Names of fewer than `shortest` characters are left alone.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        min_link_probability: float = 0.05,
        common: float = 0.02,
        case: CasePolicy = "smart",
        plurals: bool = True,
        shortest: int = 1,
    ) -> None:
        self.kb = kb
        self._types: frozenset[str] = frozenset()
        self.min_link_probability, self.common, self.case = min_link_probability, common, case
        self._plurals, self.shortest = plurals, shortest
        self.knowledge_base_changed()

    def keep_to_types(self, types: frozenset[str]) -> None:
        self._types = types
        self.knowledge_base_changed()

    def knowledge_base_changed(self) -> None:
        self._scanner = self.kb.scanner(plurals=self._plurals)
        self._verdicts: dict[str, float] = {}
        self._signed: set[str] = set()
        self._texts = self.kb.texts
        self._has_links = self.kb.has_links

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        return [self._mentions(document.text) for document in documents]

    def _mentions(self, text: str) -> list[Mention]:
        verdicts, signed = self._verdicts, self._signed
        if len(verdicts) > _CACHED_VERDICTS:
            verdicts.clear()
            signed.clear()
        accepted: list[Scored] = []
        for start, end in self._scanner.matches(text):
            surface = text[start:end]
            score = verdicts.get(surface)
            if score is None:
                score = verdicts[surface] = self._judge(surface)
            if score >= 0.0:
                accepted.append((start, end, score))
        mentions = []
        for start, end, score in without_overlaps(accepted):
            surface = text[start:end]
            if surface in signed and text[end : end + 1] in CLOSING_SIGNS:
                if self.kb.meaning(text[start : end + 1]).blocked:
                    continue
                end = end_with_signs(self.kb, text, start, end)
                surface = text[start:end]
            mentions.append(Mention(Span(start, end), surface, None, score))
        return mentions

    def _judge(self, surface: str) -> float:
        """The score of a surface, -1 where it is rejected; notes whether the name can end with a sign."""
        verdict = self.verdict(surface)
        if verdict.reason:
            return -1.0
        if may_end_with_sign(self.kb, surface):
            self._signed.add(surface)
        return verdict.score

    def explain(self, document: Document, span: Span | None = None) -> list[Judgement]:
        """What became of every dictionary match in the text; of `span` too, if it is a name."""
        text = document.text
        told: list[Judgement] = []
        accepted: list[Scored] = []
        for start, end in self._scanner.matches(text):
            verdict = self.verdict(text[start:end])
            if verdict.reason:
                told.append(Judgement(self._whole(text, start, end), verdict))
            else:
                accepted.append((start, end, verdict.score))

        def lost(loser: Scored, winner: Scored) -> None:
            verdict = Verdict(loser[2], Reason.LOST)
            told.append(Judgement(self._whole(text, *loser[:2]), verdict, self._whole(text, *winner[:2])))

        for start, end, score in without_overlaps(accepted, lost):
            blocked = self._is_blocked_with_sign(text, start, end)
            verdict = Verdict(0.0, Reason.BLOCKED) if blocked else Verdict(score)
            told.append(Judgement(self._whole(text, start, end), verdict))
        if span is not None and all(one.span != span for one in told):
            told += self._judged(text, span, told)
        return told

    def _is_blocked_with_sign(self, text: str, start: int, end: int) -> bool:
        return text[end : end + 1] in CLOSING_SIGNS and self.kb.meaning(text[start : end + 1]).blocked

    def _whole(self, text: str, start: int, end: int) -> Span:
        return Span(start, end_with_signs(self.kb, text, start, end))

    def _judged(self, text: str, span: Span, told: list[Judgement]) -> list[Judgement]:
        """What to say of a span that is no match: it may be one with other signs around it, or lie in a word."""
        surface = text[span.start : span.end]
        key = key_of(surface)
        around = [one for one in told if one.span.overlaps(span)]
        for one in around:
            if one.verdict.reason and key_of(text[one.span.start : one.span.end]) == key:
                return [one._replace(span=span)]
        verdict = self.verdict(surface)
        if verdict.reason == Reason.NO_MEANING:
            return []
        if verdict.reason:
            return [Judgement(span, verdict)]
        taken = next((one.span for one in around if not one.verdict.reason), None)
        reason = Reason.LOST if taken else Reason.NOT_LOOKED_FOR
        return [Judgement(span, verdict._replace(reason=reason, value=None), taken)]

    def verdict(self, surface: str) -> Verdict:
        """Whether a surface would be taken for a mention, and if not, why."""
        meaning = self.kb.meaning(surface)
        if meaning.blocked:
            return Verdict(0.0, Reason.BLOCKED)
        if not meaning.entries:
            return Verdict(0.0, Reason.NO_MEANING)
        if is_broken(surface, exact=meaning.tier is Tier.EXACT):
            return Verdict(0.0, Reason.BROKEN)
        if self._types and not self._has_type(meaning):
            return Verdict(0.0, Reason.WRONG_TYPE)
        if meaning.pinned:
            return Verdict(1.0, None)
        if len(surface) < self.shortest:
            return Verdict(0.0, Reason.SHORT, float(len(surface)), float(self.shortest))
        if not self._case_fits(surface, meaning):
            return Verdict(0.0, Reason.CASE)
        return self._by_counts(surface, meaning)

    def _has_type(self, meaning: Meaning) -> bool:
        return any(self._types.intersection(self.kb.types(id)) for _, id, _ in self.kb.entities_named(meaning))

    def _by_counts(self, surface: str, meaning: Meaning) -> Verdict:
        probability = meaning.link_probability() if self._has_links else None
        never_linked = not meaning.linked and meaning.unlinked < _ENOUGH_UNLINKED
        if probability is not None and self._texts and not never_linked:
            if probability < self.min_link_probability:
                return Verdict(probability, Reason.RARELY_LINKED, probability, self.min_link_probability)
            return Verdict(probability, None, probability)
        share = self._common_share(surface)
        if share > self.common:
            return Verdict(0.0, Reason.COMMON_WORD, share, self.common)
        return Verdict(FACTORS[meaning.tier], None)

    def _common_share(self, surface: str) -> float:
        """How often the word stands in a text, if it is one word and not mostly a proper name; else 0."""
        if not self._texts or not surface.isalpha():
            return 0.0
        forms = self.kb.occurrences(surface)
        total = sum(forms.values())
        return total / self._texts if total >= _FEWEST_OCCURRENCES and _is_in_lower_case(surface, forms) else 0.0

    def _case_fits(self, surface: str, meaning: Meaning) -> bool:
        if self.case == "fold" or meaning.tier <= Tier.UNICODE:
            return True
        if self.case == "exact":
            return any(surface == form for form in meaning.forms)
        # "us" is not "US": an acronym must be written as one.
        return surface.isupper() or not all(map(is_acronym, meaning.forms))


def _is_in_lower_case(surface: str, forms: Mapping[str, int]) -> bool:
    """Whether at least a tenth of a name's places have it in lower case; never of a script without case."""
    if surface.lower() == surface.upper():
        return False
    return forms.get(surface.lower(), 0) * 10 >= sum(forms.values()) > 0


def is_acronym(form: str) -> bool:
    """Two to six letters, all capitals."""
    letters = [character for character in form if character.isalpha()]
    return 2 <= len(letters) <= 6 and all(character.isupper() for character in letters)


def is_broken(surface: str, *, exact: bool) -> bool:
    """Whether a paragraph ends inside the surface, or a sentence, unless the name is written just so."""
    if surface.isalnum():
        return False
    return bool(_BLANK_LINE.search(surface) or (not exact and _SENTENCE_END.search(surface)))
