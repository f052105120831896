"""Encoders on tasks: texts are encoded once, a linear probe is fitted for each layer, and scores have intervals."""

from __future__ import annotations

import math
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy

from entlink.encoders.layered.cached import LayerCache
from entlink.encoders.layered.loading import load_layered
from entlink.errors import InputError
from entlink.evaluation.probes import mixing
from entlink.evaluation.probes.design import Design
from entlink.evaluation.probes.entity_vectors import entity_vectors, learnt_map, mapped, with_entities
from entlink.evaluation.probes.inputs import Places, Pool, Reading, Text, coverage, pool_of
from entlink.evaluation.probes.linear import Probe, choose, fit
from entlink.evaluation.probes.problems import (
    Problem,
    Settled,
    examples_in,
    limited,
    problem_of,
    taken_places,
)
from entlink.evaluation.probes.results import ProbeOptions, ProbeResult, ProbeRun
from entlink.evaluation.probes.scores import Outcome, by_head, cosines, interval, spearman
from entlink.formats.probes.examples import ProbeTask, Representation
from entlink.io.progress import Progress, ignore_progress
from entlink.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.interfaces import LayeredEncoder, Vectors

    Floats = NDArray[Any]

_KEPT = 0.9  # of the training rows, for each seed after the first


def probe(
    encoder: LayeredEncoder | Any,
    tasks: Iterable[ProbeTask],
    options: ProbeOptions | None = None,
    *,
    name: str = "",
    cache: Path | str | None = None,
    command: str = "",
    progress: Progress = ignore_progress,
) -> Iterator[ProbeResult]:
    """The result of an encoder on each task, one after the other.

    `encoder` is what `load_layered` takes, `name` what results call it. Vectors are kept under the folder `cache`,
    if there is one.
    """
    options = options or ProbeOptions()
    kept = LayerCache(load_layered(encoder), None if cache is None else Path(cache))
    _check_layers(options, kept)
    kept.name = name or kept.name
    try:
        for task in tasks:
            yield _Probing(kept, limited(task, options.most_candidates), options, progress).result(command)
    finally:
        kept.close()


def notes_on(task: ProbeTask) -> Iterator[str]:
    """What should be known of a task before its scores: how much of it is covered."""
    card, found = task.card, coverage(task)
    if card.covered is not None and card.of:
        yield f"{card.covered:,} of the {card.of:,} rows of the source are covered"
    if found.undescribed:
        less = ", so that this says little of descriptions" if found.is_poor else ""
        yield (
            f"{found.undescribed:,} of {found.entities:,} entities have no description, and their title is read{less}"
        )


def _check_layers(options: ProbeOptions, encoder: LayerCache) -> None:
    if isinstance(options.layers, str):
        return
    if wrong := [one for one in options.layers if not 0 <= one < encoder.layers]:
        raise InputError(
            f"there is no layer {wrong[0]}: {encoder.name!r} has {encoder.layers}, from 0, the embedding, to "
            f"{encoder.layers - 1}"
        )


class _Fitted(NamedTuple):
    """A probe with what was settled for it."""

    probe: Probe
    settled: Settled
    valid: float


class _Probing:
    """One encoder on one task."""

    def __init__(self, encoder: LayerCache, task: ProbeTask, options: ProbeOptions, progress: Progress) -> None:
        self._encoder, self._task, self._options, self._progress = encoder, task, options, progress
        self._stage = f"{encoder.name} on {task.card.name}"
        self._encoding = 0.0
        self._notes: list[str] = []

    def result(self, command: str) -> ProbeResult:
        begun, before = time.perf_counter(), self._encoder.encoded
        runs = [run for reading in self._readings() for run in self._runs(reading)]
        notes = [*notes_on(self._task), *self._notes]
        if self._options.entity_vectors and self._task.card.kind == "choice":
            run, known = self._by_entity_vectors(runs[0])
            runs.append(run)
            notes.append(known)
        return ProbeResult(
            encoder=self._encoder.name,
            identity=self._encoder.identity,
            layers=self._encoder.layers,
            dimension=self._encoder.dimension,
            card=self._task.card,
            runs=tuple(runs),
            options=self._options,
            encoding_seconds=round(self._encoding, 3),
            seconds=round(time.perf_counter() - begun, 3),
            peak_megabytes=_peak_megabytes(),
            encoded=self._encoder.encoded - before,
            notes=tuple(notes),
            entlink=__version__,
            command=command,
        )

    def _readings(self) -> Iterator[Reading]:
        card = self._task.card
        forms: list[Representation] = [card.representation, *card.also]
        for form in forms:
            texts: list[Text] = (
                ["description", "name"] if self._options.names and "description" in form else ["description"]
            )
            for text in texts:
                yield Reading(form, text, card.lower_case, self._options.description_words)

    def _runs(self, reading: Reading) -> Iterator[ProbeRun]:
        begun = time.perf_counter()
        pool = pool_of(self._task, reading, self._encoder, self._progress)
        self._encoding += time.perf_counter() - begun
        if not pool.vectors.any():
            raise InputError(
                f"the encoder {self._encoder.name!r} gave only zeros for the task {self._task.card.name!r}: it knows "
                "none of its words. Give an encoder of this language"
            )
        layers = self._layers()
        for number, layer in enumerate(layers):
            self._progress(self._stage, number, len(layers))
            yield self._run(reading, pool, layer)

    def _layers(self) -> list[int | None]:
        """The layers to probe, None for the mix; what is reported comes first."""
        wanted, last = self._options.layers, self._encoder.layers - 1
        if not isinstance(wanted, str):
            return list(wanted)
        if wanted == "last" or last == 0:
            return [last]
        return [None] if wanted == "mix" else [None, *range(last + 1)]

    def _run(self, reading: Reading, pool: Pool, layer: int | None) -> ProbeRun:
        begun = time.perf_counter()
        if self._task.has_training:
            weights, vectors = self._mixed(pool) if layer is None else (None, pool.vectors[layer])
            found = self._learnt(reading, pool, vectors)
        else:
            even = mixing.even_weights(self._encoder.layers) if layer is None else None
            weights, vectors = even, pool.vectors[layer] if even is None else mixing.mixed(pool.vectors, even)
            found = self._compared(reading, pool, vectors, "mix" if layer is None else str(layer))
        return _with(found, layer, weights, time.perf_counter() - begun)

    def _mixed(self, pool: Pool) -> tuple[Floats, Vectors]:
        """The layers mixed by learnt weights; the strength is that of all layers alike."""
        even = mixing.mixed(pool.vectors, mixing.even_weights(self._encoder.layers))
        problem = problem_of(self._task, pool.splits)
        strength = self._chosen(problem, pool, even)[0].probe.strength
        train = pool.splits["train"]
        rows = self._some(train, mixing.MOST_ROWS)
        places = taken_places(train, rows)
        loss = problem.loss(train).taken(rows)
        weights = mixing.layer_weights(pool.vectors, places.left, places.right, loss, strength, self._encoder.mixing)
        return weights, mixing.mixed(pool.vectors, weights)

    def _some(self, places: Places, most: int) -> NDArray[numpy.int64]:
        """As many examples as have about so many rows, drawn by the seed."""
        size = examples_in(places)
        share = min(1.0, most / len(places.left))
        kept = numpy.random.default_rng(self._options.seed).permutation(size)[: math.ceil(share * size)]
        return numpy.sort(kept)

    def _chosen(self, problem: Problem, pool: Pool, vectors: Vectors) -> tuple[_Fitted, Design]:
        """The probe on all training rows, its strength chosen on the validation rows; and the training features."""
        train, valid = pool.splits["train"], pool.splits["valid"]
        design = Design(vectors, train.left, train.right)
        beside = Design(vectors, valid.left, valid.right, like=design)
        tried: dict[float, _Fitted] = {}

        def score(found: Probe) -> float:
            tried[found.strength] = fitted = _settled(problem, found, beside)
            return fitted.valid

        best = choose(design, problem.loss(train), score)
        return tried[best.strength], design

    def _learnt(self, reading: Reading, pool: Pool, vectors: Vectors) -> ProbeRun:
        problem = problem_of(self._task, pool.splits)
        fitted, design = self._chosen(problem, pool, vectors)
        test = pool.splits["test"]
        features = Design(vectors, test.left, test.right, like=design)
        logits = fitted.probe.logits(features)
        outcomes = [problem.outcome("test", logits, fitted.settled)]
        for other in self._others(problem, pool, vectors, fitted, design):
            outcomes.append(problem.outcome("test", other.probe.logits(features), other.settled))
        also = problem.also("test", logits, fitted.settled)
        return self._scored(reading, outcomes, fitted, also)

    def _others(
        self, problem: Problem, pool: Pool, vectors: Vectors, fitted: _Fitted, full: Design
    ) -> Iterator[_Fitted]:
        """The probes of the other seeds, on fewer rows, of the same strength and standardised alike."""
        train, valid = pool.splits["train"], pool.splits["valid"]
        beside = Design(vectors, valid.left, valid.right, like=full)
        size = examples_in(train)
        for seed in range(1, self._options.seeds):
            random = numpy.random.default_rng((self._options.seed, seed))
            rows = numpy.sort(random.permutation(size)[: max(1, round(_KEPT * size))])
            places = taken_places(train, rows)
            design = Design(vectors, places.left, places.right, like=full)
            loss = problem.loss(train).taken(rows)
            yield _settled(problem, fit(design, loss, fitted.probe.strength, fitted.probe), beside)

    def _scored(
        self, reading: Reading, outcomes: Sequence[Outcome], fitted: _Fitted | None, also: dict[str, float]
    ) -> ProbeRun:
        scores = tuple(one.score(one.rows) for one in outcomes)
        return ProbeRun(
            reading.representation,
            reading.text,
            "",
            scores[0],
            interval(outcomes, rounds=self._options.rounds, seed=self._options.seed),
            seeds=scores,
            valid=fitted.valid if fitted else None,
            strength=fitted.probe.strength if fitted else None,
            threshold=fitted.settled.threshold if fitted else None,
            also=also,
        )

    def _by_entity_vectors(self, main: ProbeRun) -> tuple[ProbeRun, str]:
        """The run with vectors of a file for the candidates, at the reported layer; and how many the file has."""
        begun = time.perf_counter()
        entities = entity_vectors(self._options.entity_vectors, self._task)
        reading = Reading(
            "context-description", "vectors", self._task.card.lower_case, self._options.description_words
        )
        pool = pool_of(self._task, reading, self._encoder, self._progress)
        weights = numpy.array(main.weights) if main.weights else None
        vectors = pool.vectors[int(main.layer)] if weights is None else mixing.mixed(pool.vectors, weights)
        places = with_entities(self._task, pool, vectors, entities)
        problem = problem_of(self._task, places)
        train = places["train"]
        rows = self._some(train, mixing.MOST_ROWS)
        taken = taken_places(train, rows)
        assert taken.right is not None and taken.gold is not None and main.strength is not None
        loss = problem.loss(train).taken(rows)
        matrix = learnt_map(vectors, entities.rows, taken.left, taken.right, taken.gold, loss, main.strength)
        whole = mapped(vectors, entities.rows, matrix)
        found = self._learnt(reading, Pool(whole[None], places), whole)
        known = f"the file of entity vectors has {entities.known:,} of {len(entities.places):,} candidates"
        layer = None if weights is not None else int(main.layer)
        return _with(found, layer, weights, time.perf_counter() - begun), known

    def _compared(self, reading: Reading, pool: Pool, vectors: Vectors, layer: str) -> ProbeRun:
        """Cosines beside gold scores, without training: in each head's pairs, if there are heads, and in all.

        The paper's scores are of all pairs, so that these are reported of its tasks.
        """
        places, rows = pool.splits["test"], self._task.splits["test"]
        assert places.right is not None
        said = cosines(vectors[places.left], vectors[places.right])
        gold = numpy.array([row.score for row in rows], numpy.float64)
        heads = [row.head for row in rows]
        _check_order(self._task.card.name, gold, heads)
        also = {"Spearman, all pairs": spearman(said, gold) or 0.0}
        ranked = by_head(said, gold, heads)
        own = numpy.array(list(ranked.values()) or [0.0])
        if not ranked:
            self._notes.append(
                f"at layer {layer}, all cosines of the {reading.text}s are the same: the correlation is undefined, "
                "and counts as 0"
            )
        if len(set(heads)) > 1:
            also["Spearman, mean over heads"] = float(own.mean())
        if len(set(heads)) > 1 and not self._task.card.published:
            return self._scored(reading, [Outcome(own, lambda drawn: float(drawn.mean()))], None, also)
        table = numpy.stack([said, gold], axis=1)
        return self._scored(reading, [Outcome(table, lambda drawn: spearman(*drawn.T) or 0.0)], None, also)


def _check_order(name: str, gold: Floats, heads: Sequence[str]) -> None:
    """At least one head has pairs that can be ranked."""
    scores: dict[str, set[float]] = {}
    for head, score in zip(heads, gold.tolist(), strict=True):
        scores.setdefault(head, set()).add(score)
    if all(len(own) == 1 for own in scores.values()):
        raise InputError(
            f"the task {name!r} has nothing to rank: no head has two pairs with different scores. Give each head "
            "pairs of different scores, or leave out `head` to rank all pairs together"
        )


def _settled(problem: Problem, found: Probe, beside: Design) -> _Fitted:
    """What the validation rows say of a probe."""
    logits = found.logits(beside)
    settled = problem.settle(logits)
    outcome = problem.outcome("valid", logits, settled)
    return _Fitted(found, settled, outcome.score(outcome.rows))


def _with(run: ProbeRun, layer: int | None, weights: Floats | None, seconds: float) -> ProbeRun:
    return msgspec.structs.replace(
        run,
        layer="mix" if layer is None else str(layer),
        weights=() if weights is None else tuple(float(one) for one in weights),
        seconds=round(seconds, 3),
    )


def _peak_megabytes() -> int:
    """The most memory this process has used."""

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (1024 * 1024 if sys.platform == "darwin" else 1024))
