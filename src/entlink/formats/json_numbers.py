"""`NaN` and `Infinity`, which many programs write into JSON although it has no such numbers."""

from __future__ import annotations

import re

NO_NUMBER = "Write a number, or leave the field out"
# A string is passed over as a whole; one that is cut off runs to the end.
_BARE = re.compile(rb'"(?:[^"\\]|\\.)*+"?|(-?(?:NaN|Infinity))\b', re.DOTALL)


def bare_not_numbers(json: bytes) -> str:
    """The first that stands outside all strings, or nothing."""
    return next((match[1].decode() for match in _BARE.finditer(json) if match[1]), "")
