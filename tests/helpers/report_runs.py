"""Runs made up for reports: documents with gold of every kind, and linkers that are wrong in every way."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import msgspec

from entlink.documents import Candidate, Document, GoldLink, Link, Mention, Span
from entlink.evaluation.results import Evaluation, FileFacts
from entlink.evaluation.runner import EvaluationOptions, evaluate
from entlink.evaluation.scoring.conventions import NilRule

NAMES = ("Mercury", "Paris", "Lincoln", "Jaguar", "Georgia", "北京", "Zürich", "R&D <lab>", "50% off_$x$")
TYPES = ("person", "place", "animal & plant", "<b>car</b>")
DOMAINS = ("news", "sport", "science")
GOLD = FileFacts("gold.jsonl", "jsonl", "ab" * 32)


def gold_documents(count: int, seed: int = 0) -> Iterator[Document]:
    """Texts of names with gold: most of it entities, some NIL."""
    chance = Random(seed)
    for number in range(count):
        text, gold = "", []
        for _ in range(chance.randint(1, 6)):
            name = chance.choice(NAMES)
            span = Span(len(text), len(text) + len(name))
            text += f"{name} was there. "
            kind = chance.choice(TYPES)
            if chance.random() < 0.15:
                gold.append(GoldLink(span, (), nil_type=kind))
            else:
                gold.append(GoldLink(span, (f"{name}-{chance.randint(1, 4)}",), meta={"type": kind}))
        meta = {"domain": DOMAINS[number % 3]}
        yield Document(f"d{number}", text, language=("en", "de")[number % 2], gold=tuple(gold), meta=meta)


def predicted_documents(count: int, quality: float, seed: int = 0, *, candidates: bool = True) -> Iterator[Document]:
    """The same texts, linked: rightly as often as `quality` says."""
    chance = Random(f"{seed} {quality}")
    for document in gold_documents(count):
        links = [link for gold in document.gold if (link := _link(document, gold, chance, quality, candidates))]
        yield msgspec.structs.replace(document, gold=(), links=tuple(links))


def _link(document: Document, gold: GoldLink, chance: Random, quality: float, candidates: bool) -> Link | None:
    if chance.random() > quality + 0.1:
        return None
    start = gold.span.start + (chance.random() < 0.04)
    mention = Mention(Span(start, gold.span.end), document.text[start : gold.span.end])
    name = document.text[gold.span.start : gold.span.end]
    others = [f"{name}-{number}" for number in range(1, 5)]
    chance.shuffle(others)
    if gold.entities and chance.random() < quality:
        others = [*gold.entities, *(one for one in others if one not in gold.entities)]
    found = tuple(Candidate(entity, 1 - place / 10) for place, entity in enumerate(others[:3]))
    entity = None if chance.random() < 0.08 else found[0].entity
    return Link(mention, entity, 0.9, candidates=found if candidates else ())


def made_run(
    name: str = "run", quality: float = 0.8, count: int = 40, *, rounds: int = 50, candidates: bool = True, **options
) -> Evaluation:
    """An evaluation with all that can be had without a knowledge base."""
    chosen = EvaluationOptions(rules=tuple(NilRule), rounds=rounds, **options)
    predictions = predicted_documents(count, quality, candidates=candidates)
    found = evaluate(gold_documents(count), predictions, chosen, name=name)
    return msgspec.structs.replace(found, gold=GOLD, command=f"entlink evaluate gold.jsonl {name}.jsonl")
