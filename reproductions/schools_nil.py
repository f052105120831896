"""NIL on Schools Wikipedia: a fifth of the entities is left out, and their mentions mean nothing that is there.

    entlink models pull minilm
    python reproductions/schools_nil.py ../shared/data/schools_wikipedia

The knowledge base has the other entities with their whole texts and no links. Every mention of
`mentions_test.jsonl.xz` is asked about, spans given. Beside the default threshold stands the policy that
`entlink calibrate` fits to the knowledge base alone, for several seeds; vectors are encoded on demand.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
from schools_prior import read

import entlink
from entlink.documents import Candidate, Document, Mention
from entlink.evaluation.files import File
from entlink.interfaces import NilPolicy, Question, Shortlist
from entlink.io.progress import ignore_progress
from entlink.learning.fit.calibration import CalibrationOptions, calibrate
from entlink.learning.fit.calibration_scores import Judged, scores
from entlink.linking.config import LinkerConfig, make_stage, read_config
from entlink.linking.linker import Linker, load
from entlink.nil import ThresholdNil

_BATCH = 64
_SEED = 7  # of what is left out


class Ranked(NamedTuple):
    """A mention of the test with its ranked candidates; `right` is None where its entity was left out."""

    mention: Mention
    candidates: Sequence[Candidate]
    right: str | None


def build(data: Path, folder: Path) -> tuple[Path, set[str]]:
    """The knowledge base without a fifth of its entities, and the ids of those."""
    articles = list(read(data / "articles.jsonl.xz"))
    ids = sorted(article["id"] for article in articles)
    gone = set(Random(_SEED).sample(ids, len(ids) // 5))
    table = folder / "entities.jsonl"
    with table.open("w", encoding="utf8") as file:
        for article in articles:
            if article["id"] not in gone:
                text = "\n\n".join(paragraph["text"] for paragraph in article["paragraphs"])
                types = sorted({subject.split(".")[0] for subject in article["subjects"]})
                row = {"id": article["id"], "title": article["title"], "description": text, "types": types}
                file.write(json.dumps(row) + "\n")
    entlink.build([table], folder / "schools.kb")
    return folder / "schools.kb", gone


def ranked(linker: Linker, documents: Sequence[Document], gone: set[str]) -> Iterator[Ranked]:
    coming = iter(documents)
    while batch := list(islice(coming, _BATCH)):
        questions = [
            Question(one, [Mention(gold.span, one.text[gold.span.start : gold.span.end]) for gold in one.gold])
            for one in batch
        ]
        shortlists = [
            Shortlist(question.document, mention, candidates)
            for question, lists in zip(questions, linker.retrieve(questions), strict=True)
            for mention, candidates in zip(question.mentions, lists, strict=True)
        ]
        meant = [gold.entities[0] for one in batch for gold in one.gold]
        for shortlist, best, entity in zip(shortlists, linker.rank(shortlists), meant, strict=True):
            yield Ranked(shortlist.mention, best, None if entity in gone else entity)


def judged(found: Sequence[Ranked], policy: NilPolicy) -> dict[str, Any]:
    links = policy.decide([Shortlist(Document("d", ""), one.mention, one.candidates) for one in found])
    mentions = [
        Judged(
            1 - link.score if link.is_nil else link.score,
            bool(one.candidates) and one.candidates[0].entity == one.right,
            one.right is None,
        )
        for link, one in zip(links, found, strict=True)
    ]
    told = scores(mentions, [not link.is_nil for link in links])
    precision, recall = told.nil_precision, told.nil_recall
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"right": told.accuracy, "F1 of NIL": f1, "ECE": told.ece, "calibrated": links[0].calibrated}


def measure(kb: Path, name: str, documents: Sequence[Document], gone: set[str], seeds: int) -> dict[str, Any]:
    config: LinkerConfig = read_config(name)
    linker = load(kb, config=config, mentions="given")
    found = list(ranked(linker, documents, gone))
    told: dict[str, Any] = {"threshold 0.05": judged(found, ThresholdNil())}
    for seed in range(seeds):
        fitted, _ = calibrate(linker, config, CalibrationOptions(seed=seed), ignore_progress)
        told[f"calibrated, seed {seed}"] = judged(found, make_stage("nil", fitted.nil, linker.kb))
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--config", action="append", help="linkers to measure (default: lexical and zero-shot)")
    arguments = parser.parse_args()
    documents = list(File(arguments.data / f"mentions_{arguments.split}.jsonl.xz", "gold"))
    told: dict[str, Any] = {"split": arguments.split, "entlink": entlink.__version__}
    with tempfile.TemporaryDirectory() as folder:
        kb, gone = build(arguments.data, Path(folder))
        for name in arguments.config or ["lexical", "zero-shot"]:
            told[name] = measure(kb, name, documents, gone, arguments.seeds)
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(told)).decode() + "\n")


if __name__ == "__main__":
    main()
