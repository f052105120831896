from __future__ import annotations

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.kb.names.opening_names import MOST_NAMES, names_in_opening
from entlink.text.folding import key_of
from entlink.text.titles import tidy

GIVEN = [
    ("Coriander", "Coriander, also known as cilantro or Chinese parsley, is it.", ["cilantro", "Chinese parsley"]),
    ("Coriander", "Coriander (also known as cilantro, Chinese parsley, or dhania) is a herb.",
     ["cilantro", "Chinese parsley", "dhania"]),
    ("Movie", "A movie, also called a film, is a story in moving pictures.", ["film"]),
    ("Movie", "A movie, or film, is a story in moving pictures.", ["film"]),
    ("Colour", "Colour or color is what light looks like.", ["color"]),
    ("Color", "Color (American English) or colour (British English; see spelling) is what light is.", ["colour"]),
    ("New York City", "New York City (NYC) is a city.", ["NYC"]),
    ("New York City", "New York City (NYC) or simply New York (NY) is a city.", ["New York", "NYC", "NY"]),
    ("United States", "The United States of America (U.S.A. or U.S.) is a country.",
     ["United States of America", "U.S.A.", "U.S."]),
    ("Los Angeles", "Los Angeles (L.A.), officially the City of Los Angeles, is a city.",
     ["City of Los Angeles", "L.A."]),
    ("Los Angeles", "Los Angeles, often known by its initials L.A., is a city.", ["L.A."]),
    ("Television", "A television (also known as a TV) is a machine with a screen.", ["TV"]),
    ("Inflation (cosmology)", "In cosmology, cosmic inflation, cosmological inflation, or just inflation is growth.",
     ["cosmic inflation", "cosmological inflation"]),
    ("Macaroni and cheese", "Macaroni and cheese, also called mac and cheese, is a dish.", ["mac and cheese"]),
    ("Barack Obama", "Barack Hussein Obama II (born August 4, 1961) is a politician.", ["Barack Hussein Obama II"]),
    ("Yellow frog", 'The yellow frog ("Rana flava"), nicknamed "Goldie", was found late.', ["Goldie"]),
    ("Rana flava", "The yellow frog, Rana flava, is a frog.", ["yellow frog"]),
    ("Z.P.G.", "Z.P.G. (short for Zero Population Growth) is a film.", ["Zero Population Growth"]),
    ("Body mass index", "The body mass index (or BMI) is a measure.", ["BMI"]),
    ("Ampere", 'The ampere (unit symbol: A), often shortened to "amp", is a unit.', ["amp"]),
    ("Persia", "Persia, also called Iran in the West, was an empire.", ["Iran"]),
    ("Casino", "A casino (or occasionally known as gambling house) is a place.", ["gambling house"]),
    ("Jewel (singer)", "Jewel Kilcher (born 1974), known simply as Jewel, is a singer.", []),
    ("Cat", "The cat, which is also called the house cat, is an animal.", []),
]  # fmt: skip
NOTHING = {
    "a dish is not its part": ("Macaroni pie", "Macaroni pie, also called mac and cheese, is a dish."),
    "another language": ("Athens", "Athens (Greek: Αθήνα; Athína) is a city."),
    "another language in words": ("Cologne", "Cologne, also called Köln in German, is a city."),
    "another script": ("Moscow", "Moscow, also called Москва, is a city."),
    "a birth name": ("Bono", "Bono (born Paul Hewson; 10 May 1960) is a singer."),
    "dates": ("Bob Dole", "Bob Dole (July 22, 1923 – December 5, 2021) was a senator."),
    "pronunciation": ("Ely", "Ely (/ˈiːli/ EE-lee) is a city."),
    "after the verb": ("Tea", "Tea is a drink, also called chai."),
    "no verb": ("Tea", "Tea, also called chai."),
    "the second sentence": ("Tea", "Tea for everybody. Coffee, also called java, is another drink."),
    "what a name may mean": ("Chai", "Chai, also called cha, may refer to: tea."),
    "a remark, not a list": ("Gotham", "Gotham, a city on the coast, is large."),
    "another thing's name": ("City Choir", "City Choir in a town called Dunedin is a choir."),
    "an order is no name": ("Al Gore", "Al Gore OBE (born 1950) is a producer."),
    "no initials of it": ("Tom Hale", "Tom Hale (UK) is a singer."),
    "initials of another": ("SI derived unit", "The International System of Measures (ISM) has derived units."),
    "one word of the name": ("Loie Fuller", "Loie (or Loïe) Fuller was a dancer."),
    "where the name ends is not known": ("Pact", "The Pact, formally the Pact on the Sea, is a treaty."),
    "a proper name has proper names": ("Ann Lee", "Ann Lee, or simply the singer, was a star."),
    "an open parenthesis": ("Tea", "Tea (also called chai is a drink."),
    "a closed one": ("Tea", "Tea) also called chai is a drink."),
    "only a qualifier": ("Tendency", "A tendency (or, more commonly, a measure of it) is a value."),
    "empty": ("", ""),
}


@pytest.mark.parametrize(("title", "opening", "names"), GIVEN)
def test_what_an_opening_gives(title, opening, names):
    assert list(names_in_opening(title, opening)) == names


@pytest.mark.parametrize("case", NOTHING)
def test_what_is_left_alone(case):
    assert names_in_opening(*NOTHING[case]) == ()


def test_only_languages_with_phrases_are_read():
    tea = ("Tea", "Tea, also called chai, is a drink.")
    assert {language: names_in_opening(*tea, language) for language in (None, "en", "en-GB", "de", "zh")} == {
        None: ("chai",),
        "en": ("chai",),
        "en-GB": ("chai",),
        "de": (),
        "zh": (),
    }


def test_names_are_few():
    many = " or ".join(f"name {chr(97 + number)}x" for number in range(26))
    assert len(names_in_opening("Tea", f"Tea, also called {many}, is a drink.")) == MOST_NAMES


WORDS = (
    "Tea chai New York NYC (NYC) ( ) , ; : . or and is are was refers to also known as called simply the a an in on "
    'for "Chai" and/or [x] (or also formerly 1990 Greek: Ä 北 \n which \u200b'
)
PIECES = st.sampled_from(WORDS.split(" "))


@given(st.text() | st.lists(PIECES).map(" ".join), st.text() | st.lists(PIECES).map(" ".join))
def test_names_stand_in_the_opening_and_are_not_the_title(title, description):
    names = names_in_opening(title, description)
    assert len(names) <= MOST_NAMES and len(set(names)) == len(names)
    for name in names:
        assert name in tidy(description)
        assert name == tidy(name) and key_of(name) != key_of(title)


@pytest.mark.parametrize("piece", ["(", "or ", "known as ", ", and ", '" '])
def test_huge_descriptions_take_no_longer(piece):
    started = process_time()
    names_in_opening("Tea " + piece * 9, "Tea " + piece * (3_000_000 // len(piece)) + " is a drink.")
    assert process_time() - started < 1.0


def test_nothing_is_taken_from_beyond_the_first_sentence_of_prose():
    text = "A cat is an animal. A dog, also called a hound, is another. It is known as Rex (REX)."
    assert names_in_opening("Cat", text) == ()
    assert not re.search("hound", " ".join(names_in_opening("Dog", text)))
