from __future__ import annotations

from unittest import mock

import marisa_trie
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from entlink.kb.names import scan
from entlink.kb.names.alias_index import MAX_KEY, shard_of
from entlink.kb.names.scan import Scanner
from entlink.text.folding import first_token, fold, key_of

WORDS = ["a", "cat", "cats", "catses", "new", "york", "is", "i", "bus", "buses", "c++", "编", "程", "京", "é", "ガ"]
PHRASES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
TEXTS = st.lists(st.sampled_from([*WORDS, "Cats", "NEW", "-", ". ", "ｶﾞ", "E\u0301"]), max_size=12).map(" ".join)
JOINED = st.lists(st.sampled_from(["编", "程", "京", "cat", " ", "new ", "s"]), max_size=10).map("".join)


class Tries:
    """What a scanner asks of an index: the trie of a token's shard."""

    def __init__(self, keys: set[str], shards: int = 1) -> None:
        split: list[set[str]] = [set() for _ in range(shards)]
        for key in keys:
            split[shard_of(first_token(key), shards)].add(key)
        self._tries, self._count = [marisa_trie.Trie(sorted(part)) for part in split], shards

    def shard_trie(self, token: str) -> marisa_trie.Trie:
        return self._tries[shard_of(token, self._count)]


class Fresh:
    """Fresh keys in a plain set, looked up by trying them all."""

    def __init__(self, keys: set[str]) -> None:
        self._keys = keys

    def __bool__(self) -> bool:
        return bool(self._keys)

    def keys_from(self, first: str, rest: str) -> list[str]:
        return [key for key in self._keys if rest.startswith(key)]


def by_trying_all(keys: set[str], text: str, *, plurals: bool) -> list[tuple[int, int]]:
    """Every run of tokens whose key, as a name of its own, is among the keys."""
    folded = fold(text)
    found = set()
    for first in range(len(folded.tokens)):
        for last in range(first, len(folded.tokens)):
            key, word = folded.key[folded.at[first] : folded.to[last]], folded.tokens[last]
            stems = [end for end in ("s", "es") if word.endswith(end) and len(word) - len(end) >= 3]
            singulars = {key[: -len(end)] for end in stems} if plurals else set()
            if keys & {key, *singulars}:
                found.add((folded.starts[first], folded.ends[last]))
    return sorted(found)


@settings(max_examples=300)
@given(st.sets(PHRASES, max_size=8), st.one_of(TEXTS, JOINED), st.booleans())
@example({"new york", "new"}, "new yorks news", True)
@example({"i", "is a"}, "is a cat is", True)
@example({"cat 编"}, "the cat 编程", False)
@example({"new cat编程"}, "new cat编程", False)
def test_finds_what_trying_every_run_of_tokens_finds(phrases, text, plurals):
    keys = {key_of(phrase) for phrase in phrases}
    scanner = Scanner(Tries(keys), plurals=plurals)
    expected = by_trying_all(keys, text, plurals=plurals)
    assert scanner.matches(text) == expected
    assert scanner.matches(text) == expected  # again, with what the first pass remembered


@given(st.sets(PHRASES, max_size=8), st.one_of(TEXTS, JOINED), st.sampled_from([2, 4]))
def test_finds_the_same_with_several_shards(phrases, text, shards):
    keys = {key_of(phrase) for phrase in phrases}
    assert Scanner(Tries(keys, shards)).matches(text) == by_trying_all(keys, text, plurals=False)


def test_finds_plurals_whatever_shard_the_singular_is_in():
    stems = ["cat", "bus", "planet", "star", "widget", "moon", "comet", "ring"]
    for shards in (2, 4):
        scanner = Scanner(Tries(set(stems), shards), plurals=True)
        missed = [stem for stem in stems if scanner.matches(f"many {stem}s") != [(5, 6 + len(stem))]]
        assert missed == []


@settings(max_examples=200)
@given(st.sets(PHRASES, max_size=5), st.sets(PHRASES, max_size=5), st.one_of(TEXTS, JOINED), st.booleans())
def test_fresh_keys_are_found_as_indexed_ones_are(indexed, fresh, text, plurals):
    base, added = {key_of(one) for one in indexed}, {key_of(one) for one in fresh}
    scanner = Scanner(Tries(base), Fresh(added), plurals=plurals)
    assert scanner.matches(text) == by_trying_all(base | added, text, plurals=plurals)


def test_words_seen_often_are_remembered_and_still_found(monkeypatch):
    monkeypatch.setattr(scan, "_WARM", 2)
    keys = {"new york", "new york city", "new jersey", "new"}
    scanner = Scanner(Tries(keys), plurals=True)
    text = "New York City, New Jersey, new things, new yorks"
    for _ in range(6):
        assert scanner.matches(text) == by_trying_all(keys, text, plurals=True)


def test_a_full_cache_starts_anew(monkeypatch):
    monkeypatch.setattr(scan, "_CACHED_TOKENS", 2)
    keys = {"cat", "new york", "编程"}
    scanner = Scanner(Tries(keys), plurals=True)
    text = "cats in New York read 编程 of a cat in new york"
    for _ in range(3):
        assert scanner.matches(text) == by_trying_all(keys, text, plurals=True)


@pytest.mark.parametrize("gap", [" ", "\n", "\n\n"])
def test_a_very_long_text_is_scanned_in_pieces(monkeypatch, gap):
    monkeypatch.setattr(scan, "_PIECE", 50)
    keys = {"cat", "york"}
    text = gap.join(["the cat of York sat"] * 20)
    assert Scanner(Tries(keys)).matches(text) == by_trying_all(keys, text, plurals=False)


def test_a_text_without_any_break_is_scanned_to_its_end(monkeypatch):
    monkeypatch.setattr(scan, "_PIECE", 50)
    text = "京" * 333
    assert Scanner(Tries({"京"})).matches(text) == [(at, at + 1) for at in range(333)]


def test_names_up_to_the_length_limit_are_found():
    longest, longer = "x" * MAX_KEY, "y" * (MAX_KEY + 1)
    scanner = Scanner(Tries({longest, longer, longer + " z", longest + " z"}))
    assert scanner.matches(f"a {longest} b") == [(2, 2 + MAX_KEY)]
    assert scanner.matches("y y") == []


@settings(max_examples=100, deadline=None)
@given(
    st.sets(PHRASES, max_size=12),
    st.lists(st.one_of(TEXTS, JOINED), min_size=4, max_size=12),
    st.booleans(),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 4]),
    st.sampled_from([3, 1000]),
)
def test_what_is_remembered_never_changes_what_is_found(phrases, texts, plurals, shards, patience, cached):
    keys = {key_of(phrase) for phrase in phrases}
    scanner = Scanner(Tries(keys, shards), plurals=plurals)
    with mock.patch.multiple(scan, _WARM=2, _KEYS_A_SIGHTING=patience, _CACHED_TOKENS=cached):
        for text in [*texts, *texts]:
            assert scanner.matches(text) == by_trying_all(keys, text, plurals=plurals)
