"""The cosine of the passage around a mention and its candidates."""

import pytest

from entlink.documents import Candidate, Document, Mention, Span
from entlink.errors import ConfigError
from entlink.evidence.similarity import SimilarityEvidence
from entlink.interfaces import Shortlist
from tiny_encoders import LetterEncoder

TEXT = "The planet Venus rose over York. " * 12


def asked(text, surfaces):
    document = Document("one", text)
    found = []
    for surface in surfaces:
        for start in (at for at in range(len(text)) if text.startswith(surface, at)):
            mention = Mention(Span(start, start + len(surface)), surface)
            found.append(Shortlist(document, mention, [Candidate("venus", 0.5, {}), Candidate("york", 0.5, {})]))
    return sorted(found, key=lambda one: one.mention.span.start)


def test_each_passage_and_each_entity_is_read_once(world):
    encoder = LetterEncoder()
    evidence = SimilarityEvidence(world, encoder=encoder)
    evidence.gather(asked(TEXT, ["Venus", "York"]))
    read = sum(encoder.calls)
    evidence.gather(asked(TEXT, ["Venus", "York"]))
    assert sum(encoder.calls) == read
    assert read < len(asked(TEXT, ["Venus", "York"]))


def test_a_candidate_that_the_passage_speaks_of_is_nearer(world):
    [[venus, york]] = SimilarityEvidence(world, encoder=LetterEncoder(512)).gather(
        asked("Venus and venus.", ["Venus"])
    )
    assert venus["similarity"] > york["similarity"]


def test_candidates_after_the_first_that_are_read_have_no_number(world):
    [[first, second]] = SimilarityEvidence(world, encoder=LetterEncoder(), read=1).gather(asked("Venus", ["Venus"]))
    assert "similarity" in first
    assert second == {}


def test_no_candidate_at_all_is_refused(world):
    with pytest.raises(ConfigError, match="read = 0"):
        SimilarityEvidence(world, encoder=LetterEncoder(), read=0)
