"""Probing tasks on disk: what is written is read again, and each wrong row is named by its line."""

from __future__ import annotations

import tomllib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.errors import SourceError
from entlink.formats.probes import ProbeCard, ProbeEntity, ProbeExample, read_task, write_task
from entlink.formats.probes.writing import card_text

SENTENCE = "The heron stood by the river."
CARD = ProbeCard(
    name="birds",
    title="Birds or not",
    family="cap",
    kind="classification",
    metric="accuracy",
    representation="context",
    source="written by hand",
    licence="Apache-2.0",
)
HERON, RIVER = ProbeEntity(sentence=SENTENCE, start=4, end=9), ProbeEntity(sentence=SENTENCE, start=23, end=28)
YES = ProbeExample((HERON, HERON), ("same",))
NO = ProbeExample((HERON, RIVER), ("other",))
ROWS = {"train": [YES, NO], "valid": [YES], "test": [NO]}


def written(folder, card=CARD, **changed):
    write_task(folder, card, ROWS | changed)
    return folder


def test_a_task_comes_back_as_it_was_written(tmp_path):
    task = read_task(written(tmp_path / "birds"))
    assert {split: list(rows) for split, rows in task.splits.items()} == ROWS
    assert task.card == msgspec.structs.replace(CARD, sizes={"train": 2, "valid": 1, "test": 1})
    assert task.labels == ("other", "same")


def test_descriptions_that_rows_share_are_written_once(tmp_path):
    entity = ProbeEntity(entity="q1", title="Heron", description="A long-legged bird.")
    card = msgspec.structs.replace(CARD, representation="description")
    rows = {split: [ProbeExample((entity, entity), row.labels) for row in rows] for split, rows in ROWS.items()}
    folder = written(tmp_path / "birds", card, **rows)
    assert (folder / "train.jsonl").read_text().count("long-legged") == 0
    assert (folder / "entities.jsonl").read_text().count("long-legged") == 1
    assert read_task(folder).splits["train"][0].entities == (entity, entity)


CHOICE = msgspec.structs.replace(CARD, family="ned", kind="choice", representation="context-description")
SIMILAR = msgspec.structs.replace(
    CARD, family="esr", kind="similarity", metric="spearman", representation="description"
)
BIRD = ProbeEntity(title="Heron")


@pytest.mark.parametrize(
    ("card", "row", "message"),
    [
        (CARD, ProbeExample((HERON, ProbeEntity(sentence="A heron", start=2, end=9)), ("same",)), "lies outside"),
        (CARD, ProbeExample((HERON, ProbeEntity(sentence="A heron", start=5, end=2)), ("same",)), "ends before"),
        (CARD, ProbeExample((HERON, HERON), ()), "0 labels"),
        (CARD, ProbeExample((HERON, HERON, HERON), ("same",)), "3 entities"),
        (CHOICE, ProbeExample((HERON,), candidates=(BIRD,), gold=1), "gold is 1, and there are 1"),
        (CHOICE, ProbeExample((HERON,), candidates=(BIRD,), gold=None), "gold is None"),
        (CHOICE, ProbeExample((HERON,), candidates=(BIRD,), priors=(0.5, 0.5), gold=0), "2 priors for 1"),
        (CHOICE, ProbeExample((HERON,), candidates=(BIRD,), priors=(1.5,), gold=0), "not between 0 and 1"),
        (CHOICE, ProbeExample((HERON,), candidates=(ProbeEntity(),), gold=0), "neither a title nor"),
        (CHOICE, ProbeExample((HERON,), candidates=(ProbeEntity(entity="q9"),), gold=0), "no entity 'q9'"),
        (SIMILAR, ProbeExample((BIRD, BIRD)), "score is None"),
    ],
)
def test_a_wrong_row_is_named_by_its_line(tmp_path, card, row, message):
    good = {
        "choice": ProbeExample((HERON,), candidates=(BIRD,), gold=0),
        "similarity": ProbeExample((BIRD, BIRD), score=1.0),
    }.get(card.kind, YES)
    written(tmp_path / "birds", card, train=[YES, NO] if card is CARD else [good], valid=[good], test=[good, row])
    with pytest.raises(SourceError, match=message) as caught:
        read_task(tmp_path / "birds")
    assert "test.jsonl, line 2" in str(caught.value)


def test_wrong_rows_can_be_skipped(tmp_path):
    bad = ProbeExample((HERON, HERON), ())
    problems = []
    task = read_task(written(tmp_path / "birds", test=[bad, NO]), on_error="skip", on_problem=problems.append)
    assert task.splits["test"] == (NO,) and len(problems) == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"valid": []}, "valid.jsonl: this split is empty"),
        ({"train": [YES, YES], "test": [YES]}, "one label only, 'same'"),
        ({"test": [ProbeExample((HERON, RIVER), ("near",))]}, "test.jsonl: 1 labels are in no training row: 'near'"),
    ],
)
def test_splits_that_no_probe_can_use(tmp_path, rows, message):
    with pytest.raises(SourceError, match=message):
        read_task(written(tmp_path / "birds", **rows))


def test_the_second_of_a_mention_and_a_description_needs_no_mention(tmp_path):
    card = msgspec.structs.replace(CARD, representation="context-description")
    bird = ProbeEntity(title="Heron", description="A bird that wades.")
    rows = {split: [ProbeExample((HERON, bird), one.labels) for one in own] for split, own in ROWS.items()}
    assert read_task(written(tmp_path / "pairs", card, **rows)).splits["test"][0].entities[1] == bird
    rows["test"] = [ProbeExample((bird, HERON), ("same",))]
    with pytest.raises(SourceError, match=r"test\.jsonl, line 1: the span 0-0 is empty"):
        read_task(written(tmp_path / "turned", card, **rows))


def test_f1_is_of_two_labels(tmp_path):
    card = msgspec.structs.replace(CARD, metric="f1")
    assert read_task(written(tmp_path / "two", card)).labels == ("other", "same")
    with pytest.raises(SourceError, match=r"task\.toml: the metric is f1, and there are 3 labels"):
        read_task(written(tmp_path / "three", card, train=[YES, NO, ProbeExample((HERON, RIVER), ("near",))]))


def test_a_row_with_another_field_and_a_row_without_entities(tmp_path):
    folder = written(tmp_path / "birds")
    (folder / "valid.jsonl").write_text('{"entities": [], "labels": ["same"], "colour": "grey"}\n')
    with pytest.raises(SourceError, match="line 1: a row has no field 'colour'"):
        read_task(folder)
    (folder / "valid.jsonl").write_text('{"labels": ["same"]}\n')
    with pytest.raises(SourceError, match="missing required field `entities`"):
        read_task(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "spearman"}, "does not fit classification"),
        ({"kind": "choice"}, "a choice compares a context with descriptions"),
    ],
)
def test_a_card_whose_parts_do_not_fit(tmp_path, change, message):
    with pytest.raises(SourceError, match=message):
        read_task(written(tmp_path / "birds", msgspec.structs.replace(CARD, **change)))


def test_a_folder_without_a_card(tmp_path):
    with pytest.raises(SourceError, match="there is no task"):
        read_task(tmp_path)


@given(
    notes=st.text(st.characters(codec="utf-8")),
    settings=st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1),
        st.text(st.characters(codec="utf-8")) | st.integers(-9, 9) | st.booleans(),
    ),
)
def test_any_text_can_stand_in_a_card(notes, settings):
    card = msgspec.structs.replace(CARD, notes=notes, settings=settings, sizes={"train": 3})
    assert msgspec.convert(tomllib.loads(card_text(card)), ProbeCard) == card
