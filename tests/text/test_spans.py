from __future__ import annotations

import pytest

from entlink.documents import Document, Mention, Span
from entlink.errors import SpanError
from entlink.formats.documents import lines as documents
from entlink.text.spans import Place, check_mentions, span_problem


def test_the_document_format_offers_the_same_check():
    assert documents.check_mentions is check_mentions


def test_a_place_is_told_if_there_is_one():
    document = Document("d", "abc", mentions=(Mention(Span(0, 9), ""),))
    with pytest.raises(SpanError, match=r"^in\.jsonl, line 3: document 'd': mention: the span 0-9 lies outside"):
        check_mentions(document, Place("in.jsonl", 3))
    with pytest.raises(SpanError, match=r"^document 'd': mention"):
        check_mentions(document)


@pytest.mark.parametrize(
    ("start", "end", "told"), [(3, 1, "ends before it starts"), (2, 2, "is empty"), (0, 9, "lies outside")]
)
def test_what_is_wrong_with_a_span(start, end, told):
    assert span_problem(start, end) == f"the span {start}-{end} {told}"
