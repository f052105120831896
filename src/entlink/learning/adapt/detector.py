"""Which names are looked at: a threshold chosen on a knowledge base's own pages, by their hyperlinks or their names.

Where pages have hyperlinks, it is how often a name must be linked. Where they have none, it is how often the texts
that name an entity are named in its own, and a page's name counts as a link if it is named back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from entlink.documents import Document
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.adapt.report import StageFigures
from entlink.learning.adapt.state import AdaptOptions
from entlink.learning.own_texts.naming import LONGEST, Namings
from entlink.linking.config import Stage, make_stage
from entlink.mentions.named_back import write_named_back
from entlink.text.folding import key_of

BY_LINKS, BY_NAMES, COUNTS = "min_link_probability", "min_named_back", "named_back"
COUNTS_FILE = "named-back.json"
_NAME = "detector"
_FOR_NAMINGS, _READ = 0.05, 20_000  # of the minutes, and texts of entities
_LINKED = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4)
_NAMED_BACK = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
_MOST_PAGES, _FEWEST_PAGES = 150, 10  # to tune with, and as many held back


class Chosen(NamedTuple):
    """A threshold, and F1 of the names linked on pages held back, before and with it."""

    threshold: float
    before: float
    after: float


class Page(NamedTuple):
    """A page, the keys of its names that are links, and of those that are not looked at, such as its own."""

    document: Document
    linked: frozenset[str]
    ignored: frozenset[str]


def adapted_detector(
    kb: KnowledgeBase,
    detector: Stage,
    sources: tuple[set[str], set[str]],
    folder: Path,
    options: AdaptOptions,
    progress: Progress,
) -> tuple[StageFigures, Stage]:
    """The detector of a linker in `folder`, with a threshold if it does better with one on pages held back.

    `sources` are the pages to tune with and those held back, where hyperlinks tell.
    """
    if detector.get("name") != "dictionary":
        return _left_alone("it is not the dictionary"), detector
    if kb.has_links and not kb.has_hyperlinks:
        return _left_alone("the knowledge base keeps no hyperlinks"), detector
    if kb.has_links:
        found = chosen_by_links(kb, detector, *sources, options.seed, progress)
        changed: Stage = {} if found is None else {BY_LINKS: found.threshold}
    else:
        namings = Namings(kb, make_stage("detector", {**detector, "common": inf}, kb))
        namings.read(_READ, options.seed, progress, _FOR_NAMINGS * options.minutes * 60)
        found = chosen_by_names(kb, detector, namings, folder / COUNTS_FILE, progress)
        changed = {} if found is None else {COUNTS: f"./{COUNTS_FILE}", BY_NAMES: found.threshold}
    if found is None:
        return _left_alone("too few pages tell which names are linked"), detector
    kept = found.after > found.before
    if not kept:
        (folder / COUNTS_FILE).unlink(missing_ok=True)
    told = f"F1 of linked names {found.before:.3f} to {found.after:.3f} at {found.threshold:g}"
    note = told if kept else f"{told}: left out"
    return StageFigures(_NAME, kept=kept, note=note, figures=found._asdict()), {
        **detector,
        **(changed if kept else {}),
    }


def _left_alone(why: str) -> StageFigures:
    return StageFigures(_NAME, kept=False, note=f"left alone: {why}")


# By hyperlinks


def chosen_by_links(
    kb: KnowledgeBase,
    detector: Stage,
    tune: Iterable[str],
    held_back: Iterable[str],
    seed: int,
    progress: Progress,
) -> Chosen | None:
    """The threshold that is best on the pages to tune with; None where they have no links."""
    pages, others = (_linking(kb, ids, seed) for ids in (tune, held_back))
    if not pages or not others:
        return None
    return _chosen(kb, detector, BY_LINKS, _LINKED, (pages, others), progress)


def _linking(kb: KnowledgeBase, ids: Iterable[str], seed: int) -> list[Page]:
    found: list[Page] = []
    drawn = sorted(set(ids))
    Random(seed).shuffle(drawn)
    for id in drawn:
        page = linking_page(kb, id) if len(found) < _MOST_PAGES else None
        if page is not None and page.linked:
            found.append(page)
    return found


def linking_page(kb: KnowledgeBase, id: str) -> Page | None:
    """A page links a name once, if at all: names are compared by page, not by place.

    A name that is linked nowhere else is not looked at, as it would not be known of a text to come.
    """
    entity = kb.get(id)
    if entity is None:
        return None
    text = entity.description[:LONGEST]
    links = [span for span, _ in kb.hyperlinks(id)]
    times = Counter(key_of(entity.description[span.start : span.end]) for span in links)
    surfaces = {text[span.start : span.end] for span in links if span.end <= len(text)}
    here_only = {key_of(one) for one in surfaces if kb.meaning(one).linked <= times[key_of(one)]}
    ignored = _own_names(kb, id) | here_only
    return Page(Document(id, text), frozenset(map(key_of, surfaces)) - ignored, ignored)


def _own_names(kb: KnowledgeBase, id: str) -> frozenset[str]:
    """Which a page does not link."""
    entity = kb.get(id)
    return frozenset() if entity is None else frozenset(key_of(name) for name in (entity.title, *entity.aliases))


# By names


def chosen_by_names(
    kb: KnowledgeBase, detector: Stage, namings: Namings, counts: Path, progress: Progress
) -> Chosen | None:
    """The threshold that is best on some pages, measured on others; None where too few are named back.

    The counts that go with it are left in the file `counts`; while it is chosen, these pages are not in them.
    """
    pages: list[Page] = []
    aside: set[int] = set()
    most = min(2 * _MOST_PAGES, len(namings.pages) // 2)  # the others are counted
    for key in namings.pages:
        page = _naming_page(kb, namings, key) if len(pages) < most else None
        if page is not None and page.linked:
            pages.append(page)
            aside.add(key)
    if len(pages) < 2 * _FEWEST_PAGES:
        return None
    write_named_back(counts, namings.counts(aside))
    half = len(pages) // 2
    settings = {**detector, COUNTS: str(counts)}
    found = _chosen(kb, settings, BY_NAMES, _NAMED_BACK, (pages[:half], pages[half:]), progress)
    write_named_back(counts, namings.counts())
    return found


def _naming_page(kb: KnowledgeBase, namings: Namings, key: int) -> Page | None:
    document = namings.document(key)
    if document is None:
        return None
    linked, unknown = set[str](), set[str]()
    for surface, bearer in namings.names_in(document):
        back = namings.is_named_back(key, bearer)
        if back is None:
            unknown.add(key_of(surface))
        elif back:
            linked.add(key_of(surface))
    ignored = _own_names(kb, document.id) | unknown
    return Page(document, frozenset(linked) - ignored, ignored)


# Either way


def _chosen(
    kb: KnowledgeBase,
    detector: Stage,
    setting: str,
    values: Sequence[float],
    parts: tuple[list[Page], list[Page]],
    progress: Progress,
) -> Chosen:
    tune, held_back = parts
    tried = []
    for number, threshold in enumerate(values):
        progress("choosing which names to look at", number, len(values))
        tried.append((f1(kb, {**detector, setting: threshold}, tune), threshold))
    best = max(tried)[1]
    return Chosen(best, f1(kb, detector, held_back), f1(kb, {**detector, setting: best}, held_back))


def f1(kb: KnowledgeBase, settings: Mapping[str, Any], pages: list[Page]) -> float:
    """F1 of the names that a detector finds on pages."""
    detector = make_stage("detector", dict(settings), kb)
    right = found = wanted = 0
    for page, mentions in zip(pages, detector.detect([page.document for page in pages]), strict=True):
        names = {key_of(one.text) for one in mentions} - page.ignored
        right += len(names & page.linked)
        found += len(names)
        wanted += len(page.linked)
    return 2 * right / (found + wanted) if found + wanted else 0.0
