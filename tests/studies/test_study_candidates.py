"""Recall of candidates against a count by brute force, lists on demand, deep lists, slices, and what is left out."""

from __future__ import annotations

import msgspec
import pytest

from entlink import LinkerConfig
from entlink.candidates.alias import AliasRetriever
from entlink.candidates.bm25 import BM25Retriever
from entlink.candidates.edit_distance import EditDistanceRetriever
from entlink.errors import ConfigError, InputError
from entlink.evaluation import GoldMatch
from entlink.evaluation.files import File
from entlink.interfaces import Evidence, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import read_config
from entlink.linking.linker import load
from entlink.studies import CandidateOptions, study_candidates
from entlink.studies.candidates.tables import candidate_lines, candidate_tables
from entlink.studies.data import gold_mention
from entlink.studies.settings import with_retrievers
from entlink.studies.timing import Stopwatch
from study_worlds import ENTITIES, write_documents, write_kb, write_lines

# Line is s2 for the one and t1 for the other; Bom is one edit from nothing long enough.
MENTIONS = [("Boom", "s1"), ("Line", "s2"), ("Harwich", "u1"), ("Crew", "s3"), ("Line", "t1"), ("boom", "t2")]
KS = (1, 2, 5)
ALL = CandidateOptions(ks=KS)


def method(study, name):
    (found,) = [one for one in study.methods if one.name.startswith(name)]
    return found


def brute_force(candidates) -> tuple[dict[int, float], float]:
    """Recall and MRR of a function from surfaces to candidates, from the definitions."""
    places = []
    for surface, right in MENTIONS:
        ids = [one.entity for one in candidates(surface)]
        places.append(ids.index(right) + 1 if right in ids else None)
    recall = {k: sum(place is not None and place <= k for place in places) / len(places) for k in KS}
    return recall, sum(1 / place for place in places if place) / len(places)


def test_each_retriever_alone_is_as_by_brute_force(two, gold):
    found = study_candidates(two, [gold], "lexical", ALL)
    assert found.mentions == len(MENTIONS)
    assert found.left_out == {"NIL": 1, "not in the knowledge base": 1}
    with KnowledgeBase.open(two) as kb:
        for name, make in (("alias", AliasRetriever), ("edit-distance", EditDistanceRetriever)):
            recall, mrr = brute_force(make(kb).candidates)
            one = method(found, name).found
            assert one.recall_at == pytest.approx(recall)
            assert one.mrr == pytest.approx(mrr)


def test_counted_by_hand(two, gold):
    """Line means s2 by its title, and t1 by its title without the parenthesis, which counts less; boom only s1."""
    found = study_candidates(two, [gold], "lexical", ALL)
    alias = method(found, "alias")
    assert alias.found.recall_at == {1: 4 / 6, 2: 5 / 6, 5: 5 / 6}
    assert alias.found.mrr == pytest.approx((4 + 1 / 2) / 6)
    assert alias.found.candidates == pytest.approx((1 + 2 + 1 + 1 + 2 + 1) / 6)
    # Nothing is missing for the second to be asked: in turn is as the first.
    assert method(found, "each in turn").found == alias.found
    assert [one.how for one in found.methods] == ["own list", "own list", "in turn", "ranked"]


def test_times_are_of_both_passes(two, gold):
    found = study_candidates(two, [gold], "lexical", ALL)
    for one in found.methods:
        assert one.first_ms > 0
        assert one.second_ms > 0
    assert found.batches == 1


def test_batches_change_no_figure(two, gold):
    small = LinkerConfig(batch_size=1)
    many, one = (study_candidates(two, [gold], config, ALL) for config in (small, LinkerConfig()))
    assert many.batches == 3  # the document without gold that is asked for is in none
    assert [method.found for method in many.methods] == [method.found for method in one.methods]


def fused(*names: str, **settings) -> LinkerConfig:
    weights = dict.fromkeys(names, 1.0)
    return LinkerConfig(
        retriever=[{"name": name} for name in names], fusion={"name": "weights", "weights": weights, **settings}
    )


def test_a_retriever_that_only_scores_is_shown_on_demand(two, gold, own_retrievers):
    found = study_candidates(two, [gold], fused("alias", "longest-title"), ALL)
    longest = method(found, "longest-title")
    assert longest.how == "on demand"
    # Of the two that Line may mean, it has the longer title first: t1 for one mention, second for the other.
    assert longest.found.recall_at == {1: 4 / 6, 2: 5 / 6, 5: 5 / 6}
    assert method(found, "alias").how == "own list"
    assert any("on demand" in note for note in found.notes)
    # Titles weigh more than priors, so the fusion has that order, too.
    assert method(found, "fusion").found == longest.found


@pytest.mark.parametrize("config", [fused("alias", "bm25", keep=3), "zero-shot", "lexical"])
def test_fusion_and_ranker_are_as_in_the_linker_itself(two, gold, config):
    """What is measured is watched, and must not come out otherwise for that."""
    found = study_candidates(two, [gold], config, msgspec.structs.replace(ALL, retrievers=("alias", "bm25")))
    own = read_config(config) if isinstance(config, str) else config
    linker = load(two, config=with_retrievers(own, ["alias", "bm25"]), mentions="given")

    def lists(rank):
        for document in File(gold, "gold"):
            mentions = [gold_mention(document, one) for one in document.gold if set(one.entities) - {"atlantis"}]
            candidates = linker.candidates(document, mentions)
            asked = [Shortlist(document, *one) for one in zip(mentions, candidates, strict=True)]
            yield from linker.rank(asked) if rank else candidates

    try:
        for name, rank in (("fusion" if own.fusion else "each in turn", False), ("ranker", True)):
            expected = iter(list(lists(rank)))
            recall, mrr = brute_force(lambda surface, expected=expected: next(expected))
            assert method(found, name).found.recall_at == pytest.approx(recall)
            assert method(found, name).found.mrr == pytest.approx(mrr)
    finally:
        linker.kb.close()


def test_a_watched_retriever_is_still_what_it_was(two):
    with KnowledgeBase.open(two) as kb:
        retriever = BM25Retriever(kb)
        watch = Stopwatch(retriever)
        assert isinstance(retriever, Evidence)
        assert retriever.gather([]) == []
        assert watch.seconds > 0


def test_lists_are_as_configured_unless_deep(two, gold, own_retrievers):
    config = fused("endless", keep=1)
    short = study_candidates(two, [gold], config, ALL)
    assert method(short, "endless").found.candidates == 2
    assert method(short, "fusion").found.candidates == 1
    assert any("cut at endless 2, fusion (weights) 1" in note for note in short.notes)
    deep = study_candidates(two, [gold], config, msgspec.structs.replace(ALL, deep=True))
    assert method(deep, "endless").found.candidates == method(deep, "fusion").found.candidates == 5
    # In the order of the knowledge base s1, s2, s3, t1, t2: all but u1, the seventh, are among the first five.
    assert method(deep, "endless").found.recall_at == {1: 1 / 6, 2: 2 / 6, 5: 5 / 6}
    assert not [note for note in deep.notes if "cut at" in note]


def test_slices_part_the_mentions(two, gold):
    found = study_candidates(two, [gold], "lexical", msgspec.structs.replace(ALL, slices=("title",)))
    parts = {one.value: one.found for one in method(found, "alias").slices}
    is_title, is_not = parts["surface is the title"], parts["surface is not the title"]
    assert (is_title.mentions, is_not.mentions) == (4, 2)
    assert is_title.recall_at[1] == 1.0
    assert is_not.recall_at == {1: 0.0, 2: 0.5, 5: 0.5}
    main, table = candidate_tables(found)
    assert main.columns[2:5] == ("R@1", "R@2", "R@5")
    assert [group.title for group in table.groups] == ["surface is not the title", "surface is the title"]
    lines = {line[:4]: line.value for line in candidate_lines(found)}
    assert lines["candidates", "alias", "title: surface is not the title", "R@2"] == 0.5
    with pytest.raises(ConfigError, match="'meta:year' is empty"):
        study_candidates(two, [gold], "lexical", CandidateOptions(slices=("meta:year",)))


def test_some_retrievers_only(two, gold):
    found = study_candidates(two, [gold], "lexical", msgspec.structs.replace(ALL, retrievers=("edit-distance",)))
    assert [one.name for one in found.methods] == ["edit-distance", "each in turn", "ranker (prior)"]
    with pytest.raises(ConfigError, match="did you mean 'alias'"):
        study_candidates(two, [gold], "lexical", CandidateOptions(retrievers=("alas",)))


def test_a_retriever_without_its_model_says_why(two, gold, caplog):
    found = study_candidates(two, [gold], None, msgspec.structs.replace(ALL, limit=2))
    dense = method(found, "dense")
    assert (dense.how, dense.found, found.documents) == ("missing", None, 2)
    assert "minilm" in dense.why
    assert caplog.records == []
    with pytest.raises(Exception, match="minilm"):
        study_candidates(two, [gold], None, CandidateOptions(retrievers=("dense",)))


def test_published_figures_on_request(two, gold, monkeypatch):
    wanted = CandidateOptions(ks=(10, 100), published=True)
    found = study_candidates(two, [gold], "lexical", wanted)
    (table,) = candidate_tables(found)
    rows = {row[0]: row[2:4] for row in table.groups[1].rows}
    assert rows["BM25"] == pytest.approx((0.3837, 0.5334))
    assert any("BLINK + CLIP" in note for note in found.notes)  # a misprint of the paper
    monkeypatch.setattr("entlink.studies.data.published_folder", lambda: None)
    without = study_candidates(two, [gold], "lexical", wanted)
    assert without.published == ()
    assert any("published figures are not there" in note for note in without.notes)


def test_nothing_to_ask_for(two, tmp_path):
    unknown = write_documents(tmp_path / "u.jsonl", [("d", None, "[Bom|atlantis]")])
    with pytest.raises(InputError, match=r"no gold mention is left .*not in the knowledge base 1"):
        study_candidates(two, [unknown], "lexical")
    none = write_lines(tmp_path / "n.jsonl", [{"id": "d", "text": "Boom", "gold": []}])
    with pytest.raises(InputError, match="no document has gold links"):
        study_candidates(two, [none], "lexical")
    with pytest.raises(InputError, match="no K"):
        study_candidates(two, [none], "lexical", CandidateOptions(ks=()))


def test_gold_by_another_name_is_found(tmp_path):
    kb = write_kb(tmp_path, ENTITIES)
    gold = write_documents(tmp_path / "g.jsonl", [("d", None, "[Boom|Boom]")])  # its title, not its id
    by_title = CandidateOptions(match_gold=GoldMatch.TITLE)
    assert method(study_candidates(kb, [gold], "lexical", by_title), "alias").found.recall_at[1] == 1.0


def ensembles(study):
    return [one for one in study.methods if one.how in ("weights", "slots", "slots of paper 4")]


def test_ensembles_are_chosen_on_development_data_and_measured_on_the_data(two, gold, tmp_path):
    """What the grid chose is fused by hand, from the lists that the linker's retrievers give."""
    config = msgspec.structs.replace(read_config("lexical"), retriever=[{"name": "alias"}, {"name": "bm25"}])
    dev = write_documents(tmp_path / "dev.jsonl", [("d", None, "[Crew|s3] of [Harwich|u1]")])
    options = CandidateOptions(ks=KS, dev=(str(dev),))
    found = study_candidates(two, [gold], config, options)
    by_weights, by_slots = ensembles(found)
    assert [one.name for one in (by_weights, by_slots)] == ["alias + bm25 by weights", "alias + bm25 by slots"]
    assert [one.found.mentions for one in (by_weights, by_slots)] == [len(MENTIONS)] * 2
    notes = [note for note in found.notes if "of the development data 1.000" in note]
    assert [note.split(":")[0] for note in notes] == ["alias + bm25 by weights", "alias + bm25 by slots"]
    chosen = {name: float(number) for name, number in (one.split() for one in _settings(notes[0]))}
    fused = msgspec.structs.replace(config, fusion={"name": "weights", "keep": 5, "weights": chosen})
    again = study_candidates(two, [gold], fused, ALL)
    assert method(again, "fusion").found.recall_at == pytest.approx(by_weights.found.recall_at)


def _settings(note: str) -> list[str]:
    return note.split(": ")[1].split(";")[0].split(", ")


def test_three_retrievers_have_the_slots_of_the_paper_too(two, gold):
    stages = [{"name": "alias"}, {"name": "bm25"}, {"name": "edit-distance"}]
    config = msgspec.structs.replace(read_config("lexical"), retriever=stages)
    names = ("alias", "bm25", "edit-distance")
    options = CandidateOptions(ks=KS, dev=(str(gold),), ensembles=(names, names[:2]))
    study = study_candidates(two, [gold], config, options)
    assert any("in this order: alias 0.8, bm25 0.1, edit-distance 0.1" in note for note in study.notes)
    found = ensembles(study)
    assert [(one.name.count("+"), one.how) for one in found] == [
        (2, "weights"), (2, "slots"), (2, "slots of paper 4"), (1, "weights"), (1, "slots"),
    ]  # fmt: skip
    best = max(one.found.recall_at[5] for one in found)
    assert best >= max(method(study_candidates(two, [gold], config, ALL), name).found.recall_at[5] for name in names)


@pytest.mark.parametrize(
    ("dev", "names", "message"),
    [
        (False, ("alias", "edit-distance"), "--dev"),
        (True, ("alias", "edit-distanc"), "edit-distance"),
        (True, ("alias",), "alone"),
    ],
)
def test_an_ensemble_that_cannot_be_is_told(two, gold, dev, names, message):
    options = CandidateOptions(ks=KS, dev=(str(gold),) if dev else (), ensembles=(names,))
    with pytest.raises((ConfigError, InputError), match=message):
        study_candidates(two, [gold], "lexical", options)
