"""Temporal datasets that are ended half-way, extended, refused, or made with more than a history."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corpora import KilledError
from entlink.datasets.temporal.build import Reading, build_temporal, extend_temporal
from entlink.datasets.temporal.options import PUBLISHED, TABLE_1, checked, preset_names, read_temporal_options
from entlink.datasets.temporal.rows import read_temporal
from entlink.errors import ConfigError, ExistsError, InputError, SourceError
from entlink.sources import WikiOptions
from temporal_sets import ALONE, AURORA, DATES, FEW, all_rows, build_aurora, contents, temporal_options
from wiki_dumps import WikiPage, export


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "aurora"
    build_aurora(out)
    return out


# Killed


def killed_after(calls: int):
    seen = 0

    def progress(stage: str, done: float, total: float) -> None:
        nonlocal seen
        seen += 1
        if seen == calls:
            raise KilledError

    return progress


@pytest.mark.parametrize("calls", range(2, 60, 9))
def test_what_is_ended_half_way_goes_on(whole, tmp_path, calls):
    options, out = temporal_options(**FEW), tmp_path / "aurora"
    with pytest.raises(KilledError):
        build_temporal(AURORA, out, options, ALONE, progress=killed_after(calls))
    assert not out.exists()
    work = tmp_path / "aurora.building"
    kept = {path: path.stat().st_ino for path in work.rglob("*") if path.is_file() and path.suffix == ".parquet"}
    seen: dict[Path, int] = {}

    def progress(stage: str, done: float, total: float) -> None:
        seen.update({path: path.stat().st_ino for path in kept if path.exists()})

    build_temporal(AURORA, out, options, ALONE, progress=progress)
    assert contents(out) == contents(whole)
    assert seen == kept
    assert not work.exists()


def test_a_killed_process_is_taken_up(whole, tmp_path):
    script = (
        "import os, signal, sys\n"
        "from entlink.datasets.temporal.build import *\n"
        "from entlink.datasets.temporal.options import checked\n"
        "def kill(stage, done, total):\n"
        "    if stage == 'making sampled': os.kill(os.getpid(), signal.SIGKILL)\n"
        "options = checked(__import__('json').loads(sys.argv[3]))\n"
        "build_temporal(sys.argv[1], sys.argv[2], options, Reading(processes=1), progress=kill)\n"
    )
    options = json.dumps({"snapshots": list(DATES), **FEW})
    words = [sys.executable, "-c", script, str(AURORA), str(tmp_path / "aurora"), options]
    assert subprocess.run(words, check=False, timeout=120).returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == ["aurora.building"]
    build_aurora(tmp_path / "aurora")
    assert contents(tmp_path / "aurora") == contents(whole)
    assert [path.name for path in tmp_path.iterdir()] == ["aurora"]


def test_with_another_seed_it_starts_anew(whole, tmp_path):
    with pytest.raises(KilledError):
        build_temporal(AURORA, tmp_path / "set", temporal_options(**FEW, seed=3), ALONE, progress=killed_after(58))
    build_aurora(tmp_path / "set")
    assert contents(tmp_path / "set") == contents(whole)


def test_what_was_read_is_kept_for_other_settings(whole, tmp_path):
    work = tmp_path / "set.building"
    with pytest.raises(InputError, match="no mention is left"):
        build_aurora(tmp_path / "set", min_nr_inlinks=100)
    read = {path: path.stat().st_ino for path in (work / "history").rglob("dated.bin")}
    seen: list[dict[Path, int]] = []

    def progress(stage: str, done: float, total: float) -> None:
        seen.append({path: path.stat().st_ino for path in read})

    build_temporal(AURORA, tmp_path / "set", temporal_options(**FEW), ALONE, progress=progress)
    assert read
    assert seen == [read] * len(seen)
    assert contents(tmp_path / "set") == contents(whole)


def test_in_another_language_it_starts_anew(tmp_path):
    options, german = temporal_options(**FEW), Reading(language="de", processes=1)
    with pytest.raises(KilledError):
        build_temporal(AURORA, tmp_path / "set", options, german, progress=killed_after(58))
    assert (tmp_path / "set.building" / "staged").exists()
    with pytest.raises(KilledError):
        build_temporal(AURORA, tmp_path / "set", options, ALONE, progress=killed_after(1))
    assert not (tmp_path / "set.building" / "staged").exists()


# Equal snapshots


def test_a_category_that_one_snapshot_lacks_is_told(tmp_path, caplog):
    """Nothing is created in 2014, and then nothing of 2013 is new either."""
    dates = {"snapshots": (*DATES, "2015-01-01")}
    report = build_aurora(tmp_path / "set", **dates)
    assert [one.entities["new"] for one in report.contents] == [0, 0, 0]
    assert [record.getMessage() for record in caplog.records] == [
        "2015-01-01 has no new entities, so none of any snapshot are kept; --set equal_snapshots=false keeps them"
    ]
    caplog.clear()
    extend_temporal(AURORA, tmp_path / "set", "2013-11-15", ALONE)
    told = "the dataset has no new entities, so none of the added snapshots are kept"
    assert [record.getMessage() for record in caplog.records] == [told]
    caplog.clear()
    report = build_aurora(tmp_path / "free", **dates, equal_snapshots=False)
    assert [one.entities["new"] for one in report.contents] == [1, 1, 0]
    assert caplog.records == []


# Extended


@pytest.fixture
def first(tmp_path) -> Path:
    """The sample as of 2013 and 2014, with what two interested readers may call new."""
    build_aurora(tmp_path / "set")
    return tmp_path / "set"


def test_added_snapshots_leave_the_rows_that_are_there(first):
    before = contents(first)
    card = json.loads((first / "card.json").read_bytes())
    report = extend_temporal(AURORA, first, "2013-06-30,2013-11-15", ALONE)
    after = contents(first)
    assert {name: after[name] for name in before} == before
    assert report.snapshots == ["2013-01-01T00:00:00Z", "2013-06-30T00:00:00Z", "2013-11-15T00:00:00Z", DATES[1]]
    assert read_temporal(first).dates == tuple(report.snapshots)
    assert json.loads((first / "card.json").read_bytes())["options"] == card["options"]
    assert not first.with_name("set.building").exists()


def test_added_rows_have_the_numbers_and_subsets_of_the_old(first):
    places = {(row.target_page_id, row.mention): row.subset for row in all_rows(first)}
    report = extend_temporal(AURORA, first, "2013-11-15", ALONE)
    date = "2013-11-15T00:00:00Z"
    new = [row for row in all_rows(first) if row.snapshot == date]
    old = [row for row in all_rows(first) if row.snapshot == DATES[0]]
    assert {row.target_page_id for row in new if row.category == "continual"} == {1}
    assert all(places.get((row.target_page_id, row.mention), row.subset) == row.subset for row in new)
    continual = sorted(row.subset for row in new if row.category == "continual")
    assert continual == sorted(row.subset for row in old if row.category == "continual")
    # Created between 2013-01-01 and then: Comet Lark.
    assert {row.target_page_id for row in new if row.category == "new"} == {6}
    assert report.additions[1].missing == []
    assert report.additions[1].fewer == {}


def test_added_rows_are_as_many_as_those_of_the_first_making(first):
    """As of 2012 there is less of everything, but only that snapshot is to have fewer rows for it."""
    short = extend_temporal(AURORA, first, "2012-01-01", ALONE)
    assert short.additions[1].fewer != {}
    report = extend_temporal(AURORA, first, "2013-11-15", ALONE)
    rows = {one.date: one.rows for one in report.contents}
    assert rows["2012-01-01T00:00:00Z"] != rows["2013-11-15T00:00:00Z"] == rows[DATES[0]]
    assert report.additions[2].fewer == {}


def test_a_continual_entity_is_not_new_in_an_earlier_snapshot(tmp_path):
    """Comet Lark, created in 2013, is continual in a dataset of 2015 and 2016."""
    settings = {"snapshots": ("2015-01-01", "2016-01-01"), "nr_ct_ents_per_cut": 10, "equal_snapshots": False}
    build_aurora(tmp_path / "set", **settings)
    assert 6 in {row.target_page_id for row in all_rows(tmp_path / "set") if row.category == "continual"}
    report = extend_temporal(AURORA, tmp_path / "set", "2014-01-01", ALONE)
    added = [row for row in all_rows(tmp_path / "set") if row.snapshot == DATES[1]]
    assert {row.category for row in added if row.target_page_id == 6} == {"continual"}
    # Each mention is counted once, and so none is numbered twice and then left out.
    assert [step.left for step in report.additions[-1].filters[-4:]] == [[len(added)]] * 4


def test_continual_entities_that_are_missing_are_told(first, tmp_path):
    """The same wiki without the river's page: page 1 becomes a redirect in June 2014."""
    text = AURORA.read_text(encoding="utf8")
    gone = (
        "    <revision><id>102</id><parentid>101</parentid><timestamp>2014-06-01T00:00:00Z</timestamp><contributor>"
        "<username>Ann</username><id>1</id></contributor><model>wikitext</model><format>text/x-wiki</format>"
        '<text bytes="1" xml:space="preserve">#REDIRECT [[Aurora Town]]</text></revision>\n  </page>'
    )
    later = tmp_path / "later.xml"
    later.write_text(text.replace("  </page>", gone, 1), encoding="utf8")
    report = extend_temporal(later, first, "2014-05-01,2015-01-01", ALONE)
    missing = [
        (one.target_page_id, one.target_title, one.snapshot, one.reason) for one in report.additions[1].missing
    ]
    assert missing == [(1, "Aurora_River", "2015-01-01T00:00:00Z", "no such page")]
    assert any(name.startswith("2015-01-01T00:00:00Z continual") for name in report.additions[1].fewer)
    told = (first / "DATASHEET.md").read_text(encoding="utf8")
    assert "1 continual entities are missing from at least one of them" in told


def test_an_extension_that_is_killed_goes_on(first, tmp_path):
    before = contents(first)
    other = tmp_path / "other"
    build_aurora(other)
    extend_temporal(AURORA, other, "2013-11-15", ALONE)
    for calls in (20, 45, 59):
        with pytest.raises(KilledError):
            extend_temporal(AURORA, first, "2013-11-15", ALONE, progress=killed_after(calls))
        assert contents(first) == before
        assert len(read_temporal(first).dates) == 2
    extend_temporal(AURORA, first, "2013-11-15", ALONE)
    assert contents(first) == contents(other)


@pytest.mark.parametrize("removed", [0, 3])
def test_an_extension_that_is_killed_while_it_clears_up_is_done(first, monkeypatch, removed):
    work, remove, seen = first.with_name("set.building"), shutil.rmtree, []

    def killed(path, *rest, **named):
        if path.is_relative_to(work) and len(read_temporal(first).dates) == 3:
            seen.append(path)
            if len(seen) > removed:
                raise KilledError
        remove(path, *rest, **named)

    with monkeypatch.context() as patched, pytest.raises(KilledError):
        patched.setattr(shutil, "rmtree", killed)
        extend_temporal(AURORA, first, "2013-11-15", ALONE)
    after = contents(first)
    report = extend_temporal(AURORA, first, "2013-11-15", ALONE)
    assert report.snapshots == [DATES[0], "2013-11-15T00:00:00Z", DATES[1]]
    assert contents(first) == after
    assert not work.exists()


def test_a_snapshot_that_is_there_is_not_added_again(first):
    with pytest.raises(InputError, match="it has the snapshot 2014-01-01T00:00:00Z already"):
        extend_temporal(AURORA, first, "2014-01-01,2015-01-01", ALONE)


@pytest.mark.parametrize(
    ("reading", "told"),
    [
        ({"language": "de"}, r"of other pages: language was None and is now 'de'\. Give the same"),
        ({"wiki": WikiOptions(namespaces=("0", "10"))}, r"namespaces was \(\) and is now \('0', '10'\)\."),
        ({"wiki": WikiOptions(rules="rules.toml")}, "rules was '' and is now '[0-9a-f]{64}'"),
    ],
)
def test_what_is_added_is_read_as_before(first, tmp_path, monkeypatch, reading, told):
    (tmp_path / "rules.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=told):
        extend_temporal(AURORA, first, "2015-01-01", Reading(processes=1, **reading))
    assert not first.with_name("set.building").exists()


def test_what_is_added_is_of_the_same_wiki(first, tmp_path):
    other = tmp_path / "other.xml"
    other.write_text(AURORA.read_text(encoding="utf8").replace("aurorawiki", "borealwiki"), encoding="utf8")
    with pytest.raises(InputError, match="wiki was 'aurorawiki' and is now 'borealwiki'"):
        extend_temporal(other, first, "2015-01-01", ALONE)


def test_only_a_temporal_dataset_is_extended(tmp_path):
    with pytest.raises(InputError, match=r"there is no card\.json in it"):
        extend_temporal(AURORA, tmp_path, "2015-01-01", ALONE)
    (tmp_path / "card.json").write_text('{"steps": []}')
    with pytest.raises(SourceError, match="not the card of a temporal dataset"):
        extend_temporal(AURORA, tmp_path, "2015-01-01", ALONE)


# Wikidata, and word pieces


def test_items_of_wikidata_come_from_page_props(tmp_path):
    table = tmp_path / "aurorawiki-20150101-page_props.sql"
    table.write_text(
        "CREATE TABLE `page_props` (\n  `pp_page` int(10) unsigned NOT NULL,\n"
        "  `pp_propname` varbinary(60) NOT NULL,\n  `pp_value` blob NOT NULL,\n"
        "  `pp_sortkey` float DEFAULT NULL,\n  PRIMARY KEY (`pp_page`,`pp_propname`)\n);\n"
        "INSERT INTO `page_props` VALUES (1,'wikibase_item','Q101',NULL),(6,'wikibase_item','Q106',NULL),"
        "(6,'defaultsort','Lark',NULL);\n"
    )
    build_temporal([AURORA, table], tmp_path / "set", temporal_options(**FEW), ALONE)
    found = {row.target_page_id: row.target_qid for row in all_rows(tmp_path / "set")}
    assert found == {1: "Q101", 5: None, 6: "Q106"}
    pool = read_temporal(tmp_path / "set").pool(DATES[1])
    assert {entity.target_page_id: entity.target_qid for entity in pool if entity.target_qid} == {
        1: "Q101",
        6: "Q106",
    }


def test_word_pieces_stand_beside_the_texts(tmp_path):
    pytest.importorskip("tokenizers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "aurora", "river", "quay", "##side", "."]
    folder = tmp_path / "tokenizer"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words))
    build_aurora(tmp_path / "set", tokenizer=str(folder))
    lines = [
        json.loads(line)
        for path in (tmp_path / "set").glob("*/*.jsonl")
        if path.name != "entities.jsonl"
        for line in path.read_text().splitlines()
    ]
    row = next(line for line in lines if line["mention"] == "quayside")
    assert row["mention_bert_tokenized"] == ["quay", "##side"]
    assert row["target_bert_tokenized"][:3] == ["the", "aurora", "river"]
    assert row["target_len"] == len(row["target_bert_tokenized"]) == 20  # 19 words and the full stop
    assert list(row)[26:] == [
        f"{name}_bert_tokenized" for name in ("context_left", "mention", "context_right", "target")
    ]
    assert len(all_rows(tmp_path / "set")) == len(lines)


def test_a_tokenizer_that_is_not_there_is_told_at_once(tmp_path):
    pytest.importorskip("tokenizers")
    with pytest.raises(InputError, match=r"neither tokenizer\.json nor vocab\.txt is here"):
        build_aurora(tmp_path / "set", tokenizer=str(tmp_path))
    assert not (tmp_path / "set.building").exists()


# Settings


def test_the_published_settings_are_those_of_the_preset():
    assert read_temporal_options("tempel") == PUBLISHED
    assert preset_names() == ["tempel", "tempel-small"]
    assert TABLE_1[:3] == ("snapshots", "nr_ct_ents_per_cut", "min_mens_per_ent")
    assert len(TABLE_1) == 15


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"min_men_prior": "1.5"}, r"min_men_prior is 1\.5: expected `float` <= 1\.0"),
        ({"min_men_prior": "0.6"}, r"min_men_prior is 0\.6, above max_men_prior, which is 0\.5: no mention would be"),
        ({"min_ent_prior": "0.5", "max_ent_prior": "0.1"}, "above max_ent_prior"),
        ({"ed_men_title": "0.12345678901"}, "give it with 9 places behind the point at most"),
        ({"max_mens_per_ent": "[5, 2]"}, "max_mens_per_ent"),
        ({"max_mens_per_ent": "[0, 2, 2]"}, "max_mens_per_ent"),
        ({"nr_ct_ents_per_cut": "many"}, "nr_ct_ents_per_cut is 'many'"),
        ({"min_nr_inlink": "3"}, "unknown field `min_nr_inlink`"),
        ({"rank_among": "pages"}, "rank_among is 'pages'"),
        ({"stable_interval": "0"}, "stable_interval is 0"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, told):
    with pytest.raises(ConfigError, match=told):
        read_temporal_options("tempel", settings)


def test_what_is_wrong_is_told_where_it_was_given(tmp_path):
    with pytest.raises(ConfigError, match=r"^--set: min_men_prior is 1\.5"):
        read_temporal_options("tempel", {"min_men_prior": "1.5"})
    mine = tmp_path / "mine.toml"
    mine.write_text("min_men_prior = 2")
    with pytest.raises(ConfigError, match=r"mine\.toml: min_men_prior is 2"):
        read_temporal_options(mine, {"seed": "1"})


def test_a_configuration_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConfigError, match="no such file, and no configuration in the box"):
        read_temporal_options("temple")
    (tmp_path / "mine.toml").write_text("min_nr_inlinks = ")
    with pytest.raises(ConfigError, match="this is not TOML"):
        read_temporal_options(tmp_path / "mine.toml")
    (tmp_path / "mine.toml").write_text('snapshots = ["2013-01-01", "2014-01-01"]\nmin_nr_inlinks = 4\n')
    read = read_temporal_options(tmp_path / "mine.toml", {"seed": 7, "snapshots": "2015-01-01/2016-01-01/yearly"})
    assert (read.min_nr_inlinks, read.seed, read.snapshots) == (4, 7, "2015-01-01/2016-01-01/yearly")
    assert read.max_men_prior == 0.5


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"min_nr_inlinks": 100}, r"after the filter min_nr_inlinks = 100, of 76 \(min_men_prior_rank left 53; "),
        ({"ed_men_subsets": 1.0, "min_nr_inlinks": 8}, "after the filter ed_men_subsets = 1.0, .*: lower it"),
        ({"max_men_prior": 0.2, "min_men_prior_rank": 1}, "after the filter"),
        ({"min_len_target_ent": 50}, "min_len_target_ent = 50"),
    ],
)
def test_an_empty_result_says_which_filter_removed_everything(tmp_path, settings, told):
    with pytest.raises(InputError, match=told):
        build_aurora(tmp_path / "set", **settings)
    assert not (tmp_path / "set").exists()


def test_what_came_after_the_last_mention_is_not_listed(tmp_path):
    with pytest.raises(InputError, match=r"max_men_prior left \d+; min_nr_inlinks left 0\)\. Change it"):
        build_aurora(tmp_path / "set", min_nr_inlinks=100)


def test_snapshots_before_everything_are_told(tmp_path):
    with pytest.raises(InputError, match="no link leads to a page as of any snapshot"):
        build_aurora(tmp_path / "set", snapshots=("2001-01-01", "2002-01-01"))


def test_one_snapshot_needs_an_interval(tmp_path):
    with pytest.raises(InputError, match="nobody knows since when an entity is new in it"):
        build_aurora(tmp_path / "set", snapshots=("2014-01-01",))
    report = build_aurora(tmp_path / "set", snapshots=("2014-01-01",), first_interval=366 * 86_400)
    assert report.contents[0].since == "2012-12-31T00:00:00Z"
    assert report.contents[0].entities == {"continual": 1, "new": 1}


def test_what_is_no_history_is_refused(tmp_path):
    (tmp_path / "table.csv").write_text("id,title\n1,a\n")
    with pytest.raises(InputError, match="this is no history of a wiki, but csv"):
        build_temporal(tmp_path / "table.csv", tmp_path / "set", temporal_options(**FEW), ALONE)
    with pytest.raises(InputError, match="there is no history"):
        build_temporal([], tmp_path / "set", temporal_options(**FEW), ALONE)


def test_histories_of_several_wikis_are_refused(tmp_path):
    (tmp_path / "other.xml").write_text(export([WikiPage("A", "[[A]]")], name="otherwiki"))
    told = r"histories of several wikis: aurorawiki, otherwiki\. Make a dataset of each"
    with pytest.raises(InputError, match=told):
        build_temporal([AURORA, tmp_path / "other.xml"], tmp_path / "set", temporal_options(**FEW), ALONE)


def test_a_history_that_is_given_twice_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"aurora\.xml: it is given twice"):  # before anything is read
        build_temporal([AURORA, AURORA], tmp_path / "set", temporal_options(**FEW), ALONE)
    assert not (tmp_path / "set.building").exists()
    copy = shutil.copyfile(AURORA, tmp_path / "copy.xml")
    with pytest.raises(InputError, match=r"page Aurora River \(number 1\) comes twice as of a snapshot: .* once"):
        build_temporal([AURORA, copy], tmp_path / "set", temporal_options(**FEW), ALONE)


def test_a_dataset_is_replaced_only_if_asked(whole, tmp_path):
    build_aurora(tmp_path / "set")
    with pytest.raises(ExistsError, match="--replace"):
        build_aurora(tmp_path / "set")
    build_temporal(AURORA, tmp_path / "set", temporal_options(**FEW, seed=2), ALONE, replace=True)
    assert json.loads((tmp_path / "set" / "card.json").read_bytes())["options"]["seed"] == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="holds other things"):
        build_temporal(AURORA, tmp_path / "mine", checked({"snapshots": list(DATES)}), ALONE, replace=True)
