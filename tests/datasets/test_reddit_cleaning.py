"""What cleaning takes out of a text, and where what is left stood."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.datasets.conversations.cleaning import Cleaner
from entlink.datasets.conversations.options import SIGNS
from entlink.documents import Span

LATIN = Cleaner("latin", SIGNS, 3)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Plain words, nothing else.", "Plain words, nothing else."),
        ("  two\n\nlines\tand  blanks ", "two lines and blanks"),
        ("fire🔥work 😀 Padmé", "fire work Padmé"),
        ("zero\u200bwidth e\u0301clair", "zerowidth eclair"),
        ("“Quoted” — it’s… done", '"Quoted" it\'s. done'),
        ("Привет world 北京", "world"),
        ("a * b | c ^d #e", "a b c d e"),
        ("so hahahaha funny aaaaaargh lolololol", "so funny aaaaaargh"),
        ("no no no no no way", "no way"),
        ("no no no way", "no no no way"),
        ("stop!!!!!! now??", "stop! now??"),
        ("well ... :) ok", "well ok"),
        ("", ""),
        ("🔥", ""),
    ],
)
def test_what_is_left(text, left):
    assert LATIN.clean(text).text == left


def test_which_letters_stay():
    text = "Padmé lives in 北京 since 1999"
    assert Cleaner("ascii", SIGNS, 3).clean(text).text == "Padm lives in since 1999"
    assert Cleaner("any", SIGNS, 3).clean(text).text == text
    assert Cleaner("latin", "", 3).clean("don't, no").text == "don t no"


def test_how_often_is_too_often():
    assert Cleaner("latin", SIGNS, 1).clean("no no haha wow!!").text == "no wow!"


def test_stretches_that_are_removed_leave_a_blank():
    text = "see http://a.b/c now"
    assert LATIN.clean(text, [Span(4, 16)]).text == "see now"


def test_words_of_a_mention_are_no_nonsense():
    text = "play Boo Boo Boo Boo Boo with me"
    assert LATIN.clean(text).text == "play Boo with me"
    cleaned = LATIN.clean(text, protected=[Span(5, 24)])
    assert cleaned.text == text
    assert cleaned.moved(Span(5, 24)) == Span(5, 24)


def test_a_mention_moves_with_its_text_or_is_lost():
    text = "😀😀 see *Padmé* 😀 and 北京"
    cleaned = LATIN.clean(text)
    start = text.index("*")
    moved = cleaned.moved(Span(start, start + 7))
    assert moved is not None
    assert cleaned.text[moved.start : moved.end] == "Padmé"
    assert cleaned.moved(Span(len(text) - 2, len(text))) is None


def test_a_hundred_thousand_characters_take_no_time():
    started = time.process_time()
    for text in ("!" * 100_000, "ha" * 50_000, "a " * 50_000, "\u200b" * 100_000, "*a" * 50_000):
        LATIN.clean(text)
    assert time.process_time() - started < 10


@given(st.text(max_size=80), st.integers(1, 4))
def test_every_character_that_is_left_stood_where_it_says(text, repeats):
    cleaned = Cleaner("any", SIGNS, repeats).clean(text)
    assert len(cleaned.text) == len(cleaned.places)
    assert list(cleaned.places) == sorted(set(cleaned.places))
    for sign, place in zip(cleaned.text, cleaned.places, strict=True):
        if sign.isalnum():
            assert text[place] == sign
    assert cleaned.text == cleaned.text.strip()
    assert "  " not in cleaned.text


@given(st.text(alphabet="aAb !.*😀\n\u200b", max_size=40))
def test_a_text_without_hints_of_nonsense_has_none(text):
    thorough = Cleaner("latin", SIGNS, 1)
    quick = Cleaner("latin", SIGNS, 1)
    thorough._hints = (re.compile(""),)
    assert quick.clean(text) == thorough.clean(text)


@given(st.text(alphabet="ab c!.*😀\n", max_size=40), st.data())
def test_a_span_moves_to_what_is_left_of_it(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    span = Span(start, end)
    cleaned = LATIN.clean(text, protected=[span])
    moved = cleaned.moved(span)
    letters = [sign for sign in text[start:end] if sign.isalnum()]
    kept = [] if moved is None else [sign for sign in cleaned.text[moved.start : moved.end] if sign.isalnum()]
    assert kept == letters


@pytest.mark.parametrize("beside", ["", " hahahaha"])
def test_words_may_follow_themselves_up_to_the_limit(beside):
    """Whether or not there is something else to take out."""
    assert LATIN.clean(f"no no no way{beside}").text == "no no no way"
    assert LATIN.clean(f"no no no no way{beside}").text == "no way"


def test_rows_of_signs_stay_in_a_mention_only():
    text = "the band Wow!!!! is good!!!!"
    assert LATIN.clean(text, protected=[Span(9, 16)]).text == "the band Wow!!!! is good!"
