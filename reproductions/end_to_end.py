"""Fits what the configuration `everyday` decides by, and measures it end to end on Simple Wikipedia.

python reproductions/end_to_end.py simple.kb DATA [--fit] [--config lexical]

`simple.kb` is Simple Wikipedia of 2021, built with --names-in-openings --descriptions full. Fitted on OKE 2015 and
2016 train (without the documents of OKE 2015 eval) and TweekiGold; reported on OKE 2015 and 2016 eval and Derczynski.
EL is strict, gold matched by title and covered; answers at gold that is not covered do not count.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from itertools import islice
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
from entlink.mentions.names import NamesDetector
from entlink.nil.keep.features import AT_FIRST_LOOK, spelling_of
from entlink.nil.keep.policy import WEIGHTS_FILE, KeepPolicy, keep_weights
from entlink.text.titles import looks_like_disambiguation

Gold = dict[tuple[int, int], str | None]  # the id of the entity by place; None where the knowledge base lacks it
Text = tuple[str, Gold]
_PULL = 2.0  # towards 0, in units of each feature's spread
_STEPS, _RATE = 400, 0.5
_SCHOOLS = 1_500  # paragraphs
_NEGATIVES = 5  # every so many
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


Rows = dict[str, list[tuple[dict[str, float], float]]]  # features and whether it is right, by spelling


def gather(linker: Linker, texts: Iterable[Text], rows: Rows, *, unknown_is_wrong: bool = False) -> None:
    """The features of all proposals. One at gold that the knowledge base lacks says nothing, or is wrong."""
    policy = linker.nil
    assert isinstance(policy, KeepPolicy)
    for text, gold in texts:
        for one, features in policy.rows(shortlists(linker, text)):
            place = (one.mention.span.start, one.mention.span.end)
            if features is None or (place in gold and gold[place] is None and not unknown_is_wrong):
                continue
            is_right = float(gold.get(place) == one.candidates[0].entity)
            rows.setdefault(spelling_of(one.mention.text), []).append((features, is_right))


def fit_keep(rows: list[tuple[dict[str, float], float]], without: Iterable[str] = ()) -> dict[str, float]:
    """Weights of the features by which a proposal is a right link."""
    names = sorted({name for features, _ in rows for name in features}.difference(without))
    values = numpy.array([[features.get(name, 0.0) for name in names] for features, _ in rows])
    spread = numpy.where(values.std(0) > 0, values.std(0), 1.0)
    pulls = numpy.array([0.0 if name == "bias" else _PULL for name in names])
    weights = newton(values / spread, numpy.array([is_right for _, is_right in rows]), pulls) / spread
    return {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)}


def lowered(texts: Iterable[Text]) -> list[Text]:
    """As in chats, nothing with a capital."""
    return [(text.lower(), gold) for text, gold in texts if len(text.lower()) == len(text)]


def schools(path: Path, ids: Mapping[str, str]) -> list[Text]:
    """Paragraphs of an encyclopedia. A word that is linked once is no mistake elsewhere in the same article."""
    articles: dict[str, list[tuple[str, Gold]]] = {}
    with lzma.open(path, "rt", encoding="utf8") as lines:
        for line in islice(lines, 0, _SCHOOLS * 8, 8):
            record = json.loads(line)
            gold = {
                (one["start"], one["end"]): ids.get(one["entity"].replace("_", " ")) for one in record["mentions"]
            }
            articles.setdefault(record["id"].partition("#")[0], []).append((record["text"], gold))
    found = []
    for paragraphs in articles.values():
        linked = {text[slice(*place)].lower() for text, gold in paragraphs for place in gold}
        for text, gold in paragraphs:
            again = {
                match.span(): None for one in linked for match in re.finditer(rf"\b{re.escape(one)}\b", text.lower())
            }
            found.append((text, again | gold))
    return found


def small_kb(kb: KnowledgeBase, texts: Iterable[Text], folder: Path) -> Linker:
    """A table of a thousand rows: half of what the texts speak of and as much else, half of it without a text."""
    chance = random.Random(7)
    every = [one.id for one in kb]
    spoken_of = sorted({id for _, gold in texts for id in gold.values() if id})
    chosen = {*chance.sample(spoken_of, len(spoken_of) // 2), *chance.sample(every, 600)}
    path = folder / "small.jsonl"
    with path.open("w", encoding="utf8") as lines:
        for id in sorted(chosen):
            entity = kb.get(id)
            assert entity is not None
            told = (entity.description or "")[:200] if chance.random() < 0.5 else ""
            lines.write(json.dumps({"id": id, "title": entity.title, "text": told}) + "\n")
    subprocess.run(
        [sys.executable, "-m", "entlink", "kb", "build", path, "-o", folder / "small.kb", "--replace", "--quiet"],
        check=True,
    )
    return entlink.load(folder / "small.kb", config="everyday")


def only_in(linker: Linker, texts: Iterable[Text]) -> list[Text]:
    return [
        (text, {place: id if id and linker.kb.get(id) else None for place, id in gold.items()})
        for text, gold in texts
    ]


def fitted(linker: Linker, train: list[Text], encyclopedia: list[Text]) -> dict[str, dict[str, float]]:
    rows: Rows = {}
    with tempfile.TemporaryDirectory() as folder:
        small = small_kb(linker.kb, train, Path(folder))
        for one in (linker, small):
            one.detector = NamesDetector(one.kb, what="all")
            one.ranker.weights.update(linker.ranker.weights)  # type: ignore[attr-defined]
        few = only_in(small, train)
        gather(linker, train, rows)
        gather(small, few, rows, unknown_is_wrong=True)
        gather(linker, lowered(train), rows)
        gather(small, lowered(few), rows, unknown_is_wrong=True)
        terms: Rows = {}
        gather(linker, encyclopedia, terms)
        # A term without a link is not a mistake for sure: only some of them count as one.
        rows["lower"] += [one for number, one in enumerate(terms["lower"]) if one[1] or number % _NEGATIVES == 0]
    found: dict[str, dict[str, float]] = {}
    for spelling in ("cased", "lower"):
        sys.stderr.write(
            f"{spelling}: {len(rows[spelling])} proposals, {sum(right for _, right in rows[spelling]):.0f} right\n"
        )
        found[spelling] = fit_keep(rows[spelling])
        later = {name for name in found[spelling] if name not in AT_FIRST_LOOK}
        found[f"{spelling} at first look"] = fit_keep(rows[spelling], later)
    return found | {name: dict(keep_weights()[name]) for name in keep_weights() if name.startswith("caseless")}


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
        encyclopedia = schools(arguments.data / "schools_wikipedia" / "mentions_train.jsonl.xz", ids)
        WEIGHTS_FILE.write_bytes(
            msgspec.json.format(msgspec.json.encode(fitted(linker, train, encyclopedia))) + b"\n"
        )
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
