"""What annotated conversations teach about personal phrases: where they end, and what they mean."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from entlink.documents import Document, Link, Mention, Span
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.conversation.personal.antecedents import choice_rows
from entlink.linking.conversation.personal.gold_phrases import PERSONAL, GoldPhrase, gold_phrases
from entlink.linking.conversation.personal.phrase_ends import MOST_WORDS, ending_features, words_after
from entlink.linking.conversation.personal.phrases import PersonalPhrase, possessive_at
from entlink.linking.conversation.personal.resolver import AntecedentFinder
from entlink.linking.conversation.personal.said import SaidEntities
from entlink.linking.conversation.turns import speaker_key
from entlink.linking.conversation.window import moved


class EndLesson(NamedTuple):
    """A word of a phrase, and whether the phrase ends with it."""

    document: str
    row: dict[str, float]
    is_end: bool


class ChoiceLesson(NamedTuple):
    """A phrase with the entities it may mean; the last of `rows` and `right` is none of them.

    `nearest` is the place of the one that stands nearest, if there is one; `is_told` is whether gold has an entity.
    """

    document: str
    entities: tuple[str, ...]
    rows: list[dict[str, float]]
    right: list[bool]
    nearest: int | None
    is_told: bool


def end_lessons(document: Document) -> Iterator[EndLesson]:
    """A lesson a word of each phrase of a conversation up to its end; of the last before a sign nothing is learnt."""
    for gold in gold_phrases(document):
        text = document.turns[gold.turn].text
        possessive = possessive_at(text, gold.span.start)
        words = [] if possessive is None else words_after(text, possessive)
        ends = [word.end for word in words]
        if gold.span.end not in ends[:MOST_WORDS]:
            continue
        last = ends.index(gold.span.end)
        for number in range(min(last + 1, len(words) - 1)):
            yield EndLesson(document.id, ending_features(words, number), number == last)


def gold_named(kb: KnowledgeBase, document: Document) -> list[Link]:
    """What the annotators say was named, as links of full score."""
    links = []
    for gold in document.gold:
        if gold.entities and not gold.meta.get(PERSONAL):
            entity = kb.resolve(gold.entities[0])
            id = gold.entities[0] if entity is None else entity.id
            title = id.replace("_", " ") if entity is None else entity.title
            mention = Mention(gold.span, document.text[gold.span.start : gold.span.end])
            links.append(Link(mention, id, 1.0, title=title))
    return links


def choice_lessons(
    kb: KnowledgeBase, document: Document, links: Sequence[Link], memory: int
) -> Iterator[ChoiceLesson]:
    """A lesson a phrase of a conversation of which an annotator was asked what it means.

    `links` are what was named, by gold or by a linker. What stands where gold means the right entity is right, too: a
    linker that took it for another is wrong about the name, not about the phrase.
    """
    meant = _meant(kb, document, links)
    for gold, phrase, options in phrases_with_options(kb, document, links, memory):
        if not gold.is_told:
            continue
        among = options.of(phrase)
        right = {_id(kb, entity) for entity in gold.entities}
        is_right = [bool(right & meant[one.entity]) for one in among]
        text = document.turns[gold.turn].text
        yield ChoiceLesson(
            document.id,
            tuple(one.entity for one in among),
            choice_rows(text, phrase, among, has_names=options.has_name_in(phrase)),
            [*is_right, not any(is_right)],
            nearest_place(phrase.span, [one.span for one in among]),
            bool(right),
        )


def phrases_with_options(
    kb: KnowledgeBase, document: Document, links: Sequence[Link], memory: int
) -> Iterator[tuple[GoldPhrase, PersonalPhrase, AntecedentFinder]]:
    """Each phrase that annotators found, with what it may mean, as a linker would meet it."""
    by_turn: dict[int, list[GoldPhrase]] = defaultdict(list)
    for gold in gold_phrases(document):
        by_turn[gold.turn].append(gold)
    said = SaidEntities(memory)
    named = links_by_turn(document, links)
    for number, turn in enumerate(document.turns):
        speaker = speaker_key(turn.speaker)
        options = AntecedentFinder(kb, named[number], said.of(speaker), number)
        for gold in by_turn[number]:
            yield gold, PersonalPhrase(gold.span, turn.text[gold.span.start : gold.span.end]), options
        said.take_in(speaker, named[number], number)


def links_by_turn(document: Document, links: Sequence[Link]) -> list[list[Link]]:
    """The links of each turn, with spans that count in it."""
    starts = [span.start for span in document.turn_spans]
    found: list[list[Link]] = [[] for _ in starts]
    for link in links:
        turn = bisect_right(starts, link.mention.span.start) - 1
        found[turn].append(moved(link, -starts[turn]))
    return found


def nearest_place(phrase: Span, spans: Sequence[Span | None]) -> int | None:
    """Which stands nearest to a phrase in its turn; else the first, which of those said before is the last."""
    here = [(_distance(phrase, span), place) for place, span in enumerate(spans) if span is not None]
    return min(here)[1] if here else (0 if spans else None)


def _distance(phrase: Span, span: Span) -> int:
    return span.start - phrase.end if span.start >= phrase.end else phrase.start - span.end


def _meant(kb: KnowledgeBase, document: Document, links: Sequence[Link]) -> dict[str, set[str]]:
    """Of each linked entity, itself and what gold means where it was linked."""
    meant: dict[str, set[str]] = defaultdict(set)
    gold = [one for one in document.gold if not one.meta.get(PERSONAL)]
    for link in links:
        if link.entity is not None:
            meant[link.entity].add(link.entity)
            for one in gold:
                if one.span.overlaps(link.mention.span):
                    meant[link.entity] |= {_id(kb, entity) for entity in one.entities}
    return meant


def _id(kb: KnowledgeBase, entity: str) -> str:
    known = kb.resolve(entity)
    return entity if known is None else known.id
