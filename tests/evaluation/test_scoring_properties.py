"""What must hold of scores whatever the documents are."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Candidate, Document, GoldLink, Link, Mention, Span
from entlink.evaluation import Evaluation, EvaluationOptions, Matching, NilRule, compare, evaluate
from entlink.formats.roles import gold_as_links, links_as_gold
from random_documents import (
    ANY,
    CHAT,
    MATCHINGS,
    ONE_TEXT,
    PLAIN,
    RULES,
    RUNS,
    TYPES,
    Kind,
    corpora,
    examples,
    link_at,
    spans,
)

TASKS = ("md", "md_linked", "ed", "el")
Corpus = list[tuple[Document, Document]]


def score(corpus: Corpus, **options) -> Evaluation:
    wanted, given_ = zip(*corpus, strict=True)
    return evaluate(wanted, given_, EvaluationOptions(**{"rounds": 0, **options}))


def near(one: Any, other: Any) -> bool:
    """Equal, with what the order of adding up does to the last digit of a mean."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(near(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(near, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-12
    return bool(one == other)


def by_id(found: Evaluation) -> dict[str, Any]:
    """All that was measured, documents in the order of their ids."""
    told = msgspec.to_builtins(found)
    ids = told["per_document"]["ids"]
    order = sorted(range(len(ids)), key=ids.__getitem__)
    part = told["per_document"]
    part["ids"] = [ids[place] for place in order]
    part["groups"] = [part["groups"][place] for place in order] if part["groups"] else []
    part["counts"] = {
        task: [[column[place] for place in order] for column in columns] for task, columns in part["counts"].items()
    }
    return told


@st.composite
def with_domains(draw: st.DrawFn, kind: Kind) -> Corpus:
    domain = st.sampled_from([{}, {"domain": "x"}, {"domain": "y"}])
    return [
        (msgspec.structs.replace(wanted, meta={**wanted.meta, **draw(domain)}), given_)
        for wanted, given_ in draw(corpora(kind))
    ]


@examples(60)
@given(with_domains(ANY._replace(candidates=True)), MATCHINGS, RULES, st.randoms(use_true_random=False))
def test_the_order_of_documents_changes_nothing_but_their_order(corpus, matching, rule, chance):
    mixed = list(corpus)
    chance.shuffle(mixed)
    options = {"matching": matching, "nil": rule, "rules": tuple(NilRule), "rounds": 40, "examples": 2}
    one, other = score(corpus, **options), score(mixed, **options)
    assert other.per_document.ids == [wanted.id for wanted, _ in mixed]
    assert near(by_id(one), by_id(other))


@examples(40)
@given(corpora(ANY._replace(candidates=True)), MATCHINGS, RULES)
def test_the_order_of_predictions_alone_changes_nothing(corpus, matching, rule):
    wanted, given_ = zip(*corpus, strict=True)
    options = EvaluationOptions(rounds=0, matching=matching, nil=rule)
    assert evaluate(wanted, given_, options) == evaluate(wanted, reversed(given_), options)


# What is right in every way

DISJOINT = st.sampled_from([("a",), ("b",), ("c", "d"), ("e", "f")])
CROSSED = st.sampled_from([("a",), ("b",), ("a", "b"), ("c", "b"), ("c", "d")])
BY_OFFSETS = st.sampled_from([Matching.STRICT, Matching.WEAK])


@st.composite
def gold_alone(
    draw: st.DrawFn, alternatives: st.SearchStrategy[tuple[str, ...]], *, says_nil: bool
) -> list[Document]:
    """Gold of every kind."""
    documents = []
    for number in range(draw(st.integers(1, 3))):
        bare = draw(st.sampled_from([ONE_TEXT, CHAT]))
        links = []
        for span in draw(spans(bare, ANY)):
            entities = () if says_nil and draw(st.booleans()) else draw(alternatives)
            links.append(GoldLink(span, entities, None if entities else draw(TYPES), draw(st.booleans())))
        documents.append(msgspec.structs.replace(bare, id=str(number), gold=tuple(links)))
    sure = GoldLink(RUNS[documents[0].text][0], ("a",))
    documents[0] = msgspec.structs.replace(documents[0], gold=(*documents[0].gold, sure))
    return documents


def answered(document: Document) -> Document:
    """Each gold link answered, optional ones too."""
    links = tuple(
        link_at(document, one.span, one.entities[0] if one.entities else None, nil_type=one.nil_type)
        for one in document.gold
    )
    return msgspec.structs.replace(document, gold=(), links=links)


@pytest.mark.parametrize("rule", NilRule)
def test_perfect_answers_are_perfect_in_every_task(rule):
    """Where each NIL prediction is an error, perfect is gold without NIL.

    By strings an answer is a set's member once: there alternatives may not cross.
    """
    says_nil = rule is not NilRule.ERRORS
    by_offsets = st.tuples(gold_alone(CROSSED, says_nil=says_nil), BY_OFFSETS)
    by_any = st.tuples(gold_alone(DISJOINT, says_nil=says_nil), MATCHINGS)

    @examples(60)
    @given(by_offsets | by_any)
    def check(drawn):
        wanted, matching = drawn
        found = score([(one, answered(one)) for one in wanted], matching=matching, nil=rule)
        for task in TASKS:
            micro, macro = found.task(task).micro, found.task(task).macro
            assert (micro.precision, micro.recall, micro.f1) == (1.0, 1.0, 1.0)
            assert (macro.precision, macro.recall, macro.f1) == (1.0, 1.0, 1.0)
        assert (found.nil.f1, found.ranking.accuracy) == (1.0, 1.0)
        assert found.blame.wrong == {}

    check()


@examples(60)
@given(gold_alone(DISJOINT, says_nil=True), MATCHINGS, st.sampled_from(sorted(set(NilRule) - {NilRule.ERRORS})))
def test_leaving_out_what_is_optional_is_perfect_too(wanted, matching, rule):
    required = [
        msgspec.structs.replace(one, gold=tuple(link for link in one.gold if not link.optional)) for one in wanted
    ]
    corpus = [(one, answered(less)) for one, less in zip(wanted, required, strict=True)]
    found = score(corpus, matching=matching, nil=rule)
    assert all(found.task(task).micro.f1 == 1.0 for task in TASKS)


@examples(60)
@given(gold_alone(DISJOINT, says_nil=True), MATCHINGS, RULES)
def test_no_answer_finds_nothing(wanted, matching, rule):
    silent = [(one, msgspec.structs.replace(one, gold=())) for one in wanted]
    found = score(silent, matching=matching, nil=rule)
    assert (found.md.micro.recall, found.el.micro.recall, found.ed.micro.recall) == (0.0, 0.0, 0.0)
    assert sum(found.blame.misses.values()) == found.el.micro.gold
    assert found.blame.ceilings.final == found.blame.ceilings.detection == 0.0


# One answer more

FAR = " Zoe Yan Xi"


def longer(document: Document) -> Document:
    """With three words more at its end, which no gold is about."""
    if not document.turns:
        return msgspec.structs.replace(document, text=document.text + FAR)
    last = msgspec.structs.replace(document.turns[-1], text=document.turns[-1].text + FAR)
    return msgspec.structs.replace(document, text=document.text + FAR, turns=(*document.turns[:-1], last))


def and_said(corpus: Corpus, number: int, *links: Link) -> Corpus:
    wanted, given_ = corpus[number]
    more = msgspec.structs.replace(given_, links=(*given_.links, *links))
    return [*corpus[:number], (wanted, more), *corpus[number + 1 :]]


@examples(100)
@given(corpora(), MATCHINGS, RULES, st.data())
def test_an_answer_wrong_in_place_and_entity_raises_no_score(corpus, matching, rule, data):
    corpus = [(longer(wanted), longer(given_)) for wanted, given_ in corpus]
    number = data.draw(st.integers(0, len(corpus) - 1))
    document = corpus[number][0]
    start = len(document.text) - len(FAR) + 1
    entity = data.draw(st.sampled_from(["wrong", "worse"]))
    wrong = link_at(document, Span(start, start + data.draw(st.sampled_from([3, 7, 10]))), entity)
    options = {"matching": matching, "nil": rule}
    before, after = score(corpus, **options), score(and_said(corpus, number, wrong), **options)
    for task in TASKS:
        one, other = before.task(task).micro, after.task(task).micro
        assert other.precision <= one.precision
        assert other.recall == one.recall or not one.gold
        assert other.f1 <= one.f1
        assert (other.correct, other.gold) == (one.correct, one.gold)
        assert one.predicted <= other.predicted <= one.predicted + 1
    assert after.blame.stages == before.blame.stages


@examples(100)
@given(corpora(), MATCHINGS, RULES, st.data())
def test_a_right_answer_more_lowers_no_recall(corpus, matching, rule, data):
    places = [(number, link) for number, (wanted, _) in enumerate(corpus) for link in wanted.gold]
    number, gold = data.draw(st.sampled_from(places))
    entity = data.draw(st.sampled_from(gold.entities)) if gold.entities else None
    right = link_at(corpus[number][0], gold.span, entity, nil_type=gold.nil_type)
    options = {"matching": matching, "nil": rule}
    before, after = score(corpus, **options), score(and_said(corpus, number, right), **options)
    for task in TASKS:
        one, other = before.task(task).micro, after.task(task).micro
        assert other.recall >= one.recall or not one.gold
        assert other.correct >= one.correct
        assert other.gold == one.gold or task == "ed"  # of alternatives, the set has those that fit best
    assert after.nil.recall >= before.nil.recall or not before.nil.gold
    assert after.ranking.accuracy >= before.ranking.accuracy


@examples(60)
@given(corpora(ANY._replace(optional=False, bounds=False)), st.sampled_from([Matching.STRICT, Matching.WEAK]), RULES)
def test_answering_all_that_was_missed_makes_recall_perfect(corpus, matching, rule):
    whole = [
        (wanted, msgspec.structs.replace(given_, links=(*given_.links, *answered(wanted).links)))
        for wanted, given_ in corpus
    ]
    found = score(whole, matching=matching, nil=rule)
    assert (found.md.micro.correct, found.el.micro.correct) == (found.md.micro.gold, found.el.micro.gold)
    assert found.blame.misses == {}


# Misses and ceilings

# Optional gold beside required gold at one place, and alternatives that two gold links share, are left out here.
BLAMED = ANY._replace(candidates=True)


@examples(100)
@given(corpora(BLAMED), RULES)
def test_every_miss_has_one_cause_and_ceilings_end_at_recall(corpus, rule):
    found = score(corpus, nil=rule)
    el, blame = found.el.micro, found.blame
    assert sum(blame.misses.values()) == sum(blame.stages.values()) == el.gold - el.correct
    assert all(count > 0 for count in blame.misses.values())
    ceilings = blame.ceilings
    steps = [ceilings.detection, ceilings.candidates, ceilings.ranking, ceilings.final]
    steps = [one for one in steps if one is not None]
    if el.gold:
        assert steps == sorted(steps, reverse=True)
        assert blame.ceilings.final == pytest.approx(el.recall)
        assert blame.ceilings.coverage is None


@examples(100)
@given(corpora(ANY._replace(optional=False)), st.sampled_from([Matching.STRICT, Matching.WEAK]), RULES)
def test_blame_adds_up_for_overlapping_and_repeated_spans(corpus, matching, rule):
    check_blame(score(corpus, matching=matching, nil=rule))


@examples(100)
@given(corpora(ANY._replace(optional=False, alternatives=False)), MATCHINGS, RULES)
def test_blame_adds_up_for_strings(corpus, matching, rule):
    check_blame(score(corpus, matching=matching, nil=rule))


def check_blame(found: Evaluation) -> None:
    assert sum(found.blame.misses.values()) == found.el.micro.gold - found.el.micro.correct
    if found.el.micro.gold:
        assert found.blame.ceilings.final == pytest.approx(found.el.micro.recall)


@examples(100)
@given(corpora(PLAIN._replace(nil=True)), RULES)
def test_wrong_answers_add_up(corpus, rule):
    found = score(corpus, nil=rule)
    assert sum(found.blame.wrong.values()) == found.el.micro.predicted - found.el.micro.correct


@examples(100)
@given(corpora(BLAMED))
def test_accuracy_in_the_knowledge_base_is_recall_of_links(corpus):
    found = score(corpus)
    if found.el.micro.gold:
        assert found.ranking.accuracy_in_kb == pytest.approx(found.el.micro.recall)
    assert found.ranking.in_kb == found.el.micro.gold
    assert found.ranking.mentions == found.md.micro.gold


@examples(100)
@given(corpora(BLAMED))
def test_recall_and_accuracy_never_fall_with_k(corpus):
    found = score(corpus).ranking
    for scores in (found.recall_at, found.accuracy_at):
        values = [scores[k] for k in sorted(scores)]
        assert values == sorted(values)
    if found.recall_at:
        assert found.recall_at[1] <= found.mrr <= found.recall_at[100]


# Gold and answers in each other's place


@examples(100)
@given(corpora(PLAIN._replace(repeated=True, turns=True)), MATCHINGS)
def test_gold_and_answers_in_each_others_place_swap_precision_and_recall(corpus, matching):
    swapped = [(links_as_gold(given_), gold_as_links(wanted)) for wanted, given_ in corpus]
    if not any(wanted.gold for wanted, _ in swapped):
        return
    one, other = score(corpus, matching=matching), score(swapped, matching=matching)
    for task in TASKS:
        ours, theirs = one.task(task).micro, other.task(task).micro
        assert (ours.correct, ours.predicted, ours.gold) == (theirs.correct, theirs.gold, theirs.predicted)
        assert (ours.precision, ours.recall, ours.f1) == (theirs.recall, theirs.precision, theirs.f1)


@examples(100)
@given(corpora(), RULES)
def test_a_laxer_way_of_matching_finds_no_less(corpus, rule):
    strict, weak = score(corpus, nil=rule), score(corpus, nil=rule, matching=Matching.WEAK)
    for task in ("md", "md_linked", "el"):
        assert weak.task(task).micro.correct >= strict.task(task).micro.correct
        assert weak.task(task).micro.gold == strict.task(task).micro.gold


@examples(100)
@given(corpora(), MATCHINGS, RULES)
def test_no_link_is_right_where_its_mention_is_not(corpus, matching, rule):
    found = score(corpus, matching=matching, nil=rule)
    assert found.el.micro.correct <= found.el.micro.gold
    assert found.el.micro.correct <= found.el.micro.predicted
    if not matching.is_of_strings:  # there one mention may be two links
        assert found.el.micro.correct <= found.md.micro.correct


# The parts and the whole


@examples(60)
@given(with_domains(ANY), MATCHINGS, RULES)
def test_documents_add_up_to_the_whole(corpus, matching, rule):
    found = score(corpus, matching=matching, nil=rule)
    for task in TASKS:
        micro = found.task(task).micro
        sums = tuple(map(sum, found.per_document.counts[task]))
        assert sums == (micro.correct, micro.predicted, micro.gold)
        for pair, *counts in zip(corpus, *found.per_document.counts[task], strict=True):
            if any(not link.optional for link in pair[0].gold):
                alone = score([pair], matching=matching, nil=rule).task(task).micro
                assert counts == [alone.correct, alone.predicted, alone.gold]


@examples(40)
@given(with_domains(ANY), MATCHINGS)
def test_a_run_compared_with_itself_is_no_better(corpus, matching):
    found = score(corpus, matching=matching)
    mixed = list(corpus)
    random.Random(1).shuffle(mixed)
    compared = compare(found, score(mixed, matching=matching), rounds=20)
    for task in TASKS:
        assert all((one.difference, one.p) == (0.0, 1.0) for one in compared.tasks[task])
        assert (compared.balance[task].a_better, compared.balance[task].b_better) == (0, 0)
        assert compared.balance[task].equal == len(corpus)


def test_a_right_nil_before_the_first_candidates_counts_as_one_after_them():
    """Whether any prediction comes with candidates is not known yet when the first document is scored."""
    ann = Mention(Span(0, 3), "Ann")
    plain = (
        Document("0", "Ann", gold=(GoldLink(ann.span, ()),)),
        Document("0", "Ann", links=(Link(ann, None, 1.0),)),
    )
    among = Link(ann, None, 1.0, candidates=(Candidate("a", 1.0),))
    told = Document("1", "Ann"), Document("1", "Ann", links=(among,))
    recalls = [[one.candidate_recall for one in score(corpus).slices] for corpus in ([plain, told], [told, plain])]
    assert recalls[0] == recalls[1]
    assert 1.0 in recalls[0]
