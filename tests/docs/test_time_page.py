"""The commands of docs/time.md run one after the other and print what the page shows; so does its Python."""

from __future__ import annotations

import re
import shlex

import pytest
from test_pages import run

from entlink_cli import main
from fenced import ROOT, blocks, page

_SIZE = re.compile(r"\d+(?:\.\d+)? [kM]B")


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_print_what_is_shown(here, capsys):
    shown = [part for block in blocks(page("time"), "console") for part in block.text.split("$ ")[1:]]
    assert len(shown) == 6
    for part in shown:
        command, _, expected = part.partition("\n")
        words = shlex.split(command)
        assert words[0] == "entlink" and main(words[1:]) == 0, (command, capsys.readouterr().err)
        assert _lines(capsys.readouterr().out) == _lines(expected), command


def _lines(text: str) -> list[str]:
    """Sizes are not the same everywhere."""
    return [_SIZE.sub("SIZE", line).rstrip() for line in text.splitlines()]


def test_the_python_runs(here):
    names: dict[str, object] = {}
    for block in blocks(page("time"), "python"):
        run(block, "docs/time.md", names)
