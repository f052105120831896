"""Which words around a shared word speak for which entity, learnt and held against plain sums."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.learning.senses.fitting import Uses, _Table, fit_senses

SIZE = 6


def vector(random):
    found = random.standard_normal(SIZE).astype(numpy.float32)
    return found / numpy.linalg.norm(found)


def made(*, words=8, uses=20, noise=0.3, seed=0, told=True):
    """Words that a land and a tongue share; a use of either is near a direction of its own, if it is `told`."""
    random = numpy.random.default_rng(seed)
    kinds = {"land": vector(random), "tongue": vector(random)}
    around = {kind: random.standard_normal(SIZE).astype(numpy.float32) for kind in kinds}
    senses, entities, rows, texts, meant = {}, {}, [], [], []
    for number in range(words):
        senses[f"w{number}"] = [f"{kind}{number}" for kind in kinds]
        for kind, main in kinds.items():
            entities[f"{kind}{number}"] = (main + 0.1 * vector(random)).astype(numpy.float32)
            for _ in range(uses):
                near = around[kind] if told else 0.0
                rows.append(near + noise * random.standard_normal(SIZE))
                texts.append(f"w{number}")
                meant.append(f"{kind}{number}")
    passages = [str(number) for number in range(len(rows))]
    return Uses(numpy.array(rows, numpy.float32), texts, meant, passages, senses, entities)


def scores(fitted, uses, row):
    word = uses.words[row]
    start = [one for entities in fitted.senses.values() for one in entities].index(uses.senses[word][0])
    found = fitted.rows[start : start + len(uses.senses[word])] @ (uses.vectors[row] - fitted.mean)
    return dict(zip(uses.senses[word], found.tolist(), strict=True))


def test_what_can_be_told_is_learnt_and_trusted():
    uses = made()
    fitted = fit_senses(uses, 0)
    assert min(fitted.reliability.values()) > 0.9
    right = [max(told := scores(fitted, uses, row), key=told.get) == one for row, one in enumerate(uses.meant)]
    assert numpy.mean(right) > 0.95


def test_what_cannot_be_told_is_hardly_trusted_and_mostly_left_out():
    fitted = fit_senses(made(words=40, told=False), 0)
    assert len(fitted.senses) < 10
    assert sum(fitted.reliability.values()) / 40 < 0.2
    assert fitted.senses.keys() == fitted.reliability.keys()
    assert len(fitted.rows) == 2 * len(fitted.senses)


def test_a_meaning_that_cannot_be_told_from_the_first_is_left_out():
    """Each word has a twin of its tongue, with uses like those of the tongue: land and tongue are told as before."""
    uses = made()
    tongues = [row for row, one in enumerate(uses.meant) if one.startswith("tongue")]
    meant = list(uses.meant)
    for row in tongues[::4]:
        meant[row] = meant[row].replace("tongue", "twin")
    entities = {**uses.entities}
    senses = {}
    for word, (land, tongue) in uses.senses.items():
        twin = tongue.replace("tongue", "twin")
        entities[twin] = entities[tongue]
        senses[word] = [tongue, twin, land]
    fitted = fit_senses(uses._replace(meant=meant, senses=senses, entities=entities), 0)
    assert fitted.senses == {word: [tongue, land] for word, (tongue, _, land) in senses.items()}
    assert min(fitted.reliability.values()) > 0.9
    assert len(fitted.rows) == 2 * len(senses)


def test_uses_of_one_passage_are_learnt_from_together():
    """What only a passage tells is not told in another one."""
    random = numpy.random.default_rng(0)
    words, size, uses_of_each = 12, 32, 8
    senses = {f"w{number}": [f"a{number}", f"b{number}"] for number in range(words)}
    entities = {
        entity: random.standard_normal(size).astype(numpy.float32) for each in senses.values() for entity in each
    }
    texts = [word for word, each in senses.items() for _ in range(2 * uses_of_each)]
    meant = [entity for each in senses.values() for entity in each for _ in range(uses_of_each)]
    own = {entity: random.standard_normal(size) for entity in entities}
    vectors = numpy.array([own[entity] for entity in meant], numpy.float32)
    apart = fit_senses(Uses(vectors, texts, meant, [str(row) for row in range(len(meant))], senses, entities), 0)
    together = fit_senses(Uses(vectors, texts, meant, meant, senses, entities), 0)
    assert sum(apart.reliability.values()) > 0.9 * words
    assert sum(together.reliability.values()) < 0.7 * words


def test_the_same_seed_gives_the_same_and_rows_are_finite():
    first, again = fit_senses(made(), 7), fit_senses(made(), 7)
    assert first.rows.tolist() == again.rows.tolist()
    assert numpy.isfinite(first.rows).all()
    assert first.rows.shape == (16, SIZE)


def test_a_word_that_was_used_for_one_entity_alone_is_left_out():
    uses = made(words=2)
    kept = [row for row, one in enumerate(uses.meant) if one != "land0"]
    less = uses._replace(
        vectors=uses.vectors[kept],
        words=[uses.words[row] for row in kept],
        meant=[uses.meant[row] for row in kept],
        passages=[uses.passages[row] for row in kept],
    )
    assert fit_senses(less, 0).senses.keys() == {"w1"}


def loss(table, matrix, uses):
    """The weighted mean of how unlikely the meant entity is, one use at a time."""
    inputs = (uses.vectors - table.mean) / table.spread
    counts = dict.fromkeys(zip(uses.words, uses.meant, strict=True), 0)
    for pair in zip(uses.words, uses.meant, strict=True):
        counts[pair] += 1
    total = weights = 0.0
    for row, (word, entity) in enumerate(zip(uses.words, uses.meant, strict=True)):
        told = {one: float(inputs[row] @ matrix @ uses.entities[one]) for one in uses.senses[word]}
        unlikely = numpy.log(sum(numpy.exp(score) for score in told.values())) - told[entity]
        weight = min(2.0, 8.0 / counts[(word, entity)])
        total, weights = total + weight * unlikely, weights + weight
    return total / weights


@given(st.integers(0, 1000), st.integers(1, 12))
@settings(max_examples=10, deadline=None)
def test_the_gradient_is_that_of_the_loss(seed, uses_of_each):
    uses = made(words=3, uses=uses_of_each, seed=seed)
    uses = uses._replace(vectors=uses.vectors.astype(numpy.float64))
    table = _Table(uses)
    random = numpy.random.default_rng(seed)
    matrix = random.standard_normal((SIZE, SIZE)) * 0.1
    found = table._gradient(matrix, numpy.arange(len(uses.words)))
    step = 1e-4
    for _ in range(4):
        at = tuple(random.integers(0, SIZE, 2))
        more, less = matrix.copy(), matrix.copy()
        more[at] += step
        less[at] -= step
        slope = (loss(table, more, uses) - loss(table, less, uses)) / (2 * step)
        assert found[at] == pytest.approx(slope, abs=2e-3)
