"""The inside of a Markdown block: emphasis, links, code, escapes and tags, in linear time."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import NamedTuple

from entlink.formats.markup.aligned import BLOCK_BREAK, LINE_BREAK, SPACE, Flow
from entlink.formats.markup.character_references import reference_at
from entlink.formats.markup.html import BLOCKS
from entlink.formats.markup.markdown_blocks import TITLE, Outline, Stretch, normal_label
from entlink.formats.markup.markdown_emphasis import Delimiters

_SPECIAL = re.compile(r"[\\`*_~\[\]\n]|!\[|<(?=[^\s<>])|&(?=[a-zA-Z#])")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_TICKS = re.compile(r"`++")
_LONGEST_LABEL = 999
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999}+)\]", re.DOTALL)

# Signs in angle brackets hold no further `<`, so that reading them again and again stays linear.
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.\-]{1,31}+:[^\s<>]*+|[^\s<>@]++@[^\s<>@]++)>")
_TAG = re.compile(r"""</?([A-Za-z][A-Za-z0-9\-]*+)(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+>""")
_DECLARATION = re.compile(r"<[!?][^<>]*+>")


def _destination(depth: int) -> str:
    inner = rf"|\({_destination(depth - 1)}\)" if depth else ""
    return rf"(?:[^\s()\\]|\\.{inner})*+"


_TARGET = re.compile(
    rf"\(\s*+(<(?:[^<>\\\n]|\\.)*+>|(?!<){_destination(4)})(?:\s++{TITLE})?+\s*+\)",
    re.DOTALL,
)


class FoundLink(NamedTuple):
    """A link: where its label stands in the original text, and the target as it is written."""

    start: int
    end: int
    target: str


class _Bracket(NamedTuple):
    at: int
    is_image: bool
    delimiters_before: int


def show_inline(
    text: str, lines: list[Stretch], outline: Outline, flow: Flow, links: list[FoundLink] | None = None
) -> None:
    """Adds what the prose in these stretches of `text` shows to `flow`, and its links to `links`."""
    if len(lines) == 1 and not _SPECIAL.search(text, *lines[0]):
        flow.words(*lines[0])
        return
    inline = _Inline(text, lines, outline)
    inline.show(flow)
    if links is not None:
        links += inline.links


class _Inline:
    """One block's prose. Works on its lines joined, and keeps a list of edits: what shows instead of what."""

    def __init__(self, text: str, lines: list[Stretch], outline: Outline) -> None:
        self._lines = lines
        self._prose = "\n".join(text[start:end] for start, end in lines)
        self._line_starts = [0]
        for start, end in lines[:-1]:
            self._line_starts.append(self._line_starts[-1] + end - start + 1)
        self._outline = outline
        self.links: list[FoundLink] = []
        self._edits: list[tuple[int, int, str]] = []
        self._delimiters = Delimiters(self._prose, self._edits)
        self._brackets: list[_Bracket] = []
        self._dead_brackets = 0
        self._last_bracket = -1
        self._ticks: dict[int, list[int]] | None = None
        self._comment_may_end = True

    def show(self, flow: Flow) -> None:
        at = 0
        while match := _SPECIAL.search(self._prose, at):
            at = _READERS[match.group()](self, match.start())
        self._delimiters.resolve(0)
        self._edits.sort()
        self._apply(flow)

    def _apply(self, flow: Flow) -> None:
        at = 0
        for start, end, visible in self._edits:
            if start < at:
                continue
            self._copy(at, start, flow)
            original, original_end = self._original(start), self._original(end - 1) + 1
            if visible in (SPACE, LINE_BREAK, BLOCK_BREAK):
                flow.gap(visible, original, original_end)
            else:
                flow.stand(visible, original, original_end)
            at = end
        self._copy(at, len(self._prose), flow)

    def _copy(self, start: int, end: int, flow: Flow) -> None:
        if start < end:
            flow.words(self._original(start), self._original(end - 1) + 1)

    def _original(self, at: int) -> int:
        line = bisect_right(self._line_starts, at) - 1
        return self._lines[line][0] + at - self._line_starts[line]

    # Each reader takes the place of its sign and returns where reading goes on.

    def _escape(self, at: int) -> int:
        escaped = self._prose[at + 1 : at + 2]
        if escaped == "\n":
            self._edits.append((at, at + 2, LINE_BREAK))
            return at + 2
        if escaped in _PUNCTUATION:
            self._edits.append((at, at + 1, ""))
            return at + 2
        return at + 1

    def _newline(self, at: int) -> int:
        hard = at >= 2 and self._prose[at - 2 : at] == "  "
        self._edits.append((at, at + 1, LINE_BREAK if hard else SPACE))
        return at + 1

    def _entity(self, at: int) -> int:
        reference = reference_at(self._prose, at, len(self._prose), semicolon=True)
        if reference is None:
            return at + 1
        self._edits.append((at, reference.end, reference.visible))
        return reference.end

    def _code(self, at: int) -> int:
        opening = _TICKS.match(self._prose, at)
        assert opening is not None
        length = opening.end() - at
        closings = self._tick_runs().get(length, [])
        index = bisect_left(closings, opening.end())
        if index == len(closings):
            return opening.end()
        end = closings[index] + length
        self._edits.append((at, end, BLOCK_BREAK))
        return end

    def _tick_runs(self) -> dict[int, list[int]]:
        """Where the runs of backticks start, by their length; found once, so that each look-up is short."""
        if self._ticks is None:
            self._ticks = {}
            for match in _TICKS.finditer(self._prose):
                self._ticks.setdefault(match.end() - match.start(), []).append(match.start())
        return self._ticks

    def _angle(self, at: int) -> int:
        if self._prose.startswith("<!--", at) and self._comment_may_end:
            end = self._prose.find("-->", at + 4) + 3
            if end > 2:
                self._edits.append((at, end, ""))
                return end
            self._comment_may_end = False
        if match := _AUTOLINK.match(self._prose, at):
            self._edits.append((at, match.end(), SPACE))
            self._found(at + 1, match.end() - 1, match.group()[1:-1])
        elif match := _TAG.match(self._prose, at):
            self._edits.append((at, match.end(), _break_of(match[1].lower())))
        elif match := _DECLARATION.match(self._prose, at):
            self._edits.append((at, match.end(), ""))
        return match.end() if match else at + 1

    def _delimiter(self, at: int) -> int:
        return self._delimiters.read(at)

    def _open_bracket(self, at: int) -> int:
        is_image = self._prose[at] == "!"
        self._brackets.append(_Bracket(at, is_image, len(self._delimiters)))
        self._last_bracket = at
        return at + 2 if is_image else at + 1

    def _close_bracket(self, at: int) -> int:
        innermost, self._last_bracket = self._last_bracket, at
        if not self._brackets:
            return at + 1
        opening = self._brackets.pop()
        dead = len(self._brackets) < self._dead_brackets
        self._dead_brackets = min(self._dead_brackets, len(self._brackets))
        label = self._label(opening, at) if innermost == opening.at else None
        if label is not None and label[:1] == "^" and label[1:] in self._outline.footnotes:
            return self._drop_footnote(opening, at)
        # A link holds no link, so what opened before one that closed is text; pictures may hold links.
        target = None if dead and not opening.is_image else self._target(label, at)
        if target is None:
            return at + 1
        self._link(opening, at, *target)
        return target[0]

    def _label(self, opening: _Bracket, at: int) -> str | None:
        start = opening.at + (2 if opening.is_image else 1)
        return normal_label(self._prose[start:at]) if at - start <= _LONGEST_LABEL else None

    def _drop_footnote(self, opening: _Bracket, at: int) -> int:
        self._delimiters.resolve(opening.delimiters_before)
        self._edits.append((opening.at, at + 1, ""))
        return at + 1

    def _target(self, label: str | None, at: int) -> tuple[int, str] | None:
        """Where the link whose text ends with the `]` at `at` ends, and where it leads; None if it is none."""
        if target := _TARGET.match(self._prose, at + 1):
            return target.end(), target[1]
        end, references = at + 1, self._outline.references
        if references and (match := _LABEL.match(self._prose, at + 1)):
            end = match.end()
            label = normal_label(match[1]) if match[1] else label
        return (end, references[label]) if label is not None and label in references else None

    def _link(self, opening: _Bracket, at: int, end: int, target: str) -> None:
        self._delimiters.resolve(opening.delimiters_before)
        shown = SPACE if opening.is_image else ""
        self._edits.append((opening.at, opening.at + (2 if opening.is_image else 1), shown))
        self._edits.append((at, end, shown))
        if not opening.is_image:
            self._dead_brackets = len(self._brackets)
            self._found(opening.at + 1, at, target)

    def _found(self, start: int, end: int, target: str) -> None:
        if start < end:
            bare = target[1:-1] if target[:1] == "<" else target
            self.links.append(FoundLink(self._original(start), self._original(end - 1) + 1, bare))


_READERS: dict[str, Callable[[_Inline, int], int]] = {
    "\\": _Inline._escape,
    "`": _Inline._code,
    "*": _Inline._delimiter,
    "_": _Inline._delimiter,
    "~": _Inline._delimiter,
    "[": _Inline._open_bracket,
    "![": _Inline._open_bracket,
    "]": _Inline._close_bracket,
    "<": _Inline._angle,
    "&": _Inline._entity,
    "\n": _Inline._newline,
}


def _break_of(tag: str) -> str:
    if tag == "br":
        return LINE_BREAK
    return BLOCK_BREAK if tag in BLOCKS else ""
