"""Weights of personal mentions: what is learnt from, and that learning does what it says."""

from __future__ import annotations

from math import exp, log

import msgspec
import pytest

from entlink import Document, GoldLink, Span, Turn
from entlink.errors import InputError
from entlink.learning.personal.lessons import choice_lessons, end_lessons, gold_named, nearest_place
from entlink.learning.personal.named_features import fit_named
from entlink.learning.personal.training import ChoiceScore, cross_validated, fit_personal, score_choices, take_lessons
from entlink.linking.conversation.personal.antecedents import Antecedent, choice_rows, kind_words
from entlink.linking.conversation.personal.model import PersonalModel, default_model, read_model, write_model
from entlink.linking.conversation.personal.phrases import PersonalPhrase, find_phrases
from entlink.linking.conversation.personal.sums import chance

PERSONAL = {"personal": True}


def talk(id: str, *turns: tuple[str, str], gold=(), alone=()) -> Document:
    """A conversation; gold is (turn, surface, entity or None, whether it is personal)."""
    document = Document.of_turns(id, [Turn(text, speaker) for speaker, text in turns])
    links = []
    for turn, surface, entity, is_personal in gold:
        start = document.turn_spans[turn].start + turns[turn][1].index(surface)
        meta = PERSONAL if is_personal else {}
        links.append(GoldLink(Span(start, start + len(surface)), (entity,) if entity else (), meta=meta))
    places = []
    for turn, surface in alone:
        start = turns[turn][1].index(surface)
        places.append({"turn": turn, "start": start, "end": start + len(surface)})
    meta = {"personal_without_entity": places} if places else {}
    return msgspec.structs.replace(document, gold=tuple(links), meta=meta)


DOGS = talk(
    "dogs",
    ("ana", "I have a poodle in Oslo."),
    ("ben", "I prefer chess."),
    ("ana", "My dog hates my mother."),
    gold=[
        (0, "poodle", "Poodle", False),
        (0, "Oslo", "Oslo", False),
        (1, "chess", "Chess", False),
        (2, "My dog", "Poodle", True),
    ],
    alone=[(2, "my mother")],
)
SONGS = talk(
    "songs",
    ("ana", "My favourite singer is Adele."),
    ("ben", "ABBA is my favourite band."),
    gold=[
        (0, "My favourite singer", "Adele", True),
        (0, "Adele", "Adele", False),
        (1, "ABBA", "ABBA", False),
        (1, "my favourite band", "ABBA", True),
    ],
)


def test_a_phrase_teaches_at_each_of_its_words_whether_it_ends():
    lessons = list(end_lessons(DOGS))
    shown = [(one.row.get("last=dog"), one.row.get("last=mother"), one.is_end) for one in lessons]
    assert shown == [(1.0, None, True)]  # what comes before a full stop always ends
    lessons = list(end_lessons(SONGS))
    assert [one.is_end for one in lessons] == [False, True, False]  # favourite, singer; favourite


def test_what_a_phrase_may_mean_and_which_is_right(loaded):
    kb = loaded(False).kb
    dog, mother = choice_lessons(kb, DOGS, gold_named(kb, DOGS), 32)
    assert dog.entities == ("oslo", "poodle")  # the last named first, and nothing of ben's
    assert (dog.right, dog.is_told, dog.nearest) == ([False, True, False], True, 0)
    assert (mother.right, mother.is_told) == ([False, False, True], False)
    singer, band = choice_lessons(kb, SONGS, gold_named(kb, SONGS), 32)
    assert (singer.entities, singer.right) == (("adele",), [True, False])
    assert band.rows[0]["is, before"] == band.rows[0]["of the kind"] == 1.0


def test_a_linker_that_is_wrong_about_a_name_may_be_right_about_the_phrase(loaded):
    kb = loaded(False).kb
    mistaken = [msgspec.structs.replace(link, entity="fiat") for link in gold_named(kb, SONGS)[:1]]
    (singer, band) = choice_lessons(kb, SONGS, mistaken, 32)
    assert (singer.entities, singer.right) == (("fiat",), [True, False])
    assert (band.entities, band.right, band.is_told) == ((), [True], True)


def test_what_stands_nearest():
    assert nearest_place(Span(10, 16), [Span(0, 5), Span(17, 20), None]) == 1
    assert nearest_place(Span(10, 16), [None, None]) == 0
    assert nearest_place(Span(10, 16), []) is None


@pytest.mark.parametrize(
    ("text", "surface", "expected"),
    [
        ("my favourite game is chess", "chess", {"after", "is, after", "is, after, first"}),
        ("chess is my favourite game", "chess", {"before", "is, before"}),
        ("I love chess. It's my favourite game", "chess", {"before", "points back"}),
        ("my favourite game, chess", "chess", {"after", "beside"}),
        ("my favourite game. Then chess", "chess", {"after"}),
        ("chess" + " x" * 400 + " my favourite game", "chess", {"far"}),
    ],
)
def test_what_speaks_for_an_antecedent(text, surface, expected):
    (phrase,) = find_phrases(text, default_model().ends)
    start = text.index(surface)
    one = Antecedent("chess", surface, 0, Span(start, start + len(surface)), "Chess")
    row = choice_rows(text, phrase, [one], has_names=False)[0]
    counted = {
        "score",
        "words after",
        "words before",
        "sentences after",
        "sentences before",
        "closer after",
        "closer before",
    }
    assert row.keys() - counted == expected


def test_kinds_are_read_from_types_and_the_first_sentence():
    kinds = kind_words(("Pop singers",), "Adele is a British vocalist of many colours. She lives in London.")
    assert {"singer", "vocalist", "color"} <= kinds
    assert "london" not in kinds
    phrase = PersonalPhrase(Span(0, 18), "my favorite colors")
    row = choice_rows("", phrase, [Antecedent("x", "x", 2, kinds=kinds)], has_names=True)
    assert row[0].keys() == {
        "score",
        "of the kind",
        "of the kind, earlier",
        "earlier",
        "turns back",
        "earlier, favourite",
    }
    assert row[1].keys() == {"none", "none, favourite", "none, a name inside"}
    assert row[0]["turns back"] == pytest.approx(log(3))


def test_a_logistic_regression_finds_the_odds():
    """Of rows with a bias alone, the weight is the logarithm of the odds."""
    rows = [{"bias": 1.0}] * 100
    weights = fit_named(rows, [True] * 80 + [False] * 20, pull=0.0001)
    assert weights["bias"] == pytest.approx(log(4), abs=1e-3)
    assert chance(weights, {"bias": 1.0}) == pytest.approx(0.8, abs=1e-3)


def test_a_logistic_regression_is_that_of_another_library():
    from sklearn.linear_model import LogisticRegression

    values = [[1.0, 0.5], [0.2, 1.5], [0.9, -0.5], [-1.0, 0.3], [0.1, 0.1], [-0.7, -1.2], [0.4, 0.8], [-0.2, 1.0]]
    right = [True, True, True, False, False, False, True, False]
    other = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10).fit(values, right).coef_[0]
    ours = fit_named([{"a": a, "b": b} for a, b in values], right, pull=1.0)
    assert [ours["a"], ours["b"]] == pytest.approx(list(other), abs=1e-3)


def test_rare_features_have_no_weight():
    weights = fit_named([{"a": 1.0}, {"a": 1.0, "once": 1.0}], [True, False], rarest=2)
    assert "once" not in weights


def test_what_was_learnt_is_known_and_the_same_each_time(loaded):
    linker = loaded(False)
    lessons = take_lessons([DOGS, SONGS], linker)
    model = fit_personal(lessons)
    assert model == fit_personal(take_lessons([DOGS, SONGS], linker))
    assert score_choices(model.choice, lessons.with_gold) == ChoiceScore(4, 3, 3, 3, 1)
    assert score_choices(None, lessons.with_gold) == ChoiceScore(4, 3, 4, 2, 0)  # Oslo is nearest to the dog
    report = cross_validated(lessons)
    assert (report.documents, report.phrases, report.with_gold.phrases) == (2, 4, 4)
    assert report == cross_validated(take_lessons([DOGS, SONGS], linker))


def test_the_weights_in_the_box_prefer_what_is_said_to_be_it():
    text = "My favourite singer is Adele, and I play chess."
    (phrase,) = find_phrases(text, default_model().ends)
    adele = Antecedent("adele", "Adele", 0, Span(23, 28), "Adele", kinds=frozenset({"singer"}))
    chess = Antecedent("chess", "chess", 0, Span(41, 46), "Chess", kinds=frozenset({"game"}))
    rows = choice_rows(text, phrase, [adele, chess], has_names=False)
    totals = [sum(default_model().choice.get(name, 0) * value for name, value in row.items()) for row in rows]
    assert exp(totals[0]) / sum(map(exp, totals)) > 0.9


def test_nothing_to_learn_from(loaded):
    linker = loaded(False)
    with pytest.raises(InputError, match="no personal mention to learn from"):
        take_lessons([talk("plain", ("ana", "I like chess."), gold=[(0, "chess", "Chess", False)])], linker)
    with pytest.raises(InputError, match="'text' has no turns"):
        take_lessons([Document("text", "my dog")], linker)


def test_weights_are_written_and_read(tmp_path, loaded, things):
    model = PersonalModel(ends={"bias": -1.5}, choice={"none": -5.0}, made={"by": "hand"})
    path = tmp_path / "new" / "weights.json"
    write_model(path, model)
    assert read_model(path) == model
    assert [one.name for one in path.parent.iterdir()] == ["weights.json"]
    linker = loaded(str(path))
    assert linker.personal is not None
    assert linker.personal.model == model
    turn = linker.conversation().add("Adele saw my dog", "ana")
    assert [link.entity for link in turn.links if link.mention.type == "personal"] == ["adele"]  # none never wins


def test_the_weights_in_the_box_say_where_they_come_from():
    made = default_model().made
    assert [file["name"] for file in made["data"]] == ["ConEL22_EL_Train.json", "ConEL22_PEMD_Train.json"]
    assert [file["name"] for file in made["held_out"]] == ["ConEL22_EL_Val.json"]
    assert made["command"].startswith("entlink train personal ")


def test_linking_with_personal_mentions_needs_no_numpy(things):
    import subprocess
    import sys

    script = (
        "import sys, entlink; talk = entlink.load(sys.argv[1], personal=True).conversation();"
        "print(*[link.entity for link in talk.add('My favourite singer is Adele', 'ana').links]);"
        "assert 'numpy' not in sys.modules"
    )
    command = [sys.executable, "-c", script, str(things)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["adele", "adele"]
