"""Templates and their parameters: {{…}} and {{{…}}}, innermost first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from entlink.sources.wikitext.arguments import Arguments
from entlink.sources.wikitext.boxes import pictures_of_box
from entlink.sources.wikitext.findings import Findings
from entlink.sources.wikitext.seams import SEAM, close_seams

Expander = Callable[[str, Sequence[str]], str | None]

MOST_EXPANDED = 2_000_000  # characters that the templates of a page may become, as in MediaWiki

# One for each side: a search for a literal is ten times as quick as one for a choice.
_OPENING, _CLOSING = re.compile(r"\{\{+"), re.compile(r"\}\}+")
_FUNCTION = re.compile(r"#[^\W\d]+")
_MODIFIER = re.compile(r"(?:(?:safe)?subst|msgnw|msg|raw)\s*:\s*", re.IGNORECASE)
_NO_NAME = re.compile(r"[\[\]{}<>\n]")
_BLOCK_STARTS = ("*", "#", ":", ";", "{|")


class Braces:
    """Replaces the templates of one text by what they expand to.

    Only what is closed is a template: other braces stay as they are.
    """

    def __init__(self, namespaces: tuple[str, ...], expand: Expander, findings: Findings) -> None:
        self._namespaces = namespaces  # the names of that of templates
        self._expand, self._findings = expand, findings
        self._left = MOST_EXPANDED
        self._parts: list[str] = []
        self._opened: list[tuple[int, int]] = []  # the place of each opening run among the parts, and its braces

    def replace(self, text: str) -> str:
        """The text with its templates expanded or dropped."""
        position, parts = 0, self._parts
        for start, end in _runs(text):
            if start > position:
                parts.append(text[position:start])
            position = end
            if text[start] == "{":
                self._opened.append((len(parts), end - start))
                parts.append("{")  # to be made as many as are left of them
            else:
                self._close(end - start)
        parts.append(text[position:])
        for place, braces in self._opened:
            parts[place] = "{" * braces
        return "".join(parts)

    def _close(self, closing: int) -> None:
        parts = self._parts
        while closing >= 2 and self._opened:
            place, braces = self._opened.pop()
            taken = 3 if closing >= 3 and braces >= 3 else 2
            body = "".join(parts[place + 1 :])
            braces -= taken
            closing -= taken
            if braces >= 2:
                self._opened.append((place, braces))
            del parts[place + (braces > 0) :]
            body = close_seams(body)
            if taken == 2:
                self._add(self._template(body), _BLOCK_STARTS)
            else:
                self._add(_default(body))
        if closing:
            parts.append("}" * closing)

    def _add(self, result: str | None, line_starts: tuple[str, ...] = ()) -> None:
        """Adds what stands for braces: as a line of its own where it starts so, as a seam where it is dropped."""
        parts = self._parts
        is_within_line = bool(parts) and parts[-1][-1] != "\n"
        if result is None:  # at the start of a line what follows is read as if it began there
            result = SEAM if is_within_line else ""
        elif is_within_line and result.startswith(line_starts):
            result = "\n" + result
        self._left -= len(result)
        if result and self._left >= 0:
            parts.append(result)

    def _template(self, body: str) -> str | None:
        head, bar, rest = body.partition("|")
        if len(head) > 300 or head.lstrip()[:1] == "#":
            return self._function(body)
        name = template_name(head, self._namespaces)
        if not name:
            return None
        self._findings.templates.add(name)
        result = self._expand(name, Arguments(rest if bar else None))
        return pictures_of_box(name, rest) if result is None and "." in rest else result

    def _function(self, body: str) -> str | None:
        """A parser function: its first argument follows a colon."""
        name, colon, rest = body.lstrip().partition(":")
        if not colon or not _FUNCTION.fullmatch(name):
            return None
        return self._expand(name.lower(), Arguments(rest))


def _runs(text: str) -> list[tuple[int, int]]:
    runs = [run.span() for run in _OPENING.finditer(text)]
    runs += [run.span() for run in _CLOSING.finditer(text)]
    runs.sort()
    return runs


def _default(body: str) -> str | None:
    """What stands for a parameter: its default, up to the next bar."""
    _, bar, rest = body.partition("|")
    if not bar:
        return None
    return Arguments(rest)[0] if "|" in rest else rest


@lru_cache(maxsize=4096)
def template_name(head: str, namespaces: tuple[str, ...]) -> str:
    """The name of a template as all its uses have it; empty where it cannot be one."""
    name = " ".join(head.replace("_", " ").split())
    modifier = _MODIFIER.match(name)
    name = name[modifier.end() :] if modifier else name
    prefix, colon, rest = name.partition(":")
    if colon and prefix.rstrip().lower() in namespaces:
        name = rest.lstrip()
    if not name or _NO_NAME.search(name):
        return ""
    return name[0].upper() + name[1:]
