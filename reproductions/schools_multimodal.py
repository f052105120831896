"""A multimodal model on captions of Schools Wikipedia: text alone, with the picture, and with pictures of others.

    entlink kb build ../shared/data/schools_wikipedia/articles.jsonl.xz -o schools.kb
    entlink kb index schools.kb --pictures efficientnet-lite0 --picture-folder PICTURES
    python reproductions/schools_multimodal.py schools.kb CAPTIONS PICTURES -o MODELS --part masked

`CAPTIONS` is the folder that `entlink datasets build captions` writes, `PICTURES` the pictures of `images.tar`.
What is trained is kept in `MODELS`, and taken up from there.

Spans are given. Mentions whose entity's picture is that of the caption or nearly so (cosine above .7) are left out.
The model is trained on the captions of one half of the pages and measured on the other half, and the other way round,
so that every mention counts once; its text-only twin is trained without pictures. `--part named` has ten candidates
by names and MiniLM, and P(e|m). `--part masked` hides the name: thirty candidates come from the caption around it, by
MiniLM, and from the picture. `p` is of a paired permutation test over captions.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy
from schools_captions import Asked, asked_of, captions, compared, say, with_pictures_of_others

from entlink.candidates.alias import AliasRetriever
from entlink.candidates.dense import DenseRetriever
from entlink.candidates.pictures import PicturesRetriever
from entlink.documents import Candidate, Document, Mention, Span
from entlink.encoders.dual import PlainDual, load_dual
from entlink.interfaces import Question, Shortlist
from entlink.kb.indexes.vectors.store import EntityVectors
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.multimodal.examples import PicturedExample
from entlink.learning.train import train
from entlink.learning.train_config import read_train_config
from entlink.ranking.multimodal import MultimodalRanker

FUSIONS = ("single-stream", "separate-first", "cross-attention")
TEXT_ONLY = '["mention-picture", "entity-picture"]'
HIDDEN = "…"  # what is written where a name is hidden
AROUND, SEEN = 2, 1  # of three candidates of a hidden name, those by the caption and by the picture
PARTS = 40  # of the pages: halves are the even and the odd ones, and the first four choose the best weights


def named(kb: KnowledgeBase, asked: Sequence[Asked]) -> list[PicturedExample]:
    """Ten candidates: at most eight by name, then the nearest by MiniLM."""
    questions = [Question(one.document, [one.mention]) for one in asked]
    names = AliasRetriever(kb, limit=10).retrieve(questions)
    near = DenseRetriever(kb, encoder="minilm", limit=20).retrieve(questions)
    found = []
    for one, (own,), (others,) in zip(asked, names, near, strict=True):
        chances = {name.entity: name.probability for name in kb.aliases(one.mention.text)}
        ids = [*(each.entity for each in own[:8]), *(each.entity for each in others)]
        candidates = tuple((id, chances.get(id, 0.0)) for id in list(dict.fromkeys(ids))[:10])
        found.append(PicturedExample(one.document, one.mention, one.right, candidates))
    return found


def masked(kb: KnowledgeBase, asked: Sequence[Asked]) -> list[PicturedExample]:
    """The mentions with their names hidden, and thirty candidates by the caption around them and by the picture."""
    hidden = [_hidden(one) for one in asked]
    dual = load_dual("minilm")
    assert isinstance(dual, PlainDual)
    ids = sorted(entity.id for entity in kb)
    entities = EntityVectors(kb, dual).of([key for id in ids if (key := kb.key(id)) is not None])
    texts = dual.encoder.encode([document.text.replace(HIDDEN, " ") for document, _ in hidden])
    by_picture = PicturesRetriever(kb, limit=15).retrieve([Question(document, [one]) for document, one in hidden])
    found = []
    for (document, mention), text, (seen,), one in zip(hidden, texts, by_picture, asked, strict=True):
        near = [ids[row] for row in (entities @ text).argsort()[::-1][:30]]
        order: list[str] = []
        for at in range(10):
            order += [*near[AROUND * at : AROUND * (at + 1)], *(each.entity for each in seen[at : at + SEEN])]
        candidates = tuple((id, 0.0) for id in list(dict.fromkeys([*order, *near]))[:30])
        found.append(PicturedExample(document, mention, one.right, candidates))
    return found


def _hidden(one: Asked) -> tuple[Document, Mention]:
    """The mention with its name hidden, wherever the caption has it."""
    text, span = one.document.text, one.mention.span
    before, after = (part.replace(one.mention.text, HIDDEN) for part in (text[: span.start], text[span.end :]))
    document = msgspec.structs.replace(one.document, text=before + HIDDEN + after, gold=(), mentions=None)
    return document, Mention(Span(len(before), len(before) + len(HIDDEN)), HIDDEN)


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
    settings = {"training.negatives": "5", "training.epochs": "7"}
    if given.part == "masked":
        settings["multimodal.prior"] = "false"
    with KnowledgeBase.open(given.kb) as kb:
        asked = [one for one in asked_of(kb, list(captions(given.captions))) if not one.is_copy]
        examples = (named if given.part == "named" else masked)(kb, asked)
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
