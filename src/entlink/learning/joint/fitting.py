"""What a trained joint model's scores mean, fitted on held-out texts by the model as it was written.

The scores of spans are made chances, and two thresholds are chosen: for mentions, and for the joint score.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy

from entlink.encoders.joint.model import JointModel
from entlink.encoders.joint.spans import apart, chances
from entlink.encoders.models.card import read_card, write_card
from entlink.encoders.trained.folder import open_trained
from entlink.learning.fit.logistic import fit_logistic
from entlink.learning.joint.learner import best_f1
from entlink.mentions.joint import JointDetector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.encoders.joint.spans import Spans
    from entlink.io.progress import Progress
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.joint.learner import Scored
    from entlink.learning.joint.texts import TaughtText

_STAGE = "fitting thresholds"
_FEWEST = 10  # mentions to calibrate on
_PULL = 1e-7  # next to nothing: hardly one span in a hundred is a mention, so that all losses are small
_LEAST = 0.02  # the chance of a span whose entities are looked at
_DIGITS = 10_000


class Fit(msgspec.Struct, frozen=True):
    """How the written model does on the texts held out: mentions found, and mentions linked, at their thresholds."""

    texts: int
    mentions: int
    threshold: float
    detection: float
    joint_threshold: float
    linking: float
    calibrated: bool


class _Judged(NamedTuple):
    """The spans of a text with their scores, and whether each is gold (1), none (0), or may be either (-1)."""

    spans: Spans
    scores: NDArray[numpy.float64]
    gold: NDArray[numpy.int64]


def fit_joint(folder: Path, kb: KnowledgeBase, texts: Sequence[TaughtText], progress: Progress) -> Fit | None:
    """Fit the model in a folder, and note it in its card; without held-out mentions there is nothing to fit by."""
    mentions = sum(not one.optional for text in texts for one in text.mentions)
    if not mentions:
        return None
    model = JointModel(open_trained(folder, "joint"))
    judged = _judged(model, texts, progress)
    slope, shift, is_fitted = _calibrated(judged)
    model.settings = msgspec.structs.replace(model.settings, slope=slope, shift=shift, calibrated=is_fitted)
    detection, threshold = best_f1([one for own in judged for one in _staying(own, slope, shift)], mentions)
    known = sum(bool(one.entities) and not one.optional for text in texts for one in text.mentions)
    linking, joint_threshold = best_f1(_linked(kb, model, texts, progress), known)
    settings = msgspec.structs.replace(
        model.settings,
        threshold=_down(threshold, model.settings.threshold),
        joint_threshold=_down(joint_threshold, model.settings.joint_threshold),
    )
    write_card(folder, msgspec.structs.replace(read_card(folder), settings=msgspec.to_builtins(settings)))
    return Fit(
        *(len(texts), mentions, settings.threshold, round(detection, 4)),
        *(settings.joint_threshold, round(linking, 4), is_fitted),
    )


def _judged(model: JointModel, texts: Sequence[TaughtText], progress: Progress) -> list[_Judged]:
    found = []
    for at, (text, reading) in enumerate(zip(texts, model.readings([text.piece for text in texts]), strict=True)):
        progress(_STAGE, at, 2 * len(texts))
        spans, scores = reading.scored()
        gold = numpy.zeros(len(spans), numpy.int64)
        for one in text.mentions:
            if (place := reading.piece.place(one.span)) is not None:
                gold[(spans == place).all(axis=1)] = -1 if one.optional else 1
        found.append(_Judged(spans, scores, gold))
    return found


def _calibrated(judged: Sequence[_Judged]) -> tuple[float, float, bool]:
    """Slope and shift under which what is gold is likeliest, and whether there was enough to tell."""
    scores, gold = (numpy.concatenate([getattr(one, name) for one in judged]) for name in ("scores", "gold"))
    scores, gold = scores[gold >= 0], gold[gold >= 0]
    if gold.sum() < _FEWEST or not scores.std():
        return 1.0, 0.0, False
    fitted = fit_logistic(scores[:, None], gold.astype(float), numpy.ones(len(gold)), pull=_PULL)
    if fitted.weights[0] <= 0:  # the model tells nothing
        return 1.0, 0.0, False
    return fitted.weights[0], fitted.bias, True


def _staying(one: _Judged, slope: float, shift: float) -> list[Scored]:
    sure = chances(one.scores, slope, shift).tolist()
    order = apart([(first, last) for first, last in one.spans.tolist()], sure)
    return [(sure[at], bool(one.gold[at])) for at, winner in order if winner is None and one.gold[at] >= 0]


def _linked(kb: KnowledgeBase, model: JointModel, texts: Sequence[TaughtText], progress: Progress) -> list[Scored]:
    """The spans that stay by their joint score, and whether each is gold and means what it should."""
    detector = JointDetector(kb, model, by="joint", threshold=0.0)
    found: list[Scored] = []
    for at, (text, own) in enumerate(zip(texts, detector.spans([text.piece for text in texts], _LEAST), strict=True)):
        progress(_STAGE, len(texts) + at, 2 * len(texts))
        right = {(one.span.start, one.span.end): {kb.key(id) for id in one.entities} for one in text.mentions}
        optional = {(one.span.start, one.span.end) for one in text.mentions if one.optional}
        linked = [one for one in own if one.entity is not None]
        places = [(one.start, one.end) for one in linked]
        for number, winner in apart(places, [one.joint for one in linked]):
            if winner is None and places[number] not in optional:
                found.append((linked[number].joint, linked[number].entity in right.get(places[number], ())))
    return found


def _down(threshold: float, otherwise: float) -> float:
    """A threshold in few digits that still takes what is just on it."""
    return int(threshold * _DIGITS) / _DIGITS if threshold <= 1 else otherwise
