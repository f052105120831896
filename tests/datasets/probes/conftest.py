from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from entlink.kb.knowledge_base import KnowledgeBase
from knowledge_bases import article, make_kb

# Words by what they are of: those of one group have similar vectors.
WORDS = {
    "bird": "heron gull kestrel mallard bird wing feather",
    "fish": "pike trout salmon eel fish fin",
    "boat": "ferry dinghy cutter boat ship mast",
    "tree": "oak willow maple tree leaf root",
}
BIRDS = [
    article("heron", "Heron", "The heron is a bird. It eats the [[pike|pike]].", types=["Nature.Birds"]),
    article("ferry", "Heron (ferry)", "A ferry on Lake Lune, the [[ferry|Heron]] of [[lune|Lune]].", types=["Boats"]),
    article("pike", "Pike", "A fish of lakes such as [[lune|Lake Lune]].", types=["Nature.Fish"]),
    article(
        "lune", "Lake Lune", "A lake with the [[ferry|Heron]], [[pike|pike]] and [[gull|gull]].", types=["Lakes"]
    ),
    article("gull", "Gull", "The [[gull|gull]] is a bird of [[lune|Lune]] that follows the [[ferry|Heron]]."),
    article("oak", "Oak"),
]


@pytest.fixture(scope="session")
def birds(tmp_path_factory) -> Path:
    """A knowledge base in which `Heron` is a bird or, mostly, a ferry; the oak has no description, and no type."""
    return make_kb(tmp_path_factory.mktemp("birds"), BIRDS, "birds")


@pytest.fixture
def kb(birds) -> Iterable[KnowledgeBase]:
    with KnowledgeBase.open(birds) as opened:
        yield opened


@pytest.fixture(scope="session")
def vectors(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    rows = []
    for at, (_, words) in enumerate(WORDS.items()):
        for number, word in enumerate(words.split()):
            row = [1.0 if column == at else 0.1 + 0.02 * number for column in range(len(WORDS))]
            rows.append(f"{word} {' '.join(f'{value:.3f}' for value in row)}\n")
    path.write_text("".join(rows))
    return path


@pytest.fixture
def written(tmp_path) -> Callable[..., Path]:
    """A function that writes a file of lines, which are texts or become JSON."""

    def write(name: str, *rows: object) -> Path:
        path = tmp_path / name
        texts = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf8")
        return path

    return write
