"""The commands and the Python of docs/datasets.md run, and print what it shows."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from entlink.datasets.hyperlinks.build import KINDS, HyperlinkOptions, HyperlinksReport
from entlink_cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "datasets.md").read_text(encoding="utf8")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"built in \d+\.\d s")


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A folder that looks like the project's own, in which files can be made."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    program, *words = shlex.split(command)
    if program == "sed":
        return Path(words[-1]).read_text(encoding="utf8").splitlines()[int(words[1][:-1]) - 1]
    assert program == "entlink"
    assert main(words) == 0, command
    return _TIME.sub("built in … s", capsys.readouterr().out.strip())


def run_console(block: str, capsys: pytest.CaptureFixture[str]) -> int:
    """Run the commands of a block; how many of them show what they print."""
    shown = 0
    for step in block.removeprefix("$ ").split("\n$ "):
        command, _, expected = step.strip().partition("\n")
        found = printed(command, capsys)
        if expected:
            assert found == _TIME.sub("built in … s", expected), command
            shown += 1
    return shown


def run_session(block: str) -> None:
    test = doctest.DocTestParser().get_doctest(block, {}, "docs/datasets.md", None, 0)
    told: list[str] = []
    doctest.DocTestRunner().run(test, out=told.append)
    assert not told, "".join(told)


def test_the_examples_run_one_after_the_other(project, capsys):
    shown = 0
    for match in _FENCE.finditer(PAGE):
        if match[1] == "console":
            shown += run_console(match[2], capsys)
        else:
            run_session(match[2])
    assert shown >= 4


def test_the_page_names_every_kind_and_count():
    for kind in KINDS:
        assert re.search(rf"[`,]{kind}[`,]", PAGE)
    assert f"The default is `{','.join(HyperlinkOptions().kinds)}`" in PAGE
    for name in HyperlinksReport.__struct_fields__[6:]:
        assert f"`{name}`" in PAGE
