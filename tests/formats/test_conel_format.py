"""Dialogues of ConEL-1 and ConEL-2: gold in the whole text, personal entities marked as such."""

from __future__ import annotations

import gzip
import json

import pytest

from entlink.documents import Span, Turn
from entlink.formats.outputs import conel1 as conel1_runs
from entlink.formats.outputs import conel2 as conel_runs
from entlink.formats.public import conel
from format_samples import answers, covered, error_of, skipping, write_json

USER, SYSTEM = "USER", "SYSTEM"


def turn(number, speaker, utterance, **notes):
    return {"speaker": speaker, "utterance": utterance, "turn_number": number, **notes}


ASKS = turn(
    0,
    USER,
    "I like figs. My favourite fruit!",
    el_annotations=[{"mention": "figs", "entity": "Fig", "span": [7, 11]}],
    personal_entity_annotations=[
        {"personal_entity_mention": "My favourite fruit", "explicit_entity_mention": "figs", "entity": "Fig"}
    ],
    personal_entity_annotations_without_eems=[],
)
TELLS = turn(1, SYSTEM, "Figs grow on trees.")
ADDS = turn(
    2,
    USER,
    "My aunt has trees. Trees!",
    el_annotations=[
        {"mention": "Trees", "entity": "Tree", "span": [19, 24]},
        {"mention": "trees", "entity": "Tree", "span": [12, 17]},
    ],
    personal_entity_annotations=[],
    personal_entity_annotations_without_eems=[{"personal_entity_mention": "My aunt"}],
)
DIALOGUE = {"dialogue_id": "7", "turns": [ASKS, TELLS, ADDS]}


def read_one(path, dialogue):
    [document] = conel.read(write_json(path / "d.json", [dialogue]))
    return document


def test_a_dialogue_is_a_conversation_with_gold_in_its_whole_text(tmp_path):
    document = read_one(tmp_path, DIALOGUE)
    assert document.id == "7"
    assert document.turns[:2] == (Turn(ASKS["utterance"], USER), Turn(TELLS["utterance"], SYSTEM))
    assert answers(document) == [
        ("figs", ("Fig",)),
        ("My favourite fruit", ("Fig",)),
        ("Trees", ("Tree",)),
        ("trees", ("Tree",)),
    ]
    start = document.turn_spans[2].start
    assert document.gold[2].span == Span(start + 19, start + 24)


def test_personal_entities_can_be_told_apart(tmp_path):
    document = read_one(tmp_path, DIALOGUE)
    assert [gold.meta for gold in document.gold] == [{}, {"personal": True, "explicit": "figs"}, {}, {}]
    assert document.meta["personal_without_entity"] == [{"turn": 2, "start": 0, "end": 7}]


def test_the_turns_that_were_annotated_are_noted(tmp_path):
    silent = turn(3, USER, "Oh.", el_annotations=[])
    document = read_one(tmp_path, {"dialogue_id": 7, "dataset_name": "wow", "turns": [*DIALOGUE["turns"], silent]})
    assert document.meta["annotated_turns"] == [0, 2, 3]
    assert document.meta["dataset_name"] == "wow"


def test_mentions_without_offsets_are_found(tmp_path):
    notes = [
        {"mention": "ice", "entity": "Ice", "entity_type": "concept"},
        {"mention": "Ice Cream", "entity": "Ice_cream", "entity_type": "concept"},
        {"mention": "ice", "entity": "Ice_(drug)"},
    ]
    dialogue = {"dialogue_id": "8", "turns": [turn(0, USER, "ice cream with ice", el_annotations=notes)]}
    document = read_one(tmp_path, dialogue)
    assert [(gold.span.start, covered(document, gold)) for gold in document.gold] == [
        (15, "ice"),
        (0, "ice cream"),
        (0, "ice"),
    ]
    assert [gold.meta for gold in document.gold] == [{"type": "concept"}, {"type": "concept"}, {}]


def test_a_span_that_takes_in_more_than_the_mention_is_narrowed(tmp_path):
    notes = [{"mention": "figs", "entity": "Fig", "span": [2, 7]}]
    document = read_one(tmp_path, {"dialogue_id": "9", "turns": [turn(0, USER, "a figs.", el_annotations=notes)]})
    assert document.gold[0].span == Span(2, 6)


def test_a_personal_mention_may_mean_nothing(tmp_path):
    """The files of personal mentions say no entity, and ConEL-1 once says that there is none."""
    said = "my dog and my own cat"
    notes = [
        {"personal_entity_mention": "my dog"},
        {
            "personal_entity_mention": "my own cat",
            "explicit_entity_mention": "Tom",
            "turn_number_of_explicit_entity_mention": "(NoCorrespondingEntity)",
            "entity": "(NoCorrespondingEntity)",
        },
    ]
    turns = [turn(0, USER, said, personal_entity_annotations=notes)]
    turns += [
        turn(1, SYSTEM, "Oh", personal_entity_annotations=[]),
        turn(2, USER, "", personal_entity_annotations=[]),
    ]
    document = read_one(tmp_path, {"dialogue_id": "10", "turns": turns})
    assert answers(document) == [("my dog", ()), ("my own cat", ())]
    assert [gold.meta for gold in document.gold] == [{"personal": True}, {"personal": True, "explicit": "Tom"}]
    assert document.meta == {"annotated_turns": [0, 2]}


def test_two_meanings_of_one_personal_mention_are_two_links(tmp_path):
    notes = [
        {
            "personal_entity_mention": "my herbs",
            "explicit_entity_mention": name.lower(),
            "turn_number_of_explicit_entity_mention": 0,
            "entity": name,
        }
        for name in ("Basil", "Thyme")
    ]
    turns = [turn(0, USER, "Basil and thyme are my herbs", personal_entity_annotations=notes)]
    document = read_one(tmp_path, {"dialogue_id": "11", "turns": turns})
    assert answers(document) == [("my herbs", ("Basil",)), ("my herbs", ("Thyme",))]
    assert document.gold[0].meta["explicit_turn"] == 0


def test_a_turn_without_a_text_keeps_the_id_of_its_passage(tmp_path):
    shown = {"speaker": SYSTEM, "manual_canonical_result_id": "CAR_1", "turn_number": 1}
    document = read_one(tmp_path, {"dialogue_id": "12", "turns": [turn(0, USER, "Hi", el_annotations=[]), shown]})
    assert document.turns[1] == Turn("", SYSTEM)
    assert document.meta["result_ids"] == {"1": "CAR_1"}


def test_an_id_that_two_datasets_share_is_told_apart(tmp_path):
    dialogues = [
        {"dialogue_id": id, "dataset_name": name, "turns": []}
        for id, name in ((81, "raw"), ("81", "manual"), (9, "raw"))
    ]
    found = list(conel.read(write_json(tmp_path / "d.json", dialogues)))
    assert [document.id for document in found] == ["raw/81", "manual/81", "9"]
    runs = [{**dialogue, "turns": {}} for dialogue in dialogues]
    assert [one.id for one in conel1_runs.read(write_json(tmp_path / "r.json", runs))] == ["raw/81", "manual/81", "9"]


@pytest.mark.parametrize(
    ("notes", "parts"),
    [
        (
            {"el_annotations": [{"mention": "dates", "entity": "Date"}]},
            ["el_annotations[0]", "'dates' does not stand"],
        ),
        (
            {"el_annotations": [{"mention": "figs", "entity": "Fig", "span": [3, 4]}]},
            ["el_annotations[0]", "covers 'a', not 'figs'", "seem to be tokens"],
        ),
        ({"el_annotations": [{"mention": "", "entity": "Fig", "span": [3, 4]}]}, ["not ''"]),
        ({"el_annotations": [{"mention": "figs", "entity": "Fig", "span": [30, 34]}]}, ["lies outside"]),
        (
            {"personal_entity_annotations": [{"personal_entity_mention": "my figs", "entity": "Fig"}]},
            ["personal_entity_annotations[0]", "'my figs' does not stand"],
        ),
        (
            {"personal_entity_annotations_without_eems": [{"personal_entity_mention": "my figs"}]},
            ["personal_entity_annotations_without_eems[0]"],
        ),
    ],
)
def test_a_bad_annotation_is_named_and_its_dialogue_kept(notes, parts, tmp_path):
    good = [{"mention": "We", "entity": "Us"}]
    bad = turn(1, USER, "We all like figs", **{"el_annotations": [], **notes})
    bad["el_annotations"] = bad["el_annotations"] + good
    path = write_json(tmp_path / "d.json", [{"dialogue_id": "13", "turns": [TELLS | {"turn_number": 0}, bad]}])
    message = error_of(conel.read, path)
    assert message.startswith(f"{path}, dialogue '13', turn 1: ")
    assert all(part in message for part in parts)
    [document], told = skipping(conel.read, path)
    assert told == [message]
    assert answers(document) == [("We", ("Us",))]


@pytest.mark.parametrize(
    ("dialogue", "parts"),
    [
        ({"dialogue_id": "14", "turns": [TELLS]}, ["dialogue '14'", "turn_number is 1", "numbered from 0"]),
        ({"dialogue_id": "14"}, ["item 0", "missing required field `turns`"]),
        ({"dialogue_id": "14", "turns": [{"utterance": 3}]}, ["item 0: field turns[0].utterance"]),
    ],
)
def test_a_bad_dialogue_is_named_and_can_be_skipped(dialogue, parts, tmp_path):
    path = write_json(tmp_path / "d.json", [dialogue, DIALOGUE])
    message = error_of(conel.read, path)
    assert message.startswith(f"{path}, ")
    assert all(part in message for part in parts)
    found, told = skipping(conel.read, path)
    assert [document.id for document in found] == ["7"]
    assert told == [message]


def test_a_compressed_file_is_read(tmp_path):
    path = tmp_path / "d.json.gz"
    path.write_bytes(gzip.compress(json.dumps([DIALOGUE]).encode()))
    assert [document.id for document in conel.read(path)] == ["7"]


# Runs


def test_rows_become_links_in_made_up_turns(tmp_path):
    rows = [
        ["90", 2, "ice", "Ice"],
        ["733", 0, "figs", None],
        ["90", 0, "trees", "Tree"],
        ["90", 2, "dates", "Date"],
        ["90", 2, "ice", "Ice"],
    ]
    first, second = conel_runs.read(write_json(tmp_path / "run.json", rows))
    assert (first.id, second.id) == ("90", "733")
    assert [turn.text for turn in first.turns] == ["trees", "", "ice\ndates\nice"]
    assert [(link.mention.text, link.entity, link.score) for link in first.links] == [
        ("trees", "Tree", 1.0),
        ("ice", "Ice", 1.0),
        ("dates", "Date", 1.0),
        ("ice", "Ice", 1.0),
    ]
    for link in first.links:
        assert first.text[link.mention.span.start : link.mention.span.end] == link.mention.text
    assert second.links[0].is_nil
    assert first.meta == {"lacks": "offsets"}


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (["1", -1, "a", "A"], ["turn number -1", "from 0"]),
        (["1", 10**9, "a", "A"], ["turn number 1000000000"]),
        (["1", 0, "", "A"], ["the mention is empty"]),
        (["1", 0, "a"], ["length 4, got 3"]),
        (["1", 0, "a", "A", "B"], ["at most length 4"]),
        (["1", "0", "a", "A"], ["field [1]", "Expected `int`"]),
        ({"dialogue": "1"}, ["Expected `array`"]),
    ],
)
def test_a_bad_row_is_named_and_can_be_skipped(row, parts, tmp_path):
    path = write_json(tmp_path / "run.json", [["1", 0, "a", "A"], row, [2, 0, "b", "B"]])
    message = error_of(conel_runs.read, path)
    assert message.startswith(f"{path}, item 1: ")
    assert all(part in message for part in parts)
    found, told = skipping(conel_runs.read, path)
    assert [document.id for document in found] == ["1", "2"]
    assert told == [message]


def answered(**turns):
    by_number = {
        number.strip("_"): {
            "turn_number": int(number.strip("_")),
            "el_tool_annotations": [{"mention": mention, "entity": entity} for mention, entity in notes],
        }
        for number, notes in turns.items()
    }
    return {"dialogue_id": "5", "dataset_name": "wow", "turns": by_number}


def test_answers_by_turn_become_links(tmp_path):
    path = write_json(tmp_path / "run.json", [answered(_0=[], _2=[("figs", "Fig"), ("ice", "Ice")], _4=[])])
    [document] = conel1_runs.read(path)
    assert [turn.text for turn in document.turns] == ["", "", "figs\nice"]
    assert [(link.mention.text, link.entity) for link in document.links] == [("figs", "Fig"), ("ice", "Ice")]
    assert document.meta == {"dataset_name": "wow", "annotated_turns": [0, 2, 4], "lacks": "offsets"}


def test_a_dialogue_without_answers_is_there_too(tmp_path):
    [document] = conel1_runs.read(write_json(tmp_path / "run.json", [answered(_0=[])]))
    assert (document.id, document.links, document.text) == ("5", (), "")


def test_a_bad_answer_is_named_and_can_be_skipped(tmp_path):
    path = write_json(tmp_path / "run.json", [answered(_3=[("figs", "Fig"), ("", "Nothing")])])
    message = error_of(conel1_runs.read, path)
    assert message.startswith(f"{path}, dialogue '5', turn 3, el_tool_annotations[1]: the mention is empty")
    [document], told = skipping(conel1_runs.read, path)
    assert len(document.links) == 1
    assert told == [message]


# Telling them apart


def heads(tmp_path):
    run = answered(_0=[("figs", "Fig")])
    for indent in (None, 4):
        yield conel, json.dumps([DIALOGUE], indent=indent)
        yield conel_runs, json.dumps([["90", 0, 'a "b"', "A"]], indent=indent)
        yield conel1_runs, json.dumps([run], indent=indent)


def test_each_is_told_by_its_head(tmp_path):
    for module, text in heads(tmp_path):
        for head in (text.encode(), b"\xef\xbb\xbf\n" + text.encode()):
            told = [each for each in (conel, conel_runs, conel1_runs) if each.looks_like(tmp_path / "x.json", head)]
            assert told == [module], text


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"[]",
        b"[[0, 5, 0.5]]",
        b'[["Paris", 3, "Paris"]]',
        b'[[0, 5, "Paris", "Q90", 0.9, 0.9, "LOC"]]'.replace(b"5,", b'"x",'),
        b'[{"id": 1, "turns": []}]',
        b'{"dialogue_id": "1", "turns": []}',
        b'[{"dialogue_id": "1", "turns": []}]',
    ],
)
def test_other_files_are_not_claimed(head, tmp_path):
    assert not any(each.looks_like(tmp_path, head) for each in (conel, conel_runs, conel1_runs))
