"""A wiki's full history: for each date the version of a page that was stable then, with its title of that time.

`entlink.kb.build.read_history` reads dumps into folders of parts; `items_of` gives what holds at a snapshot.
"""

from __future__ import annotations

from entlink.sources.mediawiki.history.dated_items import DATED, DatedItem, items_of
from entlink.sources.mediawiki.history.options import STABLE_INTERVAL, HistoryOptions, snapshot_dates

__all__ = ["DATED", "STABLE_INTERVAL", "DatedItem", "HistoryOptions", "items_of", "snapshot_dates"]
