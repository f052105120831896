"""`entlink datasets convert` between the formats that are written."""

from __future__ import annotations

import pytest

from entlink.formats.public import PUBLIC_FORMATS, tell_format
from entlink_cli.datasets_convert import WRITTEN

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


def test_it_writes_to_stdout(gold, run):
    assert run("datasets", "convert", gold, "--to", "neleval", "--quiet").out.startswith("d\t0\t")


def test_what_cannot_be_read_leaves_nothing_behind(tmp_path, run):
    (tmp_path / "bad.jsonl").write_text('{"id": "d"}\n', encoding="utf8")
    ran = run("datasets", "convert", tmp_path / "bad.jsonl", "--to", "nif", "-o", tmp_path / "out.ttl")
    assert ran.code == 3
    assert not (tmp_path / "out.ttl").exists()


def test_bad_records_can_be_left_out(gold, tmp_path, run):
    path = tmp_path / "half.jsonl"
    path.write_text(gold.read_text(encoding="utf8") + "nonsense\n", encoding="utf8")
    ran = run("datasets", "convert", path, "--to", "neleval", "-o", tmp_path / "out.tsv", "--on-error", "skip")
    assert (ran.code, "left out" in ran.err) == (0, True)
