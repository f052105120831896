"""Trees of replies: their threads, whatever their shape, and what hangs in the air."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from entlink.datasets.conversations.reply_trees import Reply, ReplyTree

#    a
#    ├── b ── d
#    │   └─── e
#    └── c
TREE = [Reply("c", "a", 2), Reply("e", "b", 5), Reply("a", None, 0), Reply("d", "b", 4), Reply("b", "a", 1)]


def paths(tree: ReplyTree, kept: str) -> list[str]:
    return ["".join(path) for path in tree.threads(set(kept))]


def test_threads_go_from_the_post_to_each_last_reply():
    assert paths(ReplyTree(TREE), "abcde") == ["abd", "abe", "ac"]


def test_replies_to_a_pruned_utterance_answer_what_it_answered():
    tree = ReplyTree(TREE)
    assert paths(tree, "acde") == ["ad", "ae", "ac"]
    assert paths(tree, "abc") == ["ab", "ac"]
    assert paths(tree, "bcde") == ["bd", "be", "c"]
    assert paths(tree, "ad") == ["ad"]
    assert paths(tree, "") == []


def test_whole_threads_have_nothing_pruned():
    assert ["".join(path) for path in ReplyTree(TREE).whole_threads(set("abce"))] == ["abe", "ac"]


def test_a_missing_parent_takes_its_replies_along():
    tree = ReplyTree([*TREE, Reply("x", "gone", 7), Reply("y", "x", 8), Reply("z", "gone", 9)])
    (fault,) = tree.faults()
    assert (fault.id, fault.kind, fault.lost) == ("x", "missing parent", 3)
    assert "'x' answers 'gone', which is not in its conversation" in fault.told
    assert paths(tree, "abcdexyz") == ["abd", "abe", "ac"]


def test_a_circle_is_told_once_from_its_smallest_id():
    tree = ReplyTree([*TREE, Reply("z", "y", 1), Reply("y", "x", 2), Reply("x", "z", 3), Reply("tail", "x", 4)])
    (fault,) = tree.faults()
    assert (fault.id, fault.kind, fault.lost) == ("x", "cycle", 4)
    assert "x → z → y → x" in fault.told
    assert paths(tree, "abcdexyz") == ["abd", "abe", "ac"]


def test_an_utterance_that_answers_itself_is_a_circle():
    (fault,) = ReplyTree([Reply("a", "a", 0)]).faults()
    assert (fault.kind, fault.lost) == ("cycle", 1)


def test_replies_dated_too_early_are_counted_and_stay():
    tree = ReplyTree([Reply("a", None, 9), Reply("b", "a", 3), Reply("c", "b", 5)])
    assert tree.early() == 1
    assert paths(tree, "abc") == ["abc"]


def test_a_chain_may_be_deeper_than_python_can_recurse():
    chain = [Reply("0", None, 0)] + [Reply(str(n), str(n - 1), n) for n in range(1, 5000)]
    (path,) = ReplyTree(chain).threads({reply.id for reply in chain})
    assert len(path) == 5000


@st.composite
def replies(draw: st.DrawFn) -> list[Reply]:
    """Any trees: each utterance answers an earlier one, or nothing."""
    size = draw(st.integers(1, 12))
    made = []
    for number in range(size):
        parent = draw(st.none() | st.integers(0, number - 1)) if number else None
        made.append(Reply(str(number), None if parent is None else str(parent), draw(st.integers(0, 3))))
    return draw(st.permutations(made))


@given(replies())
def test_of_any_tree_the_threads_are_the_ways_up_from_its_leaves(made):
    tree = ReplyTree(made)
    parents = {reply.id: reply.parent for reply in made}
    expected = set()
    for leaf in parents.keys() - set(parents.values()):
        way, at = [], leaf
        while at is not None:
            way.append(at)
            at = parents[at]
        expected.add(tuple(reversed(way)))
    found = list(tree.threads(parents.keys()))
    assert set(found) == expected
    assert len(found) == len(expected)
    assert list(tree.whole_threads(parents.keys())) == found
    assert not list(tree.faults())


@given(replies(), st.data())
def test_of_any_pruned_tree_no_thread_begins_another_and_all_that_stays_is_in_one(made, data):
    kept = data.draw(st.sets(st.sampled_from([reply.id for reply in made])))
    found = list(ReplyTree(made).threads(kept))
    assert {id for path in found for id in path} == kept
    assert not any(one != other and other[: len(one)] == one for one in found for other in found)
    assert len(set(found)) == len(found)


@given(st.dictionaries(st.sampled_from("abcdef"), st.none() | st.sampled_from("abcdefg")))
def test_of_any_replies_all_are_in_the_tree_or_told(parents):
    tree = ReplyTree(Reply(id, parent, 0) for id, parent in parents.items())
    faults = list(tree.faults())
    assert len(tree.order) + sum(fault.lost for fault in faults) == len(parents)
    assert {fault.kind for fault in faults} <= {"missing parent", "cycle"}


@given(replies(), st.randoms())
def test_the_order_of_the_file_does_not_matter(made, random):
    shuffled = list(made)
    random.shuffle(shuffled)
    ids = {reply.id for reply in made}
    assert list(ReplyTree(made).threads(ids)) == list(ReplyTree(shuffled).threads(ids))
