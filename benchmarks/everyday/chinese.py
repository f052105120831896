"""Whether names that are whole words of a Chinese text are linked, and no name inside a longer one.

python benchmarks/everyday/chinese.py zh.kb DATA

DATA has zhwiki_temporal_changed_20k.jsonl.xz. Only here is a text cut into words by jieba: a name counts where it is
one of these words, or several, and is not inside a longer name of the knowledge base that is, too. README.md tells
more.
"""

from __future__ import annotations

import argparse
import lzma
import random
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

import jieba
import msgspec

import entlink
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.tiers import Tier
from entlink.text.titles import looks_like_disambiguation, without_parenthesis

PASSAGES = "zhwiki_temporal_changed_20k.jsonl.xz"
_PASSAGES, _NAMES, _SEED = 200, 5_000, 1
_WORDS = 8  # of a name, at most
_SHOWN = 40

Place = tuple[int, int]


class Page(msgspec.Struct, frozen=True):
    title_2019: str
    title_2020: str
    text_2020: str

    def own_names(self) -> set[str]:
        titles = {self.title_2019, self.title_2020}
        return titles | {bare for title in titles if (bare := without_parenthesis(title))}

    @property
    def is_traditional(self) -> bool:
        """By the characters that only one of the two old character sets has."""
        return sum(_has(one, "big5") - _has(one, "gb2312") for one in self.text_2020) > 0


class Found(NamedTuple):
    """Names that are whole words of a passage, those of them that are linked, and links inside a longer name."""

    names: Counter[str]
    linked: Counter[str]
    inside: Counter[str]


def pages(path: Path) -> list[Page]:
    """A sample, the same each time, of every second page: the others are for fitting."""
    with lzma.open(path) as lines:
        every = [msgspec.json.decode(line, type=Page) for line in islice(lines, 0, None, 2)]
    return random.Random(_SEED).sample(every, _PASSAGES)


def prominent(kb: KnowledgeBase) -> set[str]:
    """The titles that the knowledge base's own texts have most often."""
    times: Counter[str] = Counter()
    for entity in kb:
        title = entity.title
        if _is_name(title) and not looks_like_disambiguation(title, entity.description):
            times[title] = kb.occurrences(title).get(title, 0)
    return {title for title, _ in times.most_common(_NAMES)}


def known(kb: KnowledgeBase, text: str) -> Iterator[Place]:
    """Where names of the knowledge base are one or several whole words, less signs at either end."""
    bounds = [0, *accumulate(map(len, jieba.cut(text)))]
    for number, start in enumerate(bounds):
        for end in bounds[number + 1 : number + 1 + _WORDS]:
            if text[start].isalnum() and text[end - 1].isalnum() and _is_name_of(kb, text[start:end]):
                yield start, end


def measure(page: Page, kb: KnowledgeBase, names: Collection[str], linked: set[Place]) -> Found:
    text, own = page.text_2020, page.own_names()
    places = [(start, end) for start, end in known(kb, text) if end - start > 1]
    hidden = [(start, end) for start, end in places if text[start:end] in own]
    seen = {
        (start, end)
        for start, end in places
        if text[start:end] in names
        and not _is_inside((start, end), places)
        and not any(start < other[1] and other[0] < end for other in hidden)
    }
    inside = [place for place in linked if _is_inside(place, places)]
    return Found(*(Counter(text[start:end] for start, end in found) for found in (seen, seen & linked, inside)))


def _is_name_of(kb: KnowledgeBase, surface: str) -> bool:
    """Whether it is written as some entity's name, in either Chinese script."""
    meaning = kb.meaning(surface)
    return bool(meaning.entries) and meaning.tier <= Tier.UNICODE


def _is_name(title: str) -> bool:
    """Numbers are none."""
    return len(title) > 1 and any(map(str.isalpha, title)) and not without_parenthesis(title)


def _is_inside(place: Place, others: Collection[Place]) -> bool:
    return any(start <= place[0] and place[1] <= end and (start, end) != place for start, end in others)


def _has(character: str, encoding: str) -> bool:
    return bool(character.encode(encoding, errors="ignore"))


def main(arguments: argparse.Namespace) -> None:
    jieba.setLogLevel("WARNING")
    linker = entlink.load(arguments.kb, config=arguments.config)
    names = prominent(linker.kb)
    every, missed, inside = Counter[str](), Counter[str](), Counter[str]()
    in_traditional = 0
    for page in pages(arguments.data / PASSAGES):
        mentions = [link.mention for link in linker.link(page.text_2020).links if link.entity]
        found = measure(page, linker.kb, names, {(one.span.start, one.span.end) for one in mentions})
        every += found.names
        missed += found.names - found.linked
        inside += found.inside
        in_traditional += (found.names - found.linked).total() if page.is_traditional else 0
    print(f"names that are whole words: {every.total()}, linked: {1 - missed.total() / every.total():.3f}")
    print(f"missed: {missed.total()}, {in_traditional} of them in passages that are mostly traditional")
    print(f"links inside a longer name: {inside.total()}")
    for title, counter in (("missed", missed), ("inside a longer name", inside)):
        print(f"{title}:", ", ".join(f"{name} {times}" for name, times in counter.most_common(_SHOWN)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--config", default="everyday", help="a configuration: a name, a TOML file or a folder")
    main(parser.parse_args())
