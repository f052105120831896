"""The outside world as streams of pages: `open_source` reads a file or folder of any known format."""

from __future__ import annotations

from entlink.sources.columns import ColumnMapping
from entlink.sources.formats import FORMATS
from entlink.sources.page import Anchor, Page, Paragraph
from entlink.sources.source import Source, open_source

__all__ = ["FORMATS", "Anchor", "ColumnMapping", "Page", "Paragraph", "Source", "open_source"]
