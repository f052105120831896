"""How far entlink's wikitext scanner agrees with mwparserfromhell on real pages, and why not where it does not.

    python reproductions/wikitext_agreement.py ../shared/data/mediawiki

All pages of wikitext of the dumps in the folder are read by both, whatever their namespace; a page that takes
mwparserfromhell too long is given up and counted.

A link is found by both if both lead to the same title; whether they also show the same text is told apart. In the
running text, links and text in templates, references and tags without text count for neither, and entlink expands no
template. On the whole page all links count, and entlink goes by its rules for templates. Words are those of the
running text. Each difference has a cause; a difference without one fails the script.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from agreement_limits import BoundedWorker
from agreement_tables import cause_table, dump_table, kind_table, pattern_table, summary_table
from agreement_tally import GIVEN_UP, NOTHING, RUNNING, WHOLE, WORDS, Tally, tally

from entlink.errors import SourceError
from entlink.sources.mediawiki.dumps import RawPage, parts, read_site
from entlink.sources.mediawiki.dumps.raw_page import WIKITEXT
from entlink.sources.wikitext import Site

Worker = Callable[[tuple[str, str, Site]], Tally | None]

DUMPS: Mapping[str, str] = {
    "enwiki, shortened": "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
    "enwiki, tables": "enwiki-table-markup.xml.bz2",
    "enwiki, tiny": "enwiki-20140102.tiny.xml.gz",
    "bgwiki, shortened": "bgwiki-latest-pages-articles-shortened.xml.bz2",
    "ltgwiki": "smallwiki-latest-pages-articles.xml",
    "ltgwiki, tiny": "tinywiki-latest-pages-articles.xml",
    "page_sample": "page_sample.xml",
    "aawiki": "aawiki-20260101-pages-meta-current.xml.bz2",
}


def pages(dump: Path) -> Iterator[RawPage]:
    """All pages of wikitext of a dump."""
    site = read_site(dump)
    for part in parts(dump):
        for page in part.pages(None, site):
            if isinstance(page, SourceError):
                raise page
            if page.model == WIKITEXT:
                yield page


def compare(dump: Path, worker: Worker, most: int | None = None) -> Tally:
    """The agreement on the pages of a dump, or on the first of them."""
    site = read_site(dump)
    found = NOTHING
    for page in islice(pages(dump), most):
        found += worker((page.title, page.text, site)) or GIVEN_UP
    return found


def report(tallies: Mapping[str, Tally]) -> str:
    """All tables, as Markdown."""
    all_of_them = sum(tallies.values(), NOTHING)
    sections = [
        ("Agreement by dump", dump_table({**tallies, "all": all_of_them})),
        ("Agreement by kind of link", kind_table(all_of_them)),
        ("What differs, in short", summary_table(all_of_them)),
        *((f"What differs: {part}", cause_table(all_of_them, part)) for part in (RUNNING, WHOLE, WORDS)),
    ]
    if (name := "enwiki, shortened") in tallies:
        sections.append(("Links of enwiki that a bare pattern misses", pattern_table(tallies[name])))
    return "\n\n".join(f"## {title}\n\n{table}" for title, table in sections) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with the dumps")
    parser.add_argument("--seconds", type=float, default=60, help="after which a page is given up (default: 60)")
    parser.add_argument("--pages", type=int, help="of each dump (default: all)")
    arguments = parser.parse_args()
    with BoundedWorker(tally, arguments.seconds) as worker:
        dumps = ((name, arguments.data / file) for name, file in DUMPS.items())
        tallies = {name: compare(dump, worker, arguments.pages) for name, dump in dumps if dump.is_file()}
    sys.stdout.write(report(tallies))
    if unexplained := sum(tallies.values(), NOTHING).unexplained:
        raise SystemExit("\n".join((f"{len(unexplained)} differences have no cause:", *unexplained)))


if __name__ == "__main__":
    main()
