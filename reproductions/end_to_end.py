"""Measures linking end to end on Simple Wikipedia: nothing but texts in, links out.

python reproductions/end_to_end.py simple.kb DATA [--config everyday-encoder]

`simple.kb` is Simple Wikipedia of 2021, as `entlink kb build` makes it. Reported on OKE 2015 and 2016 eval and
Derczynski. EL is strict, gold matched by title and covered, disambiguation pages left out; answers at gold that is
not covered do not count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import entlink
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.linker import Linker
from entlink.text.titles import looks_like_disambiguation

Gold = dict[tuple[int, int], str | None]  # the id of the entity by place; None where the knowledge base lacks it
Text = tuple[str, Gold]


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


def reported(data: Path, ids: Mapping[str, str]) -> dict[str, list[Text]]:
    names = ("oke-2015-eval", "oke-2016-eval", "derczynski")
    return {name: elevant(data / "elevant" / f"{name}.benchmark.jsonl", ids) for name in names}


def tweeki(data: Path, ids: Mapping[str, str]) -> list[Text]:
    found = []
    path = data / "tweekigold" / "data" / "Tweeki_gold" / "Tweeki_gold.jsonl"
    for line in path.read_text(encoding="utf8").splitlines():
        record = json.loads(line)
        places = zip(record["index"], record["link"], strict=True)
        gold = {tuple(place): ids.get(link.partition("|")[0]) for place, link in places}
        found.append((record["sentence"], gold))
    return found


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
    for name, texts in reported(arguments.data, titles(linker.kb)).items():
        precision, recall, f1 = scores(linker, texts)
        sys.stdout.write(f"{name}: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--config", help="the linker to measure (default: the one that entlink picks)")
    main(parser.parse_args())
