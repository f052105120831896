from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.kb.indexes.words.terms import entity_terms, hash_of, terms_of
from entlink.text.folding import fold


def test_words_are_folded():
    assert terms_of("The STRASSE, Straße & C++: O'Neill") == ["the", "strasse", "strasse", "c++", "o", "neill"]


def test_characters_without_spaces_and_their_pairs():
    assert terms_of("北京市") == ["北", "京", "北京", "市", "京市"]
    assert terms_of("Java编程!") == ["java", "编", "程", "编程"]


def test_pairs_do_not_reach_across_anything():
    assert terms_of("北京,市 中a国") == ["北", "京", "北京", "市", "中", "a", "国"]


def test_a_character_and_its_marks_are_one():
    assert terms_of("กี่") == ["กี่"]
    assert "กี่บ" in terms_of("กี่บ")


def test_korean_is_written_with_spaces():
    assert terms_of("대한 민국") == ["대한", "민국"]


@given(st.text())
def test_terms_hold_the_tokens_in_order(text):
    terms, tokens = terms_of(text), fold(text).tokens
    rest = iter(terms)
    assert all(token in rest for token in tokens)
    assert len(tokens) <= len(terms) <= 2 * len(tokens)


def test_an_entity_is_its_title_aliases_and_description():
    entity = Entity("e", "Mount Fuji", "Fuji is a mountain.", ("Fujisan", "富士", "山"))
    assert entity_terms(entity) == {
        "mount": 1,
        "fuji": 2,
        "is": 1,
        "a": 1,
        "mountain": 1,
        "fujisan": 1,
        "富": 1,
        "士": 1,
        "富士": 1,
        "山": 1,
    }


def test_hashes_are_the_same_everywhere():
    assert hash_of("mercury") == 0xAC8404A534E6FDF0
    assert hash_of("\ud800") != hash_of("\ud801")
