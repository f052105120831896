"""A knowledge base of what people call their own: pets, places, bands and cars."""

from __future__ import annotations

import pytest

import entlink
from entlink import Linker
from knowledge_bases import article, make_kb

THINGS = [
    article("poodle", "Poodle", "The poodle is a breed of dog with curly hair."),
    article("siamese", "Siamese", "The Siamese is a breed of cat from Thailand."),
    article("lisbon", "Lisbon", "Lisbon is the capital city of Portugal.", types=["city"]),
    article("oslo", "Oslo", "Oslo is the capital city of Norway.", types=["city"]),
    article("abba", "ABBA", "ABBA was a pop band from Sweden.", types=["band"]),
    article("adele", "Adele", "Adele is an English singer and songwriter.", types=["singer"]),
    article("fiat", "Fiat", "Fiat is a maker of cars in Italy."),
    article("chess", "Chess", "Chess is a game for two players."),
    article("fair-lady", "My Fair Lady", "My Fair Lady is a musical."),
    article("dog", "Dog", "The dog is an animal that lives with people."),
]


@pytest.fixture(scope="session")
def things(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("things"), THINGS, "things")


@pytest.fixture
def loaded(things):
    """Loads linkers of these things and closes them after the test."""
    linkers: list[Linker] = []

    def loaded(personal: bool | str = True, **settings) -> Linker:
        linkers.append(entlink.load(things, personal=personal, **settings))
        return linkers[-1]

    yield loaded
    for linker in linkers:
        linker.kb.close()
