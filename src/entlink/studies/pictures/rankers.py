"""What orders the candidates of a caption's mentions: weighed evidence here, trained models in `models.py`."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Literal, NamedTuple, Protocol

from entlink.documents import Candidate
from entlink.errors import InputError
from entlink.learning.fit.tables import evidence_table
from entlink.learning.fit.weights import fit_weights
from entlink.studies.pictures.material import OF_PICTURES, PICTURES, PRIOR, Material

Input = Literal["mention-text", "mention-picture", "entity-text", "entity-picture"]
INPUTS: tuple[Input, ...] = ("mention-text", "mention-picture", "entity-text", "entity-picture")
TEXTS: frozenset[Input] = frozenset(("mention-text", "entity-text"))
PICTURES_OF_BOTH: frozenset[Input] = frozenset(("mention-picture", "entity-picture"))


class PictureRanker(Protocol):
    """A ranker that was fitted or trained."""

    def scores(
        self, material: Material, *, without: Set[Input] = frozenset(), prior: bool = True
    ) -> list[list[float]]:
        """A score for each candidate of each mention, the best highest; none where it has nothing to say.

        `without` leaves inputs out, and `prior` False leaves P(e|m) out, without training again.
        """


class RankerSpec(Protocol):
    """A ranker before it is fitted. `modality` is as in the paper, `kind` says what it is made of."""

    @property
    def name(self) -> str: ...

    @property
    def modality(self) -> str: ...

    @property
    def kind(self) -> Literal["evidence", "model"]: ...

    @property
    def is_seeded(self) -> bool:
        """Whether another seed makes another ranker."""

    def fit(self, train: Material, dev: Material, seed: int, name: str) -> PictureRanker:
        """Fit it to the train part; `name` is what its folder is called, if it has one."""


class EvidenceSpec(NamedTuple):
    """A sum of weighed evidence: of P(e|m), of the text, of pictures."""

    name: str
    modality: str
    features: tuple[str, ...]
    kind: Literal["evidence", "model"] = "evidence"
    is_seeded: bool = False

    def fit(self, train: Material, dev: Material, seed: int, name: str) -> PictureRanker:
        return fit_evidence(self.features, train)


class EvidenceRanker(NamedTuple):
    """Weights of evidence by name."""

    weights: dict[str, float]

    def scores(
        self, material: Material, *, without: Set[Input] = frozenset(), prior: bool = True
    ) -> list[list[float]]:
        left_out = _left_out(without, prior=prior)
        weights = {name: weight for name, weight in self.weights.items() if _group(name) not in left_out}
        return [_scored(own, weights) for own in material.numbers]


def fit_evidence(features: Sequence[str], train: Material) -> EvidenceRanker:
    """The weights under which the right candidates of the train part are likeliest."""
    if not train.asked:
        raise InputError("there is no mention to fit evidence to. Give more captions")
    table = evidence_table(train.numbers, [one.right for one in train.asked], features)
    return EvidenceRanker(dict(zip(features, fit_weights(table, [0.0] * len(features)), strict=True)))


def evidence_specs(text: Sequence[str], *, has_pictures: bool) -> list[EvidenceSpec]:
    """P(e|m), text and pictures, each alone and together as far as there is such evidence."""
    words = tuple(text)
    found = [EvidenceSpec("P(e|m)", "P", (PRIOR,))]
    if words:
        found.append(EvidenceSpec("text", "T -> T", words))
    if has_pictures:
        found.append(EvidenceSpec("picture", "V -> V", OF_PICTURES))
    if words and has_pictures:
        found.append(EvidenceSpec("text + picture", "T+V -> T+V", (*words, *OF_PICTURES)))
    if words:
        found.append(EvidenceSpec("P(e|m) + text", "P, T -> T", (PRIOR, *words)))
    if words and has_pictures:
        found.append(EvidenceSpec("P(e|m) + text + picture", "P, T+V -> T+V", (PRIOR, *words, *OF_PICTURES)))
    return found


def without_prior(spec: RankerSpec) -> bool:
    """Whether P(e|m) is no part of a sum, or can be left out of a model."""
    return not isinstance(spec, EvidenceSpec) or PRIOR not in spec.features


def _group(feature: str) -> str:
    if feature in OF_PICTURES:
        return PICTURES
    return feature if feature == PRIOR else "text"


def _left_out(without: Set[Input], *, prior: bool) -> set[str]:
    """Evidence compares both sides: where one is missing, so is what it says."""
    groups = set() if prior else {PRIOR}
    if without & TEXTS:
        groups.add("text")
    if without & PICTURES_OF_BOTH:
        groups.add(PICTURES)
    return groups


def _scored(candidates: Sequence[Candidate], weights: dict[str, float]) -> list[float]:
    if not any(name in one.evidence for one in candidates for name in weights):
        return []
    return [sum(weight * one.evidence.get(name, 0.0) for name, weight in weights.items()) for one in candidates]
