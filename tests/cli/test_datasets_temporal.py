"""`entlink datasets build temporal` end to end, on the sample history."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entlink_cli.datasets import temporal

MAKE = ("datasets", "build", "temporal")
AURORA = Path(__file__).parents[2] / "samples" / "history" / "aurora.xml"
DATES = ("--snapshots", "2013-01-01,2014-01-01", "--config", "tempel-small", "--processes", "1")


def test_it_tells_what_each_filter_removed_and_what_is_there(run, tmp_path):
    done = run(*MAKE, AURORA, "-o", tmp_path / "set", *DATES)
    assert (done.code, done.err) == (0, "")
    assert "  filter      min_nr_inlinks: 2.6% of 76 removed\n" in done.out
    assert "  2014-01-01  24 of 3 continual, 3 of 1 new entities, pool 15\n" in done.out
    assert str(tmp_path / "set" / "DATASHEET.md") in done.out


def test_settings_go_into_the_card(run, tmp_path):
    (tmp_path / "mine.toml").write_text('snapshots = "2013-01-01/2014-01-01/yearly"\nmin_nr_inlinks = 2\n')
    words = ("--config", tmp_path / "mine.toml", "--set", "max_men_prior=1.0", "--set", "min_men_prior_rank=1")
    done = run(*MAKE, AURORA, "-o", tmp_path / "set", *words, "--seed", "4", "--processes", "1", "--json")
    options = json.loads(done.out)["options"]
    assert (options["min_nr_inlinks"], options["max_men_prior"], options["seed"]) == (2, 1.0, 4)
    assert options["snapshots"] == "2013-01-01/2014-01-01/yearly"


def test_snapshots_are_added(run, tmp_path):
    assert run(*MAKE, AURORA, "-o", tmp_path / "set", *DATES, "--quiet").out == ""
    done = run(*MAKE, AURORA, "-o", tmp_path / "set", "--add-snapshots", "2015-01-01", "--processes", "1")
    assert done.code == 0
    assert "  2015-01-01  " in done.out
    assert "  fewer       2015-01-01T00:00:00Z new train: 0 of " in done.out
    assert sorted(path.name for path in (tmp_path / "set").iterdir() if path.name[0] == "2") == [
        "2013-01-01",
        "2014-01-01",
        "2015-01-01",
    ]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--set", "min_nr_inlink=3"), 3, "unknown field `min_nr_inlink`"),
        (("--snapshots", "yesterday"), 3, "yesterday"),
        (("--config", "temple"), 3, "Those are tempel, tempel-small"),
        (("--add-snapshots", "2015-01-01", "--seed", "3"), 2, "--seed does not go with --add-snapshots"),
        (("--add-snapshots", "2015-01-01", "--snapshots", "2016-01-01"), 2, "not allowed with"),
        (("--add-snapshots", "2015-01-01"), 3, "there is no card.json in it"),
        ((*DATES, "--set", "min_nr_inlinks=99"), 3, "no mention is left after the filter min_nr_inlinks = 99"),
    ],
)
def test_what_is_wrong_is_told(run, tmp_path, words, code, told):
    done = run(*MAKE, AURORA, "-o", tmp_path / "set", *words)
    assert done.code == code
    assert told in done.err


def test_the_presets_are_those_of_the_library():
    from entlink.datasets.temporal.options import preset_names

    assert list(temporal.PRESETS) == preset_names()
