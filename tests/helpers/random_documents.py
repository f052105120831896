"""Random documents with gold and answers, small enough that spans, surfaces and entities often meet."""

from __future__ import annotations

import re
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st

from entlink.documents import Candidate, Document, GoldLink, Link, Mention, Span, Turn
from entlink.evaluation import Matching, NilRule

TURNS = ("Ann met the Bob, a Cid", "An Ann saw Bob Bob", "the Ann and Bob Cid")
ENTITIES = ("a", "b", "c")
NIL_TYPES = (None, "PER", "LOC")
MATCHINGS = st.sampled_from(Matching)
RULES = st.sampled_from(NilRule)


class Kind(NamedTuple):
    """What may occur in a document."""

    nil: bool = True
    alternatives: bool = True
    optional: bool = True
    repeated: bool = True  # several links of one side at one span
    turns: bool = True
    bounds: bool = True  # annotated_turns and evaluation_span
    candidates: bool = False
    most: int = 5


PLAIN = Kind(nil=False, alternatives=False, optional=False, repeated=False, turns=False, bounds=False)
ANY = Kind()


def examples(count: int) -> settings:
    """So many examples, however slow the machine is."""
    return settings(max_examples=count, deadline=None)


def runs(text: str) -> list[Span]:
    """Runs of one to three words, within a turn."""
    words = [match.span() for match in re.finditer(r"\w+", text)]
    found = [Span(words[first][0], words[first + more][1]) for more in range(3) for first in range(len(words) - more)]
    return [span for span in found if "\n" not in text[span.start : span.end]]


ONE_TEXT = Document("", " ".join(TURNS))
CHAT = Document.of_turns("", map(Turn, TURNS))
RUNS = {document.text: runs(document.text) for document in (ONE_TEXT, CHAT)}


def spans(document: Document, kind: Kind) -> st.SearchStrategy[list[Span]]:
    return st.lists(st.sampled_from(RUNS[document.text]), max_size=kind.most, unique=not kind.repeated)


OF_GOLD = {
    (least, most): st.lists(st.sampled_from(ENTITIES), min_size=least, max_size=most, unique=True).map(
        lambda found: tuple(sorted(found))
    )
    for least in (0, 1)
    for most in (1, 2)
}
TYPES = st.sampled_from(NIL_TYPES)
SELDOM = st.sampled_from([False, False, False, True])


@st.composite
def golds(draw: st.DrawFn, document: Document, kind: Kind) -> tuple[GoldLink, ...]:
    found = []
    for span in draw(spans(document, kind)):
        entities = draw(OF_GOLD[not kind.nil, 1 + kind.alternatives])
        found.append(GoldLink(span, entities, None if entities else draw(TYPES), kind.optional and draw(SELDOM)))
    return tuple(found)


def link_at(document: Document, span: Span, entity: str | None, **fields) -> Link:
    return Link(Mention(span, document.text[span.start : span.end]), entity, 1.0, **fields)


@st.composite
def answers(draw: st.DrawFn, document: Document, kind: Kind, wanted: list[Span]) -> tuple[Link, ...]:
    """Half of them at places that gold has, if it has any."""
    choices = st.sampled_from((None, *ENTITIES) if kind.nil else ENTITIES)
    anywhere = st.sampled_from(RUNS[document.text])
    places = anywhere | st.sampled_from(wanted) if wanted else anywhere
    found = []
    for span in draw(st.lists(places, max_size=kind.most, unique=not kind.repeated)):
        entity = draw(choices)
        fields = {} if entity is not None else {"nil_type": draw(TYPES)}
        if kind.candidates:
            fields["candidates"] = draw(candidates(entity))
        found.append(link_at(document, span, entity, **fields))
    return tuple(found)


@st.composite
def candidates(draw: st.DrawFn, chosen: str | None) -> tuple[Candidate, ...]:
    """The chosen one first; of a NIL any."""
    others = draw(st.lists(st.sampled_from([one for one in ENTITIES if one != chosen]), unique=True))
    ids = others if chosen is None else [chosen, *others]
    return tuple(Candidate(id, 1.0 / rank) for rank, id in enumerate(ids, 1))


@st.composite
def pairs(draw: st.DrawFn, kind: Kind = ANY, id: str = "d") -> tuple[Document, Document]:
    """A document with gold, and the same with answers."""
    turns = kind.turns and draw(st.booleans())
    document = CHAT if turns else ONE_TEXT
    meta = draw(bounds(document)) if kind.bounds else {}
    wanted = tuple(link for link in draw(golds(document, kind)) if is_inside(document, meta, link.span))
    gold = Document(id, document.text, turns=document.turns, gold=wanted, meta=meta)
    links = draw(answers(document, kind, [link.span for link in gold.gold]))
    return gold, Document(id, document.text, turns=document.turns, links=links)


@st.composite
def bounds(draw: st.DrawFn, document: Document) -> dict[str, list[int]]:
    meta = {}
    if document.turns and draw(st.booleans()):
        meta["annotated_turns"] = draw(st.lists(st.integers(0, 2), unique=True))
    if draw(SELDOM):
        meta["evaluation_span"] = sorted(draw(st.tuples(*[st.integers(0, len(document.text))] * 2)))
    return meta


def is_inside(document: Document, meta: dict[str, list[int]], span: Span) -> bool:
    """Whether a span is where something was annotated: gold stands nowhere else."""
    turn = max((number for number, whole in enumerate(document.turn_spans) if whole.start <= span.start), default=0)
    first, last = meta.get("evaluation_span", [0, len(document.text)])
    return turn in meta.get("annotated_turns", [turn]) and first <= span.start and span.end <= last


@st.composite
def corpora(draw: st.DrawFn, kind: Kind = ANY, most: int = 4) -> list[tuple[Document, Document]]:
    """Several pairs, with at least one gold link that must be found."""
    size = draw(st.integers(1, most))
    drawn = [draw(pairs(kind, str(number))) for number in range(size)]
    wanted, given = drawn[0]
    if not any(not link.optional for gold, _ in drawn for link in gold.gold):
        sure = GoldLink(RUNS[wanted.text][0], ("a",))
        replaced = Document(wanted.id, wanted.text, turns=wanted.turns, gold=(sure,))
        drawn[0] = replaced, given
    return drawn
