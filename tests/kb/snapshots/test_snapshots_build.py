"""Knowledge bases with snapshots, built of a history: in one go, after a kill, and with snapshots added later."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from entlink import BuildOptions, KnowledgeBase
from entlink.errors import EntlinkError, ExistsError, InputError, NotFoundError
from entlink.kb.build.steps import Building
from entlink.kb.store.texts import TextWriter
from entlink.kb.verify import verify
from entlink.sources import WikiOptions
from fenced import ROOT
from larkham import DATES, HISTORY, full, larkham


def contents(kb: Path) -> dict[str, list[object]]:
    """What each snapshot holds: entities, and what some names mean."""
    found: dict[str, list[object]] = {}
    with KnowledgeBase.open(kb) as opened:
        for one in opened.snapshots():
            with opened.as_of(one.date) as then:
                names = [
                    [(each.entity, each.support) for each in then.aliases(name)] for name in ("Heron", "Old Bridge")
                ]
                found[one.date] = [list(then), names, then.texts]
    return found


def test_a_series_of_dates(tmp_path):
    built = larkham(tmp_path / "a.kb", "2014-01-01/2020-01-01/yearly")
    assert list(built.made) == [f"{year}-01-01T00:00:00Z" for year in range(2014, 2021)]
    assert verify(tmp_path / "a.kb")
    assert not list(tmp_path.glob("*.building"))


def test_the_ids_may_be_the_numbers_of_pages(tmp_path):
    larkham(tmp_path / "a.kb", options=BuildOptions(processes=1, wiki=WikiOptions(ids="page")))
    with KnowledgeBase.open(tmp_path / "a.kb") as kb, kb.as_of("2018") as then:
        assert (then.require("3").title, kb.require("3").title) == ("Old Bridge", "Anna Bright Bridge")


def test_dates_without_pages_have_no_snapshot(tmp_path, caplog):
    built = larkham(tmp_path / "a.kb", ["2005-01-01", "2013-01-01"])
    assert built.empty == (full("2005-01-01"),) and list(built.made) == [full("2013-01-01")]
    assert "no page was there on 2005-01-01" in caplog.text
    with pytest.raises(InputError, match=r"no page of larkham-history\.xml was there on 2005-01-01"):
        larkham(tmp_path / "b.kb", "2005-01-01")
    assert not list(tmp_path.glob("b.kb*"))


def test_a_date_after_the_last_revision_is_how_it_was_in_the_end(tmp_path):
    larkham(tmp_path / "a.kb", ["2020-01-01", "2099-01-01"])
    with KnowledgeBase.open(tmp_path / "a.kb") as kb, kb.as_of("2020") as then:
        assert list(kb) == list(then)


def test_two_snapshots_on_one_day(tmp_path):
    larkham(tmp_path / "a.kb", ["2018-05-11T06:00:00Z", "2018-05-11T12:00:00Z"], stable_interval=3600)
    with KnowledgeBase.open(tmp_path / "a.kb") as kb, kb.as_of("2018-05-11T10:00:00Z") as then:
        assert (then.require("page:3").title, kb.require("page:3").title) == ("Old Bridge", "Anna Bright Bridge")
    with pytest.raises(InputError, match="given twice"):
        larkham(tmp_path / "b.kb", ["2018", "2018-01-01"])


def test_the_stable_interval(tmp_path):
    """The vandal's version stood for an hour of the 86,400 seconds, but for all of the half hour."""
    for seconds, text in ((86_400, "Larkham is a town"), (1_800, "LARKHAM IS RUBBISH")):
        larkham(tmp_path / f"{seconds}.kb", "2017-12-30T23:00:00Z", stable_interval=seconds)
        with KnowledgeBase.open(tmp_path / f"{seconds}.kb") as kb:
            assert kb.require("Larkham").description.startswith(text)


def test_snapshots_are_added_and_the_others_are_not_touched(tmp_path, made):
    kb = tmp_path / "a.kb"
    larkham(kb, ["2013-01-01", "2020-01-01"])
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in kb.rglob("*") if path.is_file()}
    built = larkham(kb, DATES, add=True)
    assert (list(built.made), built.there) == ([full("2018-01-01")], (full("2013-01-01"), full("2020-01-01")))
    texts = {kb / "texts.sqlite", kb / "texts.sqlite.sha256"}
    assert {path: stamp for path, stamp in before.items() if path not in texts} == {
        path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in before if path not in texts
    }
    assert contents(kb) == contents(made)
    assert verify(kb) and not list(tmp_path.glob("*.building"))
    assert larkham(kb, DATES, add=True).made == {}


def test_a_newer_snapshot_leaves_the_knowledge_base_itself_as_it_was_edited(tmp_path):
    kb = tmp_path / "a.kb"
    larkham(kb, "2013-01-01")
    with KnowledgeBase.open(kb) as opened:
        opened.remove("Larkham")
        larkham(kb, "2020-01-01", add=True)
        assert opened.get("Larkham") is None and opened.resolve("Mira Solano") is None
        with opened.as_of("2020") as then:
            assert then.get("Larkham") is not None and then.resolve("Mira Solano") is not None


def test_what_does_not_go_with_snapshots(tmp_path, toy):
    target = tmp_path / "a.kb"
    sql = HISTORY.with_name("wiki") / "samplewiki-page_props.sql"
    for dates, settings, told in (
        ("2018", {"source": sql}, "made of a wiki's full history"),
        ("2018", {"options": BuildOptions(limit=3)}, "limit of pages does not go with snapshots"),
        ("2018", {"options": BuildOptions(wiki=WikiOptions(ids="wikidata"))}, "tells of today"),
        ("2018", {"stable_interval": 0}, "stable.interval"),
        ("soon", {}, "no date of a snapshot"),
        ("2020/2018/yearly", {}, "ends before it begins"),
        ("", {}, "no snapshot is given"),
    ):
        with pytest.raises(InputError, match=told):
            larkham(target, dates, **settings)
    with pytest.raises(NotFoundError, match="no knowledge base with snapshots"):
        larkham(toy, add=True)
    assert not list(tmp_path.iterdir())


def test_one_that_is_there_is_replaced_only_when_asked(own):
    with pytest.raises(ExistsError, match="--replace"):
        larkham(own)
    larkham(own, "2018-01-01", replace=True)
    assert list(contents(own)) == [full("2018-01-01")]


def test_snapshots_of_another_wiki_are_not_added(own):
    with pytest.raises(InputError, match="wiki was 'larkham' and is now 'aurorawiki'"):
        larkham(own, "2013-06-01", ROOT / "samples" / "history" / "aurora.xml", add=True)


def test_a_date_without_pages_adds_nothing_and_says_so(own, caplog):
    assert larkham(own, "1999-01-01", add=True).empty == (full("1999-01-01"),)
    assert "no page was there on 1999-01-01" in caplog.text


def test_snapshots_are_added_with_the_options_of_those_that_are_there(own):
    with pytest.raises(InputError, match="stable_interval was 2592000 and is now 60"):
        larkham(own, "2019", add=True, stable_interval=60)


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("step", range(12))
def test_a_build_that_stops_anywhere_goes_on_to_the_same_end(tmp_path, made, monkeypatch, step):
    """At every step of the first, then of the second snapshot, and while the texts are written."""
    names = ("_stage", "_join_names", "_ingest", "_count_links", "_read_openings", "_make_index")
    name, left = names[step % 6], [step // 6]
    real = getattr(Building, name)

    def stopping(self, *arguments):
        result = real(self, *arguments)
        if left[0] == 0:
            left[0] = -1
            raise StoppedError
        left[0] -= 1
        return result

    monkeypatch.setattr(Building, name, stopping)
    with pytest.raises(StoppedError) as told:
        larkham(tmp_path / "larkham.kb")
    assert any("goes on" in note or "go on" in note for note in told.value.__notes__)
    assert not (tmp_path / "larkham.kb").exists()
    larkham(tmp_path / "larkham.kb")
    assert contents(tmp_path / "larkham.kb") == contents(made)
    assert verify(tmp_path / "larkham.kb") and not list(tmp_path.glob("*.building"))


def test_an_adding_that_stops_goes_on_and_leaves_the_knowledge_base_whole(tmp_path, made, monkeypatch):
    kb = tmp_path / "a.kb"
    larkham(kb, "2018-01-01")
    real, calls = Building._make_index, []

    def stopping(self, parts):
        calls.append(1)
        if len(calls) == 2:
            raise StoppedError
        real(self, parts)

    monkeypatch.setattr(Building, "_make_index", stopping)
    with pytest.raises(StoppedError):
        larkham(kb, DATES, add=True)
    assert list(contents(kb)) == [full("2018-01-01"), full("2020-01-01")] and verify(kb)
    monkeypatch.setattr(Building, "_make_index", real)
    built = larkham(kb, DATES, add=True)
    assert set(built.made) == {full("2013-01-01"), full("2020-01-01")}  # both are of this command
    assert contents(kb) == contents(made) and verify(kb)
    assert not list(kb.rglob("*.building")) and not list(tmp_path.glob("*.building"))


def test_an_adding_that_nobody_took_up_leaves_nothing_behind(tmp_path, monkeypatch):
    kb = tmp_path / "a.kb"
    larkham(kb, "2018-01-01")
    real = Building._make_index

    def stopping(self, parts):
        raise StoppedError

    monkeypatch.setattr(Building, "_make_index", stopping)
    with pytest.raises(StoppedError):
        larkham(kb, "2013-01-01", add=True)
    assert list(kb.rglob("*.building"))
    monkeypatch.setattr(Building, "_make_index", real)
    larkham(kb, "2020-01-01", add=True)
    assert not list(kb.rglob("*.building")) and verify(kb)
    assert list(contents(kb)) == [full("2018-01-01"), full("2020-01-01")]


def test_edits_go_on_while_snapshots_are_added(tmp_path, monkeypatch):
    kb = tmp_path / "a.kb"
    larkham(kb, "2018-01-01")
    real = Building._make_index

    def editing(self, parts):
        with KnowledgeBase.open(kb) as opened:
            opened.remove("Mira Solano")
            assert opened.require("Larkham").description.startswith("Larkham is a town")
        real(self, parts)

    monkeypatch.setattr(Building, "_make_index", editing)
    larkham(kb, "2020-01-01", add=True)
    with KnowledgeBase.open(kb) as opened:
        assert opened.get("Mira Solano") is None
    assert verify(kb) and len(contents(kb)) == 2


def test_a_build_that_is_killed_goes_on(tmp_path, made):
    target = tmp_path / "larkham.kb"
    command = [sys.executable, "-m", "entlink", "kb", "build", str(HISTORY), "-o", str(target), "--quiet"]
    command += ["--processes", "1", "--snapshots", ",".join(DATES)]
    for kill_after in (1, 2):
        process = subprocess.Popen(command, start_new_session=True)
        _wait_for(target.with_name("larkham.kb.building") / "snapshots", kill_after, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert not target.exists()
    subprocess.run(command, check=True)
    assert contents(target) == contents(made) and verify(target)


def _wait_for(folder, entries, process):
    until = time.monotonic() + 60
    while len(list(folder.glob("*"))) < entries:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.002)


def test_a_full_disk_is_told_and_leaves_nothing_half_written(tmp_path, made, monkeypatch):
    import sqlite3

    real, puts = TextWriter.put, []

    def full_disk(self, description):
        puts.append(1)
        if len(puts) == 4:
            raise sqlite3.OperationalError("database or disk is full")
        return real(self, description)

    monkeypatch.setattr(TextWriter, "put", full_disk)
    with pytest.raises(EntlinkError, match="the disk is full"):
        larkham(tmp_path / "larkham.kb")
    assert not (tmp_path / "larkham.kb").exists()
    larkham(tmp_path / "larkham.kb")
    assert contents(tmp_path / "larkham.kb") == contents(made)


def test_bad_pages_are_told_with_the_snapshots(tmp_path):
    source = tmp_path / "history.xml"
    source.write_text(HISTORY.read_text(encoding="utf8").replace("<title>Mira Solano</title>", ""), encoding="utf8")
    with pytest.raises(InputError, match=r"history\.xml"):
        larkham(tmp_path / "a.kb", source=source)
    built = larkham(tmp_path / "b.kb", source=source, options=BuildOptions(processes=1, on_error="skip"))
    manifest = built.made[full("2020-01-01")]
    assert manifest.sources[0].skipped == 1 and manifest.problems and manifest.entities == 5
    assert msgspec.json.encode(manifest)
