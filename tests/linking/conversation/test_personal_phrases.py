"""Where personal phrases stand, and what they say of the thing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, GoldLink, Span, Turn
from entlink.errors import InputError
from entlink.linking.conversation.personal.gold_phrases import GoldPhrase, gold_phrases
from entlink.linking.conversation.personal.model import default_model
from entlink.linking.conversation.personal.phrase_ends import MOST_WORDS, words_after
from entlink.linking.conversation.personal.phrases import PersonalPhrase, begins_phrase, find_phrases, singular
from entlink.linking.conversation.personal.sums import chance, chosen, shares

ENDS = default_model().ends


def found(text: str) -> list[str]:
    phrases = list(find_phrases(text, ENDS))
    assert all(text[one.span.start : one.span.end] == one.text for one in phrases)
    return [one.text for one in phrases]


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("My favourite singer is Adele.", ["My favourite singer"]),
        ("I walk my dog every day, and our cat sleeps.", ["my dog", "our cat"]),
        ("We moved to my hometown.", ["my hometown"]),
        ("MY FAVORITE COLOR!", ["MY FAVORITE COLOR"]),
        ("It was my grandmother's recipe.", ["my grandmother's recipe"]),
        ("This is my favourite", ["my favourite"]),
        ("Oh my god, oh my gosh", []),
        ("Tommy met Amy and sour milk is not my.", []),
        ("my, what a day. My", []),
        ("你好 my dog 😀 runs", ["my dog"]),
        ("I saw the anatomy book", []),
        ("", []),
    ],
)
def test_phrases_of_a_text(text, phrases):
    assert found(text) == phrases


def test_a_phrase_ends_where_another_begins():
    assert found("I gave my dog my dinner") == ["my dog", "my dinner"]


def test_without_weights_a_phrase_is_as_likely_to_end_as_to_go_on():
    (phrase,) = find_phrases("my big red dog", {})
    assert phrase.text == "my big"  # ends with the first: one half, with the second a quarter


@given(st.text(alphabet="my our dog's-,.\n😀\u200b", max_size=60))
def test_phrases_stand_in_order_and_never_overlap(text):
    phrases = list(find_phrases(text, ENDS))
    assert all(text[one.span.start : one.span.end] == one.text and one.words for one in phrases)
    assert all(one.span.end <= two.span.start for one, two in pairwise(phrases))


def test_a_phrase_is_never_longer_than_it_may_be():
    text = "my " + "very " * 50 + "dog"
    assert len(words_after(text, 2)) == MOST_WORDS + 1
    (phrase,) = find_phrases(text, {"bias": -9.0})
    assert len(phrase.words) <= MOST_WORDS


@pytest.mark.parametrize(
    ("text", "heads", "is_favourite"),
    [
        ("my favourite singer", {"singer"}, True),
        ("my favorite kinds of music", {"kind", "music"}, True),
        ("my favourite place in the world", {"place"}, True),
        ("my fav", set(), True),
        ("our puppies", {"puppy"}, False),
    ],
)
def test_what_a_phrase_says_of_the_thing(text, heads, is_favourite):
    phrase = PersonalPhrase(Span(0, len(text)), text)
    assert (phrase.heads, phrase.is_favourite) == (heads, is_favourite)


def test_singulars():
    words = {"dogs": "dog", "puppies": "puppy", "dishes": "dish", "bus": "bus", "glass": "glass", "boxes": "box"}
    assert {word: singular(word) for word in words} == words


def test_given_spans_that_are_phrases():
    assert begins_phrase("my dog", Span(0, 6))
    assert not begins_phrase("my dog", Span(0, 2))
    assert not begins_phrase("my dog", Span(3, 6))


def test_chances_are_those_of_a_logistic_regression_and_a_softmax():
    assert chance({"a": 1.0, "b": 2.0}, {"a": 2.0, "b": -1.0, "unknown": 9.0}) == 0.5
    assert chance({"a": -1000.0}, {"a": 1.0}) == 0.0
    assert shares({"a": 1.0}, [{"a": 5.0}, {"a": 5.0}, {"a": -800.0}]) == [0.5, 0.5, 0.0]


def test_the_places_of_an_entity_add_up_against_none():
    assert chosen(["x", "y", "x"], [0.2, 0.3, 0.2, 0.3])[0] == "x"
    assert chosen(["x", "y"], [0.2, 0.3, 0.5]) == (None, {"x": 0.2, "y": 0.3})
    assert chosen(["y", "x"], [0.4, 0.4, 0.2])[0] == "x"  # the order of places decides nothing
    assert chosen([], [1.0]) == (None, {})


# Gold


def test_gold_phrases_are_told_once_each_with_all_they_mean():
    document = Document.of_turns(
        "d",
        [Turn("Hi", "a"), Turn("My bands are ABBA and Toto, in my mind.", "b")],
        gold=(
            GoldLink(Span(4, 12), ("abba",), meta={"personal": True}),
            GoldLink(Span(17, 21), ("abba",)),
            GoldLink(Span(4, 12), ("toto",), meta={"personal": True}),
        ),
        meta={"personal_without_entity": [{"turn": 1, "start": 31, "end": 38}]},
    )
    assert list(gold_phrases(document)) == [
        GoldPhrase(1, Span(0, 8), ("abba", "toto")),
        GoldPhrase(1, Span(31, 38)),
    ]


def test_a_phrase_whose_meaning_nobody_was_asked_for():
    gold = (GoldLink(Span(0, 6), (), meta={"personal": True}),)
    (phrase,) = gold_phrases(Document.of_turns("d", [Turn("my dog")], gold=gold))
    assert phrase == GoldPhrase(0, Span(0, 6), (), is_told=False)


@pytest.mark.parametrize(
    "alone", ["my dog", {"turn": 0}, {"turn": 5, "start": 0, "end": 2}, {"turn": 0, "start": 9, "end": 99}]
)
def test_a_phrase_that_is_not_there(alone):
    document = Document.of_turns("d9", [Turn("my dog")], meta={"personal_without_entity": [alone]})
    with pytest.raises(InputError, match=r"d9.*personal_without_entity"):
        list(gold_phrases(document))
