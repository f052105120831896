"""The second pass of a build: how often every name stands in the texts without being a link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from entlink.engine.protocol import Engine, Task
from entlink.io.record_files import read_batches
from entlink.kb.build.fill_store import KEYS, StoredPage
from entlink.kb.build.part_files import TEXTS, StagedText
from entlink.kb.names.alias_index import AliasIndex
from entlink.kb.names.counting import BARRIER, BulkCounter
from entlink.kb.names.index_rows import UNLINKED, row, write_rows
from entlink.text.titles import tidy


def count_occurrences(engine: Engine, parts: Sequence[Path], index: Path, shards: int, work: Path) -> list[Path]:
    """Scan the texts of every part; returns the staged files."""
    stage = "counting names in texts"
    engine.progress(stage, 0, len(parts))
    tasks = [Task(f"{part.name}.jsonl", (part, index, shards)) for part in parts]
    try:
        return engine.map_to_files(count_part, tasks, work, stage=stage)
    finally:
        _counter.cache_clear()  # what this process learned is of no more use


def count_part(part: Path, index: Path, shards: int, path: Path) -> None:
    """Write the unlinked occurrences in the texts of a part as rows of the alias index."""
    stamp = (index / "keys-00.trie").stat()
    counter = _counter(index, shards, stamp.st_ino, stamp.st_mtime_ns)
    counted: Counter[str] = Counter()
    stored = _stored_records(part) if (part / TEXTS).stat().st_size else set()
    for texts in read_batches(part / TEXTS, StagedText):
        counted.update(counter.count(BARRIER.join(text.text for text in texts if text.record in stored)))
    tidied: Counter[str] = Counter()
    for surface, count in counted.items():
        tidied[tidy(surface)] += count
    write_rows((row(surface, UNLINKED, count, 0) for surface, count in sorted(tidied.items())), path)


@lru_cache(maxsize=1)
def _counter(index: Path, shards: int, inode: int, made: int) -> BulkCounter:
    """A process counts many parts: what its counter has learned of the words serves them all."""
    return BulkCounter(AliasIndex(index, shards))


def _stored_records(part: Path) -> set[int]:
    """The pages of a part that went into the store: not those left out as doubles, or beyond the limit."""
    decoder = msgspec.json.Decoder(StoredPage)
    return {page.r for page in decoder.decode_lines((part / KEYS).read_bytes())}
