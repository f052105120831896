"""Entities to and from the JSON column that holds all but their id and title."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from entlink.documents import Entity, Record


class _Stored(Record, frozen=True):
    description: str = ""
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    language: str | None = None
    created: str | None = None
    external: Mapping[str, str] = {}


_decoder = msgspec.json.Decoder(_Stored)
_encoder = msgspec.json.Encoder()


def decode_record(id: str, title: str, record: str) -> Entity:
    stored = _decoder.decode(record)
    return Entity(
        id,
        title,
        stored.description,
        stored.aliases,
        stored.types,
        stored.images,
        stored.language,
        stored.created,
        stored.external,
    )


def encode_record(entity: Entity) -> str:
    stored = _Stored(
        entity.description,
        entity.aliases,
        entity.types,
        entity.images,
        entity.language,
        entity.created,
        entity.external,
    )
    return _encoder.encode(stored).decode()
