"""PreCo: documents in tokens, whose mentions are in clusters of coreference, single ones included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from entlink.documents import Record, Span
from entlink.formats.json_records import read_json_lines
from entlink.formats.probes.tokens import token_span
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place


class ClusteredMention(NamedTuple):
    """A mention: its sentence, its characters in the joined tokens of it, and its cluster."""

    sentence: int
    span: Span
    cluster: int


class ClusteredDocument(Record, frozen=True):
    """Sentences, each its tokens with a space between two, and the mentions in the order of the text."""

    id: str
    sentences: tuple[str, ...]
    mentions: tuple[ClusteredMention, ...]


class _Row(msgspec.Struct):
    id: str | int
    sentences: list[list[str]]
    mention_clusters: list[list[tuple[int, int, int]]]


def read(
    source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
) -> Iterator[ClusteredDocument]:
    """The documents of a file of JSON lines. A mention is [sentence, first token, token after the last]."""
    return read_json_lines(source, _Row, _document, on_error=on_error, on_problem=on_problem)


def _document(row: _Row, _: dict[str, Any], place: Place) -> ClusteredDocument:
    mentions = [
        _mention(row.sentences, mention, cluster, place)
        for cluster, own in enumerate(row.mention_clusters)
        for mention in own
    ]
    sentences = tuple(" ".join(tokens) for tokens in row.sentences)
    return ClusteredDocument(str(row.id), sentences, in_order(mentions))


def in_order(mentions: Iterable[ClusteredMention]) -> tuple[ClusteredMention, ...]:
    """Mentions in the order of the text."""
    return tuple(sorted(mentions, key=lambda one: (one.sentence, one.span.start, one.span.end, one.cluster)))


def _mention(
    sentences: list[list[str]], mention: tuple[int, int, int], cluster: int, place: Place
) -> ClusteredMention:
    sentence, start, end = mention
    if not 0 <= sentence < len(sentences):
        problem = f"a mention is in sentence {sentence}, and the document has {len(sentences)}"
        raise place.error(problem, "Sentences are counted from 0")
    return ClusteredMention(sentence, token_span(sentences[sentence], start, end, place), cluster)
