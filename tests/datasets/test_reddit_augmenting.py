"""Unlinked occurrences of what was linked elsewhere."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from entlink.datasets.conversations.augmenting import Surfaces
from entlink.datasets.conversations.mentions import Annotation
from entlink.datasets.wiki_titles import Entry
from entlink.documents import Span

WREN, FERRY = Entry("h3", "Captain Wren"), Entry("h2", "Ferry (ship)")


def found(surfaces: Surfaces, text: str, *given: Annotation, refused=()) -> list[tuple[int, str, str]]:
    annotations = surfaces.augment(text, given, refused)
    return [(one.span.start, text[one.span.start : one.span.end], one.by) for one in annotations]


def test_whole_words_as_they_were_written_become_gold():
    surfaces = Surfaces([("Wren", WREN)])
    text = "Wren, wren, Wrens and Wren's; xWren"
    assert found(surfaces, text) == [(0, "Wren", "augmented"), (22, "Wren", "augmented")]


def test_the_longest_text_is_taken():
    surfaces = Surfaces([("Wren", WREN), ("old Wren boat", FERRY)])
    assert found(surfaces, "the old Wren boat of Wren") == [
        (4, "old Wren boat", "augmented"),
        (21, "Wren", "augmented"),
    ]


def test_what_was_linked_to_several_is_left_alone():
    surfaces = Surfaces([("it", WREN), ("it", FERRY), ("Wren", WREN)])
    assert surfaces.ambiguous == 1
    assert found(surfaces, "it is Wren") == [(6, "Wren", "augmented")]


def test_words_that_mean_something_else_elsewhere_are_left_alone():
    assert found(Surfaces([("He", WREN)], ["he"]), "He said") == []


def test_links_that_are_there_stay_and_refused_ones_are_not_gold():
    own = Annotation(Span(0, 4), FERRY, "link")
    text = "Wren Wren Wren"
    assert found(Surfaces([("Wren", WREN)]), text, own, refused=[Span(5, 9)]) == [
        (0, "Wren", "link"),
        (10, "Wren", "augmented"),
    ]


def test_a_word_that_goes_on_in_a_link_is_not_meant():
    own = Annotation(Span(4, 6), FERRY, "link")
    assert found(Surfaces([("Wren", WREN)]), "Wrenny", own) == [(4, "ny", "link")]


def test_nothing_linked_is_nothing_added():
    assert found(Surfaces([]), "Wren") == []


@given(st.text(alphabet="ab ", max_size=30), st.lists(st.sampled_from(["a", "ab", "a b", "b"]), max_size=4))
def test_annotations_never_overlap_and_are_in_order(text, surfaces):
    entries = [(surface, Entry(surface, surface)) for surface in surfaces]
    spans = [one.span for one in Surfaces(entries).augment(text, ())]
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert {text[span.start : span.end] for span in spans} <= set(surfaces)


def test_a_refused_link_inside_of_a_linked_name_does_not_open_the_rest_of_it():
    text = "old Wren boat Wren"
    own = Annotation(Span(0, 13), FERRY, "link")
    assert found(Surfaces([("boat", FERRY), ("Wren", WREN)]), text, own, refused=[Span(4, 8)]) == [
        (0, "old Wren boat", "link"),
        (14, "Wren", "augmented"),
    ]
