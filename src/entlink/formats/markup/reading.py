"""Text as people write it, plain, Markdown or HTML, read as a reader sees it with offsets kept."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal

from entlink.errors import InputError
from entlink.formats.markup.aligned import Aligned
from entlink.formats.markup.html import read_html
from entlink.formats.markup.markdown import read_markdown

Markup = Literal["plain", "markdown", "html"]

__all__ = ["Aligned", "Markup", "guess_markup", "read_markup"]

_BY_SUFFIX: dict[str, Markup] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
}


def read_markup(text: str, markup: Markup) -> Aligned:
    """What a reader sees of `text`, with where each of its characters stands in it."""
    if markup == "markdown":
        return read_markdown(text)
    if markup == "html":
        return read_html(text)
    if markup == "plain":
        return Aligned(text)
    raise InputError(f"there is no markup {markup!r}. Choose plain, markdown or html.")


def guess_markup(name: str) -> Markup:
    """The markup a file of this name holds, by its suffix; plain when it tells nothing."""
    return _BY_SUFFIX.get(PurePath(name).suffix.lower(), "plain")
