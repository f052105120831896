"""Scores against an unfamiliar knowledge base, counted by hand.

The domain sea has the titles Boom, Line, Crew; stage has Line (script), Light boom, Crew call.
"""

from __future__ import annotations

import msgspec
import pytest

from entlink.evaluation import Counts
from entlink.studies import ConfiguredSystem, NearestTitleSystem, UnfamiliarOptions, study_unfamiliar_kb
from entlink.studies.systems import baselines
from entlink.studies.unfamiliar.tables import unfamiliar_lines, unfamiliar_tables

JOINED = UnfamiliarOptions(depth=1)


@pytest.fixture(scope="module")
def found(two, gold):
    systems = [NearestTitleSystem(), ConfiguredSystem("names", "lexical")]
    return study_unfamiliar_kb(two, [gold], systems, JOINED)


def by_domain(study, name):
    (system,) = [one for one in study.systems if one.name == name]
    return {one.domain: one for one in system.domains}, system


def test_domains_and_where_their_gold_is(found):
    sea, stage = found.domains
    assert (found.by, found.depth) == ("meta:domain", 1)
    # Boom, Line and Crew; Harwich is a town; "two" is NIL.
    assert (sea.name, sea.types, sea.entities, sea.documents) == ("sea", 2, 3, 2)
    assert (sea.gold, sea.inside, sea.elsewhere, sea.unknown, sea.nil) == (5, 3, 1, 0, 1)
    # Line and boom; Bom is an entity that nobody knows.
    assert (stage.name, stage.entities, stage.documents) == ("stage", 3, 2)
    assert (stage.gold, stage.inside, stage.elsewhere, stage.unknown, stage.nil) == (3, 2, 0, 1, 0)


def test_the_nearest_title_given_the_spans(found):
    domains, system = by_domain(found, "edit distance")
    # On stage, "Line" is 8 edits from "Light boom" and 9 from "Line (script)".
    assert domains["sea"].given.counts == Counts(3, 3, 3)
    assert domains["stage"].given.counts == Counts(1, 2, 2)
    assert (system.given.micro.recall, system.given.macro.recall) == (4 / 5, (1 + 1 / 2) / 2)
    assert (system.given.micro.precision, system.given.macro.precision) == (4 / 5, (1 + 1 / 2) / 2)
    assert system.end_to_end is None


def test_the_linker_given_the_spans(found):
    domains, system = by_domain(found, "names")
    # On stage nothing is called "boom", so NIL: less accuracy, the same precision.
    assert domains["sea"].given.counts == Counts(3, 3, 3)
    assert domains["stage"].given.counts == Counts(1, 1, 2)
    assert (system.given.micro.recall, system.given.macro.recall) == (4 / 5, 3 / 4)
    assert (system.given.micro.precision, system.given.macro.precision) == (1.0, 1.0)


def test_end_to_end(found):
    domains, system = by_domain(found, "names")
    # Found at sea: Boom, Line, Crew, and Crew again, which is not gold; gold spans: those three, Harwich, "two".
    assert domains["sea"].end_to_end == {
        "md": Counts(3, 4, 5),
        "ed": Counts(3, 3, 3),  # a set: Crew once
        "el": Counts(3, 4, 3),
    }
    # Found on stage: Line.
    assert domains["stage"].end_to_end == {"md": Counts(1, 1, 3), "ed": Counts(1, 1, 2), "el": Counts(1, 1, 2)}
    md, ed, el = (system.end_to_end[task] for task in ("md", "ed", "el"))
    assert (md.micro.precision, md.micro.recall) == (4 / 5, 4 / 8)
    assert (ed.micro.precision, ed.micro.recall) == (4 / 4, 4 / 5)
    assert (el.micro.precision, el.micro.recall) == (4 / 5, 4 / 5)
    assert el.macro.precision == pytest.approx((3 / 4 + 1) / 2)
    assert md.macro.recall == pytest.approx((3 / 5 + 1 / 3) / 2)
    # F1 of EL: 2·3/(4+3) at sea, 2·1/(1+2) on stage; macro is their mean.
    assert el.macro.f1 == pytest.approx((6 / 7 + 2 / 3) / 2)
    assert (el.macro.over, el.macro.groups) == ("domain", 2)


def test_the_columns_of_blink(found):
    domains, system = by_domain(found, "edit distance")
    stage = domains["stage"].blink
    assert (stage.retriever_accuracy, stage.recall, stage.normalised, stage.unnormalised) == (0.5, 1.0, 0.5, 0.5)
    assert (system.blink.retriever_accuracy, system.blink.recall) == (0.75, 1.0)
    domains, system = by_domain(found, "names")
    stage = domains["stage"].blink
    # "boom" has no candidates: of the one mention that has, all are right; of both, half.
    assert (stage.retriever_accuracy, stage.recall, stage.normalised, stage.unnormalised) == (0.5, 0.5, 1.0, 0.5)
    assert (system.blink.normalised, system.blink.unnormalised, system.blink.mentions) == (1.0, 0.75, 5)


def test_gold_outside_of_the_domain_is_told_apart(found):
    _, naive = by_domain(found, "edit distance")
    assert (naive.outside.gold, naive.outside.linked_given, naive.outside.linked_end_to_end) == (2, 2, None)
    _, names = by_domain(found, "names")
    assert (names.outside.gold, names.outside.linked_given, names.outside.linked_end_to_end) == (2, 0, 0)


def test_an_entity_on_gold_outside_of_the_domain_is_an_error(tmp_path, two):
    """Gold says that this line is the one of the script; at sea it can only be taken for the other."""
    from study_worlds import write_documents

    gold = write_documents(tmp_path / "g.jsonl", [("d", "sea", "[Boom|s1] and [Line|t1]")])
    found = study_unfamiliar_kb(two, [gold], [ConfiguredSystem("names", "lexical")], JOINED)
    (system,) = found.systems
    assert system.domains[0].given.counts == Counts(1, 1, 1)
    assert system.domains[0].end_to_end["el"] == Counts(1, 2, 1)
    assert (system.outside.linked_given, system.outside.linked_end_to_end) == (1, 1)


def test_without_depth_every_type_is_a_domain(two, gold):
    options = UnfamiliarOptions(by="type")
    found = study_unfamiliar_kb(two, [gold], [NearestTitleSystem()], options)
    assert [one.name for one in found.domains] == ["sea.parts", "sea.people", "stage"]
    assert found.left_out == {"without a domain": 1}  # the document whose only gold nobody knows


def test_one_domain_and_few_documents(two, gold):
    options = UnfamiliarOptions(depth=1, domains=("stage",), limit=1)
    found = study_unfamiliar_kb(two, [gold], [NearestTitleSystem()], options)
    assert [(one.name, one.documents) for one in found.domains] == [("stage", 1)]
    assert found.left_out == {"of other domains": 2}


def test_a_system_without_its_model_says_why(two, gold):
    found = study_unfamiliar_kb(two, [gold], baselines(), JOINED)
    bi_encoder = found.systems[1]
    assert bi_encoder.given is None
    assert "minilm" in bi_encoder.why
    assert any("bi-encoder has no scores" in note for note in found.notes)
    assert all(line.system != "bi-encoder" for line in unfamiliar_lines(found))


def test_a_linker_that_goes_without_a_retriever_says_so_once(two, gold, caplog):
    found = study_unfamiliar_kb(two, [gold], [ConfiguredSystem("zero-shot", "zero-shot")], JOINED)
    assert [note for note in found.notes if "goes without dense" in note]
    assert caplog.records == []


def test_it_is_the_same_twice(two, gold, found):
    systems = [NearestTitleSystem(), ConfiguredSystem("names", "lexical")]
    again = study_unfamiliar_kb(two, [gold], systems, JOINED)
    assert msgspec.json.encode(again) == msgspec.json.encode(found)


def test_small_batches_change_nothing(two, gold, found):
    names = ConfiguredSystem("names", "lexical")
    names.config = msgspec.structs.replace(names.config, batch_size=1)
    again = study_unfamiliar_kb(two, [gold], [names], JOINED)
    assert again.systems[0] == found.systems[1]


def test_published_figures_stand_beside_as_other_data(found):
    given, ends, blink = unfamiliar_tables(found)[1:4]
    assert [group.title for group in given.groups] == ["", "published: other data, Fandom as the knowledge base"]
    rows = {row[:2]: row[2:] for row in given.groups[1].rows}
    assert rows["gold spans + BLINK", "reddit"] == (None, None, 0.288, 0.233)
    rows = {row[:3]: row[3:] for row in ends.groups[1].rows}
    assert rows["ELQ", "wikia", "micro"] == (0.034, 0.205, 0.058, 0.015, 0.088, 0.025, 0.010, 0.062, 0.017)
    assert blink.groups[-1].rows[-1] == ("macro average", 0.382, 0.818, 0.560, 0.453, None)


def test_without_published_figures_that_is_told(two, gold, monkeypatch):
    monkeypatch.setattr("entlink.studies.data.published_folder", lambda: None)
    found = study_unfamiliar_kb(two, [gold], [NearestTitleSystem()], JOINED)
    assert found.published == ()
    assert any("published figures are not there" in note for note in found.notes)
    assert len(unfamiliar_tables(found)[1].groups) == 1
