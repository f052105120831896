"""The links of a Markdown text: where they lead, and where their labels show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Span
from entlink.formats.markup.aligned import Aligned
from entlink.formats.markup.markdown import read_markdown
from entlink.formats.markup.markdown_inline import FoundLink


def shown(text: str) -> list[tuple[str, str]]:
    links: list[FoundLink] = []
    aligned = read_markdown(text, links)
    spans = [aligned.visible(Span(link.start, link.end)) for link in links]
    return [(aligned.text[span.start : span.end], link.target) for span, link in zip(spans, links, strict=True)]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("See [Yoda](http://x.y/Yoda).", [("Yoda", "http://x.y/Yoda")]),
        ('a **[b *c*](http://d "e")** f', [("b c", "http://d")]),
        ("[a](<http://b c>)", [("a", "http://b c")]),
        ("[a](http://b/c_(d))", [("a", "http://b/c_(d)")]),
        ("[a][one] and [two]\n\n[one]: http://1\n[two]: <http://2> 'b'", [("a", "http://1"), ("two", "http://2")]),
        ("<http://auto.link/x> text", [("", "http://auto.link/x")]),
        ("> [a](b)\n> c\n\n- [d](e)", [("a", "b"), ("d", "e")]),
        ("| h |\n|---|\n| [a](b) |\n", [("a", "b")]),
        ("![a](b)", []),
        ("`[a](b)` and\n\n    [c](d)\n\n```\n[e](f)\n```", []),
        ("[a]\\(b) [](c)", []),
    ],
)
def test_links_and_what_shows_of_them(text, links):
    assert shown(text) == links


def test_the_text_is_the_same_whether_links_are_asked_for():
    text = "One [two](x) *three* <http://four> [five][6]\n\n[6]: y"
    assert read_markdown(text, []).text == read_markdown(text).text


@given(st.text(alphabet="ab *_[]()<>&;`\n!~\\", max_size=60))
def test_what_shows_of_the_original_is_what_stands_for_it(text):
    aligned = read_markdown(text)
    for at in range(len(aligned.text)):
        place = aligned.original(Span(at, at + 1))
        visible = aligned.visible(place)
        assert visible.start <= at < visible.end


@given(st.text(max_size=20), st.integers(-3, 25), st.integers(0, 25))
def test_without_markup_a_span_shows_as_it_is(text, start, length):
    visible = Aligned(text).visible(Span(start, start + length))
    assert text[visible.start : visible.end] == text[max(start, 0) : max(start + length, 0)]
