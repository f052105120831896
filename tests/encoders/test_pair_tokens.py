"""Mentions and entities as tokens: marked, centred, cut, and the same alone as in a batch."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, Mention, Span, Turn
from entlink.encoders.models.card import ModelCard
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.encoders.trained.settings import PairSettings, pair_settings
from entlink.errors import DamagedError, InputError, SpanError
from pair_models import CLOSE, CLS, MARKERS, OPEN, SEP, TITLE, WORDS, entity_of, make_tokenizer, mention_of

TOKENIZER = make_tokenizer()


def reader_of(**settings):
    return PairReader(TOKENIZER, PairSettings(**settings))


def words_of(tokens):
    return [WORDS[id] for id in tokens.ids]


def test_a_mention_is_marked_among_its_words():
    document = Document("d", "The cat sat on the river bank in the red.")
    tokens = reader_of().mention(document, mention_of(document, "river bank"))
    assert " ".join(words_of(tokens)) == (
        "[CLS] the cat sat on the [unused0] river bank [unused1] in the red . [SEP]"
    )
    assert words_of(tokens)[tokens.first : tokens.last] == ["river", "bank"]


def test_an_entity_is_its_title_and_description():
    tokens = reader_of().entity(entity_of("River bank", "The mat of the river."))
    assert " ".join(words_of(tokens)) == "[CLS] river bank [unused2] the mat of the river . [SEP]"
    assert words_of(tokens)[tokens.first : tokens.last] == ["river", "bank"]


def test_a_mention_with_an_entity_is_one_text():
    document = Document("d", "The cat sat on the mat")
    reader = reader_of()
    mention = reader.mention(document, mention_of(document, "cat"))
    joint = reader.joint(mention, reader.entity(entity_of("Dog", "a blue dog")))
    assert " ".join(words_of(joint)) == (
        "[CLS] the [unused0] cat [unused1] sat on the mat [SEP] dog [unused2] a blue dog [SEP]"
    )
    assert words_of(joint)[joint.first : joint.last] == ["cat"]


def test_the_longest_pair_has_as_many_tokens_as_are_said():
    document = Document("d", "the cat " * 40)
    reader = reader_of(mention_tokens=20, entity_tokens=16)
    joint = reader.joint(
        reader.mention(document, mention_of(document, "cat", 20)), reader.entity(entity_of("a " * 50))
    )
    assert len(joint.ids) == reader.most_tokens == 35


def test_a_mention_in_a_long_text_is_in_the_middle():
    document = Document("d", f"{'the red cat ' * 500}needle{' on two mat' * 500}")
    tokens = reader_of(mention_tokens=16).mention(document, mention_of(document, "needle"))
    assert " ".join(words_of(tokens)) == (
        "[CLS] red cat the red cat [unused0] needle [unused1] on two mat on two mat [SEP]"
    )


@pytest.mark.parametrize(("left", "right", "before", "after"), [(1, 50, 1, 10), (50, 2, 9, 2), (50, 50, 5, 6)])
def test_room_that_one_side_does_not_need_is_the_others(left, right, before, after):
    document = Document("d", f"{'cat ' * left}needle{' dog' * right}")
    tokens = reader_of(mention_tokens=16).mention(document, mention_of(document, "needle"))
    assert (tokens.ids.count(WORDS.index("cat")), tokens.ids.count(WORDS.index("dog"))) == (before, after)
    assert len(tokens.ids) == 16


def test_a_long_surface_is_cut_and_keeps_its_markers():
    surface = "cat " * 300 + "dog"
    document = Document("d", f"the {surface} sat")
    tokens = reader_of(mention_tokens=10).mention(document, mention_of(document, surface))
    assert words_of(tokens) == ["[CLS]", "[unused0]", *["cat"] * 6, "[unused1]", "[SEP]"]
    assert (tokens.first, tokens.last) == (2, 8)


def test_a_long_title_is_cut_and_keeps_its_marker():
    tokens = reader_of(entity_tokens=8).entity(entity_of("cat " * 300, "the dog"))
    assert words_of(tokens) == ["[CLS]", *["cat"] * 5, "[unused2]", "[SEP]"]
    assert (tokens.first, tokens.last) == (1, 6)


def test_a_surface_or_title_without_tokens_is_its_markers():
    reader = reader_of()
    nameless = reader.mention(Document("d", "cat   dog"), Mention(Span(3, 6), "   "))
    assert nameless.ids[2:4] == [OPEN, CLOSE]
    assert nameless.ids[nameless.first : nameless.last] == [OPEN, CLOSE]
    untitled = reader.entity(entity_of("", "a dog"))
    assert untitled.ids[untitled.first : untitled.last] == [TITLE]
    assert not reader.has_words(nameless)
    assert not reader.has_words(untitled)
    assert reader.has_words(reader.entity(entity_of("cat")))
    empty = reader.mention(Document("d", ""), Mention(Span(0, 0), ""))
    assert empty.ids == [CLS, OPEN, CLOSE, SEP]


def test_later_turns_are_not_read():
    talk = Document.of_turns("d", [Turn("the red cat"), Turn("a blue dog sat")])
    mention = mention_of(talk, "dog")
    tokens = reader_of().mention(talk, mention)
    assert " ".join(words_of(tokens)) == "[CLS] the red cat a blue [unused0] dog [unused1] sat [SEP]"
    assert reader_of().mention(talk.with_turn(Turn("one two three")), mention) == tokens


def test_text_far_away_is_read_where_what_is_near_has_too_few_tokens():
    document = Document("d", f"one cat{' ' * 5000}needle{' ' * 5000}dog two")
    tokens = reader_of(mention_tokens=12).mention(document, mention_of(document, "needle"))
    assert " ".join(words_of(tokens)) == "[CLS] one cat [unused0] needle [unused1] dog two [SEP]"


def test_half_a_character_is_read():
    document = Document("d", "cat \ud83d sat")
    assert reader_of().mention(document, Mention(Span(4, 5), "\ud83d")).ids[2] == OPEN


def test_a_span_that_does_not_fit_is_told():
    with pytest.raises(SpanError, match="'d' has 3 characters"):
        reader_of().mention(Document("d", "cat"), Mention(Span(2, 7), "t"))


def test_a_marker_that_is_no_token_is_told():
    tokenizer = make_tokenizer([word for word in WORDS if word not in MARKERS])
    with pytest.raises(InputError, match=r"'\[unused0\]', which is to stand before a mention.*Set `markers`"):
        PairReader(tokenizer, PairSettings())


def test_too_few_tokens_are_told():
    with pytest.raises(InputError, match="leave no room"):
        reader_of(mention_tokens=4)


def test_padding_has_the_id_of_its_sign():
    assert reader_of().pad_id == WORDS.index("[PAD]")


@given(
    st.lists(st.sampled_from(["cat", "dog", "needle", "cash!", "\n", "猫", "x" * 30, "  "]), max_size=60),
    st.integers(0, 400),
    st.integers(0, 20),
    st.integers(8, 24),
)
def test_any_mention_keeps_its_markers_and_its_length(words, start, size, room):
    text = " ".join(words)
    start = min(start, len(text))
    end = min(len(text), start + size)
    reader = reader_of(mention_tokens=room)
    document, mention = Document("d", text), Mention(Span(start, end), text[start:end])
    tokens = reader.mention(document, mention)
    assert len(tokens.ids) <= room
    assert tokens.ids.count(OPEN) == tokens.ids.count(CLOSE) == 1
    assert tokens.first < tokens.last
    whole = [TOKENIZER.encode(part, add_special_tokens=False).ids for part in (text[:start], text[end:])]
    opened, closed = tokens.ids.index(OPEN), tokens.ids.index(CLOSE)
    left, right = tokens.ids[1:opened], tokens.ids[closed + 1 : -1]
    assert left == whole[0][len(whole[0]) - len(left) :]
    assert right == whole[1][: len(right)]
    if len(tokens.ids) < room:
        assert [left, right] == whole
    assert reader.mentions([(document, mention), (Document("e", "cat"), Mention(Span(0, 3), "cat"))])[0] == tokens


def card_with(**settings):
    return ModelCard("m", "dual", "", 4, {}, settings=settings)


def test_settings_come_from_the_card(tmp_path):
    assert pair_settings(card_with(mention_tokens=32, pooling="cls"), tmp_path) == PairSettings(32, pooling="cls")
    settings = PairSettings(separate=True, similarity="dot")
    assert pair_settings(card_with(**msgspec.to_builtins(settings)), tmp_path) == settings


@pytest.mark.parametrize("settings", [{"mention_tokens": 3}, {"pooling": "max"}, {"markers": ["a"]}])
def test_settings_that_make_no_sense_are_told(settings, tmp_path):
    with pytest.raises(DamagedError, match=r"card of the model 'm'.*Export the model again"):
        pair_settings(card_with(**settings), tmp_path)
