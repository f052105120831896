"""The outside world as streams of pages: `open_source` reads a file or folder of any known format."""

from __future__ import annotations

from entlink.io.ledger import Ledger, OnError
from entlink.sources.columns import ColumnMapping
from entlink.sources.formats import FORMATS
from entlink.sources.mediawiki.history import (
    DATED,
    STABLE_INTERVAL,
    DatedItem,
    HistoryOptions,
    items_of,
    snapshot_dates,
)
from entlink.sources.mediawiki.listed_pages import numbers_file
from entlink.sources.mediawiki.options import WikiOptions
from entlink.sources.mediawiki.sql_dumps import table_of
from entlink.sources.page import (
    BETWEEN_PARAGRAPHS,
    Anchor,
    Identifier,
    Item,
    Meanings,
    NameRule,
    Page,
    Paragraph,
    Redirect,
    TypeNode,
    whole_text,
)
from entlink.sources.part import Part
from entlink.sources.source import Source, open_source

__all__ = [
    "BETWEEN_PARAGRAPHS",
    "DATED",
    "FORMATS",
    "STABLE_INTERVAL",
    "Anchor",
    "ColumnMapping",
    "DatedItem",
    "HistoryOptions",
    "Identifier",
    "Item",
    "Ledger",
    "Meanings",
    "NameRule",
    "OnError",
    "Page",
    "Paragraph",
    "Part",
    "Redirect",
    "Source",
    "TypeNode",
    "WikiOptions",
    "items_of",
    "numbers_file",
    "open_source",
    "snapshot_dates",
    "table_of",
    "whole_text",
]
