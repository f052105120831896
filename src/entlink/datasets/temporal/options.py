"""What a temporal dataset is made of: the hyperparameters of TempEL's Table 1 by their own names, and our own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from entlink.errors import ConfigError

_PRESETS = Path(__file__).parent / "presets"
PRESET = "tempel"
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
AtLeastZero = Annotated[int, msgspec.Meta(ge=0)]
RankAmong = Literal["mentions", "entities"]
_PLACES = 9  # behind the point, of a bound: whole numbers are compared, so that nothing is rounded


class TemporalOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which mentions of which dates are taken.

    The first fifteen are those of Table 1. `snapshots` are dates, or START/END/INTERVAL. `max_mens_per_ent` holds for
    train, validation and test. `rank_among` says what `min_men_prior_rank` ranks: a mention among the mentions of its
    entity, or its entity among the entities of the mention. `first_interval` (seconds; 0: as long as the second) is
    how long before the first snapshot an entity of it may be created to be new. `context_len` is how many tokens are
    kept on each side of a mention. `tokenizer` is a folder with one: lengths are word pieces then.
    """

    snapshots: str | tuple[str, ...] = "2013-01-01/2022-01-01/yearly"
    nr_ct_ents_per_cut: AtLeastOne = 10_000
    min_mens_per_ent: AtLeastOne = 1
    min_men_prior: Share = 0.0001
    max_men_prior: Share = 0.5
    min_men_prior_rank: AtLeastOne = 2
    min_ent_prior: Share = 0.0
    max_ent_prior: Share = 1.0
    min_nr_inlinks: AtLeastZero = 10
    min_len_target_ent: AtLeastZero = 10
    max_mens_per_ent: tuple[AtLeastOne, AtLeastOne, AtLeastOne] = (500, 10, 10)
    ed_men_title: Share = 0.2
    ed_men_subsets: Share = 0.2
    stable_interval: AtLeastOne = 2_592_000
    equal_snapshots: bool = True
    rank_among: RankAmong = "mentions"
    first_interval: AtLeastZero = 0
    context_len: AtLeastOne = 128
    seed: int = 0
    tokenizer: str | None = None


PUBLISHED = TemporalOptions()
TABLE_1 = TemporalOptions.__struct_fields__[:15]


def preset_names() -> list[str]:
    """The configurations in the box."""
    return sorted(path.stem for path in _PRESETS.glob("*.toml"))


def read_temporal_options(spec: str | Path = PRESET, settings: Mapping[str, Any] | None = None) -> TemporalOptions:
    """The options of a preset or a TOML file, with `settings`, read as TOML, laid over them."""
    path = _PRESETS / f"{spec}.toml" if str(spec) in preset_names() else Path(spec)
    if not path.is_file():
        raise ConfigError(
            f"{spec}: no such file, and no configuration in the box. Those are {', '.join(preset_names())}"
        )
    try:
        read = tomllib.loads(path.read_text(encoding="utf8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}: this is not TOML ({problem}). Correct it") from problem
    laid = {name: _parsed(value) if isinstance(value, str) else value for name, value in (settings or {}).items()}
    checked(read, str(path))
    return checked({**read, **laid}, "--set")


def checked(read: Mapping[str, Any], where: str = "") -> TemporalOptions:
    """Options from plain values, if they are possible and leave anything."""
    place = f"{where}: " if where else ""
    try:
        options = msgspec.convert(dict(read), TemporalOptions)
    except msgspec.ValidationError as problem:
        wrong, _, at = str(problem).partition(" - at `$.")
        name = at.rstrip("`").partition("[")[0]
        told = f"{name} is {read.get(name)!r}: {wrong[0].lower()}{wrong[1:]}" if name else wrong
        raise ConfigError(f"{place}{told}. docs/temporal-datasets.md lists the settings") from problem
    for low, high in (("min_men_prior", "max_men_prior"), ("min_ent_prior", "max_ent_prior")):
        if getattr(options, low) > getattr(options, high):
            raise ConfigError(
                f"{place}{low} is {getattr(options, low):g}, above {high}, which is {getattr(options, high):g}: no "
                "mention would be left"
            )
    for name, kind in TemporalOptions.__annotations__.items():
        if kind == "Share":
            _exact(name, getattr(options, name), place)
    return options


def exact(bound: float) -> tuple[int, int]:
    """A bound as the fraction it was written as: 0.0001 is 1 of 10,000."""
    written = Fraction(repr(bound))
    return written.numerator, written.denominator


def _exact(name: str, bound: float, place: str) -> None:
    if exact(bound)[1] > 10**_PLACES:
        raise ConfigError(f"{place}{name} is {bound!r}: give it with {_PLACES} places behind the point at most")


def _parsed(value: str) -> Any:
    """A value as TOML has it; what is none is text, so that dates need no quotes."""
    try:
        read = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value
    return read if isinstance(read, int | float | str | list) else value  # a date of TOML is a text to us
