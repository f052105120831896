"""Which names are whole words where a script writes without spaces."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from entlink.text.segmentation import whole_words

TIMES = {"法国": 900, "学习": 500, "国学": 20, "北京": 800, "北京大学": 90, "大学": 700, "上湖": 1, "湖人": 40}


def found(text, names):
    matches = [
        (start, start + len(name)) for name in names for start in range(len(text)) if text.startswith(name, start)
    ]
    places = whole_words(text, matches, lambda name: TIMES.get(name, 0))
    return [text[start:end] for start, end in sorted(places)]


def test_a_name_across_two_words_is_left_out():
    assert found("他在法国学习。", ["法国", "国学", "学习"]) == ["法国", "学习"]
    assert found("碰上湖人", ["上湖", "湖人"]) == ["湖人"]


def test_a_name_inside_a_longer_one_is_left_out():
    assert found("北京大学", ["北京", "大学", "北京大学"]) == ["北京大学"]


def test_names_in_scripts_with_spaces_stay_though_they_overlap():
    assert found("New York City", ["New York", "York City", "York"]) == ["New York", "York", "York City"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(2, 4)), max_size=8), st.integers(0, 99))
def test_no_two_of_those_found_overlap_and_all_were_given(spans, seed):
    text = "国学法人大京湖上北习天地"
    given_places = [(start, start + size) for start, size in spans if start + size <= len(text)]
    places = sorted(whole_words(text, given_places, lambda name: hash((name, seed)) % 1000))
    assert set(places) <= set(given_places)
    assert all(one[1] <= other[0] for one, other in pairwise(places))
