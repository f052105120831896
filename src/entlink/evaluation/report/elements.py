"""Parts of the page that come again: tables, plots, lists of terms, boxes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from entlink.evaluation.report.heat import heat_class, relative_class
from entlink.evaluation.report.markup import Html, as_html, joined, tag
from entlink.evaluation.report.table import Cell, Group, Score, Shade, Table, words

_LONGEST_WORD, _FEW_COLUMNS = 16, 8


def table_element(table: Table, *, heat_from: int | None = None, titled: bool = True) -> Html:
    """A table that scrolls in a box of its own; from the column `heat_from` on, shares colour their cells."""
    head = [_bands(table)] if table.bands else []
    titles = [
        tag("th", title, scope="col", class_=_kind(title, is_text=table.is_of_text(place), is_head=True))
        for place, title in enumerate(table.columns)
    ]
    bodies = [_body(group, len(table.columns), heat_from) for group in table.groups]
    caption = [tag("caption", table.title)] if titled else []
    is_shaded = any(isinstance(cell, Shade) for row in table.rows for cell in row)
    kinds = ["many"] * (len(table.columns) > _FEW_COLUMNS) + ["heat"] * (heat_from is not None)
    kinds += ["shades"] * is_shaded
    whole = tag("table", *caption, tag("thead", *head, tag("tr", *titles)), *bodies, class_=" ".join(kinds) or None)
    return tag("div", whole, class_="scroll", role="region", tabindex=0, aria_label=table.title)


def _bands(table: Table) -> Html:
    cells = (
        tag("th", title, colspan=width, scope="colgroup") if title else tag("td", colspan=width)
        for title, width in table.bands
    )
    return tag("tr", *cells, class_="bands")


def _body(group: Group, width: int, heat_from: int | None) -> Html:
    rows = [tag("tr", tag("th", group.title, colspan=width, scope="rowgroup"), class_="group")] if group.title else []
    for name, *cells in group.rows:
        shown = (
            _cell(cell, heated=heat_from is not None and place >= heat_from) for place, cell in enumerate(cells, 1)
        )
        rows.append(tag("tr", tag("th", words(name)[0], scope="row"), *shown))
    return tag("tbody", *rows)


def _cell(cell: Cell, *, heated: bool) -> Html:
    text, small = words(cell)
    children = [as_html(text)]
    if isinstance(cell, Score) and cell.mark == "best":
        children = [tag("b", text)]
    elif isinstance(cell, Score) and cell.mark == "near":
        children.append(tag("abbr", "≈", title="its interval overlaps that of the best"))
    if small:
        children.append(tag("small", small))
    if isinstance(cell, Shade):
        return tag("td", *children, class_=relative_class(cell.against))
    if heated and isinstance(cell, float):
        return tag("td", *children, class_=heat_class(cell))
    return tag("td", *children, class_=_kind(text, is_text=isinstance(cell, str)))


def _kind(text: str, *, is_text: bool, is_head: bool = False) -> str | None:
    """Words stand at the left. One too long for a column may be broken anywhere; a long heading gets room for two."""
    is_long = any(len(word) > _LONGEST_WORD for word in text.split())
    is_wide = is_head and not is_long and len(text) > _LONGEST_WORD
    return " ".join(["text"] * is_text + ["long"] * is_long + ["wide"] * is_wide) or None


def figure(title: str, plot: Html) -> Html:
    """A plot with its title."""
    return tag("figure", tag("figcaption", title), plot)


def figures(*parts: Html) -> Html:
    """Plots side by side where there is room."""
    return tag("div", *parts, class_="figures")


def legend(names: Mapping[str, int]) -> Html:
    """Which colour, by its number from 0, is what."""
    boxes = (tag("li", tag("i", class_=f"c{colour + 1}"), name) for name, colour in names.items())
    return tag("ul", *boxes, class_="legend")


def terms(pairs: Mapping[str, str]) -> Html:
    """Words with what they mean, or facts with their values."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", text)) for name, text in pairs.items()))


def warning(title: str, lines: Iterable[str]) -> Html:
    """A box that cannot be overlooked; nothing where there is nothing to tell."""
    told = list(lines)
    if not told:
        return Html("")
    shown = tag("ul", *(tag("li", line) for line in told)) if len(told) > 1 else tag("p", told[0])
    return tag("aside", tag("strong", title), shown, class_="warning", role="note")


def folded(summary: str, *parts: str, kind: str | None = None) -> Html:
    """What is shown at a click."""
    return tag("details", tag("summary", summary), *parts, class_=kind)


def note(*parts: str) -> Html:
    """A paragraph that explains."""
    return tag("p", joined(parts), class_="note")
