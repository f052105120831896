"""Linking as of a date: with what was known then, and nothing of what came later; also documents of several dates."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import entlink
from entlink import Document, KnowledgeBase, LinkerConfig
from entlink.errors import InputError
from entlink.formats.documents.lines import read_documents
from entlink.linking import as_of
from entlink.linking.config import make_stage
from entlink.linking.dated import DatedLinker
from entlink.linking.linker import Linker
from entlink.linking.registry import BUILT_IN
from entlink.linking.saved import save_linker
from larkham import DATES, larkham
from tiny_encoders import LetterEncoder

TEXT = "Mira took the Heron to the Old Bridge on Lantern Night, and saw the Anna Bright Bridge and Larkham."
# What these stages know comes of a model that is given to them: `test_what_was_learnt_…` are about those.
_OF_MODELS = {
    "detector": {"learned", "spacy", "token-classifier", "joint", "given"},
    "retriever": {"entity-vectors", "joint", "pictures", "taught"},
    "evidence": {"bi-encoder", "cross-encoder", "senses"},
}
_WITH_ENCODER = {"dense", "similarity", "coherence"}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Three snapshots, of which the knowledge base itself has every index there is."""
    target = tmp_path_factory.mktemp("larkham") / "larkham.kb"
    larkham(target)
    with KnowledgeBase.open(target) as kb:
        kb.index(words=True, cooccurrence=True, short=True, vectors=[_dual()])
    return target


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """The first of them alone: whatever it does not know, the first snapshot among others must not know."""
    target = tmp_path_factory.mktemp("alone") / "larkham.kb"
    larkham(target, DATES[0])
    return target


@pytest.fixture(autouse=True)
def nothing_told():
    as_of._told.clear()


def _dual():
    from entlink.encoders.dual import load_dual

    return load_dual(LetterEncoder())


def _stage(kind, name, kb):
    settings = {"encoder": LetterEncoder()} if name in _WITH_ENCODER else {}
    return make_stage(kind, {"name": name, **settings}, kb)


def _linked(kb, detector, retriever, evidence):
    """All that a linker of such stages says of the text, with every number."""
    linker = Linker(
        kb,
        _stage("detector", detector, kb),
        {retriever: _stage("retriever", retriever, kb)},
        make_stage("ranker", {"name": "combination"}, kb),
        make_stage("nil", {"name": "threshold", "threshold": 0.0}, kb),
        evidence=[_stage("evidence", evidence, kb)],
    )
    return linker.link(TEXT).links, linker.explain(TEXT).spans


@pytest.mark.parametrize("kind", ["detector", "retriever", "evidence"])
def test_no_stage_knows_of_what_came_later(made, alone, kind):
    usual = {"detector": "names", "retriever": "names", "evidence": "context"}
    for name in sorted(set(BUILT_IN[kind]) - _OF_MODELS[kind]):
        chosen = usual | {kind: name}
        with KnowledgeBase.open(made, date="2014") as then, KnowledgeBase.open(alone) as only:
            assert then.folder != made
            told, expected = _linked(then, **chosen), _linked(only, **chosen)
        assert told == expected, name
        assert expected[1], name  # something was found at all


def test_the_default_linker_as_of_a_date(made, alone):
    for date, bridge in (("2013-06-01", "Old Bridge"), ("2020-06-01", "Anna Bright Bridge")):
        linker = entlink.load(made, as_of=date, config="everyday")
        found = {link.mention.text: link.entity for link in linker.link(TEXT).links}
        assert found["Old Bridge"] == bridge
        assert ("Anna Bright Bridge" in found) == (date > "2018")
        linker.kb.close()
    then, only = entlink.load(made, as_of="2013", config="everyday"), entlink.load(alone, config="everyday")
    assert then.link(TEXT) == only.link(TEXT)
    then.kb.close()
    only.kb.close()


def test_indexes_that_a_snapshot_lacks_are_told_in_one_line(made, caplog):
    for date in ("2013", "2014", "2018"):
        entlink.load(made, as_of=date, config="everyday").kb.close()
    (record,) = caplog.records
    assert "as of 2013-01-01 without the index company, vectors-" in record.getMessage()
    caplog.clear()
    as_of._told.clear()
    entlink.load(made, config="everyday").kb.close()
    assert not caplog.records


def test_a_snapshot_can_have_indexes_of_its_own(tmp_path, made, caplog):
    own = shutil.copytree(made, tmp_path / "larkham.kb")
    with KnowledgeBase.open(own, date="2018") as then:
        then.index(cooccurrence=True, vectors=[_dual()])
        assert {one.name for one in _indexes(then)} > {"company"}
    entlink.load(own, as_of="2018", config="everyday").kb.close()
    assert not caplog.records


def _indexes(kb):
    from entlink.kb.indexes.derived import derived_indexes

    return derived_indexes(kb.index_folder)


@pytest.fixture
def own(made, tmp_path):
    """A copy without further indexes, and with a linker saved beside it."""
    target = tmp_path / "larkham.kb"
    larkham(target)
    save_linker(tmp_path / "larkham.linker", LinkerConfig(min_score=0.99), {"command": "adapt"}, "larkham.kb")
    return target


def test_what_was_learnt_of_later_texts_is_left_out_and_told(own, caplog):
    for config in (None, own.with_suffix(".linker")):
        as_of._told.clear()
        caplog.clear()
        linker = entlink.load(own, as_of="2018", config=config)
        assert linker.min_score == 0.0  # not that of the saved linker
        linker.kb.close()
        told = [one.getMessage() for one in caplog.records if "learnt of later texts" in one.getMessage()]
        assert len(told) == 1 and "larkham.linker" in told[0] and "entlink adapt" in told[0]
    linker = entlink.load(own)
    assert linker.min_score == 0.99
    linker.kb.close()


@pytest.mark.parametrize("made_for", ["larkham.kb", "2020-01-01T000000Z", "2018-01-01T000000Z", "other.kb"])
def test_what_was_learnt_of_now_or_a_later_snapshot_is_later(own, tmp_path, made_for):
    """A linker elsewhere, by what its card says it was made for."""
    saved = tmp_path / "elsewhere"
    save_linker(saved, LinkerConfig(min_score=0.98), {"command": "adapt"}, made_for)
    linker = entlink.load(own, as_of="2019", config=saved)
    assert (linker.min_score == 0.98) == (made_for in ("2018-01-01T000000Z", "other.kb"))
    linker.kb.close()


@pytest.mark.parametrize("later", [True, False])
def test_what_was_learnt_as_a_model_is_later_by_its_card(own, tmp_path, later):
    taught = tmp_path / "names.json"
    taught.write_text(json.dumps({"kb": "larkham.kb" if later else "gold.kb"}))
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.json").write_text(json.dumps({"data": {"kb": "larkham.kb" if later else "gold.kb"}}))
    for stages in (
        {"retriever": [{"name": "taught", "model": str(taught)}]},
        {"evidence": [{"name": "x", "model": str(model)}]},
    ):
        config = LinkerConfig(min_score=0.97, **stages)
        chosen = as_of.choose_linker(own, "2018", config)
        assert (chosen.config.min_score == 0.97) == (not later)


def test_a_linker_of_the_snapshot_itself_is_used(own, caplog):
    with KnowledgeBase.open(own, date="2018") as then:
        folder = then.folder
    save_linker(folder.with_suffix(".linker"), LinkerConfig(min_score=0.96), {"command": "adapt"}, folder.name)
    linker = entlink.load(own, as_of="2019")
    assert linker.min_score == 0.96 and not caplog.records
    linker.kb.close()
    with KnowledgeBase.open(own) as kb:  # it is beside the snapshots, and none of them
        assert len(kb.snapshots()) == 3


# documents of several dates

DATED = [
    Document("late", TEXT, date="2021-05-05"),
    Document("early", TEXT, date="2013-03-03T10:00:00Z"),
    Document("middle", TEXT, date="2018-01-01"),
    Document("late too", TEXT, date="2020-01-01"),
    Document("early too", TEXT, date="2016"),
]


def test_each_document_is_linked_as_of_its_own_date(made):
    with entlink.load(made, as_of="document", config="everyday") as linker:
        found = list(linker.link_all(DATED))
        assert [one.id for one in found] == [one.id for one in DATED]
        for document, linked in zip(DATED, found, strict=True):
            alone = entlink.load(made, as_of=document.date, config="everyday")
            assert linked == alone.link(document), document.id
            alone.kb.close()
        assert linker.link(DATED[1]) == found[1]
        assert [one.document.id for one in linker.explain_all(DATED[:2])] == ["late", "early"]


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (Document("none", TEXT), "the document 'none' has no date"),
        (Document("old", TEXT, date="1999"), "the document 'old': .* is before its first snapshot"),
        (Document("odd", TEXT, date="soon"), "the document 'odd': the date 'soon'"),
    ],
)
def test_a_document_that_has_no_snapshot(made, document, told):
    with entlink.load(made, as_of="document", config="lexical") as linker:
        documents = [DATED[0], document, DATED[1]]
        with pytest.raises(InputError, match=told):
            list(linker.link_all(documents))
        problems: list[Exception] = []
        found = list(linker.link_all(documents, on_error="skip", on_problem=problems.append))
        assert [one.id for one in found] == ["late", "early"] and len(problems) == 1


def test_more_snapshots_than_are_open_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("entlink.linking.dated._OPEN", 4)
    larkham(tmp_path / "a.kb", "2013-01-01/2020-01-01/yearly")
    documents = [Document(str(n), TEXT, date=f"{2013 + n % 8}-06-01") for n in range(24)]
    with entlink.load(tmp_path / "a.kb", as_of="document", config="lexical") as linker:
        found = list(linker.link_all(documents))
        assert [one.id for one in found] == [one.id for one in documents]
        assert found[0].links == found[8].links == found[16].links
        assert len(linker._linkers) == 4


def test_dates_without_snapshots_choose_among_dated_versions(tmp_path):
    from entlink.testing import toy_kb

    toy = toy_kb(tmp_path)
    documents = [Document(date, "Swaziland, Eswatini", date=date) for date in ("2010-01-01", "2020-01-01")]
    with entlink.load(toy, as_of="document", config="lexical") as linker:
        assert [len(one.links) for one in linker.link_all(documents)] == [1, 2]


def test_a_file_of_documents(made, tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps({"id": one.id, "text": one.text, "date": one.date}) + "\n" for one in DATED))
    with entlink.load(made, as_of="document", config="everyday") as linker:
        assert isinstance(linker, DatedLinker)
        assert entlink.link_file(linker, source, out).documents == 5
        expected = [one.links for one in linker.link_all(DATED)]
        text = tmp_path / "text.txt"
        text.write_text(TEXT)
        with pytest.raises(InputError, match="a text has no date"):
            entlink.link_file(linker, text, out)
    assert [[link.entity for link in one.links] for one in read_documents(out)] == [
        [link.entity for link in links] for links in expected
    ]
