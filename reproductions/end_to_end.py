"""Fits what the configuration `everyday` decides by, and measures it end to end on Simple Wikipedia.

python reproductions/end_to_end.py simple.kb DATA [--fit] [--config lexical]

`simple.kb` is Simple Wikipedia of 2021, built with --names-in-openings --descriptions full. Fitted on OKE 2015 and
2016 train (without the documents of OKE 2015 eval) and TweekiGold; reported on OKE 2015 and 2016 eval and Derczynski.
EL is strict, gold matched by title and covered; answers at gold that is not covered do not count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy

import entlink
from entlink.documents import Document
from entlink.interfaces import Question, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.fit.logistic import newton
from entlink.linking.linker import Linker
from entlink.nil.keep.policy import WEIGHTS_FILE, KeepPolicy
from entlink.text.titles import looks_like_disambiguation

Gold = dict[tuple[int, int], str | None]  # the id of the entity by place; None where the knowledge base lacks it
Text = tuple[str, Gold]
_PULL = 2.0  # towards 0, in units of each feature's spread
_STEPS, _RATE = 400, 0.5
_RANKED = (
    "alias", "shortened", "is_title", "is_bare_title", "tier", "context", "title_context", "popularity",
)  # fmt: skip


def titles(kb: KnowledgeBase) -> dict[str, str]:
    """Ids by title, disambiguation pages left out."""
    every = (one for one in kb if not looks_like_disambiguation(one.title, one.description))
    return {one.title: one.id for one in every}


def elevant(path: Path, ids: Mapping[str, str], without: Iterable[str] = ()) -> list[Text]:
    left_out = set(without)
    found = []
    for line in path.read_text(encoding="utf8").splitlines():
        record = json.loads(line)
        if record["text"] not in left_out:
            gold = {tuple(one["span"]): ids.get(one["name"]) for one in record["labels"]}
            found.append((record["text"], gold))
    return found


def tweeki(path: Path, ids: Mapping[str, str]) -> list[Text]:
    found = []
    for line in path.read_text(encoding="utf8").splitlines():
        record = json.loads(line)
        places = zip(record["index"], record["link"], strict=True)
        gold = {tuple(place): ids.get(link.partition("|")[0]) for place, link in places}
        found.append((record["sentence"], gold))
    return found


def shortlists(linker: Linker, text: str) -> list[Shortlist]:
    document = Document("text", text)
    [mentions] = linker.detector.detect([document])
    [lists] = linker.retrieve([Question(document, mentions)])
    asked = [Shortlist(document, *one) for one in zip(mentions, lists, strict=True)]
    return [Shortlist(document, one.mention, best) for one, best in zip(asked, linker.rank(asked), strict=True)]


def fit_ranker(linker: Linker, texts: Iterable[Text]) -> dict[str, float]:
    """Weights under which the gold entity is likeliest among the candidates of its mention."""
    groups: list[tuple[Any, int]] = []
    for text, gold in texts:
        for one in shortlists(linker, text):
            id = gold.get((one.mention.span.start, one.mention.span.end))
            places = [number for number, own in enumerate(one.candidates) if own.entity == id]
            if places and len(one.candidates) > 1:
                rows = [[own.evidence.get(name, 0.0) for name in _RANKED] for own in one.candidates]
                groups.append((numpy.array(rows), places[0]))
    weights = numpy.zeros(len(_RANKED))
    for _ in range(_STEPS):
        gradient = -0.5 * weights / len(groups)
        for rows, place in groups:
            powers = numpy.exp((rows @ weights) - (rows @ weights).max())
            gradient += (rows[place] - (powers / powers.sum()) @ rows) / len(groups)
        weights += _RATE * gradient
    right_now = sum(int((rows @ weights).argmax() == place) for rows, place in groups)
    sys.stderr.write(f"ranking of {len(groups)} ambiguous mentions: {right_now / len(groups):.3f}\n")
    return {name: round(float(weight), 2) for name, weight in zip(_RANKED, weights, strict=True)}


def fit_keep(linker: Linker, texts: Iterable[Text]) -> dict[str, float]:
    """Weights of the features by which a proposal is a right link."""
    policy = linker.nil
    assert isinstance(policy, KeepPolicy)
    found: list[dict[str, float]] = []
    right: list[float] = []
    for text, gold in texts:
        for one, features in policy.rows(shortlists(linker, text)):
            place = (one.mention.span.start, one.mention.span.end)
            if features is not None and not (place in gold and gold[place] is None):
                found.append(features)
                right.append(float(gold.get(place) == one.candidates[0].entity))
    names = sorted({name for features in found for name in features})
    rows = numpy.array([[features.get(name, 0.0) for name in names] for features in found])
    spread = numpy.where(rows.std(0) > 0, rows.std(0), 1.0)
    pulls = numpy.array([0.0 if name == "bias" else _PULL for name in names])
    weights = newton(rows / spread, numpy.array(right), pulls) / spread
    sys.stderr.write(f"{len(rows)} proposals, {int(sum(right))} of them right\n")
    return {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)}


def scores(linker: Linker, texts: Iterable[Text]) -> tuple[float, float, float]:
    """Precision, recall and F1 of links."""
    predicted = wanted = right = 0
    for text, gold in texts:
        links = {(one.mention.span.start, one.mention.span.end): one.entity for one in linker.link(text).links}
        covered = {place: id for place, id in gold.items() if id is not None}
        counted = {place: id for place, id in links.items() if place not in gold or gold[place] is not None}
        predicted, wanted = predicted + len(counted), wanted + len(covered)
        right += sum(counted.get(place) == id for place, id in covered.items())
    return right / max(predicted, 1), right / wanted, 2 * right / (predicted + wanted)


def main(arguments: argparse.Namespace) -> None:
    linker = entlink.load(arguments.kb, config=arguments.config)
    ids, folder = titles(linker.kb), arguments.data / "elevant"
    evaluated = {
        name: elevant(folder / f"{name}.benchmark.jsonl", ids)
        for name in ("oke-2015-eval", "oke-2016-eval", "derczynski")
    }
    reported = [text for texts in evaluated.values() for text, _ in texts]
    train = [
        text for year in (2015, 2016) for text in elevant(folder / f"oke-{year}-train.benchmark.jsonl", ids, reported)
    ]
    train += tweeki(arguments.data / "tweekigold" / "data" / "Tweeki_gold" / "Tweeki_gold.jsonl", ids)
    if arguments.fit:
        weights = fit_ranker(linker, train)
        sys.stdout.write(f"the ranker's weights, for presets/everyday.toml: {weights}\n")
        linker.ranker.weights.update(weights)  # type: ignore[attr-defined]
        WEIGHTS_FILE.write_bytes(msgspec.json.format(msgspec.json.encode(fit_keep(linker, train))) + b"\n")
    else:
        for name, texts in evaluated.items():
            precision, recall, f1 = scores(linker, texts)
            sys.stdout.write(f"{name}: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--config", default="everyday", help="the linker to measure (default: everyday)")
    parser.add_argument("--fit", action="store_true", help="fit the weights on the training sets, and write them")
    main(parser.parse_args())
