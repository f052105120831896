"""HTML put together from parts, each text escaped exactly once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

# What a page cannot hold: control characters, halves of pairs, and two code points that are no characters.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_VOID = frozenset({"meta", "br", "hr", "col", "img"})

Attribute = str | int | bool | None


class Html(str):
    """Markup, which is not escaped again."""

    __slots__ = ()


def readable(text: str) -> str:
    """The text with a sign in place of each character that no page or picture can hold."""
    return _NO_TEXT.sub("\ufffd", text)


def as_html(part: str) -> Html:
    """Markup as it is, any other text escaped."""
    return part if isinstance(part, Html) else Html(escape(readable(part)))


def joined(parts: Iterable[str]) -> Html:
    """Parts one after the other."""
    return Html("".join(map(as_html, parts)))


def tag(name: str, /, *children: str, **attributes: Attribute) -> Html:
    """An element. `class_` is class and `aria_label` aria-label; what is None or False is left out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    key = key.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{escape(readable(str(value)))}"'
