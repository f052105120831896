"""Whoever links or searches with a damaged index is told so, or does not notice; nothing else happens."""

from __future__ import annotations

import random
import shutil

import pytest

from entlink.errors import DamagedError
from entlink.kb.indexes.cooccurrence.search import Company
from entlink.kb.indexes.making import make_indexes
from entlink.kb.indexes.short_names import ShortNames
from entlink.kb.indexes.words.search import WordSearch
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.linker import load
from kb_files import FILES

TEXT = "Mercury is nearest to the Sun. Hg, quicksilver. New York City, US. Eswatini. 北京在中国。"
FLIPS = 40
# A bit that is flipped in a trie can end the process, and the card of short names is only looked for.
UNREAD = ("index-1/keys-00.trie", "index-1/short/complete.json")
INDEXES = [name for name in FILES if name.startswith("index-1/") and name not in UNREAD]


@pytest.fixture(scope="module")
def indexed(built_world, tmp_path_factory):
    folder = shutil.copytree(built_world, tmp_path_factory.mktemp("indexed") / "own.kb")
    make_indexes(folder, words=True, cooccurrence=True, short=True, processes=1)
    return folder


def use(folder):
    """Everything that reads an index."""
    with KnowledgeBase.open(folder) as kb:
        words = WordSearch(kb)
        words.search("the planet nearest to the Sun")
        words.search("city york", types=frozenset({"city"}))
        words.weigh("metal once quicksilver", range(1, 9))
        company, short = Company(kb), ShortNames(kb)
        for name in ("Mercury", "Sun", "New York", "NY"):
            company.of(name, range(1, 9))
            short.of(name)
            kb.aliases(name)
    linker = load(folder)
    try:
        linker.link(TEXT)
        linker.explain(TEXT)
    finally:
        linker.kb.close()


@pytest.mark.parametrize("name", INDEXES)
def test_damage_is_told_by_whoever_meets_it(indexed, name):
    path, pick = indexed / name, random.Random(3)
    content = path.read_bytes()
    flipped = (
        content[:place] + bytes([content[place] ^ 1 << pick.randrange(8)]) + content[place + 1 :]
        for place in pick.choices(range(len(content)), k=FLIPS)
    )
    told = 0
    try:
        for damaged in (*flipped, content[:-1], content[: len(content) // 2], b""):
            replace(path, damaged)
            try:
                use(indexed)
            except DamagedError:
                told += 1
    finally:
        replace(path, content)
    assert told
    use(indexed)


def replace(path, content):
    """Not in place: what is mapped must stay as it is."""
    other = path.with_name("replacing")
    other.write_bytes(content)
    other.replace(path)


@pytest.mark.parametrize("kept", [0.0, 0.2, 0.5, 0.9, 0.999])
def test_names_that_are_cut_off_are_told(indexed, kept):
    path = indexed / "index-1" / "keys-00.trie"
    content = path.read_bytes()
    replace(path, content[: int(kept * len(content))])
    try:
        with pytest.raises(DamagedError, match=r"shard 0 cannot be read"):
            use(indexed)
    finally:
        replace(path, content)
