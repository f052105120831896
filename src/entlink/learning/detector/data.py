"""Texts with gold as what a detector learns from: spans, and which of them are mentions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from entlink.documents import Document, Span
from entlink.evaluation.scoring.items import annotated_turns
from entlink.linking.conversation.personal.gold_phrases import is_name
from entlink.mentions.proposals import proposals, words_of
from entlink.mentions.span_features import Seen
from entlink.text.folding import key_of

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase


class GoldText(NamedTuple):
    """A text that is read at once, a turn of a conversation or a whole document, and the spans of its gold.

    Of `optional` spans nobody knows whether they are mentions.
    """

    document: str
    text: str
    gold: frozenset[tuple[int, int]]
    optional: frozenset[tuple[int, int]] = frozenset()


def gold_texts(documents: Iterable[Document]) -> Iterator[GoldText]:
    """Whole documents; of conversations, the turns that were annotated. Personal mentions are no names."""
    for document in documents:
        names = [one for one in document.gold if is_name(one)]
        gold, optional = ([one.span for one in names if one.optional == rest] for rest in (False, True))
        annotated = annotated_turns(document)
        turns = [span for number, span in enumerate(document.turn_spans) if number in annotated]
        for whole in turns if document.turns else [Span(0, len(document.text))]:
            text = document.text[whole.start : whole.end]
            yield GoldText(document.id, text, _within(whole, gold), _within(whole, optional))


def _within(whole: Span, spans: Iterable[Span]) -> frozenset[tuple[int, int]]:
    """The spans that stand in a part of a text, counted from where it begins."""
    return frozenset(
        (span.start - whole.start, span.end - whole.start)
        for span in spans
        if whole.start <= span.start and span.end <= whole.end
    )


class SeenCounts:
    """How often each name was a mention in the texts of each document, and in all."""

    def __init__(self, kb: KnowledgeBase, texts: Sequence[GoldText]) -> None:
        self._by_document: dict[str, tuple[Counter[str], Counter[str]]] = {}
        self.linked, self.total = Counter[str](), Counter[str]()
        scanner = kb.scanner()
        for one in texts:
            linked, total = self._by_document.setdefault(one.document, (Counter(), Counter()))
            for span in proposals(one.text, words_of(one.text), scanner.matches(one.text)):
                total[key_of(one.text[span.start : span.end])] += 1
            for start, end in one.gold:
                linked[key_of(one.text[start:end])] += 1
        wanted = {key for linked, _ in self._by_document.values() for key in linked}
        for linked, total in self._by_document.values():
            for key in [key for key in total if key not in wanted]:
                del total[key]
            self.linked.update(linked)
            self.total.update(total)

    @property
    def all(self) -> dict[str, Seen]:
        """Of the names that were mentions at least once."""
        return {key: Seen(count, self.total[key]) for key, count in sorted(self.linked.items())}

    @property
    def own(self) -> dict[str, dict[str, Seen]]:
        """The same of each document."""
        return {
            document: {key: Seen(linked[key], total[key]) for key in sorted({*linked, *total})}
            for document, (linked, total) in self._by_document.items()
        }
