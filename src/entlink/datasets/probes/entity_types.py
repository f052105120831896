"""Leaves out relations of dates, numbers and what is no entity, as a pipeline of spaCy sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from entlink.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from entlink.formats.probes.sources.relations import Relation

LEFT_OUT = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"})


class EntityFilter:
    """Keeps relations of which at least one side has an entity, and none has one of the types of `LEFT_OUT`."""

    def __init__(self, pipeline: str | None) -> None:
        self._pipeline = _loaded(pipeline) if pipeline else None

    def kept(self, relations: list[Relation]) -> list[Relation]:
        """Those that stay, in order; without a pipeline all."""
        if self._pipeline is None:
            return relations
        names = list(dict.fromkeys(name for one in relations for name in (one.subject, one.object)))
        documents = self._pipeline.pipe(names)
        types = {name: self._types(document.ents) for name, document in zip(names, documents, strict=True)}
        return [one for one in relations if _is_of_entities(types[one.subject], types[one.object])]

    @staticmethod
    def _types(entities: Iterable[Any]) -> set[str]:
        return {entity.label_ for entity in entities}


def _is_of_entities(*sides: set[str]) -> bool:
    found = set().union(*sides)
    return bool(found) and not found & LEFT_OUT


def _loaded(name: str) -> Any:
    try:
        import spacy
    except ImportError as problem:
        raise MissingExtraError("leaving out dates and numbers with --entity-types", "spacy") from problem
    try:
        return spacy.load(name)
    except OSError as problem:
        raise InputError(
            f"spaCy has no pipeline {name!r}. Get one, as with `python -m spacy download en_core_web_sm`, or name a "
            "folder that holds one"
        ) from problem
