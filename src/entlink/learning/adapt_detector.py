"""How often a name must be linked to be looked at, chosen on the hyperlinks of a knowledge base's own pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from entlink.config import Stage, make_stage
from entlink.documents import Document
from entlink.kb.folding import key_of
from entlink.kb.knowledge_base import KnowledgeBase

Progress = Callable[[str, float, float], None]
SETTING = "min_link_probability"
_TRIED = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4)
_MOST_PAGES = 150
_LONGEST = 20_000  # characters of a page


class Chosen(NamedTuple):
    """A threshold, and F1 of the names linked on pages held back, before and with it."""

    threshold: float
    before: float
    after: float


class _Page(NamedTuple):
    document: Document
    linked: frozenset[str]  # keys of the names that are links
    own: frozenset[str]  # of the page's own names, which it does not link


def chosen_threshold(
    kb: KnowledgeBase, detector: Stage, tune: Iterable[str], held_back: Iterable[str], progress: Progress
) -> Chosen | None:
    """The threshold that is best on the pages to tune with; None where they have no links.

    A page links a name once, if at all: names are compared by page, not by place.
    """
    pages, others = _pages(kb, tune), _pages(kb, held_back)
    if not pages or not others:
        return None
    tried = []
    for number, threshold in enumerate(_TRIED):
        progress("choosing which names to look at", number, len(_TRIED))
        tried.append((_f1(kb, {**detector, SETTING: threshold}, pages), threshold))
    best = max(tried)[1]
    return Chosen(best, _f1(kb, detector, others), _f1(kb, {**detector, SETTING: best}, others))


def _pages(kb: KnowledgeBase, ids: Iterable[str]) -> list[_Page]:
    found: list[_Page] = []
    for id in sorted(set(ids)):
        entity = kb.get(id)
        if entity is None or len(found) >= _MOST_PAGES:
            continue
        text = entity.description[:_LONGEST]
        links = [span for span, _ in kb.hyperlinks(id) if span.end <= len(text)]
        linked = frozenset(key_of(text[span.start : span.end]) for span in links)
        own = frozenset(key_of(name) for name in (entity.title, *entity.aliases))
        if linked - own:
            found.append(_Page(Document(id, text), linked - own, own))
    return found


def _f1(kb: KnowledgeBase, settings: Mapping[str, Any], pages: list[_Page]) -> float:
    detector = make_stage("detector", dict(settings), kb)
    right = found = wanted = 0
    for page, mentions in zip(pages, detector.detect([page.document for page in pages]), strict=True):
        names = {key_of(one.text) for one in mentions} - page.own
        right += len(names & page.linked)
        found += len(names)
        wanted += len(page.linked)
    return 2 * right / (found + wanted) if found + wanted else 0.0
