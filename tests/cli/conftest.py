"""A small knowledge base with links, types, dated versions and Chinese names, and ways to run commands on it."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from entlink.kb.build.from_sources import build
from entlink_cli import main

LINKING = "entlink: linking with "
_MARK = re.compile(r"\[([^|\]]+)\|([^\]]+)\]")


def article(id, title, text, **fields):
    """An article whose text has its links as [surface|id]."""
    plain, links, at = "", [], 0
    for mark in _MARK.finditer(text):
        plain += text[at : mark.start()]
        links.append([len(plain), len(plain) + len(mark[1]), mark[2]])
        plain += mark[1]
        at = mark.end()
    paragraphs = [{"text": plain + text[at:], "links": links}]
    return {"id": id, "title": title, "paragraphs": paragraphs, **fields}


ARTICLES = [
    article(
        "mercury-planet",
        "Mercury (planet)",
        "[Mercury|mercury-planet] is the planet nearest to the [Sun|sun]. [NASA|nasa] sent a probe.",
        types=["planet"],
        external={"wikidata": "Q308"},
    ),
    article(
        "mercury-element",
        "Mercury (element)",
        "[Mercury|mercury-element] is a metal, also [quicksilver|mercury-element].",
        types=["element"],
        aliases=["quicksilver"],
    ),
    article("sun", "Sun", "The [Sun|sun] is a star; [Mercury|mercury-planet] goes round it.", types=["star"]),
    article(
        "nasa", "NASA", "[NASA|nasa] flew to [Mercury|mercury-planet], and to [Nowhere|nothing].", types=["agency"]
    ),
    article("iran", "Persia", "An old name.", types=["country"], valid_from="1500", valid_to="1935-03-21"),
    article("iran", "Iran", "A country.", types=["country"], valid_from="1935-03-21"),
    article("beijing", "北京", "[北京|beijing]是一座城市。", types=["city"], aliases=["Beijing"], language="zh"),
]


def _write_lines(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf8")
    return path


@pytest.fixture
def write_lines():
    """A function that writes rows as JSON lines and returns the path."""
    return _write_lines


@pytest.fixture(scope="session")
def articles(tmp_path_factory) -> Path:
    return _write_lines(tmp_path_factory.mktemp("source") / "articles.jsonl", ARTICLES)


@pytest.fixture(scope="session")
def built_toy(tmp_path_factory, articles) -> Path:
    """As it was built, to copy."""
    folder = tmp_path_factory.mktemp("built") / "toy.kb"
    build([articles], folder)
    return folder


@pytest.fixture(scope="session")
def toy(tmp_path_factory, built_toy) -> Path:
    """To read from only; commands may make indexes in it."""
    return Path(shutil.copytree(built_toy, tmp_path_factory.mktemp("toy") / "toy.kb"))


@pytest.fixture
def own(built_toy, tmp_path) -> Path:
    """A copy to change."""
    return Path(shutil.copytree(built_toy, tmp_path / "own.kb"))


class Result(msgspec.Struct):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def notes(self):
        """What is on stderr, but for the one line that says what the default links with."""
        notes = self.err.splitlines(keepends=True)
        (default,) = (note for note in notes if note.startswith(LINKING))
        notes.remove(default)
        return "".join(notes)


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process; `stdin` is what it reads."""

    def run(*words, stdin=b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(word) for word in words])
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("Mercury is near the Sun, says NASA.", encoding="utf8")
    return path
