"""Texts to the tokens of a model: cut to its window, or centred on a span."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from entlink.documents import Document, Span
from entlink.errors import SpanError
from entlink.text.spans import OFFSETS, span_problem

_CHARACTERS_A_TOKEN = 16  # more than any text of words has; whoever has more is read again
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no tokenizer takes
_SPACE = re.compile(r"\s")


class Tokens(NamedTuple):
    """The ids a model reads, its own signs included, and from where to where they are the span's, or the text's."""

    ids: list[int]
    first: int
    last: int


class Placed(NamedTuple):
    """The tokens of a whole text, without the model's own signs, and from where to where each stands in it."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class Reader:
    """A tokenizer with the window of its model."""

    def __init__(self, tokenizer: Any, window: int) -> None:
        self._tokenizer = tokenizer
        self._before, self._after = signs_of(tokenizer)
        self._room = max(1, window - len(self._before) - len(self._after))

    def read(self, texts: Sequence[str]) -> list[Tokens | None]:
        """The first tokens of each text; None where it has none."""
        cuts = [self._beginning(text) for text in texts]
        found = [list(one.ids) for one in self._tokenizer.encode_batch_fast(cuts, add_special_tokens=False)]
        for at, (text, cut) in enumerate(zip(texts, cuts, strict=True)):
            if len(found[at]) < self._room and len(cut) < len(text):
                found[at] = list(self._tokenizer.encode(plain(text), add_special_tokens=False).ids)
        return [self._marked(ids[: self._room]) for ids in found]

    def read_around(self, texts: Sequence[tuple[str, Span]]) -> list[Tokens | None]:
        """The tokens around each span, as many before as after where both are there; None where it has none."""
        cuts = [self._surroundings(text, span) for text, span in texts]
        found = self._tokenizer.encode_batch([plain(text) for text, _ in cuts], add_special_tokens=False)
        return [self._centred(one, span) for one, (_, span) in zip(found, cuts, strict=True)]

    def read_paired(self, texts: Sequence[tuple[str, Span]]) -> list[Tokens | None]:
        """The tokens around each span, and after a sign between them those of the span once more, as a second text.

        The place is that of the second text, the sign at its end included; None where the span has no tokens.
        """
        cuts = [self._surroundings(text, span) for text, span in texts]
        found = self._tokenizer.encode_batch([plain(text) for text, _ in cuts], add_special_tokens=False)
        return [self._paired(one, span) for one, (_, span) in zip(found, cuts, strict=True)]

    def _paired(self, one: Any, span: Span) -> Tokens | None:
        most = max(1, self._room // 4)
        own = _tokens_of(one.offsets, span)
        if not own:
            return None
        surface = list(one.ids[own[0] : own[-1] + 1])[:most]
        read = self._centred(one, span, max(1, self._room - len(surface) - len(self._after)))
        assert read is not None
        return Tokens(
            [*read.ids, *surface, *self._after], len(read.ids), len(read.ids) + len(surface) + len(self._after)
        )

    @property
    def room(self) -> int:
        """How many tokens of a text the model reads at once."""
        return self._room

    def read_whole(self, texts: Sequence[str]) -> list[Placed]:
        """All tokens of each text, however many there are."""
        found = self._tokenizer.encode_batch([plain(text) for text in texts], add_special_tokens=False)
        return [Placed(list(one.ids), list(one.offsets)) for one in found]

    def marked(self, ids: list[int]) -> Tokens:
        """Some tokens, at least one, as the model reads them."""
        found = self._marked(ids)
        assert found is not None
        return found

    def _marked(self, ids: list[int], first: int = 0, last: int | None = None) -> Tokens | None:
        """With the signs of the model; the places `first` to `last` move along."""
        if not ids:
            return None
        moved = len(self._before)
        return Tokens(
            [*self._before, *ids, *self._after], first + moved, (len(ids) if last is None else last) + moved
        )

    def _centred(self, one: Any, span: Span, room: int | None = None) -> Tokens | None:
        ids, room = one.ids, room or self._room
        own = _tokens_of(one.offsets, span)
        if not own:
            return None
        first, last = own[0], own[-1] + 1
        spare = room - (last - first)
        begin = first - spare // 2 if spare > 0 else first
        begin = max(0, min(begin, len(ids) - room))
        end = min(len(ids), begin + room)
        return self._marked(list(ids[begin:end]), first - begin, min(last, end) - begin)

    def _beginning(self, text: str) -> str:
        most = self._room * _CHARACTERS_A_TOKEN
        return plain(text if len(text) <= most else text[: space_before(text, most)])

    def _surroundings(self, text: str, span: Span) -> tuple[str, Span]:
        """A long text cut to what could be in the window, so that reading it takes no longer than a short one."""
        if not 0 <= span.start < span.end <= len(text):
            problem = span_problem(span.start, span.end)
            raise SpanError(f"{problem}; the text has {len(text)} characters. {OFFSETS}")
        reach = self._room * _CHARACTERS_A_TOKEN
        if len(text) <= 3 * reach:
            return text, span
        start = max(0, span.start - reach)
        end = min(span.end, span.start + reach)
        stop = space_before(text, min(len(text), end + reach))
        if match := _SPACE.search(text, start, span.start) if start else None:
            start = match.end()
        return text[start : max(stop, end)], Span(span.start - start, end - start)


def _tokens_of(offsets: Sequence[tuple[int, int]], span: Span) -> list[int]:
    return [at for at, (start, end) in enumerate(offsets) if start < span.end and end > span.start and end > start]


def signs_of(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The model's own signs before a text and after it."""
    marked = tokenizer.encode("a")
    words = [at for at, sign in enumerate(marked.special_tokens_mask) if not sign]
    return (list(marked.ids[: words[0]]), list(marked.ids[words[-1] + 1 :])) if words else ([], [])


def readable_end(document: Document, end: int) -> int:
    """How far the text around something that ends at `end` may be read: in a conversation, to the end of its turn.

    So it reads the same when further turns come.
    """
    size = len(document.text)
    return next((turn.end for turn in document.turn_spans if end <= turn.end), size) if document.turns else size


def plain(text: str) -> str:
    """The text in characters that every tokenizer takes."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def space_before(text: str, at: int) -> int:
    """The last place not after `at` that no word runs across; `at` itself if there is none near."""
    if at >= len(text):
        return len(text)
    space = max(text.rfind(sign, max(0, at - 200), at) for sign in " \n\t")
    return space if space > 0 else at
