"""CERP, relations in context: does a sentence about two things hold? Of ConceptNet's assertions.

Of each assertion there are four sentences: it; it denied; it with one of its things replaced by a similar one; and
that denied. The first and the last hold. All four are of one split, so that no test sentence is a training sentence
denied; the paper does not say whether its are. Nor do assertions of two splits become the same one by replacing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from entlink.datasets.probes.chance import Sampled
from entlink.datasets.probes.entity_types import EntityFilter
from entlink.datasets.probes.material import Built, Material, mention
from entlink.datasets.probes.options import Sizes, sizes_by_split
from entlink.datasets.probes.templates import IN_THE_BOX, Templates, read_templates
from entlink.errors import InputError
from entlink.formats.probes import SPLITS, ProbeCard, ProbeExample
from entlink.formats.probes.sources import relations
from entlink.formats.probes.sources.relations import Relation

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

SIZES: Sizes = (4000, 4000, 4000)  # §3.4
LABELS = ("false", "true")
_NEIGHBOURS = 10  # a thing is replaced by one of so many that are most like it
_POOL = 5000  # things that may take a thing's place, of each relation and side
_MOST = 200_000  # assertions that are kept
_LANGUAGES = ("", "en")
_SPARE = 4  # assertions looked at for each that is needed: some have no similar thing
_CARD = ProbeCard(
    name="cerp",
    title="Whether sentences about two things hold, from ConceptNet",
    family="cerp",
    kind="classification",
    metric="accuracy",
    representation="context",
    source="https://conceptnet.io",
    licence="CC BY-SA 4.0",
    published="cerp",
)


class _Sentence(NamedTuple):
    """A row to be: an assertion, whether a thing of it is replaced, and whether it is denied."""

    replaced: bool
    denied: bool

    @property
    def holds(self) -> bool:
        return self.replaced == self.denied


_FOUR = tuple(_Sentence(replaced, denied) for replaced in (False, True) for denied in (False, True))


def build(material: Material) -> Built:
    """Rows of the relations that have a sentence, as many that hold as do not."""
    path = Path(material.options.templates or IN_THE_BOX)
    templates = read_templates(path)
    assertions = _Assertions(material, templates)
    sizes = sizes_by_split(material.options, SIZES)
    groups = _by_split(assertions.all, sizes)
    replacing = _Replacing(material, assertions)
    splits = {}
    for split in SPLITS:
        replacing.split = split
        found = _rows(material, groups[split], sizes[split], templates, replacing)
        splits[split] = sorted(found, key=lambda row: material.hash("order", row.id))
    notes = (
        f"Templates: {path.name}. {len(assertions.all):,} assertions were left after filtering. All sentences of an "
        "assertion are of one split. A thing is replaced by one of the ten most like it among those of the same "
        "relation and side."
    )
    return Built(_CARD, splits, notes=notes)


class _Assertions:
    """The assertions that are kept, in the order of their hashes, and every one that is known to hold."""

    def __init__(self, material: Material, templates: Templates) -> None:
        self.known: set[int] = set()  # hashes of keys: of all that ConceptNet knows these are a third of the memory
        self._filter = EntityFilter(material.options.entity_types)
        kept = Sampled[Relation](_MOST)
        for one in _read(material):
            if one.language in _LANGUAGES:
                self.known.add(hash(_key(one)))
            if (reason := self._reason(material, templates, one)) is not None:
                material.left_out[reason] += 1
                continue
            kept.add(material.hash("assertion", "\0".join(_key(one))), one)
        self.all = self._unlike(material, kept.items())

    def _reason(self, material: Material, templates: Templates, one: Relation) -> str | None:
        if one.relation not in templates.relations or one.relation in templates.excluded:
            return "assertions of relations that are left out"
        if material.options.relations and one.relation not in material.options.relations:
            return "assertions of relations that were not asked for"
        if one.language not in _LANGUAGES:
            return "assertions that are not English"
        if one.subject.casefold() == one.object.casefold():
            return "assertions of one thing only"
        if material.has_kb and not all(_is_name(material, name) for name in (one.subject, one.object)):
            return "assertions with a thing that is no name of the knowledge base"
        return None

    def _unlike(self, material: Material, assertions: list[Relation]) -> list[Relation]:
        """Each once, and without those whose things are of the types that are left out."""
        unique = list({_key(one): one for one in assertions}.values())
        kept = self._filter.kept(unique)
        material.left_out["assertions with a date, a number or no entity"] += len(unique) - len(kept)
        return kept


def _read(material: Material) -> Iterator[Relation]:
    for path in material.sources:
        found = relations.read(path, on_error=material.options.on_error, on_problem=material.problem)
        yield from material.counted(path.name, found, 20_000)


def _key(one: Relation) -> tuple[str, str, str]:
    return one.subject.casefold(), one.relation, one.object.casefold()


def _is_name(material: Material, name: str) -> bool:
    return bool(material.kb.meaning(name).entries)


def _by_split(assertions: list[Relation], sizes: dict[str, int]) -> dict[str, list[Relation]]:
    """The assertions in order, cut in the proportion of the splits."""
    total, start, groups = sum(sizes.values()), 0, {}
    for number, split in enumerate(SPLITS):
        end = len(assertions) * sum(list(sizes.values())[: number + 1]) // total
        groups[split] = assertions[start:end]
        start = end
    return groups


class _Replacing:
    """Finds something similar to a thing, which does not make the assertion one that holds, or of another split."""

    def __init__(self, material: Material, assertions: _Assertions) -> None:
        self._material, self._known = material, assertions.known
        self.split = SPLITS[0]  # that the assertions are of
        self._split_of: dict[tuple[str, str, str], str] = {}  # of assertions that were made by replacing
        names: dict[tuple[str, int], Sampled[str]] = defaultdict(lambda: Sampled(_POOL))
        seen: set[tuple[str, int, str]] = set()
        for one in assertions.all:
            for side, name in enumerate((one.subject, one.object)):
                if (one.relation, side, name.casefold()) not in seen:
                    seen.add((one.relation, side, name.casefold()))
                    names[one.relation, side].add(material.hash("pool", name), name)
        self._names = names
        self._pools: dict[tuple[str, int], tuple[list[str], NDArray[numpy.float32]]] = {}

    def replaced(self, one: Relation) -> Relation | None:
        """The assertion with its start or end, by chance, replaced; None where nothing similar is known."""
        side = self._material.hash("side", "\0".join(_key(one))) % 2
        name = (one.subject, one.object)[side]
        vector = self._material.vectors.unit(name)
        if vector is None:
            return None
        names, matrix = self._pool(one.relation, side)
        order = (-(matrix @ vector)).argsort(kind="stable")
        found: list[Relation] = []
        for at in order:
            other = msgspec.structs.replace(one, **{("subject", "object")[side]: names[at]})
            if not _alike(name, names[at]) and other.subject != other.object and self._is_free(other):
                found.append(other)
            if len(found) == _NEIGHBOURS:
                break
        if not found:
            return None
        chosen = found[self._material.hash("neighbour", "\0".join(_key(one))) % len(found)]
        self._split_of[_key(chosen)] = self.split
        return msgspec.structs.replace(chosen, sentence=_resentenced(one, side, names, chosen))

    def _is_free(self, other: Relation) -> bool:
        key = _key(other)
        return hash(key) not in self._known and self._split_of.get(key, self.split) == self.split

    def _pool(self, relation: str, side: int) -> tuple[list[str], NDArray[numpy.float32]]:
        if (relation, side) not in self._pools:
            self._pools[relation, side] = self._material.vectors.matrix(self._names[relation, side].items())
        return self._pools[relation, side]


def _resentenced(one: Relation, side: int, names: list[str], chosen: Relation) -> str:
    """The source's sentence with the new thing in the place of the old one."""
    old, new = ((one.subject, chosen.subject), (one.object, chosen.object))[side]
    parts = one.sentence.split("[[")
    if len(parts) != 3:
        return ""
    place = side + 1
    inside, closed, rest = parts[place].partition("]]")
    if not closed or inside.strip().casefold() != old.casefold():
        return ""
    parts[place] = f"{new}]]{rest}"
    return "[[".join(parts)


def _alike(name: str, other: str) -> bool:
    """Whether two names may well be of one thing: they differ in case or a plural ending only."""
    one, two = name.casefold(), other.casefold()
    return one == two or one in (f"{two}s", f"{two}es") or two in (f"{one}s", f"{one}es")


def _rows(
    material: Material, assertions: list[Relation], size: int, templates: Templates, replacing: _Replacing
) -> list[ProbeExample]:
    """Half of the rows hold; which of its four sentences an assertion gives is chance."""
    half = size // 2
    kept = {holds: Sampled[tuple[Relation, _Sentence]](_SPARE * half) for holds in (False, True)}
    for one in assertions:
        for kind in _FOUR:
            kept[kind.holds].add(material.hash("sentence", f"{_key(one)}\0{kind}"), (one, kind))
    found: dict[bool, list[ProbeExample]] = {}
    for holds, sampled in kept.items():
        found[holds] = []
        for one, kind in material.counted("sentences", sampled.items(), 100):
            if len(found[holds]) == half:
                break
            if (row := _row(one, kind, templates, replacing)) is not None:
                found[holds].append(row)
    fewest = min(map(len, found.values()))
    if not fewest:
        raise InputError(
            "no assertion is left that has a sentence and something similar to replace a thing with. Give more "
            "assertions, other --templates, or vectors that know their words"
        )
    return [row for rows in found.values() for row in rows[:fewest]]


def _row(one: Relation, kind: _Sentence, templates: Templates, replacing: _Replacing) -> ProbeExample | None:
    said = replacing.replaced(one) if kind.replaced else one
    if said is None:
        return None
    sentence, subject, object = templates.statement(said, denied=kind.denied)
    entities = (mention(sentence, subject), mention(sentence, object))
    return ProbeExample(entities, (LABELS[kind.holds],), id="\0".join(_key(one)).replace("\0", " | "))
