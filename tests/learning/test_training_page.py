"""`docs/training.md` says what the code does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from msgspec import NODEFAULT

from entlink.documents import Document, GoldLink, Span
from entlink.encoders.models.fetching import RECIPES
from entlink.encoders.multimodal.settings import Fusion
from entlink.learning.train_config import ModelConfig, MultimodalConfig, TrainingConfig, preset_names
from tiny_training import NAMES, make_config

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf8")


def rows(heading):
    """The rows of the table whose head begins so, by their first cell."""
    body = PAGE.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0]
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()[2:])
    return {first.strip("` "): rest for first, *rest in cells}


@pytest.mark.parametrize(
    ("heading", "struct"),
    [("`[model]`", ModelConfig), ("`[training]`", TrainingConfig), ("`[multimodal]`", MultimodalConfig)],
)
def test_every_setting_is_there_with_its_default(heading, struct):
    found = rows(heading)
    assert list(found) == list(struct.__struct_fields__)
    for field in msgspec.structs.fields(struct):
        shown = found[field.name][0].strip("`")
        if field.default is NODEFAULT:
            assert shown == ""
        else:
            default = msgspec.json.decode(msgspec.json.encode(field.default))
            assert tomllib.loads(f"value = {shown}")["value"] == default, field.name


def test_every_fusion_is_there():
    assert list(rows("fusion")) == list(get_args(Fusion))


def test_every_configuration_in_the_box_is_there():
    assert sorted(rows("name")) == preset_names()


def test_what_is_fetched_is_named():
    recipe = RECIPES["minilm"]
    assert f"`{recipe.package}` {recipe.version}" in PAGE


def test_the_python_runs(stage, base, tmp_path):
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "__page__"}
    exec(compile(block, "docs/training.md", "exec"), names)
    names["read_train_config"] = lambda *_: make_config(base, negatives=1)  # MiniLM is not here
    documents = [
        Document(str(at), f"the {name}", gold=(GoldLink(Span(4, 4 + len(name)), (f"{name}-water",)),))
        for at, name in enumerate(NAMES * 3)
    ]
    report = names["trained"](stage, documents, tmp_path / "model")
    assert report.examples == 23  # one document of 24 is held out
    assert (tmp_path / "model" / "model.json").is_file()
