from __future__ import annotations

import bz2
import importlib.util
from collections import Counter
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "reproductions" / "wikipedia2vec_priors.py"


@pytest.fixture(scope="module")
def priors():
    spec = importlib.util.spec_from_file_location("wikipedia2vec_priors", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("[[gold]]", ("gold", "", "Gold")),
        ("[[Gold|the metal]]en", ("the metal", "en", "Gold")),
        ("[[gold_rush|[a] rush]]", ("[a] rush", "", "Gold rush")),
        ("[[Gold|a|b]]", ("a|b", "", "Gold")),
    ],
)
def test_links_are_found_as_they_are_written(priors, wikitext, expected):
    [link] = priors.written(f"Some {wikitext} here.")
    assert link[:3] == expected


@pytest.mark.parametrize(
    ("wikitext", "in_caption", "after_bracket"),
    [
        ("[[Gold]]", False, False),
        ("[[[Gold]]]", False, True),
        ("[[Image:Ore.jpg|thumb|Some [[Gold]] here]]", True, False),
        ("[[Image:Unclosed.jpg|thumb [[Image:Ore.jpg|thumb|[[Gold]]]]", True, False),
        ("[[Image:Ore.jpg|thumb|Ore]] [[Gold]]", False, False),
    ],
)
def test_captions_and_third_brackets_are_told(priors, wikitext, in_caption, after_bracket):
    [link] = [link for link in priors.written(wikitext) if link.target == "Gold"]
    assert (link.in_caption, link.after_bracket) == (in_caption, after_bracket)


def test_the_pages_of_one_title_are_told_apart(priors, tmp_path):
    dump = tmp_path / "dump.xml.bz2"
    dump.write_bytes(bz2.compress(_dump(("Ore", "[[Gold]]"), ("Gold", "[[Ore]]"), ("Ore", "[[Iron]]")).encode()))
    links = {link.target: link.is_last for link in priors.written_links(dump)}
    assert links == {"Gold": False, "Ore": True, "Iron": True}


def test_a_difference_that_the_effects_add_up_to_is_explained(priors):
    ours, theirs = Counter({("a", "A"): 3, ("b", "B"): 2}), Counter({("a", "A"): 1, ("b", "B"): 2})
    found = priors.compare(ours, theirs, {"one": Counter({("a", "A"): 3}), "other": Counter({("a", "A"): -1})})
    assert found.pairs == {"equal": 1, "one; other": 1}
    assert found.links == {"equal": 2, "one; other": 2}
    assert not found.unexplained


def test_a_difference_that_the_effects_do_not_add_up_to_is_told(priors):
    found = priors.compare(Counter({("a", "A"): 3}), Counter({("a", "A"): 1}), {"one": Counter({("a", "A"): 1})})
    assert found.unexplained == [(("a", "A"), 3, 1)]


def test_an_effect_without_a_difference_is_told(priors):
    same = Counter({("a", "A"): 3})
    assert priors.compare(same, same, {"one": Counter({("a", "A"): 1})}).unexplained


def test_every_way_in_which_the_peer_counts_differently_is_named(priors):
    links = [
        priors.Written("U.S.", "", "United States"),
        priors.Written("cancer", "s", "Cancer"),
        priors.Written("Nobody", "", "Nobody"),
        priors.Written("Gold", "", "Gold", is_last=False),
        priors.Written("gold", "", "Gold"),
        priors.Written("ore", "", "Ore", in_caption=True),
        priors.Written("tin", "", "Tin", after_bracket=True),
    ]
    ours = Counter({("U.S.", "United States"): 1, ("cancers", "Cancer"): 1, ("Gold", "Gold"): 1, ("gold", "Gold"): 1})
    ours["ore", "Ore"], ours["tin", "Tin"] = 1, 1
    rows = [
        {"mention": "u.s.", "entity": "United States", "links": 1, "stored": 0},
        {"mention": "cancer", "entity": "Cancer", "links": 1, "stored": 1},
        {"mention": "nobody", "entity": "Nobody", "links": 1, "stored": 1},
        {"mention": "gold", "entity": "Gold", "links": 1, "stored": 1},
    ]
    found = priors.beside_peer(ours, rows, links, {"United States", "Cancer", "Gold", "Ore", "Tin"})
    assert not found.unexplained
    assert found.pairs == {
        "a mention its tokeniser finds in no text": 1,
        "a link to a page that is not there": 1,
        "the first of two pages with one title": 1,
        "a link in the caption of a picture": 1,
        "a third bracket before the link": 1,
        "letters right after the link": 2,
    }


def test_priors_are_compared_within_a_mention(priors):
    ours = Counter({("a", "A"): 3, ("a", "B"): 1, ("b", "B"): 5})
    theirs = Counter({("a", "A"): 1, ("a", "B"): 1, ("b", "B"): 2})
    assert priors.priors(ours, theirs) == {"priors": 3, "equal": 1, "largest": 0.25}


def _dump(*pages):
    written = "".join(
        f"<page><title>{title}</title><ns>0</ns><id>{number}</id><revision><id>{number}</id>"
        f"<model>wikitext</model><text>{text}</text></revision></page>"
        for number, (title, text) in enumerate(pages, 1)
    )
    namespaces = '<siteinfo><dbname>toy</dbname><namespaces><namespace key="0" /></namespaces></siteinfo>'
    return f'<mediawiki version="0.11" xml:lang="en">{namespaces}{written}</mediawiki>'
