"""Scores in conversations, counted by hand, by both conventions, on all gold and on what is covered."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from entlink.errors import ConfigError, InputError, KnowledgeBaseError, MissingModelError, SourceError
from entlink.evaluation import Counts, GoldMatch, Matching
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.linking.config import ConversationConfig, LinkerConfig
from entlink.studies import ConfiguredSystem, ConversationOptions, RunSource, study_conversations
from entlink.studies.conversations.tables import conversation_lines, conversation_tables
from talks import ROWS, TALKS, turn, write_json, write_said

SAMPLES = Path(__file__).parents[2] / "samples"
STRICT, STRING = Matching.STRICT, Matching.STRING


def by_title(**fields):
    """ConEL's gold is titles, and the entities of the knowledge bases here have ids of their own."""
    return ConversationOptions(match_gold=GoldMatch.TITLE, **fields)


FAST = by_title(rounds=0)


@pytest.fixture
def talks(tmp_path):
    return write_json(tmp_path / "talks.json", TALKS)


@pytest.fixture
def said(tmp_path):
    return RunSource("said", write_said(tmp_path / "said.jsonl"))


@pytest.fixture
def rows(tmp_path):
    return RunSource("rows", write_json(tmp_path / "rows.json", ROWS))


def counts(study, system, matching, gold="all", set="talks"):
    found = study.result(system, set).scored(matching, gold)
    return {
        task: Counts(one.correct, one.predicted, one.gold)
        for task, one in (("md", found.md), ("md_linked", found.md_linked), ("el", found.el))
    }


def test_the_set(two, talks):
    found = study_conversations(two, [talks], [], options=FAST)
    (one,) = found.sets
    assert (one.name, one.conversations, one.turns) == ("talks", 2, 3)
    # Boom, Harwich, Crew, Line, Bom, "two"; of their entities the knowledge base has Boom, Crew and Light boom.
    assert (one.gold, one.covered, one.strings, one.covered_strings, one.nil) == (6, 3, 6, 3, 1)
    assert one.left_out == {"personal mentions": 1}
    assert "talks: 1 personal mentions left out" in found.notes


def test_by_places_on_all_gold(two, talks, said):
    """Predicted: Boom twice, Harwich, Crew (NIL), Line, the boat, "two" (NIL); what the system's turn has is out."""
    found = study_conversations(two, [talks], None, [said], FAST)
    assert counts(found, "said", STRICT) == {
        "md": Counts(5, 7, 6),  # all but Bom are found
        "md_linked": Counts(3, 5, 5),  # without both NIL, and without the gold "two"
        "el": Counts(1, 5, 5),  # Boom, once
    }


def test_by_places_on_covered_gold(two, talks, said):
    """Bom is not asked for; neither is Harwich, and what was said there does not count."""
    found = study_conversations(two, [talks], None, [said], FAST)
    assert counts(found, "said", STRICT, "covered") == {
        "md": Counts(4, 6, 4),
        "md_linked": Counts(2, 4, 3),
        "el": Counts(1, 4, 3),
    }


def test_by_strings(two, talks, said):
    """As above, with the second Boom of its turn no answer of its own."""
    found = study_conversations(two, [talks], None, [said], FAST)
    assert counts(found, "said", STRING) == {
        "md": Counts(5, 6, 6),
        "md_linked": Counts(3, 4, 5),
        "el": Counts(1, 4, 5),
    }
    assert counts(found, "said", STRING, "covered") == {
        "md": Counts(4, 5, 4),
        "md_linked": Counts(2, 3, 3),
        "el": Counts(1, 3, 3),
    }


def test_precision_recall_and_f1(two, talks, said):
    found = study_conversations(two, [talks], None, [said], FAST)
    md = found.result("said", "talks").scored(STRICT, "all").md
    assert (md.precision, md.recall, md.f1) == (5 / 7, 5 / 6, pytest.approx(10 / 13))


def test_where_gold_was_lost(two, talks, said):
    found = study_conversations(two, [talks], None, [said], FAST)
    strict, strings = found.result("said", "talks").blame
    assert (strict.gold, strict.right, sum(strict.misses.values())) == (5, 1, 4)
    assert strict.misses == {
        "not in the knowledge base": 2,
        "NIL said; candidates were not written": 1,
        "another entity chosen; candidates were not written": 1,
    }
    # Wrong by places: the second Boom and the boat are no gold; Harwich and Line have another entity.
    assert strict.wrong == {"there is no gold": 2, "another entity than gold's": 2}
    assert strings.wrong == {"there is no gold": 1, "another entity than gold's": 2}


def test_personal_mentions_count_where_they_are_asked_for(two, talks, said):
    options = by_title(rounds=0, personal=True)
    found = study_conversations(two, [talks], None, [said], options)
    assert counts(found, "said", STRICT)["md"] == Counts(6, 7, 7)
    assert counts(found, "said", STRICT)["el"] == Counts(2, 5, 6)
    assert found.sets[0].left_out == {}


def test_links_marked_as_personal_are_left_out_with_their_gold(two, talks, said):
    """Said of the boat: wrong by the gold without it, but not if the system says that it is personal."""
    rows = [json.loads(line) for line in said.path.read_text(encoding="utf8").splitlines()]
    for link in rows[0]["links"]:
        if link["text"] == "my dear boat":
            link["type"] = "personal"
    path = said.path.with_name("marked.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    runs = [said, RunSource("marked", path)]
    found = study_conversations(two, [talks], None, runs, FAST)
    assert counts(found, "marked", STRICT) == {
        "md": Counts(5, 6, 6),
        "md_linked": Counts(3, 4, 5),
        "el": Counts(1, 4, 5),
    }
    assert counts(found, "marked", STRICT, "covered")["el"] == Counts(1, 3, 3)
    assert found.result("marked", "talks").blame[0].wrong["there is no gold"] == 1
    both = study_conversations(two, [talks], None, runs, by_title(rounds=0, personal=True))
    assert counts(both, "marked", STRICT) == counts(both, "said", STRICT)


def test_a_linker_of_personal_mentions_scores_as_one_without_them(tmp_path):
    build([SAMPLES / "wiki/samplewiki.xml"], tmp_path / "wiki.kb", BuildOptions(processes=1, count_text=False))
    systems = [
        ConfiguredSystem(name, LinkerConfig(conversation=ConversationConfig(personal=personal)))
        for name, personal in (("plain", False), ("personal", True))
    ]
    data = [SAMPLES / "personal.jsonl"]
    found = study_conversations(tmp_path / "wiki.kb", data, systems, options=FAST)
    plain, personal = found.results
    assert plain.scores == personal.scores
    assert plain.blame == personal.blame
    found = study_conversations(tmp_path / "wiki.kb", data, systems, options=by_title(rounds=0, personal=True))
    plain, personal = (one.scored(STRICT, "all").el for one in found.results)
    assert personal.correct > plain.correct, "they count where they are asked for"


def test_a_run_of_conel_is_scored_by_strings_as_written(two, talks, rows):
    found = study_conversations(two, [talks], None, [rows], FAST)
    (result,) = found.results
    assert [one.matching for one in result.scores] == ["string", "string"]
    assert counts(found, "rows", STRING) == {
        "md": Counts(3, 4, 6),
        "md_linked": Counts(3, 4, 5),
        "el": Counts(1, 4, 5),
    }
    assert counts(found, "rows", STRING, "covered")["el"] == Counts(1, 3, 3)


def test_a_linker_links_the_turns(two, talks):
    """Names in the turns of USER: Boom twice, Harwich, Crew, Line. Boom and Crew are right."""
    found = study_conversations(two, [talks], [ConfiguredSystem("names", "lexical")], options=FAST)
    assert counts(found, "names", STRICT)["md"] == Counts(4, 5, 6)
    assert counts(found, "names", STRICT)["el"] == Counts(2, 5, 5)
    assert counts(found, "names", STRING)["el"] == Counts(2, 4, 5)
    blame = found.result("names", "talks").blame[0]
    assert blame.misses == {"not in the knowledge base": 2, "right entity not among the candidates": 1}


def test_a_linker_does_not_see_the_gold(two, talks, monkeypatch):
    from entlink.linking.linker import Linker

    seen = []
    link = Linker._link_batch

    def watch(linker, documents):
        seen.extend(documents)
        return link(linker, documents)

    monkeypatch.setattr(Linker, "_link_batch", watch)
    study_conversations(two, [talks], [ConfiguredSystem("names", "lexical")], options=FAST)
    assert [document.id for document in seen] == ["c1", "c2"]
    assert all(not document.gold and document.mentions is None for document in seen)
    assert [len(document.turns) for document in seen] == [3, 1]


def test_turns_of_a_speaker(two, tmp_path):
    told = [{"dialogue_id": "c", "turns": [turn(0, "ana", "Boom", [("Boom", "Boom")]), turn(1, "ben", "Crew", [])]}]
    path = write_json(tmp_path / "two-speak.json", told)
    names = [ConfiguredSystem("names", "lexical")]
    both = study_conversations(two, [path], names, options=FAST)
    assert counts(both, "names", STRICT, set="two-speak")["el"] == Counts(1, 2, 1)
    only = study_conversations(two, [path], names, options=by_title(rounds=0, turns=("ANA",)))
    assert counts(only, "names", STRICT, set="two-speak")["el"] == Counts(1, 1, 1)
    assert only.sets[0].turns == 1
    with pytest.raises(ConfigError, match="has no turn of 'eve'; in it speak 'ana', 'ben'"):
        study_conversations(two, [path], names, options=by_title(turns=("ana", "eve")))
    with pytest.raises(InputError, match="no document has gold links"):
        study_conversations(two, [path], names, options=by_title(turns=("ben",)))


def test_intervals_are_over_conversations_and_the_same_twice(two, talks, said):
    options = by_title(rounds=50, seed=3)
    found = study_conversations(two, [talks], None, [said], options)
    interval = found.result("said", "talks").scored(STRICT, "all").md.intervals.f1
    # A draw is c1 twice (8/10), both (10/13), or c2 twice (2/3): of 50 draws, each stands a good dozen times.
    assert (interval.low, interval.high) == (pytest.approx(2 / 3), pytest.approx(8 / 10))
    again = study_conversations(two, [talks], None, [said], options)
    assert msgspec.json.encode(found) == msgspec.json.encode(again)


def test_files_under_one_name_are_one_set(two, tmp_path, talks):
    other = write_json(
        tmp_path / "more.json",
        [{"dialogue_id": "c3", "turns": [turn(0, "USER", "A Crew.", [("Crew", "Crew")])]}],
    )
    names = [ConfiguredSystem("names", "lexical")]
    found = study_conversations(two, [f"all={talks}", f"all={other}", other], names, options=FAST)
    assert [(one.name, one.conversations) for one in found.sets] == [("all", 3), ("more", 1)]
    assert counts(found, "names", STRICT, set="all")["el"] == Counts(3, 6, 6)
    with pytest.raises(InputError, match="two conversations with the id 'c3'"):
        study_conversations(two, [f"all={other}", f"all={other}"], names)


def test_the_rewritten_conversations_of_conel1_are_not_counted(two, tmp_path):
    """Published scores of conel1-all are without them."""
    told = [
        {"dialogue_id": "1", "dataset_name": name, "turns": [turn(0, "USER", "A Crew.", [("Crew", "Crew")])]}
        for name in ("cast20raw", "cast20manu")
    ]
    path = write_json(tmp_path / "ConEL_CNE.json", told)
    names = [ConfiguredSystem("names", "lexical")]
    found = study_conversations(two, [path], names, options=FAST)
    assert (found.sets[0].name, found.sets[0].conversations) == ("conel1-all", 1)
    assert "conel1-all: 1 conversations of cast20manu left out" in found.notes
    run = [
        {**one, "turns": {"0": {"turn_number": 0, "el_tool_annotations": [{"mention": "Crew", "entity": "Crew"}]}}}
        for one in told
    ]
    source = RunSource("other", write_json(tmp_path / "run.json", run))
    found = study_conversations(two, [path], None, [source], FAST)
    assert counts(found, "other", STRING, set="conel1-all")["el"] == Counts(1, 1, 1)
    found = study_conversations(two, [f"cne={path}"], None, [source], FAST)
    assert counts(found, "other", STRING, set="cne")["el"] == Counts(2, 2, 2)


def test_published_rows_stand_beside_a_set_of_that_name(two, talks, rows):
    found = study_conversations(two, [f"conel2-val={talks}"], None, [rows], FAST)
    table = conversation_tables(found)[1]
    assert table.columns == ("system", "conel2-val MD", "conel2-val EL")
    assert [group.title for group in table.groups] == [
        "runs of other systems, scored here",
        "published, with all of Wikipedia as the knowledge base",
    ]
    published = {row[0]: row[1:] for row in table.groups[1].rows}
    assert published["CREL"] == (0.742, 0.651)
    assert published["ELQ fine-tuned"] == (0.706, 0.617)
    assert len(published) == 8
    plain = study_conversations(two, [talks], None, [rows], FAST)
    assert plain.published == ()
    assert any("name a set conel1-all, conel2-val, conel2-test" in note for note in plain.notes)


def test_without_published_figures_that_is_told(two, talks, rows, monkeypatch):
    monkeypatch.setattr("entlink.studies.data.published_folder", lambda: None)
    found = study_conversations(two, [f"conel2-val={talks}"], None, [rows], FAST)
    assert any("published figures are not there" in note for note in found.notes)


def test_tables_and_figures(two, talks, said, rows):
    names = [ConfiguredSystem("names", "lexical")]
    found = study_conversations(two, [talks], names, [said, rows], FAST)
    sets, four, scores, losses, wrong = conversation_tables(found)
    assert sets.rows == [("talks", 2, 3, 6, 3, 6, 3, 1)]
    assert [row[0] for row in four.rows] == ["names", "said", "rows"]
    assert [group.title for group in scores.groups] == [
        "strict spans, all gold",
        "strict spans, covered gold",
        "strings of ConEL, all gold",
        "strings of ConEL, covered gold",
    ]
    assert [row[0] for row in scores.groups[0].rows] == ["said", "names"]  # rows has no places
    assert scores.groups[0].rows[0][1:3] == (5 / 7, 5 / 6)
    by_name = {row[0]: dict(zip(losses.columns, row, strict=True)) for row in losses.groups[0].rows}
    assert by_name["names"]["no candidate"] == 1
    assert by_name["said"]["not in the KB"] == 2
    assert "ranked wrong" not in losses.columns  # nobody's
    assert wrong.columns[0] == "system"
    lines = {line[:4]: line.value for line in conversation_lines(found)}
    assert lines["strict, covered gold", "said", "talks", "el predicted"] == 4
    assert lines["losses, strict", "said", "talks", "not in the knowledge base"] == 2


class Missing:
    """A system whose model is not there, which only loading tells."""

    name, is_end_to_end = "absent", True

    def prepare(self, kb):
        return []

    def load(self, folder, types, detector=None):
        raise MissingModelError("there is no model 'absent' here")

    def encoders(self, linker):
        return {}


def test_a_system_without_its_model_says_why_and_the_others_go_on(two, talks):
    dense = ConfiguredSystem("dense", LinkerConfig(retriever=[{"name": "dense"}]))
    found = study_conversations(two, [talks], [Missing(), dense, ConfiguredSystem("names", "lexical")], options=FAST)
    absent, without, names = found.results
    assert absent.why == "there is no model 'absent' here"
    assert "minilm" in without.why
    assert absent.scores == without.scores == ()
    assert names.scores
    assert "absent has no scores: there is no model 'absent' here" in found.notes
    assert conversation_tables(found)[1].rows[0] == ("absent", None, None)


def test_a_wrong_configuration_is_told_before_anything_is_linked(two, talks):
    linked = []
    systems = [
        ConfiguredSystem("names", "lexical"),
        ConfiguredSystem("wrong", LinkerConfig(ranker={"name": "priority"})),
    ]
    with pytest.raises(ConfigError, match="priority"):
        study_conversations(two, [talks], systems, progress=lambda *told: linked.append(told))
    assert linked == []


def test_a_linker_that_sees_later_turns_is_told(two, talks):
    whole = ConfiguredSystem("whole", LinkerConfig(conversation=ConversationConfig(as_whole=True)))
    found = study_conversations(two, [talks], [whole, ConfiguredSystem("names", "lexical")], options=FAST)
    assert [note for note in found.notes if "later turns" in note] == [
        "whole links a conversation as a whole: it sees later turns, too"
    ]


def test_progress_is_told(two, talks):
    told = []
    names = [ConfiguredSystem("names", "lexical")]
    study_conversations(two, [talks], names, options=FAST, progress=lambda *one: told.append(one))
    assert told == [("names, talks", 1, 2), ("names, talks", 2, 2)]


def test_names_must_differ(two, talks, rows):
    names = ConfiguredSystem("names", "lexical")
    with pytest.raises(ConfigError, match="two systems are called 'names'"):
        study_conversations(two, [talks], [names, names])
    with pytest.raises(ConfigError, match="two runs on the set 'talks' are called 'rows'"):
        study_conversations(two, [talks], None, [rows, rows])


def test_what_is_no_set_of_conversations(two, tmp_path, gold, rows):
    with pytest.raises(InputError, match="no document has turns"):
        study_conversations(two, [gold])
    with pytest.raises(SourceError, match="has no offsets"):
        study_conversations(two, [rows.path])
    with pytest.raises(InputError, match="there is no set"):
        study_conversations(two, [])
    with pytest.raises(InputError):
        study_conversations(two, [tmp_path / "nowhere.json"])


def test_an_unknown_knowledge_base(tmp_path, talks):
    with pytest.raises(KnowledgeBaseError):
        study_conversations(tmp_path / "nowhere.kb", [talks], [ConfiguredSystem("names", "lexical")])


def test_limit_takes_the_first(two, talks, said):
    found = study_conversations(two, [talks], None, [said], by_title(rounds=0, limit=1))
    assert found.sets[0].left_out == {"personal mentions": 1, "conversations over the limit": 1}
    assert counts(found, "said", STRICT)["md"] == Counts(4, 6, 4)
