"""A linked document as people read it in a terminal: the text with its links marked, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from entlink.documents import Span
from entlink_cli.output import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from entlink.documents import Document, Link

_COLOURS = ("cyan", "green", "magenta", "yellow", "blue")
_NIL = "red"


def show(document: Document, console: Console | None = None) -> None:
    """Print the view of a document."""
    console = console or Console(highlight=False)
    styles = _styles(document.links)
    console.rule(Text(printable(document.id)))
    for line in _body(document, styles):
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


def _body(document: Document, styles: dict[str | None, str]) -> Iterable[Text]:
    text = Text(printable(document.text))
    for link in document.links:
        text.stylize(styles[link.entity], link.mention.span.start, link.mention.span.end)
    if not document.turns:
        yield _part(text, Span(0, len(document.text.rstrip())))
        return
    for turn, span in zip(document.turns, document.turn_spans, strict=True):
        speaker = f"{printable(turn.speaker)}: " if turn.speaker else "- "
        yield Text.assemble((speaker, "bold"), _part(text, span))


def _part(text: Text, span: Span) -> Text:
    part = text[span.start : span.end] if span.start < span.end else Text()
    assert isinstance(part, Text)
    return part


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
    return f"{link.title or link.entity} ({link.entity}) {link.score:.2f}"
