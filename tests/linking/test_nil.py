from __future__ import annotations

import pytest

from entlink.documents import Candidate, Document, Mention, Span
from entlink.interfaces import Shortlist
from entlink.nil import ThresholdNil
from entlink.testing import check_nil_policy

MENTION = Mention(Span(0, 3), "Sun", "star")


def shortlist(*scores: float) -> Shortlist:
    return Shortlist(
        Document("d", "Sun"), MENTION, [Candidate(f"e{n}", s, {}, f"T{n}") for n, s in enumerate(scores)]
    )


def test_links_to_the_best_from_the_threshold_on():
    at, below, none = ThresholdNil(0.3).decide([shortlist(0.3, 0.1), shortlist(0.29), shortlist()])
    assert (at.entity, at.title, at.score, at.nil_type) == ("e0", "T0", 0.3, None)
    assert (below.entity, below.is_nil, below.nil_type) == (None, True, "star")
    assert below.score == pytest.approx(0.71)
    assert (none.entity, none.score, none.candidates) == (None, 1.0, ())


def test_it_keeps_what_a_nil_policy_promises():
    check_nil_policy(ThresholdNil(), [shortlist(0.9, 0.1), shortlist(0.01)])
