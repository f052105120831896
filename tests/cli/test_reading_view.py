"""The view of a linked document in a terminal."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys

from rich.console import Console

from entlink.documents import Document, Link, Mention, Span, Turn
from entlink_cli.terminal.reading_view import show

_CODE = re.compile(r"\x1b\[[0-9;]*m")


def link(text, surface, entity, **fields):
    start = text.index(surface)
    return Link(Mention(Span(start, start + len(surface)), surface), entity, 0.5, **fields)


def shown(document):
    out = io.StringIO()
    show(document, Console(file=out, force_terminal=True, color_system="standard", width=60, highlight=False))
    return out.getvalue()


def test_spans_are_marked_and_explained():
    text = "The Sun and Vulcan"
    links = (link(text, "Sun", "sun", title="Sun"), link(text, "Vulcan", None, nil_type="planet"))
    view = shown(Document("d", text, links=links))
    assert "\x1b[1;36mSun\x1b[0m and \x1b[4;31mVulcan\x1b[0m" in view
    plain = _CODE.sub("", view)
    assert "Sun → Sun (sun) 0.50\n" in plain
    assert "Vulcan → NIL, planet\n" in plain


def test_one_entity_has_one_colour_and_one_line():
    text = "Sun, Sol, Sun"
    first, sol = link(text, "Sun", "sun", title="Sun"), link(text, "Sol", "sun", title="Sun")
    second = Link(Mention(Span(10, 13), "Sun"), "sun", 0.5, title="Sun")
    view = shown(Document("d", text, links=(first, sol, second)))
    assert view.count("\x1b[1;36m") == 5
    assert _CODE.sub("", view).count("Sun → Sun (sun)") == 1


def test_a_conversation_is_shown_turn_by_turn():
    document = Document.of_turns("c", [Turn("Where is it?", "ann"), Turn(""), Turn("In the Sun [red]")])
    links = (link(document.text, "Sun", "sun", title="Sun"),)
    view = _CODE.sub("", shown(Document("c", document.text, turns=document.turns, links=links)))
    assert "ann: Where is it?\n- \n- In the Sun [red]\n" in view


def test_control_characters_neither_steer_the_terminal_nor_move_the_marks():
    text = "a\r\nb\x07\x1b[31mc\x9b Sun"
    view = shown(Document("d", text, links=(link(text, "Sun", "sun", title="Sun"),)))
    assert "\x1b[31mc" not in view
    assert "b␇␛[31mc� \x1b[1;36mSun\x1b[0m" in view


def test_a_terminal_gets_the_view(toy):
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "entlink", "link", str(toy), "-", "--config", "lexical"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    subprocess.run(words, input=b"The Sun", stdout=theirs, stderr=subprocess.PIPE, env=environment, timeout=60)
    os.close(theirs)
    view = _CODE.sub("", os.read(ours, 65536).decode())
    os.close(ours)
    assert "The Sun\r\n" in view
    assert "Sun → Sun (sun) 1.00" in view


def test_a_name_that_is_seldom_one_shows_its_own_score():
    text = "summer in Boston"
    links = tuple(
        Link(Mention(Span(start, end), text[start:end], None, score), "e", 1.0, title="E")
        for start, end, score in ((0, 6, 0.083), (10, 16, 0.5))
    )
    plain = _CODE.sub("", shown(Document("d", text, links=links)))
    assert "summer → E (e) 1.00, as a name 0.08\n" in plain
    assert "Boston → E (e) 1.00\n" in plain


def test_a_pipe_gets_brackets(run, toy):
    row = b'{"turns": [{"speaker": "ann", "text": "The Sun?"}, {"text": "NASA knows [it]."}]}'
    view = run("link", toy, "--view", stdin=row).out
    assert "ann: The [Sun]?\n- [NASA] knows [it].\n" in view
    assert "The [Sun] and the [Sun]\n" in run("link", toy, "--view", stdin=b"The Sun and the Sun\n").out
