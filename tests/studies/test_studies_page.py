"""The commands and the Python of docs/studies.md run, and its tables name what the code has."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path
from typing import get_args

import pytest

from entlink.studies.candidates.results import How
from entlink.studies.conversations.sets import published_names
from entlink.studies.conversations.tables import WAYS as CONVENTIONS
from entlink.studies.domains import WAYS
from entlink.studies.pictures.results import PARTS
from entlink_cli import load_command, main
from entlink_cli.parsing import command_parser

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf8")


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def block(language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert found
    return "".join(found)


def test_the_commands_and_the_python_run(here, capsys):
    for line in block("console").splitlines():
        words = shlex.split(line.removeprefix("$ "))
        assert words[0] == "entlink"
        assert main(words[1:]) == 0, (line, capsys.readouterr().err)
    assert (here / "worlds.tex").exists()
    test = doctest.DocTestParser().get_doctest(block("python"), {}, "studies", "docs/studies.md", 0)
    told: list[str] = []
    doctest.DocTestRunner().run(test, out=told.append)
    assert told == []


def test_the_tables_name_what_there_is():
    for convention in CONVENTIONS.values():
        assert f"| {convention} |" in PAGE
    for name in published_names():
        assert f"`{name}`" in PAGE
    for way in WAYS:
        assert f"| `{way}` |" in PAGE
    for part in PARTS:
        assert f"| `{part}` |" in PAGE
    for how in get_args(How):
        assert f"`{how}`" in PAGE


def test_every_option_of_the_page_is_one():
    known = {
        option
        for name in (
            *("study candidates", "study unfamiliar-kb", "study conversation", "study time", "study few-shot"),
            *("study pictures", "datasets build captions"),
            *("kb index", "models pull", "datasets build temporal", "datasets convert"),
        )
        for action in command_parser(name, load_command(name))._actions
        for option in action.option_strings
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE)) <= known
