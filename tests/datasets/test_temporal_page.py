"""The commands and the Python of docs/temporal-datasets.md run, and its tables are those of the code."""

from __future__ import annotations

import re

import pytest
from test_datasets_page import _FENCE, ROOT, project, run_console

from entlink.datasets.temporal.options import TABLE_1, TemporalOptions, read_temporal_options
from entlink.datasets.temporal.rows import TemporalRow

PAGE = (ROOT / "docs" / "temporal-datasets.md").read_text(encoding="utf8")
_ROW = re.compile(r"^\| `(\w+)` \| .* \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)

__all__ = ["project"]


def test_the_examples_run_one_after_the_other(project, capsys):
    shown = 0
    for match in _FENCE.finditer(PAGE):
        if match[1] == "console":
            shown += run_console(match[2], capsys)
        else:
            exec(compile(match[2], "docs/temporal-datasets.md", "exec"), {})
            assert "[ floodland ] Aurora_River continual" in capsys.readouterr().out
    assert shown == 1


def test_every_attribute_is_explained_in_order():
    section = PAGE.split("## Rows")[1].split("## Settings")[0]
    cells = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    names = [name.strip().strip("`") for cell in cells for name in cell.split(",")]
    assert names == list(TemporalRow.__struct_fields__)


def told(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "/".join(map(str, value)) if isinstance(value, tuple) else str(value).replace("None", "none")


@pytest.mark.parametrize("preset", ["tempel", "tempel-small"])
def test_every_setting_is_in_the_table_with_its_values(preset):
    options = read_temporal_options(preset)
    listed = {row[0]: row[1 if preset == "tempel" else 2] for row in _ROW.findall(PAGE)}
    assert listed == {name: told(getattr(options, name)) for name in TemporalOptions.__struct_fields__}
    assert list(listed)[:15] == list(TABLE_1)


def test_every_filter_is_named():
    from entlink.datasets.temporal.datasheet import _FILTERS

    section = PAGE.split("## Filters")[1].split("## What the paper")[0]
    for name in _FILTERS:
        assert f"`{name}`" in section
