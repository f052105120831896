from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from entlink.mentions.proposals import MOST_WORDS, Proposal, proposals, words_of

PIECES = [
    "New",
    "york",
    "U.S",
    "it's",
    "北京",
    "x-y",
    "7",
    " ",
    "  ",
    ", ",
    ". ",
    ".",
    "! ",
    "。",
    "\n",
    "😀",
    "\u200b",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def is_broken(text: str, one, other) -> bool:
    """Whether a sentence or a line ends between two words, character by character."""
    between = range(one.end, other.start)
    if any(text[at] == "\n" or text[at] in "。！？" for at in between):
        return True
    return any(text[at] in ".!?" and text[at + 1].isspace() for at in between)


def by_hand(text: str, names) -> dict[tuple[int, int], tuple[int, int, bool]]:
    words = words_of(text)
    found = {}
    for first in range(len(words)):
        for last in range(first, min(len(words), first + MOST_WORDS)):
            run = words[first : last + 1]
            if not any(is_broken(text, *pair) for pair in pairwise(run)):
                found[run[0].start, run[-1].end] = (first, last, False)
    for start, end in names:
        inner = [at for at, word in enumerate(words) if word.start < end and start < word.end]
        if inner:
            found[start, end] = (inner[0], inner[-1], True)
    return found


@given(TEXTS, st.data())
@example("New york. U.S, 北京。7", None)
def test_they_are_all_short_runs_and_all_names(text, data):
    pairs = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(lambda one: one[0] < one[1])
    names = data.draw(st.sets(pairs, max_size=6)) if data is not None and text else set()
    found = proposals(text, words_of(text), names)
    assert found == sorted(found)
    assert {(one.start, one.end): one[2:] for one in found} == by_hand(text, names)
    assert len(found) == len({one[:2] for one in found})


def test_words_have_signs_inside_and_not_around():
    text = "Yahoo! isn't AT&T's, nor U.S. (rock-'n'-roll) 北京 a\u200bb"
    assert [word.text for word in words_of(text)] == [
        *("Yahoo", "isn't", "AT&T's", "nor", "U.S", "rock", "n", "roll", "北京", "a", "b"),
    ]
    assert all(text[word.start : word.end] == word.text for word in words_of(text))


def test_runs_stop_where_a_sentence_ends_and_names_do_not():
    text = "See Dr. No"
    words = words_of(text)
    spans = [text[one.start : one.end] for one in proposals(text, words, [])]
    assert spans == ["See", "See Dr", "Dr", "No"]
    assert Proposal(4, 10, 1, 2, True) in proposals(text, words, [(4, 10)])


def test_a_name_inside_a_word_and_one_without_words():
    text = "在北京市 😀"
    words = words_of(text)
    assert proposals(text, words, [(1, 3), (5, 6)]) == [Proposal(0, 4, 0, 0, False), Proposal(1, 3, 0, 0, True)]


def test_their_number_is_in_line_with_the_text():
    text = "some words in a row " * 500
    assert len(proposals(text, words_of(text), [])) == MOST_WORDS * len(re.findall(r"\w+", text)) - 6
