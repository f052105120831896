"""Chinese names that several pages share: which page is meant, new pages, and NIL.

    python reproductions/zhwiki_ambiguous.py DATA --folder build/zhwiki
    python reproductions/zhwiki_ambiguous.py DATA --folder build/zhwiki --config characters-encoder

`DATA` has zhwiki_2020_kb_top150k_plus_ambiguous, zhwiki_ambiguous_mentions and zhwiki_temporal_new2020_15k, all
`.jsonl.xz`. Spans are given. The length of a page is no evidence: gold pages are never short in this set, and half of
the wrong candidates are. So beside all mentions, those are counted whose gold is not the longest page, and those of
which two candidates or more are not short (`fair`).

`--fit` fits the weights of the evidence `characters`, of titles, popularity and similarity, on train and
prints them for the preset; all others stay as they are there. `--part` runs one of the three parts alone.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy
from scipy.optimize import minimize

import entlink
from entlink.documents import Candidate, Document, Entity, GoldLink, Mention, Span
from entlink.interfaces import Question, Shortlist
from entlink.io.progress import ignore_progress
from entlink.learning.fit.calibration_scores import Judged, reliability, scores
from entlink.learning.fit.judging import judge
from entlink.learning.fit.reliability import reliability_plot
from entlink.linking.config import GIVEN, read_config
from entlink.linking.linker import Linker
from entlink.text.scripts import simplified
from entlink.text.titles import without_parenthesis

_PAGES = "zhwiki_2020_kb_top150k_plus_ambiguous.jsonl.xz"
_MENTIONS = "zhwiki_ambiguous_mentions.jsonl.xz"
_NEW = "zhwiki_temporal_new2020_15k.jsonl.xz"
_SHORT = 259  # characters of a page: no gold is shorter
_FITTED = ("characters", "pairs", "parenthesis", "is_title", "is_bare_title", "popularity", "similarity")
_PULL = 1.0
_REACH = 80
_KNOWN, _GONE, _SEED = 3_000, 3, 7  # pages to compare new ones with; one gold entity in so many is left out
_BATCH = 64


class Page(NamedTuple):
    """A page of the set; how long it was is not in its text."""

    id: str
    title: str
    text: str
    length: int

    def entity(self) -> Entity:
        return Entity(self.id, self.title, description=self.text)


class Ambiguous(NamedTuple):
    """A mention with its gold page; `is_fair` if two pages of that name or more are not short."""

    document: Document
    gold: str
    split: str
    longest_is_gold: bool
    is_fair: bool


Ranked = tuple[Ambiguous, Sequence[Candidate]]


def rows(path: Path) -> Iterator[Any]:
    with lzma.open(path, "rt", encoding="utf8") as lines:
        yield from map(json.loads, lines)


def pages(data: Path) -> dict[str, Page]:
    found = (Page(str(one["id"]), one["title"], one["text"], one["len"]) for one in rows(data / _PAGES))
    return {one.id: one for one in found}


def mentions(data: Path, known: Iterable[Page]) -> list[Ambiguous]:
    named: dict[str, list[int]] = {}
    for page in known:
        named.setdefault(without_parenthesis(page.title) or page.title, []).append(page.length)
    return [
        Ambiguous(
            asked(one["id"], one["text"], one["start"], one["end"]),
            str(one["gold_id"]),
            one["split"],
            one["longest_page_is_gold"],
            sum(length >= _SHORT for length in named.get(one["mention"], ())) >= 2,
        )
        for one in rows(data / _MENTIONS)
    ]


def asked(id: str, text: str, start: int, end: int) -> Document:
    return Document(id, text, mentions=(Mention(Span(start, end), text[start:end]),))


def build(pages: Iterable[Page], path: Path) -> Path:
    """A knowledge base of pages; the length of a page is not among what it knows."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        table = path.with_suffix(".jsonl")
        with table.open("w", encoding="utf8") as lines:
            for one in pages:
                lines.write(json.dumps({"id": one.id, "title": one.title, "text": one.text}) + "\n")
        entlink.build([table], path)
        table.unlink()
    return path


def ranked(linker: Linker, asked: Iterable[Ambiguous]) -> Iterator[Ranked]:
    coming = iter(asked)
    while batch := list(islice(coming, _BATCH)):
        questions = [Question(one.document, one.document.mentions or ()) for one in batch]
        lists = [found for [found] in linker.retrieve(questions)]
        shortlists = [Shortlist(q.document, q.mentions[0], own) for q, own in zip(questions, lists, strict=True)]
        yield from zip(batch, linker.rank(shortlists), strict=True)


def is_right(one: Ambiguous, candidates: Sequence[Candidate]) -> bool:
    return bool(candidates) and candidates[0].entity == one.gold


def accuracy(found: Collection[Ranked], chosen: Callable[[Ambiguous], bool] = lambda one: True) -> str:
    right = [is_right(one, candidates) for one, candidates in found if chosen(one)]
    return f"{sum(right) / max(1, len(right)):.3f} of {len(right)}"


def told(found: Collection[Ranked]) -> dict[str, str]:
    return {
        "all": accuracy(found),
        "longest page wrong": accuracy(found, lambda one: not one.longest_is_gold),
        "fair": accuracy(found, lambda one: one.is_fair),
        "gold among the candidates": f"{sum(_has_gold(one) for one in found) / len(found):.3f}",
    }


def _has_gold(one: Ranked) -> bool:
    return any(own.entity == one[0].gold for own in one[1])


def ambiguous(path: Path, every: Sequence[Ambiguous], config: str) -> dict[str, Any]:
    """The three figures of test, and how often gold is among the first candidates by names alone."""
    linker = entlink.load(path, config=config, mentions="given")
    result: dict[str, Any] = {"test": told(list(ranked(linker, (one for one in every if one.split == "test"))))}
    wide = msgspec.structs.replace(read_config("lexical"), retriever=[{"name": "alias", "wide": True, "limit": 100}])
    names = entlink.load(path, config=wide, mentions="given")
    places = []
    for one in every:
        if one.split == "test":
            [found] = names.candidates(one.document, one.document.mentions or ())
            places.append(next((n for n, own in enumerate(found) if own.entity == one.gold), len(found) + 100))
    result["names alone"] = {
        f"R@{k}": f"{sum(place < k for place in places) / len(places):.3f}" for k in (1, 10, 100)
    }
    return result


def fit(path: Path, every: Sequence[Ambiguous], config: str) -> dict[str, float]:
    """Weights of `_FITTED` under which the gold page is likeliest, with the others as they are."""
    linker = entlink.load(path, config=config, mentions="given")
    weights = {**read_config(config).ranker["weights"]}
    groups = []
    for one, candidates in ranked(linker, (one for one in every if one.split == "train")):
        place = next((n for n, own in enumerate(candidates) if own.entity == one.gold), None)
        if place is not None and len(candidates) > 1:
            features = numpy.array([[own.evidence.get(name, 0.0) for name in _FITTED] for own in candidates])
            given = [
                sum(weights.get(name, 0.0) * own.evidence.get(name, 0.0) for name in weights if name not in _FITTED)
                for own in candidates
            ]
            groups.append((features, numpy.array(given), place))

    def loss(fitted: Any) -> tuple[float, Any]:
        value, gradient = _PULL / 2 * (fitted @ fitted), _PULL * fitted
        for features, given, place in groups:
            sums = features @ fitted + given
            powers = numpy.exp(sums - sums.max())
            value -= sums[place] - sums.max() - numpy.log(powers.sum())
            gradient = gradient - features[place] + (powers / powers.sum()) @ features
        return value, gradient

    found = minimize(loss, numpy.zeros(len(_FITTED)), jac=True, method="L-BFGS-B").x
    return {name: round(float(one), 2) for name, one in zip(_FITTED, found, strict=True)}


def first_sentence(text: str) -> str:
    return text[: text.find("。") + 1]


def recurring(id: str, title: str, text: str) -> Ambiguous | None:
    """A page whose title is in its text again, after the first sentence: the rest of the text is what is linked."""
    name, rest = without_parenthesis(title) or title, text[len(first_sentence(text)) :]
    start = simplified(rest).find(simplified(name))
    if start < 0 or len(rest) == len(text):
        return None
    return Ambiguous(asked(id, rest, start, start + len(name)), id, "", False, False)


def fresh(folder: Path, data: Path, every: Sequence[Ambiguous], known: dict[str, Page], config: str) -> Any:
    """Pages of 2020 that are added to a knowledge base without them, beside pages that it was built with."""
    new = {str(one["id"]) for one in rows(data / _NEW)}
    path = build((page for page in known.values() if page.id not in new), folder / "known.kb")
    linker = entlink.load(path, config=config, mentions="given")
    linker.kb.add([known[id].entity() for id in sorted(new & known.keys())], replace=True)
    linker.keep_up()
    held_out = [one for one in every if one.split != "train"]
    result = {
        "ambiguous, of new pages": accuracy(list(ranked(linker, (one for one in every if one.gold in new)))),
        "ambiguous, of known pages": accuracy(list(ranked(linker, (one for one in held_out if one.gold not in new)))),
    }
    again = [one for id, page in known.items() if (one := recurring(id, page.title, page.text))]
    fresh = [one for one in again if one.gold in new]
    old = random.Random(_SEED).sample([one for one in again if one.gold not in new], _KNOWN)
    asked_of = (known[one.gold] for one in (*fresh, *old))
    linker.kb.add([page._replace(text=first_sentence(page.text)).entity() for page in asked_of], replace=True)
    linker.keep_up()
    return {
        **result,
        "title again, of new pages": accuracy(list(ranked(linker, fresh))),
        "title again, of known pages": accuracy(list(ranked(linker, old))),
    }


def nil(
    folder: Path, every: Sequence[Ambiguous], known: dict[str, Page], config: str, plot: Path | None
) -> dict[str, Any]:
    """A third of the gold entities left out: what `entlink tune --only nil` learns from train, on test."""
    ids = sorted({one.gold for one in every})
    gone = set(random.Random(_SEED).sample(ids, len(ids) // _GONE))
    path = build((page for page in known.values() if page.id not in gone), folder / "without.kb")
    settings = msgspec.structs.replace(read_config(config), detector=GIVEN)
    linker = entlink.load(path, config=settings)
    train = [one for one in every if one.split == "train"]
    fitted, _ = judge(linker, settings, [_with_gold(one, gone) for one in train], _SEED, ignore_progress)
    # Right decisions are what counts here, and not the F1 of links.
    policy = entlink.load(path, config=msgspec.structs.replace(fitted, nil={**fitted.nil, "threshold": 0.5})).nil
    found = list(ranked(linker, (one for one in every if one.split == "test")))
    links = policy.decide([Shortlist(one.document, (one.document.mentions or ())[0], own) for one, own in found])
    judged = [
        Judged(1 - link.score if link.is_nil else link.score, is_right(one, own), one.gold in gone)
        for link, (one, own) in zip(links, found, strict=True)
    ]
    if plot is not None:
        plot.write_bytes(reliability_plot({config: reliability(judged)}))
    result = scores(judged, [not link.is_nil for link in links])
    return {
        "mentions": len(judged),
        "of entities left out": sum(one.gold in gone for one, _ in found),
        "right": round(result.accuracy, 3),
        "NIL precision, recall": [round(result.nil_precision, 3), round(result.nil_recall, 3)],
        "ECE": round(result.ece, 3),
        "all linked": accuracy(found),
    }


def _with_gold(one: Ambiguous, gone: Collection[str]) -> Document:
    gold = () if one.gold in gone else (GoldLink((one.document.mentions or ())[0].span, (one.gold,)),)
    return msgspec.structs.replace(one.document, gold=gold)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("build/zhwiki"), help="where knowledge bases are made")
    parser.add_argument("--config", default="characters")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--plot", type=Path, help="where the reliability of the part nil is drawn (SVG)")
    parser.add_argument("--part", choices=("ambiguous", "new", "nil"))
    arguments = parser.parse_args()
    known = pages(arguments.data)
    every = mentions(arguments.data, known.values())
    result: dict[str, Any] = {"config": arguments.config}
    if arguments.part in (None, "ambiguous") or arguments.fit:
        path = build(known.values(), arguments.folder / "zh.kb")
        if arguments.fit:
            result["weights"] = fit(path, every, arguments.config)
        else:
            result["ambiguous"] = ambiguous(path, every, arguments.config)
    if not arguments.fit and arguments.part in (None, "new"):
        result["new"] = fresh(arguments.folder, arguments.data, every, known, arguments.config)
    if not arguments.fit and arguments.part in (None, "nil"):
        result["nil"] = nil(arguments.folder, every, known, arguments.config, arguments.plot)
    sys.stdout.write(json.dumps(result, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
