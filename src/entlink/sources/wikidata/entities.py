"""One entity of Wikidata's JSON: an item becomes a page and what it is as a type; the rest of it is passed over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from entlink.documents import Entity
from entlink.io.ledger import Ledger
from entlink.sources.page import Item, Page, Redirect, TypeNode
from entlink.sources.wikidata.claims import FREEBASE, PICTURE, Statement, best_values
from entlink.sources.wikidata.names import OF_ALL, Names
from entlink.text.field_limits import MAX_FIELD, check_texts

INSTANCE_OF, SUBCLASS_OF = "P31", "P279"
NO_LABEL = "without a label or a page"
_ITEM = re.compile(r"Q[1-9][0-9]*")
_NO_ITEMS = {
    "property": "of the kind property",
    "lexeme": "of the kind lexeme",
    "mediainfo": "of the kind media file",
}


class _Text(msgspec.Struct, gc=False):
    """A label, description or alias."""

    value: str = ""


class _Sitelink(msgspec.Struct, gc=False):
    """What an item's page in a wiki is called."""

    title: str = ""


class _Redirects(msgspec.Struct, gc=False):
    """The id that was asked for, and the one it was joined with."""

    from_id: str = msgspec.field(default="", name="from")
    to: str = ""


_AnyNames = msgspec.defstruct(
    "_AnyNames", [("labels", dict[str, _Text] | list[Any], msgspec.field(default_factory=dict))]
)


@lru_cache
def reader_of(names: Names, with_page: bool) -> EntityReader:
    """The reader for a language; a process makes it once."""
    return EntityReader(names, with_page=with_page)


class EntityReader:
    """Reads entities, of whose names only those in a language and its fallbacks are looked at."""

    def __init__(self, names: Names, *, with_page: bool = False) -> None:
        self._names, self._with_page = names, with_page
        self._own = len(names.own)
        label = _by_code("_Labels", names.codes, _Text)
        fields = [
            ("id", str, ""),
            ("type", str, "item"),
            ("labels", label | list[Any], msgspec.field(default_factory=label)),
            ("descriptions", label | list[Any], msgspec.field(default_factory=label)),
            (
                "aliases",
                _by_code("_Aliases", names.codes, list[_Text]) | list[Any],
                msgspec.field(default_factory=list),
            ),
            ("claims", dict[str, list[Statement]] | list[Any], msgspec.field(default_factory=dict)),
            (
                "sitelinks",
                _by_code("_Sitelinks", (names.wiki,), _Sitelink) | list[Any],
                msgspec.field(default_factory=list),
            ),
            ("missing", Any, None),
            ("redirects", _Redirects | None, None),
            ("redirect", str, ""),
            ("entity", str, ""),
        ]
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(msgspec.defstruct("_Entity", fields))
        self._any: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_AnyNames)

    def read(self, line: bytes, ledger: Ledger) -> list[Item]:
        """What a line says; nothing of what is no item, which the ledger counts.

        msgspec.DecodeError or RecursionError where it is no entity, FieldError where a text of it cannot be kept.
        """
        raw = self._decoder.decode(line)
        if raw.redirect and raw.entity:
            return [Redirect(raw.entity, raw.redirect)]
        if raw.missing is not None:
            ledger.leave_out("deleted or never there")
            return []
        if raw.type != "item" or not _ITEM.fullmatch(raw.id):
            ledger.leave_out(_NO_ITEMS.get(raw.type) or "of another kind than items")
            return []
        items = self._items(raw, line, ledger)
        if raw.redirects is not None and raw.redirects.to == raw.id:
            items.append(Redirect(raw.redirects.from_id, raw.id))
        return items

    def _items(self, raw: Any, line: bytes, ledger: Ledger) -> list[Item]:
        claims, texts = best_values(raw.claims) if raw.claims else ({}, {})
        page = self._sitelink(raw)
        labels, aliases = self._labels(raw, line)
        title = labels[0] if labels else page
        items: list[Item] = [TypeNode(raw.id, title, claims.get(SUBCLASS_OF, ()))]
        if self._with_page and not page:
            ledger.leave_out(f"without a page in {self._names.wiki}")
        elif not title:
            ledger.leave_out(NO_LABEL)
        else:
            entity = self._entity(raw, labels or (title,), aliases, page, claims, texts)
            if len(line) > MAX_FIELD or b"\\u0000" in line:
                check_texts(msgspec.structs.asdict(entity))
            items.append(Page(entity))
        return items

    def _entity(
        self,
        raw: Any,
        labels: tuple[str, ...],
        aliases: list[str],
        page: str,
        claims: Mapping[str, tuple[str, ...]],
        texts: Mapping[str, tuple[str, ...]],
    ) -> Entity:
        title, *others = labels
        names = dict.fromkeys([*others, *aliases])
        names.pop(title, None)
        external = {"wikipedia": page} if page else {}
        if freebase := texts.get(FREEBASE):
            external["freebase"] = freebase[0]
        return Entity(
            raw.id,
            title,
            next((text.value for text in _values(raw.descriptions) if text is not None), ""),
            tuple(names),
            claims.get(INSTANCE_OF, ()),
            texts.get(PICTURE, ()),
            self._names.language,
            external=external,
            claims=claims,
        )

    def _labels(self, raw: Any, line: bytes) -> tuple[tuple[str, ...], list[str]]:
        """All labels and aliases in the language and those of all languages; where none, those of one other."""
        labels, aliases = _values(raw.labels), _values(raw.aliases)
        taken = [at for at, label in enumerate(labels) if label is not None and label.value.strip()]
        own = [at for at in taken if at < self._own or self._names.codes[at] == OF_ALL]
        chosen = own or taken[:1]
        if not chosen and raw.labels is not None and (found := self._any_label(line)):
            return (found,), []
        texts = dict.fromkeys(labels[at].value.strip() for at in chosen)
        of = {*chosen, *range(self._own), self._names.codes.index(OF_ALL)}
        named = (alias.value.strip() for at, some in enumerate(aliases) if at in of for alias in some or ())
        return tuple(texts), [name for name in named if name]

    def _any_label(self, line: bytes) -> str:
        """The first label in whatever language: few items need it, so that the line is read once more."""
        labels = self._any.decode(line).labels
        found = (label.value.strip() for label in labels.values()) if isinstance(labels, dict) else ()
        return next(filter(None, found), "")

    def _sitelink(self, raw: Any) -> str:
        return next((link.title for link in _values(raw.sitelinks) if link is not None), "")


def _by_code(name: str, codes: tuple[str, ...], type: Any) -> Any:
    """A struct that has a field for each code and passes over all others."""
    fields = [(f"field_{at}", type | None, msgspec.field(default=None, name=code)) for at, code in enumerate(codes)]
    return msgspec.defstruct(name, fields, gc=False)


def _values(texts: Any) -> tuple[Any, ...]:
    """The fields of such a struct, in the order of the codes; an empty one may be written as a list."""
    return () if type(texts) is list else msgspec.structs.astuple(texts)
