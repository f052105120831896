"""Measures linking end to end on Simple Wikipedia: nothing but texts in, links out.

python reproductions/end_to_end.py simple.kb DATA [--config everyday everyday-encoder] [--plot reliability.svg]

`simple.kb` is Simple Wikipedia of 2021, as `entlink kb build` makes it. Reported on OKE 2015 and 2016 eval and
Derczynski. EL is strict, gold matched by title and covered, disambiguation pages left out; answers at gold that is
not covered do not count. ECE is the expected calibration error of the scores of the links that count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import entlink
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.fit.calibration_scores import Judged, calibration_error, reliability
from entlink.learning.fit.reliability import reliability_plot
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


def judged(linker: Linker, texts: Iterable[Text]) -> tuple[list[Judged], int]:
    """The links that count, each right or wrong, and how many are wanted."""
    found, wanted = [], 0
    for text, gold in texts:
        wanted += sum(id is not None for id in gold.values())
        for one in linker.link(text).links:
            place = one.mention.span.start, one.mention.span.end
            if one.entity and gold.get(place, "") is not None:
                found.append(Judged(one.score, one.entity == gold.get(place), nil=False))
    return found, wanted


def told(links: Sequence[Judged], wanted: int) -> str:
    right = sum(one.right for one in links)
    precision, recall = right / max(len(links), 1), right / wanted
    f1, error = 2 * right / (len(links) + wanted), calibration_error(reliability(links))
    return f"precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}, ECE {error:.3f}"


def main(arguments: argparse.Namespace) -> None:
    curves = {}
    for config in arguments.config:
        linker = entlink.load(arguments.kb, config=config)
        every: list[Judged] = []
        for name, texts in reported(arguments.data, titles(linker.kb)).items():
            links, wanted = judged(linker, texts)
            every += links
            sys.stdout.write(f"{config}, {name}: {told(links, wanted)}\n")
        curves[config] = reliability(every)
        sys.stdout.write(f"{config}, all links: ECE {calibration_error(curves[config]):.3f}\n")
    if arguments.plot:
        arguments.plot.write_bytes(reliability_plot(curves))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--config", nargs="+", default=["everyday", "everyday-encoder"], help="linkers to measure")
    parser.add_argument("--plot", type=Path, help="an SVG file: how often links of a score are right, of two linkers")
    main(parser.parse_args())
