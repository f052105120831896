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
_I = re.compile(r"I\b")  # "The Heron I bought" is no longer name
_TWO_CAPITALISED = re.compile(r"(?<![\w'’\-])(?=([A-Z][\w'’\-]{0,40}) ([A-Z][\w'’\-]{0,40}\w))")
_KIND_WORDS = {
    "person": "born politician actor actress singer player writer king queen artist",
    "place": "city town village country state river island capital county province region municipality continent",
    "organisation": "company band team club university party organization organisation college agency group league",
    "work": "album song movie film book novel television series magazine newspaper single anime",
    "year": "century decade",
}
_KIND_PHRASES = {
    "person": ("(c. ",),
    "work": ("video game",),
    "year": ("was a common year", "was a leap year", "month of the year", "day of the week"),
    "name": ("given name", "first name", "family name", "last name", "surname"),
}
_KINDS = tuple(_KIND_PHRASES.keys() | _KIND_WORDS.keys())
_KIND_OF = {word: f"is_{kind}" for kind, words in _KIND_WORDS.items() for word in words.split()}
_LIFE = re.compile(r"\d+ \w+ \d+ [–-]")
_IS = re.compile(r"\b(?:is|was|are|were)\b")
_LETTERS = re.compile(r"[a-z]+")
_TITLE_WORDS = "mr mrs ms dr president king queen prince sir lord saint st pope general minister prof"
_TITLES = frozenset(_TITLE_WORDS.split())
_ARTICLES = frozenset(("the", "a", "an"))
_NEAR = 24  # characters looked at on either side
_CACHED = 50_000
_LARGE = 50_000  # entities: from there on, a name may be anything
_LONG = 400  # characters of a description: a longer one says no more about an entity
_BEGINNING = 2_000  # characters that show how a text uses capitals
_FEW = 0.02  # of the words have a capital


class KeepFeatures:
    """The features over one knowledge base; what depends on a surface or an entity alone is remembered."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._surfaces: dict[str, Mapping[str, float]] = {}
        self._entities: dict[str, Mapping[str, float]] = {}
        self._text = _TextUse("")
        self.knowledge_base_changed()

    def knowledge_base_changed(self) -> None:
        self._surfaces.clear()
        self._entities.clear()
        self._smallness = max(0.0, 1.0 - log1p(len(self.kb)) / log1p(_LARGE))

    def of(
        self, document: Document, mention: Mention, candidates: Sequence[Candidate], *, inside: bool, around: bool
    ) -> dict[str, float]:
        """All features of a proposal; `inside` a longer one, `around` a shorter one."""
        found = self.at_first_look(mention.text, candidates[0]) | _of_ranking(candidates)
        found.update(_of_place(document.text, mention))
        if document.text is not self._text.text:
            self._text = _TextUse(document.text)
        found.update(self._text.of(mention.text, candidates[0].title or "", is_whole=not inside))
        found.update(inside=float(inside), around=float(around))
        for flag, others in _CROSSED.items():
            if found.get(flag):
                found.update({f"{flag}·{name}": found[flag] * found[name] for name in others if found.get(name)})
        return found

    def at_first_look(self, surface: str, candidate: Candidate) -> dict[str, float]:
        """What does not depend on the text: features of a surface, of an entity, and of how it has that name."""
        found = {**self._of_surface(surface), **self._of_entity(candidate.entity), **_of_name(candidate.evidence)}
        if "only_shortened" in found:
            found["covered"] = min(1.0, len(surface) / max(1, len(candidate.title or "")))
        if self._smallness:
            found["small"] = self._smallness
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
        spelling = spelling_of(surface)
        if spelling == "caseless":
            found["characters"] = float(min(len(surface), 6))
        elif spelling == "cased":
            is_capitalised = all(word[0].isupper() for word in words)
            found["upper" if surface.isupper() else "capitalised" if is_capitalised else "mixed"] = 1.0
        found["single" if len(words) < 2 else "two" if len(words) == 2 else "many"] = 1.0
        found["short"] = float(len(surface) < 4)
        found["digit"] = float(surface[0].isdigit())
        found["number"] = float(surface[-1].isdigit())
        each = [word_frequency(word) for word in words]
        if each:
            found["lower_frequency"] = min(one.lower for one in each)
            found["capital_frequency"] = min(one.capital for one in each)
            found["mostly_lower"] = min(one.lower - one.capital for one in each)
        forms = self.kb.occurrences(surface)
        low = forms.get(surface.lower(), 0)
        total = sum(forms.values())
        found["kb_occurrences"] = log1p(total)
        if self.kb.has_links:
            meaning = self.kb.meaning(surface)
            found["linked"] = log((meaning.linked + 0.5) / (meaning.unlinked + 0.5))
        if spelling != "caseless":
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
        entity = self.kb.recent.of_id(id)
        if entity is None:
            return {}
        opening = (entity.description or "")[:300]
        verb = _IS.search(opening)
        told = opening[: verb.end() + 90] if verb else opening[:150]
        found = _kinds(told.lower())
        if entity.title.endswith(")"):
            found["has_parenthesis"] = 1.0
        if len(entity.title) > 1 and " " not in entity.title and entity.title[1:].islower():
            found["title_one_word"] = 1.0
        found["description"] = log1p(min(len(entity.description or ""), _LONG)) / 6
        bare = entity.title.partition(" (")[0]
        forms = self.kb.occurrences(bare)
        seen = sum(forms.values())
        found["popularity"] = log1p(seen)
        if bare.lower() != bare and seen:
            found["title_lower"] = forms.get(bare.lower(), 0) / seen
        return found


class _TextUse:
    """How one text uses capitals and names."""

    def __init__(self, text: str) -> None:
        self.text, self._lower_text = text, text.lower()
        words = _WORD.findall(text[:_BEGINNING])
        # 0 as people write in chats, 1 as in headlines
        self._capitals = sum(not word[0].islower() for word in words) / max(len(words), 1)
        self._words = frozenset(_WORD.findall(text))
        self._has: dict[str, bool] = {}
        self._names: dict[str, set[str]] = {}
        for first, last in _TWO_CAPITALISED.findall(text):
            self._names.setdefault(last, set()).add(f"{first} {last}")

    def of(self, surface: str, title: str, *, is_whole: bool) -> dict[str, float]:
        found = {"capitals": self._capitals, "no_capitals": float(self._capitals < _FEW)}
        full = title.partition(" (")[0].removeprefix("The ")
        if is_whole and surface != full and " " in full and self._has_name(full.lower()):
            found["in_full"] = 1.0
        elif any(one not in title and one != surface for one in self._names.get(surface, ())):
            found["in_other_name"] = 1.0
        if surface.lower() != surface and surface.lower() in self._words:
            found["also_lower"] = 1.0
        return found

    def _has_name(self, name: str) -> bool:
        found = self._has.get(name)
        if found is None:
            found = self._has[name] = name in self._lower_text
        return found


# What a feature says depends on these: how it is written, where it is, and how large the knowledge base is.
_CROSSED = {
    flag: tuple(others.split())
    for flag, others in {
        "capitalised": "starts single inflected kb_lower after_capital before_capital lower_frequency popularity",
        "single": "after_capital before_capital shortened popularity is_person is_place is_work context "
        "is_organisation is_name after_article inside lower_frequency",
        "small": "single lower_frequency is_title prior only_shortened covered no_capitals starts description",
        "has_parenthesis": "kb_occurrences",
        "shortened": "times kb_as_written kb_lower",
        "capitals": "single before_capital after_capital starts lower_frequency",
        "no_capitals": "single lower_frequency popularity is_person is_place kb_lower",
    }.items()
}

_KNOWN_AT_FIRST = """
    upper capitalised mixed single two many short digit number lower_frequency capital_frequency mostly_lower
    kb_occurrences kb_lower kb_as_written has_parenthesis title_one_word description popularity title_lower tier
    is_title is_bare_title inflected prior bias only_shortened shortened covered times small characters misspelt
    linked
"""
AT_FIRST_LOOK = frozenset((*_KNOWN_AT_FIRST.split(), *(f"is_{kind}" for kind in _KINDS)))


def _kinds(told: str) -> dict[str, float]:
    """What kinds of things the beginning of a description, in lower case, speaks of."""
    found = {_KIND_OF[word]: 1.0 for word in _LETTERS.findall(told) if word in _KIND_OF}
    for kind, phrases in _KIND_PHRASES.items():
        if any(phrase in told for phrase in phrases):
            found[f"is_{kind}"] = 1.0
    if _LIFE.search(told):
        found["is_person"] = 1.0
    return found


def spelling_of(surface: str) -> str:
    """Which of the three sets of weights judges a surface: `caseless`, `lower`, or `cased`."""
    lower = surface.lower()
    return "caseless" if lower == surface.upper() else "lower" if lower == surface else "cased"


def _of_name(evidence: Mapping[str, float]) -> dict[str, float]:
    found = {
        "tier": min(evidence.get("tier", 5.0), 5.0),
        "is_title": evidence.get("is_title", 0.0),
        "is_bare_title": evidence.get("is_bare_title", 0.0),
        "inflected": evidence.get("inflected", 0.0),
        "prior": evidence.get("prior", 0.0),
    }
    if "edit" in evidence:
        found["misspelt"] = 1.0 - evidence["edit"]
    elif "tier" not in evidence:
        found["only_shortened"] = 1.0
        found["shortened"] = evidence.get("shortened", 0.0)
        found["times"] = evidence.get("times", 0.0)
    return found


def _of_ranking(candidates: Sequence[Candidate]) -> dict[str, float]:
    best = candidates[0].evidence
    found = {
        "candidates": log(len(candidates)),
        "share": candidates[0].score,
        "context": min(best.get("context", 0.0), 3.0),
        "others_context": min(best.get("others_context", 0.0), 3.0),
    }
    if "similarity" in best:
        found["similarity"] = best["similarity"]
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
        found["after_of"] = float(word == "of")
        found["after_preposition"] = float(word in ("in", "at", "from", "near", "to"))
    elif before[-1:] in ("@", "#", "-", "_"):
        found["after_sign"] = 1.0
    following = after.split()[:1] if after[:1] == " " else []
    if following:
        found["before_capital"] = float(following[0][:1].isupper() and not _I.match(following[0]))
        found["before_of"] = float(following[0] == "of")
        found["before_verb"] = float(following[0] in ("is", "was", "has", "said", "are", "were", "had"))
    elif after[:1] in ("-", "_"):
        found["before_sign"] = 1.0
    elif after[:2] in ("'s", "’s"):
        found["possessive"] = 1.0
    if after[:1] == "," and after[2:3].isupper():
        found["before_comma_capital"] = 1.0
    return found
