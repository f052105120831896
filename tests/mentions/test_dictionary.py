from __future__ import annotations

import pytest

from entlink import build, load
from entlink.documents import Document
from entlink.interfaces import Reason
from entlink.kb.store.edits import block
from entlink.mentions.dictionary import DictionaryDetector, is_acronym, is_broken
from entlink.testing import check_detector
from knowledge_bases import article, make_kb


def found(detector, text: str) -> list[str]:
    (mentions,) = detector.detect([Document("d", text)])
    assert all(text[one.span.start : one.span.end] == one.text for one in mentions)
    return [mention.text for mention in mentions]


@pytest.fixture
def detector(world):
    return DictionaryDetector(world)


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Mercury is near the Sun.", ["Mercury", "Sun"]),
        ("I live in New York City, not in York", ["New York City", "York"]),
        ("NEW YORK CITY", ["NEW YORK CITY"]),
        ("Suns and Yorks", ["Suns", "Yorks"]),
        ("北京在中国", ["北京"]),
        ("他在北京市住", ["北京市"]),
        ("Yorkshire and Mercurysun", []),
        ("Mer cury", []),
        ("", []),
        ("no name at all", []),
        ("in New\nYork", ["New\nYork"]),
        ("They stood united. States fell.", []),
        ("New\n\nYork", ["York"]),
    ],
)
def test_names_in_a_text(detector, text, mentions):
    assert found(detector, text) == mentions


def test_it_keeps_what_a_detector_promises(detector):
    check_detector(detector, [Document("a", "Mercury and New York City"), Document("b", "北京 Sun")])


def test_scores_are_link_probabilities(detector, world):
    (mentions,) = detector.detect([Document("d", "Mercury")])
    assert mentions[0].score == world.meaning("Mercury").link_probability() == 0.8


def test_rarely_linked_names_are_left_alone(tmp_path, opened):
    rows = [article("w", "Water", "[[w|water]] " + "water " * 60), article("o", "Oil", "")]
    kb = opened(make_kb(tmp_path, rows))
    assert found(DictionaryDetector(kb), "oil on water") == ["oil"]
    assert found(DictionaryDetector(kb, min_link_probability=0.01), "oil on water") == ["oil", "water"]
    verdict = DictionaryDetector(kb).verdict("water")
    assert verdict.reason is Reason.RARELY_LINKED
    assert verdict.value == pytest.approx(1 / 61)


def test_names_shorter_than_wanted_are_left_alone(tmp_path, opened):
    kb = opened(make_kb(tmp_path, [article("republic", "华", ""), article("city", "北京", "")]))
    detector = DictionaryDetector(kb, shortest=2)
    assert found(DictionaryDetector(kb), "北京在华北。") == ["北京", "华"]
    assert found(detector, "北京在华北。") == ["北京"]
    assert detector.verdict("华").reason is Reason.SHORT


def test_common_words_where_nothing_is_linked(tmp_path, opened):
    texts = ["a kettle " * 3 + "Heron 日本 " * 3] * 10
    rows = [article("k", "Kettle", *texts), article("h", "Heron", ""), article("j", "日本", "")]
    kb = opened(make_kb(tmp_path, rows))
    detector = DictionaryDetector(kb)
    assert found(detector, "The kettle of Heron") == ["Heron"]
    assert found(detector, "他在日本") == ["日本"]  # no script without case has words in lower case
    assert detector.verdict("kettle").reason is Reason.COMMON_WORD
    assert found(DictionaryDetector(kb, common=10.0), "The kettle of Heron") == ["kettle", "Heron"]


def test_an_acronym_must_be_written_as_one(world):
    assert found(DictionaryDetector(world), "the US and us") == ["US"]
    assert found(DictionaryDetector(world, case="fold", min_link_probability=0), "tell us") == ["us"]


def test_case_policies(world):
    text = "VENUS, Venus and venus"
    assert found(DictionaryDetector(world, case="smart"), text) == ["VENUS", "Venus", "venus"]
    assert found(DictionaryDetector(world, case="fold"), text) == ["VENUS", "Venus", "venus"]
    assert found(DictionaryDetector(world, case="exact"), text) == ["Venus"]


def test_plurals_can_be_left_out(world):
    assert found(DictionaryDetector(world, plurals=False), "Suns and the Sun") == ["Sun"]


def test_names_of_no_entity_of_the_date(world):
    with world.as_of("2000-01-01") as old:
        detector = DictionaryDetector(old)
        assert found(detector, "Swaziland, now Eswatini") == ["Swaziland"]
        assert detector.verdict("Eswatini").reason is Reason.NO_MEANING
    assert found(DictionaryDetector(world), "Swaziland, now Eswatini")[-1] == "Eswatini"


def test_blocked_names(own_world, opened):
    block(own_world, "Venus")
    assert DictionaryDetector(opened(own_world)).verdict("Venus").reason is Reason.BLOCKED


def test_a_full_cache_starts_anew(detector, monkeypatch):
    monkeypatch.setattr("entlink.mentions.dictionary._CACHED_VERDICTS", 0)
    assert [found(detector, "Venus and the Sun") for _ in range(3)] == [["Venus", "Sun"]] * 3


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("US", True),
        ("U.S.", True),
        ("NATO", True),
        ("A", False),
        ("Us", False),
        ("UNICEF2", True),
        ("ALPHABET", False),
    ],
)
def test_acronyms(form, expected):
    assert is_acronym(form) is expected


@pytest.mark.parametrize(
    ("surface", "expected"),
    [
        ("New York", False),
        ("St. Louis", False),
        ("J. R. R. Tolkien", False),
        ("long. York", True),
        ("New\n\nYork", True),
        ("New\n \t\nYork", True),
        ("New\nYork", False),
        ("said: York", True),
        ("京。北", True),
    ],
)
def test_names_across_the_end_of_a_sentence(surface, expected):
    assert is_broken(surface, exact=False) is expected


def test_a_name_written_with_such_an_end_is_whole():
    assert not is_broken("Help! I Need", exact=True)
    assert is_broken("Help!\n\nI Need", exact=True)


def test_a_name_ends_with_the_signs_it_is_written_with(tmp_path):
    rows = '{"id": "us", "title": "U.S."}\n{"id": "y", "title": "Yahoo!"}\n{"id": "m", "title": "Mercury (planet)"}\n'
    (tmp_path / "names.jsonl").write_text(rows, encoding="utf8")
    build([tmp_path / "names.jsonl"], tmp_path / "names.kb")
    linker = load(tmp_path / "names.kb", config="lexical")
    text = "The U.S. owns Yahoo! and (the U.S) Mercury (planet). Yahoo. Mercury!"
    found = [link.mention.text for link in linker.link(text).links]
    assert found == ["U.S.", "Yahoo!", "U.S", "Mercury (planet)", "Yahoo", "Mercury"]
    assert [one.text for one in linker.explain(text).spans if one.outcome == "linked"] == found
