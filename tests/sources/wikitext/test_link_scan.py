"""Links in bulk: whatever the scan gives is what reading the page gives."""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import re
import time
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from entlink.sources.wikitext import Site, link_scan, parse
from entlink.sources.wikitext.blanks import words
from entlink.sources.wikitext.link_scan import LONGEST_KNOWN, scan_links

SITE = Site()
DUMPS = Path(__file__).resolve().parents[4] / "shared" / "data" / "mediawiki"
MOST_ARTICLES = 800
PIECES = words(
    """
    [[ ]] [[a]] [[A|b]] [[A| [[A|b]]s [[A|]] [[File: [[File:a|thumb|b]] [[Category:a]] [[fr:a]] [[:fr:a]] [[#a]]
    [[Help:a|b]] [[|a]] [[a#b|c]] [[A|$]] [[A|$ [[$]] [[a|b|c]] [[a_b]] [[a%20b]] [[a|''b'']] [[a|'''b]] [[a''b]]
    [[:a]] [[//a]] [[mailto:a|b]] [[news:a {{ }} {{a|b}} {| |} |- -{ -{a}- { } [ ] [http://a [http://a] [//a '' '''
    ''''' ' <ref> </ref> <!-- --> <nowiki> </nowiki> <b> </b> <br> < > & &amp; &#91; &nbsp; &eacute;
    __TOC__ __ ~~~~ ~~ ---- == = * # : ; a B 1 é É 漢 ไ ß ـ ² $ . , ( )
    """
)
BLANKS = [" ", "  ", "\n", "\n\n", "\t", "\xa0", "\r", "\r\n", "\0", "\x01"]
LINKED = words("[[a]] [[A|b]] [[a|$]] [[c|''d'']] [[ [ ] ]] ' '' ~~~ = ; : | * a B é 漢 ไ $ [//a [[:fr:a]] [[x|y]]")
marked_texts = st.lists(st.sampled_from([*PIECES, *BLANKS]), max_size=30).map("".join)
linked_texts = st.lists(st.sampled_from([*LINKED, " : ", *BLANKS]), max_size=20).map("".join)


def keep_first(name: str, arguments: Sequence[str]) -> str | None:
    return arguments[0] if len(arguments) else None


def read(text: str, site: Site = SITE) -> list[tuple[str, str]]:
    paragraphs = parse(text, site, keep_first).paragraphs
    return [
        (paragraph.text[link.start : link.end], link.target) for paragraph in paragraphs for link in paragraph.links
    ]


@given(st.one_of(linked_texts, marked_texts))
@settings(max_examples=700, deadline=None)
@example("[[a]]''b")
@example("[[a]]é''b")
@example("[''[a]]")
@example("[//x [[a]]]s")
@example("''= [[a]] =''")
@example("; [[A|$]] : b")
@example("; ]] [[a : b]]")
@example("[[a|b [c]]]")
@example("[[a\nb]]")
@example("{~~~~|}[[A|b]]")
@example("[[a]]a\x01a")
@example("[[a]]''\x01b")
@example("[[a\0|b]]")
def test_scanned_links_are_those_that_are_read(text: str):
    scanned = scan_links(text, SITE)
    if scanned is not None:
        assert scanned == read(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
@settings(max_examples=500, deadline=None)
def test_any_letters_may_follow_a_link(tail: str):
    text = f"x [[a]]{tail}"
    scanned = scan_links(text, SITE)
    if scanned is not None:
        assert scanned == read(text)


@pytest.mark.parametrize(
    "text, links",
    [
        ("A [[dog]] and [[cat|some cats]].", [("dog", "Dog"), ("some cats", "Cat")]),
        ("[[dog]]s, [[dog]]gy's, [[dog]]Like", [("dogs", "Dog"), ("doggy", "Dog"), ("dog", "Dog")]),
        ("[[chat]]éux, [[chat]]Éux, [[chat]]漢字", [("chatéux", "Chat"), ("chat", "Chat"), ("chat", "Chat")]),
        ("''[[dog]]'' and '''[[cat]]'''s", None),
        ("''[[dog]]'' and [[Film|''The film'']]", [("dog", "Dog"), ("The film", "Film")]),
        ("[[a b#c| x  y ]] [[a%20b]]", [("x y", "A b"), ("a%20b", "A b")]),
        ("[[:fr:chien]] [[#part]] [[a>b]] [[w:x]] [[dog]]", [("dog", "Dog")]),
        ("He said [that] [[dog]]s [bark [[[loud]]]", [("dogs", "Dog"), ("loud", "Loud")]),
        ("* [[a]]\n# [[b]]\n; [[c]] : [[d]]\n: [[e]]", [(name, name.upper()) for name in "abcde"]),
        ("[[Dollar|$]]\n\nIt costs [[Dollar|$]]5.", [("$", "Dollar"), ("$", "Dollar")]),
        ("== Title ==\n\n[[dog]]\n\na = b", [("dog", "Dog")]),
        ("No links at all.", []),
        ("", []),
    ],
)
def test_links(text: str, links: list[tuple[str, str]] | None):
    assert scan_links(text, SITE) == links


@pytest.mark.parametrize(
    "text",
    [
        "{{a}} [[b]]",
        "{|\n|[[a]]\n|}",
        "-{[[a]]}-",
        "<ref>[[a]]</ref>",
        "[[a]]<!-- b -->",
        "[[a]]&eacute;",
        "__NOTOC__ [[a]]",
        "== [[a]] ==",
        "[[Category:a]]",
        "[[File:a.png|thumb|b]]",
        "[[fr:a]]",
        "[http://a.example b] [[c]]",
        "[[a [[b]]",
        "[[a|b\nc]]",
    ],
)
def test_pages_to_be_read_with_care(text: str):
    assert scan_links(text, SITE) is None


def test_titles_are_those_of_the_site():
    site = Site(namespaces={10: "Vorlage"}, capital_links=False)
    assert scan_links("[[template:a|b]] [[dog]]", site) == [("b", "Vorlage:a"), ("dog", "dog")]


def test_what_is_remembered_of_links_is_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(link_scan, "MOST_KNOWN", 1500)
    site = Site()
    for number in range(0, 5000, 1000):
        links = scan_links("".join(f"[[a{each}]] " for each in range(number, number + 1000)), site)
        assert links == [(f"a{each}", f"A{each}") for each in range(number, number + 1000)]
    assert scan_links(f"[[a|{'b' * LONGEST_KNOWN}]]", site) == [("b" * LONGEST_KNOWN, "A")]
    known = vars(site)["wikitext_known_links"]
    assert 0 < len(known) <= 1500
    assert max(map(len, known)) <= LONGEST_KNOWN


@pytest.mark.parametrize("piece", ["[", "[[a| ", "[[a|$]]", "[[a]]''", "[[a]]é", "[['\n", "=\n"])
def test_time_does_not_grow_with_the_square(piece: str):
    text = piece * (400_000 // len(piece))
    started = time.process_time()
    scan_links(text, SITE)
    assert time.process_time() - started < 2


def texts_of(path: Path) -> list[str]:
    packed = {".bz2": bz2.decompress, ".gz": gzip.decompress}
    data = packed.get(path.suffix, bytes)(path.read_bytes())
    export = data.decode("utf16" if data.startswith(codecs.BOM_UTF16_LE) else "utf8").replace("\r\n", "\n")
    return [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", export)]


@pytest.mark.parametrize(
    "name",
    [
        "aawiki-20260101-pages-meta-current.xml.bz2",
        "bgwiki-latest-pages-articles-shortened.xml.bz2",
        "enwiki-20140102.tiny.xml.gz",
        "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
        "enwiki-table-markup.xml.bz2",
        "tinywiki-latest-pages-articles.xml",
    ],
)
def test_real_pages_and_their_paragraphs(name: str):
    if not (DUMPS / name).exists():
        pytest.skip(f"the real dumps are not at {DUMPS}")
    scanned = 0
    for text in texts_of(DUMPS / name):
        for piece in (text, *text.split("\n\n")):  # most pages have templates, most paragraphs have none
            links = scan_links(piece, SITE)
            if links is not None:
                scanned += len(links)
                assert links == read(piece)
    assert scanned > 0


def wikitexts(articles: Path) -> Iterator[str]:
    """The first articles, with the title of an entity written as its number, in the markup of a wiki."""
    with lzma.open(articles, "rt", encoding="utf8") as file:
        for line in islice(file, MOST_ARTICLES):
            yield "\n\n".join(map(with_links, json.loads(line)["paragraphs"]))


def with_links(paragraph: dict[str, Any]) -> str:
    text, end = paragraph["text"], 0
    pieces = []
    for start, stop, entity in sorted(paragraph["links"]):
        if start >= end:
            pieces += [text[end:start], f"[[{entity}|{text[start:stop]}]]"]
            end = stop
    return "".join(pieces) + text[end:]


def test_articles_of_a_wiki(schools: Path):
    pages = scanned = 0
    for text in wikitexts(schools / "articles.jsonl.xz"):
        links = scan_links(text, SITE)
        pages += 1
        if links is not None:
            scanned += 1
            assert links == read(text)
    assert scanned > 0.95 * pages
