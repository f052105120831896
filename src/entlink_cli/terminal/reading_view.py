"""A linked document as people read it in a terminal: the text with its links marked, and what they mean."""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from entlink.documents import Span
from entlink_cli.terminal.output import named, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from entlink.documents import Document, Link

_COLOURS = ("cyan", "green", "magenta", "yellow", "blue")
_NIL = "red"
_SURELY_A_NAME = 0.5  # from this mention score on, the score of the link alone is shown


def show(document: Document, console: Console | None = None, *, heading: bool = True) -> None:
    """Print the view of a document, below its id unless `heading` is False."""
    console = console or Console(highlight=False)
    styles = _styles(document.links)
    if heading:
        console.rule(Text(printable(document.id)))
    for line in _body(document, styles, brackets=console.color_system is None or console.no_color):
        console.print(line, soft_wrap=True)
    if document.links:
        console.print()
    for line in _legend(document.links, styles):
        console.print(line, soft_wrap=True)


def _styles(links: Iterable[Link]) -> dict[str | None, str]:
    """A colour for each entity, so that the same thing looks the same wherever it stands."""
    styles: dict[str | None, str] = {None: f"{_NIL} underline"}
    for link in links:
        if link.entity not in styles:
            styles[link.entity] = f"bold {_COLOURS[(len(styles) - 1) % len(_COLOURS)]}"
    return styles


def _body(document: Document, styles: dict[str | None, str], *, brackets: bool) -> Iterable[Text]:
    text = printable(document.text)
    marks = [
        (link.mention.span, styles[link.entity])
        for link in sorted(document.links, key=lambda link: link.mention.span.start)
    ]
    if not document.turns:
        yield _part(text, Span(0, len(document.text.rstrip())), marks, brackets=brackets)
        return
    for turn, span in zip(document.turns, document.turn_spans, strict=True):
        speaker = f"{printable(turn.speaker)}: " if turn.speaker else "- "
        yield Text.assemble((speaker, "bold"), _part(text, span, marks, brackets=brackets))


def _part(text: str, part: Span, marks: list[tuple[Span, str]], *, brackets: bool) -> Text:
    """A piece of the text with its links in colour, or where there is none in brackets."""
    shown, at = Text(), part.start
    first = bisect_left(marks, part.start, key=lambda mark: mark[0].start)
    for span, style in takewhile(lambda mark: mark[0].start < part.end, islice(marks, first, None)):
        start, end = max(span.start, at), min(span.end, part.end)
        if start < end:
            surface = f"[{text[start:end]}]" if brackets else text[start:end]
            shown.append(text[at:start]).append(surface, style)
            at = end
    return shown.append(text[at : part.end])


def _legend(links: Iterable[Link], styles: dict[str | None, str]) -> Iterable[Text]:
    """Each surface with what it means, once."""
    seen = set()
    for link in links:
        key = (link.mention.text, link.entity)
        if key not in seen:
            seen.add(key)
            yield Text.assemble(
                "  ", (printable(link.mention.text), styles[link.entity]), " → ", printable(_meaning(link))
            )


def _meaning(link: Link) -> str:
    if link.entity is None:
        return f"NIL, {link.nil_type}" if link.nil_type else "NIL"
    as_name = link.mention.score
    doubt = f", as a name {as_name:.2f}" if as_name is not None and as_name < _SURELY_A_NAME else ""
    return f"{named(link.title or link.entity, link.entity)} {link.score:.2f}{doubt}"
