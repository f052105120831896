"""The expansion of templates that carry text, by rules that a user can extend: see `expansion_rules.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from entlink.errors import ConfigError
from entlink.sources.wikitext.templates.arguments import Arguments, named_and_placed, placed
from entlink.sources.wikitext.templates.builtins import BUILTINS
from entlink.sources.wikitext.templates.rule import Rule, RuleTable, make_rule

SHIPPED = "expansion_rules.toml"
WILDCARD, FUNCTION = "*", ":"  # how a name ends that is the beginning of many, and that of a parser function
MOST_REMEMBERED = 50_000  # names of templates; those of English Wikipedia's articles that are used twice are fewer
UNSTATED = "en"  # the language of a wiki that does not say it
LONGEST_NAME = 255  # of a page of MediaWiki, in bytes


class Meaning(NamedTuple):
    """What a name stands for: its rule with the arguments it takes where the page gives none."""

    rule: Rule
    defaults: dict[str, str]
    is_function: bool


Meanings = Mapping[str, Meaning | None]  # None: to be dropped, as what is not named here is


class Expansion:
    """Puts text in place of templates: called with a name and its arguments, it returns wikitext or None, to drop it.

    The name is as MediaWiki normalises it: its first letter capital, blanks for underscores. The call of a parser
    function comes with its first argument in the name, such as `Formatnum:1234`.
    """

    def __init__(self, meanings: Meanings, language: str | None = None) -> None:
        self.language = language
        self._names = _Names(meanings)

    def __call__(self, name: str, arguments: Sequence[str]) -> str | None:
        meaning = self._names[name]
        if meaning is None:
            return None
        rule, defaults, is_function = meaning
        if is_function:
            name, _, first = name.partition(FUNCTION)
            values = placed([first, *arguments])
        else:
            values = named_and_placed(arguments)
        return rule(Arguments(name, defaults | values if defaults else values, self.language))


class _Names(dict[str, "Meaning | None"]):
    """The meanings by name. A name that is met for the first time is looked for among wildcards, and remembered."""

    def __init__(self, meanings: Meanings) -> None:
        super().__init__()
        self._meanings = meanings
        self._beginnings: dict[str, Meaning | None] = {}
        self._functions: dict[str, Meaning | None] = {}
        for name, meaning in meanings.items():
            if name.endswith(WILDCARD):
                self._beginnings[name[:-1]] = meaning
            elif name.endswith(FUNCTION):
                self._functions[name[:-1].lower()] = meaning
            else:
                self[name] = meaning
        self._lengths = sorted({len(beginning) for beginning in self._beginnings}, reverse=True)

    def __missing__(self, name: str) -> Meaning | None:
        head, colon, _ = name.partition(FUNCTION)
        if colon and (function := head.lower()) in self._functions:
            return self._functions[function]
        meaning = self._by_beginning(name)
        if len(self) < MOST_REMEMBERED and len(name) <= LONGEST_NAME:
            self[name] = meaning
        return meaning

    def _by_beginning(self, name: str) -> Meaning | None:
        for length in self._lengths:
            if (beginning := name[:length]) in self._beginnings:
                return self._beginnings[beginning]
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Names, (self._meanings,)


@lru_cache(maxsize=32)
def default_expander(language: str | None = None) -> Expansion:
    """The shipped rules. `language`, that of the wiki, decides how dates and numbers are written."""
    return Expansion(_shipped(language), language)


def load_rules(path: Path | str | None = None, language: str | None = None) -> Expansion:
    """The shipped rules with those of a TOML file laid over them: a rule of the file replaces those of its names.

    A rule that cannot be used is a ConfigError that names the file, the rule and what to do.
    """
    if path is None:
        return default_expander(language)
    return Expansion(_shipped(language) | _read(str(path), _content(Path(path)), language), language)


def template_name(written: str) -> str:
    """A template's name as MediaWiki normalises it."""
    name = " ".join(written.replace("_", " ").split())
    return name[:1].upper() + name[1:]


def _shipped(language: str | None) -> dict[str, Meaning | None]:
    return _read(SHIPPED, (files(__package__) / SHIPPED).read_bytes(), language)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise ConfigError(
            f"{path}: cannot be read ({problem.strerror}). Give the path of a TOML file of rules"
        ) from problem


def _read(file: str, content: bytes, language: str | None) -> dict[str, Meaning | None]:
    try:
        tables = msgspec.toml.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(
            f"{file}: not TOML: {problem}. A name with other than letters, digits and - is quoted"
        ) from problem
    meanings: dict[str, Meaning | None] = {}
    owners: dict[str, str] = {}
    for title, content_of_table in tables.items():
        try:
            table = _table(content_of_table)
            rule = make_rule(table, BUILTINS)
            names = [_checked_name(name) for name in (title, *table.also)]
            _claim(owners, title, names)
        except ConfigError as problem:
            raise ConfigError(f"{file}: rule [{title}]: {problem}") from problem
        if not table.languages or (language or UNSTATED) in table.languages:
            meanings |= {name: rule and Meaning(rule, table.defaults, name.endswith(FUNCTION)) for name in names}
    return meanings


def _table(content: Any) -> RuleTable:
    try:
        return msgspec.convert(content, RuleTable)
    except msgspec.ValidationError as problem:
        raise ConfigError(
            f"{problem}. A rule is a table of also, text, builtin, drop, join, defaults and languages;"
            " quote a name that holds a dot"
        ) from problem


def _checked_name(written: str) -> str:
    name = template_name(written)
    if not name.rstrip(WILDCARD + FUNCTION) or WILDCARD in name[:-1]:
        raise ConfigError(f"{written!r} is no name of a template. A {WILDCARD} may only stand at its end")
    return name


def _claim(owners: dict[str, str], title: str, names: Iterable[str]) -> None:
    for name in names:
        if name in owners:
            raise ConfigError(f"{name!r} belongs to rule [{owners[name]}] already. Take it out of one of them")
        owners[name] = title
