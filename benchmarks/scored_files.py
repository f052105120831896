"""Gold and predictions of any size for the benchmarks of scoring, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from entlink.documents import Document, GoldLink, Link, Mention, Span
from entlink.formats.documents.lines import encode_document

_WORDS_A_DOCUMENT, _LINKS_A_DOCUMENT = 120, 25
_ENTITIES = 20_000


class Quality(NamedTuple):
    """How often a made-up linker misses a mention, shifts it, takes another entity, or says NIL."""

    missed: float = 0.1
    shifted: float = 0.05
    confused: float = 0.2
    nil: float = 0.03


def write(gold: Path, predictions: list[tuple[Path, Quality]], links: int, *, seed: int = 0) -> None:
    """Files of documents with about so many gold links in all, and of as many runs over them."""
    chance = random.Random(seed)
    with gold.open("wb") as file:
        outputs = [(path.open("wb"), quality) for path, quality in predictions]
        for document in _documents(links // _LINKS_A_DOCUMENT, chance):
            file.write(encode_document(document) + b"\n")
            for output, quality in outputs:
                answered = Document(document.id, document.text, links=tuple(_answers(document, quality, chance)))
                output.write(encode_document(answered) + b"\n")
        for output, _ in outputs:
            output.close()


def _documents(count: int, chance: random.Random) -> Iterator[Document]:
    for number in range(count):
        words = [f"word{chance.randrange(3000)}" for _ in range(_WORDS_A_DOCUMENT)]
        starts, at = [], 0
        for word in words:
            starts.append(at)
            at += len(word) + 1
        chosen = sorted(chance.sample(range(0, _WORDS_A_DOCUMENT, 2), _LINKS_A_DOCUMENT))
        gold = tuple(
            GoldLink(Span(starts[place], starts[place] + len(words[place])), _entity(chance)) for place in chosen
        )
        yield Document(str(number), " ".join(words), gold=gold, meta={"domain": f"domain {number % 8}"})


def _entity(chance: random.Random) -> tuple[str, ...]:
    return () if chance.random() < 0.02 else (f"Q{chance.randrange(_ENTITIES)}",)


def _answers(document: Document, quality: Quality, chance: random.Random) -> Iterator[Link]:
    for gold in document.gold:
        if chance.random() < quality.missed:
            continue
        start, end = gold.span.start, gold.span.end
        if chance.random() < quality.shifted:
            end -= 1
        wrong = not gold.entities or chance.random() < quality.confused
        entity = f"Q{chance.randrange(_ENTITIES)}" if wrong else gold.entities[0]
        said = None if chance.random() < quality.nil else entity
        yield Link(Mention(Span(start, end), document.text[start:end]), said, chance.random(), title=said)
