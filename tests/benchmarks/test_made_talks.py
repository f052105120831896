"""The conversations that benchmarks are run on, and what of them and of a knowledge base spaCy is given."""

from __future__ import annotations

import importlib
from collections import defaultdict
from pathlib import Path

import pytest

from entlink.documents import TURN_SEPARATOR
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.testing import toy_kb

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


@pytest.fixture
def kb(tmp_path):
    with KnowledgeBase.open(toy_kb(tmp_path)) as opened:
        yield opened


def test_a_talk_has_eleven_turns_whose_gold_names_its_entities(benchmark, kb):
    talks = list(benchmark("made_talks").Talks(kb).make(20))
    assert {len(talk.turns) for talk in talks} == {11}
    for talk in talks:
        assert talk.text == TURN_SEPARATOR.join(turn.text for turn in talk.turns)
        assert len(talk.gold) >= 11
        for gold in talk.gold:
            surface = talk.text[gold.span.start : gold.span.end]
            assert kb.get(gold.entities[0]).title.startswith(surface)
            assert any(span.start <= gold.span.start and gold.span.end <= span.end for span in talk.turn_spans)


def test_last_turns_are_of_both_speakers(benchmark, kb):
    talks = benchmark("made_talks").Talks(kb).make(4)
    assert [talk.turns[-1].speaker for talk in talks] == ["USER", "SYSTEM", "USER", "SYSTEM"]


def test_the_same_seed_makes_the_same_talks_and_another_makes_others(benchmark, kb):
    made = benchmark("made_talks").Talks
    assert list(made(kb, 3).make(5)) == list(made(kb, 3).make(5))
    assert list(made(kb, 3).make(5)) != list(made(kb, 4).make(5))


def test_the_other_knowledge_base_gets_all_entities_then_all_names_with_shares_of_at_most_1(benchmark, tmp_path):
    rows = list(benchmark("turns").peer_rows(toy_kb(tmp_path)))
    entities = [row["id"] for row in rows if "id" in row]
    assert [("id" in row) for row in rows] == sorted((("id" in row) for row in rows), reverse=True)
    assert len(entities) == len(set(entities)) == 12
    names = defaultdict(list, {row["name"]: row["ids"] for row in rows if "name" in row})
    assert set(names["Paris"]) == {"paris", "paris-texas", "paris-troy"}
    assert names["quicksilver"] == ["mercury-element"]
    assert all(sum(row["priors"]) <= 1 for row in rows if "name" in row)


def test_entity_vectors_are_of_unit_length_and_the_same_for_the_same_words(benchmark):
    vector = benchmark("turns_spacy").entity_vector
    assert sum(value * value for value in vector("a city on the Thames")) == pytest.approx(1)
    assert vector("A city on the Thames") == vector("a city on the Thames") != vector("a prince of Troy")
    assert sum(vector("")) == 1
