"""Small MediaWiki exports for tests, written as a wiki writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

NAMESPACES = {-1: "Special", 0: "", 1: "Talk", 2: "User", 6: "File", 10: "Template", 14: "Category"}


class WikiPage(NamedTuple):
    """A page; `revisions` are (time, comment, text), the text alone where one is enough."""

    title: str
    text: str = ""
    ns: int = 0
    redirect: str | None = None
    id: int | None = None
    model: str = "wikitext"
    revisions: Sequence[tuple[str, str, str]] = ()


def export(
    pages: Iterable[WikiPage], *, name: str = "testwiki", language: str = "en", case: str = "first-letter"
) -> str:
    """The whole export as a text."""
    spaces = "".join(f'<namespace key="{key}">{escape(value)}</namespace>' for key, value in NAMESPACES.items())
    body = "".join(_page(number, page) for number, page in enumerate(pages, 1))
    return (
        f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="{language}">\n'
        f"  <siteinfo><sitename>Test</sitename><dbname>{name}</dbname><case>{case}</case>"
        f"<namespaces>{spaces}</namespaces></siteinfo>\n{body}</mediawiki>\n"
    )


def _page(number: int, page: WikiPage) -> str:
    id = number if page.id is None else page.id
    redirect = f"    <redirect title={quoteattr(page.redirect)} />\n" if page.redirect is not None else ""
    text = page.text or (f"#REDIRECT [[{page.redirect}]]" if page.redirect else "")
    revisions = page.revisions or [("2020-01-01T00:00:00Z", "", text)]
    written = "".join(
        _revision(id * 100 + n, *revision, page.model, is_first=n == 0 and len(revisions) > 1)
        for n, revision in enumerate(revisions)
    )
    return (
        f"  <page>\n    <title>{escape(page.title)}</title>\n    <ns>{page.ns}</ns>\n    <id>{id}</id>\n"
        f"{redirect}{written}  </page>\n"
    )


def _revision(id: int, time: str, comment: str, text: str, model: str, *, is_first: bool) -> str:
    parent = "" if is_first else f"<parentid>{id - 1}</parentid>"
    said = f"<comment>{escape(comment)}</comment>" if comment else ""
    return (
        f"    <revision><id>{id}</id>{parent}<timestamp>{time}</timestamp>"
        f"<contributor><username>E</username><id>1</id></contributor>{said}<model>{model}</model>"
        f'<format>text/x-wiki</format><text bytes="{len(text.encode())}" xml:space="preserve">{escape(text)}</text>'
        "</revision>\n"
    )


def write_dump(path: Path, pages: Iterable[WikiPage], **site: str) -> Path:
    """Write an export to a file."""
    path.write_text(export(pages, **site), encoding="utf8")
    return path
