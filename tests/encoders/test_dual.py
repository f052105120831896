from __future__ import annotations

import hashlib

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, Entity, Mention, Span, Turn
from entlink.encoders.dual import PlainDual, beginning, load_dual, load_recipe, safe_name, window
from entlink.errors import ConfigError, InputError
from entlink.interfaces import DualEncoder


class Digests:
    """A text is a direction of its own; keeps what it was asked for."""

    name, dimension, identity = "digests", 8, "digests 1"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts):
        self.asked.append(list(texts))
        rows = [
            numpy.frombuffer(hashlib.sha256(text.encode()).digest(), numpy.int8)[:8] if text.strip(" !") else [0] * 8
            for text in texts
        ]
        rows = numpy.array(rows, numpy.float32).reshape(-1, 8)
        return rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def vector(text):
    return Digests().encode([text])[0]


def unit(row):
    return row / numpy.linalg.norm(row)


def mention_of(document, surface):
    start = document.text.index(surface)
    return document, Mention(Span(start, start + len(surface)), surface)


@pytest.fixture
def dual():
    return PlainDual(Digests())


def test_it_is_a_dual_encoder_with_the_dimension_of_its_encoder(dual):
    assert isinstance(dual, DualEncoder)
    assert (dual.name, dual.dimension) == ("digests", 8)


def test_an_entity_is_its_title_and_less_so_its_description(dual):
    rows = dual.encode_entities([Entity("p", "Paris", "The capital of France."), Entity("q", "Paris")])
    told = unit(vector("Paris") + 0.5 * vector("Paris. The capital of France."))
    assert numpy.allclose(rows[0], told, atol=1e-6)
    assert numpy.allclose(rows[1], vector("Paris"), atol=1e-6)
    assert rows.dtype == numpy.float32


def test_only_the_beginning_of_a_description_is_read(dual):
    description = "word " * 23 + "wo" * 20
    one, other = (Entity("e", "T", description + end) for end in ("", "ther " * 1000))
    assert dual.entity_content(one) == dual.entity_content(other) == "T\nT. " + ("word " * 23).rstrip()
    assert numpy.array_equal(*dual.encode_entities([one, other]))


def test_a_mention_is_its_surface_and_less_so_the_text_around(dual):
    document = Document("d", "They met in Paris last year.")
    rows = dual.encode_mentions(
        [mention_of(document, "Paris"), (Document("e", "Paris"), Mention(Span(0, 5), "Paris"))]
    )
    assert numpy.allclose(rows[0], unit(vector("Paris") + 0.5 * vector("They met in Paris last year.")), atol=1e-6)
    assert numpy.allclose(rows[1], vector("Paris"), atol=1e-6)


@pytest.mark.parametrize("surface", ["", "  ", "\n", "!"])
def test_a_mention_without_words_is_zeros(dual, surface):
    document = Document("d", f"Words {surface} and more words.")
    rows = dual.encode_mentions([(document, Mention(Span(6, 6 + len(surface)), surface))])
    assert not rows.any()


def test_nothing_is_no_rows(dual):
    assert dual.encode_mentions([]).shape == dual.encode_entities([]).shape == (0, 8)


def test_each_text_is_encoded_once():
    encoder = Digests()
    dual = PlainDual(encoder)
    document = Document("d", "Paris and Paris")
    same = [Mention(Span(0, 5), "Paris"), Mention(Span(10, 15), "Paris")]
    rows = dual.encode_mentions([(document, one) for one in same])
    assert encoder.asked == [["Paris", "Paris and Paris"]]
    assert numpy.array_equal(rows[0], rows[1])
    dual.encode_entities([Entity("a", "Paris", "A city."), Entity("b", "Paris"), Entity("c", "Paris", "A city.")])
    assert encoder.asked[1] == ["Paris", "Paris. A city."]


def test_weights_of_nothing_leave_the_names():
    encoder = Digests()
    dual = PlainDual(encoder, description=0, context=0)
    dual.encode_entities([Entity("a", "Paris", "A city.")])
    dual.encode_mentions([mention_of(Document("d", "In London now"), "London")])
    assert encoder.asked == [["Paris"], ["London"]]


@pytest.mark.parametrize("changed", [{"description": 0.4}, {"context": 0.4}, {"characters": 300}, {"reach": 99}])
def test_the_identity_changes_with_every_setting(dual, changed):
    other = PlainDual(Digests(), **changed)
    assert other.identity != dual.identity == PlainDual(Digests()).identity
    assert safe_name(other.identity) == other.identity


@pytest.mark.parametrize(
    ("changed", "same"),
    [({"description": 0.4}, False), ({"characters": 300}, False), ({"context": 0.4}, True), ({"reach": 99}, True)],
)
def test_vectors_of_entities_are_kept_by_what_they_depend_on(dual, changed, same):
    assert (PlainDual(Digests(), **changed).entity_identity == dual.entity_identity) is same


def test_a_dual_encoder_that_lacks_something_is_told_what():
    class Own(Digests):
        encode_mentions = encode_entities = entity_content = len
        entity_identity, similarity = "digests 1", "cosine"

    with pytest.raises(ConfigError, match=r"has no mention_content, recipe\. Add that"):
        load_dual(Own())


def test_the_identity_changes_with_the_encoder(dual):
    encoder = Digests()
    encoder.identity = "digests 2"
    assert PlainDual(encoder).identity != dual.identity


@pytest.mark.parametrize(
    "setting", [{"description": -1}, {"context": float("nan")}, {"characters": 0}, {"reach": -3}]
)
def test_settings_that_do_not_fit(setting):
    with pytest.raises(ConfigError, match=next(iter(setting))):
        PlainDual(Digests(), **setting)


def test_rows_that_are_no_numbers_name_the_encoder_and_the_text(dual):
    dual.encoder.encode = lambda texts: numpy.array([[numpy.nan] * 8 if "Lon" in text else [1] * 8 for text in texts])
    with pytest.raises(InputError, match=r"'digests' gave no numbers .* 'London'"):
        dual.encode_entities([Entity("a", "Paris"), Entity("b", "London")])


def test_rows_of_another_length_name_the_encoder(dual):
    dual.encoder.encode = lambda texts: numpy.ones((len(texts), 5), numpy.float32)
    with pytest.raises(InputError, match=r"'digests' gave an array of \(1, 5\) where one of \(1, 8\)"):
        dual.encode_entities([Entity("a", "Paris")])


def test_far_text_changes_nothing(dual):
    near = "x " * 60 + "Paris" + " y" * 60
    rows = []
    for far in ("far " * 10, "away " * 10_000):
        document = Document("d", f"{far}{near} {far}")
        rows.append(dual.encode_mentions([mention_of(document, "Paris")])[0])
    assert numpy.array_equal(*rows)


@pytest.mark.parametrize(
    ("text", "surface", "reach", "seen"),
    [
        ("one two Paris three four", "Paris", 6, "two Paris three"),
        ("one two Paris three four", "Paris", 4, "two Paris"),
        ("one two Paris three four", "Paris", 100, "one two Paris three four"),
        ("one two Paris's three", "Paris", 2, "Paris's"),
        ("我在北京市工作了三年", "北京", 2, "我在北京市工"),
        ("preParispost and", "Paris", 2, "reParispo"),
    ],
)
def test_the_window_ends_at_word_ends(text, surface, reach, seen):
    assert window(*mention_of(Document("d", text), surface), reach).strip() == seen


def test_the_window_of_a_conversation_sees_what_was_said_before_and_never_what_comes():
    document = Document.of_turns("c", [Turn("We went to France."), Turn("Paris was hot.")])
    before = window(*mention_of(document, "Paris"), 100)
    assert before == document.text
    assert window(*mention_of(document.with_turn(Turn("And London?")), "Paris"), 100) == before


@given(st.text(max_size=80), st.data())
def test_a_window_holds_its_mention_within_reach_and_breaks_no_word(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    reach = data.draw(st.integers(1, 30))
    seen = window(Document("d", text), Mention(Span(start, end), text[start:end]), reach)
    assert text[start:end] in seen
    assert len(seen) <= end - start + 2 * reach
    full = text[max(0, start - reach) : end + reach]
    assert seen in full


@given(st.text(alphabet="ab \n", max_size=40), st.integers(1, 50))
def test_the_beginning_of_a_text_ends_with_a_whole_word(text, size):
    kept = beginning(text, size)
    assert text.startswith(kept)
    assert len(kept) <= size
    words = text[:size].split()
    if len(words) > 1:
        assert kept.split() in (text.split()[: len(words)], text.split()[: len(words) - 1])


def test_objects_and_names_become_dual_encoders(monkeypatch, dual):
    assert load_dual(dual) is dual
    made = load_dual(Digests(), description=0.2)
    assert isinstance(made, PlainDual)
    assert (made.description, made.context) == (0.2, 0.5)


def test_a_recipe_makes_the_same_vectors_of_entities_again(monkeypatch, dual):
    assert dual.recipe() == {}
    with pytest.raises(ConfigError, match="given as an object"):
        load_recipe(dual.recipe())
    monkeypatch.setattr("entlink.encoders.loading.load_encoder", lambda spec: Digests())
    named = load_dual("digests", description=0.2, context=0.3)
    assert load_recipe(named.recipe()).entity_identity == named.entity_identity != dual.entity_identity
    assert (named.similarity, named.recipe()["load"]) == ("cosine", "digests")


def test_names_for_files():
    assert safe_name("minilm") == "minilm"
    assert len(safe_name("some/folder of mine")) == 16


@pytest.mark.parametrize("spec", ["", 3, None])
def test_what_names_no_encoder_is_told(spec):
    with pytest.raises(ConfigError, match=rf"encoder = {spec!r} does not fit"):
        load_dual(spec)


def test_where_there_are_no_spaces_a_window_is_as_wide_as_it_should_be():
    text = "他在 北京" + "大学读书时认识了许多朋友" * 9 + "李明" + "后来又搬到了上海去工作了" * 9 + "\n完"
    start = text.index("李明")
    found = window(Document("any", text), Mention(Span(start, start + 2), "李明"), 80)
    assert found == text[start - 80 : start + 82]
    assert beginning("北京大学 的" + "学" * 50, 20) == "北京大学 的" + "学" * 14


def test_an_instruction_is_read_before_the_passage_of_a_mention_alone():
    encoder = Digests()
    encoder.instruction = "Find: "
    dual = PlainDual(encoder)
    dual.encode_mentions([(Document("any", "Mercury is hot"), Mention(Span(0, 7), "Mercury"))])
    dual.encode_entities([Entity("m", "Mercury", description="A planet.")])
    assert encoder.asked == [["Mercury", "Find: Mercury is hot"], ["Mercury", "Mercury. A planet."]]
