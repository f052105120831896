"""What a WikiEnt set was made from and what is in it: its card, and its datasheet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from entlink.datasets.wikient.options import WikiEntOptions
from entlink.datasets.wikient.staging import ReadCounts


class SourceFile(msgspec.Struct):
    """A file or folder that was read."""

    name: str
    format: str
    bytes: int
    sha256: str


class FileCard(msgspec.Struct):
    """One file of the set."""

    name: str
    bytes: int
    sha256: str


class WikiEntReport(msgspec.Struct):
    """The record a WikiEnt set leaves beside itself.

    `resolved` links lead to a page that was read, `contexts` are those of them whose page has a text, and `entities`
    are these pages.
    """

    entlink: str
    built: str
    command: str
    options: dict[str, Any]
    sources: list[SourceFile]
    read: ReadCounts
    resolved: int
    contexts: int
    entities: int
    files: list[FileCard]
    skipped: int = 0
    problems: list[str] = []


def told_options(options: WikiEntOptions) -> dict[str, Any]:
    """The options that the result depends on, as they are written."""
    told = msgspec.structs.asdict(options)
    for machine in ("processes", "memory"):
        del told[machine]
    # A record leaves out what is as by default when it is written, and the next release may have other defaults.
    wiki = msgspec.structs.asdict(options.wiki)
    written: dict[str, Any] = msgspec.json.decode(msgspec.json.encode({**told, "wiki": wiki}))
    return written


def datasheet(report: WikiEntReport) -> str:
    """The datasheet as Markdown. It has no time and no place in it: the same set has the same one."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: WikiEntReport) -> Iterator[str]:
    read, words = report.read, report.options["description_tokens"]
    yield from ("# Datasheet: hyperlink contexts with descriptions (WikiEnt)", "", "## Purpose", "")
    yield (
        "Sentences in which an author linked words to a page, each with the first words of that page. It trains "
        "encoders of entities, such as EntELMo, to tell an entity from its context and from its description."
    )
    yield from (
        "",
        f"Made by entlink {report.entlink}; `card.json` beside this file has the command and all options.",
    )
    yield from ("", "## Composition", "", "| file | a line is | lines |", "|---|---|---|")
    yield f"| `contexts.jsonl` | a sentence, the span of one link in it, the entity, the page | {report.contexts:,} |"
    yield f"| `descriptions.jsonl` | an entity, its title, its page's first {words:,} words | {report.entities:,} |"
    yield from ("", "## Collection", "", "| source | format | bytes | SHA-256 |", "|---|---|---|---|")
    for source in report.sources:
        yield f"| {source.name} | {source.format} | {source.bytes:,} | `{source.sha256[:16]}…` |"
    yield from ("", "## Making", "")
    yield f"1. {read.pages:,} pages were read, with {read.sentences:,} sentences in the wanted paragraphs."
    yield f"2. Sentences without links were left out: {read.with_links:,} remained, with {read.links:,} links."
    yield "3. A sentence with several links is there once for each."
    yield f"4. Links to no page that was read were left out: {report.resolved:,} remained. Redirects were followed."
    yield f"5. Links to a page without a text were left out: {report.contexts:,} remained."
    if read.too_long:
        yield f"6. {read.too_long:,} sentences were longer than {report.options['max_tokens']:,} words and left out."
    yield from ("", "## Limits", "")
    yield (
        "- An author links a name once, and mostly where a reader may not know it: what is unlinked may name an "
        "entity, too."
    )
    yield "- Where sentences end is told by signs and abbreviations. Errors cut a context short or join two."
    yield "- Rights in the texts are those of the sources."
