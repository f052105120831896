"""Titles: what a link target names."""

from __future__ import annotations

import pytest

from entlink.sources.wikitext import Site, normalise_title

GERMAN = Site(
    name="dewiki", language="de", namespaces={0: "", 4: "Wikipedia", 6: "Datei", 14: "Kategorie", 100: "Portal"}
)


@pytest.mark.parametrize(
    ("target", "title"),
    [
        ("lindau", "Lindau"),
        (" Lindau_(Harz) ", "Lindau (Harz)"),
        ("Lake__of \t Constance".replace("\t", "_"), "Lake of Constance"),
        ("Lindau#History", "Lindau"),
        ("Lindau&nbsp;town", "Lindau town"),
        ("Brown &amp; Sons", "Brown & Sons"),
        ("Caf%C3%A9", "Café"),
        ("100% wool", "100% wool"),
        (":Category:towns", "Category:Towns"),
        ("category : towns", "Category:Towns"),
        ("IMAGE:a.jpg", "File:A.jpg"),
        ("user_talk:anna", "User talk:Anna"),
        ("\u200eLindau", "Lindau"),
        ("Lindau\u3000town", "Lindau town"),
        ("ßa", "ßa"),
        ("Lindau: the game", "Lindau: the game"),
        ("Q&amp;A", "Q&A"),
        ("a" * 255, "A" + "a" * 254),
    ],
)
def test_title(target: str, title: str):
    assert normalise_title(target, Site()) == title


@pytest.mark.parametrize(
    "target",
    [
        *("", " ", "#History", ":", "Help:"),
        *("a[b", "a]b", "a{b", "a}b", "a|b", "a<b", "a>b", "a\x07b", "a\x7f", "a\nb", "a&#91;b", "%5B", "%FF"),
        "a" * 256,
        "ä" * 128,
        *("fr:Paris", ":fr:Paris", "wikt:boat"),
    ],
)
def test_no_title(target: str):
    assert normalise_title(target, Site()) is None


@pytest.mark.parametrize(
    ("target", "title"),
    [
        ("image:a.jpg", "Datei:A.jpg"),
        ("kategorie:ort", "Kategorie:Ort"),
        ("Project:ziele", "Wikipedia:Ziele"),
        ("portal:technik", "Portal:Technik"),
    ],
)
def test_a_namespace_is_called_as_the_site_calls_it(target: str, title: str):
    assert normalise_title(target, GERMAN) == title


def test_where_capitals_matter():
    site = Site(capital_links=False)
    assert normalise_title("apple", site) == "apple"
    assert normalise_title("help:apple", site) == "Help:apple"
