"""Gold as predictions and predictions as gold: many formats hold links without saying which of the two they are."""

from __future__ import annotations

import msgspec

from entlink.documents import Document, GoldLink, Link, Mention


def gold_as_links(document: Document) -> Document:
    """The document with its gold as a linker's answer: of alternatives the first, scores from `meta` or 1."""
    text = document.text
    links = tuple(
        Link(
            Mention(gold.span, gold.meta.get("mention") or text[gold.span.start : gold.span.end]),
            gold.entities[0] if gold.entities else None,
            float(gold.meta.get("score", 1.0)),
            nil_type=gold.nil_type,
        )
        for gold in document.gold
        if not gold.optional
    )
    return msgspec.structs.replace(document, gold=(), links=links)


def links_as_gold(document: Document) -> Document:
    """The document with its links as gold; a mention's text is kept where the document has none to show it."""
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


def _meta_of(link: Link, text: str) -> dict[str, str]:
    mention = link.mention
    meta = {} if mention.type is None else {"type": mention.type}
    if mention.text != text[mention.span.start : mention.span.end]:
        meta["mention"] = mention.text
    return meta
