"""The alias index: every name's key in a trie, with what each written form of it may mean.

Files under `index/` (made by `entlink.kb.names.alias_writer`, never changed in place):

- `keys-NN.trie`: a marisa trie of the keys of one shard; a key's shard is a hash of its first token,
  so that all keys that begin at one place of a text are in one trie.
- `groups-NN.at`: for each trie id, where its group stands in `groups-NN.bin`, as one unsigned 64-bit
  number: start × 2²⁴ + length.
- `groups-NN.bin`: a group is msgpack `[[form, unlinked, [entity, count, sources, …]], …]`.

The tries are mapped and the groups are read where they stand, a few bytes at a time and never kept, so memory does
not grow with the knowledge base. (Mapped as well, the pages a text happens to touch would count as ours.)
"""

from __future__ import annotations

import os
import weakref
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import marisa_trie

from entlink.errors import DamagedError
from entlink.text.folding import first_token

if TYPE_CHECKING:
    from collections.abc import Callable

COMPLETE = "index.json"
LENGTH_LIMIT = 1 << 24
MAX_KEY = 200  # characters; longer names are found by given spans, not in running text


class Form(NamedTuple):
    """One way a name is written: how often it stands unlinked in the texts, and its postings.

    `postings` is flat: entity key, count, sources (bits of `entlink.kb.names.own_names.NameSource`), and again.
    Links are one triple; the names an entity gives itself are another, whose count is its weight.
    """

    text: str
    unlinked: int
    postings: tuple[int, ...]

    def triples(self) -> Iterator[tuple[int, int, int]]:
        """(entity, count, sources), one by one."""
        flat = iter(self.postings)
        return zip(flat, flat, flat, strict=True)


def shard_of(token: str, shards: int) -> int:
    """Which shard holds the keys that begin with this token."""
    return zlib.crc32(token.encode()) % shards if shards > 1 else 0


class AliasIndex:
    """Read access to the alias index of a knowledge base."""

    def __init__(self, folder: Path, shards: int) -> None:
        self.shards, self._folder = shards, folder
        self._shards = [_Shard(folder, number) for number in range(shards)]
        self._last: tuple[str | None, list[Form]] = (None, [])
        self._decode: Callable[[bytes], list[Form]] | None = None

    def __len__(self) -> int:
        return sum(len(shard.trie) for shard in self._shards)

    def shard_trie(self, token: str) -> marisa_trie.Trie:
        """The trie that holds every key whose first token this is."""
        return self._shards[shard_of(token, self.shards)].trie

    def group(self, key: str) -> list[Form]:
        """All forms with this key; empty when the key is unknown. The last answer is kept: it is asked for twice."""
        if key == self._last[0]:
            return self._last[1]
        shard = self._shards[shard_of(first_token(key), self.shards) if self.shards > 1 else 0]
        blob = shard.blob(key)
        forms = self._forms(key, blob) if blob else []
        self._last = (key, forms)
        return forms

    def __contains__(self, key: str) -> bool:
        return key in self.shard_trie(first_token(key) if self.shards > 1 else "")

    def known(self, keys: Iterable[str]) -> Iterator[str]:
        """Those of many keys that are there: some times quicker than asking for one after the other."""
        if self.shards > 1:
            return (key for key in keys if key in self)
        trie = self._shards[0].trie
        return (key for key in keys if key in trie)

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Keys that begin with `prefix`, in the tries' own order."""
        for shard in self._shards:
            yield from shard.trie.iterkeys(prefix)

    def _forms(self, key: str, blob: bytes) -> list[Form]:
        import msgspec

        if self._decode is None:
            self._decode = msgspec.msgpack.Decoder(list[Form]).decode
        try:
            return self._decode(blob)
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise _damaged(self._folder, f"what {key!r} means cannot be read ({problem})") from problem


class _Shard:
    """The three files of one shard."""

    def __init__(self, folder: Path, number: int) -> None:
        self.trie = marisa_trie.Trie()
        try:
            self.trie.mmap(str(folder / f"keys-{number:02}.trie"))
            self._at, self._bin = self._groups(folder, number)
        except (OSError, RuntimeError, TypeError) as problem:
            raise _damaged(folder, f"shard {number} cannot be read ({problem})") from problem
        self._folder = folder
        if self._at is not None and self._at.size != 8 * len(self.trie):
            raise _damaged(folder, f"shard {number} has {len(self.trie)} keys but {self._at.size / 8:g} places")

    @staticmethod
    def _groups(folder: Path, number: int) -> tuple[_OpenFile | None, _OpenFile | None]:
        at = folder / f"groups-{number:02}.at"
        if not at.exists() and not (folder / COMPLETE).exists():
            return None, None  # while it is being built there are only keys
        return _OpenFile(at), _OpenFile(folder / f"groups-{number:02}.bin")

    def blob(self, key: str) -> bytes | None:
        number = self.trie.get(key)
        if number is None or self._at is None or self._bin is None:
            return None
        start, length = divmod(int.from_bytes(self._at.read(8 * number, 8), "little"), LENGTH_LIMIT)
        blob = self._bin.read(start, length)
        if len(blob) != length:
            raise _damaged(self._folder, f"what {key!r} means is cut off")
        return blob


class _OpenFile:
    """A file read at any place, by any number of threads; closed when it is no longer needed."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._descriptor)
        self.size = os.fstat(self._descriptor).st_size

    def read(self, start: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, start)


def _damaged(folder: Path, problem: str) -> DamagedError:
    return DamagedError(f"{folder}: the alias index is damaged: {problem}. Run `entlink kb index` to make it anew")
