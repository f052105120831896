"""`docs/encoders.md` says what the code does."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from entlink.encoders.loading import load_encoder
from entlink.encoders.models.fetching import RECIPES
from entlink.encoders.models.store import is_installed

PAGE = (Path(__file__).parents[2] / "docs" / "encoders.md").read_text(encoding="utf8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_python_of_the_page_runs(block, tmp_path, monkeypatch, machine_models):
    if '"minilm"' in block and not is_installed("minilm"):
        pytest.skip("minilm is not in the store: entlink models pull minilm")
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "docs/encoders.md", "exec"), {"__name__": "__page__"})


def test_every_setting_is_in_the_table():
    told = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    settings = [name for name in inspect.signature(load_encoder).parameters if name != "spec"]
    assert [name for name in told if name != "spec"] == settings


def test_the_package_is_the_one_that_is_fetched():
    recipe = RECIPES["minilm"]
    assert f"`{recipe.package}` {recipe.version}" in PAGE
