"""A multimodal model on captions of Schools Wikipedia: text alone, with the picture, and with pictures of others.

    entlink kb build ../shared/data/schools_wikipedia/articles.jsonl.xz -o schools.kb
    entlink kb index schools.kb --pictures efficientnet-lite0 --picture-folder PICTURES
    python reproductions/schools_multimodal.py schools.kb CAPTIONS PICTURES -o MODELS --part masked

`CAPTIONS` is the folder that `entlink datasets build captions` writes, `PICTURES` the pictures of `images.tar`.
What is trained is kept in `MODELS`, and taken up from there.

Spans are given. Mentions whose entity's picture is that of the caption or nearly so (cosine above .7) are left out.
The model is trained on the captions of one half of the pages and measured on the other half, and the other way round,
so that every mention counts once; its text-only twin is trained without pictures. `--part named` has ten candidates
by names and MiniLM, and P(e|m). `--part masked` hides the name from the model, and leaves out P(e|m); the candidates
are the same. `p` is of a paired permutation test over captions.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
from schools_captions import NEAR_COPY, Asked, asked_of, captions, compared, say, with_pictures_of_others

from entlink.documents import Candidate, Document
from entlink.encoders.dual import load_dual
from entlink.interfaces import Shortlist
from entlink.kb.indexes.vectors.store import EntityVectors
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.multimodal.examples import PicturedExample
from entlink.learning.train import train
from entlink.learning.train_config import read_train_config
from entlink.ranking.multimodal import MultimodalRanker
from entlink.studies.pictures.material import masked_mention

SETTINGS = {
    "model.mention_tokens": "32", "model.entity_tokens": "24",
    "training.negatives": "5", "training.epochs": "3", "training.patience": "0",
}  # fmt: skip
FUSIONS = ("single-stream", "separate-first", "cross-attention")
TEXT_ONLY = '["mention-picture", "entity-picture"]'
PARTS = 40  # of the pages: halves are the even and the odd ones, and the first four choose the best weights


def examples_of(kb: KnowledgeBase, asked: Sequence[Asked], *, masked: bool) -> list[PicturedExample]:
    """Each mention with ten candidates: at most eight by name, then the nearest of all entities by MiniLM.

    With `masked`, the name is hidden from the model, and P(e|m) is 0.
    """
    dual = load_dual("minilm")
    ids = sorted(entity.id for entity in kb)
    entities = EntityVectors(kb, dual).of([key for id in ids if (key := kb.key(id)) is not None])
    mentions = dual.encode_mentions([(one.document, one.mention) for one in asked])
    found = []
    for one, vector in zip(asked, mentions, strict=True):
        chances = {name.entity: name.probability for name in kb.aliases(one.mention.text)}
        near = [ids[row] for row in (entities @ vector).argsort()[::-1][:20]]
        best = list(dict.fromkeys([*list(chances)[:8], *near]))[:10]
        candidates = tuple((id, 0.0 if masked else chances.get(id, 0.0)) for id in best)
        document, mention = masked_mention(one.document, one.mention) if masked else (one.document, one.mention)
        found.append(PicturedExample(document, mention, one.right, candidates))
    return found


def part_of(example: PicturedExample) -> int:
    """Which part of the pages a mention is in."""
    page = str(example.document.meta["page"])
    return int(hashlib.sha256(page.encode()).hexdigest(), 16) % PARTS


class Halves:
    """Models trained on each half of the pages, and asked about the other."""

    def __init__(self, kb: KnowledgeBase, examples: Sequence[PicturedExample], folder: Path, pictures: Path) -> None:
        self._kb, self._examples, self._folder, self._pictures = kb, examples, folder, pictures
        self._places = [part_of(one) for one in examples]

    def right(self, name: str, settings: dict[str, str], documents: Sequence[Document]) -> Any:
        """Whether each mention is right, its document replaced by the one given."""
        right = numpy.zeros(len(self._examples), bool)
        for half in (0, 1):
            ranker = self._trained(name, settings, half)
            rows = [row for row, place in enumerate(self._places) if place % 2 == half]
            asked = [
                Shortlist(documents[row], one.mention, [Candidate(id, 0.0, {"alias": p}) for id, p in one.candidates])
                for row, one in ((row, self._examples[row]) for row in rows)
            ]
            for row, scores in zip(rows, ranker.scores(asked), strict=True):
                best = self._examples[row].candidates[int(numpy.argmax(scores))][0] if scores else ""
                right[row] = best == self._examples[row].entity
        return right

    def _trained(self, name: str, settings: dict[str, str], half: int) -> MultimodalRanker:
        folder = self._folder / f"{name}-{half}"
        if not (folder / "model.json").is_file():
            others = [
                (place, one) for place, one in zip(self._places, self._examples, strict=True) if place % 2 != half
            ]
            wanted = {"multimodal.picture_folder": str(self._pictures.resolve()), **settings}
            taught, held_out = ([one for place, one in others if (place < 4) == aside] for aside in (False, True))
            train(read_train_config("multimodal", wanted), self._kb, taught, held_out, folder)
        return MultimodalRanker(self._kb, model=folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("kb", "captions", "pictures"):
        parser.add_argument(name, type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--part", choices=("named", "masked"), required=True)
    parser.add_argument("--fusion", choices=FUSIONS, action="append", default=[])
    given = parser.parse_args()
    settings = dict(SETTINGS)
    if given.part == "masked":
        settings["multimodal.prior"] = "false"
    with KnowledgeBase.open(given.kb) as kb:
        asked = [one for one in asked_of(kb, list(captions(given.captions))) if one.cosine <= NEAR_COPY]
        examples = examples_of(kb, asked, masked=given.part == "masked")
        reached = numpy.mean([one.entity in dict(one.candidates) for one in examples])
        say(f"{len(examples):,} mentions; R@{len(examples[0].candidates)} of the candidates {reached:.4f}")
        halves = Halves(kb, examples, given.output / given.part, given.pictures)
        documents = [one.document for one in examples]
        pictured = [one._replace(document=example.document) for one, example in zip(asked, examples, strict=True)]
        random = with_pictures_of_others(pictured, 0)
        text = halves.right("text", {**settings, "multimodal.without": TEXT_ONLY}, documents)
        say(f"{'text':32} {text.mean():.4f}")
        for fusion in given.fusion or FUSIONS:
            own = {**settings, "multimodal.fusion": fusion}
            both, swapped = halves.right(fusion, own, documents), halves.right(fusion, own, random)
            against_text, against_random = compared(asked, text, both), compared(asked, swapped, both)
            say(f"{f'text + picture, {fusion}':32} {both.mean():.4f} against text {_told(against_text)}")
            say(f"{'  pictures of others':32} {swapped.mean():.4f} to its own {_told(against_random)}")
    return 0


def _told(one: Any) -> str:
    return f"{one.difference:+.4f} [{one.interval.low:+.4f}, {one.interval.high:+.4f}] p {one.p:.4f}"


if __name__ == "__main__":
    sys.exit(main())
