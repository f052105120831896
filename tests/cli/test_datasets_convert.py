"""`entlink datasets convert` between the formats that are written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from entlink.formats.public.catalogue import PUBLIC_FORMATS, tell_format
from entlink_cli.datasets.convert import WRITTEN

DOCS = Path(__file__).parents[2] / "docs"
GOLD = [
    {"start": 0, "end": 7, "entity": "Q308"},
    {"start": 20, "end": 23, "entity": None},
]


@pytest.fixture
def gold(tmp_path, write_lines):
    return write_lines(tmp_path / "gold.jsonl", [{"id": "d", "text": "Mercury is near the Sun.", "gold": GOLD}])


def test_help_names_what_is_written():
    assert set(WRITTEN) == {name for name, each in PUBLIC_FORMATS.items() if each.is_written}


@pytest.mark.parametrize("name", WRITTEN)
def test_gold_comes_through(gold, run, tmp_path, name):
    out = tmp_path / f"out.{name}"
    ran = run("datasets", "convert", gold, "--to", name, "-o", out)
    assert ran.code == 0, ran.err
    assert "1 document, 2 gold links" in ran.err
    assert tell_format(out).name == name
    found = [link for document in tell_format(out).read_as("gold", out) for link in document.gold]
    assert sorted((link.span.start, link.span.end, link.entities) for link in found) == [
        (0, 7, ("Q308",)),
        (20, 23, ()),
    ]


@pytest.fixture
def both(tmp_path, write_lines):
    links = [{"start": 11, "end": 15, "entity": "Q5", "score": 0.5}]
    row = {"id": "d", "text": "Mercury is near the Sun.", "gold": GOLD, "links": links}
    return write_lines(tmp_path / "both.jsonl", [row, {"id": "e", "text": "Sun.", "links": []}])


def test_gold_comes_before_links(both, run):
    assert run("datasets", "convert", both, "--to", "neleval", "--quiet").out.startswith("d\t0\t6\tQ308\t")


@pytest.mark.parametrize("name", WRITTEN)
def test_links_are_written_where_asked_for(both, run, tmp_path, name):
    out = tmp_path / "out"
    ran = run("datasets", "convert", both, "--to", name, "--write", "links", "-o", out)
    assert (ran.code, "2 documents, 0 gold links, 1 link\n" in ran.err) == (0, True)
    found = [link for document in tell_format(out).read_as("links", out) for link in document.links]
    assert [(link.mention.span.start, link.mention.span.end, link.entity) for link in found] == [(11, 15, "Q5")]
    assert not any(document.gold for document in tell_format(out).read_as("links", out))


@pytest.mark.parametrize("name", WRITTEN)
def test_gold_is_written_where_asked_for(both, run, tmp_path, name):
    out = tmp_path / "out"
    assert run("datasets", "convert", both, "--to", name, "--write", "gold", "-o", out).code == 0
    found = list(tell_format(out).read_as("gold", out))
    assert sum(len(document.gold) for document in found) == 2
    assert not any(document.links for document in found)


def test_without_it_our_own_format_has_both(both, run, tmp_path):
    assert run("datasets", "convert", both, "--to", "jsonl", "-o", tmp_path / "out").code == 0
    first, _ = tell_format(tmp_path / "out").read(tmp_path / "out")
    assert (len(first.gold), len(first.links)) == (2, 1)


def test_a_list_of_links_can_be_taken_for_gold(tmp_path, run):
    (tmp_path / "run.json").write_text('[["7", 0, "figs", "Fig"]]', encoding="utf8")
    out = tmp_path / "out.jsonl"
    assert run("datasets", "convert", tmp_path / "run.json", "--to", "jsonl", "--write", "gold", "-o", out).code == 0
    [document] = tell_format(out).read(out)
    assert ([gold.entities for gold in document.gold], document.links) == ([("Fig",)], ())


@pytest.mark.parametrize("name", [name for name in WRITTEN if name != "jsonl"])
def test_meta_that_cannot_be_written_is_told(tmp_path, write_lines, run, name):
    gold = [{"start": 0, "end": 3, "entity": "Q1", "meta": {"type": ["PER"]}}]
    path = write_lines(tmp_path / "gold.jsonl", [{"id": "d", "text": "Ann", "gold": gold}])
    ran = run("datasets", "convert", path, "--to", name, "-o", tmp_path / "out")
    assert (ran.code, ran.err.count("\n")) == (3, 1)
    assert "document 'd': the gold at 0-3, field meta.type: " in ran.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("page", ["formats.md", "linking.md"])
def test_a_public_dataset_is_linked_and_scored_as_the_pages_say(tmp_path, monkeypatch, run, toy, page):
    lines = re.findall(r"^\$ entlink (.*(?:ConEL22|conel\.jsonl).*)$", (DOCS / page).read_text("utf8"), re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["datasets", "link", "evaluate"]
    note = {"mention": "Sun", "entity": "Sun", "span": [4, 7]}
    turn = {"turn_number": 0, "speaker": "USER", "utterance": "The Sun?", "el_annotations": [note]}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ConEL22_EL_Val.json").write_text(json.dumps([{"dialogue_id": "7", "turns": [turn]}]))
    *_, last = [run(*line.replace("my.kb", str(toy)).split()) for line in lines]
    assert last.code == 0
    assert re.search(r"^EL +1\.000 ", last.out, re.MULTILINE)


def test_it_writes_to_stdout(gold, run):
    assert run("datasets", "convert", gold, "--to", "neleval", "--quiet").out.startswith("d\t0\t")


def test_what_cannot_be_read_leaves_nothing_behind(tmp_path, run):
    (tmp_path / "bad.jsonl").write_text('{"id": "d"}\n', encoding="utf8")
    ran = run("datasets", "convert", tmp_path / "bad.jsonl", "--to", "nif", "-o", tmp_path / "out.ttl")
    assert ran.code == 3
    assert not (tmp_path / "out.ttl").exists()


def test_bad_records_can_be_left_out(gold, tmp_path, run):
    path = tmp_path / "half.jsonl"
    path.write_text(gold.read_text(encoding="utf8") + "nonsense\n" * 7, encoding="utf8")
    ran = run("datasets", "convert", path, "--to", "neleval", "-o", tmp_path / "out.tsv", "--on-error", "skip")
    assert (ran.code, ran.err.count("left out: ")) == (0, 6)
    assert "left out: 2 more, 7 in all" in ran.err


@pytest.fixture
def names(run, tmp_path, write_lines):
    """Two entities are called Mercury, the planet by its alias; nobody is called Sun."""
    rows = [{"id": "element", "title": "Mercury"}, {"id": "Q308", "title": "Planet", "aliases": ["Mercury"]}]
    kb = tmp_path / "names.kb"
    assert run("kb", "build", write_lines(tmp_path / "kb.jsonl", rows), "-o", kb, "--quiet").code == 0
    return kb


def test_only_the_few_shot_part(run, names, tmp_path, write_lines):
    text = "Mercury is near the Sun."
    easy = [{"start": 0, "end": 7, "entity": "element"}]
    path = write_lines(
        tmp_path / "g.jsonl", [{"id": "d", "text": text, "gold": GOLD}, {"id": "e", "text": text, "gold": easy}]
    )
    ran = run("datasets", "convert", path, "--to", "jsonl", "--few-shot", names)
    assert [json.loads(line)["id"] for line in ran.out.splitlines()] == ["d"]
    [kept] = json.loads(ran.out)["gold"]
    assert (kept["entity"], kept["start"]) == ("Q308", 0)
    told = [" ".join(line.split()) for line in ran.err.splitlines()]
    assert "entlink: all gold 3 (in-KB 2, NIL 1) 2 (in-KB 1, NIL 1) 2 (in-KB 2, NIL 1) 2" in told
    assert "entlink: few-shot 1 (in-KB 1, NIL 0) 1 (in-KB 1, NIL 0) 1 (in-KB 1, NIL 0) 1" in told


def test_a_few_shot_part_needs_gold_with_names(run, names, tmp_path, gold):
    assert run("datasets", "convert", gold, "--to", "jsonl", "--few-shot", names, "--write", "links").code == 2
    bare = tmp_path / "bare.tsv"
    bare.write_text("d\t0\t6\tQ308\n")
    ran = run("datasets", "convert", bare, "--to", "jsonl", "--write", "gold", "--few-shot", names)
    assert (ran.code, "document 'd': the gold at 0-7 has no text" in ran.err) == (3, True)
