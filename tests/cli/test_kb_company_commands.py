"""`entlink kb index --company`."""

from __future__ import annotations

from entlink.kb.indexes.derived import derived_indexes


def test_company_is_indexed_ahead(run, own):
    done = run("kb", "index", own, "--company")
    assert (done.code, done.out) == (0, f"{own}: the company that names keep in descriptions indexed\n")
    assert [one.name for one in derived_indexes(own / "index-1")] == ["company", "short"]  # names needed no new index


def test_a_plain_index_makes_it_anew_where_it_is(run, own):
    run("kb", "index", own, "--company", "--words", "--quiet")
    assert run("kb", "index", own).out.endswith(" names indexed\n")
    assert [one.name for one in derived_indexes(own / "index-2")] == ["company", "short", "words"]


def test_no_index_is_said_to_be_made_where_none_can_be_kept(run, own, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)  # as root nothing is read-only
    done = run("kb", "index", own, "--company")
    assert (done.code, done.out) == (3, "")
    assert "cannot be written" in done.err
    assert [one.name for one in derived_indexes(own / "index-1")] == ["short"]


def test_info_tells_of_the_index(run, own):
    run("kb", "index", own, "--company")
    about = run("kb", "info", own, "--json").json
    assert 0 < about["search_indexes"]["company"] < about["index_bytes"]
