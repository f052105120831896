"""ERT, relation types: how are two entities related, as their descriptions say? Of triples, or of a KB's claims.

Triples that a linear classifier of the names' word vectors gets right are easy, and left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from entlink.datasets.probes.chance import Sampled
from entlink.datasets.probes.material import Built, Material
from entlink.datasets.probes.options import Sizes, sizes_by_split
from entlink.errors import InputError
from entlink.formats.probes import SPLITS, ProbeCard, ProbeEntity, ProbeExample
from entlink.formats.probes.sources import relations

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

PER_RELATION: Sizes = (5, 10, 10)  # §3.6
_MOST = 400  # triples of a relation that are looked at
_LANGUAGES = ("", "en")
_FOLDS = 2  # the classifier is trained on one half and asked about the other
_RIDGE = 1.0
_EXCLUDED = frozenset({"RelatedTo", "Synonym", "SimilarTo", "Antonym", "DistinctFrom", "FormOf", "ExternalURL"})
_CARD = ProbeCard(
    name="ert",
    title="How two entities are related",
    family="ert",
    kind="classification",
    metric="accuracy",
    representation="description",
    source="triples of two entities and a relation",
    licence="of the triples and the knowledge base",
)


class _Triple(NamedTuple):
    subject: ProbeEntity
    relation: str
    object: ProbeEntity

    @property
    def key(self) -> str:
        return f"{self.subject.entity}\0{self.relation}\0{self.object.entity}"


def build_triples(material: Material) -> Built:
    """Rows of the triples of files, whose entities are ids, other identifiers or titles of the knowledge base."""
    return _build(material, _of_files(material))


def build_claims(material: Material) -> Built:
    """Rows of what a knowledge base claims of its entities: properties whose values are entities."""
    built = _build(material, _of_claims(material))
    source = f"the claims of {material.kb.folder.name}"
    built.card = _renamed(built.card, "ert-claims", source)
    return built


def _renamed(card: ProbeCard, name: str, source: str) -> ProbeCard:
    return msgspec.structs.replace(card, name=name, source=source, published="")


def _build(material: Material, found: Iterable[tuple[str, _Triple | None]]) -> Built:
    kept: dict[str, Sampled[_Triple]] = defaultdict(lambda: Sampled(_MOST))
    keys: set[str] = set()
    undescribed: set[int] = set()  # hashes of what the source says: these may be most of its triples
    for said, triple in found:
        if triple is None:
            undescribed.add(hash(said))
        elif triple.key not in keys:
            keys.add(triple.key)
            kept[triple.relation].add(material.hash("triple", triple.key), triple)
    material.left_out["triples with an entity that has no description"] += len(undescribed)
    of = len(keys) + len(undescribed)
    sizes = sizes_by_split(material.options, PER_RELATION)
    enough = sum(sizes.values())
    relations_there = len(kept)
    by_relation = {name: sampled.items() for name, sampled in sorted(kept.items()) if len(sampled) >= enough}
    hard = _hard(material, by_relation)
    complete = {name: triples for name, triples in hard.items() if len(triples) >= enough}
    if len(complete) < 2:
        raise InputError(
            f"{len(complete)} of {relations_there} relations have {enough} triples that are described and not easy "
            f"({len(keys):,} of {of:,} triples are described). Give more triples, a knowledge base that describes "
            "more of their entities, or fewer rows a relation with --sizes"
        )
    notes = (
        f"{len(complete)} of {relations_there} relations have enough triples. Triples are easy, and left out, if a "
        "ridge classifier of the names' average word vectors, trained on the other half, gets them right."
    )
    card = msgspec.structs.replace(_CARD, published="ert" if _are_of_freebase(complete) else "")
    return Built(card, _rows(material, complete, sizes), len(keys), of, notes)


def _are_of_freebase(relations: Iterable[str]) -> bool:
    """Whether relations are written like `/film/film/genre`, so that the triples are like the paper's."""
    return all(one.startswith("/") for one in relations)


# Triples


def _of_files(material: Material) -> Iterator[tuple[str, _Triple | None]]:
    """What the source says of each triple, and the triple if both its entities are described."""
    described = material.descriptions.titled
    for path in material.sources:
        found = relations.read(path, on_error=material.options.on_error, on_problem=material.problem)
        for one in material.counted(path.name, found, 5000):
            if one.relation in _EXCLUDED:
                material.left_out["triples that say only that two things are alike or related"] += 1
            elif one.language not in _LANGUAGES:
                material.left_out["triples that are not English"] += 1
            elif _is_wanted(material, one.relation):
                subject, object = described(one.subject), described(one.object)
                said = f"{one.subject}\0{one.relation}\0{one.object}"
                yield said, _triple(subject, one.relation, object)


def _of_claims(material: Material) -> Iterator[tuple[str, _Triple | None]]:
    for entity in material.counted("claims", material.kb, 5000):
        for property, values in entity.claims.items():
            if not _is_wanted(material, property):
                continue
            for value in values:
                if material.kb.get(value) is not None:  # a value may be a date or a number
                    described = material.descriptions.of_id
                    said = f"{entity.id}\0{property}\0{value}"
                    yield said, _triple(described(entity.id), property, described(value))


def _is_wanted(material: Material, relation: str) -> bool:
    return not material.options.relations or relation in material.options.relations


def _triple(subject: ProbeEntity | None, relation: str, object: ProbeEntity | None) -> _Triple | None:
    if subject is None or object is None or subject.entity == object.entity:
        return None
    return _Triple(subject, relation, object)


# Easy ones


def _hard(material: Material, by_relation: dict[str, list[_Triple]]) -> dict[str, list[_Triple]]:
    """The triples that the classifier gets wrong, or whose names have no vectors."""
    import numpy

    names = list(by_relation)
    triples = [(triple, number) for number, name in enumerate(names) for triple in by_relation[name]]
    hard: dict[str, list[_Triple]] = {name: [] for name in names}
    known = [(triple, number, row) for triple, number in triples if (row := _features(material, triple)) is not None]
    for triple, number in triples:
        if _features(material, triple) is None:
            hard[names[number]].append(triple)
    if known and len(names) > 1:
        inputs = numpy.stack([row for _, _, row in known])
        labels = numpy.array([number for _, number, _ in known])
        folds = numpy.array([material.hash("fold", triple.key) % _FOLDS for triple, _, _ in known])
        right = numpy.zeros(len(known), bool)
        for fold in range(_FOLDS):
            asked = folds == fold
            if asked.any() and not asked.all():
                right[asked] = (
                    ridge_labels(inputs[~asked], labels[~asked], inputs[asked], len(names)) == labels[asked]
                )
        for (triple, number, _), is_easy in zip(known, right, strict=True):
            if is_easy:
                material.left_out["triples that are easy"] += 1
            else:
                hard[names[number]].append(triple)
    return hard


def _features(material: Material, triple: _Triple) -> NDArray[numpy.float32] | None:
    import numpy

    one, other = (material.vectors.average(entity.title) for entity in (triple.subject, triple.object))
    if one is None or other is None:
        return None
    return numpy.concatenate([one, other, one * other, numpy.abs(one - other)])


def ridge_labels(
    inputs: NDArray[numpy.float32], labels: NDArray[numpy.int64], asked: NDArray[numpy.float32], classes: int
) -> NDArray[numpy.int64]:
    """The classes that a linear least-squares classifier with an L2 penalty gives, each class weighing the same."""
    import numpy

    counts = Counter(labels.tolist())
    weights = numpy.array([len(labels) / (len(counts) * counts[label]) for label in labels.tolist()])[:, None]
    mean = (weights * inputs).sum(axis=0) / weights.sum()
    centred = inputs - mean
    targets = numpy.full((len(labels), classes), -1.0)
    targets[numpy.arange(len(labels)), labels] = 1.0
    bias = (weights * targets).sum(axis=0) / weights.sum()
    gram = centred.T @ (weights * centred) + _RIDGE * numpy.eye(centred.shape[1])
    solved = numpy.linalg.solve(gram, centred.T @ (weights * (targets - bias)))
    found: NDArray[numpy.int64] = ((asked - mean) @ solved + bias).argmax(axis=1)
    return found


# Rows


def _rows(
    material: Material, by_relation: dict[str, list[_Triple]], sizes: dict[str, int]
) -> dict[str, list[ProbeExample]]:
    splits: dict[str, list[ProbeExample]] = {split: [] for split in SPLITS}
    for name, triples in by_relation.items():
        order = sorted(triples, key=lambda triple: material.hash("row", triple.key))
        start = 0
        for split, size in sizes.items():
            splits[split] += [
                ProbeExample((one.subject, one.object), (name,), id=f"{one.subject.title} / {one.object.title}")
                for one in order[start : start + size]
            ]
            start += size
    return {split: sorted(rows, key=lambda row: material.hash("order", row.id)) for split, rows in splits.items()}
