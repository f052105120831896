"""Entities to and from the JSON column that holds all but their id and title."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from entlink.documents import Entity
from entlink.errors import DamagedError

if TYPE_CHECKING:
    from entlink.kb.store.texts import SharedTexts

_IN_COLUMNS = ("id", "title")  # the first two fields of an entity, which have columns of their own
_PARAGRAPHS = "paragraphs"  # of a store that shares its texts: where those of the description stand


def _stored_fields() -> list[tuple[str, object, object]]:
    """The fields of an entity that go into the record: all others, so that a new one cannot be forgotten."""
    fields = [field for field in msgspec.structs.fields(Entity) if field.name not in _IN_COLUMNS]
    return [
        (
            field.name,
            field.type,
            msgspec.field(default=field.default)
            if field.default_factory is msgspec.NODEFAULT
            else msgspec.field(default_factory=field.default_factory),
        )
        for field in fields
    ]


_Stored = msgspec.defstruct(
    "_Stored",
    [*_stored_fields(), (_PARAGRAPHS, list[int], msgspec.field(default_factory=list))],
    frozen=True,
    omit_defaults=True,
)
_decoder = msgspec.json.Decoder(_Stored)
_encoder = msgspec.json.Encoder()


def decode_record(id: str, title: str, record: str, texts: SharedTexts | None = None) -> Entity:
    """The entity of a row of the store, its description taken from `texts` where it is kept there."""
    try:
        *stored, paragraphs = msgspec.structs.astuple(_decoder.decode(record))
    except (msgspec.DecodeError, UnicodeError) as problem:
        raise DamagedError(
            f"kb.sqlite: the record of the entity {id!r} cannot be read ({problem}). "
            "Restore the knowledge base from a copy, or build it again"
        ) from problem
    entity = Entity(id, title, *stored)
    if not paragraphs or texts is None:
        return entity
    return msgspec.structs.replace(entity, description=texts.read(paragraphs))


def encode_record(entity: Entity, paragraphs: Sequence[int] = ()) -> str:
    """What is stored of an entity beside its id and title, as JSON; `paragraphs` stand for its description."""
    if paragraphs:
        entity = msgspec.structs.replace(entity, description="")
    stored = msgspec.structs.astuple(entity)[len(_IN_COLUMNS) :]
    return _encoder.encode(_Stored(*stored, list(paragraphs))).decode()
