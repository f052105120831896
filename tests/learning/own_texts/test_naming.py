"""Which names are looked at where nothing is linked: entities whose texts name back the texts that name them."""

from __future__ import annotations

import re

import pytest

from adapt_runs import quiet
from entlink.documents import Document
from entlink.learning.adapt.detector import (
    COUNTS_FILE,
    Page,
    adapted_detector,
    chosen_by_links,
    chosen_by_names,
    f1,
    linking_page,
)
from entlink.learning.adapt.state import AdaptOptions
from entlink.learning.own_texts.naming import Namings
from entlink.linking.config import make_stage
from entlink.mentions.named_back import read_named_back
from knowledge_bases import article, make_kb

ALL_WORDS = {"name": "dictionary", "common": 10.0}
ISLANDS = [
    f"{first} {last}"
    for first in ("Amber", "Birch", "Coral", "Dune", "Eider", "Flint", "Gull")
    for last in ("Cay", "Holm", "Isle", "Key", "Skerry", "Tor", "Ness", "Rock")
]
WITH_REEFS = ISLANDS[::4]


def rows(*, linked: bool = False):
    """Islands that name their neighbours, a reef that names the islands that name it, and water that names none."""
    made = []
    for number, name in enumerate(ISLANDS):
        beside = ISLANDS[(number + 1) % len(ISLANDS)], ISLANDS[number - 1]
        shown = [f"[[{one}|{one}]]" if linked else one for one in beside]
        reef = "Around it lies a reef." if name in WITH_REEFS else ""
        text = f"{name} is land in the water between {shown[0]} and {shown[1]}. The water is deep. {reef}"
        made.append(article(name, name, text))
    made.append(article("reef", "Reef", f"A reef lies under the sea near {', '.join(WITH_REEFS)} and others."))
    made.append(article("water", "Water", "Water is wet, and water is what one drinks; the word is old and plain."))
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("islands"), rows(), "islands", descriptions="full")


@pytest.fixture
def kb(folder, opened):
    return opened(folder)


@pytest.fixture
def namings(kb):
    found = Namings(kb, make_stage("detector", dict(ALL_WORDS), kb))
    found.read(1_000, 0, quiet, 60.0)
    return found


def counted_by_hand(kb, without=()):
    """The same by searching every text for every title."""
    texts = {one.id: (one.title.lower(), one.description.lower()) for one in kb}
    names = {
        page: {id for id, (title, _) in texts.items() if id != page and re.search(rf"\b{title}s?\b", text)}
        for page, (_, text) in texts.items()
    }
    pages = set(texts).difference(without)
    counts = {
        id: (sum(id in names[page] for page in pages), sum(id in names[page] and page in names[id] for page in pages))
        for id in texts
    }
    return {id: told for id, told in counts.items() if told[0] >= 5}


def test_counts_are_those_of_a_search_for_every_title(kb, namings):
    assert namings.counts() == counted_by_hand(kb)
    assert namings.counts()["water"] == (len(ISLANDS), 0)
    assert namings.counts()["reef"] == (len(WITH_REEFS), len(WITH_REEFS))
    left_out = WITH_REEFS[:3]
    assert namings.counts({kb.key(one) for one in left_out}) == counted_by_hand(kb, left_out)


def test_texts_that_were_not_drawn_are_read_if_many_name_them(kb):
    some = Namings(kb, make_stage("detector", dict(ALL_WORDS), kb))
    some.read(30, 3, quiet, 60.0)
    assert len(some.pages) == 30
    drawn = {kb.key("reef"), kb.key("water")}.intersection(some.pages)
    assert len(drawn) < 2  # by this seed, at least one is named only
    named, back = some.counts()["water"]
    assert back == 0
    assert named == len(some.pages) - len(drawn)


def test_without_time_nothing_is_read(kb):
    some = Namings(kb, make_stage("detector", dict(ALL_WORDS), kb))
    some.read(1_000, 0, quiet, -1.0)
    assert some.pages == []
    assert some.counts() == {}


def test_words_of_every_text_are_left_out_and_topics_are_not(kb, namings, tmp_path):
    found = chosen_by_names(kb, ALL_WORDS, namings, tmp_path / COUNTS_FILE, quiet)
    assert found.before < found.after == 1.0
    counts = read_named_back(tmp_path / COUNTS_FILE)
    assert counts.share("water") < found.threshold < counts.share("reef")
    settings = {**ALL_WORDS, "named_back": str(tmp_path / COUNTS_FILE), "min_named_back": found.threshold}
    detector = make_stage("detector", settings, kb)
    text = "The water, the reef and the reefs off Amber Cay"
    (mentions,) = detector.detect([Document("new", text)])
    assert [one.text for one in mentions] == ["reef", "reefs", "Amber Cay"]


def test_the_stage_changes_the_detector_if_it_helps(kb, tmp_path):
    found, detector = adapted_detector(kb, ALL_WORDS, (set(), set()), tmp_path, AdaptOptions(), quiet)
    assert found.kept
    assert detector == {
        **ALL_WORDS,
        "named_back": f"./{COUNTS_FILE}",
        "min_named_back": found.figures["threshold"],
    }
    usual = {"name": "dictionary"}  # which takes "water" for a common word itself
    found, detector = adapted_detector(kb, usual, (set(), set()), tmp_path, AdaptOptions(), quiet)
    assert (found.kept, detector) == (False, usual)
    assert found.note.endswith("left out")
    assert not (tmp_path / COUNTS_FILE).exists()


def test_texts_that_do_not_name_each_other_tell_nothing(tmp_path, opened):
    alone = [article(name, name, f"{name} is land in the sea, far from all others there.") for name in ISLANDS]
    kb = opened(make_kb(tmp_path, alone, "alone", descriptions="full"))
    found, detector = adapted_detector(kb, ALL_WORDS, (set(), set()), tmp_path, AdaptOptions(), quiet)
    assert found.note == "left alone: too few pages tell which names are linked"
    assert detector == ALL_WORDS


def test_links_of_one_page_alone_do_not_make_its_names_known(tmp_path, opened):
    made = rows(linked=True)
    only = article(
        "only", "Only", "Here [[water|wetness]] and [[Amber Cay|Amber Cay]] are linked, there only one is."
    )
    kb = opened(make_kb(tmp_path, [*made, only], "linked", descriptions="full"))
    page = linking_page(kb, "only")
    assert page.linked == {"amber cay"}
    assert "wetness" in page.ignored
    assert (
        f1(kb, {"name": "dictionary"}, [Page(Document("new", "wetness"), frozenset({"wetness"}), frozenset())]) == 1
    )
    assert linking_page(kb, ISLANDS[0]).linked == {ISLANDS[1].lower(), ISLANDS[-1].lower()}
    assert linking_page(kb, "nobody") is None
    assert chosen_by_links(kb, {"name": "dictionary"}, ["only"], ISLANDS[:9], 0, quiet).after == 1.0
    assert chosen_by_links(kb, {"name": "dictionary"}, ["reef"], ISLANDS[:9], 0, quiet) is None  # it links nothing
