"""For writers of stages: a toy knowledge base, fixed stages, and checks of what a stage promises."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import isclose, isfinite
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from entlink.documents import Candidate, Document, Link, Mention, Span
from entlink.interfaces import (
    Detector,
    Evidence,
    Explainer,
    Judgement,
    NilPolicy,
    Question,
    Ranker,
    Retriever,
    Shortlist,
)

Given = TypeVar("Given")
Answer = TypeVar("Answer")
Numbers = Sequence[Mapping[str, float]]

# A model that pads its batches gives slightly other numbers for another batch.
_TOLERANCE = 1e-3
_WHEN = ("pool", "shortlist", "ranked")  # as `Evidence` says
_LINK = re.compile(r"\[\[([^|\]]+)\|([^\]]+)\]\]")

_TOY: list[dict[str, Any]] = [
    {
        "id": "mercury-planet",
        "title": "Mercury (planet)",
        "types": ["planet"],
        "external": {"wikidata": "Q308"},
        "text": "[[mercury-planet|Mercury]] is the planet nearest to the [[sun|Sun]].",
    },
    {
        "id": "mercury-element",
        "title": "Mercury (element)",
        "types": ["substance"],
        "aliases": ["quicksilver"],
        "text": "[[mercury-element|Mercury]] is a metal that is liquid at room temperature.",
    },
    {
        "id": "freddie-mercury",
        "title": "Freddie Mercury",
        "types": ["person"],
        "text": "[[freddie-mercury|Freddie Mercury]] sang in the band [[queen-band|Queen]].",
    },
    {
        "id": "queen-band",
        "title": "Queen (band)",
        "types": ["band"],
        "text": "[[queen-band|Queen]] came from [[london|London]].",
    },
    {
        "id": "sun",
        "title": "Sun",
        "types": ["star"],
        "text": "Of the planets [[mercury-planet|Mercury]] goes round the [[sun|Sun]] fastest.",
    },
    {
        "id": "paris",
        "title": "Paris",
        "types": ["city", "place"],
        "aliases": ["City of Light"],
        "external": {"wikidata": "Q90", "url": "https://example.org/paris"},
        "text": "[[paris|Paris]] is the capital of [[france|France]].",
    },
    {
        "id": "paris-texas",
        "title": "Paris, Texas",
        "types": ["city", "place"],
        "aliases": ["Paris"],
        "text": "The town took its name from [[paris|Paris]] in [[france|France]].",
    },
    {
        "id": "paris-troy",
        "title": "Paris (mythology)",
        "types": ["person"],
        "text": "[[paris-troy|Paris]] was a prince of Troy.",
    },
    {
        "id": "france",
        "title": "France",
        "types": ["country", "place"],
        "text": "From [[london|London]] a train goes to [[paris|Paris]] in [[france|France]].",
    },
    {"id": "london", "title": "London", "types": ["city", "place"], "text": "A city on the Thames."},
    {
        "id": "beijing",
        "title": "北京",
        "types": ["city", "place"],
        "aliases": ["北京市", "Beijing"],
        "language": "zh",
        "text": "[[beijing|北京]]是一座城市。",
    },
    {
        "id": "eswatini",
        "title": "Swaziland",
        "types": ["country", "place"],
        "valid_to": "2018-04-19",
        "text": "[[eswatini|Swaziland]] is a kingdom.",
    },
    {
        "id": "eswatini",
        "title": "Eswatini",
        "types": ["country", "place"],
        "valid_from": "2018-04-19",
        "text": "[[eswatini|Eswatini]] is a kingdom.",
    },
]


def toy_kb(folder: str | Path) -> Path:
    """Build `toy.kb` in the folder, anew if it is there: a dozen entities for tests and examples.

    Mercury means two things and Paris three; 北京 is Chinese; Eswatini was Swaziland before 2018-04-19.
    """
    from entlink.kb.build.from_sources import BuildOptions, build

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    articles, target = folder / "toy.jsonl", folder / "toy.kb"
    articles.write_bytes(b"".join(msgspec.json.encode(_article(**page)) + b"\n" for page in _TOY))
    build([articles], target, BuildOptions(format="articles", processes=1), replace=True)
    return target


def _article(text: str, language: str = "en", **fields: Any) -> dict[str, Any]:
    """A record of the format `articles`, from a text in which a link is written `[[id|text]]`."""
    plain, links, end = "", [], 0
    for match in _LINK.finditer(text):
        plain += text[end : match.start()]
        links.append((len(plain), len(plain) + len(match[2]), match[1]))
        plain += match[2]
        end = match.end()
    return {**fields, "language": language, "paragraphs": [{"text": plain + text[end:], "links": links}]}


class FixedDetector:
    """Finds the given surfaces wherever they stand, longer ones first; a mapping also gives their types."""

    def __init__(self, surfaces: Iterable[str] | Mapping[str, str | None]) -> None:
        self.types = dict(surfaces) if isinstance(surfaces, Mapping) else dict.fromkeys(surfaces)
        longest_first = sorted(filter(None, self.types), key=lambda surface: (-len(surface), surface))
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        return [
            [
                Mention(Span(*match.span()), match[0], self.types[match[0]], 1.0)
                for match in self._pattern.finditer(document.text)
            ]
            for document in documents
        ]


class FixedRetriever:
    """Gives each surface its fixed candidates: `{"Paris": {"paris": 0.9, "paris-texas": 0.1}}`."""

    def __init__(self, candidates: Mapping[str, Mapping[str, float]]) -> None:
        self._candidates = {
            surface: [Candidate(entity, score, {"fixed": score}) for entity, score in scores.items()]
            for surface, scores in candidates.items()
        }

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        return [[self._candidates.get(mention.text, ()) for mention in question.mentions] for question in questions]


def check_detector(detector: Detector, documents: Sequence[Document]) -> None:
    """Assert what a detector promises, on these documents and on an empty text; if it explains, that it does so."""
    _check_method(detector, Detector, "detect")
    batch = [*documents, Document("empty", "")]
    check = partial(_check_mentions, may_overlap=getattr(detector, "may_overlap", False))
    _check_batches("detect", detector.detect, batch, check, _same_mentions)
    if isinstance(detector, Explainer):
        for document, mentions in zip(batch, detector.detect(batch), strict=True):
            _check_judgements(document, mentions, detector.explain(document))


def check_retriever(retriever: Retriever, questions: Sequence[Question]) -> None:
    """Assert what a retriever promises, on these questions and on one without mentions."""
    _check_method(retriever, Retriever, "retrieve")
    batch = [*questions, Question(Document("empty", ""), [])]
    _check_batches("retrieve", retriever.retrieve, batch, _check_lists, _same_lists)


def check_evidence(evidence: Evidence, shortlists: Sequence[Shortlist]) -> None:
    """Assert what evidence promises, on these shortlists and on one without candidates.

    Evidence with `when = "ranked"` may look at the other mentions of a document: its shortlists are not asked alone.
    """
    _expect(isinstance(evidence, Evidence), f"{type(evidence).__name__} is not Evidence: it needs gather and gives")
    _expect(len(evidence.gives) > 0, "gives: names no number")
    when = getattr(evidence, "when", "shortlist")
    _expect(when in _WHEN, f"when: is {when!r}, and can be {', '.join(_WHEN)}")

    def check(shortlist: Shortlist, numbers: Numbers) -> None:
        _check_numbers(evidence.gives, shortlist, numbers)

    batch = [*shortlists, *_without_candidates(shortlists)]
    same = _any_numbers if when == "ranked" else _same_numbers
    _check_batches("gather", evidence.gather, batch, check, same)


def check_ranker(ranker: Ranker, shortlists: Sequence[Shortlist]) -> None:
    """Assert what a ranker promises, on these shortlists and on one without candidates."""
    _check_method(ranker, Ranker, "rank")
    batch = [*shortlists, *_without_candidates(shortlists)]
    _check_batches("rank", ranker.rank, batch, _check_ranked, _same_candidates)


def check_nil_policy(policy: NilPolicy, shortlists: Sequence[Shortlist]) -> None:
    """Assert what a NIL policy promises, on these ranked shortlists and on one without candidates."""
    _check_method(policy, NilPolicy, "decide")
    batch = [*shortlists, *_without_candidates(shortlists)]
    _check_batches("decide", policy.decide, batch, _check_link, _same_links)


def _expect(holds: bool, message: str) -> None:
    """Not an assert statement: those are gone when Python runs with -O."""
    if not holds:
        raise AssertionError(message)


def _check_method(stage: object, protocol: type[Any], method: str) -> None:
    _expect(
        isinstance(stage, protocol),
        f"{type(stage).__name__} is not a {protocol.__name__}: it has no method {method}",
    )


def _check_batches(
    method: str,
    stage: Callable[[Sequence[Given]], Sequence[Answer]],
    batch: Sequence[Given],
    check: Callable[[Given, Answer], None],
    same: Callable[[Answer, Answer], bool],
) -> None:
    """The answers for a batch must be as many, right each, the same again, and the same one by one."""
    nothing = stage([])
    _expect(nothing == [], f"{method}: an empty batch must give an empty list, not {nothing!r}")
    answers = stage(batch)
    _expect(isinstance(answers, list), f"{method}: must return a list, not a {type(answers).__name__}")
    _expect(len(answers) == len(batch), f"{method}: {len(batch)} were given, {len(answers)} came back")
    for given, answer in zip(batch, answers, strict=True):
        check(given, answer)
    _expect(stage(batch) == answers, f"{method}: is not deterministic, a second call gave another answer")
    for number, (given, answer) in enumerate(zip(batch, answers, strict=True)):
        alone = stage([given])
        _expect(len(alone) == 1, f"{method}: one was given, {len(alone)} came back")
        message = f"{method}: number {number} of the batch gets {answer!r}, but {alone[0]!r} when it is alone"
        _expect(same(answer, alone[0]), message)


def _check_mentions(document: Document, mentions: Sequence[Mention], *, may_overlap: bool = False) -> None:
    place, size, end, last = f"detect: document {document.id!r}", len(document.text), 0, -1
    for mention in mentions:
        _expect(isinstance(mention, Mention), f"{place}: {mention!r} is not a Mention")
        span = mention.span
        where = f"{place}: span [{span.start}, {span.end})"
        _expect(0 <= span.start < span.end <= size, f"{where} is empty or outside the text of {size} characters")
        _expect(span.start >= last, f"{where} comes after one that starts at {last}: sort mentions by start")
        _expect(may_overlap or span.start >= end, f"{where} overlaps the one before, which ends at {end}")
        there = document.text[span.start : span.end]
        _expect(mention.text == there, f"{where} has the text {mention.text!r}, but {there!r} stands there")
        _expect(
            mention.score is None or _is_finite(mention.score),
            f"{where} has the score {mention.score!r}, not a finite float",
        )
        end, last = span.end, span.start


def _check_judgements(document: Document, mentions: Sequence[Mention], judgements: Iterable[Judgement]) -> None:
    place, size, taken = f"explain: document {document.id!r}", len(document.text), set()
    for span, verdict, lost_to in judgements:
        where = f"{place}: span [{span.start}, {span.end})"
        _expect(0 <= span.start < span.end <= size, f"{where} is empty or outside the text of {size} characters")
        _expect(lost_to is None or bool(verdict.reason), f"{where} lost to another, but no reason is given")
        if not verdict.reason:
            taken.add(span)
    detected = {mention.span for mention in mentions}
    for span in detected ^ taken:
        what = "was detected, but is not told of without a reason" if span in detected else "has no reason"
        _expect(False, f"{place}: span [{span.start}, {span.end}) {what}")


def _check_lists(question: Question, lists: Sequence[Sequence[Candidate]]) -> None:
    document, mentions = question
    place = f"retrieve: document {document.id!r}"
    _expect(
        len(lists) == len(mentions),
        f"{place} has {len(mentions)} mentions, but there are {len(lists)} lists of candidates: "
        "give each mention a list, an empty one where nothing is found",
    )
    for mention, candidates in zip(mentions, lists, strict=True):
        _check_candidates(candidates, f"{place}, mention {mention.text!r}")


def _check_candidates(candidates: Sequence[Candidate], place: str) -> None:
    seen: set[str] = set()
    for candidate in candidates:
        _expect(isinstance(candidate, Candidate), f"{place}: {candidate!r} is not a Candidate")
        name = candidate.entity
        _expect(bool(name), f"{place}: a candidate has no entity id; NIL is for the NIL policy to say")
        _expect(
            _is_finite(candidate.score),
            f"{place}: candidate {name!r} has the score {candidate.score!r}, not a finite float",
        )
        _expect(name not in seen, f"{place}: candidate {name!r} comes twice")
        seen.add(name)


def _check_numbers(gives: Sequence[str], shortlist: Shortlist, numbers: Numbers) -> None:
    place = f"gather: mention {shortlist.mention.text!r}"
    _expect(
        len(numbers) == len(shortlist.candidates),
        f"{place} has {len(shortlist.candidates)} candidates, but there are numbers for {len(numbers)}",
    )
    for candidate, own in zip(shortlist.candidates, numbers, strict=True):
        where = f"{place}, candidate {candidate.entity!r}"
        for name, value in own.items():
            _expect(name in gives, f"{where}: {name!r} is not among the names in gives, {', '.join(gives)}")
            _expect(_is_finite(value), f"{where}: {name} is {value!r}, not a finite float")


def _check_ranked(shortlist: Shortlist, ranked: Sequence[Candidate]) -> None:
    place = f"rank: mention {shortlist.mention.text!r}"
    _check_candidates(ranked, place)
    before, after = {one.entity for one in shortlist.candidates}, {one.entity for one in ranked}
    _expect(
        before == after,
        f"{place}: a ranker orders the candidates it is given, "
        f"but it dropped {sorted(before - after)} and added {sorted(after - before)}",
    )
    scores = [one.score for one in ranked]
    _expect(scores == sorted(scores, reverse=True), f"{place}: the scores are not best first: {scores}")


def _check_link(shortlist: Shortlist, link: Link) -> None:
    _, mention, candidates = shortlist
    place = f"decide: mention {mention.text!r}"
    _expect(isinstance(link, Link), f"{place}: {link!r} is not a Link")
    _expect(link.mention == mention, f"{place}: the link is about another mention, {link.mention.text!r}")
    _expect(_is_finite(link.score), f"{place}: the link has the score {link.score!r}, not a finite float")
    is_probability = 0.0 <= link.score <= 1.0
    _expect(is_probability or not link.calibrated, f"{place}: calibrated, but {link.score} is no probability")
    if link.entity is not None:
        best = candidates[0].entity if candidates else None
        _expect(link.entity == best, f"{place}: linked to {link.entity!r}, but the best candidate is {best!r}")
        _expect(link.nil_type is None, f"{place}: linked, and yet of the NIL type {link.nil_type!r}")


def _without_candidates(shortlists: Sequence[Shortlist]) -> list[Shortlist]:
    """The first shortlist as if nothing had been found: every stage after the retrievers meets that."""
    return [Shortlist(one.document, one.mention, ()) for one in shortlists[:1]]


def _is_finite(score: object) -> bool:
    return isinstance(score, int | float) and isfinite(score)


def _near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def _same_mentions(one: Sequence[Mention], other: Sequence[Mention]) -> bool:
    return [(m.span, m.text, m.type) for m in one] == [(m.span, m.text, m.type) for m in other] and all(
        _near(m.score, n.score) for m, n in zip(one, other, strict=True)
    )


def _same_candidates(one: Sequence[Candidate], other: Sequence[Candidate]) -> bool:
    """The same entities with the same scores; near ties may change places."""
    scores, others = ({c.entity: c.score for c in candidates} for candidates in (one, other))
    return scores.keys() == others.keys() and all(_near(scores[name], others[name]) for name in scores)


def _same_lists(one: Sequence[Sequence[Candidate]], other: Sequence[Sequence[Candidate]]) -> bool:
    return len(one) == len(other) and all(map(_same_candidates, one, other))


def _same_numbers(one: Numbers, other: Numbers) -> bool:
    return len(one) == len(other) and all(
        a.keys() == b.keys() and all(_near(a[name], b[name]) for name in a) for a, b in zip(one, other, strict=True)
    )


def _any_numbers(one: Numbers, other: Numbers) -> bool:
    return len(one) == len(other)


def _same_links(one: Link, other: Link) -> bool:
    return (one.entity, one.nil_type) == (other.entity, other.nil_type) and _near(one.score, other.score)
