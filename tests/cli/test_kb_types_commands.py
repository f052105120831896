"""`entlink kb types`, and types in `kb show` and as a filter."""

from __future__ import annotations

import pytest


@pytest.fixture
def typed(run, tmp_path):
    rows = "id,title,types\nada,Ada,Q5\nrome,Rome,Q515\nbare,Bare,\n"
    (tmp_path / "made.csv").write_text(rows)
    (tmp_path / "up.csv").write_text("Q5,Q215627\nQ515,Q618123\n")
    (tmp_path / "names.tsv").write_text("Q5\thuman\n")
    kb = tmp_path / "made.kb"
    assert run("kb", "build", tmp_path / "made.csv", "-o", kb).code == 0
    done = run("kb", "types", kb, "--hierarchy", tmp_path / "up.csv", "--names", tmp_path / "names.tsv")
    assert done.out == f"{kb}: 2 pairs of type and parent, 1 name\n"
    return kb


def test_types_are_listed(run, typed, tmp_path):
    (tmp_path / "new.csv").write_text("id,title,types\nada,Ada,Q5\nbob,Bob,Q5\nzed,Zed,Q99\n")
    run("kb", "build", tmp_path / "new.csv", "-o", tmp_path / "new.kb")
    shown = run("kb", "types", typed, "--against", tmp_path / "new.kb").out
    assert shown == (
        "coarse types:\n  LOC        1\n  PER        1\n  (no type)  1\n"
        "2 types, the largest:\n  human (Q5)  1\n  Q515        1\n"
        "2 fine types, the most frequent:\n  type-Q5    1\n  type-Q515  1\n"
        f"1 of 2 entities that only {tmp_path / 'new.kb'} has: 50.0% have a fine type (2 have types or claims)\n"
    )
    assert "  LOC        1\n  (others)   1\n  (no type)  1\n" in run("kb", "types", typed, "--limit", "1").out
    told = run("kb", "types", typed, "--json", "--limit", "1").json
    assert (told["coarse"], told["untyped"], len(told["largest"])) == ({"LOC": 1, "PER": 1}, 1, 1)


def test_own_coarse_types(run, typed, tmp_path):
    (tmp_path / "coarse.tsv").write_text("PLACE\tQ618123\n")
    assert run("kb", "types", typed, "--coarse", tmp_path / "coarse.tsv", "--json").json == {"coarse": 1}
    assert run("kb", "types", typed, "--json").json["coarse"] == {"OTHER": 1, "PLACE": 1}


def test_a_bad_file_is_told(run, typed, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b,c\n")
    bad = run("kb", "types", typed, "--hierarchy", tmp_path / "bad.csv")
    assert (bad.code, "bad.csv, line 1: the row has 3 cells, and two are needed" in bad.err) == (3, True)
    both = run("kb", "types", typed, "--separator", ".", "--against", typed)
    assert both.code == 2
    nothing = run("kb", "types", typed, "--separator", "")
    assert (nothing.code, "the separator is empty" in nothing.err) == (3, True)


def test_show_and_filters_use_the_types_above(run, typed):
    shown = run("kb", "show", typed, "ada").out
    assert "  coarse type  PER\n  types        human (Q5)\n" in shown
    assert [one["entity"] for one in run("kb", "search", typed, "a", "--type", "PER", "--json").json] == ["ada"]
    unknown = run("kb", "search", typed, "a", "--type", "human", "--type", "Q618123", "--type", "EVENT", "--json")
    assert "no entity has the type 'EVENT'" in unknown.err
    assert "human" not in unknown.err


def test_fine_types_are_counted_with_the_index(run, typed):
    done = run("kb", "index", typed, "--fine-types", "1")
    assert done.out == f"{typed}: fine types indexed\n"
    assert run("kb", "types", typed, "--json").json["fine"] == {"type-Q5": 1}
