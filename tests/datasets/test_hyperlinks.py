"""Articles to a corpus: what is in it, whoever makes it and however often they are interrupted."""

from __future__ import annotations

import gzip
import hashlib
from collections import Counter

import msgspec
import pytest

import entlink
from corpora import ONE, PAGES, few, ids
from entlink.datasets.hyperlinks.build import HyperlinksReport, build_hyperlinks
from entlink.errors import SourceError
from entlink.formats.documents.lines import read_documents
from entlink.sources import part
from knowledge_bases import WORLD, article, write_articles


def page_of(id: str) -> str:
    return id.rpartition("#")[0]


def facts(report: HyperlinksReport) -> dict[str, object]:
    """All but when and by which command."""
    return {**msgspec.to_builtins(report), "built": "", "command": ""}


def test_the_first_documents_of_the_world(world_articles, tmp_path):
    build_hyperlinks(world_articles, tmp_path / "links.jsonl", ONE)
    lines = (tmp_path / "links.jsonl").read_text(encoding="utf8").splitlines()
    assert lines[1] == (
        '{"id":"planet#2","text":"Unlike Venus, mercury the metal is liquid. MERCURY!",'
        '"mentions":[{"start":7,"end":12,"text":"Venus"}],"gold":[{"start":7,"end":12,"entity":"venus"}],'
        '"links":[],"meta":{"page":"Mercury (planet)","kind":"text"}}'
    )
    assert '"text":"北京在中国。","language":"zh"' in lines[-3]
    assert ids(tmp_path / "links.jsonl")[-4:] == ["us#1", "beijing#1", "swazi#1", "swazi@2018-04-19#1"]


def test_spans_are_the_links_of_the_articles(world_articles, tmp_path):
    build_hyperlinks(world_articles, tmp_path / "links.jsonl", ONE)
    expected = [
        (paragraph["text"][start:end], target)
        for row in WORLD
        for paragraph in row["paragraphs"]
        for start, end, target in paragraph["links"]
    ]
    found = [
        (document.text[gold.span.start : gold.span.end], *gold.entities)
        for document in read_documents(tmp_path / "links.jsonl")
        for gold in document.gold
    ]
    assert found == expected


def test_the_card_tells_what_was_made_of_what(many, many_kb, tmp_path):
    out = tmp_path / "links.jsonl"
    report = build_hyperlinks(many, out, few(nil=True), kb=many_kb, command="entlink …")
    written = msgspec.json.decode((tmp_path / "links.card.json").read_bytes(), type=HyperlinksReport)
    assert written == report
    assert sorted(path.name for path in tmp_path.iterdir()) == ["links.card.json", "links.jsonl"]
    assert (report.command, report.entlink) == ("entlink …", entlink.__version__)
    (source,), (file,) = report.sources, report.files
    assert (source.name, source.format, source.records) == ("many.jsonl", "articles", PAGES)
    assert source.sha256 == hashlib.sha256(many.read_bytes()).hexdigest()
    assert file.sha256 == hashlib.sha256(out.read_bytes()).hexdigest()
    assert file.bytes == out.stat().st_size
    assert (report.kb.name, report.kb.manifest.entities) == ("many.kb", PAGES)
    assert report.kb.sha256 == hashlib.sha256((many_kb / "kb.sqlite").read_bytes()).hexdigest()
    assert report.options["nil"] is True
    assert report.options["wiki"]["ids"] == "title"


def test_the_counts_are_those_of_the_documents(many, many_kb, tmp_path):
    out = tmp_path / "links.jsonl"
    report = build_hyperlinks(many, out, few(nil=True), kb=many_kb)
    documents = list(read_documents(out))
    gold = [link.entities for document in documents for link in document.gold]
    assert (report.documents, report.pages) == (len(documents), PAGES)
    assert (report.links, report.nil) == (len(gold) - gold.count(()), gold.count(()))
    assert (report.read.links, report.read.unresolved) == (len(gold), gold.count(()))
    assert report.nil > 0


def test_links_to_nothing_are_left_out(many, many_kb, tmp_path):
    report = build_hyperlinks(many, tmp_path / "links.jsonl", ONE, kb=many_kb)
    entities = {
        entity
        for document in read_documents(tmp_path / "links.jsonl")
        for gold in document.gold
        for entity in gold.entities
    }
    assert (report.nil, "gone" in entities) == (0, False)
    assert report.links == report.read.links - report.read.unresolved
    build_hyperlinks(many, tmp_path / "as-written.jsonl", ONE)
    assert "gone" in (tmp_path / "as-written.jsonl").read_text(encoding="utf8")


def test_any_number_of_processes_makes_the_same(many, many_kb, small_parts, tmp_path):
    options = {"split": {"train": 0.7, "test": 0.3}, "sample": 50}
    one = build_hyperlinks(many, tmp_path / "a.jsonl", few(**options), kb=many_kb)
    two = build_hyperlinks(many, tmp_path / "b.jsonl", few(**options, processes=2), kb=many_kb)
    for split in ("train", "test"):
        assert (tmp_path / f"a.{split}.jsonl").read_bytes() == (tmp_path / f"b.{split}.jsonl").read_bytes()
    for file in (*one.files, *two.files):
        file.name = file.name[1:]
    assert facts(one) == facts(two)


def test_the_size_of_parts_does_not_matter(many, monkeypatch, tmp_path):
    whole = build_hyperlinks(many, tmp_path / "a.jsonl", few(sample=40))
    for pages in (1, 13):
        monkeypatch.setattr(part, "PART_PAGES", pages)
        again = build_hyperlinks(many, tmp_path / "a.jsonl", few(sample=40), replace=True)
        assert facts(again) == facts(whole)


def test_a_page_is_in_one_split(many, tmp_path):
    shares = {"train": 0.6, "dev": 0.2, "test": 0.2}
    report = build_hyperlinks(many, tmp_path / "links.jsonl", few(split=shares))
    assert [file.name for file in report.files] == ["links.train.jsonl", "links.dev.jsonl", "links.test.jsonl"]
    assert not (tmp_path / "links.jsonl").exists()
    found = [ids(tmp_path / file.name) for file in report.files]
    build_hyperlinks(many, tmp_path / "whole.jsonl", ONE)
    assert Counter(id for split in found for id in split) == Counter(ids(tmp_path / "whole.jsonl"))
    pages = [{page_of(id) for id in split} for split in found]
    assert all(pages)
    assert sum(map(len, pages)) == len(set.union(*pages)) == PAGES
    assert [file.pages for file in report.files] == [len(split) for split in pages]
    assert len(pages[0]) > len(pages[1]) + len(pages[2])


def test_versions_of_a_page_are_in_one_split(tmp_path):
    rows = [
        article(f"p{number}", "Page", "[[x|x]]", valid_from=year) for number in range(30) for year in ("1900", "2000")
    ]
    source = write_articles(tmp_path / "dated.jsonl", rows)
    build_hyperlinks(source, tmp_path / "links.jsonl", few(split={"a": 0.5, "b": 0.5}))
    places = [{id.partition("@")[0] for id in ids(tmp_path / f"links.{split}.jsonl")} for split in "ab"]
    assert all(places)
    assert not places[0] & places[1]


@pytest.mark.parametrize("processes", [1, 2])
def test_the_limit_takes_the_first_documents(many, small_parts, tmp_path, processes):
    build_hyperlinks(many, tmp_path / "whole.jsonl", ONE)
    report = build_hyperlinks(many, tmp_path / "links.jsonl", few(limit=33, processes=processes))
    assert ids(tmp_path / "links.jsonl") == ids(tmp_path / "whole.jsonl")[:33]
    assert report.documents == 33
    assert report.read.pages == 21  # whole parts of seven pages, no more than were needed


def test_a_limit_beyond_the_end_takes_everything(many, tmp_path):
    build_hyperlinks(many, tmp_path / "whole.jsonl", ONE)
    build_hyperlinks(many, tmp_path / "links.jsonl", few(limit=10_000))
    assert ids(tmp_path / "links.jsonl") == ids(tmp_path / "whole.jsonl")


def test_a_sample_is_as_large_as_wanted_in_order_and_by_its_seed(many, tmp_path):
    build_hyperlinks(many, tmp_path / "whole.jsonl", ONE)
    whole = ids(tmp_path / "whole.jsonl")
    samples = []
    for seed in (0, 1):
        build_hyperlinks(many, tmp_path / f"{seed}.jsonl", few(sample=25, seed=seed))
        samples.append(ids(tmp_path / f"{seed}.jsonl"))
    assert [len(sample) for sample in samples] == [25, 25]
    assert samples[0] != samples[1]
    assert all(sample == [id for id in whole if id in set(sample)] for sample in samples)
    build_hyperlinks(many, tmp_path / "larger.jsonl", few(sample=40))
    assert set(samples[0]) < set(ids(tmp_path / "larger.jsonl"))


def test_a_sample_larger_than_the_source_is_the_source(many, tmp_path):
    build_hyperlinks(many, tmp_path / "whole.jsonl", ONE)
    build_hyperlinks(many, tmp_path / "links.jsonl", few(sample=10_000))
    assert (tmp_path / "links.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_packed_files_hold_the_same_and_are_the_same_each_time(many, tmp_path):
    build_hyperlinks(many, tmp_path / "plain.jsonl", ONE)
    packed = [build_hyperlinks(many, tmp_path / f"{name}.jsonl.gz", ONE).files[0].sha256 for name in "ab"]
    assert packed[0] == packed[1]
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == (tmp_path / "plain.jsonl").read_bytes()
    assert ids(tmp_path / "a.jsonl.gz") == ids(tmp_path / "plain.jsonl")


def test_several_sources_follow_each_other(many, world_articles, tmp_path):
    report = build_hyperlinks([world_articles, many], tmp_path / "links.jsonl", ONE)
    assert [source.records for source in report.sources] == [len(WORLD), PAGES]
    found = ids(tmp_path / "links.jsonl")
    assert (found[0], page_of(found[-1])) == ("planet#1", f"p{PAGES - 1}")


def test_bad_records_stop_or_are_told(tmp_path):
    source = write_articles(tmp_path / "bad.jsonl", [*WORLD, {"id": "x", "title": "X", "paragraphs": 3}, WORLD[0]])
    with pytest.raises(SourceError, match=f"line {len(WORLD) + 1}"):
        build_hyperlinks(source, tmp_path / "links.jsonl", few(format="articles"))
    report = build_hyperlinks(source, tmp_path / "links.jsonl", few(format="articles", on_error="skip"))
    assert (report.sources[0].skipped, len(report.problems)) == (1, 1)
    assert f"line {len(WORLD) + 1}" in report.problems[0]


def test_a_source_without_links_gives_an_empty_file(tmp_path):
    source = write_articles(tmp_path / "plain.jsonl", [article("a", "A", "No link here.")])
    report = build_hyperlinks(source, tmp_path / "links.jsonl", ONE)
    assert (report.documents, report.read.paragraphs) == (0, 1)
    assert (tmp_path / "links.jsonl").read_bytes() == b""


def test_the_linker_takes_the_spans_as_given(world_articles, world_folder, tmp_path):
    build_hyperlinks(world_articles, tmp_path / "links.jsonl", ONE, kb=world_folder)
    linker = entlink.load(world_folder, mentions="given")
    documents = list(linker.link_all(read_documents(tmp_path / "links.jsonl")))
    linker.kb.close()
    assert documents
    for document in documents:
        assert [link.mention.span for link in document.links] == [gold.span for gold in document.gold]
