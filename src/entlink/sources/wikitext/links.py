"""Links between pages: from a paragraph with [[links]] to its plain text and anchors."""

from __future__ import annotations

import re

from entlink.sources.page import Anchor
from entlink.sources.wikitext.findings import Findings
from entlink.sources.wikitext.literals import show
from entlink.sources.wikitext.seams import SEAM
from entlink.sources.wikitext.titles import Target, Titles

MOST_KNOWN = 1 << 16  # links whose reading is remembered: a wiki repeats the same ones over and over

_PREFIX = re.compile(r":?\w[\w -]*+:|:")
_COMMA = re.compile(r", |，|، ")


class Links:
    """Reads the links of one site."""

    def __init__(self, titles: Titles) -> None:
        self._titles = titles
        self._known: dict[str, tuple[str, str]] = {}  # the shown text and the title, by what stands in the brackets

    def read(self, raw: str, findings: Findings) -> tuple[str, tuple[Anchor, ...]]:
        """The text of a paragraph and its anchors; the paragraph has no markup but links, and single blanks."""
        first, *pieces = raw.split("[[")
        parts, length = [first], len(first)
        anchors: list[Anchor] = []
        known = self._known
        for piece in pieces:
            inside, closing, tail = piece.partition("]]")
            link = known.get(inside)
            if link is None or not closing:
                lead, link, tail = self._read_rare(inside, closing, tail, findings)
                length = _append_rare(parts, length, lead)
                if not link[0]:
                    length = _append_rare(parts, length, tail)
                    continue
            shown, title = link
            if tail[:1].isalpha():
                ending = trail(tail)
                shown += ending
                tail = tail[len(ending) :]
            end = length + len(shown)
            if title:
                anchors.append(Anchor(length, end, title))
            parts += (shown, tail)
            length = end + len(tail)
        return "".join(parts), tuple(anchors)

    def _read_rare(
        self, inside: str, closing: str, tail: str, findings: Findings
    ) -> tuple[str, tuple[str, str], str]:
        """What stands before the link, the link, and what follows, for links that are not known by heart."""
        if not closing:
            findings.unread_picture |= self._titles.begins_picture(inside.lstrip("["))
            return "", ("[[", ""), inside
        if inside[:1] == "[":  # as in [[[this]]]: a link in brackets
            name = inside.lstrip("[")
            lead, link, tail = self._read_rare(name, closing, tail, findings)
            return inside[: len(inside) - len(name)] + lead, link, tail
        if "[" in inside and tail[:1] == "]":  # the label ends in a bracket of its own
            inside, tail = inside + "]", tail[1:]
        target, bar, label = inside.partition("|")
        leads_to = self._titles.resolve(show(target.replace(SEAM, "")))
        if leads_to.kind == "illegal":
            if label and not target.strip(" "):  # [[|label]], the pipe trick backwards
                return self._labelled(inside, label, "", tail)
            findings.unread_picture |= self._titles.begins_picture(target)
            return "", ("[[", ""), inside + closing + tail
        if leads_to.kind in ("category", "language", "picture"):
            _collect(leads_to, label, findings)
            return "", ("", ""), tail
        if not bar:
            label = target.strip(" ").removeprefix(":").lstrip(" ")
        elif not label:
            label = pipe_trick(target)
        return self._labelled(inside, label, leads_to.title, tail)

    def _labelled(self, inside: str, label: str, title: str, tail: str) -> tuple[str, tuple[str, str], str]:
        shown = label.strip(" ")
        if shown == label or "|" not in inside:
            self._remember(inside, (shown, title))
            return "", (shown, title), tail
        if label[-1] == " " and shown and tail[:1] != " ":
            tail = " " + tail
        return (" " if label[0] == " " else ""), (shown, title), tail

    def _remember(self, inside: str, link: tuple[str, str]) -> None:
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        if link[0] and "[" not in inside:
            self._known[inside] = link


def _append_rare(parts: list[str], length: int, text: str) -> int:
    """Appends a text after a place where nothing is shown, so that no two blanks meet."""
    if text[:1] == " " and _ends_in_blank(parts):
        text = text[1:]
    if text:
        parts.append(text)
    return length + len(text)


def _ends_in_blank(parts: list[str]) -> bool:
    last = next((part for part in reversed(parts) if part), " ")
    return last[-1] == " "


def _collect(target: Target, label: str, findings: Findings) -> None:
    if target.kind == "category":
        findings.categories.append(target.title)
    elif target.kind == "language":
        if target.title:  # as it is not for the main page
            findings.languages.setdefault(target.language, target.title)
    else:
        findings.picture(target.title, label.rpartition("|")[2])


def pipe_trick(target: str) -> str:
    """What a link with an empty label shows: its title without namespace, brackets and what follows a comma."""
    name = target.strip(" ")
    prefix = _PREFIX.match(name)
    name = name[prefix.end() :] if prefix else name
    for opening, closing in ("()", "（）"):
        before, sign, _ = name.partition(opening)
        if sign and before.strip() and name.endswith(closing):
            return before.rstrip()
    before = _COMMA.split(name, maxsplit=1)[0].rstrip()
    return before.partition(" (")[0] if before.endswith(")") else before


# Scripts that set no blanks between words, or attach particles to names: what follows a link is another word.
_SPACELESS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u109f"  # Tibetan, Burmese
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9df"  # Khmer, Tai, Balinese, Javanese
    "\u2e80-\u312f\u3190-\u9fff\ua000-\ua4cf\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_LETTERS = re.compile(rf"(?:[^\W\d_{_SPACELESS}])+")


def trail(text: str) -> str:
    """The lower-case letters, and those of scripts without case, that begin the text."""
    found = _LETTERS.match(text)
    if found is None:
        return ""
    word = found[0]
    if word == word.lower():
        return word
    capital = next((place for place, letter in enumerate(word) if letter != letter.lower()), len(word))
    return word[:capital]
