"""`docs/cli.md` is current, complete, and its examples run."""

from __future__ import annotations

import io
import shlex
import shutil
import sys
from pathlib import Path

from entlink_cli import load_command, main
from entlink_cli.catalogue import CATALOGUE, FIRST_STEPS
from entlink_cli.parsing import command_parser
from entlink_cli.reference import reference

ROOT = Path(__file__).parents[2]


def test_the_page_is_current():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf8")
    assert page == reference(), "make it anew: python -m entlink_cli.reference > docs/cli.md"


def test_every_command_and_option_is_in_it():
    written = reference()
    for name in CATALOGUE:
        section = written.partition(f"\n## entlink {name}\n")[2].partition("\n## ")[0]
        assert section, name
        for action in command_parser(name, load_command(name))._actions:
            for option in action.option_strings:
                assert option in section or option in ("-h", "--help"), name


def test_every_command_of_a_module_is_in_the_catalogue():
    for name, entry in CATALOGUE.items():
        module = sys.modules[load_command(name).run.__module__]
        assert module.__name__ == f"entlink_cli.{entry.module}"
        assert set(module.COMMANDS) <= set(CATALOGUE)


def test_the_examples_run_one_after_the_other(tmp_path, monkeypatch, capfd):
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    assert main(["kb", "build", "samples/wiki/samplewiki.xml", "-o", "wiki.kb", "--quiet"]) == 0
    examples = [*FIRST_STEPS, *(line for name in CATALOGUE for line in load_command(name).examples)]
    for line in examples:
        words = shlex.split(line)
        if "<" in words:
            at = words.index("<")
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(words[at + 1]).read_bytes())))
            words = words[:at]
        assert words[0] == "entlink"
        assert main(words[1:]) == 0, (line, capfd.readouterr().err)
