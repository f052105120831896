"""The commands and the Python of docs/probe-tasks.md run, and its tables are those of the code."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from entlink.datasets.probes import TASKS, ProbeOptions
from entlink.datasets.probes.ert import PER_RELATION
from entlink.datasets.probes.templates import read_templates
from entlink_cli import main

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "probe-tasks.md").read_text(encoding="utf8")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"built in \d+\.\d s")


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_examples_run_one_after_the_other(project, capsys):
    shown = 0
    for language, text in _FENCE.findall(PAGE):
        if language == "console":
            command, _, expected = text.removeprefix("$ ").partition("\n")
            program, *words = shlex.split(command)
            if program == "sed":
                found = Path(words[-1]).read_text(encoding="utf8").splitlines()[0]
            else:
                assert main(words) == 0
                found = capsys.readouterr().out
            assert _TIME.sub("", found).strip() == _TIME.sub("", expected).strip()
        else:
            told: list[str] = []
            test = doctest.DocTestParser().get_doctest(text, {}, "docs/probe-tasks.md", None, 0)
            doctest.DocTestRunner().run(test, out=told.append)
            assert not told, "".join(told)
        shown += 1
    assert shown == 4


def test_every_task_is_in_the_table_with_what_it_needs():
    section = PAGE.split("## The tasks")[1].split("## Options")[0]
    rows = [line.split("|")[1:4] for line in section.splitlines() if line.startswith("| `")]
    needs = {name: needed for names, _, needed in rows for name in re.findall(r"`([\w-]+)`", names)}
    assert list(needs) == list(TASKS)
    for name, task in TASKS.items():
        assert task.needs_kb <= ("`--kb`" in needs[name]), name
        assert task.needs_vectors == ("`--vectors`" in needs[name]), name


def test_every_option_is_explained():
    named = {one.replace("-", "_") for one in re.findall(r"^\| `--([\w-]+)", PAGE, re.MULTILINE)}
    assert named == {
        name.removesuffix("s") if name == "relations" else name for name in ProbeOptions.__struct_fields__
    }


def test_the_numbers_of_the_page_are_those_of_the_code():
    assert f"for {len(read_templates().relations)} relations" in PAGE
    train, valid, test = PER_RELATION
    assert f"{train} are for training, {valid} for validation and {test} for the test" in PAGE
