"""Names that gold taught, their file, and the retriever that finds by them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from entlink.candidates.taught import TaughtRetriever
from entlink.documents import Candidate, Document, GoldLink, Mention, Span, Turn
from entlink.errors import ConfigError, DamagedError, MissingModelError
from entlink.interfaces import Evidence, Question, Shortlist, Typed
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.taught_names import NOWHERE, read_taught, teach, write_taught
from entlink.kb.store.edits import block, remove
from entlink.linking.config import LinkerConfig, make_stage
from entlink.linking.linker import load
from entlink.testing import check_retriever
from gathered import scores_of
from knowledge_bases import article, make_kb

ROWS = [
    article("coriander", "Coriander", "A herb.", types=["plant"], external={"wikidata": "Q41611"}),
    article("parsley", "Parsley", "A herb.", types=["plant"]),
    article("country", "Country music", "Music.", types=["music"]),
    article("state", "State", "A land.", types=["place"]),
]


def document(id, *gold, **more):
    """A text of names, each with what it leads to."""
    text, links = "", []
    for surface, entity in gold:
        start = len(text)
        text += surface
        links.append(GoldLink(Span(start, len(text)), (entity,) if entity else (), **more))
        text += ", "
    return Document(id, text, gold=tuple(links))


DOCUMENTS = [
    document("one", ("Cilantro", "coriander"), ("cilantro", "Q41611"), ("country", "country")),
    document("two", ("cilantro", "parsley"), ("country", "state"), ("country", "state"), ("boot", "unheard of")),
    document("three", ("my herb", "parsley"), meta={"personal": True}),
    document("four", ("herb", "parsley"), optional=True),
    document("five", ("Cilantro", None)),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("taught"), ROWS)


@pytest.fixture(scope="module")
def kb(shared):
    with KnowledgeBase.open(shared) as opened:
        yield opened


@pytest.fixture
def folder(shared, tmp_path):
    """A copy to change."""
    return Path(shutil.copytree(shared, tmp_path / "own.kb"))


@pytest.fixture
def taught(kb):
    return teach(kb, DOCUMENTS, command="entlink train names", made="today")


@pytest.fixture
def path(taught, tmp_path):
    write_taught(tmp_path / "deep" / "taught.json", taught)
    return tmp_path / "deep" / "taught.json"


def question(surface, id="new"):
    return Question(Document(id, surface), [Mention(Span(0, len(surface)), surface)])


def told(retriever, surface, id="new"):
    ((candidates,),) = retriever.retrieve([question(surface, id)])
    return {one.entity: one.score for one in candidates}


def told_in(retriever, surface, id):
    """What is told of a name in a document that taught something."""
    own = next(one for one in DOCUMENTS if one.id == id)
    start = own.text.index(surface)
    mention = Mention(Span(start, start + len(surface)), surface)
    ((candidates,),) = retriever.retrieve([Question(own, [mention])])
    return {one.entity: one.score for one in candidates}


def test_what_is_taught_counted_by_hand(taught):
    assert taught.names == {
        "boot": {NOWHERE: 1},
        "cilantro": {NOWHERE: 1, "coriander": 2, "parsley": 1},
        "country": {"country": 1, "state": 2},
    }
    assert taught.own["one"] == {"cilantro": {"coriander": 2}, "country": {"country": 1}}
    assert set(taught.own) == {"one", "two", "five"}
    assert (taught.mentions, taught.unknown, taught.kb) == (8, 2, "made.kb")


@pytest.mark.parametrize("surface", ["cilantro", "CILANTRO", "cilantros", "cilantro's"])
def test_the_share_of_each_entity(kb, path, surface):
    # One time in four the name led to something that is not there.
    assert told(TaughtRetriever(kb, model=path), surface) == {"coriander": 2 / 4, "parsley": 1 / 4}


@pytest.mark.parametrize("surface", ["herb", "my herb", "boot", "", "!", "Coriander"])
def test_what_taught_nothing(kb, path, surface):
    assert told(TaughtRetriever(kb, model=path), surface) == {}


def test_what_a_document_taught_does_not_count_for_it(kb, path):
    retriever = TaughtRetriever(kb, model=path)
    for id in ("one", "two"):
        others = teach(kb, [one for one in DOCUMENTS if one.id != id])
        for surface in ("cilantro", "country"):
            assert told_in(retriever, surface, id) == others.of(surface)
    assert told_in(retriever, "country", "two") == {"country": 1.0}
    assert told_in(retriever, "cilantro", "one") == {"parsley": 1 / 2}
    assert told(retriever, "country", "two") == {"country": 1 / 3, "state": 2 / 3}  # an id is not a text


def test_a_turn_is_known_again_in_the_window_of_its_conversation(kb):
    turns = [Turn("We saw it."), Turn("Such a country")]
    gold = (GoldLink(Span(19, 26), ("state",)),)
    talk = Document.of_turns("talk", turns, gold=gold)
    assert talk.text[19:26] == "country"
    taught = teach(kb, [talk])
    window = Document.of_turns("whatever", turns[1:])
    assert taught.whose(window, Span(7, 14)) == "talk"
    assert taught.of("country", "talk") == {}


def test_it_keeps_what_a_retriever_promises(kb, path):
    retriever = TaughtRetriever(kb, model=path, limit=1)
    questions = [question("cilantro"), question("country", "two"), question("x"), question("a" * 100_000)]
    check_retriever(retriever, questions)
    assert isinstance(retriever, Evidence)
    assert isinstance(retriever, Typed)
    assert [len(lists[0]) for lists in retriever.retrieve(questions)] == [1, 1, 0, 0]


def test_what_others_found_is_scored_as_what_it_finds(kb, path):
    retriever = TaughtRetriever(kb, model=path)
    asked = question("cilantro")
    ((own,),) = retriever.retrieve([asked])
    assert [one.title for one in own] == ["Coriander", "Parsley"]
    shortlist = Shortlist(asked.document, asked.mentions[0], [*own, Candidate("state", 1.0)])
    assert scores_of(retriever, [shortlist]) == [[2 / 4, 1 / 4, 0.0]]
    learnt = shortlist._replace(document=DOCUMENTS[0], mention=Mention(Span(10, 18), "cilantro"))
    assert scores_of(retriever, [learnt]) == [[0.0, 1 / 2, 0.0]]


def test_only_the_wanted_types(kb, path):
    retriever = TaughtRetriever(kb, model=path)
    retriever.keep_to_types(frozenset({"music"}))
    assert told(retriever, "country") == {"country": 1 / 3}
    assert told(retriever, "cilantro") == {}


def test_an_entity_that_was_removed_and_a_name_that_is_blocked(folder, path):
    remove(folder, ["parsley"])
    block(folder, "country")
    with KnowledgeBase.open(folder) as kb:
        retriever = TaughtRetriever(kb, model=path)
        assert told(retriever, "cilantro") == {"coriander": 2 / 4}
        assert told(retriever, "country") == {}
        asked = question("country")
        shortlist = Shortlist(asked.document, asked.mentions[0], [Candidate("country", 1.0)])
        assert scores_of(retriever, [shortlist]) == [[0.0]]


def test_a_linker_with_it(folder, path):
    config = LinkerConfig(
        detector={"name": "given"},
        retriever=[{"name": "alias"}, {"name": "taught", "model": str(path)}, {"name": "inner"}],
    )
    linker = load(folder, config=config)
    try:
        text = "fresh cilantro"
        given = Document("d", text, mentions=(Mention(Span(6, 14), text[6:14]),))
        assert [link.entity for link in linker.link(given).links] == ["coriander"]
    finally:
        linker.kb.close()


# Its file


def test_the_file_is_as_it_was_written(path, taught):
    assert read_taught(path) == taught
    assert json.loads(path.read_bytes())["command"] == "entlink train names"
    assert [one.name for one in path.parent.iterdir()] == ["taught.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"names": {"a": {"b": "c"}}}', b"\xff\xfe"])
def test_a_damaged_file_is_told(kb, tmp_path, content):
    (tmp_path / "taught.json").write_bytes(content)
    with pytest.raises(DamagedError, match=r"taught.json: these names cannot be read .*Make them anew"):
        TaughtRetriever(kb, model=tmp_path / "taught.json")


def test_another_version_is_told(path, taught):
    write_taught(path, msgspec.structs.replace(taught, format=2))
    with pytest.raises(DamagedError, match="of another version of entlink"):
        read_taught(path)


def test_a_missing_file_is_told(kb, tmp_path):
    for there in (tmp_path / "nowhere.json", tmp_path):
        with pytest.raises(MissingModelError, match=r"no taught names.*entlink train names"):
            make_stage("retriever", {"name": "taught", "model": str(there)}, kb)
    with pytest.raises(ConfigError, match="missing a required argument: 'model'"):
        make_stage("retriever", {"name": "taught"}, kb)
