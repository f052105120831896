"""The index of names cut short: `entlink kb index --short`, and where an earlier build made none."""

from __future__ import annotations

import shutil

from entlink.kb.indexes.derived import SHORT, derived_indexes
from entlink.kb.indexes.short_names import has_short_names


def test_names_cut_short_are_indexed_ahead_and_anew(run, own):
    shutil.rmtree(own / "index-1" / SHORT)
    done = run("kb", "index", own, "--short")
    assert (done.code, done.out) == (0, f"{own}: names cut short indexed\n")
    assert has_short_names(own)
    assert run("kb", "index", own).code == 0
    assert [one.name for one in derived_indexes(own / "index-2")] == ["short"]


def test_the_first_link_says_that_it_makes_the_index_where_there_is_none(run, own):
    shutil.rmtree(own / "index-1" / SHORT)
    words = ("link", own, "--config", "everyday", "--json")
    told = f"entlink: {own} was built without an index of names cut short, which is made now, once\n"
    assert run(*words, stdin=b"The Sun").err == told
    assert has_short_names(own)
    assert run(*words, stdin=b"The Sun").err == ""
    shutil.rmtree(own / "index-1" / SHORT)
    assert run("link", own, "--config", "lexical", stdin=b"The Sun").err == ""  # which does not read it
    assert not has_short_names(own)
