from __future__ import annotations

import numpy
import pytest

from entlink.candidates.dense import DenseRetriever
from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.encoders.dual import PlainDual
from entlink.errors import ConfigError, InputError
from entlink.interfaces import Follower, Question, Rescorer, Retriever, Shortlist, Typed
from entlink.kb.edits import add, remove
from entlink.testing import check_retriever
from tiny_encoders import LetterEncoder

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
def retriever(world, encoder):
    return DenseRetriever(world, encoder=encoder)


def test_it_is_all_that_a_linker_asks_after(retriever):
    for protocol in (Retriever, Rescorer, Typed, Follower):
        assert isinstance(retriever, protocol)


def test_scores_of_what_others_found_are_cosines(retriever, world):
    dual = PlainDual(LetterEncoder())
    scores = retriever.rescore([shortlist("Mercury"), shortlist("Sun", ("sun", "planet"))])
    for surface, ids, found in (("Mercury", IDS, scores[0]), ("Sun", ("sun", "planet"), scores[1])):
        entities = dual.encode_entities([world.get(id) for id in ids])
        expected = entities @ dual.encode_mentions([(TEXT, mention(surface))])[0]
        assert found == pytest.approx(expected.tolist(), abs=1e-3)
    assert scores[1][0] > scores[1][1]


def test_what_is_not_there_scores_nothing(retriever):
    assert retriever.rescore([shortlist("Sun", ("sun", "nobody", "sun"))])[0][1] == 0.0
    assert retriever.rescore([]) == []
    assert retriever.rescore([Shortlist(TEXT, mention("Sun"), [])]) == [()]
    wordless = Shortlist(Document("d", " !"), Mention(Span(0, 1), " "), [Candidate("sun", 1.0)])
    assert retriever.rescore([wordless]) == [[0.0]]


def test_a_batch_is_encoded_at_once_and_only_once(retriever, encoder):
    lists = [shortlist("Mercury"), shortlist("Sun"), shortlist("Venus", ())]
    first = retriever.rescore(lists)
    assert len(encoder.calls) == 2  # the mentions, the entities
    assert retriever.rescore(lists) == first
    assert len(encoder.calls) == 2


def test_retrieving_and_rescoring_encode_a_mention_once(retriever, encoder):
    retriever.mention_vectors([(TEXT, mention("Sun"))])
    before = len(encoder.calls)
    retriever.rescore([shortlist("Sun")])
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
    before = retriever.rescore([shortlist("Sun", ("york",))])
    add(own_world, [Entity("york", "Sun"), Entity("sol", "Sun")], replace=True)
    remove(own_world, ["venus"])
    kb.refresh()
    retriever.knowledge_base_changed()
    after = retriever.rescore([shortlist("Sun", ("york", "sol", "venus"))])[0]
    assert after[0] == after[1] > before[0][0]
    assert after[2] == 0.0


def test_scores_are_as_of_the_date(opened, world_folder, encoder):
    document = Document("d", "Swaziland is a kingdom")
    asked = [shortlist("Swaziland", ("swazi",), document)]
    now, then = (
        DenseRetriever(opened(world_folder, date=date), encoder=encoder).rescore(asked)[0][0]
        for date in (None, "2010-01-01")
    )
    assert then > now


def test_settings_that_do_not_fit(world, encoder):
    with pytest.raises(ConfigError, match="limit = 0"):
        DenseRetriever(world, encoder=encoder, limit=0)


def test_a_dual_encoder_of_ones_own(world):
    class Own(PlainDual):
        mention_content = None

    retriever = DenseRetriever(world, encoder=Own(LetterEncoder()))
    assert retriever.rescore([shortlist("Sun")])[0][2] > 0.5


def test_vectors_that_are_no_numbers_name_the_encoder(world):
    class Broken(PlainDual):
        def encode_entities(self, entities):
            return numpy.full((len(entities), self.dimension), numpy.nan, numpy.float32)

    with pytest.raises(InputError, match="'letters' gave no numbers"):
        DenseRetriever(world, encoder=Broken(LetterEncoder())).rescore([shortlist("Sun")])
