from __future__ import annotations

from entlink.documents import Document, Mention, Span
from entlink.mentions.given import GivenMentions


def test_the_mentions_a_document_brings():
    mention = Mention(Span(0, 3), "Sun", "star")
    documents = [Document("a", "Sun", mentions=(mention,)), Document("b", "Sun"), Document("c", "Sun", mentions=())]
    assert GivenMentions().detect(documents) == [[mention], [], []]
