"""Which names are mentions where nothing is linked: Schools Wikipedia without its links, whole paragraphs.

    python reproductions/schools_detector.py ../shared/data/schools_wikipedia --folder build/adapted

The stage "detector" of `entlink adapt` is made on the knowledge base of titles and texts alone. Precision, recall and
F1 are of the spans that the dictionary finds with it and without it, and of the links that the default linker, which
goes by names alone, makes of them; against all hyperlinks of the split, spans compared exactly.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from schools_unfamiliar import build

import entlink
from entlink.documents import Document
from entlink.evaluation.files import File
from entlink.io.progress import ignore_progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.adapt.detector import COUNTS, COUNTS_FILE, adapted_detector
from entlink.learning.adapt.state import AdaptOptions
from entlink.linking.config import LinkerConfig, Stage
from entlink.linking.linker import load


def shares(found: int, right: int, wanted: int) -> dict[str, float]:
    told = {"precision": right / found, "recall": right / wanted, "F1": 2 * right / (found + wanted)}
    return {name: round(value, 4) for name, value in told.items()}


def measure(kb: Path, detector: Stage, documents: Sequence[Document]) -> dict[str, Any]:
    """Spans, and spans with the right entity."""
    linker = load(kb, config=msgspec.structs.replace(LinkerConfig(), detector=detector))
    found = wanted = spans = links = 0
    for document, linked in zip(documents, linker.link_all(documents), strict=True):
        gold = {(one.span, one.entities[0]) for one in document.gold}
        made = {(one.mention.span, one.entity) for one in linked.links}
        found += len(made)
        wanted += len(gold)
        spans += len({span for span, _ in made} & {span for span, _ in gold})
        links += len(made & gold)
    linker.kb.close()
    return {"mentions": shares(found, spans, wanted), "links": shares(found, links, wanted)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where the knowledge base is kept")
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    kb = build(arguments.data, arguments.folder, links=False)
    documents = list(File(arguments.data / f"mentions_{arguments.split}.jsonl.xz", "gold"))
    before: Stage = {"name": "dictionary"}
    told: dict[str, Any] = {"split": arguments.split, "entlink": entlink.__version__}
    with tempfile.TemporaryDirectory() as folder, KnowledgeBase.open(kb) as opened:
        counts = Path(folder) / COUNTS_FILE
        options = AdaptOptions()
        stage, after = adapted_detector(opened, before, (set(), set()), counts.parent, options, ignore_progress)
        told["stage"] = msgspec.to_builtins(stage)
        told["before"] = measure(kb, before, documents)
        told["after"] = measure(kb, {**after, COUNTS: str(counts)} if stage.kept else after, documents)
    sys.stdout.write(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
