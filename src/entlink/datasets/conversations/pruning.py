"""Utterances made ready: their gold, the text that is left of them, and whether they stay at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from entlink.datasets.conversations.cleaning import Cleaned, Cleaner
from entlink.datasets.conversations.domains import Domain
from entlink.datasets.conversations.mentions import Annotation, Marked, Marker
from entlink.datasets.conversations.options import ConversationOptions
from entlink.documents import Span
from entlink.sources.convokit import Utterance

_DELETED = frozenset({"", "[deleted]", "[removed]", "[deleted by user]", "[ removed by reddit ]"})


class Ready(msgspec.Struct, frozen=True):
    """An utterance as it goes into threads; `refused` are links in it that are no gold."""

    utterance: Utterance
    text: str
    annotations: tuple[Annotation, ...]
    refused: tuple[Span, ...] = ()


class Preparer:
    """Makes utterances ready, and counts why others are pruned."""

    def __init__(self, marker: Marker, options: ConversationOptions) -> None:
        self.pruned: Counter[str] = Counter()
        self._marker, self._options = marker, options
        self._cleaner = Cleaner(options.characters, options.signs, options.max_repeats)
        self._profanity = profanity_pattern(options.profanity)

    def prepare(self, utterance: Utterance, domain: Domain | None) -> Ready | None:
        """The utterance, cleaned and with its gold; None if it is pruned."""
        reason = self._raw_reason(utterance.text)
        if reason is None:
            marked = self._marker.mark(utterance.text, domain)
            cleaned = self._cleaner.clean(marked.text, marked.urls, [one.span for one in marked.annotations])
            reason = self._reason(marked, cleaned)
            if reason is None:
                return self._ready(utterance, marked, cleaned)
        self.pruned[reason] += 1
        return None

    def _raw_reason(self, text: str) -> str | None:
        """Why an utterance is pruned unread."""
        if is_deleted(text):
            return "deleted"
        return "long" if len(text) > self._options.max_characters else None

    def _reason(self, marked: Marked, cleaned: Cleaned) -> str | None:
        if self._profanity is not None and self._profanity.search(marked.text):
            return "profane"
        tokens = len(cleaned.text.split())
        if tokens < self._options.min_tokens:
            return "short"
        return "long" if tokens > self._options.max_tokens else None

    def _ready(self, utterance: Utterance, marked: Marked, cleaned: Cleaned) -> Ready:
        moved = [(cleaned.moved(one.span), one) for one in marked.annotations]
        annotations = tuple(one._replace(span=span) for span, one in moved if span is not None)
        self._marker.counts["lost in cleaning"] += len(moved) - len(annotations)
        refused = tuple(span for one in marked.refused if (span := cleaned.moved(one)) is not None)
        return Ready(utterance, cleaned.text, annotations, refused)


def is_deleted(text: str) -> bool:
    """Whether nothing of a text is left: its author or a moderator took it away."""
    return text.strip().casefold() in _DELETED


def profanity_pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    """Finds any of the words or phrases, whole and whatever their case; None where there are none."""
    forms = sorted({r"\s+".join(map(re.escape, word.split())) for word in words if word.strip()})
    return re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)", re.IGNORECASE) if forms else None
