"""Linking to a knowledge base nothing was learnt from: Schools Wikipedia, spans given, all 4,655 entities.

    entlink models pull minilm
    python reproductions/schools_unfamiliar.py ../shared/data/schools_wikipedia

*Unfamiliar* is a knowledge base of titles and texts without any link; its score is over the mentions whose surface
is not the title. *Familiar* is the same with the links of `mentions_train.jsonl.xz`; its score is over all mentions.
Fusion and weights are tuned on `mentions_dev.jsonl.xz`; the figures are of the split that is asked for. Beside them
stand two baselines counted in the same run: the nearest title by Levenshtein distance, and by the encoder.
NIL counts as an error.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from schools_prior import read

import entlink
from entlink.documents import Candidate, Document, Mention
from entlink.evaluation.files import File
from entlink.interfaces import Question, Shortlist
from entlink.io.progress import ignore_progress
from entlink.learning.fit.tune import TuneOptions, tune
from entlink.linking.config import LinkerConfig, read_config
from entlink.linking.linker import Linker, load

ENCODER = "minilm"
_BATCH = 64


class Outcome(msgspec.Struct):
    """A mention of the test: what is right, whether it is written as the title is, and what was found."""

    right: str
    is_title: bool
    fused: list[str]
    ranked: list[str]
    linked: str | None


def write_articles(data: Path, out: Path, *, links: bool) -> None:
    """All articles with their texts; with `links`, those of the training paragraphs."""
    trained: dict[tuple[str, str], list[list[Any]]] = {}
    if links:
        for row in read(data / "mentions_train.jsonl.xz"):
            trained[row["id"].rsplit("#", 1)[0], row["text"]] = [
                [mention["start"], mention["end"], mention["entity"]] for mention in row["mentions"]
            ]
    with out.open("w", encoding="utf8") as file:
        for article in read(data / "articles.jsonl.xz"):
            paragraphs = [
                {"text": one["text"], "links": trained.get((article["id"], one["text"]), [])}
                for one in article["paragraphs"]
            ]
            row = {key: article[key] for key in ("id", "title", "subjects")}
            file.write(json.dumps({**row, "paragraphs": paragraphs}) + "\n")


def build(data: Path, folder: Path, *, links: bool) -> Path:
    """The knowledge base, with a full index of vectors."""
    name = "familiar" if links else "unfamiliar"
    articles, kb = folder / f"{name}.jsonl", folder / f"{name}.kb"
    if not kb.exists():
        write_articles(data, articles, links=links)
        entlink.build([articles], kb, entlink.BuildOptions(format="articles", names_in_openings=False))
    with entlink.KnowledgeBase.open(kb) as made:
        made.index(vectors=[ENCODER])
    return kb


def outcomes(linker: Linker, documents: Iterable[Document]) -> Iterator[Outcome]:
    assert linker.pooling is not None
    coming = iter(documents)
    while batch := list(islice(coming, _BATCH)):
        questions = [
            Question(document, [_mention(document, gold.span) for gold in document.gold]) for document in batch
        ]
        fused = linker.retrieve(questions)
        shortlists = [
            Shortlist(question.document, mention, candidates)
            for question, lists in zip(questions, fused, strict=True)
            for mention, candidates in zip(question.mentions, lists, strict=True)
        ]
        ranked = linker.rank(shortlists)
        decided = linker.nil.decide([Shortlist(*one[:2], best) for one, best in zip(shortlists, ranked, strict=True)])
        golds = [gold for document in batch for gold in document.gold]
        for gold, shortlist, best, link in zip(golds, shortlists, ranked, decided, strict=True):
            yield Outcome(
                gold.entities[0],
                bool(gold.meta["surface_is_title"]),
                _ids(shortlist.candidates),
                _ids(best),
                link.entity,
            )


def _mention(document: Document, span: entlink.Span) -> Mention:
    return Mention(span, document.text[span.start : span.end])


def _ids(candidates: Sequence[Candidate]) -> list[str]:
    return [one.entity for one in candidates]


def figures(found: list[Outcome]) -> dict[str, dict[str, float]]:
    """Accuracy, R@10 of the fusion and of the ranking, for all mentions and those not written as the title."""
    told: dict[str, dict[str, float]] = {}
    for name, part in (("all", found), ("not the title", [one for one in found if not one.is_title])):
        told[name] = {
            "mentions": len(part),
            "accuracy": _share(one.linked == one.right for one in part),
            "best candidate": _share(one.ranked[:1] == [one.right] for one in part),
            "R@10 fused": _share(one.right in one.fused[:10] for one in part),
            "R@10 ranked": _share(one.right in one.ranked[:10] for one in part),
            "R@64 fused": _share(one.right in one.fused[:64] for one in part),
        }
    return told


def _share(holds: Iterable[bool]) -> float:
    told = list(holds)
    return sum(told) / len(told)


def baselines(data: Path, split: str) -> dict[str, float]:
    """The nearest title by spelling and by the encoder, over the mentions that are not written as the title."""
    import numpy
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    from entlink.encoders.loading import load_encoder

    titles = {article["title"]: article["id"] for article in read(data / "articles.jsonl.xz")}
    right: dict[str, list[str]] = defaultdict(list)
    for row in read(data / f"mentions_{split}.jsonl.xz"):
        for mention in row["mentions"]:
            if not mention["surface_is_title"]:
                right[mention["text"]].append(mention["entity"])
    ids, surfaces = list(titles.values()), list(right)
    likeness = process.cdist(surfaces, list(titles), scorer=Levenshtein.normalized_similarity, workers=-1)
    encoder = load_encoder(ENCODER)
    cosines = encoder.encode(surfaces) @ encoder.encode(list(titles)).T
    told = {}
    for name, scores in (("edit distance", likeness), (f"{ENCODER}, mention against title", cosines)):
        nearest = numpy.argmax(scores, axis=1)
        told[name] = _share(
            entity == ids[place]
            for surface, place in zip(surfaces, nearest, strict=True)
            for entity in right[surface]
        )
    return told


def tuned(linker: Linker, config: LinkerConfig, data: Path, keep: int) -> tuple[LinkerConfig, dict[str, Any]]:
    options = TuneOptions(keep=keep, limit=100_000)
    config, report = tune(linker, config, File(data / "mentions_dev.jsonl.xz", "gold"), options, ignore_progress)
    return config, msgspec.to_builtins(report)


def measure(data: Path, folder: Path, split: str, keep: int, *, links: bool) -> dict[str, Any]:
    kb = build(data, folder, links=links)
    documents = list(File(data / f"mentions_{split}.jsonl.xz", "gold"))
    start = read_config("zero-shot")
    default = load(kb, config=start, mentions="given")
    as_it_comes = figures(list(outcomes(default, documents)))
    config, report = tuned(default, start, data, keep)
    linker = load(kb, config=config, mentions="given")
    return {"zero-shot": as_it_comes, "tuned on dev": figures(list(outcomes(linker, documents))), "tuning": report}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    parser.add_argument("--keep", type=int, default=10, help="candidates a mention keeps (default: 10)")
    parser.add_argument("--folder", type=Path, help="keep the knowledge bases there (default: a temporary folder)")
    parser.add_argument("--only", choices=("unfamiliar", "familiar"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        told: dict[str, Any] = {"split": arguments.split, "entlink": entlink.__version__, "encoder": ENCODER}
        if arguments.only != "familiar":
            told["baselines"] = baselines(arguments.data, arguments.split)
            told["unfamiliar"] = measure(arguments.data, folder, arguments.split, arguments.keep, links=False)
        if arguments.only != "unfamiliar":
            told["familiar"] = measure(arguments.data, folder, arguments.split, arguments.keep, links=True)
    sys.stdout.write(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
