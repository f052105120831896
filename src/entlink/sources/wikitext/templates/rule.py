"""One rule of expansion: what a table of the rules file says, checked and made ready to be applied."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from entlink.documents import Record
from entlink.errors import ConfigError
from entlink.sources.wikitext.templates.arguments import Arguments
from entlink.text.nearest import did_you_mean

Rule = Callable[[Arguments], str | None]  # what is put in place of a template
ALL, NAME = "*", "0"  # the slots of all arguments given by place, and of the template's own name
PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class RuleTable(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A table of the rules file as written; exactly one of `text`, `builtin` and `drop` says what to do."""

    also: tuple[str, ...] = ()
    text: str | tuple[str, ...] | None = None
    builtin: str | None = None
    drop: bool = False
    join: str = ", "
    defaults: dict[str, str] = {}
    languages: tuple[str, ...] = ()


class Slot(Record, frozen=True):
    """A place in a text that takes the first of these arguments that is given."""

    keys: tuple[str, ...]
    optional: bool

    def fill(self, arguments: Arguments, join: str) -> str | None:
        """Its value, trimmed; None where the text cannot do without it and it is not given."""
        for key in self.keys:
            value = _value(key, arguments, join)
            if value:
                return value
        return "" if self.optional else None


class BareText(Record, frozen=True):
    """A text that is one argument and nothing else, which is left as it stands, blanks and all."""

    key: str

    def __call__(self, arguments: Arguments) -> str | None:
        value = arguments.values.get(self.key)
        return value if value and not value.isspace() else None


class Texts(Record, frozen=True):
    """Texts with slots; the first whose arguments are all given is taken."""

    choices: tuple[tuple[str | Slot, ...], ...]
    join: str

    def __call__(self, arguments: Arguments) -> str | None:
        for parts in self.choices:
            filled = [part if isinstance(part, str) else part.fill(arguments, self.join) for part in parts]
            if None not in filled:
                return "".join(part for part in filled if part)
        return None


def make_rule(table: RuleTable, builtins: Mapping[str, Rule]) -> Rule | None:
    """The rule that a table describes, None to drop the template; what is wrong with it is a ConfigError."""
    chosen = [table.text is not None, table.builtin is not None, table.drop]
    if sum(chosen) != 1:
        raise ConfigError("it must say one thing: give either text = …, or builtin = …, or drop = true")
    if table.builtin is not None:
        if table.builtin not in builtins:
            raise ConfigError(f"no builtin {table.builtin!r}{did_you_mean(table.builtin, sorted(builtins))}")
        return builtins[table.builtin]
    return None if table.text is None else _texts(table.text, table.join)


def _texts(text: str | Sequence[str], join: str) -> Rule:
    choices = tuple(_parts(choice) for choice in ((text,) if isinstance(text, str) else text))
    match choices:
        case ():
            raise ConfigError("text = [] has no text; to drop the template say drop = true")
        case ((Slot(keys=(key,), optional=False),),) if key not in (ALL, NAME):
            return BareText(key)
    return Texts(choices, join)


def _parts(text: str) -> tuple[str | Slot, ...]:
    parts: list[str | Slot] = []
    end = 0
    for found in PART.finditer(text):
        parts.append(text[end : found.start()])
        parts.append(_part(found, text))
        end = found.end()
    parts.append(text[end:])
    return tuple(part for part in parts if part)


def _part(found: re.Match[str], text: str) -> str | Slot:
    if found[1] is not None:
        return _slot(found[1], text)
    if len(found[0]) == 1:
        raise ConfigError(
            f"a brace alone in text {text!r}. Write an argument as {{1}} or {{name}}, and a brace itself twice"
        )
    return found[0][0]


def _slot(inside: str, text: str) -> Slot:
    *keys, last = (key.strip() for key in inside.split("|"))
    if last:
        keys.append(last)
    if not keys or not all(keys):
        raise ConfigError(f"{{{inside}}} in text {text!r} names no argument. Write {{1}}, {{name}} or {{1|name|}}")
    return Slot(tuple(keys), optional=not last)


def _value(key: str, arguments: Arguments, join: str) -> str:
    if key == ALL:
        return join.join(arguments.items())
    return arguments.name if key == NAME else arguments.get(key)
