"""Reads and writes documents as JSON lines, the wire format of `entlink link`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from entlink.documents import SCHEMA_VERSION, Candidate, Document, GoldLink, Image, Link, Mention, Span, Turn
from entlink.errors import InputError, SourceError
from entlink.formats.documents.offset_frames import Frame
from entlink.formats.documents.rows import (
    CandidateRow,
    DocumentRow,
    GoldRow,
    ImageRow,
    LinkRow,
    MentionRow,
    TurnRow,
    document_schema,
)
from entlink.formats.documents.texts import read_text, restore, visible
from entlink.formats.json_records import NO_NUMBER, bare_not_numbers
from entlink.formats.offset_units import guess_unit
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.text.spans import OFFSETS, Place, check_mentions

__all__ = [
    "SCHEMA_VERSION",
    "check_mentions",
    "decode_document",
    "document_schema",
    "encode_document",
    "read_documents",
    "read_text",
    "restore",
    "visible",
]

SCORE_DECIMALS = 6

_encoder = msgspec.json.Encoder()
_row_decoder = msgspec.json.Decoder(DocumentRow)
_fields_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_KNOWN = frozenset(DocumentRow.__struct_fields__)

Value = TypeVar("Value")
Default = TypeVar("Default")


def read_documents(
    source: Input,
    *,
    on_error: OnError = "stop",
    on_problem: OnProblem | None = None,
) -> Iterator[Document]:
    """The documents of a file of JSON lines, one after the other.

    A path may be compressed. `on_error="skip"` passes over bad rows, and `on_problem` is told of each.
    """
    name, fail = input_name(source), failing(on_error, on_problem)
    with open_input(source) as file:
        for number, line in input_lines(file, name, fail):
            try:
                document = decode_document(line, file=name, line_number=number)
            except InputError as error:
                fail(error)
            else:
                yield document


def decode_document(line: bytes, *, file: str = "", line_number: int = 0) -> Document:
    """The document that a row of the wire format holds; its id is the line's number when it has none."""
    place = Place(file, line_number)
    row = _read_row(line, place)
    bare = _bare_document(row, place)
    frame = Frame(bare, place)
    given = _or(row.mentions, None)
    document = msgspec.structs.replace(
        bare,
        mentions=None if given is None else _mentions(given, bare.text, frame),
        gold=_gold(_or(row.gold, []), frame, place),
        links=_links(row.links, bare.text, frame),
    )
    check_mentions(document, place)
    return document


def encode_document(document: Document, *, candidates: bool = False) -> bytes:
    """The document as one line without its end; `candidates` adds each link's, and how sure its detector was."""
    frame = _frame_to_write(document)
    row = DocumentRow(
        id=document.id,
        text=UNSET if document.turns else document.text,
        turns=_turn_rows(document.turns) if document.turns else UNSET,
        language=_unless_none(document.language),
        date=_unless_none(document.date),
        images=[ImageRow(image.uri, _unless_none(image.caption)) for image in document.images] or UNSET,
        mentions=UNSET if document.mentions is None else _mention_rows(document.mentions, frame),
        gold=[_gold_row(gold, frame) for gold in document.gold] or UNSET,
        links=_link_rows(document, frame, candidates),
        meta=dict(document.meta) or UNSET,
    )
    try:
        return _encoder.encode(row)
    except (TypeError, ValueError, RecursionError) as error:
        raise _unwritable(document, error) from error


# Reading


def _read_row(line: bytes, place: Place) -> DocumentRow:
    try:
        return _row_decoder.decode(line)
    except msgspec.ValidationError:
        # Most often only a key we do not know: the slower way keeps it, and tells real faults apart.
        return _read_row_with_extras(line, place)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _bad_json(line, error, place) from error


def _read_row_with_extras(line: bytes, place: Place) -> DocumentRow:
    try:
        fields = _fields_decoder.decode(line)
        extras = {key: msgspec.json.decode(fields.pop(key)) for key in list(fields) if key not in _KNOWN}
        row = _row_decoder.decode(_encoder.encode(fields))
    except msgspec.ValidationError as error:
        raise _bad_field(error, place) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _bad_json(line, error, place) from error
    meta = _or(row.meta, {})
    if twice := sorted(extras.keys() & meta.keys()):
        raise place.error(f"field {twice[0]} stands both in the row and in its meta", "Keep one of them")
    row.meta = {**meta, **extras}
    return row


def _bad_field(error: msgspec.ValidationError, place: Place) -> SourceError:
    problem, _, path = str(error).partition(" - at `$")
    field = path.rstrip("`").lstrip(".")
    hint = "docs/document-format.md shows what a row holds"
    return place.error(f"field {field}: {problem}" if field else problem, hint)


def _bad_json(line: bytes, error: Exception, place: Place) -> SourceError:
    try:
        line.decode()
    except UnicodeDecodeError as bad:
        problem = f"byte {bad.start} of the line, 0x{line[bad.start]:02x}, is not valid UTF-8"
        return place.error(problem, "Convert the file to UTF-8")
    if isinstance(error, RecursionError):
        return place.error("the JSON is nested too deeply", "Flatten meta")
    if not_numbers := bare_not_numbers(line):
        return place.error(f"{not_numbers} is no number in JSON", NO_NUMBER)
    hint = "Each line must hold one whole JSON object"
    if b"\\ud" in line.lower():
        hint += r", and no half of a surrogate pair (\ud800 to \udfff)"
    return place.error(f"the JSON is bad or cut off: {error}", hint)


def _bare_document(row: DocumentRow, place: Place) -> Document:
    """The document without what has offsets."""
    if (row.text is UNSET) == (row.turns is UNSET):
        problem = "neither a text nor turns" if row.text is UNSET else "both a text and turns"
        raise place.error(f"the row has {problem}", "Give text, or turns for a conversation")
    id = str(place.line) if row.id is UNSET or row.id is None else str(row.id)
    one = _or(row.image, None) or None  # an empty name, as of an empty cell of a table, is no picture
    if one is not None and row.images is not UNSET:
        raise place.error("the row has both image and images", "Give one of them")
    images = tuple(_image(image) for image in ([one] if one is not None else _or(row.images, [])) if image != "")
    language, date, meta = _or(row.language, None), _or(row.date, None), _or(row.meta, {})
    if row.text is not UNSET:
        return Document(id, row.text, language, date, images, meta=meta)
    turns = [Turn(turn.text, _or(turn.speaker, None), _or(turn.time, None)) for turn in _or(row.turns, [])]
    return Document.of_turns(id, turns, language=language, date=date, images=images, meta=meta)


def _image(row: ImageRow | str) -> Image:
    return Image(row) if isinstance(row, str) else Image(row.uri, _or(row.caption, None))


def _mentions(rows: list[MentionRow], text: str, frame: Frame) -> tuple[Mention, ...]:
    mentions = []
    for index, row in enumerate(rows):
        span = frame.span(row, "mentions", index)
        shown = _or(row.text, None)
        if shown is None:
            shown = text[span.start : span.end]
        mentions.append(Mention(span, shown, _or(row.type, None), _or(row.score, None)))
    return tuple(mentions)


def _gold(rows: list[GoldRow], frame: Frame, place: Place) -> tuple[GoldLink, ...]:
    gold = []
    for index, row in enumerate(rows):
        entity, entities = _or(row.entity, None), tuple(_or(row.entities, ()))
        if entity is not None and entities:
            raise place.error(f"field gold[{index}] has both entity and entities", "Give one of them")
        span = frame.span(row, "gold", index)
        right = entities if entity is None else (entity,)
        meta: dict[str, Any] = {} if row.meta is UNSET else row.meta
        if row.text is not UNSET and row.text is not None:
            _check_surface(frame, row.text, span, f"gold[{index}]")
        gold.append(GoldLink(span, right, _or(row.nil_type, None), _or(row.optional, False), meta))
    return tuple(gold)


def _check_surface(frame: Frame, surface: str, span: Span, field: str) -> None:
    """A mention that is written elsewhere than its offsets say shows what they count."""
    text = frame.text
    if text[span.start : span.end] == surface:
        return
    unit = guess_unit(text, span.start, span.end, surface)
    if unit is not None:
        raise frame.error(f"{field}: the offsets {span.start}-{span.end} of {surface!r} count {unit}", OFFSETS)


def _links(rows: list[LinkRow], text: str, frame: Frame) -> tuple[Link, ...]:
    links = []
    for index, row in enumerate(rows):
        span = frame.span(row, "links", index)
        shown = text[span.start : span.end] if row.text is None else row.text
        # Calls are what costs here: absent values, the common case, are told without one.
        type = None if row.type is UNSET else row.type
        score = None if row.mention_score is UNSET else row.mention_score
        candidates = () if row.candidates is UNSET else tuple(_candidate(one) for one in row.candidates)
        mention = Mention(span, shown, type, score)
        calibrated = row.calibrated is True
        links.append(Link(mention, row.entity, row.score, calibrated, row.nil_type, row.title, candidates))
    return tuple(links)


def _candidate(row: CandidateRow) -> Candidate:
    return Candidate(row.entity, row.score, row.evidence, row.title)


# Writing


def _frame_to_write(document: Document) -> Frame:
    if document.turns and document.turn_spans[-1].end != len(document.text):
        raise InputError(
            f"document {document.id!r}: its text is not that of its turns. Make it with Document.of_turns."
        )
    return Frame(document, Place())


def _unwritable(document: Document, error: Exception) -> InputError:
    problem, hint = str(error), "Keep only JSON values in its meta"
    if isinstance(error, UnicodeEncodeError):
        problem = f"a string of it holds half of a surrogate pair at character {error.start}"
        hint = "Read its source with the right encoding"
    return InputError(f"document {document.id!r} cannot be written: {problem}. {hint}.")


def _turn_rows(turns: tuple[Turn, ...]) -> list[TurnRow]:
    return [TurnRow(turn.text, _unless_none(turn.speaker), _unless_none(turn.time)) for turn in turns]


def _mention_rows(mentions: tuple[Mention, ...], frame: Frame) -> list[MentionRow]:
    rows = []
    for mention in mentions:
        start, end, turn = frame.row(mention.span)
        score = UNSET if mention.score is None else round(mention.score, SCORE_DECIMALS)
        rows.append(MentionRow(start, end, mention.text, _unless_none(mention.type), score, turn))
    return rows


def _gold_row(gold: GoldLink, frame: Frame) -> GoldRow:
    start, end, turn = frame.row(gold.span)
    row = GoldRow(start, end, nil_type=_unless_none(gold.nil_type), turn=turn)
    if len(gold.entities) > 1:
        row.entities = list(gold.entities)
    else:
        row.entity = gold.entities[0] if gold.entities else None
    if gold.optional:
        row.optional = True
    if gold.meta:
        row.meta = dict(gold.meta)
    return row


def _link_rows(document: Document, frame: Frame, candidates: bool) -> list[LinkRow]:
    """Most documents are plain texts with thousands of links: their rows are made without a call each."""
    if document.turns or candidates:
        return [_link_row(link, frame, candidates) for link in document.links]
    rows = []
    for link in document.links:
        mention = link.mention
        span, score = mention.span, round(link.score, SCORE_DECIMALS)
        row = LinkRow(span.start, span.end, mention.text, link.entity, link.title, score, link.nil_type)
        if mention.type is not None or link.calibrated:
            _add_rare_fields(row, link)
        rows.append(row)
    return rows


def _link_row(link: Link, frame: Frame, candidates: bool) -> LinkRow:
    mention = link.mention
    start, end, turn = frame.row(mention.span)
    score = round(link.score, SCORE_DECIMALS)
    row = LinkRow(start, end, mention.text, link.entity, link.title, score, link.nil_type, turn)
    _add_rare_fields(row, link)
    if candidates:
        if mention.score is not None:
            row.mention_score = round(mention.score, SCORE_DECIMALS)
        row.candidates = [_candidate_row(candidate) for candidate in link.candidates]
    return row


def _add_rare_fields(row: LinkRow, link: Link) -> None:
    if link.mention.type is not None:
        row.type = link.mention.type
    if link.calibrated:
        row.calibrated = True


def _candidate_row(candidate: Candidate) -> CandidateRow:
    score = round(candidate.score, SCORE_DECIMALS)
    return CandidateRow(candidate.entity, candidate.title, score, dict(candidate.evidence))


# Absent values: UNSET in rows, None or empty in documents


def _or(value: Value | UnsetType, default: Default) -> Value | Default:
    return default if value is UNSET else value


def _unless_none(value: Value | None) -> Value | UnsetType:
    return UNSET if value is None else value
