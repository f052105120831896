"""What speaks for a link that somebody wants: numbers of a span, its place and its best candidate, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import log, log1p

from entlink.documents import Candidate, Document, Mention
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.word_frequency import word_frequency

_WORD = re.compile(r"\w[\w'’\-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？]['\")\]”’]*\s|\n)\s*[\"'“‘(\[]*$")
_KINDS = {
    "person": r"\(?(?:born|c\. \d|\d+ \w+ \d+ [–-])|politician|actor|actress|singer|player|writer|king|queen|artist",
    "place": r"city|town|village|country|state|river|island|capital|county|province|region|municipality|continent",
    "organisation": r"company|band|team|club|university|party|organi[sz]ation|college|agency|group|league",
    "work": r"album|song|movie|film|book|novel|television|series|video game|magazine|newspaper|single|anime",
    "year": r"was a (?:common|leap) year|century|decade|month of the year",
    "name": r"(?:given|first|family|last) name|surname",
}
_IS = re.compile(r"\b(?:is|was|are|were)\b")
_KIND_PATTERNS = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in _KINDS.items()}
_TITLE_WORDS = "mr mrs ms dr president king queen prince sir lord saint st pope general minister prof"
_TITLES = frozenset(_TITLE_WORDS.split())
_ARTICLES = frozenset(("the", "a", "an"))
_NEAR = 24  # characters looked at on either side
_CACHED = 50_000


class KeepFeatures:
    """The features over one knowledge base; what depends on a surface or an entity alone is remembered."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._surfaces: dict[str, Mapping[str, float]] = {}
        self._entities: dict[str, Mapping[str, float]] = {}

    def knowledge_base_changed(self) -> None:
        self._surfaces.clear()
        self._entities.clear()

    def of(
        self, document: Document, mention: Mention, candidates: Sequence[Candidate], *, inside: bool, around: bool
    ) -> dict[str, float]:
        """All features of a proposal; `inside` a longer one, `around` a shorter one."""
        found = {**self._of_surface(mention.text), **self._of_entity(candidates[0].entity), **_of_ranking(candidates)}
        place = _of_place(document.text, mention)
        place |= {"inside": float(inside), "around": float(around)}
        found.update(place)
        # Where letters have cases, what a capital says depends on where it is.
        for case in ("capitalised", "lower"):
            if found.get(case):
                found.update({f"{case}·{name}": found[name] for name in _CROSSED if found.get(name)})
        if found.get("single"):
            found.update({f"single·{name}": found[name] for name in _CROSSED_SINGLE if found.get(name)})
        return found

    def _of_surface(self, surface: str) -> Mapping[str, float]:
        found = self._surfaces.get(surface)
        if found is None:
            if len(self._surfaces) >= _CACHED:
                self._surfaces.clear()
            found = self._surfaces[surface] = self._look_at(surface)
        return found

    def _look_at(self, surface: str) -> dict[str, float]:
        words = _WORD.findall(surface)
        found: dict[str, float] = {}
        if surface.lower() == surface.upper():
            found["caseless"] = 1.0
            found["characters"] = float(min(len(surface), 6))
        elif surface.islower():
            found["lower"] = 1.0
        elif surface.isupper():
            found["upper"] = 1.0
        elif all(word[0].isupper() for word in words):
            found["capitalised"] = 1.0
        else:
            found["mixed"] = 1.0
        found["single" if len(words) < 2 else "two" if len(words) == 2 else "many"] = 1.0
        found["short"] = float(len(surface) < 4)
        found["digit"] = float(any(map(str.isdigit, surface)))
        each = [word_frequency(word) for word in words]
        if each:
            found["lower_frequency"] = min(one.lower for one in each)
            found["capital_frequency"] = min(one.capital for one in each)
            found["mostly_lower"] = min(one.lower - one.capital for one in each)
        forms = self.kb.occurrences(surface)
        low = forms.get(surface.lower(), 0)
        total = sum(forms.values())
        found["kb_occurrences"] = log1p(total)
        if "caseless" not in found:
            found["kb_lower"] = log((low + 0.5) / (total - low + 0.5))
            found["kb_as_written"] = log1p(forms.get(surface, 0))
        return found

    def _of_entity(self, id: str) -> Mapping[str, float]:
        found = self._entities.get(id)
        if found is None:
            if len(self._entities) >= _CACHED:
                self._entities.clear()
            found = self._entities[id] = self._look_at_entity(id)
        return found

    def _look_at_entity(self, id: str) -> dict[str, float]:
        entity = self.kb.get(id)
        if entity is None:
            return {}
        opening = (entity.description or "")[:300]
        verb = _IS.search(opening)
        told = opening[: verb.end() + 90] if verb else opening[:150]
        found = {f"is_{kind}": 1.0 for kind, pattern in _KIND_PATTERNS.items() if pattern.search(told)}
        if entity.title.endswith(")"):
            found["has_parenthesis"] = 1.0
        if len(entity.title) > 1 and " " not in entity.title and entity.title[1:].islower():
            found["title_one_word"] = 1.0
        found["description"] = log1p(len(entity.description or "")) / 6
        bare = entity.title.partition(" (")[0]
        forms = self.kb.occurrences(bare)
        seen = sum(forms.values())
        found["popularity"] = log1p(seen)
        if bare.lower() != bare and seen:
            found["title_lower"] = forms.get(bare.lower(), 0) / seen
        return found


_CROSSED = ("starts", "single", "kb_lower", "after_capital", "before_capital", "lower_frequency", "popularity")
_CROSSED_SINGLE = (
    "after_capital", "before_capital", "shortened", "popularity", "is_person", "is_place", "is_work", "context",
    "is_organisation", "is_name", "after_article", "inside",
)  # fmt: skip


def _of_ranking(candidates: Sequence[Candidate]) -> dict[str, float]:
    best = candidates[0].evidence
    found = {
        "candidates": log(len(candidates)),
        "share": candidates[0].score,
        "tier": min(best.get("tier", 5.0), 5.0),
        "is_title": best.get("is_title", 0.0),
        "is_bare_title": best.get("is_bare_title", 0.0),
        "prior": best.get("prior", 0.0),
        "context": min(best.get("context", 0.0), 3.0),
        "title_context": min(best.get("title_context", 0.0), 3.0),
    }
    if "tier" not in best:
        found["only_shortened"] = 1.0
        found["shortened"] = best.get("shortened", 0.0)
        found["times"] = best.get("times", 0.0)
    if len(candidates) > 1:
        found["margin"] = min(best.get("sum", 0.0) - candidates[1].evidence.get("sum", 0.0), 5.0)
    return found


def _of_place(text: str, mention: Mention) -> dict[str, float]:
    start, end = mention.span.start, mention.span.end
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    found: dict[str, float] = {}
    if (start <= _NEAR and not before.strip("\"'“‘([ ")) or _SENTENCE_START.search(before):
        found["starts"] = 1.0
    previous = before.split()[-1:] if before[-1:] == " " else []
    if previous:
        word = previous[0].strip("\"'“(")
        found["after_article"] = float(word.lower() in _ARTICLES)
        found["after_title"] = float(word.lower().rstrip(".") in _TITLES)
        is_name = word[:1].isupper() and word[-1:].isalnum() and word.lower() not in _ARTICLES
        found["after_capital"] = float(is_name and "starts" not in found)
        found["after_preposition"] = float(word in ("in", "at", "from", "near", "to"))
    elif before[-1:] in ("@", "#", "-", "/", "_"):
        found["after_sign"] = 1.0
    following = after.split()[:1] if after[:1] == " " else []
    if following:
        found["before_capital"] = float(following[0][:1].isupper())
        found["before_of"] = float(following[0] == "of")
        found["before_verb"] = float(following[0] in ("is", "was", "has", "said", "are", "were", "had"))
    elif after[:1] in ("-", "_", "/"):
        found["before_sign"] = 1.0
    elif after[:2] in ("'s", "’s"):
        found["possessive"] = 1.0
    if after[:1] == "," and after[2:3].isupper():
        found["before_comma_capital"] = 1.0
    return found
