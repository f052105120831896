"""The commands of docs/evaluation.md run, and its tables name what the code has."""

from __future__ import annotations

import shlex

from entlink.evaluation import GoldMatch, Matching, NilRule
from entlink.evaluation.scoring.blame import STAGE_OF
from entlink_cli import main
from fenced import ROOT, blocks, page, table

PAGE = page("evaluation")


def test_the_commands_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    assert main(["kb", "build", "samples/wiki/samplewiki.xml", "-o", "wiki.kb", "--quiet"]) == 0
    (block,) = blocks(PAGE, "console")
    commands = [shlex.split(line.removeprefix("$ "))[1:] for line in block.text.splitlines()]
    assert {words[0] for words in commands} == {"link", "evaluate", "compare", "report"}
    for words in commands:
        assert main(words) == 0, (words, capsys.readouterr().err)
    assert (tmp_path / "report.html").exists()


def test_the_conventions_are_those_of_the_code():
    ways = table(PAGE, "name", "a mention is at gold's place where")
    assert [row["name"].strip("`") for row in ways] == list(Matching)
    rules = table(PAGE, "name", "gold that is NIL", "predictions that are NIL", "an entity predicted on NIL gold")
    assert [row["name"].strip("`") for row in rules] == list(NilRule)
    matches = table(PAGE, "name", "gold and predictions that the knowledge base lacks")
    assert [row["name"].strip("`") for row in matches] == list(GoldMatch)


def test_every_cause_but_those_without_candidates_is_in_the_table():
    causes = {cause for row in table(PAGE, "stage", "cause") for cause in row["cause"].split("; ")}
    assert causes == {cause for cause in STAGE_OF if "were not written" not in cause}
