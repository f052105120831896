"""Personal mentions of ConEL-2: found, resolved, and end to end, beside the nearest entity and published runs.

python reproductions/conel2_personal.py NAME.kb [DATA]     DATA: the folder conel2, default ../shared/data/conel2

On the training part every figure is cross-validated over ten parts of its dialogues; the validation part is scored
once, with weights fitted to the whole training part. Scores are of sets of strings, as ConEL's own: (dialogue, turn,
mention), and with the entity for links. Gold and runs are matched by title, and compared as written where the
knowledge base has no such title. Dialogues that stand in a training file and in the one that is scored count
in neither training (EL validation) nor scores (detection, where 31 of its validation dialogues are in EL training).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from entlink import Document, KnowledgeBase, Link, Linker, Mention, Span, load
from entlink.evaluation.files import File
from entlink.formats.public.find_mentions import find_mentions
from entlink.learning.personal.lessons import links_by_turn, nearest_place
from entlink.learning.personal.training import ChoiceScore, Lessons, fit_personal, score_choices, take_lessons
from entlink.linking.conversation.personal.gold_phrases import PERSONAL, gold_phrases
from entlink.linking.conversation.personal.model import PersonalModel
from entlink.linking.conversation.personal.phrases import find_phrases
from entlink.linking.conversation.personal.resolver import AntecedentFinder, PersonalResolver
from entlink.linking.conversation.personal.said import SaidEntities
from entlink.linking.conversation.turns import speaker_key

HERE = Path(__file__).resolve().parent
EL = "dataset/Conversational_Entity_Linking_Annotations/ConEL22_EL_{}.json"
PEMD = "dataset/Personal_Entity_Mention_Detection_Annotations/ConEL22_PEMD_{}.json"
RUNS = ("CREL-S2E_ast_ON", "CREL-W2V", "WAT-S2E_ast_ON", "WAT-W2V", "Tagme-S2E_ast_ON", "Tagme-W2V")
FOLDS, SEED, MEMORY, ROUNDS = 10, 0, 32, 2000
Row = dict[str, object]
Found = set[tuple[Any, ...]]


def documents(path: Path) -> list[Document]:
    return list(File(path, "gold"))


def scores(found: Found, gold: Found) -> Row:
    right = len(found & gold)
    precision, recall = right / len(found) if found else 0.0, right / len(gold)
    f1 = 2 * right / (len(found) + len(gold))
    told = {"precision": precision, "recall": recall, "f1": f1}
    return {**_rounded(told), "found": len(found), "gold": len(gold)}


def _rounded(told: dict[str, float]) -> Row:
    return {name: round(value, 3) for name, value in told.items()}


def strings(document: Document) -> Found:
    """The personal mentions that annotators found."""
    return {(document.id, one.turn, _text(document, one.turn, one.span)) for one in gold_phrases(document)}


def _text(document: Document, turn: int, span: Span) -> str:
    return document.turns[turn].text[span.start : span.end]


def detected(document: Document, model: PersonalModel) -> Found:
    """The phrases that are found in the turns that were annotated."""
    return {
        (document.id, number, phrase.text)
        for number in document.meta["annotated_turns"]
        for phrase in find_phrases(document.turns[number].text, model.ends)
    }


def meant(kb: KnowledgeBase, document: Document) -> Found:
    """The personal mentions that mean something, with what."""
    found: Found = set()
    for one in gold_phrases(document):
        found |= {(document.id, one.turn, _text(document, one.turn, one.span), id_of(kb, to)) for to in one.entities}
    return found


def id_of(kb: KnowledgeBase, title: str) -> str:
    entity = kb.resolve(title)
    return title if entity is None else entity.id


def resolved(kb: KnowledgeBase, document: Document, links: Sequence[Link], model: PersonalModel) -> Found:
    """End to end: phrases found, and linked to what `links` say was named."""
    resolver, said = PersonalResolver(kb, model), SaidEntities(MEMORY)
    found: Found = set()
    for number, (turn, named) in enumerate(zip(document.turns, links_by_turn(document, links), strict=True)):
        speaker = speaker_key(turn.speaker)
        if number in document.meta["annotated_turns"]:
            for link in resolver.links(turn.text, named, said.of(speaker), number):
                found.add((document.id, number, link.mention.text, link.entity))
        said.take_in(speaker, named, number)
    return found


def nearest(kb: KnowledgeBase, document: Document, links: Sequence[Link], model: PersonalModel) -> Found:
    """The baseline: the same phrases, each linked to the nearest entity that its speaker named."""
    said = SaidEntities(MEMORY)
    found: Found = set()
    for number, (turn, named) in enumerate(zip(document.turns, links_by_turn(document, links), strict=True)):
        speaker = speaker_key(turn.speaker)
        options = AntecedentFinder(kb, named, said.of(speaker), number)
        if number in document.meta["annotated_turns"]:
            for phrase in find_phrases(turn.text, model.ends):
                among = options.of(phrase)
                place = nearest_place(phrase.span, [one.span for one in among])
                if place is not None:
                    found.add((document.id, number, phrase.text, among[place].entity))
        said.take_in(speaker, named, number)
    return found


def gold_links(kb: KnowledgeBase, document: Document) -> list[Link]:
    named = (one for one in document.gold if one.entities and not one.meta.get(PERSONAL))
    return [_link(kb, document, one.span, one.entities[0]) for one in named]


def run_links(kb: KnowledgeBase, document: Document, run: Iterable[Sequence[Any]]) -> list[Link]:
    """The answers of a published run where they stand in the text."""
    links = []
    for number, (turn, span) in enumerate(zip(document.turns, document.turn_spans, strict=True)):
        rows = [row for row in run if str(row[0]) == document.id and row[1] == number]
        for row, place in zip(rows, find_mentions(turn.text, [row[2] for row in rows]), strict=True):
            if place is not None:
                whole = Span(place.start + span.start, place.end + span.start)
                links.append(_link(kb, document, whole, row[3]))
    return links


def _link(kb: KnowledgeBase, document: Document, span: Span, title: str) -> Link:
    entity = kb.resolve(title)
    mention = Mention(span, document.text[span.start : span.end])
    if entity is None:
        return Link(mention, title, 1.0, title=title.replace("_", " "))
    return Link(mention, entity.id, 1.0, title=entity.title)


def choice_row(score: ChoiceScore) -> Row:
    f1 = 2 * score.right / (score.linked + score.told)
    told = {"accuracy": score.accuracy, "precision": score.right / score.linked, "recall": score.right / score.told}
    return {**_rounded({**told, "f1": f1}), "phrases": score.phrases}


class Part:
    """One part of ConEL-2 with what its dialogues name, scored with a model a dialogue."""

    def __init__(self, linker: Linker, el: list[Document], pemd: list[Document], lessons: Lessons) -> None:
        self.kb, self.el, self.pemd, self.lessons = linker.kb, el, pemd, lessons
        self.found: dict[str, Sequence[Link]] = {one.id: linker.link(one).links for one in el}

    def rows(self, models: Mapping[str, PersonalModel]) -> Iterator[Row]:
        """Detection, resolution of given phrases, and end to end."""
        yield {"task": "detection, PEMD", **self._detection(self.pemd, models)}
        yield {"task": "detection, EL", **self._detection(self.el, models)}
        for name, lessons in (("gold", self.lessons.with_gold), ("linker", self.lessons.with_found)):
            ours = sum((score_choices(models[one.document].choice, [one]) for one in lessons), ChoiceScore())
            task = f"phrases given, named by {name}"
            yield {"task": task, "by": "ours", **choice_row(ours)}
            yield {"task": task, "by": "nearest", **choice_row(score_choices(None, lessons))}
        named: dict[str, dict[str, Sequence[Link]]] = {
            "gold": {one.id: gold_links(self.kb, one) for one in self.el},
            "linker": self.found,
        }
        gold = set().union(*(meant(self.kb, one) for one in self.el))
        for name, links in named.items():
            for by, answer in (("ours", resolved), ("nearest", nearest)):
                answers = (answer(self.kb, one, links[one.id], models[one.id]) for one in self.el)
                yield {"task": f"end to end, named by {name}", "by": by, **scores(set().union(*answers), gold)}

    def _detection(self, asked: list[Document], models: Mapping[str, PersonalModel]) -> Row:
        found = set().union(*(detected(one, models[one.id]) for one in asked))
        return {"by": "ours", **scores(found, set().union(*map(strings, asked)))}


def published(data: Path, kb: KnowledgeBase, el: list[Document], model: PersonalModel) -> Iterator[Row]:
    """The personal answers of published runs on the validation part, and ours on what CREL says was named."""
    gold = {tuple(row) for row in json.loads((data / "eval/gold/Val/gold.json").read_bytes())}
    plain = {tuple(row) for row in json.loads((data / "eval/gold/Val/gold_cne.json").read_bytes())}
    asked: Found = set()
    for one in el:
        asked |= {(one.id, p.turn, _text(one, p.turn, p.span), to) for p in gold_phrases(one) for to in p.entities}
    for name in RUNS:
        run = _run(data, name)
        own = run - _run(data, f"{name.split('-')[0]}-WO-PE")
        yield _published_row(name, own, asked, run, gold)
    bare = _run(data, "CREL-WO-PE")
    titles = {id_of(kb, row[3]): row[3] for row in bare}
    ours = {
        (*found[:3], titles[found[3]]) for one in el for found in resolved(kb, one, run_links(kb, one, bare), model)
    }
    low, high = interval(lambda drawn: drawn_f1(ours, asked, drawn), el)
    yield _published_row("ours on CREL-WO-PE", ours, asked, bare | ours, gold) | {"f1 interval": [low, high]}
    crel = _run(data, RUNS[0]) - bare
    low, high = interval(lambda drawn: drawn_f1(ours, asked, drawn) - drawn_f1(crel, asked, drawn), el)
    yield {"task": "end to end, published", "by": f"ours less {RUNS[0]}", "f1 interval": [low, high]}
    yield {"task": "all links, without personal", "by": "CREL-WO-PE", **scores(bare, plain)}


def interval(measure: Callable[[Sequence[str]], float], el: list[Document]) -> tuple[float, float]:
    """The 95 % bootstrap interval of a figure over dialogues."""
    chance, ids = random.Random(SEED), [one.id for one in el]
    drawn = sorted(measure(chance.choices(ids, k=len(ids))) for _ in range(ROUNDS))
    return round(drawn[ROUNDS // 40], 3), round(drawn[-ROUNDS // 40 - 1], 3)


def drawn_f1(found: Found, gold: Found, drawn: Sequence[str]) -> float:
    """F1 over dialogues that may have been drawn several times."""
    times = Counter(drawn)
    right, predicted, wanted = (sum(times[row[0]] for row in rows) for rows in (found & gold, found, gold))
    return 2 * right / (predicted + wanted)


def _published_row(name: str, own: Found, asked: Found, run: Found, gold: Found) -> Row:
    whole = scores(run, gold)["f1"]
    return {"task": "end to end, published", "by": name, **scores(own, asked), "all links, f1": whole}


def _run(data: Path, name: str) -> Found:
    return {tuple(row) for row in json.loads((data / f"eval/runs/Val/{name}.json").read_bytes())}


def first_set(linker: Linker, asked: list[Document], model: PersonalModel) -> Iterator[Row]:
    """End to end on ConEL-1's dialogues with personal entities, whose phrases without one were not annotated."""
    kb, gold = linker.kb, set().union(*(meant(linker.kb, one) for one in asked))
    for name in ("gold", "linker"):
        links = [gold_links(kb, one) if name == "gold" else linker.link(one).links for one in asked]
        for by, answer in (("ours", resolved), ("nearest", nearest)):
            found = set().union(*(answer(kb, one, own, model) for one, own in zip(asked, links, strict=True)))
            yield {"part": "ConEL-1", "task": f"end to end, named by {name}", "by": by, **scores(found, gold)}


def places(asked: list[Document]) -> Row:
    """Where what a personal mention means was named last: in the turn, so many turns before, or nowhere."""
    counts: Counter[str] = Counter()
    for one in asked:
        named = [(gold.span, gold.entities) for gold in one.gold if not gold.meta.get(PERSONAL)]
        for phrase in gold_phrases(one):
            turn = one.turn_spans[phrase.turn]
            at = phrase.span.start + turn.start
            for entity in phrase.entities:
                starts = [span.start for span, entities in named if entity in entities and span.start < turn.end]
                counts[_place(at, turn, starts)] += 1
    return {"task": "where it was named", **counts}


def _place(at: int, turn: Span, starts: list[int]) -> str:
    here = [start for start in starts if start >= turn.start]
    if here:
        return "in the turn, after" if min(here, key=lambda start: abs(start - at)) > at else "in the turn, before"
    return "before" if starts else "nowhere"


def folds(lessons: Lessons, ids: Iterable[str]) -> dict[str, PersonalModel]:
    """For each dialogue a model that was not fitted to it."""
    shuffled = sorted(set(ids))
    random.Random(SEED).shuffle(shuffled)
    models: dict[str, PersonalModel] = {}
    for fold in range(FOLDS):
        held_out = frozenset(shuffled[fold::FOLDS])
        model = fit_personal(lessons.of(lambda id, held_out=held_out: id not in held_out))  # type: ignore[misc]
        models |= dict.fromkeys(held_out, model)
    return models


def rows(kb: Path, data: Path, conel1: Path) -> Iterator[Row]:
    linker = load(kb)
    el, pemd, el_val, pemd_val = (
        documents(data / name.format(part)) for part in ("Train", "Val") for name in (EL, PEMD)
    )
    validation = {one.id for one in el_val}
    pemd = [one for one in pemd if one.id not in validation]
    training = {one.id for one in (*el, *pemd)}
    pemd_val = [one for one in pemd_val if one.id not in training]
    lessons = take_lessons([*el, *pemd], linker)
    part = Part(linker, el, pemd, lessons)
    yield {"part": "train", **places(el)}
    for row in part.rows(folds(lessons, training)):
        yield {"part": "train, cross-validated", **row}
    model = fit_personal(lessons)
    part = Part(linker, el_val, pemd_val, take_lessons(el_val, linker))
    for row in part.rows(dict.fromkeys((one.id for one in (*el_val, *pemd_val)), model)):
        yield {"part": "validation", **row}
    for row in published(data, linker.kb, el_val, model):
        yield {"part": "validation", **row}
    if conel1.exists():
        yield from first_set(linker, [one for one in documents(conel1) if one.id not in training], model)
    linker.kb.close()


def main() -> None:
    """Print a row a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path, help="a knowledge base of Wikipedia's titles")
    parser.add_argument("data", type=Path, nargs="?", default=HERE.parent.parent / "shared" / "data" / "conel2")
    parser.add_argument("--conel1", type=Path, help="ConEL_PE.json of ConEL-1 (default: in conel1 beside DATA)")
    arguments = parser.parse_args()
    conel1 = arguments.conel1 or arguments.data.parent / "conel1/data/ConEL_Personal_Entity/ConEL_PE.json"
    for row in rows(arguments.kb, arguments.data, conel1):
        sys.stdout.write(msgspec.json.encode(row).decode() + "\n")


if __name__ == "__main__":
    main()
