"""The wire form of documents: one JSON object a line, as `docs/document-format.md` describes it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from entlink.documents import SCHEMA_VERSION

# A negative offset is reported with its document, so the schema states the minimum and the decoder does not.
Offset = Annotated[int, Meta(extra_json_schema={"minimum": 0})]
OptionalText = str | None | UnsetType
TurnIndex = (
    Annotated[int, Meta(description="of a conversation: which turn, from 0", extra_json_schema={"minimum": 0})]
    | UnsetType
)


class TurnRow(msgspec.Struct, gc=False):
    """One utterance of a conversation."""

    text: str
    speaker: OptionalText = UNSET
    time: OptionalText = UNSET


class ImageRow(msgspec.Struct, gc=False):
    """A picture by path or address."""

    uri: str
    caption: OptionalText = UNSET


class MentionRow(msgspec.Struct, gc=False):
    """A span to link, where the user gives them."""

    start: Offset
    end: Offset
    text: OptionalText = UNSET
    type: OptionalText = UNSET
    score: float | UnsetType | None = UNSET
    turn: TurnIndex = UNSET


class GoldRow(msgspec.Struct):
    """What an annotator says: `entity`, or several right ones as `entities`; neither is NIL.

    `text` is the mention as written, to check the offsets by.
    """

    start: Offset
    end: Offset
    text: OptionalText = UNSET
    entity: OptionalText = UNSET
    entities: list[str] | UnsetType = UNSET
    nil_type: OptionalText = UNSET
    optional: bool | UnsetType = UNSET
    turn: TurnIndex = UNSET
    meta: dict[str, Any] | UnsetType = UNSET


class CandidateRow(msgspec.Struct, gc=False):
    """An entity that was considered."""

    entity: str
    title: str | None = None
    score: float = 0.0
    evidence: dict[str, float] = {}


class LinkRow(msgspec.Struct, gc=False):
    """A decision; the first seven keys are always written."""

    start: Offset
    end: Offset
    text: str | None = None
    entity: str | None = None
    title: str | None = None
    score: float = 0.0
    nil_type: str | None = None
    turn: TurnIndex = UNSET
    type: OptionalText = UNSET
    mention_score: float | UnsetType | None = UNSET
    calibrated: bool | UnsetType = UNSET
    candidates: list[CandidateRow] | UnsetType = UNSET


class DocumentRow(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A text, a conversation or a captioned picture. Other keys than these go to `meta`."""

    id: str | int | UnsetType | None = UNSET
    text: str | UnsetType = UNSET
    turns: list[TurnRow] | UnsetType = UNSET
    language: OptionalText = UNSET
    date: OptionalText = UNSET
    image: ImageRow | str | UnsetType | None = UNSET  # as one of `images`
    images: list[ImageRow | str] | UnsetType = UNSET
    mentions: list[MentionRow] | UnsetType | None = UNSET
    gold: list[GoldRow] | UnsetType = UNSET
    links: list[LinkRow] = []
    meta: dict[str, Any] | UnsetType = UNSET


def document_schema() -> dict[str, Any]:
    """The JSON Schema of a row; `docs/schema/document-v1.json` holds it."""
    schema = msgspec.json.schema(DocumentRow)
    row = schema["$defs"]["DocumentRow"]
    row["additionalProperties"] = True
    row["oneOf"] = [{"required": ["text"]}, {"required": ["turns"]}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"entlink document, version {SCHEMA_VERSION}",
        **schema,
    }
