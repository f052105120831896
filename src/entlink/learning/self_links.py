"""Examples from the hyperlinks in a knowledge base's own descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from time import monotonic
from typing import TYPE_CHECKING

from entlink.documents import Document, Entity, Mention, Span
from entlink.kb.folding import key_of
from entlink.learning.self_cases import Case
from entlink.ranking.spelling import bare_key
from entlink.tuning.self_linking import ranked
from entlink.tuning.self_mentions import Kind, SelfMention, sampled

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.linker import Linker

Progress = Callable[[str, float, float], None]
HARD = 0.6  # of the examples: names that are ambiguous, or not the title
_LINKS_OF_ENTITY = 20  # in its text
_TO_ENTITY = 30
_AROUND = 750  # characters on each side, within the paragraph
_SHORTEST_PARAGRAPH = 40
_READ_FOR_ONE = 2  # links read for each wanted, so that hard ones can be preferred
_KEPT = 20
_FEWEST = 400  # however long they take


def link_pairs(
    linker: Linker, wanted: int, entities: int, seed: int, progress: Progress, *, seconds: float | None = None
) -> list[Case]:
    """Links as examples, at most so many, with the linker's candidates for them; after `seconds`, fewer."""
    began = monotonic()
    mentions = link_mentions(linker.kb, wanted, entities, seed, progress)

    def told(stage: str, done: float, total: float) -> None:
        progress("finding candidates", done, total)

    cases = []
    for one, shortlist in zip(mentions, ranked(linker, mentions, told), strict=True):
        entity, source = one.entity or "", one.source or ""
        cases.append(Case("link", source, one.document, one.mention, entity, shortlist.candidates[:_KEPT]))
        if seconds is not None and monotonic() - began > seconds and len(cases) >= _FEWEST:
            break
    return cases


def link_mentions(kb: KnowledgeBase, wanted: int, entities: int, seed: int, progress: Progress) -> list[SelfMention]:
    """Links of entities drawn by the seed, three of five hard ones if there are as many; no entity too often."""
    random = Random(seed)
    hard: list[SelfMention] = []
    easy: list[SelfMention] = []
    often: dict[str, int] = {}
    for read, entity in enumerate(sampled(kb, entities, random)):
        if read >= entities or len(hard) + len(easy) >= _READ_FOR_ONE * wanted:
            break
        progress("reading links", len(hard) + len(easy), _READ_FOR_ONE * wanted)
        for one in _of_entity(kb, entity, random):
            target = one.entity or ""
            often[target] = often.get(target, 0) + 1
            if often[target] <= _TO_ENTITY:
                (hard if _is_hard(kb, one) else easy).append(one)
    count = max(round(HARD * wanted), wanted - len(easy))
    chosen = random.sample(hard, min(len(hard), count))
    chosen += random.sample(easy, min(len(easy), wanted - len(chosen)))
    random.shuffle(chosen)
    return chosen


def _of_entity(kb: KnowledgeBase, entity: Entity, random: Random) -> Iterator[SelfMention]:
    links = kb.hyperlinks(entity.id)
    if len(links) > _LINKS_OF_ENTITY:
        links = random.sample(links, _LINKS_OF_ENTITY)
    for span, target in links:
        one = _mention(entity, span, target)
        if one is not None and target != entity.id:
            yield one


def _mention(entity: Entity, span: Span, target: str) -> SelfMention | None:
    """The link in its paragraph, or in what stands around it there."""
    text = entity.description
    surface = text[span.start : span.end]
    begin = max(text.rfind("\n", 0, span.start) + 1, span.start - _AROUND)
    end = text.find("\n", span.end)
    end = min(len(text) if end < 0 else end, span.end + _AROUND)
    if "\n" in surface or not surface.strip() or end - begin < min(_SHORTEST_PARAGRAPH, 3 * len(surface)):
        return None
    at = span.start - begin
    mention = Mention(Span(at, at + len(surface)), surface)
    document = Document(f"{entity.id}#link{span.start}", text[begin:end])
    return SelfMention(document, mention, target, Kind.KNOWN, entity.id)


def _is_hard(kb: KnowledgeBase, one: SelfMention) -> bool:
    surface = one.mention.text
    target = kb.get(one.entity or "")
    if target is None or key_of(surface) != bare_key(target.title):
        return True
    return len(list(kb.bearers(kb.meaning(surface), 2))) > 1
