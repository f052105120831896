"""Parts of the gold that are scored apart: popular and not, seen and unseen, by type, domain, any field of meta."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from entlink.documents import Document
from entlink.errors import ConfigError
from entlink.evaluation.identities import Identities
from entlink.evaluation.items import Gold, gold_items

Labels = tuple[str, ...]
_MOST_REMEMBERED = 500_000


class NameMeaning(Protocol):
    """An entity that a name may mean; `KnowledgeBase.aliases` gives them, the likeliest first."""

    @property
    def entity(self) -> str: ...


class Names(Protocol):
    """What is asked of a knowledge base about names."""

    def aliases(self, surface: str) -> Sequence[NameMeaning]: ...


class Slicer(NamedTuple):
    """A way to part the gold; `of_documents` says that predictions are parted too, so that there is a precision."""

    name: str
    labels: Callable[[Document, Gold | None], Labels]
    of_documents: bool = False


class Training:
    """What a linker may have seen: entities, names, and names with their entities."""

    def __init__(self, documents: Iterable[Document], identities: Identities | None = None) -> None:
        self.entities: set[str] = set()
        self.pairs: set[tuple[str, str]] = set()
        for document in documents:
            for gold in gold_items(identities.gold(document) if identities else document):
                self.entities.update(gold.entities)
                self.pairs.update((gold.surface, entity) for entity in gold.entities)


def slicers(
    wanted: Sequence[str] | None = None,
    *,
    identities: Identities | None = None,
    names: Names | None = None,
    training: Training | None = None,
) -> list[Slicer]:
    """The slicers of these names; None: all that can be had with what is given.

    `meta:FIELD` is a field of the document's meta, `gold:FIELD` one of the gold link's.
    """
    able = _able(identities, names, training)
    if wanted is None:
        return list(able.values())
    found = []
    for name in wanted:
        if name in able:
            found.append(able[name])
        elif name.startswith(("meta:", "gold:")) and name[5:]:
            found.append(_of_field(name))
        else:
            raise ConfigError(_unknown(name, able))
    return found


def _unknown(name: str, able: dict[str, Slicer]) -> str:
    needs = {"popular": "--kb", "title": "--kb", "overlap": "--kb", "seen": "--train"}
    if name in needs:
        return f"the slice {name!r} needs {needs[name]}"
    return f"there is no slice {name!r}. Choose among {', '.join([*able, *needs])}, meta:FIELD, gold:FIELD"


def _able(identities: Identities | None, names: Names | None, training: Training | None) -> dict[str, Slicer]:
    found = [
        Slicer("kb", lambda document, gold: (_kb_label(gold, identities),) if gold else ()),
        Slicer("type", lambda document, gold: _types(gold, identities) if gold else ()),
        Slicer("domain", lambda document, gold: _field(document.meta, "domain"), True),
        Slicer("language", lambda document, gold: (document.language,) if document.language else (), True),
        Slicer("overlap", lambda document, gold: _overlap_labels(gold, identities) if gold else ()),
    ]
    if identities is not None:
        found.append(Slicer("title", lambda document, gold: _title_labels(gold, identities) if gold else ()))
    if names is not None:
        popularity = _Popularity(names)
        found.append(Slicer("popular", lambda document, gold: popularity.labels(gold) if gold else ()))
    if training is not None:
        found.append(Slicer("seen", lambda document, gold: _seen_labels(gold, training) if gold else ()))
    return {one.name: one for one in found}


def _of_field(name: str) -> Slicer:
    field = name[5:]
    if name.startswith("meta:"):
        return Slicer(name, lambda document, gold: _field(document.meta, field), True)
    return Slicer(name, lambda document, gold: _field(gold.link.meta, field) if gold else ())


def _field(meta: Any, field: str) -> Labels:
    value = meta.get(field)
    if value is None:
        return ()
    return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),)


def _kb_label(gold: Gold, identities: Identities | None) -> str:
    if gold.is_nil:
        return "NIL"
    return "in-KB" if is_covered(gold, identities) else "unknown to the KB"


def is_covered(gold: Gold, identities: Identities | None) -> bool:
    """Whether the knowledge base has one of the gold entities; without one to ask, and for NIL, it is taken so."""
    if identities is None or gold.is_nil:
        return True
    return any(identities.entity(entity) is not None for entity in gold.entities)


def _types(gold: Gold, identities: Identities | None) -> Labels:
    """The annotator's type, else the types that the knowledge base gives the entity."""
    own = gold.link.meta.get("type") or gold.nil_type
    if own:
        return (str(own),)
    entity = identities.entity(gold.entities[0]) if identities and gold.entities else None
    return entity.types if entity else ()


def _title(gold: Gold, identities: Identities | None) -> str | None:
    entity = identities.entity(gold.entities[0]) if identities and gold.entities else None
    title = gold.link.meta.get("title") if entity is None else entity.title
    return title if isinstance(title, str) else None


def _title_labels(gold: Gold, identities: Identities) -> Labels:
    title = _title(gold, identities)
    if title is None:
        return ()
    return ("surface is the title" if _folded(title) == _folded(gold.surface) else "surface is not the title",)


def _overlap_labels(gold: Gold, identities: Identities | None) -> Labels:
    category = gold.link.meta.get("category")
    if category:
        return (str(category),)
    title = _title(gold, identities)
    return () if title is None else (overlap_category(gold.surface, title),)


def overlap_category(surface: str, title: str) -> str:
    """ZESHEL's four: the title itself, the title but for a closing parenthesis, a part of it, or none of these."""
    name, whole = _folded(surface), _folded(title)
    if name == whole:
        return "HIGH_OVERLAP"
    if whole.startswith(f"{name} (") and whole.endswith(")"):
        return "MULTIPLE_CATEGORIES"
    return "AMBIGUOUS_SUBSTRING" if name in whole else "LOW_OVERLAP"


def _folded(text: str) -> str:
    return " ".join(text.replace("_", " ").split()).casefold()


def _seen_labels(gold: Gold, training: Training) -> Labels:
    if gold.is_nil:
        return ()
    if any((gold.surface, entity) in training.pairs for entity in gold.entities):
        return ("entity seen by this name",)
    return ("entity seen by other names" if training.entities.intersection(gold.entities) else "entity unseen",)


class _Popularity:
    """Whether a name's likeliest entity is the right one, asked of the knowledge base once a name."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._first: dict[str, str | None] = {}

    def labels(self, gold: Gold) -> Labels:
        if gold.is_nil:
            return ()
        if gold.surface not in self._first:
            if len(self._first) >= _MOST_REMEMBERED:
                self._first.clear()
            meanings = self._names.aliases(gold.surface)
            self._first[gold.surface] = meanings[0].entity if meanings else None
        first = self._first[gold.surface]
        if first is None:
            return ("the KB does not know the name",)
        return ("most popular is gold" if first in gold.entities else "most popular is not gold",)
