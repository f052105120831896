"""Dialogues of ConEL-1 and ConEL-2 with gold: concepts, named entities and personal entities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from entlink.documents import Document, GoldLink, Span, Turn
from entlink.errors import InputError
from entlink.formats.json_records import Fail, ItemPlace, json_items
from entlink.formats.offset_units import checked_span
from entlink.formats.public.find_mentions import find_mentions
from entlink.io.inputs import Input, OnProblem, failing
from entlink.io.ledger import OnError
from entlink.text.spans import Place

SYSTEM = "SYSTEM"
NO_ENTITY = "(NoCorrespondingEntity)"
_HEAD = re.compile(rb'\[\s*\{\s*"(?:dialogue_id|dataset_name|turns)"')
_TURNS = re.compile(rb'"turns"\s*:\s*\[\s*\{[^{}]*"(?:utterance|speaker|turn_number)"')


class _Annotation(msgspec.Struct):
    mention: str
    entity: str | None = None
    entity_type: str | None = None
    span: tuple[int, int] | None = None


class _Personal(msgspec.Struct):
    personal_entity_mention: str
    explicit_entity_mention: str | None = None
    entity: str | None = None
    turn_number_of_explicit_entity_mention: int | str | None = None


class _Turn(msgspec.Struct):
    utterance: str = ""
    speaker: str | None = None
    turn_number: int | None = None
    el_annotations: list[_Annotation] | None = None
    personal_entity_annotations: list[_Personal] | None = None
    personal_entity_annotations_without_eems: list[_Personal] | None = None
    manual_canonical_result_id: str | None = None


class NamedDialogue(msgspec.Struct, kw_only=True):
    """What every file of ConEL says of a dialogue."""

    dialogue_id: str | int
    dataset_name: str | None = None

    @property
    def meta(self) -> dict[str, Any]:
        """The name of its dataset, if it has one."""
        return {} if self.dataset_name is None else {"dataset_name": self.dataset_name}


class _Dialogue(NamedDialogue, kw_only=True):
    turns: list[_Turn]


DialogueShape = TypeVar("DialogueShape", bound=NamedDialogue)


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A conversation a dialogue. With `on_error="skip"` only a bad annotation is left out, not its dialogue."""
    fail = failing(on_error, on_problem)
    for id, dialogue, file in named_dialogues(source, _Dialogue, fail):
        try:
            document = _document(dialogue, id, file, fail)
        except InputError as error:
            fail(error)
        else:
            yield document


def looks_like(path: Path, head: bytes) -> bool:
    """A list of objects with a dialogue_id and a list of turns."""
    return begins_dialogues(head, _TURNS)


def begins_dialogues(head: bytes, turns: re.Pattern[bytes]) -> bool:
    """Whether a file begins with a list of dialogues whose turns look so."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return bool(_HEAD.match(start) and b'"dialogue_id"' in start and turns.search(start))


def named_dialogues(
    source: Input, shape: type[DialogueShape], fail: Fail
) -> Iterator[tuple[str, DialogueShape, str]]:
    """The id of each dialogue, the dialogue, and its file.

    An id that stands twice in a file gets its dataset's name before it: TREC CAsT 2020 is in ConEL-1 twice under the
    same ids, as cast20raw and cast20manu.
    """
    dialogues = list(json_items(source, shape, fail))
    counts = Counter(str(dialogue.dialogue_id) for _, dialogue in dialogues)
    for place, dialogue in dialogues:
        id, dataset = str(dialogue.dialogue_id), dialogue.dataset_name
        yield f"{dataset}/{id}" if dataset and counts[id] > 1 else id, dialogue, place.file


def _document(dialogue: _Dialogue, id: str, file: str, fail: Fail) -> Document:
    turns = dialogue.turns
    _check_numbers(turns, ItemPlace(file, f"dialogue {id!r}"))
    bare = Document.of_turns(id, (Turn(turn.utterance, turn.speaker) for turn in turns))
    gold: list[GoldLink] = []
    alone: list[dict[str, Any]] = []
    for index, (turn, whole) in enumerate(zip(turns, bare.turn_spans, strict=True)):
        notes = _Notes(turn, id, ItemPlace(file, f"dialogue {id!r}, turn {index}"), fail)
        gold += (_moved(link, whole.start) for link in (*notes.links(), *notes.personal_links()))
        alone += ({"turn": index, "start": span.start, "end": span.end} for span in notes.personal_alone())
    meta = {**_meta(dialogue), **({"personal_without_entity": alone} if alone else {})}
    return msgspec.structs.replace(bare, gold=tuple(gold), meta=meta)


def _check_numbers(turns: Sequence[_Turn], place: Place) -> None:
    for index, turn in enumerate(turns):
        if turn.turn_number not in (None, index):
            problem = f"turn {index} (counted from 0) says that its turn_number is {turn.turn_number}"
            raise place.error(problem, "Give all turns, in order and numbered from 0")


def _meta(dialogue: _Dialogue) -> dict[str, Any]:
    """What stands beside the gold. Which turns were annotated matters: elsewhere nobody knows what is right."""
    turns = dialogue.turns
    results = {str(index): turn.manual_canonical_result_id for index, turn in enumerate(turns)}
    results = {index: result for index, result in results.items() if result is not None}
    annotated = [index for index, turn in enumerate(turns) if _is_annotated(turn)]
    meta = {**dialogue.meta, "annotated_turns": annotated}
    return {**meta, "result_ids": results} if results else meta


def _is_annotated(turn: _Turn) -> bool:
    """The files of personal mentions give the systems' turns empty lists, although only users' were annotated."""
    given = (turn.el_annotations, turn.personal_entity_annotations)
    return any(given) or (turn.speaker != SYSTEM and any(notes is not None for notes in given))


def _moved(link: GoldLink, by: int) -> GoldLink:
    return msgspec.structs.replace(link, span=Span(link.span.start + by, link.span.end + by))


class _Notes:
    """The annotations of one turn as gold, with spans in its utterance."""

    def __init__(self, turn: _Turn, document: str, place: Place, fail: Fail) -> None:
        self._turn, self._document, self._place, self._fail = turn, document, place, fail
        self._text = turn.utterance

    def links(self) -> Iterator[GoldLink]:
        """Concepts and named entities."""
        notes = self._turn.el_annotations or []
        found = iter(find_mentions(self._text, [note.mention for note in notes if note.span is None]))
        for index, note in enumerate(notes):
            field = f"el_annotations[{index}]"
            span = self._found(next(found), note.mention, field) if note.span is None else self._given(note, field)
            if span is not None:
                meta = {} if note.entity_type is None else {"type": note.entity_type}
                yield GoldLink(span, _entities(note.entity), meta=meta)

    def personal_links(self) -> Iterator[GoldLink]:
        """Personal mentions (`my favourite team`), with the mention that says what they mean as `explicit`."""
        notes = self._turn.personal_entity_annotations or []
        for note, span in self._personal(notes, "personal_entity_annotations"):
            meta: dict[str, Any] = {"personal": True}
            if note.explicit_entity_mention is not None:
                meta["explicit"] = note.explicit_entity_mention
            if isinstance(note.turn_number_of_explicit_entity_mention, int):
                meta["explicit_turn"] = note.turn_number_of_explicit_entity_mention
            yield GoldLink(span, _entities(note.entity), meta=meta)

    def personal_alone(self) -> Iterator[Span]:
        """Personal mentions of which the dialogue does not say what they mean: ConEL does not score them."""
        notes = self._turn.personal_entity_annotations_without_eems or []
        yield from (span for _, span in self._personal(notes, "personal_entity_annotations_without_eems"))

    def _personal(self, notes: list[_Personal], field: str) -> Iterator[tuple[_Personal, Span]]:
        spans = find_mentions(self._text, [note.personal_entity_mention for note in notes])
        for index, (note, found) in enumerate(zip(notes, spans, strict=True)):
            span = self._found(found, note.personal_entity_mention, f"{field}[{index}]")
            if span is not None:
                yield note, span

    def _found(self, span: Span | None, mention: str, field: str) -> Span | None:
        if span is None:
            problem = f"{field}: the mention {mention!r} does not stand in the utterance"
            self._fail(self._place.error(problem, "Correct the mention, or skip bad records"))
        return span

    def _given(self, note: _Annotation, field: str) -> Span | None:
        """The given span, narrowed to the mention: one of ConEL-2's takes in the full stop that follows."""
        assert note.span is not None
        start, end = note.span
        inside = self._text.find(note.mention, start, end) if note.mention and 0 <= start < end else -1
        if inside >= 0:
            return Span(inside, inside + len(note.mention))
        try:
            return checked_span(self._text, start, end, note.mention, field, self._document, self._place)
        except InputError as error:
            self._fail(error)
            return None


def _entities(entity: str | None) -> tuple[str, ...]:
    return (entity,) if entity and entity != NO_ENTITY else ()
