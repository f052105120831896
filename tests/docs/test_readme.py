"""The commands and the Python of the README run, and print what it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from entlink_cli import main
from fenced import ROOT, blocks

README = (ROOT / "README.md").read_text(encoding="utf8")


class Step(NamedTuple):
    """A command and the lines shown below it."""

    command: str
    shown: list[str]


def steps() -> list[Step]:
    found: list[Step] = []
    for block in blocks(README, "console"):
        for line in block.text.splitlines():
            if line.startswith("$ "):
                found.append(Step(line.removeprefix("$ "), []))
            else:
                found[-1].shown.append(line)
    return found


def expanded(words: list[str]) -> list[str]:
    """The words as a shell hands them on, with file names in place of patterns."""
    return [name for word in words for name in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder that looks like the project's own, in which files can be made."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def without_figures(line: str) -> str:
    """A line less its spaces and numbers: what a fit of weights may move a little."""
    return " ".join(re.sub(r"\d+\.\d+|\d+%", "#", line).split())


def agree(printed: list[str], shown: list[str], *, figures: bool) -> bool:
    """Whether lines are those shown; a line `…` is any lines, and one that ends with it the beginning of one."""
    as_read = str if figures else without_figures
    rest = iter([as_read(line) for line in printed])
    skipping = False
    for line in shown:
        if line.strip() == "…":
            skipping = True
            continue
        wanted, cut = as_read(line.removesuffix("…").rstrip(" ")), line.endswith("…")
        found = (one for one in rest if (one.startswith(wanted) if cut else one == wanted))
        one = next(found, None) if skipping else next(rest, None)
        if one is None or not (one.startswith(wanted) if cut else one == wanted):
            return False
        skipping = False
    return skipping or next(rest, None) is None


def test_lines_agree_or_do_not():
    assert agree(["a 0.51", "b", "c"], ["a 0.5…", "…", "c"], figures=True)
    assert agree(["a  0.51"], ["a 0.98"], figures=False)
    assert not agree(["a", "b"], ["a"], figures=True)
    assert not agree(["a"], ["a", "b"], figures=True)
    assert not agree(["a", "b"], ["…", "c"], figures=True)
    assert not agree(["a 0.5"], ["a 0.6"], figures=True)


def test_the_commands_do_what_the_readme_shows(project, capsys):
    ran = 0
    for command, shown in steps():
        program, *words = shlex.split(command, comments=True)
        if program == "entlink":
            assert main(expanded(words)) == 0, command
            printed = capsys.readouterr().out.splitlines()
            if shown:
                assert agree(printed, shown, figures=words[0] != "explain"), (command, printed)
                ran += 1
    assert ran >= 5


def test_the_shown_texts_are_those_that_the_commands_before_them_print(project, capsys):
    views = [block.text.splitlines() for block in blocks(README, "text") if "→" in block.text]
    linking = [
        shlex.split(one.command)[1:] for one in steps() if one.command.startswith("entlink link") and not one.shown
    ]
    for kb in (one.command for one in steps() if one.command.startswith("entlink kb build")):
        assert main([*shlex.split(kb)[1:], "--quiet"]) == 0
    assert len(views) == 2
    for words, shown in zip(linking, views, strict=False):
        capsys.readouterr()
        assert main([*words, *(() if "--view" in words else ("--view",))]) == 0
        _, *printed = capsys.readouterr().out.rstrip().splitlines()
        assert agree([line for line in printed if line], [line for line in shown if line], figures=False), printed


def test_the_python_runs(project, capsys):
    (block,) = blocks(README, "python")
    exec(compile(block.text, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert "P-108 Juniper Tent 2" in printed[0]
    assert printed[-4:] == ["['P-112']", "['Wren Mug']", "['Heron Rain Jacket']", "['Heron Rain Jacket']"]


def test_the_first_screen_has_the_two_commands_and_the_picture():
    first = "\n".join(README.splitlines()[:20])
    assert "make demo" in first
    assert "make test" in first
    assert "docs/flow.svg" in first
