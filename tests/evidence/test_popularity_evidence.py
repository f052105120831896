from __future__ import annotations

from math import log1p

import pytest

from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.evidence.popularity import PopularityEvidence
from entlink.interfaces import Shortlist
from entlink.kb.store.edits import add
from entlink.testing import check_evidence


def test_it_keeps_what_evidence_promises(world):
    candidates = [Candidate("planet", 0.5, {}, "Mercury (planet)"), Candidate("nobody", 0.5)]
    shortlist = Shortlist(Document("d", "Mercury"), Mention(Span(0, 7), "Mercury"), candidates)
    evidence = PopularityEvidence(world)
    check_evidence(evidence, [shortlist])
    popularity = evidence.of("planet", "Mercury (planet)")
    assert evidence.gather([shortlist]) == [[{"popularity": popularity}, {"popularity": 0.0}]]


def test_popularity_counts_links_and_texts_and_is_shared_by_namesakes(world):
    meaning = world.meaning_of_key("mercury")
    own = {entry.entity: entry.support for entry in meaning.entries}
    share = own[world.key("planet")] / sum(own.values())
    expected = log1p((meaning.linked + meaning.unlinked) * share)
    assert PopularityEvidence(world).of("planet", "Mercury (planet)") == pytest.approx(expected)
    assert expected > 0


def test_popularity_of_what_is_not_there(world):
    assert PopularityEvidence(world).of("nobody", "Mercury") == 0.0
    assert PopularityEvidence(world).of("sun", None) == 0.0


def test_popularity_is_forgotten_when_the_knowledge_base_changes(own_world, opened):
    kb = opened(own_world)
    popularity = PopularityEvidence(kb)
    before = popularity.of("planet", "Mercury (planet)")
    add(own_world, [Entity("god", "Mercury")], weight=4)
    kb.refresh()
    popularity.knowledge_base_changed()
    assert 0 < popularity.of("planet", "Mercury (planet)") < before
