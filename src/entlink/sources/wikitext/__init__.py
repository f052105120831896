"""Wikitext to plain text with the offsets of its links."""

from __future__ import annotations

from entlink.sources.wikitext.braces import Expander
from entlink.sources.wikitext.reader import Wikitext, parse
from entlink.sources.wikitext.site import Site
from entlink.sources.wikitext.titles import normalise_title

__all__ = ["Expander", "Site", "Wikitext", "normalise_title", "parse"]
