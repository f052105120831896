"""The tour of `make demo` runs to its end, shows its commands, and what they print is what it promises."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from sample_exports import SAMPLES


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    """What the demo prints, by the number of its step."""
    folder = tmp_path_factory.mktemp("demo") / "made"
    command = [sys.executable, str(SAMPLES / "demo.py"), str(folder)]
    ran = subprocess.run(command, cwd=SAMPLES.parent, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, ran.stderr
    _, *steps = re.split(r"^(?=\d\. |What to try next)", ran.stdout, flags=re.MULTILINE)
    return steps


def test_eight_steps_and_what_to_try_next(tour):
    assert [step[0] for step in tour] == [*"12345678", "W"]
    assert all("\n$ " in step and "entlink " in step for step in tour[:-1])


def test_the_wikis_are_built_by_a_command_that_can_be_typed(tour):
    commands = [line for line in tour[0].splitlines() if line.startswith("$ ")]
    assert len(commands) == 2
    for command in commands:
        shown = command.removeprefix("$ entlink kb build ").partition(" -o ")[0].split()
        assert [(SAMPLES.parent / word).exists() for word in shown] == [True] * 2


@pytest.mark.parametrize(
    ("step", "line"),
    [
        (2, "Mercury (automobile)"),
        (3, "Mercury → Freddie Mercury"),
        (3, "Reading → Reading, Berkshire"),
        (3, "reading from a sheet"),
        (3, "小米 → 小米集团"),
        (4, "Musk → Elon Musk"),
        (5, "'Mercury' at 32:39: linked → Freddie Mercury"),
        (6, "Tinderfox → Tinderfox"),
        (7, "Swaziland → Swaziland (Eswatini)"),
        (8, "convention: strict, nil-ignored"),
        (8, "lost by"),
    ],
)
def test_a_step_shows_what_it_is_about(tour, step, line):
    assert line in tour[step - 1]


def test_the_new_entity_is_linked_only_after_it_was_added(tour):
    before, added, after = tour[5].partition("1 entity added")
    assert added
    assert "[Tinderfox]" not in before
    assert "[Tinderfox]" in after
