"""Conversations as trees of replies, and the paths through them from a post to a last reply."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple


class Reply(NamedTuple):
    """An utterance as the tree sees it: `parent` is None at the top."""

    id: str
    parent: str | None
    time: int


class Fault(NamedTuple):
    """Why an utterance and all that answer it hang in the air: `id` is the topmost of them."""

    id: str
    kind: str
    told: str
    hint: str
    lost: int


class ReplyTree:
    """What hangs together from the top. Replies stand in order of time, then of id, whatever order they came in."""

    def __init__(self, replies: Iterable[Reply]) -> None:
        self._replies = {reply.id: reply for reply in replies}
        self._children: dict[str | None, list[str]] = {}
        for reply in sorted(self._replies.values(), key=lambda reply: (reply.time, reply.id)):
            self._children.setdefault(reply.parent, []).append(reply.id)
        self.roots = tuple(self._children.get(None, ()))
        self.order = list(_below(self.roots, self._children))

    def faults(self) -> Iterator[Fault]:
        """Replies to what is not there, and replies that answer each other in a circle."""
        known = set(self.order)
        for parent, ids in self._children.items():
            if parent is not None and parent not in self._replies:
                lost = set(_below(ids, self._children))
                known |= lost
                told = f"utterance {ids[0]!r} answers {parent!r}, which is not in its conversation"
                yield Fault(ids[0], "missing parent", told, "It and the replies to it are in no thread", len(lost))
        for id in sorted(self._replies.keys() - known):
            if id not in known:
                circle = self._circle(id)
                lost = set(_below(circle, self._children))
                known |= lost
                told = f"utterances answer each other in a circle: {' → '.join([*circle[:5], circle[0]])}"
                yield Fault(circle[0], "cycle", told, "They and the replies to them are in no thread", len(lost))

    def _circle(self, id: str) -> list[str]:
        """The circle that the parents of an utterance end in, from its smallest id on."""
        seen: dict[str, int] = {}
        while id not in seen:
            seen[id] = len(seen)
            parent = self._replies[id].parent
            assert parent is not None
            id = parent
        circle = list(seen)[seen[id] :]
        first = circle.index(min(circle))
        return circle[first:] + circle[:first]

    def early(self) -> int:
        """How many replies are dated before what they answer; the tree is right all the same."""
        parents = ((self._replies[id], self._replies[id].parent) for id in self.order)
        return sum(parent is not None and reply.time < self._replies[parent].time for reply, parent in parents)

    def threads(self, kept: Collection[str]) -> Iterator[tuple[str, ...]]:
        """The paths from the top to a last reply, once the utterances that are not kept are taken out.

        A reply to one that was taken out answers what that one answered. So no path comes twice, and none is the
        beginning of another.
        """
        top: list[str] = []
        children: dict[str | None, list[str]] = {}
        nearest: dict[str, str | None] = {}
        for id in self.order:
            parent = self._replies[id].parent
            above = nearest[parent] if parent is not None else None
            nearest[id] = id if id in kept else above
            if id in kept:
                (top if above is None else children.setdefault(above, [])).append(id)
        return _paths(top, children)

    def whole_threads(self, kept: Collection[str]) -> Iterator[tuple[str, ...]]:
        """The paths from the top to a last reply that have no utterance which is not kept."""
        paths = _paths(self._children.get(None, ()), self._children)
        return (path for path in paths if all(id in kept for id in path))


def _below(top: Iterable[str], children: Mapping[str | None, list[str]]) -> Iterator[str]:
    """The given ones and all below them, each before what is below it; a circle is gone round once."""
    waiting, seen = list(reversed(list(top))), set[Hashable]()
    while waiting:
        id = waiting.pop()
        if id not in seen:
            seen.add(id)
            yield id
            waiting.extend(reversed(children.get(id, ())))


def _paths(top: Iterable[str], children: Mapping[str | None, list[str]]) -> Iterator[tuple[str, ...]]:
    """Without recursion: a chain of replies may be thousands deep."""
    path: list[str] = []
    waiting = [(id, 0) for id in reversed(list(top))]
    while waiting:
        id, depth = waiting.pop()
        del path[depth:]
        path.append(id)
        below = children.get(id, ())
        if below:
            waiting.extend((child, depth + 1) for child in reversed(below))
        else:
            yield tuple(path)
