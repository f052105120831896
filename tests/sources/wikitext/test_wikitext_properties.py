"""What holds for any text at all."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.sources.wikitext import Site, Wikitext, normalise_title, parse
from entlink.sources.wikitext.blanks import words
from entlink.sources.wikitext.literals import has_reserved
from entlink.sources.wikitext.reader import reader_of
from entlink.sources.wikitext.seams import END, SEAM

SITE = Site()
PIECES = words(
    """
    [[ ]] [[a]] [[A|b]] [[A| [[A|b]]s [[A|]] [[File: [[File:a|thumb|b]] [[Category:a]] [[fr:a]] [[:fr:a]] [[#a]]
    [[Help:a|b]] {{ }} {{a|b}} {{{a|b}}} {{{ }}} {| |} |- || | ! !! |+ -{ }- -{zh:a;en:b}- { } [ ] [http://a
    [http://a] [http://a b] '' ''' ''''' ' <ref> </ref> <ref/> <!-- --> <nowiki> </nowiki> <nowiki/> <pre>
    </pre> <gallery> </gallery> <b> </b> <br> <div> <li> <math> </math> < > & &amp; &lt; &#91; &nbsp; __TOC__ __
    ~~~~ ---- == = * # : ; a B 1 é 漢 ـ . , ( )
    """
)
BLANKS = [" ", "  ", "\n", "\n\n", "\t", "\xa0", "\x85", "\r\n", "\0", "\x01", SEAM, END]
marked_texts = st.lists(st.sampled_from([*PIECES, *BLANKS]), max_size=30).map("".join)
plain_texts = st.lists(
    st.sampled_from(
        [*"aB1é漢.(", " ", "\n\n", "[[a]]", "[[A|b c]]", "[[x]]s", "[[a|", "]]", "[[", "[[Category:a]]", "[[File:a|"]
    ),
    max_size=30,
).map("".join)


def keep_first(name: str, arguments: Sequence[str]) -> str | None:
    return arguments[0] if len(arguments) else None


def check(page: Wikitext) -> None:
    for paragraph in page.paragraphs:
        assert paragraph.text == paragraph.text.strip(" ")
        assert "  " not in paragraph.text
        assert "\n" not in paragraph.text
        assert paragraph.links or any(character.isalnum() for character in paragraph.text)
        assert not has_reserved(paragraph.text)
        assert (paragraph.image is not None) == (paragraph.kind == "caption")
        end = 0
        for anchor in paragraph.links:
            assert end <= anchor.start < anchor.end <= len(paragraph.text)
            shown = paragraph.text[anchor.start : anchor.end]
            assert shown == shown.strip(" ")
            assert ":" in anchor.target or normalise_title(anchor.target, SITE) == anchor.target
            end = anchor.end


@given(marked_texts)
@settings(max_examples=400, deadline=None)
def test_any_markup_is_read(text: str):
    check(parse(text, SITE, keep_first))


@given(st.text(max_size=200))
@settings(deadline=None)
def test_any_text_is_read(text: str):
    check(parse(text, SITE, keep_first))


@given(st.one_of(plain_texts, marked_texts))
@settings(max_examples=400, deadline=None)
def test_a_plain_page_is_read_as_one_with_markup(text: str):
    plain = reader_of(SITE).read_plain(text)
    if plain is not None:
        assert plain == reader_of(SITE).read_marked(text, keep_first)


def test_a_page_of_links_alone_is_plain():
    assert reader_of(SITE).read_plain("A [[b]] & c's.\n\nThe [[D|e]]s [of] it.\n") is not None


@given(marked_texts)
@settings(deadline=None)
def test_what_was_read_before_does_not_matter(text: str):
    assert parse(text, SITE, keep_first) == parse(text, Site(), keep_first)


@given(st.text(max_size=60))
@settings(deadline=None)
def test_a_normal_title_stays_as_it_is(target: str):
    title = normalise_title(target, SITE)
    if title is not None:
        assert normalise_title(title, SITE) == title


# One for each kind of markup: links, pictures, braces, tables, quotes, tags, comments, references, variants, seams …
REPEATED = words(
    "[[a|[[b [[File:|[[a]] {{a| {{{{a}}b {| ''' <ref> <!-- &# -{a [http://a[[b]] __A [[a]]<ref/>s [[a'<b>'"
)


@pytest.mark.parametrize("piece", REPEATED)
def test_time_does_not_grow_with_the_square(piece: str):
    check(parse(piece * (200_000 // len(piece)), SITE, keep_first))


@pytest.mark.parametrize("text", ["[[a{}b|]]", "[[w{}\u3000:x|]]", "[[a|{}]]<ref/>s", "[[a]]{}<b>s"])
def test_time_does_not_grow_with_the_square_of_one_link(text: str):
    check(parse(text.format("_" * 200_000), SITE, keep_first))
    check(parse(text.format("a" * 200_000), SITE, keep_first))


@pytest.mark.parametrize(
    "opening, closing", [("{{a|", "}}"), ("{{{a|b", "}}}"), ("[[File:a|b", "]]"), ("{|\n|a", "\n|}\n")]
)
def test_nesting_may_be_deep(opening: str, closing: str):
    depth = 20_000
    check(parse(opening * depth + "x" + closing * depth, SITE, keep_first))


def test_what_templates_become_is_limited():
    page = parse("{{a|" * 60 + "x" + "}}" * 60, SITE, lambda _, arguments: arguments[0] * 2)
    assert sum(len(paragraph.text) for paragraph in page.paragraphs) <= 2_000_000


def test_lines_may_end_as_on_other_systems():
    page = parse("A\r\nb\r\n\r\nc", SITE, keep_first)
    assert [paragraph.text for paragraph in page.paragraphs] == ["A b", "c"]
