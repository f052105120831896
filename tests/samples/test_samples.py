"""The gold fits its texts and the wikis; the products are a clean table; the pictures are what is drawn."""

from __future__ import annotations

import csv
import importlib
import json
import struct
import sys
import zlib
from collections import defaultdict

import pytest

from sample_exports import EXPORTS, SAMPLES, pages

sys.path.insert(0, str(SAMPLES))
draw_pictures = importlib.import_module("draw_pictures")


@pytest.fixture(scope="module")
def entities():
    return {page.title for language in EXPORTS for page in pages(language) if page.is_article}


def read_jsonl(name):
    return [json.loads(line) for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines()]


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


def test_every_picture_has_a_drawing():
    assert {path.stem for path in (SAMPLES / "pictures").iterdir()} == set(draw_pictures.PICTURES)


def test_pictures_are_small_valid_png_files():
    pictures = sorted((SAMPLES / "pictures").glob("*.png"))
    assert pictures
    for path in pictures:
        data = path.read_bytes()
        width, height, pixel_rows = read_png(data)
        assert width <= 96 and height <= 96 and len(data) < 4096, path.name
        assert len(set(pixel_rows)) > 1, path.name


@pytest.mark.parametrize("name", ["France-flag", "Medal"])
def test_a_stored_picture_is_what_the_script_draws(name):
    _, _, stored = read_png((SAMPLES / "pictures" / f"{name}.png").read_bytes())
    assert stored == draw_pictures.paint(draw_pictures.PICTURES[name]())


def test_draw_pictures_writes_files(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(draw_pictures, "PICTURES", {"flag": draw_pictures.france_flag})
    assert draw_pictures.main([str(tmp_path / "new")]) == 0
    assert read_png((tmp_path / "new" / "flag.png").read_bytes())[:2] == (96, 96)
    assert "1 pictures" in capsys.readouterr().out
