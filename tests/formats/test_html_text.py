"""HTML as a browser shows it."""

from __future__ import annotations

import pytest

from entlink.documents import Span
from entlink.formats.markup.html import read_html


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("", ""),
        ("plain", "plain"),
        ("New\n   <b>York</b> City", "New York City"),
        ("a <i> b </i> c", "a b c"),
        ("un<b>believ</b>able", "unbelievable"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<p>one<p>two", "one\n\ntwo"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("one<br><br>two", "one\n\ntwo"),
        ("<ul><li>a<li>b</ul>c", "a\n\nb\n\nc"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a\n\nb"),
        ("<pre>a\n  b</pre>c", "a\n  b\n\nc"),
        ("<H1>Big</H1>text", "Big\n\ntext"),
        ("a<wbr>b", "ab"),
        ('<img alt="a dog">x', "x"),
    ],
)
def test_text_and_breaks(html, shown):
    assert read_html(html).text == shown


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>if (a < b) x = '<p>y</p>'</script>",
        "<SCRIPT SRC=/a/>y</ScRiPt >",
        '<script src="x"/>',
        "<style>p { color: red }</style>",
        "<title>T &amp; <b>t</b></title>",
        "<noscript>turn it <b>on</b></noscript>",
        "<template>a<template>b</template>c<br></template>",
        "<template>a &amp; <p>b</p></template>",
        "<!-- a > b -- c -->",
        "<!-->",
        "<!--->",
        "<!doctype html>",
        "<?xml version='1.0'?>",
        "<![CDATA[x]]>",
        "<![odd[ x>",
        "</>",
        "</ b>",
        "<a href=\"x>y\" title='a>b' data-x=1>",
        "<a b = 'c>d'>",
    ],
)
def test_what_no_reader_sees_is_left_out(hidden):
    shown = read_html(f"one{hidden}two").text
    assert shown in ("onetwo", "one\n\ntwo")


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("1 < 2 & 3 > 2", "1 < 2 & 3 > 2"),
        ("a <", "a <"),
        ("a </", "a </"),
        ("AT&T &; &#; &#x; &#xg;", "AT&T &; &#; &#x; &#xg;"),
        ("a<b", "a"),
        ("a<b c='d>e", "a"),
        ("a<!-- b", "a"),
        ("a<script>b", "a"),
        ("a</p b='", "a"),
        ("</b>a</template></pre> b", "a\n\nb"),
        ("a &# b; <b>c</b> &# d; <i>e</i>", "a &# b; c &# d; e"),
    ],
)
def test_broken_html_is_read_as_browsers_do(html, shown):
    assert read_html(html).text == shown


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        ("&eacute;", "é"),
        ("&#233;", "é"),
        ("&#xE9;", "é"),
        ("&#0233", "é"),
        ("&eacute", "é"),
        ("&NotEqualTilde;", "\u2242\u0338"),
        ("&#128;", "€"),
        ("&#0;", "\ufffd"),
        ("&#xD800;", "\ufffd"),
        ("&#" + "9" * 5000 + ";", "\ufffd"),
    ],
)
def test_a_reference_is_mapped_as_a_whole(reference, shown):
    html = f"caf{reference} x"
    aligned = read_html(html)
    assert aligned.text == f"caf{shown} x"
    assert aligned.original(Span(3, 3 + len(shown))) == Span(3, 3 + len(reference))
    assert aligned.original(Span(0, 4)) == Span(0, 3 + len(reference))


def test_an_old_name_may_begin_a_longer_word():
    aligned = read_html("&copy2020 &notit; &hopeless;")
    assert aligned.text == "©2020 ¬it; &hopeless;"
    assert aligned.original(Span(1, 5)) == Span(5, 9)


def test_references_to_blanks_count_as_blanks():
    assert read_html("a &#32;&#10; b").text == "a b"
    assert read_html("New&nbsp;York").text == "New\xa0York"


def test_a_span_across_tags_covers_them():
    html = "<p>in <b>New</b>\n York</p>"
    aligned = read_html(html)
    start = aligned.text.index("New York")
    span = aligned.original(Span(start, start + 8))
    assert html[span.start : span.end] == "New</b>\n York"
