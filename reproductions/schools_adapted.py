"""A linker adapted to Schools Wikipedia from its texts alone, and from its links; spans given, all 4,655 entities.

    entlink models pull minilm
    python reproductions/schools_adapted.py ../shared/data/schools_wikipedia --folder build/adapted

*Unfamiliar* and *familiar* are as in `schools_unfamiliar.py`. Each is adapted by `entlink adapt` as it comes, which
sees no gold. *Known, another meant* are the mentions whose surface has links in `mentions_train.jsonl.xz`, as it is
written or else in other case, most of them to another entity. NIL counts as an error for *accuracy* and not for *best
candidate*.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from schools_prior import read
from schools_unfamiliar import Outcome, build, figures, outcomes

import entlink
from entlink.documents import Document
from entlink.evaluation.files import File
from entlink.io.progress import ignore_progress
from entlink.learning.adapt.adapt import AdaptOptions, adapt
from entlink.linking.config import linker_beside, read_config
from entlink.linking.linker import load
from entlink.linking.saved import read_card


class UsualMeanings:
    """What each surface of the training paragraphs leads to most often, as it is written or else in other case."""

    def __init__(self, data: Path) -> None:
        written, folded = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
        for row in read(data / "mentions_train.jsonl.xz"):
            for mention in row["mentions"]:
                written[mention["text"]][mention["entity"]] += 1
                folded[mention["text"].lower()][mention["entity"]] += 1
        self._written, self._folded = (
            {surface: found.most_common(1)[0][0] for surface, found in counts.items()} for counts in (written, folded)
        )

    def of(self, surface: str) -> str | None:
        return self._written.get(surface) or self._folded.get(surface.lower())


def scores(found: list[Outcome], documents: Iterable[Document], usual: UsualMeanings) -> dict[str, Any]:
    golds = [
        (document.text[gold.span.start : gold.span.end], gold.entities[0])
        for document in documents
        for gold in document.gold
    ]
    unusual = [
        one for one, (surface, entity) in zip(found, golds, strict=True) if usual.of(surface) not in (None, entity)
    ]
    told: dict[str, Any] = figures(found)
    told["known, another meant"] = figures(unusual)["all"]
    return told


def adapted(kb: Path, minutes: float, *, train: bool = True) -> dict[str, Any]:
    """What `adapt` told, now or, where its linker is there already, when it made that one."""
    beside = linker_beside(kb)
    if beside.exists():
        step: dict[str, Any] = read_card(beside).steps[-1]
        return step
    options = AdaptOptions(minutes=minutes, train=train)
    report = adapt(kb, options, ignore_progress)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told = {"adapt": msgspec.to_builtins(report), "options": msgspec.to_builtins(options)}
    return {**told, "peak memory in MB": peak}


def measure(data: Path, folder: Path, split: str, minutes: float, *, links: bool) -> dict[str, Any]:
    kb = build(data, folder, links=links)
    documents = list(File(data / f"mentions_{split}.jsonl.xz", "gold"))
    usual = UsualMeanings(data)
    told = adapted(kb, minutes)
    for name, config in (("zero-shot", read_config("zero-shot")), ("adapted", read_config(linker_beside(kb)))):
        linker = load(kb, config=config, mentions="given")
        told[name] = scores(list(outcomes(linker, documents)), documents, usual)
        linker.kb.close()
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where the knowledge bases and linkers are kept")
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", choices=("unfamiliar", "familiar"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    told: dict[str, Any] = {"split": arguments.split, "entlink": entlink.__version__}
    for name in ("unfamiliar", "familiar"):
        if arguments.only in (None, name):
            links = name == "familiar"
            told[name] = measure(arguments.data, arguments.folder, arguments.split, arguments.minutes, links=links)
    sys.stdout.write(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
