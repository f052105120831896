"""Comments and tags: those whose contents are no text, those that hold text as it is, and those of HTML."""

from __future__ import annotations

import re
from collections.abc import Callable

from entlink.sources.wikitext.blanks import words
from entlink.sources.wikitext.findings import Findings
from entlink.sources.wikitext.literals import decode_entities, hide
from entlink.sources.wikitext.seams import END, SEAM

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
    abbr b bdi bdo big cite code data del dfn em font i ins kbd languages mark nobr poem q
    rb rbc rp rt rtc ruby s samp section small span strike strong sub sup time tt u var wbr
    """
)
UNSEEN = ("noinclude", "onlyinclude", "translate", "tvar")  # gone before markup is read: they keep nothing apart
BLOCK = words(
    """
    address article aside blockquote caption center col colgroup div dl figcaption figure footer h1 h2 h3 h4 h5 h6
    header hr main nav ol p table tabber tbody td tfoot th thead tr ul
    """
)
ITEM = ("li", "dd", "dt")

_COMMENT = rf"!--[^-{END}]*+(?:-(?!->)[^-{END}]*+)*+(?:-->|(?={END}))"
_READ = (
    rf"(?P<name>(?i:{'|'.join((*UNREAD, *VERBATIM))}))(?=[\s/>])[^<>{END}]*+"
    rf"(?:(?<=/)>|>(?P<body>[^<{END}]*+(?:<(?!(?i:/(?P=name))\s*>)[^<{END}]*+)*+)(?:</(?i:(?P=name))\s*>|{END}))"
)
# A comment with a line to itself takes that line along.
_DROPPED = re.compile(rf"<(?=[!A-Za-z])(?:(?<![^\n]<){_COMMENT}[ \t]*+\n?|{_COMMENT}|{_READ})")
_HAS_OTHERS = re.compile(rf"<(?:!--|(?i:includeonly|{'|'.join(VERBATIM)})[\s/>])")  # than leave a seam


def _tag(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"<(?=[A-Za-z/])/?+(?i:{'|'.join(names)})(?=[\s/>])[^<>]*>")


_INLINE = _tag((*INLINE, *UNREAD, *VERBATIM))  # of the unread those that are left were never closed, or opened
_BLOCK, _ITEM, _LINE_BREAK, _UNSEEN = _tag(BLOCK), _tag(ITEM), _tag(("br",)), _tag(UNSEEN)

has_tag = re.compile("<[!/A-Za-z]").search

Gallery = Callable[[str], str]


def without_unread(text: str, gallery: Gallery) -> str:
    """The text without comments, and without tags whose contents are no text; what is verbatim is hidden.

    The lines of a gallery are given to `gallery`, which turns them into wikitext. A comment that is not closed
    runs to the end; of a tag that is not closed only the tag is dropped.
    """
    while True:
        if _HAS_OTHERS.search(text):
            read = _DROPPED.sub(lambda match: _left_of(match, gallery), text + END)
        else:
            read = _DROPPED.sub(SEAM, text + END)
        if read[-1:] == END:
            return read[:-1]
        text = _without_unclosed(text)


def _left_of(match: re.Match[str], gallery: Gallery) -> str:
    """What is left of a comment or a tag."""
    if match["name"] is None or match.string[match.end() - 1] == END:  # if not closed, the text will be read again
        return ""
    name, body = match["name"].lower(), match["body"] or ""
    if name == "nowiki":
        return SEAM + hide(decode_entities(body))
    if name == "pre":
        return f"\n\n{hide(decode_entities(body))}\n\n"
    if name == "gallery":
        return f"\n\n{gallery(without_unread(body, gallery))}\n\n"
    return "" if name == "includeonly" else SEAM


def _without_unclosed(text: str) -> str:
    """The text without the tags of that name that is open at its end: after the last that is closed, none is."""
    *_, last = _DROPPED.finditer(text + END)
    unclosed = re.compile(rf"<(?i:{last['name']})(?=[\s/>])[^<>]*>")
    return text[: last.start()] + unclosed.sub(SEAM, text[last.start() :])


def without_html(text: str) -> str:
    """The text without the tags of HTML, whose contents stay: blocks set apart, items as those of wikitext."""
    text = _LINE_BREAK.sub(" ", text)
    text = _UNSEEN.sub("", text)
    text = _INLINE.sub(SEAM, text)
    text = _ITEM.sub(lambda tag: "\n" if tag[0][1] == "/" else "\n* ", text)
    return _BLOCK.sub("\n\n", text)


_SWITCH = re.compile(r"__([^\W\d_]+)__")


def without_switches(text: str, findings: Findings) -> str:
    """The text without magic words; they go to the findings."""

    def note(switch: re.Match[str]) -> str:
        word = switch[1]
        if word != word.upper():
            return switch[0]
        findings.switches.add(word)
        return ""

    return _SWITCH.sub(note, text)
