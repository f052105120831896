"""The arguments of one use of a template, told apart as MediaWiki does: by place or by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


class Arguments:
    """What a template was given: `name` is its own, as written in the page, `language` that of the wiki.

    A value given by place has the number of its place as its key, so that `x` and `1=x` are the same.
    """

    __slots__ = ("language", "name", "values")

    def __init__(self, name: str, values: Mapping[str, str], language: str | None = None) -> None:
        self.name, self.values, self.language = name, values, language

    def get(self, *keys: str) -> str:
        """The first of these that is given and not blank, trimmed; empty where there is none."""
        for key in keys:
            value = self.values.get(key)
            if value and (trimmed := value.strip()):
                return trimmed
        return ""

    def places(self) -> list[str]:
        """The values given by place, in order and trimmed, blank ones included."""
        return list(self._numbered())

    def items(self) -> list[str]:
        """The values given by place that are not blank."""
        return [value for value in self._numbered() if value]

    def flag(self, key: str) -> bool:
        """Whether a switch such as `df=yes` is on."""
        return self.get(key).lower() not in {"", "no", "n", "off", "false", "0"}

    def _numbered(self) -> Iterator[str]:
        place = 1
        while (value := self.values.get(str(place))) is not None:
            yield value.strip()
            place += 1


def named_and_placed(arguments: Sequence[str]) -> dict[str, str]:
    """The values by name or place. Those given by name are trimmed, those given by place are as they stand."""
    values: dict[str, str] = {}
    place = 0
    for argument in arguments:
        name, equals, value = argument.partition("=")
        # An equals sign inside a link or a tag (alt=…, <span style=…>) ends no name.
        if not equals or "[[" in name or "<" in name:
            place += 1
            values[str(place)] = argument
        else:
            values[name.strip()] = value.strip()
    return values


def placed(arguments: Sequence[str]) -> dict[str, str]:
    """The values by place only: a parser function knows no names."""
    return {str(place): argument for place, argument in enumerate(arguments, 1)}
