"""The commands and the Python of docs/conversation-sets.md run, and its table has the defaults of the code."""

from __future__ import annotations

import re

import pytest
from test_datasets_page import _FENCE, ROOT, project, run_console, run_session

from entlink.datasets.conversations.build import DEFAULTS

PAGE = (ROOT / "docs" / "conversation-sets.md").read_text(encoding="utf8")
_ROW = re.compile(r"^\|[^|]+\| (`--[^|]+) \| ([^|]+) \|$", re.MULTILINE)

__all__ = ["project"]


def test_the_examples_run_one_after_the_other(project, capsys):
    shown = 0
    for match in _FENCE.finditer(PAGE):
        if match[1] == "console":
            shown += run_console(match[2], capsys)
        else:
            run_session(match[2])
    assert shown == 2


def rows() -> list[tuple[str, str]]:
    found = []
    for options, defaults in _ROW.findall(PAGE):
        names = [name.strip().strip("`").removeprefix("--").replace("-", "_") for name in options.split(",")]
        values = [value.strip().strip("`") for value in defaults.split(",")]
        found += zip(names, values, strict=True)
    return found


@pytest.mark.parametrize(("name", "told"), rows())
def test_the_table_has_the_defaults(name, told):
    default = getattr(DEFAULTS, name)
    if told == "none":
        assert not default or default == "none"
    elif told == "a list":
        assert "this link" in default
    else:
        assert str(default) == told


def test_every_bound_is_in_the_table():
    elsewhere = {"domains", "patterns", "languages", "bare_urls", "signs", "unaugmented", "anonymous", "on_error"}
    assert {name for name, _ in rows()} | elsewhere == set(DEFAULTS.__struct_fields__)


def test_every_count_of_the_code_is_on_the_page():
    """Counts are made with names in the code; a name that is not explained is no use."""
    files = (ROOT / "src/entlink/datasets/conversations").glob("*.py")
    code = "\n".join(path.read_text(encoding="utf8") for path in files)
    names = set(re.findall(r'counts\["([^"]+)"\] \+=', code))
    names |= set(
        re.findall(r'return "(\w+)"(?: if|\n)', (ROOT / "src/entlink/datasets/conversations/pruning.py").read_text())
    )
    assert {"labelled", "annotations added", "dropped as trivial", "profane", "short"} <= names
    for name in names:
        assert f"`{name}`" in PAGE
