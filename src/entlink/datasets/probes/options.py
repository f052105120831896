"""What a probing task is built with."""

from __future__ import annotations

from typing import Annotated

import msgspec

from entlink.errors import InputError
from entlink.formats.probes import SPLITS
from entlink.io.ledger import OnError

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
AtLeastZero = Annotated[int, msgspec.Meta(ge=0)]
Sizes = tuple[AtLeastOne, AtLeastOne, AtLeastOne]


class ProbeOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to build a probing task.

    - `sizes`: rows of train, valid and test at most; else those of the paper. Of `ert` they are rows a relation
    - `seed`: what chance depends on
    - `tokens`: of each description, so many words are kept
    - `candidates`: of a mention, at most; `ambiguous` keeps only mentions with two candidates or more
    - `rare`: an entity is rare if it is mentioned at most so often in the documents; 0: all are
    - `templates`: a TOML file with the sentences of relations, in place of the one in the box
    - `entity_types`: a pipeline of spaCy; relations with a date, a number or no entity on a side are left out
    - `relations`: keep only these relations
    """

    sizes: Sizes | None = None
    seed: int = 0
    tokens: AtLeastOne = 100
    candidates: AtLeastOne = 30
    ambiguous: bool = False
    rare: AtLeastZero = 0
    templates: str | None = None
    entity_types: str | None = None
    relations: tuple[str, ...] = ()
    on_error: OnError = "stop"


DEFAULTS = ProbeOptions()


def checked(options: ProbeOptions) -> ProbeOptions:
    """The options, if their values are possible."""
    try:
        return msgspec.convert(msgspec.to_builtins(options), ProbeOptions)
    except msgspec.ValidationError as problem:
        raise InputError(
            f"an option of the probing task is wrong: {problem}. docs/probe-tasks.md lists them"
        ) from problem


def sizes_by_split(options: ProbeOptions, published: Sizes) -> dict[str, int]:
    """How many rows each split has at most."""
    return dict(zip(SPLITS, options.sizes or published, strict=True))
