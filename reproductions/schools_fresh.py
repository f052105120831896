"""Entities added after the indexes were made, against the same entities indexed: R@10 of the fused retrieval.

    entlink models pull minilm
    python reproductions/schools_fresh.py ../shared/data/schools_wikipedia
    python reproductions/schools_fresh.py ../shared/data/schools_wikipedia --adapt 60

Schools Wikipedia without links. 500 entities, drawn by a seed from those that the test mentions name, are left out of
the knowledge base and its indexes over words and vectors, and then added one by one. The mentions are all those of
`mentions_test.jsonl.xz` that mean one of the 500, spans given.

With `--adapt` the linker is adapted for so many minutes before they are added, and accuracy stands beside R@10: how
often they are linked by the adapted linker, which has never seen them, and by the one that was not adapted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from random import Random

from schools_unfamiliar import ENCODER, figures, outcomes, write_articles

import entlink
from entlink.documents import Document, Entity
from entlink.evaluation.files import File
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.adapt.adapt import AdaptOptions, adapt
from entlink.linking.config import linker_beside
from entlink.linking.linker import load

FRESH = 500
_TOLD = ("mentions", "accuracy", "best candidate", "R@10 fused")


def make(articles: Path, kb: Path) -> Path:
    entlink.build([articles], kb, entlink.BuildOptions(format="articles", names_in_openings=False))
    with KnowledgeBase.open(kb) as made:
        made.index(words=True, vectors=[ENCODER])
    return kb


def without(articles: Path, out: Path, left_out: set[str]) -> Path:
    """The articles less those of some entities."""
    with articles.open(encoding="utf8") as rows, out.open("w", encoding="utf8") as kept:
        kept.writelines(row for row in rows if json.loads(row)["id"] not in left_out)
    return out


def entities(kb: Path, ids: set[str]) -> list[Entity]:
    with KnowledgeBase.open(kb) as opened:
        return [entity for entity in opened if entity.id in ids]


def recall(
    kb: Path, documents: Iterable[Document], fresh: set[str], config: str | Path = "zero-shot"
) -> dict[str, dict[str, float]]:
    """Of the mentions of the fresh entities; the documents are read whole, for what stands around."""
    linker = load(kb, config=config, mentions="given")
    found = [one for one in outcomes(linker, documents) if one.right in fresh]
    linker.kb.close()
    return {
        part: {name: value for name, value in told.items() if name in _TOLD} for part, told in figures(found).items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--adapt", type=float, metavar="MINUTES", help="adapt the linker before they are added")
    arguments = parser.parse_args()
    every = list(File(arguments.data / "mentions_test.jsonl.xz", "gold"))
    named = sorted({gold.entities[0] for document in every for gold in document.gold})
    fresh = set(Random(arguments.seed).sample(named, FRESH))
    documents = [one for one in every if any(gold.entities[0] in fresh for gold in one.gold)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_articles(arguments.data, folder / "all.jsonl", links=False)
        indexed = make(folder / "all.jsonl", folder / "indexed.kb")
        added = make(without(folder / "all.jsonl", folder / "some.jsonl", fresh), folder / "added.kb")
        if arguments.adapt:
            adapt(added, AdaptOptions(minutes=arguments.adapt))
        with KnowledgeBase.open(added) as kb:
            kb.add(entities(indexed, fresh))
        told = {"indexed": recall(indexed, documents, fresh), "added": recall(added, documents, fresh)}
        if arguments.adapt:
            told["added, adapted before"] = recall(added, documents, fresh, linker_beside(added))
    sys.stdout.write(json.dumps({"fresh": FRESH, "seed": arguments.seed, **told}, indent=2) + "\n")


if __name__ == "__main__":
    main()
