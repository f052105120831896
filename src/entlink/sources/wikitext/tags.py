"""Comments and tags: those whose contents are no text, those that hold text as it is, and those of HTML."""

from __future__ import annotations

import re
from collections.abc import Callable

from entlink.sources.wikitext.literals import decode_entities, hide
from entlink.sources.wikitext.words import words

UNREAD = words(
    """
    ref math references includeonly
    categorytree ce chem dynamicpagelist forum graph hiero imagemap indicator inputbox mapframe maplink
    phonos score script source style syntaxhighlight templatedata templatestyles timeline xml
    """
)
VERBATIM = ("nowiki", "pre", "gallery")
INLINE = words(
    """
    abbr b bdi bdo big cite code data del dfn em font i ins kbd languages mark noinclude nobr onlyinclude poem q
    rb rbc rp rt rtc ruby s samp section small span strike strong sub sup time translate tt tvar u var wbr
    """
)
BLOCK = words(
    """
    address article aside blockquote caption center col colgroup div dl figcaption figure footer h1 h2 h3 h4 h5 h6
    header hr main nav ol p table tabber tbody td tfoot th thead tr ul
    """
)
ITEM = ("li", "dd", "dt")

_END = "\0"  # stands at the end of a text while it is read: what swallows it was never closed
_COMMENT = rf"!--[^-{_END}]*+(?:-(?!->)[^-{_END}]*+)*+(?:-->|(?={_END}))"
_READ = (
    rf"(?P<name>(?i:{'|'.join((*UNREAD, *VERBATIM))}))(?=[\s/>])[^<>{_END}]*+"
    rf"(?:(?<=/)>|>(?P<body>[^<{_END}]*+(?:<(?!(?i:/(?P=name))\s*>)[^<{_END}]*+)*+)(?:</(?i:(?P=name))\s*>|{_END}))"
)
# A comment with a line to itself takes that line along.
_DROPPED = re.compile(rf"<(?=[!A-Za-z])(?:(?<![^\n]<){_COMMENT}[ \t]*+\n?|{_COMMENT}|{_READ})")
_HAS_VERBATIM = re.compile(rf"<(?i:{'|'.join(VERBATIM)})[\s/>]")


def _tag(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"<(?=[A-Za-z/])/?+(?i:{'|'.join(names)})(?=[\s/>])[^<>]*>")


_INLINE = _tag((*INLINE, *UNREAD, *VERBATIM))  # of the unread those that are left were never closed, or opened
_BLOCK, _ITEM, _LINE_BREAK = _tag(BLOCK), _tag(ITEM), _tag(("br",))
_NOTHING = "<wbr>"  # in place of a tag, so that what stands around it does not join to another one

has_tag = re.compile("<[!/A-Za-z]").search

Gallery = Callable[[str], str]


def without_unread(text: str, gallery: Gallery) -> str:
    """The text without comments, and without tags whose contents are no text; what is verbatim is hidden.

    The lines of a gallery are given to `gallery`, which turns them into wikitext. A comment that is not closed
    runs to the end; of a tag that is not closed only the tag is dropped.
    """
    text = text.replace(_END, "")
    while True:
        if _HAS_VERBATIM.search(text):
            read = _DROPPED.sub(lambda match: _verbatim(match, gallery), text + _END)
        else:
            read = _DROPPED.sub("", text + _END)
        if read[-1:] == _END:
            return read[:-1]
        text = _without_unclosed(text)


def _verbatim(match: re.Match[str], gallery: Gallery) -> str:
    if match.string[match.end() - 1] == _END:  # not closed: the text will be read again without this tag
        return ""
    name, body = (match["name"] or "").lower(), match["body"] or ""
    if name == "nowiki":
        return hide(decode_entities(body))
    if name == "pre":
        return f"\n\n{hide(decode_entities(body))}\n\n"
    return f"\n\n{gallery(without_unread(body, gallery))}\n\n" if name == "gallery" else ""


def _without_unclosed(text: str) -> str:
    """The text without the tags of that name that is open at its end: after the last that is closed, none is."""
    *_, last = _DROPPED.finditer(text + _END)
    unclosed = re.compile(rf"<(?i:{last['name']})(?=[\s/>])[^<>]*>")
    return text[: last.start()] + unclosed.sub(_NOTHING, text[last.start() :])


def without_html(text: str) -> str:
    """The text without the tags of HTML, whose contents stay: blocks set apart, items as those of wikitext."""
    text = _LINE_BREAK.sub(" ", text)
    text = _INLINE.sub("", text)
    text = _ITEM.sub(lambda tag: "\n" if tag[0][1] == "/" else "\n* ", text)
    return _BLOCK.sub("\n\n", text)
