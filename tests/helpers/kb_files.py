"""The files of a knowledge base with all indexes but those over vectors."""

from __future__ import annotations

_WORDS = ("counts", "current", "keys", "lengths", "rows", "since", "starts", "terms", "until")
FILES = (
    *(f"counts/base/{name}.parquet" for name in ("anchors", "graph", "occurrences")),
    *(f"index-1/{name}" for name in ("groups-00.at", "groups-00.bin", "index.json", "keys-00.trie")),
    *(f"index-1/company/{name}" for name in ("complete.json", "rows.npy", "starts.npy", "terms.npy")),
    *(f"index-1/short/{name}" for name in ("complete.json", "short.sqlite")),
    *(f"index-1/words/{name}.npy" for name in _WORDS),
    "index-1/words/complete.json",
    "kb.sqlite",
    "kb.sqlite.sha256",
)
