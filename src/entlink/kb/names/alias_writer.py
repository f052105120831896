"""Making the alias index from staged rows: tries first, so that texts can be scanned, then the groups.

Rows are partitioned by bucket once; each shard is then a bounded piece of work of its own, which is what
keeps building memory flat and lets shards be made side by side.
"""

from __future__ import annotations

import shutil
import sys
from array import array
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import marisa_trie
import msgspec

from entlink.engine.local import Task, fetched, json_rows, literal, map_to_files, number, parquet_rows, share_of, sql
from entlink.kb.names.alias_index import LENGTH_LIMIT
from entlink.kb.names.index_rows import BUCKETS, COLUMNS, UNLINKED

KEYS_A_SHARD = 1_500_000  # about 400 MB while a shard's trie is made
MAX_POSTINGS = 5_000  # entities one form may mean; the least linked are left out beyond that


def partition(staged: list[Path], folder: Path, *, memory: str) -> int:
    """Turn staged JSON lines into Parquet files by bucket; returns how many keys there are."""
    files = [path for path in staged if path.stat().st_size]
    shutil.rmtree(folder, ignore_errors=True)  # a killed run may have left other file names
    folder.mkdir(parents=True)
    if not files:
        return 0
    with sql(folder.parent, memory=memory) as connection:
        connection.execute(
            f"COPY ({json_rows(files, COLUMNS)}) "
            f"TO {literal(folder)} (FORMAT parquet, PARTITION_BY (b), OVERWRITE_OR_IGNORE)"
        )
        written = parquet_rows(*sorted(folder.glob("*/*.parquet")))
        return number(connection, f"SELECT count(DISTINCT k) FROM {written}")


def shards_for(keys: int) -> int:
    """How many shards: a divisor of the buckets, so that a shard is a whole number of them."""
    shards = 1
    while shards < BUCKETS and keys > shards * KEYS_A_SHARD:
        shards *= 2
    return shards


def write_tries(partitions: Path, index: Path, shards: int, *, memory: str, processes: int) -> None:
    """Write `keys-NN.trie` for every shard."""
    processes = min(processes, shards)
    share = share_of(memory, processes)
    tasks = [Task(f"keys-{n:02}.trie", (partitions, n, shards, share)) for n in range(shards)]
    map_to_files(_write_trie, tasks, index, processes=processes)


def write_groups(partitions: Path, index: Path, shards: int, *, memory: str, processes: int) -> None:
    """Write `groups-NN.bin` and `groups-NN.at` for every shard; the tries must be there."""
    processes = min(processes, shards)
    share = share_of(memory, processes)
    tasks = [Task(f"groups-{n:02}.at", (partitions, index, n, shards, share)) for n in range(shards)]
    map_to_files(_write_groups, tasks, index, processes=processes)


def _write_trie(partitions: Path, shard: int, shards: int, memory: str, path: Path) -> None:
    rows = _rows(partitions, shard, shards, f"SELECT DISTINCT k FROM rows WHERE e <> {UNLINKED}", memory)
    marisa_trie.Trie(row[0] for row in rows).save(str(path))


def _write_groups(partitions: Path, index: Path, shard: int, shards: int, memory: str, path: Path) -> None:
    trie = marisa_trie.Trie().mmap(str(index / f"keys-{shard:02}.trie"))
    places = array("Q", bytes(8 * len(trie)))
    groups = index / f"groups-{shard:02}.bin"
    query = (
        "SELECT k, f, e, sum(n)::BIGINT AS n, bit_or(s) AS s FROM rows GROUP BY k, f, e, s & 72 "
        "ORDER BY k, f, n DESC, e, s"
    )
    encoder = msgspec.msgpack.Encoder()
    with groups.open("wb") as file:
        start = 0
        for key, rows in groupby(_rows(partitions, shard, shards, query, memory), itemgetter(0)):
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


def _rows(partitions: Path, shard: int, shards: int, query: str, memory: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a query over the buckets of one shard, streamed."""
    files = [
        path
        for bucket in range(shard, BUCKETS, shards)
        for path in sorted(partitions.glob(f"*/b={bucket}/*.parquet"))
    ]
    if not files:
        return
    with sql(partitions.parent / f"shard-{shard}", memory=memory) as connection:
        connection.execute(f"CREATE TEMP VIEW rows AS SELECT * FROM {parquet_rows(*files)}")
        connection.execute(query)
        yield from fetched(connection)
