"""What the benchmarks run on: knowledge bases and texts, made once under build/bench and kept."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

import entlink
import generate
from entlink.kb.knowledge_base import KnowledgeBase

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FOLDER = ROOT / "build" / "bench"
SHARED = ROOT.parent / "shared" / "data"
SIMPLE = SHARED / "simplewiki_2021_kb.jsonl.xz"
TRAIN = SHARED / "schools_wikipedia" / "mentions_train.jsonl.xz"
SMALL_ENTITIES, SMALL_NAMES = 196_052, 205_000
LARGE_ENTITIES, LARGE_NAMES = 7_000_000, 20_000_000


class Texts(NamedTuple):
    """Documents to link: a JSONL file, and how many bytes of text are in it."""

    path: Path
    size: int
    name: str


def small_kb() -> tuple[Path, str]:
    """The 196,052 entities of Simple Wikipedia where they are at hand, else as many made-up ones."""
    folder = FOLDER / "small.kb"
    source = SIMPLE if SIMPLE.exists() else FOLDER / "small.jsonl"
    name = "Simple Wikipedia" if SIMPLE.exists() else "made-up entities"
    if not folder.exists():
        if not source.exists():
            generate.write(source, SMALL_ENTITIES, SMALL_NAMES)
        entlink.build([source], folder)
    with KnowledgeBase.open(folder) as kb:
        return folder, f"{name}, {len(kb):,} entities"


def large_kb(entities: int = LARGE_ENTITIES, names: int = LARGE_NAMES) -> tuple[Path, dict[str, float]]:
    """A knowledge base the size of English Wikipedia, with what it took to build."""
    folder, report = FOLDER / "large.kb", FOLDER / "large.json"
    if not (folder.exists() and report.exists()):
        report.write_bytes(msgspec.json.encode(_build_large(folder, entities, names)))
    return folder, msgspec.json.decode(report.read_bytes(), type=dict[str, float])


def _build_large(folder: Path, entities: int, names: int) -> dict[str, float]:
    from processes import run

    table = FOLDER / "large.jsonl"
    sources = [str(SIMPLE)] if SIMPLE.exists() else []
    if sources:
        entities, names = entities - SMALL_ENTITIES, names - SMALL_NAMES
    if not table.exists():
        generate.write(table, entities, names)
    finished = run([str(HERE / "building.py"), str(folder), *sources, str(table)])
    built: dict[str, float] = msgspec.json.decode(finished.output)
    return built


def texts(limit: int = 12_000_000) -> Texts:
    """Paragraphs of Schools Wikipedia where they are at hand, else made-up ones."""
    path = FOLDER / "texts.jsonl"
    name = "Schools Wikipedia paragraphs" if TRAIN.exists() else "made-up sentences"
    size = 0
    encoder = msgspec.json.Encoder()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for number, text in enumerate(_paragraphs()):
            file.write(encoder.encode({"id": str(number), "text": text}) + b"\n")
            size += len(text.encode())
            if size >= limit:
                break
    return Texts(path, size, name)


def _paragraphs() -> Iterator[str]:
    if TRAIN.exists():
        with lzma.open(TRAIN, "rt", encoding="utf8") as lines:
            for line in lines:
                yield msgspec.json.decode(line)["text"]
    else:
        rows = list(generate.rows(20_000, 60_000))
        for start in range(0, len(rows), 5):
            yield " ".join(row.description for row in rows[start : start + 5])
