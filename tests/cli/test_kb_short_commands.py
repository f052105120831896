"""`entlink kb index --short`."""

from __future__ import annotations

from entlink.kb.indexes.derived import derived_indexes
from entlink.kb.indexes.short_names import has_short_names


def test_names_cut_short_are_indexed_ahead_and_anew(run, own):
    assert not has_short_names(own)
    done = run("kb", "index", own, "--short")
    assert (done.code, done.out) == (0, f"{own}: names cut short indexed\n")
    assert has_short_names(own)
    assert run("kb", "index", own).code == 0
    assert [one.name for one in derived_indexes(own / "index-2")] == ["short"]
