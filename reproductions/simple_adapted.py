"""A linker adapted to Simple Wikipedia, on texts of others: OKE 2015 and 2016 (evaluation parts) and TweekiGold.

    entlink models pull minilm
    python reproductions/simple_adapted.py ../shared/data --folder build/adapted

The knowledge base is the 196,052 titles and openings of Simple English Wikipedia (2021), without any link. Gold is
*covered* if an entity of the knowledge base has the title that the data set gives, in any case (gold by title), and
is no disambiguation page; spans are given. NIL counts as an error for *accuracy* and not for *best candidate*.
`adapt` sees the knowledge base alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from schools_adapted import adapted
from schools_unfamiliar import figures, outcomes

import entlink
from entlink.documents import Document, GoldLink
from entlink.evaluation.files import File
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import linker_beside, read_config
from entlink.linking.linker import load
from entlink.text.folding import key_of
from entlink.text.titles import looks_like_disambiguation

SETS = {
    "OKE 2015": "elevant/oke-2015-eval.benchmark.jsonl",
    "OKE 2016": "elevant/oke-2016-eval.benchmark.jsonl",
    "TweekiGold": "tweekigold/data/Tweeki_gold/Tweeki_gold.jsonl",
}


def build(data: Path, folder: Path) -> Path:
    kb = folder / "simple.kb"
    if not kb.exists():
        entlink.build([data / "simplewiki_2021_kb.jsonl.xz"], kb, entlink.BuildOptions(names_in_openings=False))
    return kb


def covered(documents: Iterable[Document], titles: dict[str, str]) -> Iterator[Document]:
    """The documents with the gold that the knowledge base has, by its ids."""
    for document in documents:
        gold = []
        for one in document.gold:
            title, surface = str(one.meta["title"]), document.text[one.span.start : one.span.end]
            if (id := titles.get(key_of(title))) is not None:
                gold.append(GoldLink(one.span, (id,), meta={"surface_is_title": surface == title}))
        if gold:
            yield Document(document.id, document.text, gold=tuple(gold))


def measure(kb: Path, data: Path, config: str | Path) -> dict[str, Any]:
    linker = load(kb, config=read_config(config), mentions="given")
    titles = {
        key_of(entity.title): entity.id
        for entity in linker.kb
        if not looks_like_disambiguation(entity.title, entity.description)
    }
    told: dict[str, Any] = {}
    for name, file in SETS.items():
        documents = list(covered(File(data / file, "gold"), titles))
        told[name] = figures(list(outcomes(linker, documents)))
    linker.kb.close()
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where the knowledge base and the linker are kept")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument(
        "--no-train", action="store_true", help="without models: none was kept when they were trained"
    )
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    kb = build(arguments.data, arguments.folder)
    told: dict[str, Any] = {"entlink": entlink.__version__}
    with KnowledgeBase.open(kb) as opened:
        told["entities"] = len(opened)
    told |= adapted(kb, arguments.minutes, train=not arguments.no_train)
    told["zero-shot"] = measure(kb, arguments.data, "zero-shot")
    told["adapted"] = measure(kb, arguments.data, linker_beside(kb))
    sys.stdout.write(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
