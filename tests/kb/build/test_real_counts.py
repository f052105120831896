"""The counts of a real wiki, against counts made elsewhere and against a plain Counter."""

from __future__ import annotations

import json
import lzma
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest

from entlink.documents import Document, Mention, Span
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.linker import load

OPTIONS = BuildOptions(format="articles", count_text=False, processes=1)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf8") as file:
        yield from map(json.loads, file)


@pytest.fixture(scope="module")
def schools_kb(schools, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("schools") / "schools.kb"
    build([schools / "articles.jsonl.xz"], folder, OPTIONS)
    return folder


def test_the_alias_counts_of_a_whole_wiki_are_reproduced(schools, schools_kb):
    expected = {(line["alias"], line["entity"]): line["count"] for line in lines(schools / "aliases.jsonl.xz")}
    anchors = schools_kb / "counts" / "base" / "anchors.parquet"
    rows = duckdb.execute("SELECT surface, entity, count FROM read_parquet(?)", [str(anchors)]).fetchall()
    with KnowledgeBase.open(schools_kb) as kb:
        counted = {(surface, kb.head(entity)[0]): count for surface, entity, count in rows}
    assert len(expected) == 10_723
    assert counted == expected


@pytest.fixture(scope="module")
def train_kb(schools, schools_kb, tmp_path_factory) -> Path:
    """The same entities, with the links of the training paragraphs alone."""
    folder = tmp_path_factory.mktemp("train")
    paragraphs = defaultdict(list)
    for line in lines(schools / "mentions_train.jsonl.xz"):
        links = [[mention["start"], mention["end"], mention["entity"]] for mention in line["mentions"]]
        paragraphs[line["id"].rpartition("#")[0]].append({"text": line["text"], "links": links})
    with KnowledgeBase.open(schools_kb) as kb, (folder / "train.jsonl").open("w", encoding="utf8") as file:
        for entity in kb:
            row = {"id": entity.id, "title": entity.title, "paragraphs": paragraphs.pop(entity.id, [])}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    assert not paragraphs
    options = msgspec.structs.replace(OPTIONS, names_in_openings=False)
    build([folder / "train.jsonl"], folder / "train.kb", options)
    return folder / "train.kb"


def documents(path: Path) -> Iterator[tuple[Document, list[str]]]:
    for line in lines(path):
        mentions = tuple(Mention(Span(one["start"], one["end"]), one["text"]) for one in line["mentions"])
        yield Document(line["id"], line["text"], mentions=mentions), [one["entity"] for one in line["mentions"]]


def test_linking_given_spans_by_the_prior_is_what_a_plain_count_says(schools, train_kb):
    linker = load(train_kb, config="lexical", mentions="given")
    test, gold = zip(*documents(schools / "mentions_test.jsonl.xz"), strict=True)
    links = [link for document in linker.link_all(test) for link in document.links]
    titles = {entity.id: entity.title for entity in linker.kb}
    linker.kb.close()
    answers = [entity for entities in gold for entity in entities]
    assert len(links) == len(answers) == 12_745
    right = sum(link.entity == answer for link, answer in zip(links, answers, strict=True))
    assert right / len(answers) >= 0.937

    counted = plain_counts(schools, titles)
    told = [(link, counted[link.mention.text]) for link in links if link.mention.text in counted]
    assert len(told) > 0.95 * len(links)
    for link, count in told:
        best = max(count.values())
        assert count[link.entity] == best
        assert link.score == pytest.approx(best / count.total())


def plain_counts(schools: Path, titles: dict[str, str]) -> dict[str, Counter[str]]:
    """Of each surface as written: one for a link, three for a title, one for a title less its parenthesis."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines(schools / "mentions_train.jsonl.xz"):
        for mention in line["mentions"]:
            counted[" ".join(mention["text"].split())][mention["entity"]] += 1
    for id, title in titles.items():
        counted[title][id] += 3
        if title.endswith(")") and " (" in title:
            counted[title[: title.rindex(" (")]][id] += 1
    return counted
