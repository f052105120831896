"""Reads HTML as a browser shows it: the text of its elements, broken where its blocks are.

A scanner of its own, because the standard library's parser raises on some broken input, shows tags as
text after a stray `&#`, and takes quadratic time on unclosed tags and comments.
"""

from __future__ import annotations

import re

from entlink.formats.markup.aligned import BLANKS, BLOCK_BREAK, LINE_BREAK, Aligned, Flow
from entlink.formats.markup.character_references import reference_at

_BLOCK_NAMES = (
    "address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol "
    "optgroup option p pre search section select summary table tbody td textarea tfoot th thead title tr "
    "ul"
)
BLOCKS = frozenset(_BLOCK_NAMES.split())

# Their content is not markup, and no reader sees it.
_RAW = frozenset(("script", "style", "title", "noscript", "iframe", "noembed", "noframes", "xmp"))
_RAW_END = {name: re.compile(rf"</{name}(?=[{BLANKS}/>])", re.IGNORECASE) for name in _RAW}
_PREFORMATTED = frozenset(("pre", "textarea"))

_MARKUP = re.compile(r"<(?=[a-zA-Z/!?])|&(?=[a-zA-Z#])")
_TAG = re.compile(
    rf"""<(/?)([a-zA-Z][^{BLANKS}/>]*+)             # the name
         ((?:[^>=]++                               # names of attributes, and values without quotes
            |=[{BLANKS}]*+(?:"[^"]*+"|'[^']*+'|(?!["']))
          )*+)>""",
    re.VERBOSE,
)
_TAG_START = re.compile(r"</?[a-zA-Z]")
_CLOSED_AT_ONCE = re.compile(rf"(?:\A|[{BLANKS}\"'])/\Z")
_COMMENT_END = re.compile(r"--!?>")


def read_html(text: str) -> Aligned:
    """What a browser shows of `text`, with offsets into it. Broken HTML is read as browsers do."""
    flow = Flow(text)
    scan_html(text, 0, len(text), flow)
    return flow.finish()


def scan_html(text: str, start: int, end: int, flow: Flow) -> None:
    """Adds what a browser shows of the HTML in `[start, end)` to `flow`."""
    _Scanner(text, end, flow).scan(start)


class _Scanner:
    """One pass over a piece of HTML; what is not closed lasts to the end of the piece."""

    def __init__(self, text: str, end: int, flow: Flow) -> None:
        self._text, self._end, self._flow = text, end, flow
        self._preformatted = 0
        self._templates = 0

    def scan(self, at: int) -> None:
        while at < self._end:
            match = _MARKUP.search(self._text, at, self._end)
            stop = match.start() if match else self._end
            self._show(at, stop)
            if match is None:
                return
            at = self._markup(stop) if match.group() == "<" else self._reference(stop)

    def _show(self, start: int, end: int) -> None:
        if start == end or self._templates:
            return
        if self._preformatted:
            self._flow.copy(start, end)
        else:
            self._flow.words(start, end)

    def _reference(self, at: int) -> int:
        reference = reference_at(self._text, at, self._end, semicolon=False)
        if reference is None:
            self._show(at, at + 1)
            return at + 1
        if not self._templates:
            self._flow.stand(reference.visible, at, reference.end)
        return reference.end

    def _markup(self, at: int) -> int:
        """Reads the tag, comment or plain sign that starts with the `<` at `at`; returns where it ends."""
        text = self._text
        if match := _TAG.match(text, at, self._end):
            return self._tag(match)
        if _TAG_START.match(text, at, self._end):
            return self._end
        if text.startswith("<!--", at, self._end):
            return self._comment_end(at)
        if text.startswith(("<!", "<?", "</"), at, self._end) and at + 2 < self._end:
            return self._after(text.find(">", at + 2, self._end), 1)
        self._show(at, at + 1)
        return at + 1

    def _comment_end(self, at: int) -> int:
        for empty in ("<!-->", "<!--->"):
            if self._text.startswith(empty, at, self._end):
                return at + len(empty)
        match = _COMMENT_END.search(self._text, at + 4, self._end)
        return match.end() if match else self._end

    def _after(self, found: int, length: int) -> int:
        return self._end if found < 0 else found + length

    def _tag(self, match: re.Match[str]) -> int:
        name = match[2].lower()
        closing = bool(match[1])
        self._break(name, match.start(), match.end())
        if name == "template":
            self._templates = max(0, self._templates + (-1 if closing else 1))
        elif name in _PREFORMATTED:
            self._preformatted = max(0, self._preformatted + (-1 if closing else 1))
        elif name in _RAW and not closing and not _CLOSED_AT_ONCE.search(match[3]):
            return self._raw_end(name, match.end())
        return match.end()

    def _break(self, name: str, start: int, end: int) -> None:
        if self._templates:
            return
        if name == "br":
            self._flow.gap(LINE_BREAK, start, end)
        elif name in BLOCKS:
            self._flow.gap(BLOCK_BREAK, start, end)

    def _raw_end(self, name: str, at: int) -> int:
        match = _RAW_END[name].search(self._text, at, self._end)
        return match.start() if match else self._end
