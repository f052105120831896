"""What of a conversation a turn can see: the end of what was said before it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from entlink.documents import TURN_SEPARATOR, Document, Link, Mention, Span, Turn

_LONGEST_WORD = 100  # a cut is moved to the end of a word if that is no further
_SPACE = re.compile(r"\s")


class _Said(NamedTuple):
    turn: Turn
    links: tuple[Link, ...]  # their spans count in its text

    @property
    def size(self) -> int:
        return len(self.turn.text) + len(TURN_SEPARATOR)


class ConversationWindow:
    """The last turns of a conversation, of `size` characters at most, with what they were linked to.

    Of the first of them only the end may be left. With `speaker_names`, each turn begins with its speaker's.
    """

    def __init__(self, size: int, speaker_names: bool) -> None:
        self._most, self._speaker_names = size, speaker_names
        self._said: deque[_Said] = deque()
        self._size = 0

    def forget(self) -> None:
        self._said.clear()
        self._size = 0

    def with_turn(self, like: Document, turn: Turn) -> tuple[Document, int]:
        """The document that the window and a new turn make, and where in it the turn's own text begins."""
        shown = Document.of_turns(like.id, [*(said.turn for said in self._said), self._named(turn)])
        links, start = [], 0
        for said in self._said:
            links += [moved(link, start) for link in said.links]
            start += said.size
        document = msgspec.structs.replace(like, text=shown.text, turns=shown.turns, links=tuple(links))
        return document, len(shown.text) - len(turn.text)

    def take_in(self, turn: Turn, links: Sequence[Link]) -> None:
        """Let a turn be part of what the next one sees."""
        named = self._named(turn)
        shift = len(named.text) - len(turn.text)
        self._said.append(_Said(named, tuple(moved(link, shift) for link in links)))
        self._size += self._said[-1].size
        while self._size > self._most and self._said:
            first = self._said.popleft()
            self._size -= first.size
            room = self._most - self._size - len(TURN_SEPARATOR)
            if room > 0 and (cut := _end_of(first, room)) is not None:
                self._said.appendleft(cut)
                self._size += cut.size
                return

    def _named(self, turn: Turn) -> Turn:
        if not self._speaker_names or not turn.speaker:
            return turn
        return msgspec.structs.replace(turn, text=f"{turn.speaker}: {turn.text}")


def _end_of(said: _Said, room: int) -> _Said | None:
    """The last characters of a turn, less a word that the cut would break; None if nothing is left."""
    text = said.turn.text
    start = len(text) - room
    space = _SPACE.search(text, start - 1, min(len(text), start + _LONGEST_WORD)) if start > 0 else None
    start = space.end() if space else start
    if start >= len(text):
        return None
    links = tuple(moved(link, -start) for link in said.links if link.mention.span.start >= start)
    return _Said(msgspec.structs.replace(said.turn, text=text[start:]), links)


def moved(link: Link, shift: int) -> Link:
    """The link with its span moved to another text."""
    return msgspec.structs.replace(link, mention=moved_mention(link.mention, shift))


def moved_mention(mention: Mention, shift: int) -> Mention:
    span = Span(mention.span.start + shift, mention.span.end + shift)
    return Mention(span, mention.text, mention.type, mention.score)
