"""Vectors of entities from a file in place of descriptions, through a linear map that is learnt with the probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from entlink.encoders.static.entities import read_entity_vectors
from entlink.errors import InputError
from entlink.evaluation.probes.inputs import Places, Pool
from entlink.evaluation.probes.linear import minimised
from entlink.evaluation.probes.mixing import ScaledModel
from entlink.formats.probes.examples import ProbeTask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.evaluation.probes.inputs import Integers
    from entlink.evaluation.probes.losses import Loss

    Floats = NDArray[Any]

_STEPS = 60
_RIDGE = 1.0  # how strongly the map that learning begins from is held small


class EntityVectors(NamedTuple):
    """A row for each entity that a task's candidates are, zeros where the file has none."""

    rows: Floats
    places: Mapping[str, int]
    known: int


def entity_vectors(path: str, task: ProbeTask) -> EntityVectors:
    """The vectors of the candidates of a task, by id, else by title."""
    titles = {
        one.entity or one.title: one.title for rows in task.splits.values() for row in rows for one in row.candidates
    }
    found = read_entity_vectors(path, {name for pair in titles.items() for name in pair if name})
    if not any(entity in found or title in found for entity, title in titles.items()):
        raise InputError(
            f"{path}: it has a vector for none of the {len(titles):,} entities of the task {task.card.name!r}. Its "
            "lines must begin with their ids or titles"
        )
    width = len(next(iter(found.values())))
    rows = numpy.zeros((len(titles), width), numpy.float32)
    known = 0
    for place, (entity, title) in enumerate(titles.items()):
        own = found.get(entity, found.get(title))
        if own is not None:
            rows[place], known = own, known + 1
    return EntityVectors(rows, {entity: place for place, entity in enumerate(titles)}, known)


def with_entities(task: ProbeTask, pool: Pool, vectors: Floats, entities: EntityVectors) -> dict[str, Places]:
    """The places of a choice with the entities of candidates in the place of their texts, after all vectors."""
    return {
        split: places._replace(right=len(vectors) + _of_candidates(task, split, entities))
        for split, places in pool.splits.items()
    }


def _of_candidates(task: ProbeTask, split: str, entities: EntityVectors) -> Integers:
    names = [one.entity or one.title for row in task.splits[split] for one in row.candidates]
    return numpy.array([entities.places[name] for name in names], numpy.int64)


def learnt_map(
    vectors: Floats, entities: Floats, left: Integers, right: Integers, gold: Integers, loss: Loss, strength: float
) -> Floats:
    """The linear map of entity vectors that goes best with a probe, learnt with it on the training rows.

    `right` counts entities after the rows of `vectors`. Learning begins from the map that brings the gold entities
    nearest to their mentions.
    """
    first = len(vectors)
    known = entities[right[gold] - first]
    start = numpy.linalg.solve(
        known.T @ known + _RIDGE * numpy.eye(entities.shape[1]), known.T @ vectors[left[gold]]
    ).astype(numpy.float32)
    model = ScaledModel(mapped(vectors, entities, start), left, right)
    size = start.size

    def objective(flat: Floats) -> tuple[float, Floats]:
        own = flat[:size].reshape(start.shape).astype(numpy.float32)
        value, d_vectors, d_model = model(mapped(vectors, entities, own), flat[size:], loss, strength)
        d_map = entities.T @ d_vectors[first:]
        return value, numpy.concatenate([d_map.reshape(-1).astype(numpy.float64), d_model])

    begun = numpy.concatenate([start.reshape(-1), numpy.zeros(model.width * loss.columns + loss.columns)])
    return minimised(objective, begun, _STEPS)[:size].reshape(start.shape).astype(numpy.float32)


def mapped(vectors: Floats, entities: Floats, matrix: Floats) -> Floats:
    """The vectors, and after them those of entities through the map."""
    return numpy.concatenate([vectors, entities @ matrix])
