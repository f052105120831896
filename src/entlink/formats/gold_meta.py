"""What of a gold link's `meta` the formats give a meaning to: it must have the right type there.

`meta` may hold anything, but what is written from it, or becomes a link, is a number or a text. Anything else under
these names is an error, for every format alike; null is the same as nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from entlink.documents import Document, GoldLink
from entlink.errors import InputError

SCORE = 1.0


def check_gold(document: Document) -> None:
    """Raise if a field of the gold's `meta` that formats read has the wrong type."""
    for gold in document.gold:
        for field, (is_right, kind) in _FIELDS.items():
            value = gold.meta.get(field)
            if value is not None and not is_right(value):
                raise wrong_meta(document.id, gold, field, f"{_shown(value)} is not {kind}")


def wrong_meta(document: str, gold: GoldLink, field: str, problem: str) -> InputError:
    """The error of a field of the gold's `meta`."""
    where = f"document {document!r}: the gold at {gold.span.start}-{gold.span.end}"
    return InputError(f"{where}, field meta.{field}: {problem}. Correct it, or leave it out.")


def score_of(gold: GoldLink) -> float:
    """The score of gold that was checked, 1 if it has none."""
    score = gold.meta.get("score")
    return SCORE if score is None else float(score)


def _is_score(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # a whole number that is too large for a float
        return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_text, value))


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _WIDEST else f"{shown[:_WIDEST]}…"


_WIDEST = 60
_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "score": (_is_score, "a number"),
    "type": (_is_text, "a text"),
    "types": (_are_texts, "a list of texts"),
    "title": (_is_text, "a text"),
    "mention": (_is_text, "a text"),
}
