"""`entlink evaluate` and `entlink compare` as a user meets them."""

from __future__ import annotations

import json

import pytest

from entlink.evaluation import Matching, NilRule, read_evaluation
from entlink_cli import scoring

TEXT = "Mercury is near the Sun. NASA sent a probe to Mercury."
GOLD = [
    {"start": 0, "end": 7, "entity": "mercury-planet"},
    {"start": 20, "end": 23, "entity": "sun"},
    {"start": 25, "end": 29, "entity": "Q23548", "meta": {"title": "NASA"}},
    {"start": 46, "end": 53, "entity": "atlantis"},
]


def links(*answers: tuple[int, int, str | None]) -> list[dict]:
    return [{"start": start, "end": end, "entity": entity, "score": 0.9} for start, end, entity in answers]


ANSWERS = links((0, 7, "mercury-planet"), (20, 23, "mercury-element"), (25, 29, "nasa"), (37, 42, "sun"))


@pytest.fixture
def files(tmp_path, write_lines):
    """Gold, two runs, and one file that holds both."""
    document = {"id": "d", "text": TEXT}
    write_lines(tmp_path / "gold.jsonl", [{**document, "gold": GOLD}])
    write_lines(tmp_path / "a.jsonl", [{**document, "links": ANSWERS}])
    write_lines(tmp_path / "b.jsonl", [{**document, "links": ANSWERS[:2]}])
    write_lines(tmp_path / "both.jsonl", [{**document, "gold": GOLD, "links": ANSWERS}])
    return tmp_path


def test_scores_come_with_convention_and_interval(files, run):
    ran = run("evaluate", files / "gold.jsonl", files / "a.jsonl")
    assert ran.code == 0
    assert "convention: strict, nil-ignored" in ran.out
    assert "EL" in ran.out
    assert "[" in ran.out
    assert "0.250" in ran.out  # one of four


def test_intervals_over_few_documents_are_doubted(files, run):
    assert "1 tell little of chance" in run("evaluate", files / "gold.jsonl", files / "a.jsonl").out
    assert "tell little" not in run("evaluate", files / "gold.jsonl", files / "a.jsonl", "--rounds", "0").out


def test_json_has_the_tasks_with_micro_and_macro(files, run):
    ran = run("evaluate", files / "gold.jsonl", files / "a.jsonl", "--json")
    found = json.loads(ran.out)
    for task, correct in (("md", 3), ("ed", 1 + 1), ("el", 1)):
        micro, macro = found[task]["micro"], found[task]["macro"]
        assert micro["precision"] == micro["recall"] == micro["f1"] == correct / 4, task
        assert set(macro) >= {"precision", "recall", "f1", "over"}
        assert found[task]["convention"].startswith("strict")
    assert found["convention"]["name"] == "strict, nil-ignored"
    assert found["version"]
    assert found["command"].startswith("entlink evaluate")
    assert len(found["gold"]["sha256"]) == 64


def test_one_file_may_hold_gold_and_predictions(files, run):
    whole = json.loads(run("evaluate", files / "both.jsonl", "--json").out)
    apart = json.loads(run("evaluate", files / "gold.jsonl", files / "a.jsonl", "--json").out)
    assert whole["el"] == apart["el"]


def test_a_knowledge_base_joins_names_and_tells_coverage(files, run, toy):
    words = ("evaluate", files / "gold.jsonl", files / "a.jsonl", "--kb", toy, "--match-gold", "title")
    found = json.loads(run(*words, "--json").out)
    assert found["el"]["micro"]["correct"] == 2  # NASA by its title, though gold has a QID
    assert (found["coverage"]["covered_links"], found["coverage"]["links"]) == (3, 4)
    assert found["coverage"]["examples"] == ["atlantis"]
    assert found["blame"]["misses"]["not in the knowledge base"] == 1
    assert "toy.kb knows 3 of 4" in run(*words).out


def test_every_rule_for_nil_side_by_side(files, run):
    ran = run("evaluate", files / "gold.jsonl", files / "a.jsonl", "--all-nil-rules", "--rounds", "0")
    for rule in ("nil-ignored", "nil-required", "nil-errors", "nil-gold-dropped"):
        assert f"strict, {rule}" in ran.out


def test_an_evaluation_is_saved_and_read_again(files, run):
    ran = run("evaluate", files / "gold.jsonl", files / "a.jsonl", "-o", files / "run.json", "--name", "first")
    assert ran.code == 0
    found = read_evaluation(files / "run.json")
    assert (found.name, found.predictions.name, found.el.micro.correct) == ("first", "a.jsonl", 1)


def test_compare_takes_saved_runs_or_predictions(files, run):
    for name in "ab":
        run("evaluate", files / "gold.jsonl", files / f"{name}.jsonl", "-o", files / f"{name}.json")
    saved = run("compare", files / "a.json", files / "b.json", "--json")
    fresh = run("compare", files / "a.jsonl", files / "b.jsonl", "--gold", files / "gold.jsonl", "--json")
    assert json.loads(saved.out)["tasks"] == json.loads(fresh.out)["tasks"]
    precision = json.loads(saved.out)["tasks"]["el"][0]
    assert (precision["measure"], precision["a"], precision["b"]) == ("precision", 0.25, 0.5)
    shown = run("compare", files / "a.json", files / "b.json")
    assert "A a, B b: 1 document" in shown.out
    assert "+0.250" in shown.out


def test_files_that_hold_their_gold_are_compared_by_it(files, run, write_lines):
    rows = [{"id": "d", "text": TEXT, "gold": GOLD, "links": ANSWERS[:2]}]
    write_lines(files / "fewer.jsonl", rows)
    ran = run("compare", files / "both.jsonl", files / "fewer.jsonl", "--json")
    assert json.loads(ran.out)["tasks"]["el"][0]["b"] == 0.5
    other = [{**GOLD[0], "entity": "mercury-element"}, *GOLD[1:]]
    write_lines(files / "other.jsonl", [{**rows[0], "gold": other}])
    ran = run("compare", files / "both.jsonl", files / "other.jsonl")
    assert (ran.code, "not of the same gold" in ran.err) == (3, True)


def test_runs_of_other_gold_or_convention_are_not_compared(files, run, write_lines):
    write_lines(files / "less.jsonl", [{"id": "d", "text": TEXT, "gold": GOLD[:1]}])
    run("evaluate", files / "gold.jsonl", files / "a.jsonl", "-o", files / "a.json")
    run("evaluate", files / "less.jsonl", files / "b.jsonl", "-o", files / "b.json")
    run("evaluate", files / "gold.jsonl", files / "b.jsonl", "-o", files / "weak.json", "--match", "weak")
    ran = run("compare", files / "a.json", files / "b.json")
    assert (ran.code, "not of the same gold" in ran.err) == (3, True)
    ran = run("compare", files / "a.json", files / "weak.json")
    assert (ran.code, "conventions differ" in ran.err) == (3, True)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "the file is empty"),
        ('{"id": "x", "text": "Mercury"}\n', "1 of 1 gold documents have no predictions ('d')"),
        ('{"id": "d", "text": "Other"}\n', "different texts from character 0 on"),
        ('{"id": "d", "text": "Mercury", "links": [{"start": 0, "end": 70}]}\n', "lies outside"),
        ('{"id": "d", "text": "x", "links": [{"start": 0, "end": 1, "score": NaN}]}\n', "line 1: NaN is no number"),
        ('{"id": "d", "text": "cut off', "line 1: the JSON is bad or cut off"),
        ("%PDF-1.4", "the format is not recognised"),
        ('{"id": "d"}'.encode("utf-16"), "the file is in UTF-16"),
        (b'{"id": "d", "text": "Z\xfcrich"}', "0xfc, is not valid UTF-8"),
    ],
)
def test_bad_predictions_are_told(files, run, rows, message):
    (files / "bad.jsonl").write_bytes(rows if isinstance(rows, bytes) else rows.encode())
    ran = run("evaluate", files / "gold.jsonl", files / "bad.jsonl")
    assert ran.code == 3
    assert message in ran.err


def test_gold_with_offsets_in_bytes_or_tokens_is_told(files, run, write_lines):
    text = "Zürich, Genève, Paris"
    for span, unit in (((18, 23), "bytes"), ((2, 3), "tokens")):
        gold = [{"start": span[0], "end": span[1], "text": "Paris", "entity": "paris"}]
        write_lines(files / "odd.jsonl", [{"id": "d", "text": f"{text} in May", "gold": gold}])
        ran = run("evaluate", files / "odd.jsonl", files / "a.jsonl")
        assert (ran.code, f"count {unit}" in ran.err) == (3, True)


def test_a_bad_row_can_be_left_out_and_is_noted(files, run):
    rows = (files / "a.jsonl").read_text(encoding="utf8")
    (files / "half.jsonl").write_text(f"{rows}not json\n", encoding="utf8")
    ran = run("evaluate", files / "gold.jsonl", files / "half.jsonl", "--on-error", "skip")
    assert ran.code == 0
    assert "1 records of half.jsonl are bad and left out" in ran.out


def test_a_run_that_is_none_is_told(files, run):
    (files / "cut.json").write_text('{"kind": "entlink evaluation, version 1", "name": ', encoding="utf8")
    ran = run("compare", files / "cut.json", files / "cut.json")
    assert (ran.code, "not a saved evaluation" in ran.err) == (3, True)
    (files / "new.json").write_text('{"kind": "entlink evaluation, version 9"}', encoding="utf8")
    ran = run("compare", files / "new.json", files / "new.json")
    assert (ran.code, "another version" in ran.err) == (3, True)


def test_a_slice_that_needs_more_is_told(files, run):
    ran = run("evaluate", files / "gold.jsonl", files / "a.jsonl", "--slice", "popular")
    assert (ran.code, "needs --kb" in ran.err) == (3, True)
    ran = run("evaluate", files / "gold.jsonl", files / "a.jsonl", "--slice", "shoe-size")
    assert (ran.code, "there is no slice 'shoe-size'" in ran.err) == (3, True)


def test_nothing_is_written_where_it_cannot_be(files, run):
    ran = run("evaluate", files / "gold.jsonl", files / "a.jsonl", "-o", files / "nowhere" / "run.json")
    assert (ran.code, "there is no folder" in ran.err) == (3, True)


def test_a_file_is_not_scored_against_itself(files, run):
    """A format that holds only gold, or only links, needs its other side."""
    run("datasets", "convert", files / "gold.jsonl", "--to", "nif", "-o", files / "gold.ttl")
    run("datasets", "convert", files / "gold.jsonl", "--to", "neleval", "-o", files / "gold.tsv")
    for words in (("evaluate", files / "gold.ttl"), ("evaluate", files / "gold.tsv")):
        ran = run(*words)
        assert (ran.code, "a file against itself is always right" in ran.err) == (3, True)
    ran = run("compare", files / "gold.ttl", files / "gold.ttl")
    assert (ran.code, "holds only gold" in ran.err) == (3, True)


def test_swapped_files_are_told(files, run):
    ran = run("evaluate", files / "both.jsonl", files / "gold.jsonl")
    assert (ran.code, "swapped" in ran.err) == (3, True)


def test_a_saved_evaluation_is_no_gold(files, run):
    run("evaluate", files / "gold.jsonl", files / "a.jsonl", "-o", files / "run.json")
    ran = run("evaluate", files / "run.json", files / "a.jsonl")
    assert (ran.code, "this is a saved evaluation" in ran.err) == (3, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--without", "persnal"), "no gold link has the field 'persnal'"),
        (("--slice", "meta:nope"), "no document has the field 'nope'"),
        (("--slice", "gold:nope"), "no document has the field 'nope'"),
        (("--macro-by", "nope"), "no document has the field 'nope'"),
    ],
)
def test_a_field_that_is_not_there_is_told(files, run, words, message):
    ran = run("evaluate", files / "gold.jsonl", files / "a.jsonl", *words)
    assert (ran.code, message in ran.err) == (3, True)


def test_evidence_that_no_candidate_has_is_told(files, run, toy):
    run("link", toy, files / "gold.jsonl", "-o", files / "linked.jsonl", "--candidates")
    ran = run("evaluate", files / "gold.jsonl", files / "linked.jsonl", "--evidence", "nope")
    assert (ran.code, "no candidate has the evidence 'nope'" in ran.err) == (3, True)
    ran = run("evaluate", files / "gold.jsonl", files / "linked.jsonl", "--evidence", "prior")
    assert (ran.code, "BLINK's columns" in ran.out) == (0, True)


def test_a_list_of_links_with_other_ids_is_told(files, run):
    run("datasets", "convert", files / "gold.jsonl", "--to", "neleval", "-o", files / "gold.tsv")
    rows = (files / "gold.tsv").read_text(encoding="utf8")
    (files / "other.tsv").write_text(rows.replace("d\t", "zz\t"), encoding="utf8")
    assert run("evaluate", files / "gold.jsonl", files / "gold.tsv", "--rounds", "0").code == 0
    ran = run("evaluate", files / "gold.jsonl", files / "other.tsv")
    assert (ran.code, "have no document in common" in ran.err) == (3, True)


def test_offsets_without_a_text_are_looked_up_in_gold(files, run):
    (files / "far.tsv").write_text("d\t900\t905\tsun\t1.0\tX\n", encoding="utf8")
    ran = run("evaluate", files / "gold.jsonl", files / "far.tsv")
    assert (ran.code, "lies outside the text of 54 characters" in ran.err) == (3, True)


def test_identifiers_that_differ_only_in_writing_are_noted(files, run, write_lines):
    text = "Barack Obama spoke"
    gold = [{"start": 0, "end": 12, "entity": "Barack Obama"}]
    write_lines(
        files / "names.jsonl", [{"id": "d", "text": text, "gold": gold, "links": links((0, 12, "Barack_Obama"))}]
    )
    assert "only in underscores, case" in run("evaluate", files / "names.jsonl").out


def test_leaks_into_the_knowledge_base_are_looked_for_on_demand(files, run, toy):
    found = json.loads(run("evaluate", files / "gold.jsonl", files / "a.jsonl", "--kb", toy, "--leaks", "--json").out)
    assert found["leakage"]["with_passages_of_kb"] == 0
    found = json.loads(run("evaluate", files / "gold.jsonl", files / "a.jsonl", "--kb", toy, "--json").out)
    assert found["leakage"] is None


def test_help_offers_every_convention():
    assert tuple(Matching) == scoring.MATCHINGS
    assert sorted(scoring.NIL_RULES) == sorted(NilRule)
