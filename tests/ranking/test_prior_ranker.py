from __future__ import annotations

from entlink.documents import Candidate, Document, Mention, Span
from entlink.interfaces import Shortlist
from entlink.ranking.prior import PriorRanker
from entlink.testing import check_ranker


def shortlist(*scores: float) -> Shortlist:
    candidates = [Candidate(f"e{number}", score) for number, score in enumerate(scores)]
    return Shortlist(Document("d", "Sun"), Mention(Span(0, 3), "Sun"), candidates)


def test_the_best_score_comes_first_and_ties_keep_their_order():
    ranked = PriorRanker().rank([shortlist(0.1, 0.5, 0.4, 0.5), shortlist(), shortlist(0.3)])
    assert [[one.entity for one in candidates] for candidates in ranked] == [["e1", "e3", "e2", "e0"], [], ["e0"]]


def test_it_keeps_what_a_ranker_promises():
    check_ranker(PriorRanker(), [shortlist(0.1, 0.9), shortlist(0.5)])
