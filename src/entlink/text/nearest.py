"""What a message says of a misspelt name: the nearest that is known."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest that is known, or all of them."""
    known = list(known)
    near = _nearest(name, known)
    return f"; did you mean {near!r}?" if near else f"; there are {', '.join(known)}"


def nearest_question(name: str, known: Iterable[str]) -> str:
    """A question to put between two sentences, or nothing where no known name is near."""
    near = _nearest(name, list(known))
    return f"Did you mean {near!r}? " if near else ""


def _nearest(name: str, known: list[str]) -> str | None:
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, known, 1)), None)
