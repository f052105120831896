"""The commands and the Python of docs/entelmo.md run, and its tables are the settings."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import fields

from entlink.datasets.wikient.rows import Context, Description
from entlink.encoders.recurrent.settings import RecurrentShape
from entlink.learning.entelmo.config import EntElmoModel, Variant, read_entelmo_config
from entlink_cli import main
from entlink_cli.train.entelmo import VARIANTS
from fenced import ROOT, blocks, page, table
from tiny_entelmo import SHAPE

PAGE = page("entelmo")


def test_the_commands_print_what_is_shown(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "samples" / "wiki", tmp_path / "samples" / "wiki")
    monkeypatch.chdir(tmp_path)
    shown = 0
    for block in blocks(PAGE, "console")[:2]:
        for step in block.text.removeprefix("$ ").split("\n$ "):
            command, _, expected = step.strip().partition("\n")
            words = command.split()
            if words[0] == "sed":
                found = Path(words[-1]).read_text(encoding="utf8").splitlines()[int(words[2][:-1]) - 1]
            else:
                assert main(words[1:]) == 0
                found = capsys.readouterr().out.strip()
            same = (one.partition("built in")[0] for one in (found, expected))
            assert next(same) == next(same)
            assert found.splitlines()[1:] == expected.splitlines()[1:]
            shown += 1
    assert shown == 3


def test_the_python_runs_on_a_trained_folder(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    sample = str(ROOT / "samples" / "wiki" / "samplewiki.xml")
    assert main(["datasets", "build", "wikient", sample, "-o", "wikient", "--processes", "1", "--quiet"]) == 0
    sizes = {f"model.shape.{name}": value for name, value in SHAPE.items()}
    sizes |= {"model.vocabulary": 200, "model.samples": 50, "training.steps": 2, "training.held_out": 10}
    settings = [word for name, value in sizes.items() for word in ("--set", f"{name}={value}")]
    assert main(["train", "entelmo", "wikient", "-o", "entelmo", "--variant", "etn", *settings]) == 0
    told = capsys.readouterr()
    assert "etn: " in told.out and "l_ctx" in told.out and "saved as entelmo" in told.err
    names: dict[str, object] = {}
    exec(blocks(PAGE, "python")[0].text, names)
    mention, description = names["layers_of"]("entelmo")
    assert mention.shape == description.shape == (3, 1, 2 * SHAPE["projection"])


def test_the_tables_are_the_settings():
    for kind, title in ((EntElmoModel, "`[model]`"), (RecurrentShape, "`[model.shape]`")):
        rows = {
            row[title].strip("`"): row["default"].strip("`") for row in table(PAGE, title, "default", "what it is")
        }
        told = [name for name in rows if name != "kind"]
        assert told == [one.name for one in fields(kind) if one.name not in ("kind", "shape")]
        config = read_entelmo_config("entelmo").model
        default = EntElmoModel("entelmo") if kind is EntElmoModel else config.shape
        for name in told:
            assert msgspec.json.decode(rows[name]) == msgspec.json.decode(msgspec.json.encode(getattr(default, name)))


def test_every_variant_and_field_is_on_the_page():
    rows = table(PAGE, "`--variant`", "losses beside the language model's")
    assert tuple(row["`--variant`"].strip("`") for row in rows) == VARIANTS
    assert Variant.__args__ == VARIANTS
    for kind in (Context, Description):
        assert all(f"`{name}`" in PAGE for name in kind.__struct_fields__)
