"""What the words around a mention, and the other entities of a document, say about its candidates."""

import pytest

import entlink
from entlink.documents import Candidate, Document, Mention, Span
from entlink.evidence.context import ContextEvidence
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

ROWS = """id,title,description
mj,Michael Jordan,"An American basketball player of the Chicago Bulls."
country,Jordan,"A kingdom in the desert. Its capital is Amman."
bulls,Chicago Bulls,"A basketball team of Chicago."
bull,Bull,"An animal, the male of cattle."
"""


@pytest.fixture
def kb(tmp_path):
    (tmp_path / "wiki.csv").write_text(ROWS, encoding="utf8")
    entlink.build([tmp_path / "wiki.csv"], tmp_path / "wiki.kb")
    with KnowledgeBase.open(tmp_path / "wiki.kb") as opened:
        yield opened


def shortlist(document, surface, *entities):
    start = document.text.index(surface)
    mention = Mention(Span(start, start + len(surface)), surface)
    return Shortlist(document, mention, [Candidate(one, 0.5, {}, None) for one in entities])


def test_words_around_speak_for_the_entity_whose_text_has_them(kb):
    document = Document("one", "The basketball player Jordan rose, far from any desert kingdom.")
    [[player, country]] = ContextEvidence(kb).gather([shortlist(document, "Jordan", "mj", "country")])
    assert player["context"] > 0
    assert country["context"] > 0
    near = Document("two", "Jordan is a fine basketball player.")
    [[player, country]] = ContextEvidence(kb).gather([shortlist(near, "Jordan", "mj", "country")])
    assert player["context"] > country["context"] == 0


def test_other_mentions_speak_for_the_entity_that_goes_with_them(kb):
    document = Document("one", "Jordan left the Bulls.")
    asked = [shortlist(document, "Jordan", "country", "mj"), shortlist(document, "Bulls", "bull", "bulls")]
    [[country, player], [animal, team]] = ContextEvidence(kb).gather(asked)
    assert player["others_context"] > country["others_context"]
    assert team["others_context"] > animal["others_context"]
    [[alone]] = ContextEvidence(kb).gather([shortlist(document, "Jordan", "mj")])
    assert alone["others_context"] == 0


def test_an_edit_is_read_at_once(kb):
    evidence = ContextEvidence(kb)
    document = Document("one", "Jordan is known for its phosphate mines.")
    asked = [shortlist(document, "Jordan", "country")]
    assert evidence.gather(asked)[0][0]["context"] == 0
    kb.remove("country")
    kb.add(entlink.Entity("country", "Jordan", "A kingdom with phosphate mines."))
    evidence.knowledge_base_changed()
    assert evidence.gather(asked)[0][0]["context"] > 0
