"""Making the alias index from staged rows: tries first, so that texts can be scanned, then the groups.

Rows are partitioned by bucket once; each shard is then a bounded piece of work of its own, which is what
keeps building memory flat and lets shards be made side by side.
"""

from __future__ import annotations

import shutil
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import marisa_trie
import msgspec

from entlink.engine.protocol import Engine, JsonFiles, ParquetFiles, Task
from entlink.kb.names.alias_index import LENGTH_LIMIT
from entlink.kb.names.index_rows import BUCKETS, COLUMNS, UNLINKED

KEYS_A_SHARD = 1_500_000  # about 400 MB while a shard's trie is made
MAX_POSTINGS = 5_000  # entities one form may mean; the least linked are left out beyond that


def partition(engine: Engine, staged: Sequence[Path], folder: Path) -> int:
    """Turn staged JSON lines into Parquet files by bucket; returns how many keys there are."""
    shutil.rmtree(folder, ignore_errors=True)  # a killed run may have left other file names
    folder.mkdir(parents=True)
    if not any(path.stat().st_size for path in staged):
        return 0
    with engine.sql(folder.parent) as session:
        session.view("staged", JsonFiles(staged, COLUMNS))
        session.partition("SELECT * FROM staged", "b", folder)
        session.view("postings", ParquetFiles(sorted(folder.glob("*/*.parquet"))))
        return session.number("SELECT count(DISTINCT k) FROM postings")


def shards_for(keys: int) -> int:
    """How many shards: a divisor of the buckets, so that a shard is a whole number of them."""
    shards = 1
    while shards < BUCKETS and keys > shards * KEYS_A_SHARD:
        shards *= 2
    return shards


def write_tries(engine: Engine, partitions: Path, index: Path, shards: int) -> None:
    """Write `keys-NN.trie` for every shard."""
    share = engine.share(shards)
    tasks = [Task(f"keys-{n:02}.trie", (share, partitions, n, shards)) for n in range(shards)]
    engine.map_to_files(_write_trie, tasks, index, here=True)


def write_groups(engine: Engine, partitions: Path, index: Path, shards: int) -> None:
    """Write `groups-NN.bin` and `groups-NN.at` for every shard; the tries must be there."""
    share = engine.share(shards)
    tasks = [Task(f"groups-{n:02}.at", (share, partitions, index, n, shards)) for n in range(shards)]
    engine.map_to_files(_write_groups, tasks, index, here=True)


def _write_trie(engine: Engine, partitions: Path, shard: int, shards: int, path: Path) -> None:
    query = f"SELECT DISTINCT k FROM postings WHERE e <> {UNLINKED}"
    marisa_trie.Trie(row[0] for row in _rows(engine, partitions, shard, shards, query)).save(str(path))


def _write_groups(engine: Engine, partitions: Path, index: Path, shard: int, shards: int, path: Path) -> None:
    trie = marisa_trie.Trie().mmap(str(index / f"keys-{shard:02}.trie"))
    places = array("Q", bytes(8 * len(trie)))
    groups = index / f"groups-{shard:02}.bin"
    query = (
        "SELECT k, f, e, CAST(sum(n) AS BIGINT) AS total, bit_or(s) AS sources FROM postings "
        "GROUP BY k, f, e, s & 72 ORDER BY k, f, total DESC, e, sources"
    )
    encoder = msgspec.msgpack.Encoder()
    with groups.open("wb") as file:
        start = 0
        for key, rows in groupby(_rows(engine, partitions, shard, shards, query), itemgetter(0)):
            number = trie.get(key)
            if number is None:
                continue  # counted in the texts, but no longer a name of anything
            blob = encoder.encode(_forms(rows))
            file.write(blob)
            places[number] = start * LENGTH_LIMIT + len(blob)
            start += len(blob)
    if sys.byteorder == "big":
        places.byteswap()  # the file is little-endian everywhere
    path.write_bytes(places.tobytes())


def _forms(rows: Iterable[tuple[Any, ...]]) -> list[tuple[str, int, list[int]]]:
    forms: list[tuple[str, int, list[int]]] = []
    for form, of_form in groupby(rows, itemgetter(1)):
        unlinked = 0
        postings: list[int] = []
        for _, _, entity, count, sources in of_form:
            if entity == UNLINKED:
                unlinked = count
            elif len(postings) < 3 * MAX_POSTINGS:
                postings += (entity, count, sources)
        forms.append((form, unlinked, postings))
    return forms


def _rows(engine: Engine, partitions: Path, shard: int, shards: int, query: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a query over the `postings` of one shard, streamed."""
    files = [
        path
        for bucket in range(shard, BUCKETS, shards)
        for path in sorted(partitions.glob(f"*/b={bucket}/*.parquet"))
    ]
    if files:
        with engine.sql(partitions.parent / f"shard-{shard}") as session:
            session.view("postings", ParquetFiles(files))
            yield from session.rows(query)
