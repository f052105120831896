"""The worked example of docs/names.md: its knowledge base is built, and every number in its tables is checked."""

from __future__ import annotations

import pytest

import entlink
from entlink.kb.names.aliases import PriorWeights
from entlink.kb.store import edits
from entlink.mentions.dictionary import DictionaryDetector
from fenced import blocks, page, table

MEANINGS = ("surface", "entity", "links", "own naming", "support", "P(e|m)")
DETECTION = ("surface", "tier", "linked", "unlinked", "P(link|m)", "found in texts")
NEWCOMER = ("surface", "entity", "links", "weight", "own naming", "support", "P(e|m)")


@pytest.fixture
def mercury(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (building,) = [block for block in blocks(page("names"), "python") if "PAGES" in block.text]
    exec(building.text, {})
    return tmp_path / "mercury.kb"


def test_what_surfaces_mean(mercury):
    rows = table(page("names"), *MEANINGS)
    with entlink.KnowledgeBase.open(mercury) as kb:
        for surface in {row["surface"] for row in rows}:
            shown = [(row["entity"], int(row["support"]), row["P(e|m)"]) for row in rows if row["surface"] == surface]
            counted = [(one.entity, one.support, f"{one.probability:.3f}") for one in kb.aliases(surface)]
            assert shown == counted
    for row in rows:
        assert int(row["links"]) + int(row["own naming"]) == int(row["support"])


def test_links_are_counted_as_the_page_says(mercury):
    weightless = PriorWeights(0, 0, 0)
    rows = table(page("names"), *MEANINGS)
    with entlink.KnowledgeBase.open(mercury, weights=weightless) as kb:
        for row in rows:
            support = {one.entity: one.support for one in kb.aliases(row["surface"])}
            assert support[row["entity"]] == int(row["links"])


def test_whether_surfaces_are_names(mercury):
    with entlink.KnowledgeBase.open(mercury) as kb:
        detector = DictionaryDetector(kb)
        for row in table(page("names"), *DETECTION):
            meaning = kb.meaning(row["surface"])
            assert meaning.tier.name.lower() == row["tier"]
            assert (meaning.linked, meaning.unlinked) == (int(row["linked"]), int(row["unlinked"]))
            assert f"{meaning.link_probability():.3f}" == row["P(link|m)"]
            assert (detector.verdict(row["surface"]).reason is None) == (row["found in texts"] == "yes")


def test_a_newcomer_gets_the_mean_weight(mercury):
    (row,) = table(page("names"), *NEWCOMER)
    edits.add(mercury, [entlink.Entity(row["entity"], "Mercury (car)")])
    with entlink.KnowledgeBase.open(mercury) as kb:
        (new,) = [one for one in kb.aliases(row["surface"]) if one.entity == row["entity"]]
    assert (new.support, f"{new.probability:.3f}") == (int(row["support"]), row["P(e|m)"])
    assert int(row["links"]) + int(row["weight"]) + int(row["own naming"]) == new.support
