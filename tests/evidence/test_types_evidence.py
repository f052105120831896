"""Types as evidence: agreement with the leaders around, and with the type that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import entlink
from entlink import Document, Entity, KnowledgeBase, Mention, Span
from entlink.documents import Candidate
from entlink.evidence.types import TypesEvidence
from entlink.interfaces import Shortlist

ENTITIES = {"jordan": "player", "bulls": "team", "nets": "team", "river": "river", "bare": ""}


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    (tmp_path / "none.jsonl").write_text('{"id": "x", "title": "X"}\n')
    entlink.build(tmp_path / "none.jsonl", tmp_path / "made.kb")
    with KnowledgeBase.open(tmp_path / "made.kb") as kb:
        kb.add([Entity(id, id, types=(type,) if type else ()) for id, type in ENTITIES.items()])
        kb.set_types(
            hierarchy=[("player", "sport"), ("team", "sport"), ("player", "human")],
            coarse=[("PER", "human"), ("LOC", "river")],
            names=[("team", "sports club")],
        )
        yield kb


def gathered(kb: KnowledgeBase, *lists: tuple[str, ...], type: str | None = None) -> list[list[dict[str, float]]]:
    document = Document("d", "text")
    shortlists = [
        Shortlist(document, Mention(Span(0, 1), "t", type), [Candidate(id, 1.0) for id in ids]) for ids in lists
    ]
    return [[dict(one) for one in numbers] for numbers in TypesEvidence(kb).gather(shortlists)]


def test_agreement_is_with_the_leaders_of_other_mentions(kb: KnowledgeBase) -> None:
    first, second, _ = gathered(kb, ("river", "jordan", "bare"), ("bulls",), ("nets",))
    # {player, sport, human} and {team, sport} have one of four types in common.
    assert first == [{"type_agreement": 0.0}, {"type_agreement": pytest.approx(1 / 4)}, {}]
    # The leader of the first is the river, of the third another team.
    assert second == [{"type_agreement": pytest.approx((0 + 1) / 2)}]


def test_a_mention_alone_has_nobody_to_agree_with(kb: KnowledgeBase) -> None:
    assert gathered(kb, ("jordan",)) == [[{"type_agreement": 0.0}]]


@pytest.mark.parametrize(
    ("asked", "fitting"),
    [("PER", "jordan"), ("PERSON", "jordan"), ("GPE", "river"), ("sports club", "bulls"), ("OTHER", "bulls")],
)
def test_the_type_that_a_mention_has(kb: KnowledgeBase, asked: str, fitting: str) -> None:
    ids = ("jordan", "bulls", "river")
    (numbers,) = gathered(kb, ids, type=asked)
    assert [id for id, one in zip(ids, numbers, strict=True) if one["type_asked"]] == [fitting]
