"""What each stage of `adapt` adds: the linker as it was after each that was kept, on mentions with gold.

    python reproductions/schools_adapted.py ../shared/data/schools_wikipedia --folder build/adapted
    python reproductions/schools_stages.py ../shared/data/schools_wikipedia --folder build/adapted

*Best candidate* is the share of mentions whose entity comes first. NIL is left out: it changes no order. Without
links, the linker with senses stands there twice: with the weights that `adapt` has for it, and with weights fitted to
the examples that `adapt` finds in the texts, as it fits them to links.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from schools_adapted import UsualMeanings, scores
from schools_unfamiliar import outcomes

from entlink.evaluation.files import File
from entlink.io.progress import ignore_progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.adapt.lessons import BI_ENCODER
from entlink.learning.adapt.names import SHORTENED
from entlink.learning.adapt.senses import SENSES
from entlink.learning.adapt.weights import fitted_weights, with_ranker
from entlink.learning.own_texts.cases import parted
from entlink.learning.own_texts.pairs import Wanted, self_pairs
from entlink.linking.config import LinkerConfig, linker_beside, read_config
from entlink.linking.linker import load
from entlink.linking.saved import read_card

_PARTS = ("all", "not the title", "known, another meant")
_SEED, _FITTED_TO = 0, 2_000  # examples of each part, at most


def linkers(kb: Path) -> Iterator[tuple[str, LinkerConfig]]:
    """The linker that was started from, and the one after each stage that was kept."""
    last = read_config(linker_beside(kb))
    yield "zero-shot", read_config("zero-shot")
    there: set[str] = set()
    for stage in read_card(linker_beside(kb)).steps[-1]["adapt"]["stages"]:
        if stage.get("kept", True):
            there.add(stage["name"])
            weights = stage.get("figures", {}).get("weights")
            if weights and stage["name"] != "NIL":  # its weights are not of the ranker
                then = _as_then(last, there, weights)
                yield stage["name"], then
                if stage["name"] == SENSES and not has_links(kb):
                    yield "senses with weights fitted to the texts", _fitted_to_texts(kb, then)


def has_links(kb: Path) -> bool:
    with KnowledgeBase.open(kb) as opened:
        return opened.has_hyperlinks


def _fitted_to_texts(kb: Path, config: LinkerConfig) -> LinkerConfig:
    """The linker with weights fitted to examples of pages that are not trained on, as to links."""
    linker = load(kb, config=config, mentions="given")
    parts = parted(self_pairs(linker, Wanted(), _SEED, ignore_progress), _FITTED_TO, _SEED)
    weights, bias = fitted_weights(linker, [*parts.tune, *parts.held_back], ignore_progress)
    linker.kb.close()
    return with_ranker(config, weights=weights, bias=bias)


def _as_then(last: LinkerConfig, there: set[str], weights: dict[str, float]) -> LinkerConfig:
    """The last linker without what came later."""
    retrievers = [one for one in last.retriever if _comes_with(one) <= there]
    fusion = dict(last.fusion or {})
    if "names" not in there:
        fusion["weights"] = {name: weight for name, weight in fusion["weights"].items() if name != SHORTENED}
    ranker = {**last.ranker, "weights": weights}
    return msgspec.structs.replace(last, retriever=retrievers, fusion=fusion, ranker=ranker, nil=LinkerConfig().nil)


def _comes_with(retriever: dict[str, Any]) -> set[str]:
    """The stage that adds a retriever, if any does."""
    stages = {SHORTENED: "names", SENSES: SENSES}
    if retriever.get("name") in stages:
        return {stages[retriever["name"]]}
    return {BI_ENCODER} if Path(retriever.get("encoder", "")).name == BI_ENCODER else set()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where the knowledge bases and linkers are")
    parser.add_argument("--split", default="dev", choices=("dev", "test"))
    arguments = parser.parse_args()
    documents = list(File(arguments.data / f"mentions_{arguments.split}.jsonl.xz", "gold"))
    usual = UsualMeanings(arguments.data)
    sys.stdout.write(",".join(["linker", "after", *(f'"{part}"' for part in _PARTS)]) + "\n")
    for kb in (arguments.folder / "unfamiliar.kb", arguments.folder / "familiar.kb"):
        if linker_beside(kb).exists():
            for stage, config in linkers(kb):
                linker = load(kb, config=config, mentions="given")
                told = scores(list(outcomes(linker, documents)), documents, usual)
                linker.kb.close()
                shares = (f"{told[part]['best candidate']:.4f}" for part in _PARTS)
                sys.stdout.write(",".join([kb.stem, stage, *shares]) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
