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


def test_where_there_are_no_spaces_the_mention_is_in_the_middle_of_what_is_read(world, monkeypatch):
    encoder, read = LetterEncoder(), []
    encode = encoder.encode
    monkeypatch.setattr(encoder, "encode", lambda texts: read.extend(texts) or encode(texts))
    text = "".join(chr(0x4E00 + at) for at in range(1000))
    places = [0, 3, 400, 415, 990]
    found = [
        Shortlist(Document("one", text), Mention(Span(at, at + 2), text[at : at + 2]), [Candidate("venus", 0.5, {})])
        for at in places
    ]
    found = [one._replace(document=found[0].document) for one in found]
    SimilarityEvidence(world, encoder=encoder).gather(found)
    passages = [one for one in read if one in text]
    assert len(passages) == 3  # those that begin near each other share theirs
    for at in places:
        assert any(text[max(0, at - 80) : at + 80] in passage and len(passage) <= 200 for passage in passages)


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
