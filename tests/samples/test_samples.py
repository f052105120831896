"""The sample wiki is what its README says: well-formed, ambiguous, dated, illustrated; and so is its gold."""

from __future__ import annotations

import csv
import importlib
import json
import re
import struct
import sys
import zlib
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
sys.path.insert(0, str(SAMPLES))
draw_pictures = importlib.import_module("draw_pictures")
make_articles = importlib.import_module("make_articles")


@pytest.fixture(scope="module")
def rows():
    return list(make_articles.articles(SAMPLES / "wiki"))


@pytest.fixture(scope="module")
def entities(rows):
    return {row["id"] for row in rows}


def read_jsonl(name):
    return [json.loads(line) for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines()]


def links(rows):
    """(page id, surface, target) of every link."""
    for row in rows:
        for paragraph in row["paragraphs"]:
            for start, end, target in paragraph["links"]:
                yield row["id"], paragraph["text"][start:end], target


def without_qualifier(title):
    return re.sub(r" \([^)]*\)$", "", title)


def test_about_150_pages_some_of_them_chinese(rows, entities):
    assert 140 <= len(entities) <= 170
    assert len({row["id"] for row in rows if row["language"] == "zh"}) >= 12


def test_pages_are_short_and_typed(rows):
    for row in rows:
        text = " ".join(paragraph["text"] for paragraph in row["paragraphs"])
        assert 40 <= len(text) <= 700, row["id"]
        assert row["subjects"], row["id"]


def test_text_holds_no_markup(rows):
    for row in rows:
        for paragraph in row["paragraphs"]:
            assert not re.search(r"\[\[|\]\]|\||  ", paragraph["text"]), row["id"]


def test_versions_of_a_page_follow_one_another(rows):
    versions = defaultdict(list)
    for row in rows:
        versions[row["id"]].append((row.get("valid_from"), row.get("valid_to")))
    dated = {id: periods for id, periods in versions.items() if len(periods) > 1}
    assert len(dated) >= 6
    for periods in dated.values():
        for (_, end), (start, _) in pairwise(periods):
            assert end == start
        assert periods[-1][1] is None


def test_several_versions_change_the_title(rows):
    titles = defaultdict(set)
    for row in rows:
        titles[row["id"]].add(row["title"])
    assert sum(len(names) > 1 for names in titles.values()) >= 6


def test_links_point_to_pages_and_not_to_their_own(rows, entities):
    found = list(links(rows))
    assert len(found) >= 250
    for page, surface, target in found:
        assert target in entities
        assert target != page, f"{page} links to itself"
        assert surface.strip() == surface != ""


def test_links_of_a_paragraph_are_in_order_and_apart(rows):
    for row in rows:
        for paragraph in row["paragraphs"]:
            spans = [(start, end) for start, end, _ in paragraph["links"]]
            assert all(one[1] <= other[0] for one, other in pairwise(spans))


def test_every_page_links_and_nearly_every_page_is_linked(rows, entities):
    found = list(links(rows))
    assert {page for page, _, _ in found} == entities
    assert len(entities - {target for _, _, target in found}) <= 3


def test_many_surfaces_are_ambiguous(rows):
    meanings = defaultdict(set)
    for _, surface, target in links(rows):
        meanings[surface].add(target)
    for row in rows:
        meanings[without_qualifier(row["title"])].add(row["id"])
    assert sum(len(targets) > 1 for targets in meanings.values()) >= 25


@pytest.mark.parametrize(
    ("surface", "common", "rare"),
    [
        ("Mercury", "mercury-planet", "mercury-car"),
        ("London", "london-england", "london-ontario"),
        ("Java", "java-island", "zh-java-language"),
        ("Paris", "paris-france", "paris-texas"),
        ("Athens", "athens-greece", "athens-georgia"),
        ("小米", "zh-xiaomi", "zh-millet"),
    ],
)
def test_anchors_give_a_prior(rows, surface, common, rare):
    targets = [target for _, anchor, target in links(rows) if anchor == surface]
    assert targets.count(common) > targets.count(rare) > 0


def test_an_external_identifier_belongs_to_one_entity(rows):
    owners = defaultdict(set)
    for row in rows:
        for scheme, identifier in row["external"].items():
            owners[scheme, identifier].add(row["id"])
            assert scheme != "wikidata" or re.fullmatch(r"Q[1-9]\d*", identifier)
    assert all(len(ids) == 1 for ids in owners.values())


def test_conversations_have_gold_that_fits(entities):
    conversations = read_jsonl("conversations.jsonl")
    assert len(conversations) == 2
    for conversation in conversations:
        assert 8 <= len(conversation["turns"]) <= 12
        assert any(link["entity"] is None for link in conversation["gold"])
        for link in conversation["gold"]:
            text = conversation["turns"][link["turn"]]["text"]
            assert text[link["start"] : link["end"]] == link["text"]
            assert link["entity"] is None or link["entity"] in entities


@pytest.mark.parametrize("name", ["article", "article.zh"])
def test_articles_have_gold_that_fits(name, entities):
    (row,) = read_jsonl(f"{name}.gold.jsonl")
    assert row["text"] == (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")
    assert len(row["mentions"]) >= 7
    for mention in row["mentions"]:
        assert row["text"][mention["start"] : mention["end"]] == mention["text"]
        assert mention["entity"] is None or mention["entity"] in entities


def test_the_article_uses_one_name_in_several_senses():
    (row,) = read_jsonl("article.gold.jsonl")
    senses = defaultdict(set)
    for mention in row["mentions"]:
        senses[mention["text"].lower()].add(mention["entity"])
    assert {name for name, ids in senses.items() if len(ids) > 1} == {
        "mercury",
        "cambridge",
        "jaguar",
        "java",
    }


def test_products_are_a_clean_table_with_shared_names():
    with (SAMPLES / "products.csv").open(encoding="utf-8", newline="") as file:
        products = list(csv.DictReader(file))
    assert list(products[0]) == ["id", "name", "description", "aliases", "category"]
    assert len({product["id"] for product in products}) == 12
    owners = defaultdict(set)
    for product in products:
        assert all(product.values())
        for alias in product["aliases"].split("|"):
            owners[alias].add(product["id"])
    assert owners["Heron"] == {"P-101", "P-102"}
    chat = (SAMPLES / "chat.txt").read_text(encoding="utf-8").lower()
    assert sum(alias.lower() in chat for alias in owners) >= 4


def read_png(data):
    """Width, height and raw rows of an RGB PNG whose rows are unfiltered, checksums verified."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    position, chunks = 8, {}
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position : position + 8])
        body = data[position + 8 : position + 8 + length]
        (checksum,) = struct.unpack(">I", data[position + 8 + length : position + 12 + length])
        assert checksum == zlib.crc32(kind + body)
        chunks[kind] = body
        position += 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    raw = zlib.decompress(chunks[b"IDAT"])
    stride = 1 + 3 * width
    assert len(raw) == stride * height
    return width, height, [raw[top + 1 : top + stride] for top in range(0, len(raw), stride)]


def test_every_image_of_a_page_is_there_and_every_picture_is_used(rows):
    used = {row["image"] for row in rows if "image" in row}
    assert used == {path.name for path in (SAMPLES / "pictures").iterdir()}
    assert used == {f"{name}.png" for name in draw_pictures.PICTURES}


@pytest.mark.parametrize("path", sorted((SAMPLES / "pictures").glob("*.png")), ids=lambda path: path.stem)
def test_pictures_are_small_valid_png_files(path):
    data = path.read_bytes()
    width, height, pixel_rows = read_png(data)
    assert width <= 96 and height <= 96 and len(data) < 4096
    assert len(set(pixel_rows)) > 1


@pytest.mark.parametrize("name", ["france-flag", "medal"])
def test_a_stored_picture_is_what_the_script_draws(name):
    _, _, stored = read_png((SAMPLES / "pictures" / f"{name}.png").read_bytes())
    assert stored == draw_pictures.paint(draw_pictures.PICTURES[name]())


def test_draw_pictures_writes_files(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(draw_pictures, "PICTURES", {"flag": draw_pictures.france_flag})
    assert draw_pictures.main([str(tmp_path / "new")]) == 0
    assert read_png((tmp_path / "new" / "flag.png").read_bytes())[:2] == (96, 96)
    assert "1 pictures" in capsys.readouterr().out
