"""Conversations linked a turn at a time: a turn sees what was said and linked before it, and nothing after it.

What a turn costs does not grow with what came before: a bounded piece of the text is its context, and a bounded
number of entities is remembered. A document with turns is linked by the same object, turn after turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from entlink.documents import TURN_SEPARATOR, Document, Link, Mention, Record, Span, Turn
from entlink.errors import FieldError, InputError
from entlink.interfaces import Listener, Question
from entlink.linking.conversation.personal.said import SaidEntities
from entlink.linking.conversation.recent import RecentEntities
from entlink.linking.conversation.window import ConversationWindow, moved, moved_mention
from entlink.text.dates import moment
from entlink.text.spans import check_mentions

if TYPE_CHECKING:
    from entlink.linking.explain import Explanation
    from entlink.linking.linker import Linker


class LinkedTurn(Record, frozen=True):
    """A turn with its links: `links` count in the turn's own text, `links_in_whole` in the whole conversation's."""

    number: int
    turn: Turn
    span: Span
    links: tuple[Link, ...] = ()

    @property
    def links_in_whole(self) -> tuple[Link, ...]:
        return tuple(moved(link, self.span.start) for link in self.links)


class _Heard(NamedTuple):
    """A turn that is to be linked, and the document that its context makes of it."""

    turn: Turn
    own: Document  # the turn alone, which the detector sees
    is_linked: bool
    is_given: bool  # whether its links are told, or only remembered


class Conversation:
    """Takes one turn at a time: `conversation.add("And Mercury?", "ana")` gives it with its links.

    Only the turns of `speakers` are given links, if some are named (in any case); without, those that the linker's
    settings name, else all. All turns have the language, date and meta of the document `like`. With `keep=False`
    nothing is kept of turns but the context of the next one: then `document` and `turns` tell nothing.
    """

    def __init__(
        self,
        linker: Linker,
        id: str = "conversation",
        *,
        speakers: Iterable[str] | None = None,
        keep: bool = True,
        like: Document | None = None,
    ) -> None:
        self.linker, self.config, self.id = linker, linker.conversations, id if like is None else like.id
        self.turns: list[LinkedTurn] = []
        self._speakers = _keys(self.config.speakers if speakers is None else speakers)
        self._like = Document(id, "") if like is None else _bare(like)
        self._keep = keep
        self._window = ConversationWindow(self.config.window, self.config.speaker_names)
        self._recent = RecentEntities(self.config.memory, self.config.decay)
        self._said = SaidEntities(self.config.memory if linker.personal else 0)
        self._count, self._end = 0, -len(TURN_SEPARATOR)
        self._latest: tuple[datetime, int, str] | None = None
        self._has_told_of_times = False

    def add(
        self,
        text: str,
        speaker: str | None = None,
        time: str | None = None,
        *,
        mentions: Sequence[Mention] | None = None,
    ) -> LinkedTurn:
        """Link the next turn; `mentions` are the spans in it to link, for a linker of given spans."""
        if not isinstance(text, str):
            raise InputError(f"a turn is a text (str), not {type(text).__name__}")
        given = None if mentions is None else tuple(mentions)
        check_mentions(Document(f"{self.id}, turn {self._count}", text, mentions=given))
        self.linker.keep_up()
        return _link_turns(self.linker, [(self, Turn(text, speaker, time), given)])[0]

    def forget(self) -> None:
        """Begin anew: what was said and linked before is no context of what comes. The turns stay."""
        self._window.forget()
        self._recent.forget()
        self._said.forget()

    @property
    def document(self) -> Document:
        """The conversation so far as one document, with the links of its turns."""
        if not self._keep:
            raise InputError("the turns of this conversation were not kept. Make it with keep=True")
        links = tuple(link for turn in self.turns for link in turn.links_in_whole)
        whole = Document.of_turns(self.id, (turn.turn for turn in self.turns))
        return msgspec.structs.replace(self._like, text=whole.text, turns=whole.turns, links=links)

    def explain(self, turn: LinkedTurn, span: Span | None = None) -> Explanation:
        """Why each name in one of its turns was linked or not; spans count in the turn."""
        from entlink.linking.explain import explain_linked

        own = msgspec.structs.replace(self._like, text=turn.turn.text, turns=(turn.turn,), links=turn.links)
        return explain_linked(self.linker, own, span, speakers=self._speakers)

    def _hear(self, turn: Turn, mentions: tuple[Mention, ...] | None) -> _Heard:
        is_given = not self._speakers or speaker_key(turn.speaker) in self._speakers
        own = msgspec.structs.replace(self._like, text=turn.text, turns=(turn,), mentions=mentions)
        return _Heard(turn, own, is_given or self.config.overhear, is_given)

    def _asked(self, heard: _Heard, mentions: Sequence[Mention]) -> Question:
        """The mentions of a turn where they stand in its context."""
        shown, shift = self._window.with_turn(self._like, heard.turn)
        moved = [moved_mention(mention, shift) for mention in mentions]
        given = None if heard.own.mentions is None else tuple(moved)
        return Question(msgspec.structs.replace(shown, mentions=given), moved)

    def _take_in(self, heard: _Heard, asked: Question, links: Sequence[Link]) -> LinkedTurn:
        """Remember a turn and what it was linked to; only from here on the conversation is another."""
        shift = len(asked.document.text) - len(heard.turn.text)
        own = tuple(moved(link, -shift) for link in links)
        start = self._end + len(TURN_SEPARATOR)
        self._end = start + len(heard.turn.text)
        shown = self._with_personal(heard, own) if heard.is_given else ()
        linked = LinkedTurn(self._count, heard.turn, Span(start, self._end), shown)
        self._tell_of_times(heard.turn)
        self._window.take_in(heard.turn, own)
        self._recent.take_in(own, self._count)
        self._said.take_in(speaker_key(heard.turn.speaker), own, self._count)
        self._count += 1
        if self._keep:
            self.turns.append(linked)
        return linked

    def _with_personal(self, heard: _Heard, links: tuple[Link, ...]) -> tuple[Link, ...]:
        """The links of a turn with those of personal mentions, which change nothing else and are not remembered."""
        resolver = self.linker.personal
        if resolver is None or not is_english(heard.own.language):
            return links
        given = None if heard.own.mentions is None else [mention.span for mention in heard.own.mentions]
        earlier = self._said.of(speaker_key(heard.turn.speaker))
        found = resolver.links(heard.turn.text, links, earlier, self._count, given)
        places = {link.mention.span for link in found if link.score >= self.linker.min_score}
        kept = [link for link in links if link.mention.span not in places]  # a NIL that is something after all
        resolved = [link for link in found if link.mention.span in places]
        return tuple(sorted((*kept, *resolved), key=lambda link: (link.mention.span.start, -link.mention.span.end)))

    def _tell_of_times(self, turn: Turn) -> None:
        """A warning, once, where the times of the turns go backwards: they count in the order in which they come."""
        try:
            now = None if turn.time is None else moment(turn.time)
        except FieldError:  # a time in words, of which nobody can tell the order
            now = None
        if now is None or turn.time is None:
            return
        if self._latest is not None and now < self._latest[0] and not self._has_told_of_times:
            import logging

            self._has_told_of_times = True
            logging.getLogger(__name__).warning(
                "%r: turn %d is of %s, before turn %d of %s. Turns are linked in the order in which they come: "
                "if it is not the one in which they were said, sort them first",
                *(self.id, self._count, turn.time, self._latest[1], self._latest[2]),
            )
        if self._latest is None or now >= self._latest[0]:
            self._latest = now, self._count, turn.time


_Said = tuple[Conversation, Turn, tuple[Mention, ...] | None]


def _link_turns(linker: Linker, said: Sequence[_Said]) -> list[LinkedTurn]:
    """The next turn of each of several conversations, all of them in one pass through the stages."""
    heard = [talk._hear(turn, mentions) for talk, turn, mentions in said]
    found = iter(_detected(linker, [(talk, one) for (talk, _, _), one in zip(said, heard, strict=True)]))
    mentions = [next(found) if one.is_linked else [] for one in heard]
    asked = [talk._asked(one, own) for (talk, _, _), one, own in zip(said, heard, mentions, strict=True)]
    lists = linker.retrieve(asked)
    for (talk, _, _), question, candidates in zip(said, asked, lists, strict=True):
        for number, mention in enumerate(question.mentions):
            told = talk._recent.told(linker.kb, mention.text, candidates[number], talk._count)
            candidates[number] = told
    links = linker.decide(asked, lists)
    return [
        talk._take_in(one, question, own)
        for (talk, _, _), one, question, own in zip(said, heard, asked, links, strict=True)
    ]


def _detected(linker: Linker, heard: Sequence[tuple[Conversation, _Heard]]) -> list[list[Mention]]:
    """The mentions of the turns that are linked; a detector that listens reads each after those before it."""
    linked = [(talk, one) for talk, one in heard if one.is_linked]
    detector = linker.detector
    if not isinstance(detector, Listener):
        return detector.detect([one.own for _, one in linked])
    shown = [talk._window.with_turn(talk._like, one.turn) for talk, one in linked]
    found = detector.detect_last_turns([document for document, _ in shown])
    return [
        [moved_mention(mention, -shift) for mention in own if mention.span.start >= shift]  # not the speaker's name
        for own, (_, shift) in zip(found, shown, strict=True)
    ]


def link_documents(linker: Linker, documents: Sequence[Document]) -> list[Document]:
    """Documents, with turns and without, linked: the turns of each one after the other, those of all side by side."""
    apart = [_given_by_turn(document) for document in documents]
    if linker.conversations.as_whole:
        apart = [None] * len(documents)
    talks = [at for at, given in enumerate(apart) if given is not None]
    texts = [at for at, given in enumerate(apart) if given is None]
    found = dict(zip(talks, _talks(linker, [documents[at] for at in talks], apart), strict=True))
    # What a conversation was linked to before is no evidence for what it is linked to now.
    fresh = [msgspec.structs.replace(documents[at], links=()) for at in texts]
    found |= dict(zip(texts, (_of_speakers(linker, one) for one in linker.link_whole(fresh)), strict=True))
    return [found[at] for at in range(len(documents))]


def _talks(
    linker: Linker, documents: Sequence[Document], apart: Sequence[list[tuple[Mention, ...] | None] | None]
) -> list[Document]:
    given = [one for one in apart if one is not None]
    talks = [Conversation(linker, like=one) for one in documents]
    for step in zip_longest(*(zip(one.turns, own, strict=True) for one, own in zip(documents, given, strict=True))):
        _link_turns(linker, [(talk, *said) for talk, said in zip(talks, step, strict=True) if said is not None])
    return [
        msgspec.structs.replace(document, links=tuple(link for turn in talk.turns for link in turn.links_in_whole))
        for document, talk in zip(documents, talks, strict=True)
    ]


def _bare(document: Document) -> Document:
    """What all turns of a document have in common."""
    return msgspec.structs.replace(document, text="", turns=(), mentions=None, gold=(), links=())


def _given_by_turn(document: Document) -> list[tuple[Mention, ...] | None] | None:
    """The mentions that each turn of a document gives; None where it cannot be taken apart into its turns."""
    turns = document.turn_spans
    if not turns or document.text != TURN_SEPARATOR.join(turn.text for turn in document.turns):
        return None
    if document.mentions is None:
        return [None] * len(turns)
    given: list[tuple[Mention, ...] | None] = []
    mentions = sorted(document.mentions, key=lambda mention: mention.span.start)
    at = 0
    for turn in turns:
        own = []
        while at < len(mentions) and turn.start <= mentions[at].span.start and mentions[at].span.end <= turn.end:
            own.append(moved_mention(mentions[at], -turn.start))
            at += 1
        given.append(tuple(own))
    return given if at == len(mentions) else None


def is_english(language: str | None) -> bool:
    """Whether a text may be English: of one that does not say, it is taken so."""
    return language is None or language.lower().split("-")[0] in ("en", "eng", "english")


def wanted_turns(document: Document, speakers: Iterable[str]) -> list[Span] | None:
    """Where the turns of these speakers stand; None where all of a document is wanted."""
    wanted = _keys(speakers)
    if not wanted or not document.turns:
        return None
    turns = zip(document.turns, document.turn_spans, strict=True)
    return [span for turn, span in turns if speaker_key(turn.speaker) in wanted]


def _of_speakers(linker: Linker, document: Document) -> Document:
    """Of a conversation linked as a whole, the links of the turns that are wanted."""
    spans = wanted_turns(document, linker.conversations.speakers)
    if spans is None:
        return document
    links = tuple(link for link in document.links if any(span.overlaps(link.mention.span) for span in spans))
    return msgspec.structs.replace(document, links=links)


def speaker_key(speaker: str | None) -> str | None:
    """By what speakers are told apart: their names, in any case."""
    return None if speaker is None else speaker.strip().casefold()


def _keys(speakers: Iterable[str]) -> frozenset[str]:
    given = (speakers,) if isinstance(speakers, str) else speakers
    return frozenset(speaker.strip().casefold() for speaker in given)
