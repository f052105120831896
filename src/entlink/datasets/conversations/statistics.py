"""What a set of threads holds, counted as in the published table.

There, an utterance counts in every thread it stands in: utterances by threads are the mean length.
"""

from __future__ import annotations

from collections import Counter

import msgspec


class ThreadStatistics(msgspec.Struct):
    """Counts of one file.

    `distinct_utterances` counts each once; `entities` are the different ones of all gold; `first` and `last` are days
    on which conversations began.
    """

    conversations: int = 0
    threads: int = 0
    utterances: int = 0
    annotations: int = 0
    annotated_utterances: int = 0
    distinct_utterances: int = 0
    entities: int = 0
    exact_threads: int = 0
    annotations_by: dict[str, int] = {}
    threads_of: dict[str, int] = {}
    first: str | None = None
    last: str | None = None

    @property
    def thread_length(self) -> float:
        """Utterances of a thread, on average."""
        return self.utterances / self.threads if self.threads else 0.0


# Table 1 of the paper. Its mean lengths, 6.19 and 6.11, are utterances by threads, the second cut off, not rounded.
PUBLISHED = {
    "train": ThreadStatistics(5352, 8026, 49695, 10263, 8787),
    "test": ThreadStatistics(745, 745, 4557, 965, 833),
}


class _GoldMeta(msgspec.Struct):
    by: str
    exact: bool = False


class _Gold(msgspec.Struct):
    turn: int
    entity: str
    meta: _GoldMeta


class _Meta(msgspec.Struct):
    conversation: str
    utterances: list[str]
    domain: str | None = None


class _Thread(msgspec.Struct):
    date: str
    gold: list[_Gold]
    meta: _Meta


class StatisticsTally:
    """Counts the lines of a file as they are written. Of names it keeps a number each."""

    def __init__(self) -> None:
        self._counts = ThreadStatistics()
        self._by: Counter[str] = Counter()
        self._of: Counter[str] = Counter()
        self._conversations: set[int] = set()
        self._utterances: set[int] = set()
        self._entities: set[int] = set()
        self._decoder = msgspec.json.Decoder(_Thread)

    def add(self, line: bytes) -> None:
        thread = self._decoder.decode(line)
        counts = self._counts
        counts.threads += 1
        counts.first = min(counts.first or thread.date, thread.date)
        counts.last = max(counts.last or thread.date, thread.date)
        if thread.meta.domain is not None:
            self._of[thread.meta.domain] += 1
        counts.utterances += len(thread.meta.utterances)
        counts.annotations += len(thread.gold)
        counts.annotated_utterances += len({gold.turn for gold in thread.gold})
        counts.exact_threads += any(gold.meta.exact for gold in thread.gold)
        self._by.update(gold.meta.by for gold in thread.gold)
        self._conversations.add(hash(thread.meta.conversation))
        self._utterances.update(map(hash, thread.meta.utterances))
        self._entities.update(hash(gold.entity) for gold in thread.gold)

    def statistics(self) -> ThreadStatistics:
        return msgspec.structs.replace(
            self._counts,
            conversations=len(self._conversations),
            distinct_utterances=len(self._utterances),
            entities=len(self._entities),
            annotations_by=dict(sorted(self._by.items())),
            threads_of=dict(sorted(self._of.items())),
        )
