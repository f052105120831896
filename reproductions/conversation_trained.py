"""A linker for conversations, trained on ConEL-2 train alone: knowledge base, names, detector, weights and NIL.

    entlink models pull minilm
    python reproductions/conversation_trained.py ../shared/data --folder build/conversations
    python reproductions/conversation.py build/conversations/wiki.kb ../shared/data \
        --system trained=build/conversations/trained.linker

The knowledge base is Simple Wikipedia of 2021 merged by title with 30,000 articles of English Wikipedia of 2015.
Everything is learnt from, and chosen on, ConEL-2 train, and neither validation nor ConEL-1 is opened. What is printed
is of parts that detector, names and NIL were not fitted to; the ranker's weights are fitted to all of train, and the
thresholds are the best ones for the figures beside them. A knowledge base and a detector that are in the folder
already are not made again.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document
from entlink.evaluation.files import File
from entlink.io.progress import ignore_progress
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.taught_names import teach, write_taught
from entlink.learning.detector.training import train_detector
from entlink.learning.fit.judging import judge
from entlink.learning.fit.tune import TuneOptions, tune
from entlink.linking.config import LinkerConfig, read_config
from entlink.linking.linker import load
from entlink.linking.saved import save_linker

SOURCES = ("simplewiki_2021_kb.jsonl.xz", "enwiki_2015_first30k_kb.jsonl.xz")
HERE = Path(__file__).resolve().parent
COMMAND = "python reproductions/conversation_trained.py"
NEVER = {"name": "threshold", "threshold": 0.0}


def built(data: Path, folder: Path) -> Path:
    """The merged knowledge base, with the names that first sentences give."""
    merged = folder / "wiki.kb"
    if not merged.exists():
        parts = [folder / f"{source.partition('_')[0]}.kb" for source in SOURCES]
        options = BuildOptions(language="en", names_in_openings=True)
        for part, source in zip(parts, SOURCES, strict=True):
            build([str(data / source)], part, options, replace=True)
        KnowledgeBase.merge(parts, merged, by="title")
    with KnowledgeBase.open(merged) as kb:
        kb.index(cooccurrence=True, short=True)
    return merged


def conversations(data: Path) -> list[Document]:
    annotations = data / "conel2" / "dataset" / "Conversational_Entity_Linking_Annotations"
    return list(File(annotations / "ConEL22_EL_Train.json", "gold"))


def trained(kb: Path, documents: list[Document], folder: Path) -> dict[str, Any]:
    """The linker in its folder, and what each step says of itself."""
    told: dict[str, Any] = {}
    with KnowledgeBase.open(kb) as opened:
        write_taught(folder / "names.json", teach(opened, documents, command=COMMAND))
        if not (folder / "detector").exists():
            report = train_detector(opened, documents, folder / "detector", progress=ignore_progress, command=COMMAND)
            told["detector"] = msgspec.to_builtins(report)
    config = read_config(placed(folder))
    linker = load(kb, config=config, mentions="given")
    config, weights = tune(linker, config, documents, TuneOptions(keep=20, fusion=False), ignore_progress)
    linker.kb.close()
    linker = load(kb, config=msgspec.structs.replace(config, nil=NEVER))
    config, nil = judge(linker, config, documents, 0, ignore_progress)
    linker.kb.close()
    told |= {"ranker": msgspec.to_builtins(weights), "nil": msgspec.to_builtins(nil)}
    save(config, folder / "trained.linker", told, kb)
    return told


def placed(folder: Path) -> Path:
    """The configuration to start from, with the models of the folder."""
    text = (HERE / "conversation_trained.toml").read_text(encoding="utf8")
    path = folder / "start.toml"
    path.write_text(text, encoding="utf8")
    return path


def save(config: LinkerConfig, folder: Path, told: dict[str, Any], kb: Path) -> None:
    save_linker(folder, config, {"command": COMMAND, "found": told}, kb.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where the knowledge base and the linker are kept")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    told = trained(built(arguments.data, folder), conversations(arguments.data), folder)
    sys.stdout.write(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
