"""`entlink datasets build probes` end to end, on the samples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entlink_cli import main

SOURCES = Path(__file__).resolve().parents[2] / "samples" / "probe-sources"


def test_a_task_is_built_and_summed_up(tmp_path, capsys):
    out = tmp_path / "efp"
    assert main(["datasets", "build", "probes", "efp", str(SOURCES / "claims.jsonl"), "-o", str(out)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "covered: 10 of 11 rows (91%)"
    assert "  train     8 rows" in said
    assert (out / "task.toml").is_file()


def test_the_report_as_json_and_few_descriptions_as_a_note(tmp_path, capsys, toy):
    pairs = tmp_path / "ranked.txt"
    pairs.write_text("Sun\n\tNASA\n\tNobody\n\tNothing\n")
    words = ["datasets", "build", "probes", "esr-kore", str(pairs), "--kb", str(toy), "-o", str(tmp_path / "made")]
    assert main([*words, "--json"]) == 0
    done = capsys.readouterr()
    report = json.loads(done.out)
    assert (report["card"]["covered"], report["card"]["of"]) == (1, 3)
    assert "describes few of these entities (33% of the rows)" in done.err


@pytest.mark.parametrize("value", ["1,2", "1,2,x", "0,1,1"])
def test_sizes_that_are_none(value, tmp_path, capsys):
    assert main(["datasets", "build", "probes", "efp", "x", "-o", str(tmp_path / "made"), "--sizes", value]) == 2
    assert "--sizes" in capsys.readouterr().err
