"""Types in decisions on NIL: the threshold that holds for a candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, NamedTuple

from msgspec import Meta

Share = Annotated[float, Meta(ge=0, le=1)]
NO_TYPES: Mapping[str, float] = MappingProxyType({})


class Limit(NamedTuple):
    """A threshold and the type it is of; None is all that have none of their own."""

    threshold: float
    type: str | None = None

    def __str__(self) -> str:
        return f"{self.threshold:.3f}" + ("" if self.type is None else f", that of type {self.type!r}")


def limit_for(types: Sequence[str], thresholds: Mapping[str, float], otherwise: float) -> Limit:
    """The lowest threshold of an entity's types; the general one where none of them has its own."""
    own = [Limit(thresholds[name], name) for name in types if name in thresholds]
    return min(own, default=Limit(otherwise))
