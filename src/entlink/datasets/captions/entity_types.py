"""Types of entities by the two lists of paper 4, and topics of pages: names for types of the knowledge base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from entlink.datasets.captions.options import Rows, TypeList
from entlink.documents import Entity
from entlink.errors import InputError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.types.tables import read_pairs

# In the order of the paper; the last is for what is none of the others.
TYPE_LISTS: Mapping[TypeList, tuple[str, ...]] = MappingProxyType(
    {
        "annotation": ("Person", "Organization", "Location", "Country", "Event", "Works", "Misc"),
        "guidelines": ("persons", "organizations", "locations", "events", "works", "currency", "others"),
    }
)
_FILE = Path(__file__).with_name("types.tsv")
_ANY = "*"


class Rules:
    """Rows of a name and a type. A type that ends in `*` stands for all that begin so."""

    def __init__(self, rows: Iterable[tuple[str, str]]) -> None:
        self._rows = list(rows)
        self._exact: dict[str, int] = {}
        self._beginnings: list[tuple[str, int]] = []
        for place, (_, type) in enumerate(self._rows):
            if type.endswith(_ANY):
                self._beginnings.append((type.removesuffix(_ANY), place))
            else:
                self._exact.setdefault(type, place)

    def first(self, types: Iterable[str]) -> str | None:
        """The name of the first row that one of the types fits."""
        places = [place for type in types for place in self._places(type)]
        return self._rows[min(places)][0] if places else None

    def _places(self, type: str) -> Iterable[int]:
        if (place := self._exact.get(type)) is not None:
            yield place
        for beginning, place in self._beginnings:
            if type.startswith(beginning):
                yield place


class Typer:
    """The type of an entity by a list: of the user's rows, the list's rows and coarse types the first that fits."""

    def __init__(self, kb: KnowledgeBase, type_list: TypeList, rows: Rows) -> None:
        self._kb, self._names = kb, TYPE_LISTS[type_list]
        self._rules = Rules([*rows, *((name, type) for of, name, type in own_rows() if of == type_list)])
        self._known: dict[str, str | None] = {}

    def of(self, id: str) -> str | None:
        """The type of an entity; None where the knowledge base has no types of it."""
        if id not in self._known:
            self._known[id] = self._found(id)
        return self._known[id]

    def _found(self, id: str) -> str | None:
        coarse = self._kb.types.coarse(id)
        types = self._kb.types.all_types(id)
        if not types:
            return None
        named = self._rules.first([*types, *([coarse] if coarse else [])])
        if named is None and coarse is not None:
            named = next((name for name in self._names if name.casefold() == coarse.casefold()), None)
        return named or self._names[-1]


class Topics:
    """The topic of a page: of the user's rows the first that fits its types, else its coarse or its first type."""

    def __init__(self, kb: KnowledgeBase, rows: Rows) -> None:
        self._kb, self._rules = kb, Rules(rows)

    def of(self, page: Entity | None, categories: Iterable[str] = ()) -> str | None:
        """The topic of a page by its types in the knowledge base, and the categories its source gives it."""
        own = frozenset() if page is None else self._kb.types.all_types(page.id)
        given = tuple(categories)
        named = self._rules.first([*own, *given])
        if named is not None:
            return named
        coarse = None if page is None else self._kb.types.coarse(page.id)
        return coarse or next(iter(given), None)


@cache
def own_rows() -> tuple[tuple[str, str, str], ...]:
    """The rows that come with entlink: of which list, a name of it, and a coarse type or an item of Wikidata."""
    rows = (line.split("\t") for line in _FILE.read_text(encoding="utf8").splitlines())
    return tuple((of, name, type) for of, name, type in rows)


def read_rows(path: str | Path) -> Rows:
    """The rows of a user's file of two columns: a name, and a type or category, which may end in `*`."""
    rows = tuple(read_pairs(path))
    if not rows:
        raise InputError(f"{path}: there is no row in it. Write a name and a type in each, with a tab between")
    return rows
