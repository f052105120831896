"""P(e|m) of a knowledge base beside wikipedia2vec's mention database, both built from one dump.

    python benchmarks/dumps.py
    python reproductions/wikipedia2vec_priors.py build/bench ../shared/data/schools_wikipedia

The first command leaves in its folder what the second reads: the dump, the knowledge base, and the links that
wikipedia2vec counted. Mentions are compared in wikipedia2vec's normal form, which is lower case. The two count
differently in six ways; a pair of mention and entity whose difference they do not add up to fails the script:

- wikipedia2vec drops a mention that its tokeniser, for which a word is letters and digits, finds in no text: `U.S.`
- it does not take letters right after a link for a part of it: `[[cancer]]s` is `cancer`
- of two pages with one title it keeps the last, entlink counts the links of both
- it counts links to pages that are not in the dump; for entlink they have no entity
- it does not count links in the captions of pictures
- it does not count a link with a third bracket before it, `[[[gold]]]`, which entlink takes for a link in brackets

Beside it stand the links of the articles that the dump was made from (`aliases.jsonl.xz`), in their own case.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from entlink.errors import SourceError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.sources.mediawiki.dumps import parts, read_site
from entlink.sources.wikitext.site import ARTICLE
from entlink.text.titles import tidy

Pair = tuple[str, str]
Counts = Counter[Pair]
DUMP, KB, PEER = "schools-1.xml.bz2", "dump.kb", "peer/mentions.jsonl"
EQUAL, UNEXPLAINED, TRAIL = "equal", "unexplained", "letters right after the link"
LINK = re.compile(r"(\[?)\[\[([^\[\]|]+)(?:\|((?:[^\[\]]|\[[^\[\]]*\])*))?\]\]([a-z]*)")
PICTURE = re.compile(r"\[\[(?:Image|File|Media):[^\[\]]*(?:\[\[[^\[\]]*\]\][^\[\]]*)*\]\]", re.IGNORECASE)


class Written(NamedTuple):
    """A link as the dump has it; `is_last` tells whether its page is the last with its title."""

    text: str
    trail: str
    target: str
    is_last: bool = True
    in_caption: bool = False
    after_bracket: bool = False


def written(text: str) -> Iterator[Written]:
    """The links of a wikitext, found by a pattern and not by entlink's own reading."""
    captions = [found.span() for found in PICTURE.finditer(text)]
    for found in LINK.finditer(text):
        bracket, target, shown, trail = found.groups()
        title = tidy(target.replace("_", " "))
        yield Written(
            shown or target,
            trail,
            title[:1].upper() + title[1:],
            in_caption=any(start < found.start() < end for start, end in captions),
            after_bracket=bool(bracket),
        )


def written_links(dump: Path) -> list[Written]:
    """The links of all articles of a dump."""
    pages = [(title, list(written(text))) for title, text in _pages(dump)]
    last = {title: number for number, (title, _) in enumerate(pages)}
    return [
        link._replace(is_last=last[title] == number) for number, (title, links) in enumerate(pages) for link in links
    ]


def _pages(dump: Path) -> Iterator[tuple[str, str]]:
    site = read_site(dump)
    for part in parts(dump):
        for page in part.pages(frozenset({ARTICLE}), site):
            if isinstance(page, SourceError):
                raise page
            yield page.title, page.text


def counted(kb: KnowledgeBase, folder: Path) -> Counts:
    """The links of a knowledge base by surface and title."""
    anchors = str(folder / "counts" / "base" / "anchors.parquet")
    with duckdb.connect() as connection:
        rows = connection.execute("SELECT surface, entity, count FROM read_parquet(?)", [anchors]).fetchall()
    return Counter({(surface, kb.head(key)[1]): count for surface, key, count in rows})


def folded(counts: Counts) -> Counts:
    """The counts with surfaces in lower case."""
    return _total(((surface.lower(), title), count) for (surface, title), count in counts.items())


def _total(counts: Iterable[tuple[Pair, int]]) -> Counts:
    total: Counts = Counter()
    for pair, count in counts:
        total[pair] += count
    return total


def less(one: Counts, other: Counts) -> Counts:
    """The differences, negative ones too."""
    return Counter({pair: one[pair] - other[pair] for pair in one.keys() | other.keys()})


class Comparison(NamedTuple):
    """Pairs, and the links they have on either side, by what makes them differ; and the pairs nothing explains."""

    pairs: Counter[str]
    links: Counter[str]
    unexplained: list[tuple[Pair, int, int]]

    def figures(self) -> dict[str, Any]:
        return {"pairs": dict(self.pairs.most_common()), "links": dict(self.links.most_common())}


def compare(ours: Counts, theirs: Counts, effects: Mapping[str, Counts]) -> Comparison:
    """Sort the pairs by the effects on them, which must add up to the difference exactly."""
    found = Comparison(Counter(), Counter(), [])
    for pair in ours.keys() | theirs.keys():
        difference = ours[pair] - theirs[pair]
        acting = {name: effect[pair] for name, effect in effects.items() if effect[pair]}
        if difference != sum(acting.values()):
            name = UNEXPLAINED
            found.unexplained.append((pair, ours[pair], theirs[pair]))
        else:
            name = "; ".join(acting) if difference else EQUAL
        found.pairs[name] += 1
        found.links[name] += abs(difference) if difference else ours[pair]
    return found


def beside_peer(
    ours: Counts, rows: Iterable[Mapping[str, Any]], links: list[Written], titles: set[str]
) -> Comparison:
    """The counts beside those of wikipedia2vec's mention database."""
    stored: Counts = Counter()
    dropped: Counts = Counter()
    absent: Counts = Counter()
    for row in rows:
        pair = tidy(row["mention"]), row["entity"]
        stored[pair] += row["stored"]
        dropped[pair] += row["links"] - row["stored"]
        absent[pair] -= row["links"] if row["entity"] not in titles else 0
    unbracketed = [link for link in links if not link.after_bracket]
    plain = [link for link in unbracketed if not link.in_caption]
    last = [link for link in plain if link.is_last]
    effects = {
        "a mention its tokeniser finds in no text": dropped,
        "a link to a page that is not there": absent,
        "the first of two pages with one title": _gain(plain, last, titles),
        "a link in the caption of a picture": _gain(unbracketed, plain, titles),
        "a third bracket before the link": _gain(links, unbracketed, titles),
        TRAIL: folded(trail_effect(links, titles)),
    }
    return compare(folded(ours), stored, effects)


def _gain(more: list[Written], fewer: list[Written], titles: set[str]) -> Counts:
    return folded(less(count_links(more, titles), count_links(fewer, titles)))


def trail_effect(links: list[Written], titles: set[str]) -> Counts:
    """What it changes to take the letters right after a link for a part of it."""
    return less(count_links(links, titles, trail=True), count_links(links, titles))


def count_links(links: list[Written], titles: set[str], *, trail: bool = False) -> Counts:
    """The links to pages that are there, with or without the letters right after them."""
    return Counter(
        (tidy(link.text + link.trail if trail else link.text), link.target) for link in links if link.target in titles
    )


def beside_articles(ours: Counts, data: Path, links: list[Written], titles: set[str]) -> Comparison:
    """The counts beside the links of the articles that the dump was made from."""
    title_of: dict[str, str] = {}
    in_text: list[Written] = []
    for article in read(data / "articles.jsonl.xz"):
        title_of[article["id"]] = article["title"]
        for paragraph in article["paragraphs"]:
            in_text += written(paragraph["text"])
    aliases = read(data / "aliases.jsonl.xz")
    theirs = _total(((tidy(row["alias"]), title_of[row["entity"]]), row["count"]) for row in aliases)
    effects = {
        "a link that stands in an article's text": count_links(in_text, titles),
        TRAIL: trail_effect(links, titles),
    }
    return compare(ours, theirs, effects)


def read(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf8") as lines:
        yield from map(json.loads, lines)


def priors(ours: Counts, theirs: Counts) -> dict[str, float]:
    """How many P(e|m) are the same, and the largest difference."""
    own_total, their_total = _by_mention(ours), _by_mention(theirs)
    apart = [
        abs(ours[pair] / max(1, own_total[pair[0]]) - count / their_total[pair[0]]) for pair, count in theirs.items()
    ]
    return {"priors": len(apart), "equal": sum(difference < 1e-12 for difference in apart), "largest": max(apart)}


def _by_mention(counts: Counts) -> dict[str, int]:
    total: dict[str, int] = defaultdict(int)
    for (mention, _), count in counts.items():
        total[mention] += count
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help=f"with {DUMP}, {KB} and {PEER}")
    parser.add_argument("data", type=Path, help="with articles.jsonl.xz and aliases.jsonl.xz")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    with KnowledgeBase.open(folder / KB) as kb:
        ours, titles = counted(kb, folder / KB), {entity.title for entity in kb}
    links = written_links(folder / DUMP)
    with (folder / PEER).open(encoding="utf8") as lines:
        rows = [json.loads(line) for line in lines]
    peer = beside_peer(ours, rows, links, titles)
    articles = beside_articles(ours, arguments.data, links, titles)
    stored = Counter({(tidy(row["mention"]), row["entity"]): row["stored"] for row in rows if row["stored"]})
    figures = {"wikipedia2vec": peer.figures() | priors(folded(ours), stored), "articles": articles.figures()}
    sys.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")
    if unexplained := [*peer.unexplained, *articles.unexplained]:
        raise SystemExit(f"{len(unexplained)} pairs differ without a reason, such as {unexplained[:20]}")


if __name__ == "__main__":
    main()
