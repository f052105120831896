"""DE beside TyDE on Schools Wikipedia: the five ways to score of paper 5's table 4, and the type of NIL.

    python reproductions/schools_types.py ../shared/data/schools_wikipedia --folder build/types

Coarse types are the first levels of subjects, fine types the subjects. Where an article has several first levels (the
order of its subjects says nothing: half of the countries are `Countries` first, half `Geography`), its coarse type is
the one that most articles have.
Entities that a third of the test mentions mean are new: all models are trained on a knowledge base that lacks them.
MiniLM learns links alone first (`start`). DE and TyDE both go on from there with two layers, for as many steps and
with the same examples in the same order: DE with links, TyDE with links and types. Names and priors are those of the
links of `mentions_train.jsonl.xz`. For table 4 the new entities are there again; for NIL they are not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace
from schools_prior import read

import entlink
from entlink.candidates.alias import AliasRetriever
from entlink.documents import Mention
from entlink.encoders.models.card import CARD
from entlink.encoders.trained.typed import TypeScores, load_typed_dual
from entlink.evaluation.files import File
from entlink.evaluation.intervals.resampling import differences, intervals
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.tally import Column
from entlink.evidence.bi_encoder import BiEncoderEvidence
from entlink.interfaces import Question, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.gold_files import GoldFiles
from entlink.learning.pairs.data import prepare
from entlink.learning.train import train
from entlink.learning.train_config import ModelConfig, TrainConfig, TrainingConfig
from entlink.linking.config import LinkerConfig
from entlink.linking.evidence import with_numbers
from entlink.ranking.similarity import SimilarityRanker

_SEED = 5
_A_SENTENCE = 100  # characters: what is shorter at the top of an article is a caption
_TEN = 10  # candidates of a mention
_THRESHOLD = 0.1
_MODEL = "bi-encoder"
_MODEL_OF_ALL = ModelConfig("bi-encoder", mention_tokens=48, entity_tokens=32, dimension=256, dropout=0.0)
_PLAN = TrainingConfig(
    batch=64, steps=600, learning_rate=1e-4, type_rate=20.0, negatives=0, precision="bf16", evaluate_every=150
)
_FURTHER, _FROZEN, _EVERY = 150, 4, 6  # steps, layers, and which of the training paragraphs, of `de` and `tyde`
Name = Literal["start", "de", "tyde"]
_STRATEGIES = {
    "sim only": (),
    "sim+coarse": ("coarse-types",),
    "sim+fine": ("fine-types",),
    "sim+coarse+fine": ("coarse-types", "fine-types"),
}
# As the paper writes it; with what is below 0 as 0; and with probabilities.
_VARIANTS: tuple[tuple[str, TypeScores, Literal["zero", "keep"]], ...] = (
    ("literal", "dot", "keep"),
    ("negative = zero", "dot", "zero"),
    ("probability", "probability", "zero"),
)


def build(data: Path, folder: Path) -> set[str]:
    """`all.kb` and `known.kb`, if they are not there; the ids of the new entities, which `known.kb` lacks."""
    new = new_entities(data)
    for name, left_out in (("all", set[str]()), ("known", new)):
        if not (folder / f"{name}.kb").exists():
            table = folder / f"{name}.jsonl"
            write_articles(data, table, left_out)
            options = entlink.BuildOptions(count_text=False, names_in_openings=False)
            entlink.build([table], folder / f"{name}.kb", options)
    return new


def new_entities(data: Path) -> set[str]:
    """Entities drawn by chance until they are those of a third of the test mentions."""
    meant = Counter(mention["entity"] for row in read(data / "mentions_test.jsonl.xz") for mention in row["mentions"])
    ids = sorted(article["id"] for article in read(data / "articles.jsonl.xz"))
    Random(_SEED).shuffle(ids)
    new, covered = set[str](), 0
    for id in ids:
        if covered >= meant.total() / 3:
            break
        new.add(id)
        covered += meant[id]
    return new


def first_levels(article: dict[str, Any]) -> list[str]:
    return sorted({subject.split(".")[0] for subject in article["subjects"]})


def write_articles(data: Path, out: Path, left_out: set[str]) -> None:
    """Articles with the beginning of their text, and the training paragraphs with their links; types coarse first."""
    linked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read(data / "mentions_train.jsonl.xz"):
        links = [
            [one["start"], one["end"], one["entity"]] for one in row["mentions"] if one["entity"] not in left_out
        ]
        linked[row["id"].rsplit("#", 1)[0]].append({"text": row["text"], "links": links})
    articles = list(read(data / "articles.jsonl.xz"))
    common = Counter(level for article in articles for level in first_levels(article))
    with out.open("w", encoding="utf8") as file:
        for article in articles:
            if article["id"] in left_out:
                continue
            texts = [paragraph["text"] for paragraph in article["paragraphs"]]
            opening = next((text for text in texts if len(text) >= _A_SENTENCE), "".join(texts[:1]))
            coarse = sorted(first_levels(article), key=lambda level: -common[level])[:1]
            row = {
                "id": article["id"],
                "title": article["title"],
                "types": coarse + article["subjects"],
                "paragraphs": [{"text": opening}, *linked[article["id"]]],
            }
            file.write(json.dumps(row) + "\n")


def trained(data: Path, folder: Path, name: Name) -> Path:
    """The model of that name, trained if it is not there; `de` and `tyde` go on from `start`, and end as they are."""
    target, files = folder / name, [data / f"mentions_{split}.jsonl.xz" for split in ("train", "dev")]
    if (target / CARD).is_file():
        return target
    model, plan, step = _MODEL_OF_ALL, _PLAN, 1
    if name != "start":
        base = str(trained(data, folder, "start"))
        model = replace(model, base=base, frozen_layers=_FROZEN, typed=name == "tyde")
        plan, step, files = replace(plan, steps=_FURTHER), _EVERY, files[:1]
    config = TrainConfig(model, plan)
    with KnowledgeBase.open(folder / "known.kb") as kb:
        documents = islice(GoldFiles(files[:1], None), 0, None, step)
        examples, held_out = prepare(config, kb, documents, GoldFiles(files[1:], None) if files[1:] else ())
        train(config, kb, examples, held_out, target)
    return target


class Asked(NamedTuple):
    """Mentions with the alias table's ten best and what they mean; documents by number, for intervals."""

    shortlists: list[Shortlist]
    gold: list[str]
    document: list[int]


def asked(kb: KnowledgeBase, data: Path, split: str) -> Asked:
    retriever, found = AliasRetriever(kb, limit=_TEN), Asked([], [], [])
    for number, one in enumerate(File(data / f"mentions_{split}.jsonl.xz", "gold")):
        mentions = [Mention(gold.span, one.text[gold.span.start : gold.span.end]) for gold in one.gold]
        (lists,) = retriever.retrieve([Question(one, mentions)])
        found.shortlists.extend(map(Shortlist, [one] * len(mentions), mentions, lists))
        found.gold.extend(gold.entities[0] for gold in one.gold)
        found.document.extend([number] * len(mentions))
    return found


def table(data: Path, folder: Path, split: str, new: set[str]) -> dict[str, Any]:
    """R@1 of every way to score, with all entities there: over all mentions, and over three kinds of them."""
    de, tyde = trained(data, folder, "de"), trained(data, folder, "tyde")
    with KnowledgeBase.open(folder / "all.kb") as kb:
        test = asked(kb, data, split)
        first = [one.candidates[0].entity if one.candidates else None for one in test.shortlists]
        several = [place for place, one in enumerate(test.shortlists) if len(one.candidates) > 1]
        contested = [test.shortlists[place] for place in several]  # of one candidate all ways think the same

        def best(stage: BiEncoderEvidence, *ways: dict[str, Any]) -> Iterator[list[str | None]]:
            told = with_numbers(contested, {_MODEL: stage})
            for way in ways:
                found = list(first)
                for place, ranked in zip(
                    several, SimilarityRanker(kb, evidence=_MODEL, **way).rank(told), strict=True
                ):
                    found[place] = ranked[0].entity
                yield found

        rows: dict[str, list[str | None]] = {"P(e|m) alone": first}
        (rows["DE"],) = best(BiEncoderEvidence(kb, model=de), {})
        for name, types, negative in _VARIANTS:
            ways = [{"times": times, "negative": negative} for times in _STRATEGIES.values()]
            found = best(BiEncoderEvidence(kb, model=tyde, types=types), *ways)
            rows |= {f"TyDE ({way}), {name}": own for way, own in zip(_STRATEGIES, found, strict=True)}
    kinds = {
        "all": [True] * len(test.gold),
        "new entities": [gold in new for gold in test.gold],
        "several candidates": [len(one.candidates) > 1 for one in test.shortlists],
        "AT@1 wrong": [gold != best for gold, best in zip(test.gold, first, strict=True)],
    }
    in_ten = [any(one.entity == gold for one in told.candidates) for told, gold in zip(*test[:2], strict=True)]
    return {
        "mentions": {kind: sum(chosen) for kind, chosen in kinds.items()},
        "R@10 of the alias table": sum(in_ten) / len(in_ten),
        "R@1": {name: figures(found, rows["DE"], test, kinds) for name, found in rows.items()},
    }


def figures(
    found: list[str | None], beside: list[str | None], test: Asked, kinds: dict[str, list[bool]]
) -> dict[str, Any]:
    """Accuracy with its interval over documents, and p of the difference to DE."""
    told: dict[str, Any] = {}
    for kind, chosen in kinds.items():
        ours, theirs = counted(found, test, chosen), counted(beside, test, chosen)
        told[kind] = share(ours)
        if kind == "all":
            told["p beside DE"] = differences(theirs, ours)[1].p
    return told


def share(column: Column) -> list[float]:
    """What is right, with its interval."""
    interval = intervals(column).recall
    return [round(one, 4) for one in (column.total().scores[1], interval.low, interval.high)]


def counted(found: Sequence[str | None], test: Asked, chosen: Sequence[bool]) -> Column:
    """Right answers by document, of the chosen mentions."""
    rows: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for answer, gold, number, is_chosen in zip(found, test.gold, test.document, chosen, strict=True):
        rows[number][0] += is_chosen and answer == gold
        rows[number][1] += is_chosen
    column = Column()
    for right, wanted in rows.values():
        column.add(Counts(right, wanted, wanted))
    return column


def nil(data: Path, folder: Path, split: str, new: set[str]) -> dict[str, Any]:
    """The types of NILs, which are the mentions of new entities: what the model gives each, decided NIL or not."""
    tyde = load_typed_dual(trained(data, folder, "tyde"))
    with KnowledgeBase.open(folder / "all.kb") as kb:
        coarse = {id: kb.types.coarse(id) for id in new}
        subjects = {id: {type.split(".")[0] for type in kb.types(id)} for id in new}
        test = asked(kb, data, split)
    nils = [place for place, gold in enumerate(test.gold) if gold in new]
    found: list[str | None] = [None] * len(test.gold)
    for place, (type, _) in zip(nils, tyde.mention_types([test.shortlists[at][:2] for at in nils]), strict=True):
        found[place] = type
    wanted = Counter(coarse[test.gold[place]] for place in nils)
    right = [found[place] == coarse.get(gold) for place, gold in enumerate(test.gold)]
    is_nil = [gold in new for gold in test.gold]
    typed = counted(
        [gold if is_right else None for gold, is_right in zip(test.gold, right, strict=True)], test, is_nil
    )
    return {
        "NILs": len(nils),
        "with the right type": share(typed),
        "with the first level of any of its subjects": sum(found[at] in subjects[test.gold[at]] for at in nils)
        / len(nils),
        "if all had the commonest type": wanted.most_common(1)[0][1] / len(nils),
        "right by type": {
            type: [sum(right[at] for at in nils if coarse[test.gold[at]] == type), count]
            for type, count in wanted.most_common()
        },
    }


def decided(data: Path, folder: Path, split: str, new: set[str]) -> dict[str, Any]:
    """Typed NIL of a linker without the new entities: below the threshold, or without a candidate, it is NIL."""
    tyde = str(trained(data, folder, "tyde"))
    config = LinkerConfig(
        retriever=[{"name": "alias", "limit": _TEN}],
        evidence=[{"name": _MODEL, "model": tyde}],
        ranker={"name": "prior-times-similarity", "evidence": _MODEL},
        nil={"name": "threshold", "threshold": _THRESHOLD},
        nil_type={"name": _MODEL, "model": tyde},
    )
    with KnowledgeBase.open(folder / "all.kb") as kb:
        coarse = {id: kb.types.coarse(id) for id in new}
    linker = entlink.load(folder / "known.kb", config=config, mentions="gold")
    told: Counter[str] = Counter()
    for document in linker.link_all(File(data / f"mentions_{split}.jsonl.xz", "gold")):
        for gold, link in zip(document.gold, document.links, strict=True):
            (meant,) = gold.entities
            told["links right"] += link.entity == meant
            told["NILs told"] += link.is_nil
            told["NILs"] += meant in new
            told["NILs right"] += link.is_nil and meant in new
            told["NILs right, with their type"] += link.is_nil and meant in new and link.nil_type == coarse[meant]
    linker.kb.close()
    return dict(told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where knowledge bases and models are kept")
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    new = build(arguments.data, arguments.folder)
    for name, part in (("table 4", table), ("types of NILs", nil), ("NIL decided", decided)):
        told = {name: part(arguments.data, arguments.folder, arguments.split, new), "split": arguments.split}
        sys.stdout.write(json.dumps(told, indent=1) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
