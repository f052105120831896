"""Parts of the gold that are scored apart: popular and not, seen and unseen, by type, domain, any field of meta."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from entlink.documents import Document, GoldLink
from entlink.errors import ConfigError
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.items import surface_of
from entlink.text.titles import folded_title, overlap_category

Labels = tuple[str, ...]
CoarseOf = Callable[[Sequence[str]], str | None]
_MOST_REMEMBERED = 500_000
_NIL, _IN_KB, _UNKNOWN = ("NIL",), ("in-KB",), ("unknown to the KB",)


class NameMeaning(Protocol):
    """An entity that a name may mean; `KnowledgeBase.aliases` gives them, the likeliest first."""

    @property
    def entity(self) -> str: ...


class Names(Protocol):
    """What is asked of a knowledge base about names."""

    def aliases(self, surface: str) -> Sequence[NameMeaning]: ...


class Slicer(NamedTuple):
    """A way to part the gold: the labels of each gold link of a document, or None where none has any.

    A slicer of documents has labels of the whole document: then predictions are parted too, and have a precision.
    """

    name: str
    of_gold: Callable[[Document], Sequence[Labels] | None] | None = None
    of_document: Callable[[Document], Labels] | None = None
    needs_details: bool = False  # it has labels only where some gold has meta or a type


class Training:
    """What a linker may have seen: entities, names, and names with their entities."""

    def __init__(self, documents: Iterable[Document], identities: Identities | None = None) -> None:
        self.entities: set[str] = set()
        self.pairs: set[tuple[str, str]] = set()
        for document in documents:
            document = identities.gold(document) if identities else document
            for gold in document.gold:
                surface = surface_of(document, gold)
                self.entities.update(gold.entities)
                self.pairs.update((surface, entity) for entity in gold.entities)


def slicers(
    wanted: Sequence[str] | None = None,
    *,
    identities: Identities | None = None,
    names: Names | None = None,
    training: Training | None = None,
    coarse: CoarseOf | None = None,
) -> list[Slicer]:
    """The slicers of these names; None: all that can be had with what is given.

    `coarse` gives the coarse type of an entity by its types. `meta:FIELD` is a field of the document's meta,
    `gold:FIELD` one of the gold link's.
    """
    able = _able(identities, names, training, coarse)
    if wanted is None:
        return list(able.values())
    found = []
    for name in dict.fromkeys(wanted):
        if name in able:
            found.append(able[name])
        elif name.startswith(("meta:", "gold:")) and name[5:]:
            found.append(_of_field(name))
        else:
            raise ConfigError(_unknown(name, able))
    return found


def _unknown(name: str, able: dict[str, Slicer]) -> str:
    needs = {"popular": "--kb", "seen": "--train", "coarse": "--kb, with coarse types or a hierarchy of types"}
    if name in needs:
        return f"the slice {name!r} needs {needs[name]}"
    names = ", ".join(dict.fromkeys([*able, *needs]))
    return f"there is no slice {name!r}. Choose among {names}, meta:FIELD, gold:FIELD"


def _able(
    identities: Identities | None, names: Names | None, training: Training | None, coarse: CoarseOf | None
) -> dict[str, Slicer]:
    found = [Slicer("kb", lambda document: _kb_labels(document, identities))]
    if names is not None:
        found.append(Slicer("popular", partial(_by_surface, labels=_Popularity(names).labels)))
    titles = partial(_by_surface, labels=partial(_title_labels, identities=identities))
    found.append(Slicer("title", titles, needs_details=identities is None))
    if training is not None:
        found.append(Slicer("seen", partial(_by_surface, labels=partial(_seen_labels, training=training))))
    found += [
        Slicer(
            "overlap",
            partial(_by_surface, labels=partial(_overlap_labels, identities=identities)),
            needs_details=identities is None,
        ),
        Slicer("domain", of_document=lambda document: _field(document.meta, "domain")),
        Slicer("language", of_document=lambda document: (document.language,) if document.language else ()),
        Slicer("type", lambda document: _type_labels(document, identities), needs_details=identities is None),
    ]
    if coarse is not None:
        found.append(Slicer("coarse", partial(_coarse_labels, identities=identities, coarse=coarse)))
    return {one.name: one for one in found}


def _of_field(name: str) -> Slicer:
    field = name[5:]
    if name.startswith("meta:"):
        return Slicer(name, of_document=lambda document: _field(document.meta, field))
    labels = partial(_gold_fields, field=field)
    return Slicer(name, labels, needs_details=True)


def _gold_fields(document: Document, field: str) -> Sequence[Labels] | None:
    return _if_any(_field(gold.meta, field) for gold in document.gold)


def _if_any(labels: Iterable[Labels]) -> Sequence[Labels] | None:
    found = list(labels)
    return found if any(found) else None


def _by_surface(document: Document, labels: Callable[[GoldLink, str], Labels]) -> Sequence[Labels] | None:
    return _if_any(labels(gold, surface_of(document, gold)) for gold in document.gold)


def _field(meta: Mapping[str, Any], field: str) -> Labels:
    value = meta.get(field)
    if value is None:
        return ()
    return tuple(dict.fromkeys(map(str, value))) if isinstance(value, list | tuple) else (str(value),)


def _kb_labels(document: Document, identities: Identities | None) -> Sequence[Labels]:
    if identities is None:
        return [_IN_KB if gold.entities else _NIL for gold in document.gold]
    return [
        _NIL if not gold.entities else _IN_KB if is_covered(gold, identities) else _UNKNOWN for gold in document.gold
    ]


def is_covered(gold: GoldLink, identities: Identities | None) -> bool:
    """Whether the knowledge base has one of the gold entities; without one to ask, and for NIL, it is taken so."""
    if identities is None or not gold.entities:
        return True
    return any(identities.entity(entity) is not None for entity in gold.entities)


def _type_labels(document: Document, identities: Identities | None) -> Sequence[Labels] | None:
    return _if_any(_types(gold, identities) for gold in document.gold)


def _types(gold: GoldLink, identities: Identities | None) -> Labels:
    """The annotator's types, a bar between them, else those that the knowledge base gives the entity."""
    own = gold.meta.get("type") or gold.nil_type
    if own:
        return tuple(dict.fromkeys(str(own).split("|")))
    entity = identities.entity(gold.entities[0]) if identities and gold.entities else None
    return tuple(dict.fromkeys(entity.types)) if entity else ()


def _coarse_labels(document: Document, identities: Identities | None, coarse: CoarseOf) -> Sequence[Labels] | None:
    """The coarse type that the knowledge base gives the gold entity; of NIL, the type that it was annotated with."""
    return _if_any(_coarse(gold, identities, coarse) for gold in document.gold)


def _coarse(gold: GoldLink, identities: Identities | None, coarse: CoarseOf) -> Labels:
    entity = identities.entity(gold.entities[0]) if identities and gold.entities else None
    found = gold.nil_type if entity is None else coarse(entity.types)
    return () if found is None else (found,)


def _title(gold: GoldLink, identities: Identities | None) -> str | None:
    """The title of the gold entity; a NIL has none, whatever its dataset calls it."""
    if not gold.entities:
        return None
    entity = identities.entity(gold.entities[0]) if identities else None
    title = gold.meta.get("title") if entity is None else entity.title
    return title if isinstance(title, str) else None


def _title_labels(gold: GoldLink, surface: str, identities: Identities | None) -> Labels:
    title = _title(gold, identities)
    if title is None:
        return ()
    return ("surface is the title" if folded_title(title) == folded_title(surface) else "surface is not the title",)


def _overlap_labels(gold: GoldLink, surface: str, identities: Identities | None) -> Labels:
    category = gold.meta.get("category")
    if category:
        return (str(category),)
    title = _title(gold, identities)
    return () if title is None else (overlap_category(surface, title),)


def _seen_labels(gold: GoldLink, surface: str, training: Training) -> Labels:
    if not gold.entities:
        return ()
    if any((surface, entity) in training.pairs for entity in gold.entities):
        return ("entity seen by this name",)
    return ("entity seen by other names" if training.entities.intersection(gold.entities) else "entity unseen",)


class _Popularity:
    """Whether a name's likeliest entity is the right one, asked of the knowledge base once a name."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._first: dict[str, str | None] = {}

    def labels(self, gold: GoldLink, surface: str) -> Labels:
        if not gold.entities:
            return ()
        if surface not in self._first:
            if len(self._first) >= _MOST_REMEMBERED:
                self._first.clear()
            meanings = self._names.aliases(surface)
            self._first[surface] = meanings[0].entity if meanings else None
        first = self._first[surface]
        if first is None:
            return ("the KB does not know the name",)
        return ("most popular is gold" if first in gold.entities else "most popular is not gold",)
