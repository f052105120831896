"""A text cut into passages."""

from hypothesis import given
from hypothesis import strategies as st

from entlink.text.passages import passages


@given(st.text("ab .!\n。北京", max_size=900))
def test_passages_are_the_whole_text_in_order(text):
    assert "".join(text[start:end] for start, end in passages(text)) == text


def test_sentences_stay_together_and_none_is_endless():
    text = "A short sentence. " * 40 + "word " * 300
    cut = [text[start:end] for start, end in passages(text)]
    assert all(len(one) <= 480 for one in cut)
    assert all(one.endswith(". ") for one in cut[:2])
