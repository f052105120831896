"""Markdown as its rendering shows it."""

from __future__ import annotations

import pytest

from entlink.documents import Span
from entlink.formats.markup.markdown import read_markdown


def shown(text):
    return read_markdown(text).text


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("*a* _b_ **c** __d__ ***e*** ~~f~~", "a b c d e f"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("un*believ*able", "unbelievable"),
        ("**New _York_** City", "New York City"),
        ("*a **b* c", "*a *b c"),
        ("***a* b**", "a b"),
        ("**a*", "*a"),
        ("*a", "*a"),
        ("a*", "a*"),
        ("~a~ ~~~b", "~a~ ~~~b"),
        ("*foo**bar*", "foo**bar"),
        ("*[a*](u)", "*a*"),
        (r"\*a\* \[b\] \a \\", r"*a* [b] \a " + "\\"),
        ("R&amp;D &copy; &copy &nope;", "R&D © &copy &nope;"),
        ("a `New *York` b", "a\n\nb"),
        ("a ``x ` y`` b", "a\n\nb"),
        ("a `b", "a `b"),
        ("a <b>c</b> <br> d", "a c\nd"),
        ("a <!-- x --> b <!-- c", "a b <!-- c"),
        ("a <http://x.org/y> b <me@x.org> c", "a b c"),
        ("see http://x.org/a_b_c now", "see http://x.org/a_b_c now"),
        ("1 < 2 & 3", "1 < 2 & 3"),
        ("soft\nbreak", "soft break"),
        ("hard  \nbreak\\\nagain", "hard\nbreak\nagain"),
    ],
)
def test_inline(markdown, expected):
    assert shown(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("[New York](http://x)", "New York"),
        ('[a](<u v> "t") b', "a b"),
        ("[a](u 't\\'s') [b](v (t)) [c]()", "a b c"),
        ("[a](http://x/(y)_(z)) b", "a b"),
        ("[a](u v)", "[a](u v)"),
        ("[a](u", "[a](u"),
        ("[*a* **b**](u)", "a b"),
        ("[a [b] c](u)", "a [b] c"),
        ("[a [b](u) c](v)", "[a b c](v)"),
        ("![a dog](d.png) barks", "a dog barks"),
        ("[![badge](b.png)](u)", "badge"),
        ("![x [a](u)](v)", "x a"),
        ("[a][r] [r][] [R] [no] [a][no]\n\n[r]: http://x", "a r R [no] [a][no]"),
        ("[a]\n\n[A]: <u>\n  'title'\nrest", "a\n\nrest"),
        ("[a]: u\n[b]: v 'w'\n[a] [b]", "a b"),
        ("text\n[a]: u", "text [a]: u"),
        ("said[^1] so\n\n[^1]: The *note*.", "said so\n\nThe note."),
        ("said[^2]", "said[^2]"),
        ("](", "]("),
    ],
)
def test_links(markdown, expected):
    assert shown(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# One\n## Two ##\n### C# #\n#hash", "One\n\nTwo\n\nC#\n\n#hash"),
        ("#\n# #\nx", "x"),
        ("One\n===\nTwo\n---\nthree", "One\n\nTwo\n\nthree"),
        ("a\n\n***\n- - -\n___\n\nb", "a\n\nb"),
        ("a\n\n    code\n\nb", "a\n\nb"),
        ("a\n    not code", "a not code"),
        ("a\n```py\ncode\n\n~~~\n```\nb", "a\n\nb"),
        ("a\n~~~\ncode\n~~~~\nb", "a\n\nb"),
        ("a\n````\n```\n````\nb\n```\nopen", "a\n\nb"),
        ("> New\n> York\nlazy\n\nout", "New York lazy\n\nout"),
        ("> a\n> > b\n\nc", "a\n\nb\n\nc"),
        ("> ```\n> code\nout", "out"),
        ("> - a\n>   b\n> - c", "a b\n\nc"),
        ("- a\n- b\n  c\n\n  d\n    - e", "a\n\nb c\n\nd\n\ne"),
        ("- a\n\n      code\n- b", "a\n\nb"),
        ("1. a\n2. b\n10) c", "a\n\nb\n\nc"),
        ("in\n1984. was not a list", "in 1984. was not a list"),
        ("- [ ] to do\n- [x] done\n- [y] z", "to do\n\ndone\n\n[y] z"),
        ("-\ta\n\n\tb", "a\n\nb"),
        ("- ```\n  code\nout", "out"),
        ("| A | B |\n|---|:-:|\n| x\\|y | *z* |\n| only |\n\nafter", "A\n\nB\n\nx|y\n\nz\n\nonly\n\nafter"),
        ("p\nA | B\n--|--\nx | y | extra\n# h", "p\n\nA\n\nB\n\nx\n\ny\n\nh"),
        ("a | b\n---", "a | b"),
        ("a | b\n|---|", "a | b |---|"),
        ("<div>\n*raw* <b>x</b>\n</div>\n\n*md*", "*raw* x\n\nmd"),
        ("<script>\n\nx *y*\n</script>\nz", "z"),
        ("<!-- a\n\nb -->\nc", "c"),
        ("<?php x\n\n?>\nc\n\n<!DOCTYPE\nhtml>\nd", "c\n\nd"),
        ("> <div>a</div>", "a"),
        ("a\r\nb\r\n\r\nc\rd", "a b\n\nc d"),
    ],
)
def test_blocks(markdown, expected):
    assert shown(markdown) == expected


def test_spans_reach_over_what_does_not_show():
    markdown = "> in **New\n> York** &amp; [Ann Lee](http://x)"
    aligned = read_markdown(markdown)
    assert aligned.text == "in New York & Ann Lee"
    for visible, original in [("New York", "New\n> York"), ("&", "&amp;"), ("Ann Lee", "Ann Lee")]:
        start = aligned.text.index(visible)
        span = aligned.original(Span(start, start + len(visible)))
        assert markdown[span.start : span.end] == original


def test_nesting_is_bounded():
    assert shown("> " * 40 + "deep") == "> " * 8 + "deep"
