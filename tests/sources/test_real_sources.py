"""Checks on real data sets, counted and compared with independent readings of the same files."""

from __future__ import annotations

import json
import lzma

import pytest

from entlink.sources import open_source


def test_schools_wikipedia(shared_data, tmp_path):
    packed = shared_data / "schools_wikipedia" / "articles.jsonl.xz"
    if not packed.exists():
        pytest.skip(f"{packed} is absent")
    path = tmp_path / "articles.jsonl"
    with lzma.open(packed) as content:
        path.write_bytes(content.read())
    source = open_source(path)
    assert source.format == "articles"
    count = links = 0
    with path.open("rb") as file:
        for line, page in zip(file, source, strict=True):
            article = json.loads(line)
            count += 1
            assert (page.entity.id, page.entity.title) == (article["id"], article["title"])
            assert page.entity.types == tuple(dict.fromkeys(article["subjects"]))
            assert [paragraph.text for paragraph in page.paragraphs] == [p["text"] for p in article["paragraphs"]]
            assert [
                [anchor.start, anchor.end, anchor.target]
                for paragraph in page.paragraphs
                for anchor in paragraph.links
            ] == [link for paragraph in article["paragraphs"] for link in paragraph["links"]]
            links += sum(len(paragraph.links) for paragraph in page.paragraphs)
    assert count == 4655
    assert links > 100_000
    assert source.position() == source.size


def test_simple_english_wikipedia(shared_data):
    path = shared_data / "simplewiki_2021_kb.jsonl.xz"
    if not path.exists():
        pytest.skip(f"{path} is absent")
    source = open_source(path)
    assert source.format == "jsonl"
    pages = iter(source)
    first = next(pages).entity
    assert (first.id, first.title) == ("1", "April")
    assert first.description.startswith("April is the fourth month")
    assert 1 + sum(1 for _ in pages) == 196_052
    assert source.position() == source.size


def test_zeshel_sample(shared_data):
    path = shared_data / "zeshel_sample"
    if not path.exists():
        pytest.skip(f"{path} is absent")
    source = open_source(path)
    assert source.format == "zeshel"
    pages = list(source)
    assert len(pages) == 23
    assert {page.entity.types for page in pages} == {
        ("doctor_who",),
        ("military",),
        ("pro_wrestling",),
        ("starwars",),
    }
    assert len({page.entity.id for page in pages}) == 23
