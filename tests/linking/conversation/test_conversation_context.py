"""What retrievers by words and vectors read of a conversation."""

from __future__ import annotations

import pytest

from entlink.candidates.alias import AliasRetriever
from entlink.candidates.bm25 import BM25Retriever
from entlink.candidates.dense import DenseRetriever
from entlink.candidates.fusion import WeightedFusion
from entlink.documents import Document, Turn
from entlink.linking.config import ConversationConfig
from entlink.linking.linker import Linker
from entlink.mentions.dictionary import DictionaryDetector
from entlink.nil import ThresholdNil
from entlink.ranking.combination import CombinationRanker
from tiny_encoders import LetterEncoder

TURNS = [
    Turn("We looked at Venus and the Sun all night, it was a clear sky over the sea.", "ana"),
    Turn("And Mercury?", "ben"),
    Turn("Mercury too, close to the Sun; bring quicksilver next time.", "ana"),
]


@pytest.fixture
def linked(world):
    """The evidence of each candidate of each mention, with settings of the conversation."""

    def linked(turns=TURNS, **settings):
        retrievers = {
            "alias": AliasRetriever(world),
            "bm25": BM25Retriever(world, context=0.5),
            "dense": DenseRetriever(world, encoder=LetterEncoder()),
        }
        linker = Linker(
            world,
            DictionaryDetector(world),
            retrievers,
            CombinationRanker(world),
            ThresholdNil(0.0),
            fusion=WeightedFusion(weights={"alias": 1.0, "bm25": 1.0, "dense": 1.0}),
            conversations=ConversationConfig(**settings),
        )
        links = linker.link(Document.of_turns("c", turns)).links
        return [
            (
                link.mention,
                {one.entity: {name: one.evidence[name] for name in ("dense", "bm25")} for one in link.candidates},
            )
            for link in links
        ]

    return linked


def test_turn_by_turn_they_read_what_they_read_of_the_whole(linked):
    found = linked()
    assert [mention.text for mention, _ in found].count("Mercury") == 2
    assert linked(as_whole=True) == found


def test_without_a_window_a_turn_is_read_alone(linked):
    found, alone = linked(), linked(window=0)
    first = len([1 for mention, _ in found if mention.span.end <= len(TURNS[0].text)])
    assert first == 2
    assert alone[:first] == found[:first]
    assert all(here != there for here, there in zip(alone[first:], found[first:], strict=True))
    assert alone[first][1] == linked([TURNS[1]])[0][1]


def test_names_of_speakers_are_read_where_they_are_wanted(linked):
    renamed = [Turn(turn.text, "zoe" if turn.speaker == "ben" else turn.speaker) for turn in TURNS]
    assert linked() == linked(renamed)
    assert linked(speaker_names=True) != linked(renamed, speaker_names=True)
    assert [mention for mention, _ in linked(speaker_names=True)] == [mention for mention, _ in linked()]
