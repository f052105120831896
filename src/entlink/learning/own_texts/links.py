"""Examples from the hyperlinks in a knowledge base's own descriptions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.evidence.spelling import bare_key
from entlink.io.progress import Progress
from entlink.learning.own_texts.cases import LINK, RARE, SAMPLE, Case, plain_case
from entlink.learning.own_texts.linking import ranked
from entlink.learning.own_texts.mentions import Kind, SelfMention, sampled
from entlink.text.folding import key_of

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.linking.linker import Linker

AMBIGUOUS, OTHERWISE_NAMED = 0.6, 0.2  # of the examples: names of several entities, and others that are no titles
_ENOUGH = 4_000  # examples that are taken however few names are ambiguous
_LINKS_OF_ENTITY = 100  # in its text
_READ = 200_000  # links that are looked at
_OF_ONE_MEANING = 200  # of a name
_USUAL_FOR_ONE, _USUAL = 2, 2  # links with a name's most usual meaning for each with another, and besides
_AROUND, _NEAR = 750, 300  # characters on each side, within the paragraph
_SHORTEST_PARAGRAPH = 40
_KEPT = 20
_FEWEST = 400  # however long they take
_ASIDE = 0.2  # of the pages: what is measured on is as links are, not in balance
_FEWEST_ASIDE = 2  # one to tune with, one to measure on
_RARE = 1_000  # links of those pages with an unusual meaning, besides


class Place(NamedTuple):
    """Where a link stands, and where it leads."""

    source: str
    span: Span
    surface: str
    target: str


class LinkMentions(NamedTuple):
    """Links to learn from, above all those whose name may mean several; of other pages, those to measure on.

    The latter are a sample as they come, and rare ones besides: their name mostly means something else. `plain` are
    of the same pages as the first, as they come, with less of their text.
    """

    chosen: list[SelfMention]
    sample: list[SelfMention]
    rare: list[SelfMention]
    plain: list[SelfMention]


def link_pairs(
    linker: Linker,
    wanted: int,
    entities: int,
    seed: int,
    progress: Progress,
    *,
    measured: int = 3_000,
    plain: int = 0,
    seconds: float | None = None,
) -> list[Case]:
    """Links as examples, at most so many, with the linker's candidates for them; after `seconds`, fewer.

    Those of some pages are drawn as they come, `measured` at most, to measure on, and more of those with an unusual
    meaning; of the others, `plain` at most are given without candidates, too.
    """
    began = monotonic()
    found = link_mentions(linker.kb, wanted, measured, plain, entities, seed, progress)

    def told(stage: str, done: float, total: float) -> None:
        progress("finding candidates", done, total)

    cases = []
    for kind, asked in ((SAMPLE, found.sample), (RARE, found.rare), (LINK, found.chosen)):
        for number, (one, shortlist) in enumerate(zip(asked, ranked(linker, asked, told), strict=True)):
            entity, source = one.entity or "", one.source or ""
            candidates = as_if_unlinked(linker.kb, one, shortlist.candidates[:_KEPT])
            cases.append(Case(kind, source, one.document, one.mention, entity, candidates))
            if seconds is not None and monotonic() - began > seconds and number >= _FEWEST:
                break
    return cases + [plain_case(one) for one in found.plain]


def link_mentions(
    kb: KnowledgeBase, wanted: int, measured: int, plain: int, entities: int, seed: int, progress: Progress
) -> LinkMentions:
    """Links of some pages to learn from, and of others to measure on."""
    random = Random(seed)
    places = _places(kb, entities, random, progress)
    pages = list(dict.fromkeys(one.source for one in places))
    aside = set(random.sample(pages, min(len(pages), max(_FEWEST_ASIDE, round(_ASIDE * len(pages))))))
    others = [one for one in places if one.source in aside]
    places = [one for one in places if one.source not in aside]
    chosen = _chosen(kb, places, wanted, random)
    sample = random.sample(others, min(measured, len(others)))
    rest = random.sample(places, min(plain, len(places)))
    drawn = set(sample)
    rare = _rare([*places, *others], [one for one in others if one not in drawn], random)
    return LinkMentions(
        _mentions(kb, chosen, random),
        _mentions(kb, sample, random),
        _mentions(kb, rare, random),
        _mentions(kb, rest, random, _NEAR),
    )


def _rare(places: Sequence[Place], among: Sequence[Place], random: Random) -> list[Place]:
    """Those whose name mostly leads elsewhere in all the places."""
    means = _meanings(places)
    found = [one for one in among if means[one.surface].most_common(1)[0][0] != one.target]
    return random.sample(found, min(_RARE, len(found)))


def _meanings(places: Iterable[Place]) -> Mapping[str, Counter[str]]:
    means: dict[str, Counter[str]] = defaultdict(Counter)
    for one in places:
        means[one.surface][one.target] += 1
    return means


def _mentions(kb: KnowledgeBase, places: Sequence[Place], random: Random, around: int = _AROUND) -> list[SelfMention]:
    """Links in their texts, each of which is read once."""
    source: Entity | None = None
    found = []
    for one in sorted(places, key=lambda place: place.source):
        if source is None or source.id != one.source:
            source = kb.get(one.source)
        mention = None if source is None else _mention(source, one.span, one.target, around)
        if mention is not None:
            found.append(mention)
    random.shuffle(found)
    return found


def _places(kb: KnowledgeBase, entities: int, random: Random, progress: Progress) -> list[Place]:
    places: list[Place] = []
    for read, entity in enumerate(sampled(kb, entities, random)):
        if read >= entities or len(places) >= _READ:
            break
        progress("reading links", read, entities)
        links = kb.hyperlinks(entity.id)
        if len(links) > _LINKS_OF_ENTITY:
            links = random.sample(links, _LINKS_OF_ENTITY)
        places += (
            Place(entity.id, span, entity.description[span.start : span.end], target)
            for span, target in links
            if target != entity.id
        )
    return places


def _chosen(kb: KnowledgeBase, places: Sequence[Place], wanted: int, random: Random) -> list[Place]:
    """Names of several entities first, then other names that are no titles, then titles."""
    means = _meanings(places)
    shuffled = random.sample(places, len(places))
    ambiguous = _balanced([one for one in shuffled if len(means[one.surface]) > 1], means)
    plain = [one for one in shuffled if len(means[one.surface]) == 1]
    titled = {one: _is_title(kb, *one) for one in dict.fromkeys((one.surface, one.target) for one in plain)}
    others = [one for one in plain if not titled[one.surface, one.target]]
    titles = [one for one in plain if titled[one.surface, one.target]]
    wanted = min(wanted, max(_ENOUGH, round(len(ambiguous) / AMBIGUOUS)))
    chosen = ambiguous[: round(AMBIGUOUS * wanted)]
    chosen += others[: round(OTHERWISE_NAMED * wanted)]
    return chosen + titles[: wanted - len(chosen)]


def _balanced(places: Sequence[Place], means: Mapping[str, Counter[str]]) -> list[Place]:
    """The unusual meanings of names, and not many more links with their most usual one."""
    usual = {surface: found.most_common(1)[0] for surface, found in means.items() if len(found) > 1}
    room = Counter[tuple[str, str]]()
    for surface, (target, count) in usual.items():
        unusual = means[surface].total() - count
        room[surface, target] = min(_OF_ONE_MEANING, _USUAL_FOR_ONE * unusual + _USUAL)
    kept = []
    for one in sorted(places, key=lambda place: place.target == usual[place.surface][0]):
        meaning = (one.surface, one.target)
        left = room.setdefault(meaning, _OF_ONE_MEANING)
        if left > 0:
            room[meaning] = left - 1
            kept.append(one)
    return kept


def _is_title(kb: KnowledgeBase, surface: str, target: str) -> bool:
    entity = kb.get(target)
    return entity is not None and key_of(surface) == bare_key(entity.title)


def _mention(entity: Entity, span: Span, target: str, around: int) -> SelfMention | None:
    """The link in its paragraph, or in what stands around it there."""
    text = entity.description
    surface = text[span.start : span.end]
    begin = max(text.rfind("\n", 0, span.start) + 1, span.start - around)
    end = text.find("\n", span.end)
    end = min(len(text) if end < 0 else end, span.end + around)
    if "\n" in surface or not surface.strip() or end - begin < min(_SHORTEST_PARAGRAPH, 3 * len(surface)):
        return None
    at = span.start - begin
    mention = Mention(Span(at, at + len(surface)), surface)
    document = Document(f"{entity.id}#link{span.start}", text[begin:end])
    return SelfMention(document, mention, target, Kind.KNOWN, entity.id)


def as_if_unlinked(kb: KnowledgeBase, one: SelfMention, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with P(e|m) as it were without this very link: no link of texts to come was counted."""
    meaning = kb.meaning(one.mention.text)
    if meaning.pinned or meaning.total < 1:
        return list(candidates)
    left = meaning.total - 1
    found = []
    for candidate in candidates:
        evidence = dict(candidate.evidence)
        for name in ("prior", "alias"):
            if evidence.get(name) and "tier" in evidence:
                support = max(0.0, evidence[name] * meaning.total - (candidate.entity == one.entity))
                evidence[name] = support / left if left else 0.0
        found.append(Candidate(candidate.entity, candidate.score, evidence, candidate.title))
    return found
