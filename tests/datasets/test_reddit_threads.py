"""Conversations of any shape and any text: threads are always whole documents with gold that fits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entlink.datasets.conversations.mentions import Marker
from entlink.datasets.conversations.options import Scope
from entlink.datasets.conversations.pruning import Preparer
from entlink.datasets.conversations.threads import Conversation, ThreadMaker
from entlink.datasets.wiki_titles import WikiTitles
from entlink.formats.documents.lines import decode_document, encode_document
from entlink.kb.store.store import Store
from entlink.sources.convokit import Utterance
from reddit_corpora import DOMAIN, OLD_WIKI, WIKI, harbour, harbour_kb

PIECES = [
    *(
        "light",
        "the boat",
        "Captain Wren",
        "words",
        "hahahaha",
        "😀",
        "\u200b",
        "é",
        "\n\n",
        "\n> ",
        "**",
        "`",
        "[",
        "](",
        ")",
    ),
    *(f"[light]({WIKI}Lighthouse)", f"[the boat]({OLD_WIKI}Old_Ferry)", f"[light]({WIKI}Pier_9)", "[deleted]"),
    *(
        f"{WIKI}Captain_Wren",
        f"<{WIKI}Captain_Wren>",
        f"`[light]({WIKI}Lighthouse)`",
        "    code",
        "http://x.y/z",
        "!!!!!",
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=12).map(" ".join)


@pytest.fixture(scope="module")
def titles(tmp_path_factory) -> Iterator[WikiTitles]:
    store = Store(harbour_kb(tmp_path_factory.mktemp("threads")))
    yield WikiTitles(store)
    store.close()


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Any utterances that answer any others, or what is not there, or themselves."""
    size = draw(st.integers(1, 7))
    parents = st.none() | st.integers(0, size)
    return Conversation(
        "c",
        [
            Utterance(
                str(number),
                "c",
                None if (parent := draw(parents)) is None else str(parent),
                draw(st.sampled_from("xyz")),
                draw(st.integers(0, 9)),
                draw(TEXTS),
                None,
                number,
            )
            for number in range(size)
        ],
        DOMAIN,
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(conversations(), st.sampled_from(["thread", "conversation", "speaker", "none"]), st.booleans())
def test_threads_of_any_conversation_are_documents_whose_gold_fits(titles, conversation, scope: Scope, whole):
    options = harbour(min_tokens=1, min_utterances=1, augment=scope, pruned="thread" if whole else "utterance")
    maker = ThreadMaker(Preparer(Marker(titles, options), options), options)
    documents = list(maker.threads(conversation))
    assert len({document.id for document in documents}) == len(documents)
    for document in documents:
        assert decode_document(encode_document(document)) == document
        assert document.gold
        assert all("\n" not in turn.text and turn.text for turn in document.turns)
        spans = [one.span for one in document.gold]
        assert all(one.end <= other.start for one, other in pairwise(spans))
        for mention, span in zip(document.mentions or (), spans, strict=True):
            assert mention.text == document.text[span.start : span.end] == mention.text.strip()
            assert any(turn.start <= span.start < span.end <= turn.end for turn in document.turn_spans)
