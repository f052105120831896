"""Links the everyday paragraphs and scores the links.

python benchmarks/everyday/score.py simple.kb zh.kb [--config NAME] [--split report] [--show] [--threshold X]

README.md tells what a right link is. Without a second knowledge base, only the English paragraphs are scored.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

import entlink
from entlink.documents import Link
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.fit.calibration_scores import Judged as Scored
from entlink.learning.fit.calibration_scores import calibration_error, reliability
from entlink.linking.config import read_config

PARAGRAPHS = Path(__file__).with_name("paragraphs.jsonl")
LANGUAGES = ("en", "zh")
OK, WRONG, TOLERATED = "ok", "WRONG", "tolerated"
_WORST = 15

Place = tuple[int, int]


class Wanted(msgspec.Struct, frozen=True):
    """A link that a reader wants, at one of some spans, to one of some entities."""

    spans: tuple[Place, ...]
    surface: str
    entity: str
    also: tuple[str, ...] = ()

    @property
    def right(self) -> tuple[str, ...]:
        return (self.entity, *self.also)


class Tolerated(msgspec.Struct, frozen=True):
    """A link that counts neither for nor against."""

    span: Place
    surface: str
    entities: tuple[str, ...]


class Trap(msgspec.Struct, frozen=True):
    """A span that is easily linked wrongly, and why that is wrong."""

    span: Place
    surface: str
    why: str


class Paragraph(msgspec.Struct, frozen=True):
    id: str
    split: str
    kind: str
    language: str
    text: str
    wanted: tuple[Wanted, ...]
    tolerated: tuple[Tolerated, ...]
    forbidden: tuple[Trap, ...]

    def titles(self) -> Iterator[str]:
        for one in self.wanted:
            yield from one.right
        for other in self.tolerated:
            yield from other.entities


class Judged(NamedTuple):
    """A link that was shown, and what it is."""

    link: Link
    verdict: str
    why: str = ""

    @property
    def place(self) -> Place:
        return self.link.mention.span.start, self.link.mention.span.end

    def __str__(self) -> str:
        start, end = self.place
        why = f"  ({self.why})" if self.why else ""
        return f"{start:>3}-{end:<3} {self.link.mention.text} → {self.link.title} {self.link.score:.2f}{why}"


class Result(NamedTuple):
    paragraph: Paragraph
    links: list[Judged]

    def of(self, verdict: str) -> list[Judged]:
        return [one for one in self.links if one.verdict == verdict]

    @property
    def missed(self) -> list[Wanted]:
        found = {one.place for one in self.of(OK)}
        return [one for one in self.paragraph.wanted if found.isdisjoint(one.spans)]


class Score(NamedTuple):
    """Counts over some paragraphs."""

    paragraphs: int
    wanted: int
    found: int
    right: int
    wrong: int
    tolerated: int
    calibration: float  # expected calibration error

    @classmethod
    def over(cls, results: Sequence[Result]) -> Score:
        wanted = sum(len(one.paragraph.wanted) for one in results)
        right, wrong, tolerated = ([link for one in results for link in one.of(of)] for of in (OK, WRONG, TOLERATED))
        found = wanted - sum(len(one.missed) for one in results)
        judged = [Scored(one.link.score, one.verdict == OK, nil=False) for one in right + wrong]
        error = calibration_error(reliability(judged))
        return cls(len(results), wanted, found, len(right), len(wrong), len(tolerated), error)

    @property
    def precision(self) -> float:
        return _share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return _share(self.found, self.wanted)

    @property
    def f1(self) -> float:
        return _share(2 * self.precision * self.recall, self.precision + self.recall)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def read(path: Path = PARAGRAPHS) -> list[Paragraph]:
    decode = msgspec.json.Decoder(Paragraph).decode
    return [decode(line) for line in path.read_bytes().splitlines()]


def ids_of(kb: KnowledgeBase, titles: Iterable[str]) -> dict[str, str]:
    """The id of the entity that each title is of; a title that the knowledge base lacks is an error."""
    sought = set(titles)
    ids = {one.title: one.id for one in kb if one.title in sought}
    if missing := sorted(sought - ids.keys()):
        raise SystemExit(f"{kb.folder}: no page {', '.join(missing[:10])}; README.md tells how to build it")
    return ids


def judge(paragraph: Paragraph, links: Iterable[Link], ids: dict[str, str]) -> Result:
    """What each link of a paragraph is; NIL is no link."""
    wanted = {span: one for one in paragraph.wanted for span in one.spans}
    tolerated = {one.span: one.entities for one in paragraph.tolerated}
    traps = {one.span: one.why for one in paragraph.forbidden}
    judged = []
    for link in links:
        if link.entity is None:
            continue
        place = link.mention.span.start, link.mention.span.end
        if place in wanted:
            right, verdict = wanted[place].right, OK
        else:
            right, verdict = tolerated.get(place, ()), TOLERATED
        if link.entity in {ids[title] for title in right}:
            judged.append(Judged(link, verdict))
        else:
            judged.append(Judged(link, WRONG, traps.get(place) or (f"not {' or '.join(right)}" if right else "")))
    return Result(paragraph, judged)


def run(path: Path, paragraphs: Sequence[Paragraph], config: str, threshold: float | None) -> list[Result]:
    """The paragraphs of one language, linked to its knowledge base."""
    settings = read_config(config)
    if threshold is not None:
        settings = msgspec.structs.replace(settings, nil={**settings.nil, "threshold": threshold})
    linker = entlink.load(path, config=settings)
    with linker.kb as kb:
        ids = ids_of(kb, (title for one in paragraphs for title in one.titles()))
        return [judge(one, linker.link(one.text).links, ids) for one in paragraphs]


def show(result: Result) -> None:
    print(f"\n{result.paragraph.id}\n{result.paragraph.text}")
    lines = [(one.place, f"{one.verdict:<9} {one}") for one in result.links]
    lines += [
        (one.spans[0], f"missed    {one.spans[0][0]:>3}-{one.spans[0][1]:<3} {one.surface} → {one.entity}")
        for one in result.missed
    ]
    for _, line in sorted(lines):
        print("  " + line)


def report(results: Sequence[Result]) -> None:
    """A row for each language and one for all, and the wrong links that score most."""
    print(f"\n{'':6}{'texts':>6}{'wanted':>8}{'right':>7}{'wrong':>7}{'tolerated':>11}", end="")
    print(f"{'precision':>11}{'recall':>8}{'F1':>7}{'ECE':>7}")
    for language in (*LANGUAGES, "all"):
        chosen = [one for one in results if language in (one.paragraph.language, "all")]
        if chosen:
            row = Score.over(chosen)
            print(f"{language:6}{row.paragraphs:>6}{row.wanted:>8}{row.right:>7}{row.wrong:>7}", end="")
            print(f"{row.tolerated:>11}{row.precision:>11.3f}{row.recall:>8.3f}{row.f1:>7.3f}{row.calibration:>7.3f}")
    wrong = [(one.paragraph.id, link) for one in results for link in one.of(WRONG)]
    wrong.sort(key=lambda pair: -pair[1].link.score)
    if wrong:
        print("\nThe wrong links that score most:")
    for id, link in wrong[:_WORST]:
        print(f"  {id:15} {link}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("simple", type=Path, help="the knowledge base of Simple Wikipedia")
    parser.add_argument("zh", type=Path, nargs="?", help="the knowledge base of the Chinese Wikipedia")
    parser.add_argument("--config", default="everyday", help="a configuration: a name, a TOML file or a folder")
    parser.add_argument("--split", choices=("report", "tune", "all"), default="report")
    parser.add_argument("--threshold", type=float, help="show links that score this much; 0 shows all")
    parser.add_argument("--show", action="store_true", help="print each paragraph with its links")
    given = parser.parse_args()
    paragraphs = [one for one in read() if given.split in (one.split, "all")]
    results: list[Result] = []
    for language, path in zip(LANGUAGES, (given.simple, given.zh), strict=True):
        if path is not None:
            own = [one for one in paragraphs if one.language == language]
            results += run(path, own, given.config, given.threshold)
    if given.show:
        for result in results:
            show(result)
    report(results)


if __name__ == "__main__":
    main()
