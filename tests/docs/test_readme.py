"""The commands and the Python of the README run, and print what it shows."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

import msgspec
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


def test_the_commands_do_what_the_readme_shows(project, capsys):
    ran = 0
    for command, shown in steps():
        program, *words = shlex.split(command, comments=True)
        if program == "entlink":
            assert main(expanded(words)) == 0, command
            printed = capsys.readouterr().out
            if shown:
                assert printed.splitlines() == shown, command
                ran += 1
    assert ran >= 5


def test_the_shown_links_of_the_chat_are_those_found(project, capsys):
    assert main(["kb", "build", "samples/products.csv", "-o", "shop.kb", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["link", "shop.kb", "samples/chat.txt", "--json"]) == 0
    row = msgspec.json.decode(capsys.readouterr().out)
    found = [f"  {one['text']} → {one['title']} ({one['entity']}) {one['score']:.2f}" for one in row["links"]]
    view, _ = (block for block in blocks(README, "text") if "→" in block.text)
    assert [line for line in view.text.splitlines() if "→" in line] == found


def test_the_shown_links_by_context_are_those_found(project, capsys, machine_models):
    pytest.importorskip("onnxruntime")
    from entlink.encoders.models.store import is_installed

    if not is_installed("minilm"):
        pytest.skip("minilm is not in the store: entlink models pull minilm")
    assert main(["kb", "build", "samples/products.csv", "-o", "shop.kb", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["link", "shop.kb", "samples/chat.txt", "--json", "--config", "zero-shot"]) == 0
    row = msgspec.json.decode(capsys.readouterr().out)
    found = [f"  {one['text']} → {one['title']} ({one['entity']})" for one in row["links"]]
    _, view = (block for block in blocks(README, "text") if "→" in block.text)
    shown = [line for line in view.text.splitlines() if "→" in line]
    assert len(shown) == 3
    assert set(shown) <= set(found)


def test_the_python_runs(project, capsys):
    (block,) = blocks(README, "python")
    exec(compile(block.text, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert "Juniper Tent 2 P-108" in printed[0]
    assert printed[-4:] == ["['P-112']", "['Wren Mug']", "['Heron Rain Jacket']", "['Heron Rain Jacket']"]


def test_the_first_screen_has_the_two_commands_and_the_picture():
    first = "\n".join(README.splitlines()[:20])
    assert "make demo" in first
    assert "make test" in first
    assert "docs/flow.svg" in first
