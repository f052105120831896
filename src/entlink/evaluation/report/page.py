"""The page: one file with its style and plots, that asks nothing of a network and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from entlink.evaluation.report.content import Report
from entlink.evaluation.report.facts import facts
from entlink.evaluation.report.heat import heat_style, relative_style
from entlink.evaluation.report.markup import Html, joined, tag
from entlink.evaluation.report.sections import Section, sections, warnings_of
from entlink.version import __version__

GENERATOR = "entlink report"


def page(report: Report, beside: list[str]) -> str:
    """The whole page; `beside` names the files that stand beside it."""
    parts = [Section("measured", "What was measured", facts(report.runs, report.command)), *sections(report)]
    return page_of(report.title, _subtitle(report), parts, beside, warnings=warnings_of(report))


def page_of(title: str, subtitle: str, parts: Sequence[Section], beside: Sequence[str], *, warnings: str = "") -> str:
    """A page of these sections; `beside` names the files that stand beside it."""
    body = (
        tag("header", tag("h1", title), tag("p", subtitle, class_="note")),
        warnings,
        tag("nav", tag("ol", *map(_entry, parts)), aria_label="contents"),
        tag("main", *map(_section, parts)),
        tag("footer", tag("p", f"Beside this page: {', '.join(beside)}.")),
    )
    return f"<!doctype html>\n{tag('html', _head(title), tag('body', *body), lang='en')}\n"


def _head(title: str) -> Html:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="generator", content=f"{GENERATOR} {__version__}"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(_style())),
    )


def _style() -> str:
    sheet = files("entlink.evaluation.report").joinpath("style.css").read_text(encoding="utf8")
    return f"\n{sheet}{heat_style()}{relative_style()}\n"


def _subtitle(report: Report) -> str:
    many = len(report.runs) != 1
    return f"An entity linking report on {len(report.runs):,} run{'s' if many else ''}, by entlink {__version__}"


def _entry(section: Section) -> Html:
    return tag("li", tag("a", section.title, href=f"#{section.anchor}"))


def _section(section: Section) -> Html:
    return joined(("\n", tag("section", tag("h2", section.title), section.body, id=section.anchor)))
