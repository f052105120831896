"""Runs the examples of two pages, in order and in one folder."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\w+\.\w+)\n")


class Block(NamedTuple):
    language: str
    text: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    text = (DOCS / page).read_text("utf-8")
    for match in FENCE.finditer(text):
        yield Block(match[1], match[2], text.count("\n", 0, match.start()) + 2)


def run(page: str) -> dict[str, Any]:
    """A block that begins with a file's name becomes that file; a pyproject is installed; others are run."""
    names: dict[str, Any] = {"__name__": "__page__"}
    for block in blocks(page):
        if file := FILE_NAME.match(block.text):
            Path(file[1]).write_text(block.text, "utf-8")
        elif block.language == "toml":
            install(tomllib.loads(block.text))
        else:
            assert block.language == "python", f"docs/{page}, line {block.line}: who runs {block.language}?"
            run_python(page, block, names)
    return names


def run_python(page: str, block: Block, names: dict[str, Any]) -> None:
    """As a session when it has prompts, else as a program."""
    if not block.text.startswith(">>>"):
        exec(compile("\n" * (block.line - 1) + block.text, str(DOCS / page), "exec"), names)
        return
    session = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line - 1)
    told: list[str] = []
    doctest.DocTestRunner().run(session, out=told.append, clear_globs=False)
    names.update(session.globs)
    assert not told, "".join(told)


def install(pyproject: dict[str, Any]) -> None:
    """What a package's installation leaves for `importlib.metadata`, in the current folder."""
    project = pyproject["project"]
    folder = Path(f"{project['name']}-{project['version']}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines))
    importlib.invalidate_caches()


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("hashtags", None)


@pytest.mark.usefixtures("own_folder")
def test_plugs():
    for library in ("spacy", "pandas", "polars"):
        pytest.importorskip(library, reason=f"the page uses {library}, which is not installed")
    names = run("plugs.md")
    for linker in (names["linker"], names["shop"]):
        linker.kb.close()


@pytest.mark.usefixtures("own_folder")
def test_how_to_add_a_stage():
    names = run("how-to-add-a-stage.md")
    names["linker"].kb.close()
    names["kb"].close()


def test_a_page_that_shows_a_wrong_value_is_caught():
    with pytest.raises(AssertionError, match="Expected"):
        run_python("plugs.md", Block("python", ">>> 1 + 1\n3\n", 1), {})
