"""Of what type is what the knowledge base lacks? A third of the mentions of Schools Wikipedia mean nothing in it.

    python reproductions/schools_nil_types.py ../shared/data/schools_wikipedia

Of the entities of `mentions_dev.jsonl.xz`, drawn at random, so many are left out that a third of the mentions mean
one of them; the paragraphs of that file are left out of the others' texts. Types are `subjects`, cut at dots, so that
the coarse types are their first parts (15 of them); of an entity with several the first counts. Spans are given. Of
the mentions whose entity was left out it counts those that became NIL, and how many of those have the right type;
and, whatever the linker said of them, how many would have it as NIL. `--words` makes the index over words first.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
from schools_prior import read

import entlink
from entlink.documents import Document, Mention, Span
from entlink.interfaces import Linked
from entlink.linking.linker import Linker

_SEED = 7


def left_out(data: Path, split: str) -> set[str]:
    """Entities that a third of the mentions mean."""
    gold = Counter(one["entity"] for row in read(data / f"mentions_{split}.jsonl.xz") for one in row["mentions"])
    entities, gone = sorted(gold), set[str]()
    Random(_SEED).shuffle(entities)
    while sum(gold[one] for one in gone) < gold.total() / 3:
        gone.add(entities.pop())
    return gone


def build(data: Path, split: str, gone: set[str], folder: Path) -> tuple[Path, dict[str, str]]:
    """The knowledge base without them, and the coarse type of every entity, of those too."""
    read_out = {row["text"] for row in read(data / f"mentions_{split}.jsonl.xz")}
    table, types = folder / "entities.jsonl", {}
    with table.open("w", encoding="utf8") as file:
        for article in read(data / "articles.jsonl.xz"):
            types[article["id"]] = article["subjects"][0].split(".")[0] if article["subjects"] else ""
            if article["id"] in gone:
                continue
            text = "\n\n".join(one["text"] for one in article["paragraphs"] if one["text"] not in read_out)
            row = {"id": article["id"], "title": article["title"], "description": text, "types": article["subjects"]}
            file.write(json.dumps(row) + "\n")
    entlink.build(table, folder / "schools.kb")
    with entlink.KnowledgeBase.open(folder / "schools.kb") as kb:
        kb.set_types(separator=".")
    return folder / "schools.kb", types


def documents(data: Path, split: str) -> tuple[list[Document], list[list[str]]]:
    """The texts with their spans, and the entity of each span."""
    rows = list(read(data / f"mentions_{split}.jsonl.xz"))
    texts = [
        Document(
            row["id"],
            row["text"],
            mentions=tuple(Mention(Span(one["start"], one["end"]), one["text"]) for one in row["mentions"]),
        )
        for row in rows
    ]
    return texts, [[one["entity"] for one in row["mentions"]] for row in rows]


def forced(linker: Linker, document: Document, place: int) -> str | None:
    """The type that one of the links of a document would have as NIL."""
    own = [
        msgspec.structs.replace(one, entity=None, nil_type=None) if number == place else one
        for number, one in enumerate(document.links)
    ]
    [types] = linker.nil_types.types_of([Linked(document, own)])
    return types.get(own[place].mention.span)


def measure(linker: Linker, texts: list[Document], meant: list[list[str]], types: dict[str, str]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for document, entities in zip(linker.link_all(texts), meant, strict=True):
        for place, (link, entity) in enumerate(zip(document.links, entities, strict=True)):
            if linker.kb.key(entity) is None:
                told = forced(linker, document, place)
                counts.update({"nil": 1, "forced right": told == types[entity]})
                if link.entity is None:
                    counts.update({"found": 1, "typed": told is not None, "right": link.nil_type == types[entity]})
    return {
        "NIL by gold": counts["nil"],
        "of them NIL": counts["found"],
        "of those typed": counts["typed"] / max(counts["found"], 1),
        "of those of the right type": counts["right"] / max(counts["found"], 1),
        "of the right type, all as NIL": counts["forced right"] / counts["nil"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", default="dev", choices=("dev", "test"))
    parser.add_argument("--config", action="append", help="linkers to measure (default: everyday and lexical)")
    parser.add_argument("--words", action="store_true", help="make the index over words first")
    arguments = parser.parse_args()
    texts, meant = documents(arguments.data, arguments.split)
    told: dict[str, object] = {"split": arguments.split, "words": arguments.words, "entlink": entlink.__version__}
    with tempfile.TemporaryDirectory() as folder:
        gone = left_out(arguments.data, arguments.split)
        path, types = build(arguments.data, arguments.split, gone, Path(folder))
        if arguments.words:
            with entlink.KnowledgeBase.open(path) as kb:
                kb.index(words=True)
        for name in arguments.config or ["everyday", "lexical"]:
            told[name] = measure(entlink.load(path, config=name, mentions="given"), texts, meant, types)
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(told)).decode() + "\n")


if __name__ == "__main__":
    main()
