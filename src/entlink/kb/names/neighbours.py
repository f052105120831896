"""Names that are written almost like another: keys a few edits away."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from entlink.kb.knowledge_base import KnowledgeBase

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 "
_SHORTEST = 4  # shorter keys have too many neighbours to mean anything
_LONGEST = 200  # of longer ones all that is one edit away would fill the memory


def near_keys(
    kb: KnowledgeBase,
    key: str,
    *,
    distance: int = 2,
    similarity: float = 0.75,
    scanned: int = 5_000,
) -> list[tuple[str, float]]:
    """Other keys at most `distance` edits away, with how alike they are, closest first.

    Every key one edit away is found, whatever the size of the knowledge base; beyond that, those that share the
    first third of the key, up to `scanned` of them.
    """
    from rapidfuzz.distance import DamerauLevenshtein

    if not _SHORTEST <= len(key) <= _LONGEST:
        return []
    near = []
    for other in {*_one_edit_away(kb, key), *_same_beginning(kb, key, scanned)} - {key}:
        if abs(len(key) - len(other)) > distance:  # each edit makes one character of difference at most
            continue
        edits = DamerauLevenshtein.distance(key, other, score_cutoff=distance)
        alike = 1.0 - edits / max(len(key), len(other))
        if edits <= distance and alike >= similarity:
            near.append((other, alike))
    return sorted(near, key=lambda pair: (-pair[1], pair[0]))


def _one_edit_away(kb: KnowledgeBase, key: str) -> Iterator[str]:
    edits = edits_of(key)
    yield from edits.intersection(kb.fresh_keys())
    yield from kb.alias_index.known(edits)


def _same_beginning(kb: KnowledgeBase, key: str, scanned: int) -> Iterator[str]:
    beginning = key[: max(3, len(key) // 3)]
    yield from islice(kb.alias_index.keys(beginning), scanned)
    yield from (other for other in kb.fresh_keys() if other.startswith(beginning))


def edits_of(key: str) -> set[str]:
    """Every string one deletion, swap, replacement or insertion away, with the letters of the key and ASCII."""
    letters = sorted(set(_LETTERS) | set(key))
    splits = [(key[:at], key[at:]) for at in range(len(key) + 1)]
    deleted = {left + right[1:] for left, right in splits if right}
    swapped = {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    replaced = {left + letter + right[1:] for left, right in splits if right for letter in letters}
    inserted = {left + letter + right for left, right in splits for letter in letters}
    return (deleted | swapped | replaced | inserted) - {key}
