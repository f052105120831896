"""Texts of like length together, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

# Measured on two cores with MiniLM: from some hundred tokens on, what a batch computes no longer fits into the
# processor's caches and gets slower; with fewer, calling the model takes a share that can be seen.
TOKENS_A_BATCH = 1024
# Calling the model once more takes about as long as so many tokens of padding: the names of a turn and the passages
# around them take 72 ms in one batch, 43 in two.
PADDING_A_BATCH = 32


def batches(lengths: Sequence[int], most: int = TOKENS_A_BATCH) -> Iterator[list[int]]:
    """Places of `lengths`, each once, from short to long; a batch, padded, has `most` tokens or one row.

    Rows that would be mostly padding beside the next are a batch of their own.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    batch: list[int] = []
    tokens = 0  # of the batch, without padding
    for place in order:
        length = lengths[place]
        is_full = (len(batch) + 1) * length > most or len(batch) * length - tokens > PADDING_A_BATCH
        if batch and is_full:
            yield batch
            batch, tokens = [], 0
        batch.append(place)
        tokens += length
    if batch:
        yield batch
