"""`entlink datasets list`, `info` and `check` end to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from entlink.datasets.catalogue.catalogue import card, cards, names
from entlink_cli import load_command
from entlink_cli.catalogue import CATALOGUE, FIRST_STEPS, GROUPS

SAMPLES = Path(__file__).parents[2] / "samples"
CHECK = ("datasets", "check")
ROW = {"id": "a", "text": "Mercury is near.", "gold": [{"start": 0, "end": 7, "entity": "planet"}]}


def test_list_has_a_line_for_every_dataset(run):
    done = run("datasets", "list")
    assert (done.code, done.err) == (0, "")
    head, *lines = done.out.splitlines()
    assert head.split() == ["name", "measures", "language", "licence", "splits"]
    assert [line.split()[0] for line in lines] == names()
    for line, about in zip(lines, cards().values(), strict=True):
        assert about.measures in line
        assert about.licence in line
    assert max(map(len, lines)) < 145


def test_list_as_json_has_the_cards(run):
    rows = run("datasets", "list", "--json").json
    assert [row["name"] for row in rows] == names()
    assert rows[0].keys() >= {
        "title",
        "task",
        "languages",
        "source",
        "how_to_get",
        "citation",
        "main_score",
        "splits",
    }


def test_info_shows_the_card(run):
    done = run("datasets", "info", "oke-2015")
    about = card("oke-2015")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"oke-2015: {about.title}\n  measures    {about.measures}\n")
    for said in (about.licence, about.source, about.main_score, about.reader, about.task):
        assert said in done.out
    assert "\nhow to get it:\n  git clone https://github.com/ad-freiburg/elevant\n" in done.out
    train = about.splits[0]
    assert f"  train  {train.file}  95 records   341 gold links  sha256 {train.sha256}\n" in done.out


def test_info_of_an_unknown_checksum_says_so(run):
    assert run("datasets", "info", "kore50").out.endswith(
        "  all  kore50-nif*.ttl  50 records  144 gold links  no checksum\n"
    )


def test_info_as_json(run):
    row = run("datasets", "info", "zhwiki-ambiguous", "--json").json
    assert (row["languages"], row["reader"]) == (["zh"], "hansel")
    assert row["splits"][0]["only"] == {"split": "train"}
    assert row["splits"][0]["records"] == 6984


@pytest.mark.parametrize("words", [("datasets", "info", "oke2015"), (*CHECK, ".", "--dataset", "oke2015")])
def test_an_unknown_dataset_is_one_line(run, words):
    done = run(*words)
    assert (done.code, done.out, done.err.count("\n")) == (3, "", 1)
    assert "no dataset 'oke2015'. Did you mean 'oke-2015'? `entlink datasets list` shows them all" in done.err


def test_check_tells_what_is_in_a_file(run, write_lines, tmp_path):
    path = write_lines(tmp_path / "mine.jsonl", [ROW, {**ROW, "id": "b", "gold": [{"start": 0, "end": 7}]}])
    done = run(*CHECK, path)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:4] == [
        str(path),
        "  dataset  none of the catalogue; the format is jsonl",
        "  records  2",
        "  gold     2 links, 1 entity, 1 NIL, 0 with alternatives, 0 optional, 0 overlapping",
    ]


def test_the_links_of_a_run_are_no_gold(run, tmp_path):
    path = tmp_path / "run.tsv"
    path.write_text("d\t0\t2\tQ1\t0.5\nd\t4\t6\tNIL1\t1.0\n", encoding="utf8")
    assert "\n  links    2 links of a linker, 1 entity, 1 NIL, " in run(*CHECK, path).out
    (file,) = run(*CHECK, path, "--json").json["files"]
    assert file["role"] == "links"


@pytest.mark.parametrize(("name", "role"), [("gold/Val/gold.json", "gold"), ("runs/Val/WAT-W2V.json", "links")])
def test_a_card_says_which_split_of_runs_is_gold(run, tmp_path, name, role):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text('[["7", 0, "figs", "Fig"]]', encoding="utf8")
    out = run(*CHECK, path).out
    assert f"\n  {role:<8} 1 link{' of a linker' if role == 'links' else ''}, 1 entity" in out
    assert f" {role}, and here are 1\n" in out


@pytest.mark.parametrize("group", GROUPS)
def test_help_of_a_group_has_examples_of_its_own(run, group):
    out = run(group, "--help").out
    shown = [line.strip() for line in out.partition("Examples:\n")[2].splitlines() if line.strip()]
    known = {*FIRST_STEPS, *(line for name in CATALOGUE for line in load_command(name).examples)}
    assert shown
    for line in shown:
        assert line.startswith(f"entlink {group} ")
        assert line in known


def test_check_of_a_sample(run):
    row = run(*CHECK, SAMPLES / "article.gold.jsonl", "--json").json
    (file,) = row["files"]
    assert (row["readable"], row["missing"], row["others"]) == (True, [], 0)
    assert (file["told_by"], file["format"], file["parts"]) == ("format", "linked-mentions", [])
    assert file["counts"]["gold"] > 20


def test_check_of_a_folder_with_a_dataset(run, write_lines, tmp_path):
    label = {"id": 0, "span": [0, 7], "entity_id": "Q308", "name": "Mercury", "type": "Q634"}
    row = {"id": 0, "title": "", "text": "Mercury!", "evaluation_span": [0, 8], "labels": [label]}
    write_lines(tmp_path / "oke-2015-train.benchmark.jsonl", [row])
    (tmp_path / "README.md").write_text("About.")
    done = run(*CHECK, tmp_path, "--dataset", "oke-2015")
    assert done.code == 0
    assert "  dataset  oke-2015 train, known by its name; the format is elevant\n" in done.out
    assert "  warning  the checksum is not that of the card: another version, or an altered file\n" in done.out
    assert ", not as on the card\n" in done.out
    assert "  warning  the card of oke-2015 says 95 records, and here are 1\n" in done.out
    assert done.out.endswith("not here of oke-2015: eval\n1 other file left alone\n")
    (file,) = run(*CHECK, tmp_path, "--json").json["files"]
    assert file["parts"] == [{"dataset": "oke-2015", "split": "train"}]


def test_a_file_that_cannot_be_read_is_exit_code_3(run, write_lines, tmp_path):
    path = write_lines(tmp_path / "mine.jsonl", [ROW, {"id": "x"}, *[{"text": 5}] * 9])
    done = run(*CHECK, path, "--format", "jsonl")
    assert done.code == 3
    assert "  unreadable  10 records\n" in done.out
    assert f"    {path}, line 2: the row has neither a text nor turns. Give text" in done.out
    assert done.out.endswith("    …\n")
    assert run(*CHECK, path, "--format", "jsonl", "--json").code == 3
    assert "  dataset     read as jsonl, as asked\n" in done.out
    quiet = run(*CHECK, path, "--format", "jsonl", "--quiet")
    assert (quiet.code, quiet.out) == (3, "")


def test_a_page_saved_in_place_of_a_dataset_is_told(run, tmp_path):
    path = tmp_path / "ConEL22_EL_Val.json"
    path.write_text("<!DOCTYPE html><title>Not found</title>")
    done = run(*CHECK, tmp_path)
    assert done.code == 3
    assert "conel-2 val, known by its name; the format is conel" in done.out
    assert f"    {path}" in done.out


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: None, "no such file or folder. Check the path"),
        (lambda path: path.mkdir(), "no file that can be read as a dataset is here"),
        (lambda path: path.write_bytes(b"\x00\x01"), "the format is not recognised. Name it "),
        (lambda path: path.write_bytes(b" \n"), "the file is empty. Check how it was made"),
    ],
)
def test_nothing_to_read_is_one_line(run, tmp_path, make, told):
    make(tmp_path / "x")
    done = run(*CHECK, tmp_path / "x")
    assert (done.code, done.out, done.err.count("\n")) == (3, "", 1)
    assert told in done.err
