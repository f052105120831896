"""`docs/probes.md` says what the code does."""

from __future__ import annotations

import shlex
import tomllib

import msgspec
import pytest

from entlink.formats.probes import FAMILIES, REPRESENTATIONS, ProbeCard, ProbeExample
from entlink.formats.probes.examples import ProbeEntity
from entlink_cli import main
from fenced import ROOT, blocks, page, table

PAGE = page("probes")


@pytest.fixture(autouse=True)
def beside_the_samples(tmp_path, monkeypatch):
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ENTLINK_MODELS", raising=False)


def test_the_commands_run_and_print_what_the_page_shows(tmp_path, capsys):
    (block,) = blocks(PAGE, "console")
    for line in block.text.splitlines():
        words = shlex.split(line.removeprefix("$ "))
        assert main(words[1:]) == 0, (line, capsys.readouterr().err)
    (shown,) = blocks(PAGE, "text")
    assert shown.text in capsys.readouterr().out
    assert "Probes of entity representations" in (tmp_path / "probes.html").read_text()


def test_the_python_runs(capsys):
    (block,) = blocks(PAGE, "python")
    exec(compile(block.text, "docs/probes.md", "exec"), {"__name__": "__page__"})
    assert "Interval(low=" in capsys.readouterr().out


def test_the_card_and_the_row_are_of_a_task():
    (card,), (row,) = blocks(PAGE, "toml"), blocks(PAGE, "json")
    assert msgspec.convert(tomllib.loads(card.text), ProbeCard).name == "kinds"
    first, second = msgspec.json.decode(row.text, type=ProbeExample).entities
    assert (first.mention, second.mention) == ("heron", "owl")


def test_the_tables_name_what_there_is():
    families = table(PAGE, "family", "question", "what is learnt (`kind`)", "reported representation", "score")
    assert [row["family"].strip("`") for row in families] == list(FAMILIES)
    fields = [
        name.strip(" `") for row in table(PAGE, "field of a row", "") for name in row["field of a row"].split(",")
    ]
    assert set(fields) == set(ProbeExample.__struct_fields__)
    assert [row["name"].strip("`") for row in table(PAGE, "name", "vector")] == list(REPRESENTATIONS)
    for name in (*ProbeEntity.__struct_fields__, *ProbeCard.__struct_fields__):
        assert f"`{name}`" in PAGE.replace('"', "`") or f"{name} = " in PAGE or name == "sizes", name
