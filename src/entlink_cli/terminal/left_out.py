"""What a build read but did not make entities of, as rows for a person."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from entlink_cli.terminal.output import number_of

if TYPE_CHECKING:
    from entlink.kb.info import KnowledgeBaseInfo
    from entlink.kb.store.manifest import Manifest, WikiTotals

_RECORDS = {"wikidata": "item", "obo": "term"}  # what a source has instead of pages


def left_out_rows(about: Manifest | KnowledgeBaseInfo) -> list[tuple[str, str]]:
    """Redirects, disambiguation pages and openings, which became names, then what was left out and why."""
    rows = _wiki_rows(about.wiki) if about.wiki else []
    if about.openings and about.openings.names:
        names, redirects = about.openings.names, about.openings.redirects
        rows.append(("in openings", f"{number_of(names, 'name')}, of which {number_of(redirects, 'redirect')}"))
    left_out: Counter[tuple[str, str]] = Counter()
    for source in about.sources:
        what = _RECORDS.get(source.format, "page")
        left_out.update({(what, reason): count for reason, count in source.left_out.items()})
    reasons = (f"{number_of(count, what)} {reason}" for (what, reason), count in left_out.most_common())
    return rows + [("left out" if not number else "", line) for number, line in enumerate(reasons)]


def _wiki_rows(wiki: WikiTotals) -> list[tuple[str, str]]:
    redirects = f"{wiki.redirects - wiki.to_nothing - wiki.loops:,} became names"
    if wiki.to_nothing:
        redirects += f", {wiki.to_nothing:,} lead to no entity"
    if wiki.loops:
        redirects += f", {wiki.loops:,} go round in a ring"
    return [("redirects", redirects), ("disambiguations", f"{wiki.meanings:,} became names")]
