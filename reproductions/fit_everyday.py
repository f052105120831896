"""Fits what the default linkers decide by: the ranker's weights, and which links to keep.

python reproductions/fit_everyday.py simple.kb zh.kb DATA

The knowledge bases are those of `end_to_end.py` and of `benchmarks/everyday`. Fitted on OKE 2015 and 2016 train
without the documents of OKE 2015 eval, TweekiGold, paragraphs of Schools Wikipedia's training part, and the tuning
half of the everyday paragraphs. The texts are read a second time in lower case, as people write in chats, and once
more with a table of a thousand rows for a knowledge base. Paragraphs of Schools Wikipedia's development part are
linked to Schools Wikipedia itself, whose links are counted. The weights of which links to keep go into the package;
those of the ranker are printed, for the two files of presets.

All but the everyday paragraphs leave out links that a reader would want: OKE and TweekiGold some places, Wikipedia
what is linked before. A proposal there without gold is a right link with the probability that the model itself gives
(`_ANNOTATED`, `_LINKED`).
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
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy
from end_to_end import Text, elevant, reported, titles, tweeki
from schools_unfamiliar import write_articles
from scipy.optimize import minimize

import entlink
from entlink.documents import Document
from entlink.interfaces import Question, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.fit.logistic import newton
from entlink.linking.linker import Linker
from entlink.mentions.names import NamesDetector
from entlink.nil.keep.features import AT_FIRST_LOOK, spelling_of
from entlink.nil.keep.policy import FIRST_LOOK, TERMS, WEIGHTS_FILE, WITH_ENCODER, WITHOUT_ENCODER, KeepPolicy
from entlink.text.titles import without_parenthesis
from entlink.text.word_frequency import word_frequency

EVERYDAY = Path(__file__).parent.parent / "benchmarks" / "everyday" / "paragraphs.jsonl"
FORMS = {WITHOUT_ENCODER: "everyday", WITH_ENCODER: "everyday-encoder"}
_PULL = 2.0  # towards 0, in units of each feature's spread
_RANKER_PULL = 0.5
_TABLES, _CHINESE_TABLES = {20: 6, 100: 3, 1_000: 1}, {20: 4, 60: 2}  # how many of each size
_ENDS, _CUT_SHORT = ("2", "Pro", "Plus", "3", "Max", "40"), 0.25  # of the names of a table
_SCHOOLS = 1_000  # paragraphs
_WRITTEN_OUT = 0.5  # what a mention of a table's title counts that has no gold
_HEADLINE, _EVERYDAY = 0.5, 3.4  # share of words with a capital; frequency
_MOST_OF_TITLE = 0.6  # share of its characters
_MAY_BE_LINK = 6.0  # what a right link counts at first look: what is left out there is lost
# Share of the wanted names that have gold: annotators leave some out, and Wikipedia links a name once a page
_ANNOTATED, _LINKED = 0.7, 0.45
_REPEATED = 0.3  # the same of a name cut short whose full name is in the text, too
_ROUNDS = 6  # of fitting, where some labels are probabilities
_FEW = 0.015  # what a word in lower case that Schools Wikipedia leaves without a link counts
_RANKED = (
    *("alias", "shortened", "is_title", "is_bare_title", "tier", "inflected"),
    *("context", "others_context", "popularity", "similarity"),
)


# What the Chinese texts without gold count, whose links are judged by titles alone
_TITLE, _FREQUENT, _RARE = 0.01, 0.1, 0.1
_CHINESE = 400  # texts
_OFTEN, _SELDOM = 300, 30  # times in the texts of the knowledge base
_SURE = 0.8  # share of the best candidate


class Example(NamedTuple):
    """A text with the entities that are right at each place; at places of `open` nobody knows."""

    text: str
    gold: Mapping[tuple[int, int], Collection[str]]
    open: Mapping[tuple[int, int], Collection[str] | None] = {}  # None: whatever the entity
    linked_elsewhere: Collection[str] | None = None  # only these would have been linked, had they been meant


class Source(NamedTuple):
    """Examples, and what one of them counts in fitting the ranker and in fitting which links to keep."""

    examples: list[Example]
    ranker: float
    keep: float
    annotated: float = 1.0  # share of the wanted names that have gold
    has_terms: bool = False  # then places that are open are links of terms
    is_of_table: bool = False  # then a title as it is written is right without gold, too


def covered(texts: Iterable[Text]) -> list[Example]:
    return [
        Example(
            text,
            {place: {id} for place, id in gold.items() if id is not None},
            {place: None for place, id in gold.items() if id is None},
        )
        for text, gold in texts
    ]


def everyday(ids: Mapping[str, str], language: str) -> list[Example]:
    found = []
    for line in EVERYDAY.read_text(encoding="utf8").splitlines():
        one = json.loads(line)
        if one["split"] == "tune" and one["language"] == language:
            gold = {
                tuple(span): {ids[title] for title in (wanted["entity"], *wanted.get("also", ())) if title in ids}
                for wanted in one["wanted"]
                for span in wanted["spans"]
            }
            tolerated = {
                tuple(other["span"]): {ids[title] for title in other["entities"] if title in ids}
                for other in one["tolerated"]
            }
            found.append(Example(one["text"], gold, tolerated))
    return found


def schools(data: Path, ids: Mapping[str, str]) -> list[Example]:
    """Paragraphs of an encyclopedia. What is linked once in an article is right at other places of it, too."""
    folder = data / "schools_wikipedia"
    with lzma.open(folder / "articles.jsonl.xz", "rt", encoding="utf8") as lines:
        own = {ids[title] for line in lines if (title := json.loads(line)["title"]) in ids}
    articles: dict[str, list[Any]] = {}
    with lzma.open(folder / "mentions_train.jsonl.xz", "rt", encoding="utf8") as lines:
        for line in lines:
            record = json.loads(line)
            articles.setdefault(record["id"].partition("#")[0], []).append(record)
    names = sorted(articles)
    random.Random(3).shuffle(names)
    found: list[Example] = []
    for name in names:
        if len(found) >= _SCHOOLS:
            break
        found += _of_article(articles[name], ids, own - {ids.get(name.replace("_", " "))})
    return found


def _of_article(paragraphs: list[Any], ids: Mapping[str, str], own: Collection[str]) -> Iterator[Example]:
    linked = {
        one["text"]: ids.get(one["entity"].replace("_", " ")) for record in paragraphs for one in record["mentions"]
    }
    for record in paragraphs[:3]:
        text = record["text"]
        places = {(one["start"], one["end"]): linked[one["text"]] for one in record["mentions"]}
        for surface, id in linked.items():
            for match in re.finditer(rf"(?<!\w){re.escape(surface)}(?!\w)", text):
                if not any(start < match.end() and match.start() < end for start, end in places):
                    places[match.span()] = id
        yield covered([(text, places)])[0]._replace(linked_elsewhere=own)


def lowered(examples: Iterable[Example]) -> list[Example]:
    return [one._replace(text=one.text.lower()) for one in examples if len(one.text.lower()) == len(one.text)]


def misspelt(examples: Iterable[Example]) -> list[Example]:
    """One letter of every longer name is another one."""
    chance = random.Random(11)
    found = []
    for one in examples:
        text = one.text
        for start, end in one.gold:
            at = start + 4 + chance.randrange(max(1, end - start - 4))
            if end - start >= 7 and text[at].isalpha():
                text = text[:at] + chance.choice("aeioutnsr") + text[at + 1 :]
        found.append(one._replace(text=text))
    return found


def small_kb(kb: KnowledgeBase, examples: Iterable[Example], path: Path, size: int, seed: int) -> None:
    """A table: half of it is what the texts speak of, an eighth everyday words; half of it has no text."""
    chance = random.Random(seed)
    spoken_of = sorted({id for one in examples for right in one.gold.values() for id in right})
    every = [(one.id, word_frequency(one.title).lower) for one in kb]
    everyday_words = [id for id, frequency in every if frequency >= _EVERYDAY]  # "Nice", "Will", "Next"
    chosen = {
        *chance.sample(spoken_of, min(size // 2, len(spoken_of))),
        *chance.sample(everyday_words, min(size // 8, len(everyday_words))),
        *(id for id, _ in chance.sample(every, size // 3)),
    }
    table = path.with_suffix(".jsonl")
    with table.open("w", encoding="utf8") as lines:
        for id in sorted(chosen):
            entity = kb.get(id)
            assert entity is not None
            told = (entity.description or "")[:200] if chance.random() < 0.5 else ""
            # As with products, what people write is often a part of the name.
            title = f"{entity.title} {chance.choice(_ENDS)}" if chance.random() < _CUT_SHORT else entity.title
            lines.write(json.dumps({"id": id, "title": title, "text": told}) + "\n")
    command: list[str | Path] = [sys.executable, "-m", "entlink", "kb", "build", table, "-o", path, "--quiet"]
    subprocess.run(command, check=True)


def only_in(kb: KnowledgeBase, examples: Iterable[Example]) -> list[Example]:
    """For a table, a name that it lacks is a mistake."""
    return [
        Example(
            one.text,
            {place: found for place, ids in one.gold.items() if (found := {id for id in ids if kb.get(id)})},
            {place: ids for place, ids in one.open.items() if ids is not None},
        )
        for one in examples
    ]


def shortlists(linker: Linker, text: str) -> list[Shortlist]:
    """Every proposal in a text with its candidates, best first."""
    document = Document("text", text)
    [mentions] = linker.detector.detect([document])
    [lists] = linker.retrieve([Question(document, mentions)])
    asked = [Shortlist(document, *one) for one in zip(mentions, lists, strict=True)]
    return [Shortlist(document, one.mention, best) for one, best in zip(asked, linker.rank(asked), strict=True)]


def tables(
    kb: KnowledgeBase, examples: list[Example], folder: Path, config: str, sizes: Mapping[int, int]
) -> list[tuple[Linker, Source]]:
    """Linkers of small knowledge bases with the texts, as written, in lower case, and misspelt."""
    folder.mkdir(exist_ok=True)
    found = []
    for size, times in sizes.items():
        for seed in range(times):
            path = folder / f"{size}-{seed}.kb"
            small_kb(kb, examples, path, size, seed)
            linker = everything_proposed(path, config)
            few = only_in(linker.kb, examples)
            found.append((linker, Source(few, 0.3 / times, 1.0 / times, is_of_table=True)))
            found.append((linker, Source(lowered(few), 0.0, 0.5 / times, is_of_table=True)))
            found.append((linker, Source(misspelt(few), 0.0, 0.25 / times, is_of_table=True)))
    return found


def with_link_counts(data: Path, folder: Path, config: str) -> tuple[Linker, Source]:
    """A knowledge base that counts links, with paragraphs whose links it does not count."""
    articles, path = folder / "schools.jsonl", folder / "schools.kb"
    write_articles(data / "schools_wikipedia", articles, links=True)
    command: list[str | Path] = [sys.executable, "-m", "entlink", "kb", "build", articles, "-o", path, "--quiet"]
    subprocess.run(command, check=True)
    with lzma.open(data / "schools_wikipedia" / "mentions_dev.jsonl.xz", "rt", encoding="utf8") as lines:
        records = random.Random(5).sample([json.loads(line) for line in lines], _SCHOOLS)
    gold = covered(
        (one["text"], {(own["start"], own["end"]): own["entity"] for own in one["mentions"]}) for one in records
    )
    return everything_proposed(path, config), Source(gold, 0.0, 0.1, _LINKED)


def fit_ranker(asked: Iterable[tuple[Linker, Source]]) -> dict[str, float]:
    """Weights under which the gold entity is likeliest among the candidates of its mention."""
    groups: list[tuple[Any, int, float]] = []
    for linker, source in asked:
        for example in source.examples if source.ranker else ():
            for one in shortlists(linker, example.text):
                right = example.gold.get(_place(one), ())
                places = [number for number, own in enumerate(one.candidates) if own.entity in right]
                if places and len(one.candidates) > 1:
                    rows = [[own.evidence.get(name, 0.0) for name in _RANKED] for own in one.candidates]
                    groups.append((numpy.array(rows), places[0], source.ranker))
    total = sum(weight for *_, weight in groups)

    def loss(weights: Any) -> tuple[float, Any]:
        value, gradient = _RANKER_PULL / 2 * (weights @ weights), _RANKER_PULL * weights
        for rows, place, weight in groups:
            sums = rows @ weights
            powers = numpy.exp(sums - sums.max())
            value -= weight * (sums[place] - sums.max() - numpy.log(powers.sum()))
            gradient = gradient - weight * (rows[place] - (powers / powers.sum()) @ rows)
        return value / total, gradient / total

    weights = minimize(loss, numpy.zeros(len(_RANKED)), jac=True, method="L-BFGS-B").x
    best = sum(int((rows @ weights).argmax() == place) for rows, place, _ in groups)
    sys.stderr.write(f"ranking of {len(groups)} ambiguous mentions: {best / len(groups):.3f}\n")
    return {
        name: round(float(weight), 2) for name, weight in zip(_RANKED, weights, strict=True) if abs(weight) >= 0.005
    }


class Rows(NamedTuple):
    """Proposals as features, whether each is a right link, and what it counts."""

    features: list[dict[str, float]]
    right: list[float]
    weights: list[float]
    annotated: list[float]  # the share of right ones like this that would have gold


def gather(linker: Linker, source: Source, rows: dict[str, Rows]) -> None:
    policy = linker.nil
    assert isinstance(policy, KeepPolicy)
    for example in source.examples:
        for one, features in policy.rows(shortlists(linker, example.text)):
            if features is None:
                continue
            place, best, spelling = _place(one), one.candidates[0].entity, spelling_of(one.mention.text)
            right = best in example.gold.get(place, ())
            weight = source.keep
            if not right and place not in example.gold:
                if place in example.open and (example.open[place] is None or best in (example.open[place] or ())):
                    continue
                if example.linked_elsewhere is not None:
                    if best not in example.linked_elsewhere:
                        continue
                    weight = min(weight, _FEW) if spelling == "lower" else weight
                if source.is_of_table and is_written_out(one, features):
                    right, weight = True, weight * _WRITTEN_OUT
            is_open = not right and spelling == "cased" and not features["inside"] and not _meets(place, example.gold)
            is_open = is_open and not features.get("is_year")  # few want a link to a day or a month
            annotated = source.annotated * (_REPEATED if features.get("in_full") else 1.0)
            add(rows, spelling, features, right, weight, annotated if is_open else 1.0)


def gather_terms(linker: Linker, source: Source, rows: dict[str, Rows]) -> None:
    """Words without a capital where terms are wanted, too: what is tolerated elsewhere is right."""
    policy = linker.nil
    assert isinstance(policy, KeepPolicy)
    for example in source.examples:
        for one, features in policy.rows(shortlists(linker, example.text)):
            if features is None or spelling_of(one.mention.text) != "lower":
                continue
            place, best = _place(one), one.candidates[0].entity
            right = best in (*example.gold.get(place, ()), *(example.open.get(place) or ()))
            is_open = place in example.open and example.open[place] is None
            would_be_linked = example.linked_elsewhere is None or best in example.linked_elsewhere
            if right or (would_be_linked and not is_open):
                add(rows, TERMS, features, right, source.keep)


def _meets(place: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in others)


def add(
    rows: dict[str, Rows],
    spelling: str,
    features: dict[str, float],
    right: bool,
    weight: float,
    annotated: float = 1.0,
) -> None:
    into = rows.setdefault(spelling, Rows([], [], [], []))
    into.features.append(features)
    into.right.append(float(right))
    into.weights.append(weight)
    into.annotated.append(annotated)


def gather_by_titles(linker: Linker, data: Path, rows: dict[str, Rows]) -> None:
    """Names of scripts without case in texts without gold; `benchmarks/everyday/chinese.py` has the other half.

    The names of a page are left out in its own text, as its description begins with the same words.
    """
    policy = linker.nil
    assert isinstance(policy, KeepPolicy)
    with lzma.open(data / "zhwiki_temporal_changed_20k.jsonl.xz") as lines:
        pages = [msgspec.json.decode(line) for line in islice(lines, 1, None, 2)]
    for page in random.Random(11).sample(pages, _CHINESE):
        titles = {page["title_2019"], page["title_2020"]}
        own = titles | {without_parenthesis(title) for title in titles}
        for one, features in policy.rows(shortlists(linker, page["text_2020"])):
            surface = one.mention.text
            if features is not None and spelling_of(surface) == "caseless" and surface not in own:
                right, weight = _by_titles(linker.kb, one)
                if weight:
                    add(rows, "caseless", features, right, weight)


def _by_titles(kb: KnowledgeBase, one: Shortlist) -> tuple[bool, float]:
    """Whether the best candidate is right, and what that counts: 0 where titles do not tell.

    A name that is a title is right. One that is a title only with a parenthesis after it, and frequent, is an
    everyday word; a rare one whose best candidate is far ahead is mostly right.
    """
    surface, best = one.mention.text, one.candidates[0]
    if best.title == surface:
        return True, _TITLE
    named = (own.title or "" for own in one.candidates if "tier" in own.evidence)
    if not (best.title or "").endswith(")") or not all(map(without_parenthesis, named)):
        return False, 0.0
    times = sum(kb.occurrences(surface).values())
    if times >= _OFTEN:
        return False, _FREQUENT
    is_rare = times < _SELDOM and best.score > _SURE and without_parenthesis(best.title or "") == surface
    return True, _RARE if is_rare else 0.0


def is_written_out(one: Shortlist, features: Mapping[str, float]) -> bool:
    """Whether a mention is a title as it is written, and by its capital, or since it is rare, no everyday word."""
    surface, title = one.mention.text, one.candidates[0].title or ""
    if features["inside"]:
        return False
    if " " in surface and features.get("covered", 0.0) > _MOST_OF_TITLE:
        return True
    if surface in (title, without_parenthesis(title)) and surface[0].isupper():
        is_in_sentence = not features.get("starts") and features["capitals"] < _HEADLINE
        return is_in_sentence or features.get("mostly_lower", 0.0) < 0
    return surface == title.lower() and features.get("lower_frequency", 0.0) < _EVERYDAY


def fit_keep(rows: Rows, without: Collection[str] = ()) -> dict[str, float]:
    """Weights of the features by which a proposal is a right link."""
    names = sorted({name for features in rows.features for name in features}.difference(without))
    values = numpy.array([[features.get(name, 0.0) for name in names] for features in rows.features])
    spread = numpy.where(values.std(0) > 0, values.std(0), 1.0)
    pulls = numpy.array([0.0 if name == "bias" else _PULL for name in names])
    importance, annotated = numpy.array(rows.weights), numpy.array(rows.annotated)
    right = given = numpy.array(rows.right)
    for _ in range(_ROUNDS if annotated.min() < 1.0 else 1):
        weights = newton(values / spread, right, pulls, importance=importance)
        likely = 1.0 / (1.0 + numpy.exp(-(values / spread) @ weights))
        right = numpy.where(annotated < 1.0, likely * (1 - annotated) / (1 - likely * annotated), given)
    weights = weights / spread
    return {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True) if weight}


def _place(one: Shortlist) -> tuple[int, int]:
    return one.mention.span.start, one.mention.span.end


def everything_proposed(path: Path, config: str) -> Linker:
    linker = entlink.load(path, config=config)
    linker.detector = NamesDetector(linker.kb, what="all")
    return linker


def main(arguments: argparse.Namespace) -> None:
    found: dict[str, dict[str, dict[str, float]]] = {}
    for form, config in FORMS.items():
        linker = everything_proposed(arguments.kb, config)
        chinese = everything_proposed(arguments.chinese, FORMS[WITHOUT_ENCODER])
        ids = titles(linker.kb)
        folder = arguments.data / "elevant"
        left_out = [text for texts in reported(arguments.data, ids).values() for text, _ in texts]
        train = [folder / f"oke-{year}-train.benchmark.jsonl" for year in (2015, 2016)]
        oke = {text: gold for path in train for text, gold in elevant(path, ids, left_out)}
        own = covered([*oke.items(), *tweeki(arguments.data, ids)])
        sources = [
            Source(own, 1.0, 1.0, _ANNOTATED),
            Source(lowered(own), 0.5, 0.5),
            Source(everyday(ids, "en"), 1.0, 4.0, has_terms=True),
            Source(schools(arguments.data, ids), 0.15, 0.05, _LINKED, has_terms=True),
        ]
        in_chinese = everyday(titles(chinese.kb), "zh")
        with tempfile.TemporaryDirectory() as temporary:
            asked = [(linker, source) for source in sources]
            asked += tables(linker.kb, [*own, *sources[2].examples], Path(temporary), config, _TABLES)
            asked += tables(chinese.kb, in_chinese, Path(temporary) / "zh", FORMS[WITHOUT_ENCODER], _CHINESE_TABLES)
            asked += [(chinese, Source(in_chinese, 0.0, 1.0))]
            asked += [with_link_counts(arguments.data, Path(temporary), config)]
            weights = fit_ranker(asked)
            sys.stdout.write(f"the ranker's weights {form}, for presets/{config}.toml: {weights}\n")
            rows: dict[str, Rows] = {}
            for one, source in asked:
                one.ranker.weights.update(weights)  # type: ignore[attr-defined]
                gather(one, source, rows)
                if source.has_terms:
                    gather_terms(one, source, rows)
            gather_by_titles(chinese, arguments.data, rows)
        for spelling, own_rows in rows.items():
            sys.stderr.write(
                f"{form}, {spelling}: {len(own_rows.right)} proposals, {sum(own_rows.right):.0f} right\n"
            )
            found.setdefault(form, {})[spelling] = fit_keep(own_rows)
            if form == WITHOUT_ENCODER:
                later = {name for features in own_rows.features for name in features}.difference(AT_FIRST_LOOK)
                counts = [
                    one * (_MAY_BE_LINK if right else 1.0)
                    for one, right in zip(own_rows.weights, own_rows.right, strict=True)
                ]
                found.setdefault(FIRST_LOOK, {})[spelling] = fit_keep(own_rows._replace(weights=counts), later)
    WEIGHTS_FILE.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("chinese", type=Path)
    parser.add_argument("data", type=Path)
    main(parser.parse_args())
