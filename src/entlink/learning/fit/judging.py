"""NIL fitted to documents with gold: which of the links that a linker finds by itself are right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from entlink.documents import Candidate, Document, Mention
from entlink.errors import InputError
from entlink.evaluation.scoring.items import annotated_turns
from entlink.io.progress import Progress
from entlink.learning.fit.logistic import logistic, newton
from entlink.linking.config import LinkerConfig
from entlink.linking.conversation.personal.gold_phrases import PERSONAL, is_name
from entlink.nil.judged import MENTION, SCORE, measured

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.linking.linker import Linker

_FOLDS = 5
_FEWEST_LINKS = 50
_PULL = 10.0  # towards 0, of weights of standardised measures
_DERIVED = (MENTION, SCORE, "lead", "named")
_NO_MEASURES = frozenset(("sum", "support", "prior", "tier", "edit", "pinned"))  # told by others, or not of a scale
_THRESHOLDS = tuple(round(0.025 * step, 3) for step in range(41))


class Found(NamedTuple):
    """A link that a linker found without NIL, whether it is right, and in which document."""

    document: str
    mention: Mention
    candidates: Sequence[Candidate]
    right: bool


class JudgedScore(msgspec.Struct, frozen=True):
    """Precision, recall and F1 of links, strict spans, over all gold."""

    precision: float
    recall: float
    f1: float


class Judging(msgspec.Struct, frozen=True):
    """What was fitted, and what links are worth with it and without any NIL; on parts that it was not fitted to."""

    links: int
    gold: int
    right: int
    threshold: float
    weights: dict[str, float]
    bias: float
    before: JudgedScore
    after: JudgedScore


def judge(
    linker: Linker, config: LinkerConfig, documents: Iterable[Document], seed: int, progress: Progress
) -> tuple[LinkerConfig, Judging]:
    """The configuration with NIL fitted to what the linker, which is to have none, finds in documents with gold."""
    import numpy

    found, gold = _found(linker, documents, progress)
    right = numpy.array([one.right for one in found], bool)
    if len(found) < _FEWEST_LINKS or not right.any() or right.all():
        raise InputError(
            f"the linker finds {len(found)} links in these documents, {int(right.sum())} of them right: too few, or "
            "too much alike, to learn when to say NIL. Give more documents with gold, or a detector that finds more"
        )
    names = _measures(found)
    rows = numpy.array([[measured(name, one.mention, one.candidates) for name in names] for one in found])
    progress("fitting", 0, 0)
    chances = _held_out(rows, right, [one.document for one in found], seed)
    threshold = max(_THRESHOLDS, key=lambda one: (_score(chances >= one, right, gold).f1, -one))
    weights, bias = _fit(rows, right)
    kept = {name: round(float(weight), 5) for name, weight in zip(names, weights, strict=True) if abs(weight) > 1e-5}
    nil = {"name": "judged", "weights": kept, "bias": round(bias, 5), "threshold": threshold}
    report = Judging(
        links=len(found),
        gold=gold,
        right=int(right.sum()),
        threshold=threshold,
        weights=kept,
        bias=round(bias, 5),
        before=_score(numpy.ones(len(right), bool), right, gold),
        after=_score(chances >= threshold, right, gold),
    )
    return msgspec.structs.replace(config, nil=nil), report


def _found(linker: Linker, documents: Iterable[Document], progress: Progress) -> tuple[list[Found], int]:
    """What the linker finds in the documents, and how many gold links they have."""
    found, gold = [], 0
    for number, document in enumerate(documents):
        progress("linking", number, 0)
        wanted = [one for one in document.gold if one.entities and not one.optional and is_name(one)]
        gold += len(wanted)
        entities = {one.span: {_id(linker, name) for name in one.entities} for one in wanted}
        unsure = {one.span for one in document.gold if one.optional}
        within = _annotated(document)
        linked = linker.link(msgspec.structs.replace(document, gold=(), links=()))
        for link in linked.links:
            span = link.mention.span
            if not link.candidates or span in unsure or link.mention.type == PERSONAL:
                continue
            if any(start <= span.start and span.end <= end for start, end in within):
                right = link.candidates[0].entity in entities.get(span, ())
                found.append(Found(document.id, link.mention, link.candidates, right))
    return found, gold


def _id(linker: Linker, name: str) -> str | None:
    entity = linker.kb.resolve(name)
    return None if entity is None else entity.id


def _annotated(document: Document) -> list[tuple[int, int]]:
    """The parts of a document of which gold tells all: of a conversation, the turns that were annotated."""
    if not document.turns:
        return [(0, len(document.text))]
    turns = annotated_turns(document)
    return [(span.start, span.end) for number, span in enumerate(document.turn_spans) if number in turns]


def _measures(found: Sequence[Found]) -> list[str]:
    told = {name for one in found for name in one.candidates[0].evidence}
    return [*_DERIVED, *sorted(told - _NO_MEASURES - set(_DERIVED))]


def _held_out(rows: NDArray[Any], right: NDArray[Any], documents: Sequence[str], seed: int) -> NDArray[Any]:
    """How likely each link is right by the others; none of a document tells of another of it."""
    import numpy

    ids = sorted(set(documents))
    Random(seed).shuffle(ids)
    if len(ids) < _FOLDS:
        raise InputError(f"links are in {len(ids)} documents, and {_FOLDS} are needed, so that some can be held out")
    part = {id: number % _FOLDS for number, id in enumerate(ids)}
    fold = numpy.array([part[id] for id in documents])
    chances = numpy.zeros(len(right))
    for number in range(_FOLDS):
        own = fold == number
        weights, bias = _fit(rows[~own], right[~own])
        chances[own] = logistic(rows[own] @ weights + bias)
    return chances


def _fit(rows: NDArray[Any], right: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Logistic regression, with weights drawn to 0 in units of each measure's spread."""
    import numpy

    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    used = spread > 1e-9
    scaled = numpy.concatenate(((rows[:, used] - mean[used]) / spread[used], numpy.ones((len(rows), 1))), axis=1)
    pull = numpy.full(scaled.shape[1], _PULL)
    pull[-1] = 1e-6
    weights = newton(scaled, right, pull)
    found = numpy.zeros(rows.shape[1])
    found[used] = weights[:-1] / spread[used]
    return found, float(weights[-1] - found @ mean)


def _score(kept: NDArray[Any], right: NDArray[Any], gold: int) -> JudgedScore:
    count, hits = int(kept.sum()), int((kept & right).sum())
    return JudgedScore(hits / count if count else 1.0, hits / gold if gold else 0.0, 2 * hits / max(1, count + gold))
