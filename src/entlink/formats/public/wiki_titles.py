"""Titles of Wikipedia as ids of entities: with spaces, in all exchange formats, so that gold and answers meet."""

from __future__ import annotations


def spaced(title: str) -> str:
    """The title as readers see it; no title of a MediaWiki has a `_` of its own."""
    return title.replace("_", " ")
