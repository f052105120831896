"""A knowledge base as of a date is its nearest snapshot before, and nothing of it is of a later one."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

import entlink
from entlink import KnowledgeBase
from entlink.documents import Entity
from entlink.errors import DamagedError, InputError
from entlink.kb.info import info
from entlink.kb.names.search import search
from entlink.kb.profile import profile
from entlink.kb.verify import verify
from larkham import DATES, full


def test_the_nearest_snapshot_at_or_before_a_date_is_taken(made):
    with KnowledgeBase.open(made) as kb:
        for date, expected in (
            ("2013-01-01", "2013-01-01"),
            ("2017-12-31T23:59:59Z", "2013-01-01"),
            ("2018", "2018-01-01"),
            ("2018-01-01T01:00:00+01:00", "2018-01-01"),
            ("2031-05", "2020-01-01"),
        ):
            with kb.as_of(date) as then:
                assert then.snapshot == full(expected), date
                with then.as_of("2013-02-01") as earlier:  # a snapshot knows those beside it
                    assert earlier.snapshot == full("2013-01-01")
        assert kb.snapshot is None


def test_a_date_before_the_first_snapshot_and_what_is_no_date(made):
    with KnowledgeBase.open(made) as kb:
        with pytest.raises(InputError, match=r"2012-12-31 is before its first snapshot.*2013-01-01, 2018-01-01"):
            kb.as_of("2012-12-31")
        with pytest.raises(InputError, match="'soon' is not an ISO date"):
            kb.as_of("soon")


def test_titles_texts_redirects_and_priors_are_of_the_snapshot(made):
    with KnowledgeBase.open(made) as kb:
        priors = {}
        for date in DATES:
            with kb.as_of(date) as then:
                priors[date] = {one.entity: round(one.probability, 3) for one in then.aliases("Heron")}
        assert priors == {
            "2013-01-01": {"Heron (ferry)": 1.0},
            "2018-01-01": {"Heron (ferry)": 0.5, "Heron (café)": 0.5},
            "2020-01-01": {"Heron (café)": 0.667, "Heron (ferry)": 0.333},
        }
        with kb.as_of("2018") as then, kb.as_of("2020") as later:
            assert then.require("page:3").title == "Old Bridge"
            assert later.require("page:3").title == "Anna Bright Bridge" == later.require("Old Bridge").title
            assert then.resolve("Anna Bright Bridge") is None
            assert "rubbish" not in then.require("Larkham").description.lower()  # it stood for an hour
            assert then.require("Lantern Night").id == "Larkham Lantern Night"
            assert [one.entity for one in search(then, "anna")] == []
            assert profile(later, "Anna Bright Bridge").entity.external["revision"] == "301"
            assert len(then.hyperlinks("Mira Solano")) == 2
            assert kb.meaning("Heron").link_probability() == later.meaning("Heron").link_probability()


def test_the_knowledge_base_itself_begins_as_the_newest_snapshot(made):
    with KnowledgeBase.open(made) as kb, kb.as_of("2020") as newest:
        assert list(kb) == list(newest)
        assert kb.names.meaning("Heron") == newest.names.meaning("Heron")


def test_edits_change_the_knowledge_base_itself_and_no_snapshot(own):
    with KnowledgeBase.open(own) as kb:
        kb.add(Entity("Heron (bus)", "Heron (bus)", "A bus in Larkham.\n\nIt is green."))
        kb.add(Entity("Larkham", "Larkham", "A town of buses."), replace=True)
        kb.remove("Mira Solano")
        kb.pin("the green one", "Heron (bus)")
        kb.index()
        assert kb.require("Larkham").description == "A town of buses."
        assert kb.require("Heron (bus)").description == "A bus in Larkham.\n\nIt is green."
        for date in DATES:
            with kb.as_of(date) as then:
                assert then.get("Heron (bus)") is None and not then.meaning("the green one").entries
                assert then.require("Larkham").description.startswith("Larkham is a town")
        with kb.as_of("2020") as then:
            assert then.get("Mira Solano") is not None
    assert verify(own)


def test_a_snapshot_cannot_be_edited(own):
    with KnowledgeBase.open(own) as kb, kb.as_of("2018") as then, pytest.raises(InputError, match="stays as it was"):
        then.add(Entity("a", "A"))


def test_paragraphs_that_snapshots_have_in_common_are_stored_once(made):
    import sqlite3

    connection = sqlite3.connect(made / "texts.sqlite")
    texts = [text for (text,) in connection.execute("SELECT text FROM paragraphs")]
    connection.close()
    assert len(texts) == len(set(texts))
    described = set()
    with KnowledgeBase.open(made) as kb:
        for date in DATES:
            with kb.as_of(date) as then:
                described |= {part for entity in then for part in entity.description.split("\n\n")}
    assert set(texts) == described
    for store in made.rglob("kb.sqlite"):
        assert b"stone bridge" not in store.read_bytes(), store


def test_a_snapshot_taken_out_of_its_knowledge_base_says_what_it_lacks(own, tmp_path):
    lone = shutil.copytree(own / "snapshots" / "2018-01-01T000000Z", tmp_path / "lone.kb")
    with (
        KnowledgeBase.open(lone) as kb,
        pytest.raises(DamagedError, match=r"texts of this knowledge base are missing"),
    ):
        kb.require("Larkham")


def test_the_list_of_snapshots(made):
    with KnowledgeBase.open(made) as kb:
        listed = kb.snapshots()
        assert [(one.date, one.entities, one.redirects, one.links) for one in listed] == [
            (full("2013-01-01"), 3, 0, 4),
            (full("2018-01-01"), 6, 1, 11),
            (full("2020-01-01"), 6, 2, 12),
        ]
        assert all(one.indexes == ["short"] and one.bytes > 0 for one in listed)
    assert info(made).snapshots == [full(date) for date in DATES]


def test_export_as_of_a_date(made, tmp_path):
    out = io.BytesIO()
    with KnowledgeBase.open(made) as kb:
        assert kb.export(out, as_of="2020-06-01") == 6
    rows = {row["page"]: row for row in map(json.loads, out.getvalue().splitlines())}
    assert {key: rows[3][key] for key in ("id", "title", "created", "revision", "page", "redirects")} == {
        "id": "Anna Bright Bridge",
        "title": "Anna Bright Bridge",
        "created": "2012-02-20T15:00:00Z",
        "revision": 301,
        "page": 3,
        "redirects": ["Old Bridge"],
    }
    assert rows[5]["redirects"] == ["Lantern Night"] and rows[7]["redirects"] == []
    (tmp_path / "then.jsonl").write_bytes(out.getvalue())
    entlink.build(tmp_path / "then.jsonl", tmp_path / "then.kb")
    with KnowledgeBase.open(tmp_path / "then.kb") as kb:
        assert kb.require("Larkham").description == rows[1]["description"]


def test_export_as_of_a_date_without_snapshots(toy):
    out = io.BytesIO()
    with KnowledgeBase.open(toy) as kb:
        kb.export(out, as_of="2010-01-01")
    rows = {row["id"]: row for row in map(json.loads, out.getvalue().splitlines())}
    assert (rows["eswatini"]["title"], rows["eswatini"]["page"]) == ("Swaziland", None)


@pytest.mark.parametrize(
    "name",
    ["texts.sqlite", "snapshots/2013-01-01T000000Z/kb.sqlite", "snapshots/2018-01-01T000000Z/index-1/keys-00.trie"],
)
def test_damage_to_a_snapshot_or_the_texts_is_found(own, name):
    with (own / name).open("r+b") as file:
        file.seek(60)
        file.write(b"damage")
    with pytest.raises(DamagedError, match=Path(name).name):
        verify(own)


def test_texts_that_are_gone_are_found(own):
    (own / "texts.sqlite").unlink()
    with pytest.raises(DamagedError, match=r"texts\.sqlite"):
        verify(own)


def test_upgrading_merging_and_replacing(own, tmp_path, caplog):
    assert KnowledgeBase.upgrade(own) == (3, 3)
    entlink.build(_table(tmp_path), tmp_path / "more.kb")
    KnowledgeBase.merge([own, tmp_path / "more.kb"], tmp_path / "both.kb")
    assert "without its snapshots" in caplog.text
    with KnowledgeBase.open(tmp_path / "both.kb") as kb:
        assert kb.snapshots() == [] and kb.require("Larkham").description.startswith("Larkham is a town")
    entlink.build(_table(tmp_path), own, replace=True)
    assert not (own / "snapshots").exists() and not (own / "texts.sqlite").exists()


def _table(folder: Path) -> Path:
    path = folder / "more.csv"
    path.write_text("id,title\nx,Another thing\n")
    return path
