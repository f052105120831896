"""Characters that are text although they look like markup: entities decode to them, and nowiki holds them.

Each is kept as a control character until the markup has been read. Exports are XML, so that none occurs in them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html.entities import html5

from entlink.sources.wikitext.seams import END, SEAM

MARKUP = "[]{}|'*#:;=!-_~<&"
STAND_INS = "\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11\x12\x13\x14\x15\x16"

_HIDING = str.maketrans(MARKUP + "\n", STAND_INS + " ")
_SHOWN = dict(zip(STAND_INS, MARKUP, strict=True))
_STAND_IN = re.compile(f"[{STAND_INS}]")
_RESERVED = STAND_INS + SEAM + END  # all that is set into a text while it is read
_RESERVED_SIGN = re.compile(f"[{_RESERVED}]")
_NUMBER = r"#(?:[0-9]{1,7}|[xX][0-9a-fA-F]{1,6})"
_ENTITY = re.compile(rf"&({_NUMBER}|[A-Za-z][A-Za-z0-9]{{1,31}});")
_BLANKS = frozenset("\t\n\r\x0b\x0c\xa0")

has_entity = _ENTITY.search


def has_stand_ins(text: str) -> bool:
    """Whether a text has literal characters to be shown."""
    return any(map(text.__contains__, STAND_INS))  # a search for one character at a time is the quickest there is


def has_reserved(text: str) -> bool:
    """Whether a text has control characters that are signs of ours while it is read."""
    return any(map(text.__contains__, _RESERVED))


def without_reserved(text: str) -> str:
    """A text in which no character can be mistaken for a sign of ours: such a one goes, and leaves a seam."""
    return _RESERVED_SIGN.sub(SEAM, text) if has_reserved(text) else text


def hide(text: str) -> str:
    """The text with stand-ins for what would be read as markup; lines are joined."""
    return text.translate(_HIDING)


def show(text: str) -> str:
    """The text that `hide` was given; equally long."""
    return _STAND_IN.sub(lambda sign: _SHOWN[sign[0]], text)


def decode_entities(text: str) -> str:
    """The text with its HTML entities decoded once; those that stand for markup become stand-ins."""
    return _ENTITY.sub(lambda entity: _character(entity[1]), text)


@lru_cache(maxsize=4096)
def _character(name: str) -> str:
    if name[0] != "#":
        character = html5.get(f"{name};", "")
    else:
        number = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
        character = chr(number) if _is_character(number) else ""
    if character in _BLANKS:
        return " "
    if character == "&":  # entities are decoded once, so that it cannot begin another
        return character
    return hide(character) if character else f"&{name};"


def _is_character(number: int) -> bool:
    if number < 32:
        return number in (9, 10, 13)
    return number < 0xD800 or 0xE000 <= number <= 0x10FFFF
