from __future__ import annotations

import builtins
from math import exp, log1p

import pytest

from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.evidence.cooccurrence import CooccurrenceEvidence
from entlink.interfaces import Follower, Shortlist
from entlink.kb.indexes.cooccurrence.writing import ensure_company
from entlink.kb.store.edits import add
from entlink.linking.evidence import Gathering, make_evidence
from entlink.ranking.combination import DEFAULT_WEIGHTS, CombinationRanker
from entlink.testing import check_evidence
from gathered import scores_of
from knowledge_bases import article, make_kb

TEXT = "Many Dutch painters worked in the Netherlands, and their Dutch ships went far."
OTHER = "Dutch painters were admired in Germany long after they had died, as were their ships."
ARTICLES = [
    article("nl", "Netherlands", "A land."),
    article("de", "Germany", "Another land."),
    article("art", "Art", TEXT, TEXT, OTHER),
    article("sea", "Sea", TEXT),
]
CANDIDATES = [Candidate("de", 0.5, {"dense": 0.4}, "Germany"), Candidate("nl", 0.5, {"dense": 0.4}, "Netherlands")]


@pytest.fixture
def folder(tmp_path):
    return make_kb(tmp_path, ARTICLES, descriptions="full")


def shortlist(surface, candidates=CANDIDATES):
    return Shortlist(Document("d", surface), Mention(Span(0, len(surface)), surface), candidates)


class Whole:
    """The combination with the evidence that it weighs by default."""

    def __init__(self, kb, **settings) -> None:
        self.ranker = CombinationRanker(**settings)
        self.evidence = make_evidence((), self.ranker, kb)

    def rank(self, shortlists):
        return Gathering(self.evidence).ranked(self.ranker, shortlists)

    def knowledge_base_changed(self) -> None:
        for one in self.evidence:
            if isinstance(one, Follower):
                one.knowledge_base_changed()


def test_it_is_the_logarithm_of_how_many_paragraphs_have_both(folder, opened):
    ensure_company(folder, processes=1)
    evidence = CooccurrenceEvidence(opened(folder))
    with_nobody = [Candidate("nobody", 0.1, {}, "Nobody"), *CANDIDATES]
    asked = [shortlist("Dutch"), shortlist("Dutch", with_nobody), shortlist("Netherlands"), shortlist("Dutch", [])]
    both, three, names, none = scores_of(evidence, asked)
    assert both == pytest.approx([log1p(1), log1p(3)])
    assert three == pytest.approx([0.0, log1p(1), log1p(3)])
    assert names == [0.0, 0.0]
    assert none == []
    check_evidence(evidence, [shortlist("Dutch"), shortlist("Netherlands")])


def test_without_an_index_there_is_no_evidence(folder, opened):
    kb = opened(folder)
    ranker = Whole(kb, weights={"coherence": 0.0})
    assert CooccurrenceEvidence(kb).gather([shortlist("Dutch")]) == [[{}, {}]]
    assert all("company" not in one.evidence for one in ranker.rank([shortlist("Dutch")])[0])
    ensure_company(folder, processes=1)  # found from then on
    assert [one.entity for one in ranker.rank([shortlist("Dutch")])[0]] == ["nl", "de"]


def test_without_numpy_there_is_no_evidence(folder, opened, monkeypatch):
    ensure_company(folder, processes=1)
    kb, importing = opened(folder), builtins.__import__

    def without_numpy(name, *rest):
        if name == "numpy":
            raise ImportError(name)
        return importing(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_numpy)
    assert CooccurrenceEvidence(kb).gather([shortlist("Dutch")]) == [[{}, {}]]


def test_the_combination_weighs_it(folder, opened):
    ensure_company(folder, processes=1)
    weights = {**dict.fromkeys(DEFAULT_WEIGHTS, 0.0), "company": 2.0}
    (found,) = Whole(opened(folder), weights=weights, bias=0.0).rank([shortlist("Dutch")])
    assert [(one.entity, one.evidence["company"], one.evidence["sum"]) for one in found] == [
        ("nl", pytest.approx(log1p(3)), pytest.approx(2 * log1p(3))),
        ("de", pytest.approx(log1p(1)), pytest.approx(2 * log1p(1))),
    ]
    weights["company"] = 0.0
    (found,) = Whole(opened(folder), weights=weights, bias=0.0).rank([shortlist("Dutch")])
    assert all("company" not in one.evidence for one in found)


def test_company_by_chance_is_taken_off_where_there_is_company(folder, opened):
    ensure_company(folder, processes=1)
    weights = {**dict.fromkeys(DEFAULT_WEIGHTS, 0.0), "company": 1.0, "expected": -0.5}
    ranker = Whole(opened(folder), weights=weights, bias=0.0)
    together, alone = ranker.rank([shortlist("Dutch"), shortlist("Netherlands")])
    for one in together:
        known = one.evidence["popularity"]
        assert one.evidence["expected"] == known > 0
        assert one.evidence["sum"] == pytest.approx(one.evidence["company"] - 0.5 * known)
    assert {one.evidence["expected"] for one in alone} == {0.0}
    weights.pop("expected")
    (found,) = Whole(opened(folder), weights=weights).rank([shortlist("Dutch")])
    assert all("expected" not in one.evidence for one in found)  # not weighed by default


def test_the_bias_is_the_same_with_and_without_an_index(folder, opened):
    weights = {**dict.fromkeys(DEFAULT_WEIGHTS, 0.0), "dense": 3.0, "company": 2.0}
    ranker = Whole(opened(folder), weights=weights, bias=1.0)
    alone = shortlist("Netherlands", CANDIDATES[:1])
    assert ranker.rank([alone])[0][0].score == pytest.approx(1 / (1 + exp(1.0 - 1.2)))
    ensure_company(folder, processes=1)
    found = ranker.rank([alone])[0][0]
    assert found.evidence["company"] == 0.0  # it is a name itself
    assert found.score == pytest.approx(1 / (1 + exp(1.0 - 1.2)))


def test_an_entity_that_comes_later_has_company_at_once(folder, opened):
    ensure_company(folder, processes=1)
    kb = opened(folder)
    ranker = Whole(kb, weights={"coherence": 0.0})
    new = Candidate("new", 0.5, {}, "Painters")
    assert ranker.rank([shortlist("Dutch", [new])])[0][0].evidence["company"] == 0.0
    add(folder, [Entity("new", "Painters", TEXT)])
    kb.refresh()
    ranker.knowledge_base_changed()
    assert ranker.rank([shortlist("Dutch", [new])])[0][0].evidence["company"] == pytest.approx(log1p(4))
