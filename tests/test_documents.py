from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, Span, Turn

TURNS = st.lists(st.builds(Turn, st.text(max_size=5)), max_size=6)


@given(TURNS)
def test_a_conversation_grows_as_if_made_at_once(turns):
    grown = Document("c", "")
    for turn in turns:
        grown = grown.with_turn(turn)
    at_once = Document.of_turns("c", turns)
    assert grown == at_once
    assert grown.turn_spans == at_once.turn_spans
    assert [grown.text[span.start : span.end] for span in grown.turn_spans] == [turn.text for turn in turns]


def test_a_turn_more_derives_nothing_again():
    chat = Document.of_turns("c", [Turn("Hi"), Turn("Paris?")], language="en")
    longer = chat.with_turn(Turn("Texas"))
    assert longer.turn_spans == (Span(0, 2), Span(4, 10), Span(12, 17))
    assert all(after is before for after, before in zip(longer.turn_spans, chat.turn_spans, strict=False))
    assert longer.language == "en"
    assert (chat.text, len(chat.turn_spans)) == ("Hi\n\nParis?", 2)
