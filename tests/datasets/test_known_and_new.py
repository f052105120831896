"""Known and new entities: nothing of the new ones is in what is learnt, and they can be added."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import duckdb
import pytest

from entlink.datasets.known import SplitOptions, split
from entlink.errors import ExistsError, InputError
from entlink.io.checksums import checksums
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.rules import rules
from knowledge_bases import write_articles
from wiki_dumps import WikiPage, export
from wikidata_items import item, write_dump


def article(id: str, *paragraphs: str) -> dict[str, object]:
    """`[Name>id]` in a paragraph is a link."""
    written = []
    for paragraph in paragraphs:
        text, links, rest = "", [], paragraph
        while "[" in rest:
            before, _, rest = rest.partition("[")
            link, _, rest = rest.partition("]")
            surface, _, target = link.partition(">")
            text += before
            links.append([len(text), len(text) + len(surface), target])
            text += surface
        written.append({"text": text + rest, "links": links})
    return {"id": id, "title": f"Title {id}", "paragraphs": written}


ARTICLES = [
    article("Q1", "The [Heron>Q2] met the [Heron>Q9].", "A Heron and [Wren>Q3]."),
    article("Q2", "The [Wren>Q3] sings.", "No links here: Wren."),
    article("Q3", "Of [Heron>Q2], [Heron>Q2] and [Kite>Q9]."),
    article("Q4", "Wren Wren Wren."),
    article("Q9", "New: [Heron>Q2], [Wren>Q3]. Heron Wren Wren."),
    article("Q10", "Newer: [Wren>Q1]."),
]
OLD = ["Q1", "Q2", "Q3", "Q4", "Q500"]


@pytest.fixture
def kb(tmp_path) -> Path:
    build(write_articles(tmp_path / "a.jsonl", ARTICLES), tmp_path / "all.kb", BuildOptions(processes=1))
    return tmp_path / "all.kb"


@pytest.fixture
def old(tmp_path) -> Path:
    (tmp_path / "old.txt").write_text("\n".join(OLD) + "\n")
    return tmp_path / "old.txt"


def counts(kb: Path, name: str) -> list[tuple[object, ...]]:
    return duckdb.sql(f"SELECT * FROM '{kb}/counts/base/{name}.parquet'").fetchall()


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


def test_no_count_has_seen_a_new_entity(kb, old, tmp_path, opened):
    report = split(kb, old, tmp_path / "out", SplitOptions(validation=0))
    known = opened(tmp_path / "out" / "known.kb")
    ids = [entity.id for entity in known]
    assert (ids, report.known, report.new) == (["Q1", "Q2", "Q3", "Q4"], 4, 2)
    by_key = dict(enumerate(ids, 1))
    anchors = {(surface, by_key[key], count) for surface, key, count in counts(known.folder, "anchors")}
    assert anchors == {("Heron", "Q2", 3), ("Wren", "Q3", 2)}  # of 4 and 3: Q9 is new, and so is what it counts
    graph = {(by_key[origin], by_key[target]) for origin, target, _ in counts(known.folder, "graph")}
    assert graph == {("Q1", "Q2"), ("Q1", "Q3"), ("Q2", "Q3"), ("Q3", "Q2")}
    # Unlinked in known texts: what is a link to a new entity is neither a link nor unlinked.
    assert set(counts(known.folder, "occurrences")) == {("Heron", 1), ("Wren", 4)}
    assert [target for _, target in known.hyperlinks("Q1")] == ["Q2", "Q3"]
    assert known.get("Q1") == opened(kb).get("Q1")


def test_without_new_entities_all_counts_are_those_of_the_whole(kb, tmp_path):
    (tmp_path / "all.txt").write_text("\n".join(str(each["id"]) for each in ARTICLES))
    split(kb, tmp_path / "all.txt", tmp_path / "out", SplitOptions(validation=0))
    assert checksums(tmp_path / "out" / "known.kb" / "counts") == checksums(kb / "counts")


def test_new_entities_can_be_added_to_the_known_ones(kb, old, tmp_path, opened):
    split(kb, old, tmp_path / "out", SplitOptions(validation=1))
    known = opened(tmp_path / "out" / "known.kb")
    assert known.add(str(tmp_path / "out" / "new.jsonl")) == 2
    assert known.get("Q9") == opened(kb).get("Q9")


def test_links_to_an_entity_that_was_removed_are_left_out(kb, tmp_path, opened):
    with KnowledgeBase.open(kb) as edited:
        edited.remove("Q10", "Q9")
    (tmp_path / "old.txt").write_text("Q1\nQ2\nQ3\n")
    assert split(kb, tmp_path / "old.txt", tmp_path / "out", SplitOptions(validation=0)).new == 1
    assert [target for _, target in opened(tmp_path / "out" / "known.kb").hyperlinks("Q1")] == ["Q2", "Q3"]


def test_documents_have_gold_of_known_entities_only(kb, old, tmp_path):
    split(kb, old, tmp_path / "out", SplitOptions(validation=0))
    documents = {row["id"]: row for row in lines(tmp_path / "out" / "train.jsonl")}
    assert list(documents) == ["Q1", "Q2", "Q3"]
    gold = [(one["start"], one["entity"]) for one in documents["Q1"]["gold"]]
    assert gold == [(4, "Q2"), (38, "Q3")]
    assert documents["Q1"]["text"] == "The Heron met the Heron.\n\nA Heron and Wren."
    assert (tmp_path / "out" / "validation.jsonl").read_text() == ""


def test_texts_held_out_are_whole_and_in_no_count(kb, old, tmp_path, opened):
    report = split(kb, old, tmp_path / "out", SplitOptions(validation=1))
    (held,) = lines(tmp_path / "out" / "validation.jsonl")
    train = [row["id"] for row in lines(tmp_path / "out" / "train.jsonl")]
    assert sorted([*train, held["id"]]) == ["Q1", "Q2", "Q3"]
    assert report.documents == {"train.jsonl": 2, "validation.jsonl": 1}
    known = opened(tmp_path / "out" / "known.kb")
    assert not known.hyperlinks(held["id"])
    assert known.get(held["id"]).description == held["text"]
    whole = {"Q1": ({2: 2}, {3: 1}), "Q2": ({2: 3}, {3: 1}), "Q3": ({2: 1}, {3: 2})}[held["id"]]
    found = {surface: {key: count} for surface, key, count in counts(known.folder, "anchors")}
    assert (found["Heron"], found["Wren"]) == whole


def test_another_seed_holds_out_others_and_the_same_one_the_same(kb, old, tmp_path):
    def held(seed: int, name: str) -> list[object]:
        split(kb, old, tmp_path / name, SplitOptions(validation=1, seed=seed))
        return [row["id"] for row in lines(tmp_path / name / "validation.jsonl")]

    assert held(0, "a") == held(0, "b")
    assert len({str(held(seed, f"seed-{seed}")) for seed in range(6)}) > 1


@pytest.mark.parametrize("kind", ["kb", "dump", "table"])
def test_what_is_known_may_be_another_knowledge_base_a_dump_or_a_table(kb, kind, tmp_path, opened):
    table = write_articles(tmp_path / "old.jsonl", [{"id": id, "title": id} for id in OLD])
    if kind == "kb":
        build(table, given := tmp_path / "old.kb")
    elif kind == "dump":  # those without a label are known, too
        given = write_dump(tmp_path / "old.json", [item(id) for id in OLD])
    else:
        given = table
    split(kb, given, tmp_path / "out", SplitOptions(validation=1))
    assert [entity.id for entity in opened(tmp_path / "out" / "known.kb")] == OLD[:4]


def test_an_id_that_was_joined_with_another_since_is_known(tmp_path, opened):
    items = [item("Q1", {"en": "Ant"}), item("Q2", {"en": "Bee"}), {"entity": "Q7", "redirect": "Q1"}]
    build(write_dump(tmp_path / "new.json", items), tmp_path / "new.kb")
    (tmp_path / "old.txt").write_text("Q7\n")
    split(tmp_path / "new.kb", tmp_path / "old.txt", tmp_path / "out")
    assert [entity.id for entity in opened(tmp_path / "out" / "known.kb")] == ["Q1"]


def test_the_hierarchy_of_types_comes_along(tmp_path, opened):
    items = [
        item("Q1", {"en": "Ada"}, claims={"P31": ["Q5"]}),
        item("Q5", {"en": "human"}, claims={"P279": ["Q215627"]}),
    ]
    build(write_dump(tmp_path / "new.json", items), tmp_path / "new.kb")
    (tmp_path / "old.txt").write_text("Q1\n")
    split(tmp_path / "new.kb", tmp_path / "old.txt", tmp_path / "out")
    known = opened(tmp_path / "out" / "known.kb")
    assert known.types.coarse("Q1") == "PER"
    assert known.types.name("Q5") == "human"


def test_what_claims_say_of_a_new_entity_is_left_out(tmp_path, opened):
    claims = {"P31": ["Q5"], "P40": ["Q2", "Q3"], "P22": ["Q2"]}
    items = [item("Q1", {"en": "Ada"}, claims=claims), item("Q2", {"en": "Ben"}), item("Q3", {"en": "Cy"})]
    build(write_dump(tmp_path / "new.json", items), tmp_path / "new.kb")
    (tmp_path / "old.txt").write_text("\ufeffQ1\nQ3\n", encoding="utf8")
    split(tmp_path / "new.kb", tmp_path / "old.txt", tmp_path / "out")
    assert opened(tmp_path / "out" / "known.kb").get("Q1").claims == {"P31": ("Q5",), "P40": ("Q3",)}


def test_a_split_made_anew_is_of_what_is_known_then(kb, tmp_path, opened):
    for ids in (["Q1", "Q2"], ["Q2", "Q3"]):
        (tmp_path / "old.txt").write_text("\n".join(ids))
        split(kb, tmp_path / "old.txt", tmp_path / "out", SplitOptions(validation=0), replace=True)
        assert [entity.id for entity in opened(tmp_path / "out" / "known.kb")] == ids


def test_pins_types_and_versions_come_along(tmp_path, opened):
    rows = [
        {"id": "a", "title": "Old Ant", "valid_from": "2001", "valid_to": "2005", "types": ["Insect"]},
        {"id": "a", "title": "Ant", "valid_from": "2005", "types": ["Insect"]},
        {"id": "b", "title": "Bee"},
    ]
    build(write_articles(tmp_path / "t.jsonl", rows), tmp_path / "t.kb")
    with KnowledgeBase.open(tmp_path / "t.kb") as kb:
        kb.pin("Queen", "a")
        kb.pin("Drone", "b")
    (tmp_path / "old.txt").write_text("a\n")
    split(tmp_path / "t.kb", tmp_path / "old.txt", tmp_path / "out")
    known = opened(tmp_path / "out" / "known.kb")
    assert [version.entity.title for version in known.versions("a")] == ["Old Ant", "Ant"]
    assert known.type_counts() == [("Insect", 1)]
    assert [(rule.surface, rule.entity) for rule in rules(known.folder)] == [("Queen", "a")]


class TestRefused:
    def test_nothing_in_common(self, kb, tmp_path):
        (tmp_path / "old.txt").write_text("P1\n")
        with pytest.raises(InputError, match=r"none of the entities .* Do both have the same kind of ids"):
            split(kb, tmp_path / "old.txt", tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_what_is_not_there(self, kb, tmp_path):
        with pytest.raises(InputError, match="no such file or folder"):
            split(kb, tmp_path / "old.txt", tmp_path / "out")

    def test_nothing_left_for_training(self, kb, old, tmp_path):
        with pytest.raises(InputError, match=r"all 3 texts .* Hold out fewer: --validation N"):
            split(kb, old, tmp_path / "out")
        assert not (tmp_path / "out.partial").exists()

    def test_a_wiki_whose_pages_have_titles_only(self, kb, tmp_path):
        (tmp_path / "wiki.xml").write_text(export([WikiPage("Heron", "A bird.")], name="enwiki"), encoding="utf8")
        with pytest.raises(InputError, match=r"wiki\.xml is of a wiki.*--ids wikidata"):
            split(kb, tmp_path / "wiki.xml", tmp_path / "out")

    @pytest.mark.parametrize("name", ["old.txt.gz", "empty"])
    def test_what_is_of_no_kind_it_can_be(self, kb, name, tmp_path):
        path = tmp_path / name
        path.mkdir() if name == "empty" else path.write_bytes(gzip.compress(b"Q1\n"))
        with pytest.raises(InputError, match=r"Give a knowledge base, a dump of Wikidata, a table, or a \.txt file"):
            split(kb, path, tmp_path / "out")

    def test_a_folder_that_is_there(self, kb, old, tmp_path):
        (tmp_path / "out").mkdir()
        with pytest.raises(ExistsError, match="is there already"):
            split(kb, old, tmp_path / "out")
        with pytest.raises(ExistsError, match="is no split"):
            split(kb, old, tmp_path / "out", replace=True)

    def test_counts_without_the_links_they_are_of(self, old, tmp_path):
        articles = write_articles(tmp_path / "b.jsonl", ARTICLES)
        build(articles, tmp_path / "small.kb", BuildOptions(descriptions="opening"))
        with pytest.raises(InputError, match=r"keeps no links.*--descriptions full"):
            split(tmp_path / "small.kb", old, tmp_path / "out")
