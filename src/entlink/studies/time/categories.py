"""Which category a target is of: continual, or one of the categories of new entities, by patterns on its title."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from entlink.errors import ConfigError

CONTINUAL, NEW, OTHER = "continual", "new", "other"
OWN = Path(__file__).parent / "categories.toml"


class Category(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A category of new entities: all of `all` and one of `any` are found in the title."""

    name: str
    any: tuple[str, ...] = ()
    all: tuple[str, ...] = ()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    category: tuple[Category, ...] = ()


class Categories:
    """The categories of a file, the first that fits a title first."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path or OWN)
        self._categories = [(one.name, *self._patterns(one)) for one in _read(self.path)]

    @property
    def names(self) -> list[str]:
        """Their names, and at the end that of the rest."""
        return [*(name for name, _, _ in self._categories), OTHER]

    def of(self, title: str) -> str:
        """The category of a new entity with this title."""
        title = title.replace("_", " ")
        for name, every, some in self._categories:
            if all(one.search(title) for one in every) and (not some or any(one.search(title) for one in some)):
                return name
        return OTHER

    def _patterns(self, one: Category) -> tuple[Sequence[re.Pattern[str]], Sequence[re.Pattern[str]]]:
        try:
            every, some = ([re.compile(each, re.IGNORECASE) for each in part] for part in (one.all, one.any))
        except re.error as problem:
            raise ConfigError(
                f"{self.path}: {problem.pattern!r} of the category {one.name!r} is no regular expression "
                f"({problem}). "
                "Correct it"
            ) from problem
        return every, some


def _read(path: Path) -> Sequence[Category]:
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf8")), _File).category
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read ({problem.strerror}). Name a TOML file of categories") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as problem:
        raise ConfigError(f"{path}: this is no file of categories ({problem}). Correct it") from problem
    names = [one.name for one in found]
    for name in names:
        if name in (CONTINUAL, NEW, OTHER) or names.count(name) > 1:
            raise ConfigError(f"{path}: the category {name!r} is there already. Give each a name of its own")
    empty = next((one.name for one in found if not one.any and not one.all), None)
    if empty is not None:
        raise ConfigError(f"{path}: the category {empty!r} has no pattern. Give it `any` or `all`")
    return found
