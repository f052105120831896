"""Examples with the candidates that a linker found for them, kept in a file, and parted into three."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from entlink.documents import Candidate, Document, Mention, Span
from entlink.errors import DamagedError
from entlink.interfaces import Shortlist
from entlink.learning.pairs.examples import Example

if TYPE_CHECKING:
    from entlink.learning.own_texts.mentions import SelfMention

SAMPLE = "sample"  # the kind of cases to measure on, where some are drawn for that
RARE = "rare"  # those that are drawn besides, for what they mean: samples have few of them
LINK = "link"
LINKED = (LINK, SAMPLE, RARE)  # the kinds of cases that are hyperlinks
SENSE = "sense"  # uses of words that entities share, to learn their senses from
PLAIN = "plain"  # the kind of cases to train on only, without candidates: many, since they cost nothing to find
_HELD_BACK = 0.1  # of the pages, and as many to tune
_FIRST_NEGATIVES, _NEGATIVES_AMONG = 2, 10


def is_known_by_name(candidate: Candidate) -> bool:
    """Whether the surface itself is a name of it."""
    return "tier" in candidate.evidence


class Case(NamedTuple):
    """A mention of the knowledge base itself, its meaning and its ranked candidates; `kind` is how it was found."""

    kind: str
    source: str
    document: Document
    mention: Mention
    entity: str
    candidates: Sequence[Candidate]

    @property
    def shortlist(self) -> Shortlist:
        return Shortlist(self.document, self.mention, self.candidates)

    @property
    def is_unusual(self) -> bool:
        """Whether it is a link whose name mostly means another entity."""
        known = [one for one in self.candidates if is_known_by_name(one)]
        if self.kind not in LINKED or not known:
            return False
        return max(known, key=lambda one: one.evidence.get("alias", 0.0)).entity != self.entity

    def example(self, negatives: int, random: Random) -> Example:
        """To train on: the first two wrong candidates, and others drawn from the first ten."""
        wrong = [one.entity for one in self.candidates[: _NEGATIVES_AMONG + 1] if one.entity != self.entity]
        first, rest = wrong[:_FIRST_NEGATIVES], wrong[_FIRST_NEGATIVES:_NEGATIVES_AMONG]
        drawn = random.sample(rest, min(len(rest), max(0, negatives - len(first))))
        return Example(self.document, self.mention, self.entity, (*first[:negatives], *drawn))


def plain_case(mention: SelfMention) -> Case:
    """A mention whose meaning is known, to train on."""
    return Case(PLAIN, mention.source or "", mention.document, mention.mention, mention.entity or "", ())


class Parts(NamedTuple):
    """Cases to train on, to tune with, and held back; none of a page is in two of them."""

    train: list[Case]
    tune: list[Case]
    held_back: list[Case]


class _Row(msgspec.Struct, array_like=True):
    kind: str
    source: str
    document: str
    text: str
    start: int
    end: int
    entity: str
    candidates: list[tuple[str, float, dict[str, float], str | None]]


def write_cases(path: Path, cases: Iterable[Case]) -> None:
    """Write cases as lines of JSON; the file is there whole or not at all."""
    encoder = msgspec.json.Encoder()
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("wb") as file:
        for one in cases:
            candidates = [(found.entity, found.score, dict(found.evidence), found.title) for found in one.candidates]
            span = one.mention.span
            row = _Row(
                one.kind, one.source, one.document.id, one.document.text, span.start, span.end, one.entity, candidates
            )
            file.write(encoder.encode(row) + b"\n")
    partial.replace(path)


def read_cases(path: Path) -> list[Case]:
    """The cases of a file, in its order."""
    decoder = msgspec.json.Decoder(_Row)
    cases = []
    try:
        with path.open("rb") as file:
            for line in file:
                row = decoder.decode(line)
                mention = Mention(Span(row.start, row.end), row.text[row.start : row.end])
                candidates = [Candidate(*one) for one in row.candidates]
                document = Document(row.document, row.text)
                cases.append(Case(row.kind, row.source, document, mention, row.entity, candidates))
    except (OSError, msgspec.MsgspecError) as problem:
        raise DamagedError(f"{path}: cannot be read ({problem}). Begin anew with --restart") from problem
    return cases


def parted(cases: Sequence[Case], most: int, seed: int) -> Parts:
    """Eight of ten pages to train on, one to tune with, one held back; of the last two, `most` cases at most.

    Where cases were drawn to measure on, half of their pages are to tune with, half held back, and all others to
    train on. Plain ones are to train on, or are left out.
    """
    random = Random(seed)
    drawn = [one for one in cases if one.kind in (SAMPLE, RARE)]
    sources = sorted({one.source for one in drawn or cases if one.kind != PLAIN})
    random.shuffle(sources)
    share = max(1, round(len(sources) * (0.5 if drawn else _HELD_BACK)))
    held_back, tune = set(sources[:share]), set(sources[share : 2 * share])
    parts = Parts([], [], [])
    for one in cases:
        part = 2 if one.source in held_back else 1 if one.source in tune else 0
        if not part or one.kind != PLAIN:
            parts[part].append(one)
    return Parts(parts.train, _drawn(parts.tune, most, random), _drawn(parts.held_back, most, random))


def _drawn(cases: list[Case], most: int, random: Random) -> list[Case]:
    return cases if len(cases) <= most else random.sample(cases, most)
