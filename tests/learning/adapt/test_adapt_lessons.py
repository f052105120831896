"""What the models of an adapting linker are trained on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from adapt_runs import quiet
from entlink.documents import Candidate, Document, Link, Mention, Span
from entlink.learning.adapt.lessons import BI_ENCODER, lesson
from entlink.learning.adapt.settings import config_of_training, weights_without_links
from entlink.learning.adapt.state import AdaptOptions
from entlink.learning.adapt.weights import counted_for, ranked_by_evidence, surest_lost
from entlink.learning.own_texts.cases import Case, Parts
from entlink.linking.config import LinkerConfig

KNOWN = {"tier": 0.0}


def case(number, kind="link", known=("e", "f")):
    """A mention with six candidates, of which some are known by its very name."""
    text = f"Here is word{number} now"
    candidates = [
        Candidate(id, 0.0, {"alias": 1.0 - place / 10} | (KNOWN if id in known else {}))
        for place, id in enumerate("abcdef")
    ]
    if kind == "plain":
        candidates = []
    document = Document(f"page{number % 100}#{number}", text)
    return Case(kind, f"page{number % 100}", document, Mention(Span(8, 12), "word"), "e", candidates)


def test_what_misleads_most_comes_first():
    parts = Parts([case(number, known=()) for number in range(300)], [case(9_999)], [])
    train, aside = lesson(parts, {"alias": 1.0}, 0)
    assert (len(train), len(aside)) == (300, 1)
    assert {one.negatives[:2] for one in train} == {("a", "b")}
    worst_first = lesson(parts, {"alias": -1.0}, 0)
    assert {one.negatives[:2] for one in worst_first.train} == {("f", "d")}


def test_plain_cases_do_not_drown_the_others():
    asked, plain = [case(number) for number in range(100)], [case(number, "plain") for number in range(2_000)]
    train, aside = lesson(Parts([*asked, *plain], asked[:5], []), {}, 0)
    assert len(aside) == 5
    assert sum(bool(one.negatives) for one in train) == 100 * 6
    assert sum(not one.negatives for one in train) == 2_000


def test_a_link_is_unusual_if_its_name_mostly_means_another():
    assert not case(1).is_unusual  # "e" is likelier than "f" by its name
    assert case(1)._replace(entity="f").is_unusual
    assert case(1, known=("f",)).is_unusual
    assert not case(1, known=()).is_unusual  # nobody's name
    assert not case(1, kind="short")._replace(entity="f").is_unusual  # made by a rule, no link


def test_few_that_count_much_tell_less_than_their_number():
    usual, unusual = case(1), case(1)._replace(entity="f")
    assert counted_for([usual] * 100) == 100
    assert counted_for([usual] * 90 + [unusual] * 10) == 140**2 / (90 + 10 * 5**2)


def test_unusual_links_drawn_besides_share_what_those_of_a_sample_count_for():
    usual, unusual = case(1), case(1, known=("f",))
    rare = unusual._replace(kind="rare")
    sample = [usual] * 90 + [unusual] * 10
    assert counted_for([*sample, *[rare] * 30]) == 140**2 / (90 + 40 * 1.25**2)  # 10 x 5 is shared by 40


class _Policy:
    """Links to the first candidate if it scores a half, as a policy with probabilities does."""

    def decide(self, shortlists):
        told = [(one.mention, one.candidates[0]) for one in shortlists]
        return [
            Link(mention, best.entity, best.score) if best.score >= 0.5 else Link(mention, None, 1 - best.score)
            for mention, best in told
        ]


def test_what_nil_would_lose_is_told_of_mentions_that_it_takes_too():
    scores = [0.01, 0.2, 0.4, 0.6, 0.8]
    cases = [case(1)._replace(candidates=[Candidate("e", score)]) for score in scores]
    wrong = case(1)._replace(candidates=[Candidate("f", 0.001)])
    rare = case(1, kind="rare")._replace(candidates=[Candidate("e", 0.002)])
    nil = _Policy()
    assert surest_lost(nil, [*cases, wrong], 0.0) == pytest.approx(0.01)
    assert surest_lost(nil, [*cases, wrong], 0.5) == pytest.approx(0.4)
    assert surest_lost(nil, [*cases, wrong, rare], 0.5) == pytest.approx(0.002)  # it counts five times
    assert surest_lost(nil, [*cases, wrong, rare], 0.9) == pytest.approx(0.6)
    assert surest_lost(nil, [wrong], 0.5) == 0.0


class _Ranker:
    """Goes by P(e|m) alone."""

    def rank(self, shortlists):
        ranked = [sorted(one.candidates, key=lambda found: -found.evidence["alias"]) for one in shortlists]
        return [
            [Candidate(one.entity, one.evidence["alias"], one.evidence) for one in candidates]
            for candidates in ranked
        ]


def test_what_nil_would_lose_is_told_by_evidence_without_the_link_itself():
    """A link that its own count made sure is not sure of a text to come."""
    before = [Candidate("e", 0.9, {"alias": 0.9}), Candidate("f", 0.1, {"alias": 0.1})]
    without = [Candidate("e", 0.9, {"alias": 0.3}), Candidate("f", 0.1, {"alias": 0.7})]
    linker = SimpleNamespace(pooling=SimpleNamespace(scorers={}), rank=_Ranker().rank)
    sure, unsure = ranked_by_evidence(linker, [case(1)._replace(candidates=one) for one in (before, without)], quiet)
    assert [one.entity for one in sure.candidates] == ["e", "f"]
    assert [(one.entity, one.score) for one in unsure.candidates] == [("f", 0.7), ("e", 0.3)]
    assert surest_lost(_Policy(), [sure, unsure], 0.0) == pytest.approx(0.9)  # the other is not found rightly


def test_only_evidence_that_a_linker_has_is_weighed():
    dense = [{"name": "alias"}, {"name": "dense"}, {"name": "dense"}]
    without = weights_without_links(BI_ENCODER, LinkerConfig(retriever=dense))
    assert "dense-2" in without
    assert not {"senses", "shortened", "dense-3"} & without.keys()
    config = LinkerConfig(retriever=[*dense, {"name": "dense"}, {"name": "shortened"}], evidence=[{"name": "senses"}])
    with_all = weights_without_links(BI_ENCODER, config)
    assert with_all.keys() - without.keys() == {"senses", "shortened", "dense-3"}


def test_what_the_user_sets_comes_before_what_links_decide():
    wanted = AdaptOptions(settings={"model.entity_tokens": "32", "training.learning_rate": "1e-5"})
    for links in (False, True):
        config = config_of_training(wanted, links=links)
        assert (config.model.entity_tokens, config.training.learning_rate) == (32, 1e-5)


def test_without_links_a_bi_encoder_reads_more_of_an_entity():
    without, with_links = (config_of_training(AdaptOptions(), links=links) for links in (False, True))
    assert without.model.entity_tokens > with_links.model.entity_tokens
    assert without.model.base == with_links.model.base


def test_uses_of_shared_words_are_learnt_from_where_nothing_is_measured():
    parts = Parts([case(number) for number in range(900)], [case(97)], [case(98)])
    uses = [case(number, kind="sense") for number in range(1_000, 1_100)]  # one on each page
    learnt = lesson(parts, {"alias": 1.0}, 0, uses)
    pages = {one.document.id.partition("#")[0] for one in learnt.aside} | {"page97", "page98"}
    more = {one.document.id for one in learnt.train} - {one.document.id for one in parts.train}
    expected = {one.document.id for one in uses if one.source not in pages}
    assert more == expected
    assert 0 < len(expected) < 100
