"""Captions to documents: which of them stay, and what is said of each mention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from entlink.datasets.captions.entity_types import Topics, Typer
from entlink.datasets.captions.options import CaptionOptions
from entlink.datasets.captions.pictures import Found, PictureFiles
from entlink.datasets.captions.reading import Caption, CaptionLink
from entlink.datasets.conversations.pruning import profanity_pattern
from entlink.datasets.hyperlinks.documents import apart
from entlink.datasets.targets import Resolve
from entlink.documents import Document, Entity, GoldLink, Image, Mention, Span
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.folding import fold, is_spaceless, key_of
from entlink.text.titles import spaced

OWN, NEAR_COPY = "own", "near-copy"
NAMED = ("video", "sound", "picture unreadable")  # captions that the card lists, of those that are left out


class Made(NamedTuple):
    """A document, and the file of its picture where there is one."""

    document: Document
    found: Found


class CaptionMaker:
    """Makes a document of each caption that stays, and counts why the others do not.

    `counts` has captions by what became of them, `mentions` the mentions of those that stay; `named` are the first
    pictures of those left out for their picture.
    """

    def __init__(self, kb: KnowledgeBase, resolve: Resolve, files: PictureFiles, options: CaptionOptions) -> None:
        self.counts: Counter[str] = Counter()
        self.mentions: Counter[str] = Counter()
        self.named: list[str] = []
        self._kb, self._resolve, self._files, self._options = kb, resolve, files, options
        self._typer = Typer(kb, options.type_list, options.types)
        self._topics = Topics(kb, options.topics)
        self._profanity = profanity_pattern(options.profanity)
        self._numbers: Counter[str] = Counter()

    def documents(self, captions: Iterable[Caption]) -> Iterator[Made]:
        """The documents, numbered within their page from 1, whatever stays of them."""
        for caption in captions:
            self._numbers[caption.page] += 1
            self.counts["read"] += 1
            reason = self._reason(caption)
            if reason is None:  # only now is the picture looked at, which may copy it
                found = self._files.find(caption.image)
                reason = self._picture_reason(found)
            if reason is None:
                gold = self._gold(caption)
                if len(gold) >= self._options.min_mentions:
                    self.counts["kept"] += 1
                    self._count_kept(found)
                    yield Made(self._document(caption, gold, found), found)
                    continue
                reason = "too few mentions"
            self._leave_out(reason, caption)

    def _reason(self, caption: Caption) -> str | None:
        """Why a caption is left out for its text, the first reason that holds."""
        if not caption.links:
            return "without mentions"
        if words_of(caption.text) < self._options.min_words:
            return "short"
        if self._profanity is not None and self._profanity.search(caption.text):
            return "profane"
        return None

    def _picture_reason(self, found: Found) -> str | None:
        """Why a caption is left out for its picture."""
        if found.fate in ("video", "sound"):
            return found.fate
        if found.fate == "unreadable":
            return "picture unreadable"
        if found.fate == "missing" and self._options.missing == "drop":
            return "picture missing"
        return None

    def _leave_out(self, reason: str, caption: Caption) -> None:
        self.counts[reason] += 1
        if reason in NAMED:
            self.named.append(f"{reason}: {caption.image} of {caption.page}")

    def _count_kept(self, found: Found) -> None:
        if found.fate == "missing":
            self.counts["kept without picture"] += 1
        if found.is_frame:
            self.counts["kept as the frame of a video"] += 1

    # Mentions

    def _gold(self, caption: Caption) -> list[GoldLink]:
        kept = []
        links = apart(caption.links, len(caption.text))
        self.mentions["overlapping"] += len(caption.links) - len(links)
        for link in links:
            id = None if link.target is None else self._resolve(link.target)
            gold = self._nil(caption, link) if id is None else self._linked(caption, link, id)
            if gold is not None:
                kept.append(gold)
        return kept

    def _nil(self, caption: Caption, link: CaptionLink) -> GoldLink | None:
        if self._options.nil == "drop":
            self.mentions["NIL, dropped"] += 1
            return None
        meta: dict[str, Any] = {} if link.target is None else {"title": spaced(link.target)}
        meta["candidates"] = self._candidates(caption.text[link.start : link.end])
        return GoldLink(Span(link.start, link.end), (), nil_type=link.type, meta=meta)

    def _linked(self, caption: Caption, link: CaptionLink, id: str) -> GoldLink | None:
        entity = self._kb.get(id)
        assert entity is not None
        surface = caption.text[link.start : link.end]
        meta: dict[str, Any] = {"title": entity.title, "surface": likeness(surface, entity.title)}
        meta["candidates"] = self._candidates(surface)
        type = link.type or self._typer.of(id)
        if type is not None:
            meta["type"] = type
        if self._has_own_picture(caption, entity):
            if self._options.same_picture == "drop":
                self.mentions["own picture, dropped"] += 1
                return None
            meta["picture"] = OWN
        return GoldLink(Span(link.start, link.end), (id,), meta=meta)

    def _candidates(self, surface: str) -> int:
        """How many entities the knowledge base knows by that name."""
        return len(self._kb.meaning(surface).entries)

    def _has_own_picture(self, caption: Caption, entity: Entity) -> bool:
        """Whether the entity's first picture is that of the caption: the same name, or the same content."""
        if not entity.images:
            return False
        if _file_name(entity.images[0]) == _file_name(caption.image):
            return True
        content = self._files.content(caption.image)
        return content is not None and content == self._files.content(entity.images[0])

    # The document

    def _document(self, caption: Caption, gold: list[GoldLink], found: Found) -> Document:
        text = caption.text
        page = self._kb.resolve(caption.page)
        topic = caption.topic or self._topics.of(page, caption.categories)
        meta: dict[str, Any] = {"page": caption.title or (page.title if page else spaced(caption.page))}
        meta |= {"topic": topic} if topic else {}
        meta |= {"image": caption.image}
        meta |= {"video": True} if found.is_frame else {}
        return Document(
            f"{caption.page}#{self._numbers[caption.page]}",
            text,
            caption.language,
            images=(Image(found.name),) if found.name else (),
            mentions=tuple(Mention(one.span, text[one.span.start : one.span.end]) for one in gold),
            gold=tuple(gold),
            meta=meta,
        )


def likeness(surface: str, title: str) -> str:
    """How a mention is like its entity's title.

    `title`: the same as written, `_` being a blank; `folded`: the same to `entlink.text.folding`; `partly`: a token
    in common once folded; `different`: none.
    """
    title = spaced(title)
    if surface == title:
        return "title"
    if key_of(surface) == key_of(title):
        return "folded"
    return "different" if set(fold(surface).tokens).isdisjoint(fold(title).tokens) else "partly"


def words_of(text: str) -> int:
    """How many words a text has: what white space separates; a character each where scripts write without it."""
    return len(fold(text).tokens) if any(map(is_spaceless, text)) else len(text.split())


def _file_name(name: str) -> str:
    """A wiki does not tell blanks from `_`, nor a small first letter from a large one."""
    name = spaced(name).strip()
    return name[:1].upper() + name[1:]
