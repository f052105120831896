"""Mentions that a knowledge base gives of itself."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.interfaces import Question
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import remove
from entlink.learning.own_texts import mentions as module
from entlink.learning.own_texts.alterations import altered, parts
from entlink.learning.own_texts.linking import ranked, without
from entlink.learning.own_texts.mentions import Kind, SelfMention, gathered, name_mentions, sampled, self_mentions
from entlink.learning.own_texts.names import own_names, recombined
from entlink.learning.own_texts.passages import _is_in_run, _runs
from entlink.linking.linker import load
from entlink.text.folding import key_of
from made_region import CHINESE, STRANGERS, region_kb


def silent(stage: str, done: float, total: float) -> None:
    """No progress."""


def test_every_mention_stands_where_it_says(region):
    mentions = self_mentions(region, 1000, 0, silent)
    assert mentions
    for one in mentions:
        span = one.mention.span
        assert one.document.text[span.start : span.end] == one.mention.text


def test_all_kinds_come_and_the_known_are_of_the_knowledge_base(region):
    mentions = self_mentions(region, 1000, 0, silent)
    counts = Counter(one.kind for one in mentions)
    assert set(counts) == set(Kind)
    assert counts[Kind.KNOWN] > counts[Kind.TAKEN_OUT]
    for one in mentions:
        assert (one.entity is None) == (one.kind is Kind.NEVER_SEEN)
        assert one.right == (one.entity if one.kind is Kind.KNOWN else None)
        assert one.entity is None or region.get(one.entity) is not None


def test_what_was_never_seen_is_no_name(region):
    unseen = {one.mention.text for one in self_mentions(region, 1000, 0, silent) if one.kind is Kind.NEVER_SEEN}
    assert unseen & set(STRANGERS)
    assert not [surface for surface in unseen if region.meaning(surface).entries]
    assert unseen <= {*STRANGERS, *(piece for piece in unseen if not piece.isascii())}


def test_scripts_without_capitals_have_them_too(region):
    chinese = [one for one in self_mentions(region, 1000, 0, silent) if not one.mention.text.isascii()]
    assert {one.kind for one in chinese} >= {Kind.NEVER_SEEN}
    assert not [one for one in chinese if one.kind is Kind.NEVER_SEEN and one.mention.text in CHINESE]


def test_some_are_altered_and_still_mean_their_entity(region):
    known = [one for one in self_mentions(region, 1000, 0, silent) if one.entity]
    titles = [region.get(one.entity).title for one in known]
    exact = sum(one.mention.text == title for one, title in zip(known, titles, strict=True))
    assert 0.4 < exact / len(known) < 0.8
    assert [one for one, title in zip(known, titles, strict=True) if one.mention.text in title.split()[1:]]


def test_a_seed_gives_the_same_again(region):
    assert self_mentions(region, 100, 3, silent) == self_mentions(region, 100, 3, silent)
    assert self_mentions(region, 100, 3, silent) != self_mentions(region, 100, 4, silent)


def test_no_more_is_read_than_wanted(region):
    assert 40 <= len(self_mentions(region, 40, 0, silent)) < 60


def test_of_a_large_knowledge_base_some_are_drawn_by_number(region, monkeypatch):
    monkeypatch.setattr(module, "_LISTED", 10)
    drawn = list(sampled(region, 20, Random(0)))
    assert len({entity.id for entity in drawn}) == 20
    monkeypatch.setattr(module, "_LISTED", 10_000)
    assert len({entity.id for entity in sampled(region, 20, Random(0))}) == 20


def test_names_alone(tmp_path, opened, caplog):
    kb = opened(region_kb(tmp_path, texts=False))
    found = gathered(kb, 200, 0, silent)
    assert found.from_names
    assert "give 0 mentions only" in caplog.text
    assert {one.kind for one in found.mentions} == set(Kind)
    assert all(one.document.text == one.mention.text for one in found.mentions)
    made = [one.mention.text for one in found.mentions if one.kind is Kind.NEVER_SEEN]
    assert len(made) == len(set(made)) > 10
    assert not [name for name in made if kb.meaning(name).entries]


def test_an_empty_knowledge_base_gives_none(tmp_path, opened):
    kb = opened(region_kb(tmp_path, most=0))
    assert self_mentions(kb, 100, 0, silent) == name_mentions(kb, 100, 0, silent) == []


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("It was Wanda Pirosch who left.", ["Wanda Pirosch"]),
        ("They saw the Bank of the North of course.", ["Bank of the North"]),
        ("Wanda left. However, a French painter stayed in Étampes, an élan.", ["Étampes"]),
        ("Тогда в Москве жил Пётр Ильич Чайковский, композитор.", ["Пётр Ильич Чайковский"]),
        ("ذهب الولد إلى المدرسة, ثم عاد", ["ذهب الولد", "ثم عاد"]),
        ("樂團也有進軍亞洲的意向", []),
        ("in A and B", []),
    ],
)
def test_runs_of_capitalised_words(text, runs):
    assert [text[start:end] for start, end in _runs(text)] == runs


@pytest.mark.parametrize(
    ("text", "name", "inside"),
    [
        ("the Boulder Dam was", "Dam", True),
        ("the Dam Square was", "Dam", True),
        ("the Dam was", "Dam", False),
        ("the Mid-Dam was", "Dam", True),
        ("a Dam, Boulder", "Dam", False),
        ("в городе Москва жил", "Москва", False),
        ("дом Новая Москва был", "Москва", True),
        ("在北京的", "北京", False),
    ],
)
def test_a_name_inside_of_a_longer_one(text, name, inside):
    start = text.index(name)
    assert _is_in_run(text, start, start + len(name)) is inside


# Names


def test_own_names_leave_out_what_no_text_says():
    entity = Entity("m", "Mercury (planet)", aliases=("Hermes",))
    assert own_names(entity) == ["Mercury", "Hermes"]


def test_parts_of_names():
    assert parts("Alba Moravec") == ["Moravec", "Alba"]
    assert parts("Bank of England") == ["England", "Bank"]
    assert parts("Rome") == []
    assert parts("北京市") == ["北京", "京市"]


@given(st.text(min_size=1, max_size=30).filter(lambda text: text.strip()), st.integers(0, 99))
def test_an_altered_name_is_another_or_none(name, seed):
    name = " ".join(name.split()) or "x"
    form = altered(name, Random(seed))
    assert form is None or (form and form != name)


def test_recombined_names_of_one_name_are_none(region):
    assert list(recombined(region, ["Alba Moravec"], Random(0))) == []


# What is taken out


class Fixed:
    """Finds the same for every mention."""

    def __init__(self, *candidates: Candidate) -> None:
        self.candidates = candidates

    def retrieve(self, questions):
        return [[self.candidates for _ in question.mentions] for question in questions]


def test_the_rest_shares_what_was_taken_out():
    found = [
        Candidate(id, prior, {"prior": prior, "tier": 0.0}) for id, prior in (("a", 0.5), ("b", 0.3), ("c", 0.2))
    ]
    mention = Mention(Span(0, 1), "x")
    question = Question(Document("d", "x y"), [mention, Mention(Span(2, 3), "y")])
    ((first, second),) = without(Fixed(*found), {("d", 0): {"a"}}).retrieve([question])
    assert [(one.entity, one.score, one.evidence["prior"]) for one in first] == [
        ("b", pytest.approx(0.6), pytest.approx(0.6)),
        ("c", pytest.approx(0.4), pytest.approx(0.4)),
    ]
    assert list(second) == found


def test_the_linker_does_not_find_what_is_taken_out(region_folder):
    linker = load(region_folder, config="lexical", mentions="given")
    mentions = self_mentions(linker.kb, 300, 0, silent)
    for one, shortlist in zip(mentions, ranked(linker, mentions, silent), strict=True):
        found = {candidate.entity for candidate in shortlist.candidates}
        assert shortlist.mention is one.mention
        assert not found & one.gone
        if one.kind is Kind.KNOWN and key_of(one.mention.text) == key_of(region_title(linker, one)):
            assert one.entity in found


def region_title(linker, one: SelfMention) -> str:
    return linker.kb.get(one.entity).title


def test_the_text_that_a_mention_stands_in_is_no_candidate():
    other = SelfMention(Document("d", "x"), Mention(Span(0, 1), "x"), "a", Kind.KNOWN, "source")
    assert other.gone == {"source"}
    assert other._replace(kind=Kind.TAKEN_OUT).gone == {"a", "source"}
    assert other._replace(source="a").gone == set()


def test_descriptions_that_speak_of_known_names_only_are_made_up_for(tmp_path):
    names = [
        f"{start}{end}"
        for start in ("Karl", "Oster", "Win", "Hol", "Bram")
        for end in ("ford", "berg", "heim", "bury")
    ]
    told = "it is a town on the river between {} and {}, with a bridge to {} in the north."
    rows = [
        {"id": name, "title": name, "description": told.format(*(names[(at + by) % len(names)] for by in (5, 9, 11)))}
        for at, name in enumerate(names)
    ]
    table = tmp_path / "towns.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    build([table], tmp_path / "towns.kb", BuildOptions(processes=1))
    with KnowledgeBase.open(tmp_path / "towns.kb") as kb:
        found = gathered(kb, 60, 0, silent)
        assert len(self_mentions(kb, 60, 0, silent)) >= 60, "the descriptions give enough, of known names alone"
    assert found.from_names
    assert {one.kind for one in found.mentions} == set(Kind)


def test_of_a_large_knowledge_base_the_last_entities_are_drawn_too(tmp_path, opened, monkeypatch):
    folder = region_kb(tmp_path)
    remove(folder, [f"p{number}" for number in range(50)])
    monkeypatch.setattr(module, "_LISTED", 5)
    kb = opened(folder)
    assert {one.id for one in sampled(kb, 1000, Random(0))} == {one.id for one in kb}
