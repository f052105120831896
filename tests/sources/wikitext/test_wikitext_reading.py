"""How pages are read: what the expander is told, and what is kept of a page."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from entlink.sources.page import Anchor, Paragraph
from entlink.sources.wikitext import Site, parse
from entlink.sources.wikitext.arguments import Arguments
from entlink.sources.wikitext.links import MOST_KNOWN, Links, pipe_trick, trail
from entlink.sources.wikitext.pictures import is_option
from entlink.sources.wikitext.titles import Titles


def calls(text: str) -> list[tuple[str, list[str]]]:
    told: list[tuple[str, list[str]]] = []

    def expand(name: str, arguments: Sequence[str]) -> str | None:
        told.append((name, list(arguments)))
        return f"<{name}>"

    parse(text, Site(), expand)
    return told


def test_the_expander_is_told_names_and_arguments():
    assert calls("{{ one_two |a| b = c }}") == [("One two", ["a", " b = c "])]


def test_the_innermost_is_expanded_first():
    assert calls("{{a|x{{b|y}}|[[c|d]]}}") == [("B", ["y"]), ("A", ["x<B>", "[[c|d]]"])]


def test_a_template_without_arguments_has_none():
    assert calls("{{a}}{{b|}}") == [("A", []), ("B", [""])]


def test_a_function_is_told_by_its_sign():
    assert calls("{{#if: x | y }}{{ #SWITCH:a|b=c}}") == [("#if", [" x ", " y "]), ("#switch", ["a", "b=c"])]


def test_references_are_not_expanded():
    assert calls("a<ref>{{cite}}</ref>") == []


def test_the_default_rules_expand_what_carries_text():
    page = parse("It is {{nowrap|[[far]] away}}.")
    assert page.paragraphs == (Paragraph("It is far away.", (Anchor(6, 9, "Far"),)),)
    assert page.templates == {"Nowrap"}


def test_apostrophes_that_templates_become_are_no_markup():
    page = parse("'''Of''' ''[[GQ]]''{{'}}s, ''Iliad''{{'s}} and ''[[Emma]]''{{' \"}} fame.")
    assert page.paragraphs == (
        Paragraph("Of GQ's, Iliad's and Emma' \" fame.", (Anchor(3, 5, "GQ"), Anchor(21, 25, "Emma"))),
    )


def test_arguments_are_a_sequence():
    arguments = Arguments("a|[[b|c]]|d")
    assert list(arguments) == ["a", "[[b|c]]", "d"]
    assert len(arguments) == 3
    assert arguments[1:] == ["[[b|c]]", "d"]
    assert arguments.index("d") == 2
    assert repr(arguments) == "Arguments(['a', '[[b|c]]', 'd'])"


def test_links_are_forgotten_in_time():
    links = Links(Titles(Site()))
    for number in range(MOST_KNOWN + 10):
        links.read(f"[[a{number}]]", findings=None)  # type: ignore[arg-type]
    assert len(links._known) == 10


@pytest.mark.parametrize(
    "argument",
    ["thumb", " Right ", "200px", "x300px", "200x300px", "upright=1.2", "alt=a b", "link=", "мини", "", "サムネイル"],
)
def test_options_of_pictures(argument: str):
    assert is_option(argument)


@pytest.mark.parametrize("argument", ["The harbour", "1984", "E=mc", "thumbs up", "200px wide", "x"])
def test_captions_of_pictures(argument: str):
    assert not is_option(argument)


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("s and", "s"),
        ("S", ""),
        ("sS", "s"),
        ("1", ""),
        ("е", "е"),
        ("ية", "ية"),
        ("的", ""),
        ("の", ""),
        ("은", ""),
        ("ไ", ""),
    ],
)
def test_trail(text: str, letters: str):
    assert trail(text) == letters


@pytest.mark.parametrize(
    ("target", "shown"), [("a:b (c)", "b"), (":a", "a"), ("(a)", "(a)"), ("a (b) (c)", "a"), ("", "")]
)
def test_pipe_trick(target: str, shown: str):
    assert pipe_trick(target) == shown
