from __future__ import annotations

import json
import multiprocessing

import pytest

from entlink.errors import ExistsError, InputError, LockedError, SourceError
from entlink.io.atomic import write_lock
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.own_names import LONGEST_NAME
from entlink.linking.linker import load
from entlink.sources import part
from knowledge_bases import WORLD, article, make_kb, supports, write_articles


def test_a_build_leaves_just_the_knowledge_base(tmp_path):
    folder = make_kb(tmp_path, WORLD)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made.jsonl", "made.kb"]
    made = ["counts", "index-1", "kb.sqlite", "kb.sqlite.sha256", "write.lock"]
    assert sorted(path.name for path in folder.iterdir()) == made


def test_the_manifest_tells_what_it_was_built_from(tmp_path):
    source = write_articles(tmp_path / "world.jsonl", [*WORLD, article("x", "X", "[[nowhere|Nowhere]] [[sun|Sun]]")])
    manifest = build([source], tmp_path / "w.kb", BuildOptions(processes=1), command="the command")
    with KnowledgeBase.open(tmp_path / "w.kb") as kb:
        assert kb.manifest() == manifest
    (card,) = manifest.sources
    assert (card.name, card.records, card.skipped, card.bytes) == ("world.jsonl", 12, 0, source.stat().st_size)
    assert (manifest.entities, manifest.command) == (11, "the command")
    links = sum(len(paragraph["links"]) for row in WORLD for paragraph in row["paragraphs"])
    assert (manifest.links, manifest.links_unresolved) == (links + 1, 1)
    assert set(manifest.counts) == {"base/anchors.parquet", "base/graph.parquet", "base/occurrences.parquet"}


def test_several_sources_make_one_knowledge_base(tmp_path, opened):
    one = write_articles(tmp_path / "one.jsonl", [article("a", "Ant", "[[b|Bee]]")])
    other = write_articles(tmp_path / "other.jsonl", [article("b", "Bee", "[[a|Ant]]")])
    manifest = build([one, other], tmp_path / "both.kb", BuildOptions(format="articles", processes=1))
    assert [card.records for card in manifest.sources] == [1, 1]
    assert supports(opened(tmp_path / "both.kb"), "Bee") == {"b": 4}


def test_links_may_name_titles_redirected_or_not(tmp_path, opened):
    rows = [article("a", "Ant", "[[Bumble_bee|bee]] [[bumble bee|bee]]"), article("b", "Bumble bee", "")]
    assert supports(opened(make_kb(tmp_path, rows)), "bee") == {"b": 2}


# Nothing to build


def test_no_entities_at_all(tmp_path):
    folder = make_kb(tmp_path, [])
    linker = load(folder)
    assert len(linker.kb) == 0
    assert linker.link("Mercury is here.").links == ()
    assert linker.explain("Mercury").spans == ()
    assert linker.kb.aliases("Mercury") == []
    linker.kb.close()


def test_no_such_source(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        build([tmp_path / "none.csv"], tmp_path / "x.kb")
    assert list(tmp_path.iterdir()) == []


# Targets


def test_the_target_must_be_named_as_a_knowledge_base(tmp_path):
    source = write_articles(tmp_path / "a.jsonl", [article("a", "Ant")])
    with pytest.raises(InputError, match=r"NAME\.kb"):
        build([source], tmp_path / "ants")


def test_a_folder_that_is_no_knowledge_base_is_never_replaced(tmp_path):
    source = write_articles(tmp_path / "a.jsonl", [article("a", "Ant")])
    (tmp_path / "mine.kb").mkdir()
    (tmp_path / "mine.kb" / "thesis.txt").write_text("years of work")
    with pytest.raises(ExistsError, match="not a knowledge base"):
        build([source], tmp_path / "mine.kb", replace=True)
    assert (tmp_path / "mine.kb" / "thesis.txt").exists()


def test_a_knowledge_base_is_replaced_only_when_told_so(tmp_path, opened):
    folder = make_kb(tmp_path, [article("a", "Ant")])
    source = write_articles(tmp_path / "b.jsonl", [article("b", "Bee")])
    with pytest.raises(ExistsError, match="--replace"):
        build([source], folder)
    build([source], folder, BuildOptions(processes=1), replace=True)
    assert [entity.id for entity in opened(folder)] == ["b"]
    assert not (tmp_path / "made.kb.replaced").exists()


def test_what_a_killed_replacement_left_behind_does_not_stand_in_the_way(tmp_path, opened):
    folder = make_kb(tmp_path, [article("a", "Ant")])
    leftover = tmp_path / "made.kb.replaced"
    leftover.mkdir()
    (leftover / "half").write_text("removed")
    source = write_articles(tmp_path / "b.jsonl", [article("b", "Bee")])
    build([source], folder, BuildOptions(processes=1), replace=True)
    assert [entity.id for entity in opened(folder)] == ["b"]
    assert not leftover.exists()


def test_a_replacement_killed_between_its_two_moves_is_undone(tmp_path, opened):
    folder = make_kb(tmp_path, [article("a", "Ant")])
    folder.rename(tmp_path / "made.kb.replaced")
    with pytest.raises(ExistsError):
        build([tmp_path / "made.jsonl"], folder)
    assert [entity.id for entity in opened(folder)] == ["a"]


def test_a_second_build_of_the_same_target_is_told_to_wait(tmp_path):
    source = write_articles(tmp_path / "a.jsonl", [article("a", "Ant")])
    with write_lock(tmp_path / "a.kb.building"), pytest.raises(LockedError):
        build([source], tmp_path / "a.kb")


# Bad records


def test_a_doubled_id_is_told_with_file_and_record(tmp_path):
    rows = [article("a", "Ant"), article("b", "Bee"), article("a", "Aunt")]
    with pytest.raises(SourceError) as raised:
        make_kb(tmp_path, rows)
    assert raised.value.file == str(tmp_path / "made.jsonl")
    assert raised.value.position == "record 3"
    assert "'a' appears a second time" in str(raised.value)
    assert not (tmp_path / "made.kb").exists()


def test_a_doubled_id_in_a_later_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(part, "PART_PAGES", 2)
    rows = [article(id, id.upper()) for id in "abcdeb"]
    with pytest.raises(SourceError, match="record 6: the id 'b'"):
        make_kb(tmp_path, rows)


def test_skipping_keeps_the_first_and_counts_the_rest(tmp_path, opened):
    lines = [json.dumps(row) for row in (article("a", "Ant"), article("a", "Aunt"), article("b", "Bee"))]
    source = tmp_path / "bad.jsonl"
    source.write_text("\n".join([lines[0], "{broken", lines[1], '{"id": "x"}', lines[2]]) + "\n")
    manifest = build([source], tmp_path / "b.kb", BuildOptions(format="articles", on_error="skip", processes=1))
    assert {entity.id: entity.title for entity in opened(tmp_path / "b.kb")} == {"a": "Ant", "b": "Bee"}
    assert manifest.sources[0].skipped == 3
    assert len(manifest.problems) == 3
    assert any("line 2" in problem for problem in manifest.problems)


def test_a_bad_record_stops_a_build_and_the_mended_file_is_read_anew(tmp_path, opened):
    source = tmp_path / "made.jsonl"
    source.write_text(json.dumps(article("a", "Ant")) + "\n{broken\n")
    with pytest.raises(SourceError, match="line 2"):
        build([source], tmp_path / "made.kb", BuildOptions(format="articles", processes=1))
    folder = make_kb(tmp_path, [article("c", "Cat"), article("b", "Bee")])
    assert [entity.id for entity in opened(folder)] == ["c", "b"]


# Large fields


def test_a_field_of_fifty_megabytes(tmp_path, opened):
    row = {**article("big", "Big", "Small text."), "aliases": ["Huge", "x" * 49_000_000]}
    kb = opened(make_kb(tmp_path, [row, article("b", "Bee", "A bee.")]))
    assert supports(kb, "Huge") == {"big": 2}
    assert len(kb.require("big").aliases[1]) == 49_000_000
    assert supports(kb, "Bee") == {"b": 3}


def test_a_field_beyond_the_limit_is_told(tmp_path):
    with pytest.raises(SourceError, match=r"line 1: field 'aliases' holds 50,000,001 bytes"):
        make_kb(tmp_path, [{**article("big", "Big"), "aliases": ["x" * 50_000_001]}])


def test_names_at_the_limit_of_length(tmp_path, opened):
    longest = "word " * (LONGEST_NAME // 5 - 1) + "words"
    kb = opened(make_kb(tmp_path, [article("l", longest), article("m", longest + "!")]))
    assert supports(kb, longest) == {"l": 3}


# Options


def test_memory_that_is_no_amount(tmp_path):
    with pytest.raises(InputError, match="not an amount of memory"):
        make_kb(tmp_path, WORLD, memory="lots")


def test_progress_runs_to_its_end(tmp_path):
    seen = []
    source = write_articles(tmp_path / "a.jsonl", WORLD)
    build([source], tmp_path / "a.kb", BuildOptions(processes=1), progress=lambda *step: seen.append(step))
    stages = list(dict.fromkeys(stage for stage, _, _ in seen))
    assert stages[0] == "reading"
    assert stages[-1] == "sorting short names"
    assert all(0 <= done <= total for _, done, total in seen)
    assert multiprocessing.active_children() == []


def test_the_language_of_records_that_name_none(tmp_path, opened):
    kb = opened(make_kb(tmp_path, [article("a", "Ant"), article("b", "蜂", language="zh")], language="en"))
    assert [entity.language for entity in kb] == ["en", "zh"]
