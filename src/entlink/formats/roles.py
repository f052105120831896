"""Gold as predictions and predictions as gold: many formats hold links without saying which of the two they are."""

from __future__ import annotations

import msgspec

from entlink.documents import Document, GoldLink, Link, Mention
from entlink.errors import InputError
from entlink.formats.gold_meta import check_gold, score_of


def gold_as_links(document: Document) -> Document:
    """The document with its gold as a linker's answer: of alternatives the first, scores from `meta` or 1.

    A score in `meta` that is no number is an error, and so is a mention that is no text.
    """
    check_gold(document)
    text = document.text
    links = tuple(
        Link(
            Mention(gold.span, gold.meta.get("mention") or text[gold.span.start : gold.span.end]),
            gold.entities[0] if gold.entities else None,
            score_of(gold),
            nil_type=gold.nil_type,
        )
        for gold in document.gold
        if not gold.optional
    )
    return msgspec.structs.replace(document, gold=(), links=links)


def gold_as_mentions(document: Document) -> Document:
    """The document with the spans of its gold as given mentions, and nothing else of its gold or links."""
    if document.gold and document.meta.get("lacks"):
        raise InputError(
            f"document {document.id!r}: its gold has no offsets, so that there are no spans to link. Give gold in a "
            "format that has them"
        )
    spans = dict.fromkeys(gold.span for gold in document.gold)
    mentions = tuple(Mention(span, document.text[span.start : span.end]) for span in spans)
    return msgspec.structs.replace(document, mentions=mentions, gold=(), links=())


def links_as_gold(document: Document) -> Document:
    """The document with its links as gold; what gold has no field for goes to its meta."""
    gold = tuple(
        GoldLink(
            link.mention.span,
            () if link.entity is None else (link.entity,),
            link.nil_type,
            meta=_meta_of(link, document.text),
        )
        for link in document.links
    )
    return msgspec.structs.replace(document, gold=gold, links=())


def _meta_of(link: Link, text: str) -> dict[str, str | float]:
    """The mention's text only where the document does not show it."""
    mention = link.mention
    shown = text[mention.span.start : mention.span.end]
    meta: dict[str, str | float | None] = {
        "type": mention.type,
        "mention": None if mention.text == shown else mention.text,
        "title": link.title,
        "score": link.score,
    }
    return {key: value for key, value in meta.items() if value is not None}
