"""MediaWiki dump files as raw pages: `read_site` tells of which wiki, `parts` cuts a file into independent pieces."""

from __future__ import annotations

from entlink.sources.mediawiki.dumps.header import read_site
from entlink.sources.mediawiki.dumps.parts import MAX_PAGE, Part, parts
from entlink.sources.mediawiki.dumps.raw_page import Move, RawPage
from entlink.sources.mediawiki.dumps.reading_pages import TooLargeError
from entlink.sources.mediawiki.dumps.standing import Windows

__all__ = ["MAX_PAGE", "Move", "Part", "RawPage", "TooLargeError", "Windows", "parts", "read_site"]
