"""Names proposed in running text, overlaps included."""

import pytest

import entlink
from entlink.documents import Document, Entity
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.mentions import names
from entlink.mentions.names import NamesDetector

ENTITIES = [
    Entity("will", "Will (law)"),
    Entity("us", "US"),
    Entity("mozart", "Wolfgang Amadeus Mozart"),
    Entity("mit", "Massachusetts Institute of Technology"),
    Entity("heart", "Myocardial infarction"),
    Entity("juniper", "Juniper"),
    Entity("york", "York"),
    Entity("new-york", "New York"),
    Entity("hits", "The Hits"),
    Entity("i", "I"),
]


@pytest.fixture
def kb(tmp_path):
    entlink.build([_table(tmp_path)], tmp_path / "names.kb")
    with KnowledgeBase.open(tmp_path / "names.kb") as kb:
        yield kb


def _table(folder):
    path = folder / "names.csv"
    rows = [f'{one.id},"{one.title}"' for one in ENTITIES]
    path.write_text("\n".join(["id,title", *rows]) + "\n", encoding="utf8")
    return path


def found(kb, text, **settings):
    [mentions] = NamesDetector(kb, **settings).detect([Document("text", text)])
    return [mention.text for mention in mentions]


def test_short_names_and_initials_are_found_in_running_text(kb):
    assert found(kb, "She studied at MIT and loves Mozart.") == ["MIT", "Mozart"]


@pytest.mark.parametrize("apostrophe", "'’")
def test_a_short_name_ends_before_a_possessive(kb, apostrophe):
    assert found(kb, f"Mozart{apostrophe}s Requiem is taught at MIT.") == ["Mozart", "MIT"]


def test_overlapping_names_are_all_proposed(kb):
    assert found(kb, "We flew to New York.") == ["New York", "York"]


def test_function_words_articles_and_single_letters_are_not_proposed(kb):
    assert found(kb, "I will tell us the hits, said the US.") == ["US"]


def test_a_block_holds_and_so_does_a_pin(kb):
    kb.block("Mozart")
    kb.pin("will", "will")
    assert found(kb, "Mozart made a will.") == ["will"]


@pytest.mark.parametrize(
    ("what", "wanted"),
    [
        ("names", ["myocardial infarction"]),
        ("terms", ["juniper", "myocardial", "myocardial infarction"]),
    ],
)
def test_the_dial_says_which_words_without_a_capital_are_looked_at(kb, what, wanted):
    assert found(kb, "a juniper after a myocardial infarction", what=what) == wanted


def test_words_that_are_almost_a_name_of_a_small_knowledge_base(kb):
    assert found(kb, "He had a myocardeal infarction, not hiccups.") == ["myocardeal infarction"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("she loves mozart a lot", ["mozart"]),
        ("she met Will, who loves mozart", []),
        ("The US. He loves mozart", ["US", "mozart"]),
    ],
)
def test_names_cut_short_without_a_capital_are_found_where_nothing_has_one(kb, monkeypatch, text, wanted):
    monkeypatch.setattr(names, "_SMALL", 0)
    assert [one for one in found(kb, text) if one != "Will"] == wanted


def test_names_are_whole_with_their_signs(kb):
    kb.add(entlink.Entity("yahoo", "Yahoo!"))
    assert found(kb, "We like Yahoo! and Mozart.") == ["Yahoo!", "Mozart"]
