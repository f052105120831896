from __future__ import annotations

import random
from pathlib import Path

import pytest

import entlink
from corpora import PAGES
from entlink.sources import part
from knowledge_bases import WORLD, article, write_articles


@pytest.fixture
def world_articles(tmp_path) -> Path:
    return write_articles(tmp_path / "world.jsonl", WORLD)


@pytest.fixture(scope="session")
def many(tmp_path_factory) -> Path:
    """Pages with one to three paragraphs, each with a link or two."""
    pick = random.Random(11)

    def texts(number: int) -> list[str]:
        return [
            f"Of [[p{pick.randrange(PAGES)}|page {index}]]" + ", [[gone|lost]]." * pick.randrange(2)
            for index in range(1 + number % 3)
        ]

    rows = (article(f"p{number}", f"Page {number}", *texts(number)) for number in range(PAGES))
    return write_articles(tmp_path_factory.mktemp("many") / "many.jsonl", rows)


@pytest.fixture(scope="session")
def many_kb(many, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("many") / "many.kb"
    entlink.build(many, folder, entlink.BuildOptions(processes=1, count_text=False))
    return folder


@pytest.fixture
def small_parts(monkeypatch):
    """Many parts of few pages, which are worth a pool of processes."""
    monkeypatch.setattr(part, "PART_PAGES", 7)
    monkeypatch.setattr("entlink.kb.build.source_parts._WORTH_A_POOL", 0)
