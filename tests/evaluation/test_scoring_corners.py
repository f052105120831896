"""Small documents on which a score, or a part that should agree with it, was once wrong."""

from __future__ import annotations

from itertools import permutations

import pytest

from entlink.documents import Document, GoldLink, Link, Mention, Span, Turn
from entlink.errors import EntlinkError
from entlink.evaluation import Convention, Counts, EvaluationOptions, GoldMatch, Matching, evaluate, leakage
from entlink.evaluation.intervals.resampling import Interval, intervals, macro_intervals
from entlink.evaluation.scoring.document_score import general_score
from entlink.evaluation.scoring.matching import without_article
from entlink.evaluation.scoring.slices import slicers
from entlink.evaluation.scoring.tally import Column
from entlink.evaluation.scoring.usual_score import usual_score
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.testing import toy_kb
from worked import TEXT, counts, gold, link, scored

OFFSETS = {"lacks": "offsets"}


def ev(wanted, given, **options):
    return evaluate(wanted, given, EvaluationOptions(**{"rounds": 0, **options}))


def chat(id, *texts, **sides):
    return Document.of_turns(id, [Turn(text) for text in texts], **sides)


def test_matching_is_chosen_by_the_first_pair_even_if_its_predictions_are_a_stand_in():
    wanted = [chat(id, "I like Paris.", gold=(GoldLink(Span(7, 12), ("Paris",)),)) for id in "ab"]
    run = [chat("b", "Paris", links=(Link(Mention(Span(0, 5), "Paris"), "Paris", 1.0),), meta=OFFSETS)]
    found = [ev(order, run, missing="empty") for order in (wanted, wanted[::-1])]
    assert [(one.convention.matching, counts(one, "el")) for one in found] == [("string", (1, 1, 2))] * 2


def test_required_gold_beside_optional_gold_at_one_place_is_a_miss_though_el_has_it_right():
    found = scored([gold("Paris", "a", optional=True), gold("Paris", "a")], [link("Paris", "a")])
    assert counts(found, "el") == (1, 1, 1)
    assert found.blame.misses == {}
    assert (found.blame.ceilings.final, found.ranking.accuracy) == (1.0, 1.0)


def test_answers_perfect_in_el_are_perfect_in_ed():
    said = [link("Paris", "a"), link("Berlin", "a")]
    one = scored([gold("Paris", "a"), gold("Berlin", "a", "b")], said)
    two = scored([gold("Paris", "a", "b"), gold("Berlin", "b", "a")], said)  # the same alternatives, in another order
    three = scored([gold("Paris", "a", "b"), gold("Berlin", "a", "b")], [link("Paris", "a"), link("Berlin", "b")])
    assert [found.el.micro.f1 for found in (one, two, three)] == [1.0] * 3
    assert [found.ed.micro.f1 for found in (one, two, three)] == [1.0] * 3


def test_resolved_alternatives_that_are_one_entity(tmp_path):
    with KnowledgeBase.open(toy_kb(tmp_path)) as kb:
        wanted = Document("d", TEXT, gold=(gold("Paris", "Q90", "paris"), gold("Berlin", "paris")))
        given = Document("d", TEXT, links=(link("Paris", "paris"), link("Berlin", "paris")))
        found = evaluate([wanted], [given], EvaluationOptions(rounds=0), kb=kb)
    assert counts(found, "ed") == (1, 1, 1)


def test_nil_gold_is_in_no_slice_where_el_leaves_it_out():
    wanted = [gold("Paris", "a", meta={"type": "GPE"}), gold("Berlin", nil_type="GPE")]
    found = scored(wanted, [link("Paris", "a")], slices=("type",))
    assert found.el.micro.recall == 1.0
    assert [(one.gold, one.el_recall) for one in found.slices] == [(1, 1.0)]


@pytest.mark.parametrize("slices", [("domain", "domain"), ("meta:tags",), ("gold:tags",)])
def test_nothing_counts_twice_in_a_slice(slices):
    wanted = gold("Paris", "a", meta={"tags": ["x", "x"]})
    document = Document("d", TEXT, gold=(wanted,), meta={"domain": "x", "tags": ["x", "x"]})
    found = ev([document], [Document("d", TEXT, links=(link("Paris", "a"),))], slices=slices)
    assert [(one.value, one.gold, one.documents) for one in found.slices] == [("x", 1, 1)]


def test_resamples_without_a_document_of_the_slice_are_not_perfect_ones():
    wanted = [Document(str(n), TEXT, gold=(gold("Paris", "a"),), meta={"domain": "xy"[n == 0]}) for n in range(10)]
    given = [Document(str(n), TEXT, links=(link("Paris", "a" if n else "b"),)) for n in range(10)]
    found = evaluate(wanted, given, EvaluationOptions(slices=("domain",)))
    [rare] = [one for one in found.slices if one.value == "y"]
    assert rare.el_recall == 0.0
    assert rare.intervals.recall.high == 0.0  # is 1.0: none of its documents was ever right


def test_turns_are_the_predictions_own_where_gold_has_no_offsets():
    """Gold (rows) says Paris in turn 0; it was predicted in turn 1."""
    wanted = chat("c", "Paris", gold=(GoldLink(Span(0, 5), ("p",)),), meta=OFFSETS)
    given = chat("c", "Hello.", "Paris", links=(Link(Mention(Span(8, 13), "Paris"), "p", 1.0),))
    assert counts(ev([wanted], [given]), "el") == (0, 1, 1)


def test_a_long_word_is_no_shared_passage():
    found = leakage([Document("t", "Решение государственного совета")], [Document("s", "Нет государственного долга")])
    assert found.with_passages_of_training == 0


def test_chinese_passages_are_found_across_commas():
    clause = "今天天气很好，我们去公园，大家都很高兴，"  # 18 characters in clauses of 6
    found = leakage([Document("t", "甲说" + clause)], [Document("s", "乙说" + clause)])
    assert found.with_passages_of_training == 1


def test_documents_without_text_do_not_have_the_same_text():
    bare = {"lacks": "text"}
    assert leakage([Document("t", "", meta=bare)], [Document("s", "", meta=bare)]).same_texts == 0


def test_string_matching_needs_strings():
    """neleval has no texts: every mention is '' and all of them are one."""
    lacks = {"lacks": "text"}
    wanted = Document("d", "", gold=(GoldLink(Span(0, 3), ("a",)), GoldLink(Span(10, 13), ("b",))), meta=lacks)
    given = Document("d", "", links=(Link(Mention(Span(50, 53), ""), "b", 1.0),), meta=lacks)
    with pytest.raises(EntlinkError):
        ev([wanted], [given], matching=Matching.STRING)


# Parts that must agree with each other


def test_string_matching_with_alternatives_blames_as_it_counts():
    text = "Paris x Paris"
    wanted = [gold("Paris", "a", text=text), gold("Paris", "a", "b", text=text, nth=1)]
    given = [link("Paris", "a", text=text), link("Paris", "a", text=text, nth=1)]
    found = scored(wanted, given, text=text, matching=Matching.STRING)
    assert sum(found.blame.misses.values()) == found.el.micro.gold - found.el.micro.correct


def test_the_quick_way_is_the_general_one_for_annotated_turns_without_turns():
    wanted = Document("d", TEXT, gold=(gold("Paris", "a"),), meta={"annotated_turns": [1]})
    pair = wanted, Document("d", TEXT, links=(link("Paris", "a"),))
    quick = usual_score(*pair, Convention())
    assert quick is None or quick.counts == general_score(*pair, Convention()).counts


def test_gold_outside_what_was_annotated_is_left_out_as_predictions_are():
    wanted = Document("d", TEXT, gold=(gold("Paris", "a"), gold("Vulcan", "v")), meta={"evaluation_span": [0, 20]})
    given = Document("d", TEXT, links=(link("Paris", "a"), link("Vulcan", "v")))
    assert ev([wanted], [given]).el.micro.recall == 1.0


def test_wrong_answers_add_up_where_a_link_is_said_twice():
    found = scored([gold("Paris", "a")], [link("Paris", "a"), link("Paris", "a")])
    assert sum(found.blame.wrong.values()) == found.el.micro.predicted - found.el.micro.correct


def test_mentions_found_are_the_same_in_slices_and_md():
    wanted = [gold("Paris met Berlin", "a"), gold("Berlin", "b")]
    given = [link("Berlin", "a"), link("Paris met", "x")]
    found = scored(wanted, given, matching=Matching.WEAK, slices=("kb",))
    assert found.slices[0].md_recall == found.md.micro.recall


def test_typed_nil_by_strings_does_not_depend_on_the_order_of_links():
    text = "Paris x Paris"
    wanted = [gold("Paris", text=text, nil_type="PER"), gold("Paris", text=text, nth=1, nil_type="LOC")]
    given = [link("Paris", None, text=text, nil_type="PER"), link("Paris", None, text=text, nth=1, nil_type="LOC")]
    found = [scored(wanted, order, text=text, matching=Matching.STRING) for order in (given, given[::-1])]
    assert found[0].nil_typed == found[1].nil_typed


def test_an_answer_without_candidates_is_its_own_first_candidate():
    """neleval's reader gives candidates only where a line has several."""
    found = scored([gold("Paris", "p"), gold("Berlin", "b")], [link("Paris", "p", "p", "x"), link("Berlin", "b")])
    assert (found.ranking.accuracy, found.ranking.recall_at[1]) == (1.0, 1.0)


def test_the_order_of_documents_changes_no_digit_of_a_mean():
    text = " ".join("abcdefghij")
    wanted = [
        Document(str(n), text, gold=tuple(gold(one, "e", text=text) for one in text.split())) for n in (1, 2, 3)
    ]
    given = [
        Document(str(n), text, links=tuple(link(one, "e", text=text) for one in text.split()[:n])) for n in (1, 2, 3)
    ]
    found = {
        ev([wanted[n] for n in order], [given[n] for n in order]).el.macro.recall for order in permutations(range(3))
    }
    assert len(found) == 1


def test_a_stray_document_of_predictions_makes_no_domain_of_its_own():
    wanted = [Document("a", TEXT, gold=(gold("Paris", "a"),), meta={"domain": "x"})]
    given = [Document(id, TEXT, links=(link("Paris", "a"),)) for id in "ab"]
    assert ev(wanted, given, missing="empty").el.macro.groups == 1


def test_leaks_know_identifiers_as_the_slice_of_what_was_seen_does(tmp_path):
    with KnowledgeBase.open(toy_kb(tmp_path)) as kb:
        wanted = Document("d", TEXT, gold=(gold("Paris", "paris"),))
        training = [Document("t", "Paris", gold=(GoldLink(Span(0, 5), ("Q90",)),))]
        options = EvaluationOptions(rounds=0, slices=("seen",))
        found = evaluate([wanted], [Document("d", TEXT)], options, kb=kb, training=lambda: training)
    assert found.slices[0].value == "entity seen by this name"
    assert found.leakage.answers == 1.0


def test_ceilings_of_no_gold_that_counts_are_recall():
    found = scored([gold("Paris")], [])
    assert found.blame.ceilings.final == found.el.micro.recall


def test_other_boundaries_are_of_the_same_turn():
    wanted = chat("c", "New York", "York", gold=(GoldLink(Span(10, 14), ("york",)),))
    given = chat("c", "New York", "York", links=(Link(Mention(Span(0, 8), "New York"), "ny", 1.0),))
    assert ev([wanted], [given], matching=Matching.STRING).blame.misses == {"mention not found": 1}


def test_other_boundaries_are_of_whole_words():
    text = "Bart paints"
    found = scored([gold("Bart", "b", text=text)], [link("art", "x", text=text)], text=text, matching=Matching.STRING)
    assert found.blame.misses == {"mention not found": 1}


def test_a_field_that_no_document_has_is_told():
    wanted = [Document("d", TEXT, gold=(gold("Paris", "a"),))]
    with pytest.raises(EntlinkError, match="no document has the field 'doman'"):
        ev(wanted, [Document("d", TEXT)], macro_by="doman")


def test_no_slice_is_offered_twice():
    with pytest.raises(EntlinkError) as told:
        slicers(["nope"])
    assert str(told.value).count("overlap") == 1


def test_an_article_is_left_if_nothing_else_would_be():
    assert without_article("the ").strip()


def test_negative_offsets_are_outside():
    given = Document("d", TEXT, links=(Link(Mention(Span(-75, -70), "Paris"), "a", 1.0),))
    with pytest.raises(EntlinkError):
        ev([Document("d", TEXT, gold=(gold("Paris", "a"),))], [given])


def test_what_is_left_out_of_gold_by_a_field_is_an_error_where_it_is_found():
    """As in ConEL's gold without personal entities: a linker that finds one says too much."""
    wanted = [gold("Paris", "a"), gold("Berlin", "b", meta={"personal": True})]
    found = scored(wanted, [link("Paris", "a"), link("Berlin", "b")], without=("personal",))
    assert found.el.micro.precision == 0.5


def test_levels_and_rounds_that_cannot_be():
    column = Column()
    column.add(Counts(1, 1, 1))
    for settings in ({"rounds": 0}, {"level": 95.0}):
        with pytest.raises(EntlinkError, match="intervals need"):
            intervals(column, **settings)
    with pytest.raises(EntlinkError, match="no documents"):
        macro_intervals(Column(), None)


def test_documents_without_a_domain_are_in_no_macro_score_and_noted():
    wanted = [
        Document(id, TEXT, gold=(gold("Paris", "a"),), meta=meta) for id, meta in (("a", {"domain": "x"}), ("b", {}))
    ]
    given = [Document("a", TEXT, links=(link("Paris", "a"),)), Document("b", TEXT)]
    found = ev(wanted, given)
    assert (found.el.macro.recall, found.el.micro.recall) == (1.0, 0.5)
    assert any("without the field 'domain': 1" in note for note in found.notes)


def test_answers_equal_to_gold_are_perfect_with_a_knowledge_base_that_knows_gold_by_its_title(tmp_path):
    with KnowledgeBase.open(toy_kb(tmp_path)) as kb:
        wanted = Document("d", TEXT, gold=(gold("Paris", "Q-unknown", meta={"title": "Paris"}),))
        for answer in (link("Paris", "Q-unknown"), link("Paris", "paris"), link("Paris", "Q-other", title="Paris")):
            given = Document("d", TEXT, links=(answer,))
            found = evaluate([wanted], [given], EvaluationOptions(rounds=0, match_gold=GoldMatch.TITLE), kb=kb)
            assert (found.el.micro.f1, found.ed.micro.f1, found.coverage.covered_links) == (1.0, 1.0, 1)


def test_offsets_in_bytes_are_told_where_they_drift():
    """Behind an umlaut bytes and characters part: only the spans there can show it."""
    text = "Zürich and Berlin and Vienna are cities of Europe"
    drifting = tuple(
        GoldLink(Span(len(text[:at].encode()), len(text[:end].encode())), ("x",))
        for at, end in ((11, 17), (22, 28), (43, 49))
    )
    documents = [Document(str(n), f"{text} now", gold=drifting) for n in range(6)]
    found = ev(documents, [Document(str(n), f"{text} now") for n in range(6)])
    assert any("look like bytes" in note for note in found.notes)


@pytest.mark.parametrize(
    "meta", [{"evaluation_span": [3]}, {"evaluation_span": "x"}, {"annotated_turns": 5}, {"annotated_turns": [[1]]}]
)
def test_bounds_that_are_none_are_told(meta):
    wanted = chat("c", "Paris here", gold=(GoldLink(Span(0, 5), ("a",)),), meta=meta)
    with pytest.raises(EntlinkError, match="in its meta is"):
        ev([wanted], [chat("c", "Paris here")])


def test_strings_are_compared_over_different_texts():
    wanted = Document("d", "In Paris .", gold=(GoldLink(Span(3, 8), ("p",)),))
    given = Document("d", "In  Paris.", links=(Link(Mention(Span(4, 9), "Paris"), "p", 1.0),))
    assert counts(ev([wanted], [given], matching=Matching.STRING), "el") == (1, 1, 1)


def test_nothing_is_claimed_of_candidates_that_were_not_written():
    found = scored([gold("Paris", "a"), gold("Berlin", "b")], [link("Paris", "a"), link("Berlin", None)])
    assert (found.blame.ceilings.candidates, found.blame.ceilings.ranking) == (None, None)
    assert found.blame.misses == {"NIL said; candidates were not written": 1}
    told = scored([gold("Paris", "a"), gold("Berlin", "b")], [link("Paris", "a", "a"), link("Berlin", None)])
    assert told.blame.misses == {"right entity not among the candidates": 1}
    assert [one.cause for one in told.blame.examples] == ["right entity not among the candidates"]


def test_accuracy_has_an_interval_and_a_mean_over_domains():
    wanted = [Document(str(n), TEXT, gold=(gold("Paris", "a"),), meta={"domain": "xy"[n < 3]}) for n in range(12)]
    given = [Document(str(n), TEXT, links=(link("Paris", "a" if n < 6 else "b"),)) for n in range(12)]
    found = evaluate(wanted, given, EvaluationOptions()).ranking
    assert (found.accuracy_in_kb, found.macro_accuracy_in_kb) == (0.5, (1.0 + 3 / 9) / 2)
    assert found.accuracy_in_kb_interval.low < 0.5 < found.accuracy_in_kb_interval.high


def test_optional_gold_is_in_no_interval_of_accuracy():
    """Wrong answers to what nobody had to answer."""
    wanted = [gold("Paris", "a"), gold("Berlin", "b", optional=True), gold("Vulcan", optional=True)]
    given = [link("Paris", "a"), link("Berlin", "x"), link("Vulcan", "x")]
    documents = [Document(str(n), TEXT, gold=tuple(wanted)) for n in range(10)]
    run = [Document(str(n), TEXT, links=tuple(given)) for n in range(10)]
    found = ev(documents, run, rounds=20).ranking
    assert (found.accuracy, found.accuracy_in_kb) == (1.0, 1.0)
    assert found.accuracy_interval == found.accuracy_in_kb_interval == Interval(1.0, 1.0)
