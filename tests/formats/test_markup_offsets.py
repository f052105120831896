"""What holds for any input in any markup: no error, exact offsets, linear time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.documents import Span
from entlink.formats.markup.reading import guess_markup, read_markup

MARKUPS = ("plain", "markdown", "html")
SIGNS = [
    *(
        "*",
        "**",
        "_",
        "~~",
        "`",
        "``",
        "[",
        "]",
        "![",
        "](u)",
        "](",
        "[r]",
        "\n[r]: u\n",
        "\\",
        "&amp;",
        "&#",
    ),
    *("&", "<", ">", "<b>", "</p>", "<br>", "<!--", "-->", "<script>", "<pre>", "<div>\n", "<template>"),
    *(
        "> ",
        "- ",
        "1. ",
        "# ",
        "|",
        "|-|\n",
        "===",
        "---",
        "```\n",
        "    ",
        "\t",
        "\r\n",
        "\n",
        "\n\n",
        "  \n",
    ),
    *(
        "[^1]",
        "[^1]: ",
        "a",
        "New York",
        "é",
        "中",
        "\U0001f600",
        "\ud800",
        "\x00",
        "\xa0",
        '"',
        "'",
        "=",
        "(",
    ),
]
marked_up = st.lists(st.sampled_from(SIGNS), max_size=40).map("".join) | st.text(st.characters(), max_size=60)


def check_alignment(original, aligned):
    at = place = 0
    for run in aligned.runs():
        assert run.visible.start == at < run.visible.end or not aligned.text
        assert place <= run.original.start <= run.original.end <= len(original)
        if run.copied:
            copied = original[run.original.start : run.original.end]
            assert copied == aligned.text[run.visible.start : run.visible.end]
        at, place = run.visible.end, run.original.end
    assert at == len(aligned.text)


@given(marked_up, st.sampled_from(MARKUPS))
@settings(max_examples=600, deadline=None)
def test_offsets_are_exact_for_any_text(original, markup):
    check_alignment(original, read_markup(original, markup))


@given(marked_up, st.sampled_from(MARKUPS), st.data())
@settings(max_examples=300, deadline=None)
def test_spans_map_in_order_and_inside(original, markup, data):
    aligned = read_markup(original, markup)
    places = st.integers(0, len(aligned.text))
    first, second, third = sorted((data.draw(places), data.draw(places), data.draw(places)))
    left, right = aligned.original(Span(first, second)), aligned.original(Span(second, third))
    whole = aligned.original(Span(first, third))
    assert 0 <= left.start <= left.end <= len(original)
    assert 0 <= right.start <= right.end <= len(original)
    assert left.start <= right.start
    assert whole.start == (left.start if first < second else right.start)
    assert whole.end == (right.end if second < third else left.end)


@given(st.text(st.characters()))
def test_plain_is_the_identity(text):
    aligned = read_markup(text, "plain")
    assert aligned.text == text
    assert aligned.original(Span(0, len(text))) == Span(0, len(text))


@given(st.text(st.characters(categories=["L"]), min_size=1), st.sampled_from(("markdown", "html")))
def test_words_without_markup_are_shown_as_they_are(word, markup):
    assert read_markup(f"{word} {word}", markup).text == f"{word} {word}"


MEGABYTE = 1 << 20


@pytest.mark.parametrize("markup", ["markdown", "html"])
@pytest.mark.parametrize("sign", ["[", "*", "`", "<", "&"])
def test_a_megabyte_of_one_sign_is_shown_as_it_is(sign, markup):
    rule_or_fence = markup == "markdown" and sign in "*`"
    assert read_markup(sign * MEGABYTE, markup).text == ("" if rule_or_fence else sign * MEGABYTE)


# Each of these takes minutes where one unit of it costs time in proportion to the whole.
@pytest.mark.parametrize(
    ("unit", "markup"),
    [
        *((unit, "html") for unit in ("<a", "</", "<!--a>", "&#", '<a b="', "<template>", "<pre>", "<script>")),
        *((unit, "markdown") for unit in ("[a](", "![", "*a_ ", "`a``", "<a b='", "[a][b", "<!--", "> ", "- ")),
    ],
)
def test_long_broken_input_is_read_with_exact_offsets(unit, markup):
    text = "start " + unit * (200_000 // len(unit))
    aligned = read_markup(text, markup)
    assert aligned.text.startswith("start")
    check_alignment(text, aligned)


def test_brackets_and_emphasis_nested_deep_are_resolved():
    assert read_markup("[" * 50_000 + "a" + "](u)" * 50_000, "markdown").text.count("a") == 1
    nested = "**a *b " * 10_000 + "c* d** " * 10_000
    assert read_markup(nested, "markdown").text == ("a b " * 10_000 + "c d " * 10_000).strip()


@pytest.mark.parametrize(
    ("name", "markup"),
    [
        ("notes.md", "markdown"),
        ("a/b.MARKDOWN", "markdown"),
        ("page.html", "html"),
        ("page.htm", "html"),
        ("page.xhtml", "html"),
        ("text.txt", "plain"),
        ("md", "plain"),
        ("", "plain"),
    ],
)
def test_a_name_tells_the_markup(name, markup):
    assert guess_markup(name) == markup
