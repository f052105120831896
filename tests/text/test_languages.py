from __future__ import annotations

import pytest

from entlink.text.languages import difference, writing_of

ENGLISH = (
    "The town is on the river and has a market that was built for the people of the valley. From this place the road "
    "to the sea is long, and those who have been there say that they were glad to come back to their houses. "
)
OTHERS = {
    "German": "Die Stadt liegt an der Elbe und ist die Hauptstadt des Landes. Mit rund 560.000 Menschen ist sie auch "
    "die Stadt, die als Ort von den Urkunden nicht vor dem Jahr 1206 erwähnt wird. ",
    "French": "La ville est la plus peuplée et la capitale du pays. Elle se situe dans un bassin, sur une boucle "
    "de la Seine. Les habitants sont fiers de la ville, qui est divisée par le fleuve. ",
    "Spanish": "La ciudad es la capital del país y un municipio con más de tres millones de personas. Aquí hay "
    "un parque que los vecinos visitan por la tarde, y las calles se llenan de gente. ",
    "Dutch": "De stad is de hoofdstad van het land en ligt aan de monding van de rivier. De naam is van een dam die "
    "in de dertiende eeuw is aangelegd. Het is ook een plaats met veel musea. ",
}
SCRIPTS = {
    "Chinese or Japanese characters": "北京市是中华人民共和国的首都、直辖市及国家中心城市,位于华北平原的北端。",
    "Cyrillic letters": "Москва — столица России, город федерального значения.",
}
NAMES = (
    "Los Angeles, El Paso, Las Vegas, La Paz, San Juan de los Lagos, Santiago de Compostela, El Salvador, La Jolla. "
)


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_is_told_from_english_both_ways(language):
    text, english = writing_of([OTHERS[language]] * 3), writing_of([ENGLISH] * 3)
    assert difference(text, english) == (language, "English")
    assert difference(english, text) == ("English", language)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_told_unless_names_are_written_in_it_too(script):
    text = writing_of([SCRIPTS[script]])
    assert difference(text, writing_of([ENGLISH] * 5)) == (script, "Latin letters")
    assert difference(text, writing_of([ENGLISH, SCRIPTS[script]])) is None


@pytest.mark.parametrize(
    "text",
    [ENGLISH, NAMES * 4, OTHERS["German"], "北京市", "", "1234 5678 " * 50, ENGLISH + OTHERS["German"] * 2],
    ids=["the same", "names", "short", "short of a script", "empty", "numbers", "both"],
)
def test_nothing_is_said_where_it_is_not_sure(text):
    assert difference(writing_of([text]), writing_of([ENGLISH] * 3)) is None


def test_names_of_both_languages_expect_texts_of_both():
    assert difference(writing_of([OTHERS["German"]] * 3), writing_of([ENGLISH, OTHERS["German"]] * 3)) is None
