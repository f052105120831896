"""What of a conversation a turn can see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, Link, Mention, Span, Turn
from entlink.linking.conversation.window import ConversationWindow

LIKE = Document("c", "", language="en")


def link(text: str, surface: str, entity: str | None = "e") -> Link:
    start = text.index(surface)
    return Link(Mention(Span(start, start + len(surface)), surface), entity, 1.0)


def shown(window: ConversationWindow, text: str, speaker: str | None = None) -> Document:
    return window.with_turn(LIKE, Turn(text, speaker))[0]


@given(
    texts=st.lists(st.text("ab \n", max_size=30), max_size=8),
    size=st.integers(0, 60),
    names=st.booleans(),
    last=st.text("ab ", max_size=20),
)
def test_it_is_the_end_of_what_was_said_and_never_longer(texts, size, names, last):
    window = ConversationWindow(size, names)
    for text in texts:
        window.take_in(Turn(text, "x"), [])
    document, start = window.with_turn(LIKE, Turn(last, "y"))
    whole = "\n\n".join(f"{'x: ' if names else ''}{text}" for text in texts)
    whole += ("\n\n" if texts else "") + ("y: " if names else "") + last
    assert whole.endswith(document.text)
    assert document.text[start:] == last
    assert len(document.text) - len(last) - (3 if names else 0) <= size
    assert document.turn_spans[-1].end == len(document.text)


@given(size=st.integers(0, 80))
def test_links_stay_where_they_are_or_go(size):
    window = ConversationWindow(size, speaker_names=True)
    for text in ("We saw Mercury and Venus", "", "then Mercury again"):
        window.take_in(Turn(text, "ana"), [link(text, name) for name in ("Mercury", "Venus") if name in text])
    document = shown(window, "Why?", "ben")
    assert document.language == "en"
    for one in document.links:
        assert document.text[one.mention.span.start : one.mention.span.end] == one.mention.text
    assert len(document.links) == sum(document.text.count(name) for name in ("Mercury", "Venus"))


@pytest.mark.parametrize(
    ("size", "seen"), [(0, ""), (6, "four\n\n"), (8, "four\n\n"), (11, "four\n\n"), (12, "three four\n\n")]
)
def test_a_turn_is_cut_between_words(size, seen):
    window = ConversationWindow(size, speaker_names=False)
    window.take_in(Turn("one two three four"), [])
    assert shown(window, "now").text == f"{seen}now"


def test_a_long_word_is_cut_rather_than_left_out():
    window = ConversationWindow(12, speaker_names=False)
    window.take_in(Turn("长" * 1000), [])
    assert shown(window, "now").text == f"{'长' * 10}\n\nnow"


def test_speakers_are_told_where_they_are_known():
    window = ConversationWindow(100, speaker_names=True)
    window.take_in(Turn("Hello", "ana"), [])
    window.take_in(Turn("Hi", None), [])
    assert shown(window, "Who?", "ben").text == "ana: Hello\n\nHi\n\nben: Who?"
    assert [turn.speaker for turn in shown(window, "Who?", "ben").turns] == ["ana", None, "ben"]
    window.forget()
    assert shown(window, "Who?").text == "Who?"
