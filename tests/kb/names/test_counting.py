from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from unittest import mock

import marisa_trie
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from entlink.kb.names import counting
from entlink.kb.names.alias_index import MAX_KEY, shard_of
from entlink.kb.names.counting import BARRIER, BulkCounter, outside_links
from entlink.kb.names.scan import Scanner
from entlink.text.folding import first_token, fold, key_of
from entlink.text.titles import tidy

SCHOOLS = Path(__file__).parents[3] / "../shared/data/schools_wikipedia/articles.jsonl.xz"
PLAIN = "aAbB  ..,-'_\n"
# What folds in interesting ways: signs, expanding letters, compatible blanks and digits, marks, spaceless scripts,
# invisible characters, and the stand-ins that the counter itself uses.
INTERESTING = (
    "aA  +#\n-"
    "éÉßẞİıﬁ½™²ŉΣςǰ№Ⅷ＋＃"
    "\u00a0\u2009…–’´¨"
    "\u0301\u0308\u0323\u200d❤\ufe0f"
    "编カガｶﾞー・ไท่"
    "한ㅏㄱ\u1112\u1161हिㅤ"
    "\u00ad\u200b\x01\x02\x1c\x85"
)
WORDS = [
    "new",
    "New",
    "NEW",
    "york",
    "York",
    "c",
    "C++",
    "c#",
    "+",
    "#1",
    "straße",
    "編",
    "é",
    "e\u0301",
    " ",
    ", ",
    "–",
]
TEXTS = st.one_of(
    st.text(alphabet=PLAIN, max_size=20),
    st.text(alphabet=INTERESTING, max_size=12),
    st.text(alphabet=PLAIN + INTERESTING, max_size=20),
    st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=10).map("".join),
)


class Tries:
    """What is asked of an index: the trie of a token's shard, and all keys."""

    def __init__(self, keys: set[str], shards: int = 1) -> None:
        split: list[set[str]] = [set() for _ in range(shards)]
        for key in keys:
            split[shard_of(first_token(key), shards)].add(key)
        self._tries, self._count = [marisa_trie.Trie(sorted(part)) for part in split], shards

    def shard_trie(self, token: str) -> marisa_trie.Trie:
        return self._tries[shard_of(token, self._count)]

    def __len__(self) -> int:
        return sum(map(len, self._tries))

    def keys(self) -> Iterator[str]:
        return chain.from_iterable(trie.iterkeys() for trie in self._tries)


def by_scanning(index: Tries, passages: list[tuple[str, list[tuple[int, int]]]]) -> Counter[str]:
    """The names a scanner finds that overlap no link."""
    scanner, counted = Scanner(index), Counter()
    for text, links in passages:
        for start, end in scanner.matches(text):
            if not any(a < end and start < b for a, b in links):
                counted[tidy(text[start:end])] += 1
    return counted


def in_bulk(counter: BulkCounter, passages: list[tuple[str, list[tuple[int, int]]]]) -> Counter[str]:
    return counter.count(BARRIER.join(outside_links(text, sorted(links)) for text, links in passages))


def words_share_characters(text: str) -> bool:
    """Whether one character folds to the end of a word and the start of the next: "A½B" to "a1" and "2b"."""
    folded = fold(text)
    return any(start < end for start, end in zip(folded.starts[1:], folded.ends, strict=False))


def slices(text: str) -> st.SearchStrategy[tuple[int, int]]:
    places = st.integers(0, len(text))
    return st.tuples(places, places).map(lambda ends: (min(ends), max(ends)))


@st.composite
def passages_and_keys(draw):
    """Texts with links, and the keys of some slices of these texts, so that names do occur."""
    passages, keys = [], {key_of("new york"), key_of("york c++")}
    for text in draw(st.lists(TEXTS, min_size=1, max_size=3)):
        # A link that ends within such a character leaves half of it, which no text without the link can show.
        links = [] if words_share_characters(text) else draw(st.lists(slices(text), max_size=2))
        passages.append((text, links))
        for start, end in draw(st.lists(slices(text), min_size=1, max_size=4)):
            keys.add(key_of(text[start:end]))
    return passages, keys - {""}


@settings(max_examples=400, deadline=None)
@given(
    passages_and_keys(),
    st.sampled_from([1, 3]),
    st.sampled_from([0, 1, 100]),
    st.sampled_from([1, 10, 60_000]),
    st.booleans(),
)
@example(([("a+b", [(2, 3)])], {"a", "a+"}), 1, 100, 10, True)
@example(([("new\u00adyork new\u00ad york", [])], {"newyork", "new york"}), 1, 100, 10, True)
@example(([("new york–city new york+city", [])], {"york city"}), 1, 100, 10, True)
@example(([("…\u1161", [])], {"\u1161"}), 1, 100, 10, True)
@example(([("cat 编 cat", [])], {"cat编", "cat"}), 1, 100, 10, True)
def test_counts_what_a_scanner_finds_outside_of_links(drawn, shards, most_listed, batch, is_small):
    passages, keys = drawn
    index = Tries(keys, shards)
    counter = BulkCounter(index, most_listed=most_listed, most_keys=10**6 if is_small else 0)
    with mock.patch.object(counting, "_BATCH", batch):
        expected = by_scanning(index, passages)
        assert in_bulk(counter, passages) == expected
        assert in_bulk(counter, passages) == expected  # again, with what was learned


def around(character: str) -> str:
    return f"x{character}x {character}x x{character} x"


@pytest.mark.parametrize(("first", "last"), [(0x80, 0x3400), (0xA000, 0xA4D0), (0xD7B0, 0xD800), (0xF900, 0x10000)])
def test_any_character_is_counted_as_a_scanner_finds_it(first, last):
    for block in range(first, last, 64):
        passages = [(around(chr(code)), []) for code in range(block, block + 64)]
        keys = {key_of(word) for text, _ in passages for word in text.split(" ")} | {"x x", "x"}
        index = Tries(keys)
        assert in_bulk(BulkCounter(index), passages) == by_scanning(index, passages)


@pytest.mark.parametrize(
    ("text", "links", "left"),
    [
        ("no links", [], "no links"),
        ("a link here", [(2, 6)], "a \0 here"),
        ("link", [(0, 4)], "\0"),
        ("the subway.", [(7, 10)], "the\0."),
        ("the subway.", [(4, 7)], "the \0"),
        ("one+two", [(4, 7)], "one\0"),
        ("C++ book", [(0, 1)], "\0book"),
        ("C++ book", [(3, 8)], "C++\0"),
        ("a b c d", [(2, 5), (2, 3), (4, 5)], "a \0 d"),
        ("a b c d", [(0, 1), (2, 3)], "\0 \0 c d"),
        ("new york", [(5, 5)], "new\0"),
        ("北京大学", [(1, 3)], "北\0学"),
        ("caf\u00e9 cafe\u0301s", [(5, 9)], "café \0"),
        ("soft\u00adware x", [(4, 5)], "\0x"),
        ("King’s", [(0, 4)], "\0’s"),
    ],
)
def test_what_is_left_outside_of_links(text, links, left):
    assert outside_links(text, links) == left


def test_no_name_goes_over_a_barrier():
    counter = BulkCounter(Tries({"new york", "new", "york"}))
    assert counter.count(f"new{BARRIER}york") == {"new": 1, "york": 1}
    assert BulkCounter(Tries({"new york"}), most_listed=0).count(f"new{BARRIER}york") == {}


def test_forms_are_counted_as_written_but_for_white_space():
    counted = BulkCounter(Tries({"new york", "c++"})).count("New\nYork, new  york; New–York/NEW+YORK C++ c++, C+")
    assert counted == {"New York": 1, "new york": 1, "New–York": 1, "NEW+YORK": 1, "C++": 1, "c++": 1}


def test_a_name_within_a_longer_one_is_counted_too():
    counted = BulkCounter(Tries({"new", "new york", "new york city", "york city", "city"})).count("New York City")
    assert counted == {"New": 1, "New York": 1, "New York City": 1, "York City": 1, "City": 1}


@pytest.mark.parametrize("most_listed", [0, 5, 1000])
def test_words_that_begin_more_keys_than_are_listed(most_listed):
    keys = {f"new w{number}" for number in range(100)} | {f"new w1 x{number}" for number in range(100)} | {"new"}
    index = Tries(keys)
    text = "new w5 New w50 new w1 X7 new w1 x new w100 new w10 w1 new"
    assert in_bulk(BulkCounter(index, most_listed=most_listed), [(text, [])]) == by_scanning(index, [(text, [])])


def test_names_up_to_the_length_limit_are_counted():
    letters = " ".join("x" * (MAX_KEY // 2))  # one character short of the limit
    words = {"y" * MAX_KEY, "z" * (MAX_KEY + 1), letters, f"{letters} x", f"{letters}yy", "z z"}
    counted = BulkCounter(Tries(words)).count(BARRIER.join(words))
    assert counted == {letters: 3, "y" * MAX_KEY: 1, "z z": 1}  # in the longer one it stands twice


def test_texts_of_many_words_are_counted_with_a_short_memory(monkeypatch):
    monkeypatch.setattr(counting, "_REMEMBERED", 3)
    index = Tries({"new york", "é", "york"})
    counter = BulkCounter(index, most_listed=0)
    for text in ("New York of é", "york new york", "other words", "É new york"):
        assert counter.count(text) == by_scanning(index, [(text, [])])
    assert "New" not in counter._numbers


def test_a_text_of_any_length_is_taken_apart_by_the_scanner(monkeypatch):
    monkeypatch.setattr(counting, "_LONGEST_PIECE", 10)
    with mock.patch.object(Scanner, "matches", return_value=[(0, 3)]) as matches:
        assert BulkCounter(Tries({"new"})).count(f"new new new{BARRIER}new") == {"new": 2}
    matches.assert_called_once_with("new new new")


@given(st.text(alphabet=PLAIN + INTERESTING, max_size=15), st.data())
def test_outside_links_only_takes_away(text, data):
    assume("\0" not in text)
    links = sorted(data.draw(st.lists(slices(text), min_size=1, max_size=3)))
    pieces, at = outside_links(text, links).split(BARRIER), 0
    for piece in pieces:
        at = text.index(piece, at) + len(piece)
    assert len(pieces) > 1


@pytest.mark.skipif(not SCHOOLS.exists(), reason="the Schools articles are not at ../shared/data")
def test_real_texts_are_counted_as_a_scanner_does():
    with lzma.open(SCHOOLS, "rt", encoding="utf8") as lines:
        articles = [json.loads(line) for line in islice(lines, 20)]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    passages = [(one["text"], [(start, end) for start, end, *_ in one["links"]]) for one in paragraphs]
    words = {" ".join(run) for text, _ in passages for run in zip(*[iter(text.split()[:90])] * 2, strict=False)}
    keys = {key_of(article["title"]) for article in articles} | {key_of(word) for word in words} - {""}
    index = Tries(keys)
    expected = by_scanning(index, passages)
    assert in_bulk(BulkCounter(index), passages) == expected
    assert sum(expected.values()) > 5_000
