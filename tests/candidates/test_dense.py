from __future__ import annotations

import numpy
import pytest

from entlink.candidates.dense import DenseRetriever
from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.encoders.dual import PlainDual
from entlink.errors import ConfigError, InputError
from entlink.interfaces import Evidence, Follower, Question, Retriever, Shortlist, Typed
from entlink.kb.indexes.vectors.writing import build_vectors
from entlink.kb.store.edits import add, block, remove
from entlink.linking.config import make_stage
from entlink.testing import check_retriever
from gathered import scores_of
from tiny_encoders import LetterEncoder, LongDual

TEXT = Document("d", "Mercury is the planet nearest to the Sun, unlike Venus.")
IDS = ("planet", "element", "sun", "venus", "york")


def mention(surface, document=TEXT):
    start = document.text.index(surface)
    return Mention(Span(start, start + len(surface)), surface)


def shortlist(surface, ids=IDS, document=TEXT):
    return Shortlist(document, mention(surface, document), [Candidate(id, 0.5) for id in ids])


@pytest.fixture
def encoder():
    return LetterEncoder()


@pytest.fixture
def kb(own_world, opened):
    """One of its own, since vectors are kept in its folder."""
    return opened(own_world)


@pytest.fixture
def retriever(kb, encoder):
    return DenseRetriever(kb, encoder=encoder)


def test_it_is_all_that_a_linker_asks_after(retriever):
    for protocol in (Retriever, Evidence, Typed, Follower):
        assert isinstance(retriever, protocol)


def test_scores_of_what_others_found_are_cosines(retriever, kb):
    dual = PlainDual(LetterEncoder())
    scores = scores_of(retriever, [shortlist("Mercury"), shortlist("Sun", ("sun", "planet"))])
    for surface, ids, found in (("Mercury", IDS, scores[0]), ("Sun", ("sun", "planet"), scores[1])):
        entities = dual.encode_entities([kb.get(id) for id in ids])
        expected = entities @ dual.encode_mentions([(TEXT, mention(surface))])[0]
        assert found == pytest.approx(expected.tolist(), abs=1e-3)
    assert scores[1][0] > scores[1][1]


def test_on_demand_only_the_first_are_encoded(kb, encoder):
    few, all_of_them = DenseRetriever(kb, encoder=encoder, demand=2), DenseRetriever(kb, encoder=encoder)
    (scores,), (full,) = scores_of(few, [shortlist("Sun")]), scores_of(all_of_them, [shortlist("Sun")])
    assert scores == [*full[:2], *[0.0] * (len(IDS) - 2)]
    assert any(full[2:])


def test_what_is_not_there_scores_nothing(retriever):
    assert scores_of(retriever, [shortlist("Sun", ("sun", "nobody", "sun"))])[0][1] == 0.0
    assert scores_of(retriever, []) == []
    assert scores_of(retriever, [Shortlist(TEXT, mention("Sun"), [])]) == [[]]
    wordless = Shortlist(Document("d", " !"), Mention(Span(0, 1), " "), [Candidate("sun", 1.0)])
    assert scores_of(retriever, [wordless]) == [[0.0]]


def test_a_batch_is_encoded_at_once_and_only_once(retriever, encoder):
    lists = [shortlist("Mercury"), shortlist("Sun"), shortlist("Venus", ())]
    first = scores_of(retriever, lists)
    assert len(encoder.calls) == 2  # the mentions, the entities
    assert scores_of(retriever, lists) == first
    assert len(encoder.calls) == 2


def test_retrieving_and_rescoring_encode_a_mention_once(retriever, encoder):
    retriever.mention_vectors([(TEXT, mention("Sun"))])
    before = len(encoder.calls)
    scores_of(retriever, [shortlist("Sun")])
    assert len(encoder.calls) == before + 1  # the entities


def test_many_mentions_do_not_fill_the_memory(retriever, monkeypatch):
    monkeypatch.setattr("entlink.candidates.dense._KEPT_MENTIONS", 3)
    documents = [Document(str(number), f"Paris {number} here") for number in range(9)]
    pairs = [(document, mention("Paris", document)) for document in documents]
    alone = [retriever.mention_vectors([pair])[0] for pair in pairs]
    assert len(retriever._mentions) <= 3
    assert numpy.allclose(retriever.mention_vectors(pairs), alone)
    assert numpy.allclose(retriever.mention_vectors([*pairs[-2:], *pairs[:3]]), [*alone[-2:], *alone[:3]])


def test_without_an_index_it_finds_nothing_by_itself(retriever):
    question = Question(TEXT, [mention("Sun"), mention("Venus")])
    assert [list(map(list, lists)) for lists in retriever.retrieve([question])] == [[[], []]]
    check_retriever(retriever, [question])


def test_an_edited_entity_is_encoded_anew(own_world, opened, encoder):
    kb = opened(own_world)
    retriever = DenseRetriever(kb, encoder=encoder)
    before = scores_of(retriever, [shortlist("Sun", ("york",))])
    add(own_world, [Entity("york", "Sun"), Entity("sol", "Sun")], replace=True)
    remove(own_world, ["venus"])
    kb.refresh()
    retriever.knowledge_base_changed()
    after = scores_of(retriever, [shortlist("Sun", ("york", "sol", "venus"))])[0]
    assert after[0] == after[1] > before[0][0]
    assert after[2] == 0.0


def test_scores_are_as_of_the_date(opened, own_world, encoder):
    document = Document("d", "Swaziland is a kingdom")
    asked = [shortlist("Swaziland", ("swazi",), document)]
    now, then = (
        scores_of(DenseRetriever(opened(own_world, date=date), encoder=encoder), asked)[0][0]
        for date in (None, "2010-01-01")
    )
    assert then > now


def test_settings_of_a_configuration(kb, monkeypatch):
    monkeypatch.setattr("entlink.encoders.loading.load_encoder", lambda spec: LetterEncoder(name=spec))
    made = make_stage(
        "retriever", {"name": "dense", "encoder": "some", "limit": 7, "context": 1, "search": "never"}, kb
    )
    assert (made.dual.name, made.limit, made.dual.context, made.search) == ("some", 7, 1, "never")
    with pytest.raises(ConfigError, match="search = 'often' does not fit: one of 'auto', 'index', 'never'"):
        make_stage("retriever", {"name": "dense", "search": "often"}, kb)


def test_settings_that_do_not_fit(kb, encoder):
    for setting in ("limit", "demand", "probed"):
        with pytest.raises(ConfigError, match=f"{setting} = 0"):
            DenseRetriever(kb, encoder=encoder, **{setting: 0})


def test_a_dual_encoder_of_ones_own_may_compare_by_products(kb):
    dual = LongDual(LetterEncoder())
    scores = scores_of(DenseRetriever(kb, encoder=dual), [shortlist("Mercury")])[0]
    entities = dual.encode_entities([kb.get(id) for id in IDS])
    expected = entities @ dual.encode_mentions([(TEXT, mention("Mercury"))])[0]
    assert scores == pytest.approx(expected.tolist(), abs=1e-2)
    assert max(scores) > 2


def test_vectors_that_are_no_numbers_name_the_encoder(kb):
    class Broken(PlainDual):
        def encode_entities(self, entities):
            return numpy.full((len(entities), self.dimension), numpy.nan, numpy.float32)

    with pytest.raises(InputError, match="'letters' gave no numbers"):
        DenseRetriever(kb, encoder=Broken(LetterEncoder())).gather([shortlist("Sun")])


def nothing(stage, done, total):
    pass


@pytest.fixture
def searching(own_world, opened, encoder):
    """A retriever with an index to look through."""
    build_vectors(own_world, PlainDual(encoder), nothing)
    return DenseRetriever(opened(own_world), encoder=encoder, limit=4)


def test_with_an_index_the_nearest_entities_are_found(searching):
    question = Question(TEXT, [mention("Sun"), mention("Venus")])
    check_retriever(searching, [question])
    for lists, id in zip(searching.retrieve([question])[0], ("sun", "venus"), strict=True):
        assert (len(lists), lists[0].entity) == (4, id)
        assert lists[0].evidence == {"dense": lists[0].score}
        assert lists[0].title == searching.kb.get(id).title


def test_what_is_found_scores_as_what_others_found(searching, encoder):
    question = Question(TEXT, [mention("Sun")])
    found = searching.retrieve([question])[0][0]
    before = len(encoder.calls)
    scores = scores_of(searching, [Shortlist(TEXT, mention("Sun"), found)])[0]
    assert scores == pytest.approx([one.score for one in found], abs=1e-6)
    assert len(encoder.calls) == before


def test_mentions_without_words_and_blocked_ones_find_nothing(searching, own_world):
    block(own_world, "Venus")
    searching.kb.refresh()
    searching.knowledge_base_changed()
    document = Document("d", "  Venus Sun")
    given = [Mention(Span(0, 2), "  "), mention("Venus", document), mention("Sun", document)]
    lists = searching.retrieve([Question(document, given), Question(document, [])])
    assert [[len(one) for one in each] for each in lists] == [[0, 0, 4], []]


def test_one_mention_in_two_documents(searching):
    one, other = Document("a", "Sun of the planets"), Document("b", "Sun York New York")
    same = mention("Sun", one)
    together = searching.retrieve([Question(one, [same]), Question(other, [same])])
    assert together == [searching.retrieve([Question(document, [same])])[0] for document in (one, other)]
    assert together[0] != together[1]


def test_only_the_wanted_types(searching):
    searching.keep_to_types(frozenset({"planet"}))
    found = searching.retrieve([Question(TEXT, [mention("Sun")])])[0][0]
    assert {one.entity for one in found} == {"planet", "venus"}


def test_fresh_entities_are_found_and_removed_ones_are_not(searching, own_world):
    add(own_world, [Entity("sol", "Sun")])
    remove(own_world, ["sun"])
    searching.kb.refresh()
    searching.knowledge_base_changed()
    found = [one.entity for one in searching.retrieve([Question(TEXT, [mention("Sun")])])[0][0]]
    assert found[0] == "sol"
    assert "sun" not in found


def test_whether_to_search(searching, kb, encoder):
    question = Question(TEXT, [mention("Sun")])
    assert DenseRetriever(kb, encoder=encoder, search="index").retrieve([question])[0][0]
    assert not DenseRetriever(kb, encoder=encoder, search="never").retrieve([question])[0][0]


def test_a_missing_index_is_an_error_where_one_is_wanted(kb, encoder):
    with pytest.raises(ConfigError, match=r"no index over vectors of 'letters'.*kb index .* --vectors letters"):
        DenseRetriever(kb, encoder=encoder, search="index")


def test_an_index_of_other_settings_is_told(own_world, opened, caplog):
    build_vectors(own_world, PlainDual(LetterEncoder()), lambda stage, done, total: None)
    kb = opened(own_world)
    DenseRetriever(kb, encoder=LetterEncoder())
    DenseRetriever(kb, encoder=LetterEncoder(name="others"))
    DenseRetriever(kb, encoder=LetterEncoder(), description=0.9, search="never")
    assert not caplog.text
    assert not DenseRetriever(kb, encoder=LetterEncoder(), description=0.9).searches
    assert "its index over vectors is of 'letters' (64 numbers" in caplog.text


def test_names_are_hidden_from_trained_encoders_only(kb):
    with pytest.raises(ConfigError, match=r"hidden = 20 does not fit: .* was not trained on mentions. Give a bi-enc"):
        DenseRetriever(kb, encoder=LetterEncoder(), hidden=20)
