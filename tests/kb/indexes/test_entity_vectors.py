"""Vectors of words and entities in one space: what is near what, fresh entities, dates, and bounded memory."""

from __future__ import annotations

import json

import numpy
import pytest

import entlink
from entlink.documents import Document, Entity, Mention, Span
from entlink.encoders.static.cooccurrence import folding, information, left_vectors, product
from entlink.errors import InputError, MissingModelError
from entlink.interfaces import Question
from entlink.kb.indexes.entity_vectors import training
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import make_stage
from entlink_cli import main

TOPICS = {
    "bird": "feather wing nest egg beak song flight",
    "ship": "sail mast anchor harbour deck rope crew",
    "metal": "ore furnace alloy iron copper smelt forge",
}
SIZE = 6


def _paragraph(chosen, topic, target):
    """A sentence of a topic's words around a link."""
    words = list(chosen.choice(TOPICS[topic].split(), 10))
    before, after = " ".join(words[:5]), " ".join(words[5:])
    text = f"the {before} of {target} and {after}"
    return {"text": text, "links": [[text.index(target), text.index(target) + len(target), target]]}


@pytest.fixture(scope="module")
def articles(tmp_path_factory):
    chosen = numpy.random.default_rng(0)
    rows = []
    for topic in TOPICS:
        ids = [f"{topic.title()}{number}" for number in range(SIZE)]
        for id in ids:
            others = [str(chosen.choice([other for other in ids if other != id])) for _ in range(12)]
            paragraphs = [_paragraph(chosen, topic, other) for other in others]
            rows.append({"id": id, "title": id, "paragraphs": paragraphs})
    rows.append({"id": "Mute", "title": "Mute", "paragraphs": [{"text": "Zzz.", "links": []}]})
    path = tmp_path_factory.mktemp("articles") / "articles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def kb(articles, tmp_path):
    folder = tmp_path / "topics.kb"
    entlink.build([articles], folder)
    with KnowledgeBase.open(folder) as opened:
        opened.index(entity_vectors=True)
        yield opened


def _topics_of(kb, vectors):
    """The topic whose entities are nearest to each vector, on average."""
    every = {topic: kb.entity_vectors().of([f"{topic.title()}{n}" for n in range(SIZE)]) for topic in TOPICS}
    return [max(every, key=lambda topic: float((every[topic] @ row).mean())) for row in vectors]


def test_words_and_entities_of_a_topic_are_near_each_other(kb):
    vectors = kb.entity_vectors()
    assert _topics_of(kb, vectors.words.encode(["feather wing", "anchor harbour", "alloy"])) == list(TOPICS)
    rows = vectors.of(["Ship1", "Nobody", "Metal2"])
    numpy.testing.assert_allclose(numpy.linalg.norm(rows, axis=1), [1, 0, 1], atol=1e-3)


def test_an_entity_that_is_added_is_known_by_its_description_at_once(kb):
    vectors = kb.entity_vectors()
    kb.add([Entity("Heron", "Heron", description="feather wing nest egg beak song flight " * 3)])
    assert _topics_of(kb, vectors.of(["Heron"])) == ["bird"]
    retriever = make_stage("retriever", {"name": "entity-vectors", "limit": SIZE + 1}, kb)
    document = Document("d", "nest egg beak song")
    found = retriever.retrieve([Question(document, [Mention(Span(9, 13), "beak")])])[0][0]
    assert {one.entity for one in found} == {"Heron", *(f"Bird{number}" for number in range(SIZE))}
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    kb.index()  # and trained again with it
    retriever.knowledge_base_changed()
    assert retriever.vectors.identity != vectors.identity
    assert "Heron" in {
        one.entity for one in retriever.retrieve([Question(document, [Mention(Span(9, 13), "beak")])])[0][0]
    }


def test_the_same_knowledge_base_gives_the_same_vectors_however_little_is_kept_in_memory(kb, tmp_path, monkeypatch):
    first = kb.entity_vectors()
    monkeypatch.setattr(training, "_KEPT", 7)
    monkeypatch.setattr(training, "_LEAST", 5)
    training.write_entity_vectors(kb._store, tmp_path / "again")
    assert (tmp_path / "again" / "folding.npy").read_bytes() == (first.folder / "folding.npy").read_bytes()
    for name in ("keys.npy", "vectors.npy"):
        numpy.testing.assert_array_equal(numpy.load(tmp_path / "again" / name), numpy.load(first.folder / name))


def test_a_row_that_was_left_out_gets_the_vector_it_would_have_had():
    chosen = numpy.random.default_rng(1)
    counts = chosen.poisson(0.6, (30, 12)) * chosen.integers(1, 9, (30, 12)) + numpy.eye(30, 12) * 40
    shares = counts.sum(0) / counts.sum()

    def rows(some):
        places = numpy.argwhere(some > 0)
        return information(places[:, 0], places[:, 1], some[some > 0], len(some), shares)

    matrix = rows(counts)
    left = left_vectors(matrix, 12, 3)
    numpy.testing.assert_allclose(product(rows(counts[7:8]), folding(matrix, left))[0], left[7], atol=1e-4)


def test_without_links_the_titles_in_the_texts_count(tmp_path):
    texts = {topic: [f"{words.split()[0]} {words}. {words} Bird Ship"] for topic, words in TOPICS.items()}
    rows = [
        {"id": topic, "title": topic.title(), "description": f"{' '.join(text * 3)} with {' '.join(TOPICS)}"}
        for topic, text in texts.items()
    ]
    table = tmp_path / "things.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    main(["kb", "build", str(table), "-o", str(tmp_path / "t.kb"), "--quiet"])
    assert main(["kb", "index", str(tmp_path / "t.kb"), "--entity-vectors", "--quiet"]) == 0
    with KnowledgeBase.open(tmp_path / "t.kb") as kb:
        assert kb.entity_vectors().of(list(TOPICS)).any(axis=1).all()


def test_what_is_missing_is_said(tmp_path):
    (tmp_path / "x.csv").write_text("id,title\n1,One\n")
    entlink.build([tmp_path / "x.csv"], tmp_path / "x.kb")
    with KnowledgeBase.open(tmp_path / "x.kb") as kb:
        with pytest.raises(MissingModelError, match="--entity-vectors"):
            kb.entity_vectors()
        with pytest.raises(InputError, match="words"):
            kb.index(entity_vectors=True)
        assert not (kb.index_folder / "entity-vectors" / "complete.json").exists()
