"""Words that several entities share, found in their own texts."""

from __future__ import annotations

import pytest

from adapt_runs import quiet
from entlink.documents import Candidate, Document, Mention, Span
from entlink.learning.adapt.lessons import lesson
from entlink.learning.adapt.senses import linked_uses, shared_words, unmeasured
from entlink.learning.own_texts.cases import LINK, PLAIN, SENSE, Case, Parts
from entlink.learning.senses.contested import contested_cases
from entlink.linking.config import LinkerConfig
from entlink.linking.linker import load
from knowledge_bases import make_kb, paragraph
from shared_world import LANDS, world

CONFIG = LinkerConfig(
    retriever=[{"name": "alias"}, {"name": "edit-distance"}, {"name": "bm25"}],
    fusion={"name": "weights", "keep": 20, "weights": {"alias": 0.5, "edit-distance": 0.25, "bm25": 0.25}},
    ranker={"name": "combination", "weights": {"coherence": 0.0}},
)


@pytest.fixture(scope="module")
def linker(tmp_path_factory):
    linker = load(make_kb(tmp_path_factory.mktemp("shared"), world(), descriptions="full"), config=CONFIG)
    yield linker
    linker.kb.close()


def found(linker, *, seconds=60.0):
    return contested_cases(linker, 1_000, 0, quiet, seconds)


def test_a_shared_word_means_its_own_texts_entity(linker):
    cases = found(linker)
    assert {(one.mention.text, one.entity) for one in cases} >= {
        (f"{land}ish", entity) for land in LANDS for entity in (f"{land}ia", f"{land}ish-tongue")
    }
    for one in cases:
        span = one.mention.span
        assert one.kind == SENSE
        assert one.source == one.entity
        assert one.document.text[span.start : span.end] == one.mention.text
        assert one.candidates
        assert one.entity not in {other.entity for other in one.candidates}
        assert " is a land of " not in one.document.text  # an encoder knows the entity by its opening
    assert len({one.document.id for one in cases}) == len(cases)
    assert found(linker) == cases
    assert found(linker, seconds=-1.0) == []


def test_a_word_within_a_longer_name_says_nothing_of_its_own(tmp_path):
    """Uses such as "Corvish Channel", "Elder Corvish" and "Corvish-Elder" are not taken."""
    rows = world()
    within = [
        f"The {sort} of {number} was known to all the world at that time, as they say there."
        for sort in ("Corvish Channel", "land of Elder Corvish", "war of the Corvish-Elder")
        for number in range(2)
    ]
    for row in rows[:2]:
        row["paragraphs"][-6:] = [paragraph(one) for one in within]
    with_names = load(make_kb(tmp_path, rows, descriptions="full"), config=CONFIG)
    texts = [one.document.text for one in found(with_names) if one.mention.text == "Corvish"]
    with_names.kb.close()
    assert len(texts) == 20
    assert all("fields of summer" in text or "verb in" in text for text in texts)


def use(kind, word, entity, number, source=None, text=None):
    text = text or f"use {number} of {word} for {entity} in this very text"
    start = text.index(word)
    mention = Mention(Span(start, start + len(word)), word)
    others = () if kind == PLAIN else (Candidate("other", 0.0),)
    return Case(kind, source or entity, Document(f"{entity}{number}", text), mention, entity, others)


def test_words_with_several_meanings_are_taken_with_their_uses():
    uses = [use(SENSE, "ash", entity, number) for entity in ("tree", "dust") for number in range(70)]
    uses += [use(SENSE, "oak", "tree", number) for number in range(9)]  # one meaning
    uses += [use(SENSE, "elm", "elm", number) for number in range(9)] + [use(SENSE, "elm", "rare", 0)]  # too few
    words = shared_words(uses, 10_000, 0)
    assert {word: {entity: len(each) for entity, each in found.items()} for word, found in words.items()} == {
        "ash": {"tree": 64, "dust": 64}
    }
    assert shared_words([], 10, 0) == {}


def test_in_little_time_fewer_uses_are_read_and_those_of_the_words_used_most():
    uses = [
        use(SENSE, word, f"{word}{n}", i)
        for word, count in (("ash", 9), ("yew", 99))
        for n in (1, 2)
        for i in range(count)
    ]
    assert shared_words(uses, 5, 0) == {}
    assert {word: [len(each) for each in found.values()] for word, found in shared_words(uses, 6, 0).items()} == {
        "yew": [3, 3]
    }
    assert {word: [len(each) for each in found.values()] for word, found in shared_words(uses, 600, 0).items()} == {
        "yew": [6, 6],
        "ash": [6, 6],
    }


def test_what_is_measured_on_is_not_learnt_from():
    seen = "Before it stands much, and then the ash of the fire was cold, and after it more."
    uses = [use(SENSE, "ash", "dust", 0, text=seen), use(SENSE, "ash", "dust", 1)]
    measured = use("own", "fire", "dust", 2, text=f"More text. {seen} The end.")
    assert unmeasured(uses, Parts([], [], [measured])) == uses[1:]
    assert unmeasured(uses, Parts([], [measured], [])) == uses[1:]
    elsewhere = measured._replace(source="another page")
    assert unmeasured(uses, Parts([], [], [elsewhere])) == uses


def test_links_to_train_on_are_uses():
    cases = [use(kind, "ash", "tree", number) for number, kind in enumerate((LINK, PLAIN, "sample", "rare"))]
    assert linked_uses(Parts(cases, [use(LINK, "ash", "dust", 1)], [])) == cases[:2]
    twice = [use(LINK, "ash", "tree", 0), use(PLAIN, "ash", "tree", 0)]
    assert len(linked_uses(Parts(twice, [], []))) == 1


def test_the_bi_encoder_learns_from_uses_on_pages_that_are_not_measured():
    train, held = use("short", "elm", "elm", 0), use("short", "elm", "elm", 1, source="held")
    uses = [use(SENSE, "ash", "tree", 0), use(SENSE, "ash", "dust", 0, source="held")]
    parts = Parts([train], [], [held])
    told = lesson(parts, {}, 0, uses).train
    assert [one.entity for one in told] == ["elm", "tree"]
    assert told[1].negatives == ("other",)
