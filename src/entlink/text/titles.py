"""Titles and names: white space made one, and what follows a name in parentheses."""

from __future__ import annotations

import re

_PARENTHESIS = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_SAYS_SO = re.compile(r"[(（](?:disambiguation|消歧义|消歧義)[)）]$", re.IGNORECASE)
_LISTS_MEANINGS = re.compile(
    r"^(?:[^.]{0,80}\b(?:may|can|could|might)(?: also)? (?:refer to|mean|stand for|be one of)\b|"
    r"[^.]{0,60}\b(?:is a (?:common )?disambiguation|has (?:several|many|more than one) meanings?)\b|"
    r"[^。]{0,30}(?:可以指|可能指|可指|可能是指))[^.。:：]{0,50}(?P<list>[:：])?"
)
_SHORT, _AT_ONCE = 400, 40  # characters: a longer text is an article, unless its list begins at once


def without_parenthesis(title: str) -> str | None:
    """`Mercury (planet)` → `Mercury`; None when there is nothing to take off or nothing left."""
    stripped = _PARENTHESIS.sub("", title)
    return stripped if stripped and stripped != title else None


def tidy(surface: str) -> str:
    """White space runs become one space, none at the ends; nothing else is changed."""
    return " ".join(surface.split())


def spaced(title: str) -> str:
    """The title as readers see it; no title of a MediaWiki has a `_` of its own."""
    return title.replace("_", " ")


def overlap_category(surface: str, title: str) -> str:
    """ZESHEL's four: the title itself, the title but for a closing parenthesis, a part of it, or none of these."""
    name, whole = folded_title(surface), folded_title(title)
    if name == whole:
        return "HIGH_OVERLAP"
    if whole.startswith(f"{name} (") and whole.endswith(")"):
        return "MULTIPLE_CATEGORIES"
    return "AMBIGUOUS_SUBSTRING" if name in whole else "LOW_OVERLAP"


def folded_title(text: str) -> str:
    """A title or name without regard to case, white space and `_`."""
    return " ".join(text.replace("_", " ").split()).casefold()


def looks_like_disambiguation(title: str, description: str | None) -> bool:
    """Whether a page only lists what its name may mean, by its title or how its text begins (English, Chinese)."""
    if _SAYS_SO.search(title):
        return True
    text = description or ""
    found = _LISTS_MEANINGS.search(text[:200])
    return found is not None and found["list"] is not None and (len(text) < _SHORT or found.end() < _AT_ONCE)
