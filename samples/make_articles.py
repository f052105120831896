"""Turn the page files of the sample wiki into `articles` JSON Lines: one row a page version.

python samples/make_articles.py samples/wiki -o OUT.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from page_files import WikiPage, fail, read_folder
from page_links import LinkTargets, parse_links

from entlink.errors import SourceError


def index_pages(pages: Iterable[WikiPage]) -> LinkTargets:
    """First pass: every title and id a link may name, and the checks that need the whole wiki."""
    targets = LinkTargets()
    periods: dict[str, list[tuple[str, str]]] = {}
    for page in pages:
        targets.add(page)
        seen = periods.setdefault(page.id, [])
        if any(_overlap(page.period, other) for other in seen):
            fail(
                page.file,
                page.line,
                f"a second page with id {page.id!r} for the same time",
                "Give each version of a page a 'version: FROM .. TO' line; periods must not overlap.",
            )
        seen.append(page.period)
    return targets


def _overlap(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def article(page: WikiPage, targets: LinkTargets) -> dict[str, Any]:
    """One row of the `articles` shape; absent fields are left out, offsets are in characters."""
    row: dict[str, Any] = {
        "id": page.id,
        "title": page.title,
        "aliases": list(page.aliases),
        "subjects": list(page.types),
        "image": page.image,
        "language": page.language,
        "external": dict(page.external),
        "valid_from": page.valid_from,
        "valid_to": page.valid_to,
    }
    row = {key: value for key, value in row.items() if value is not None}
    row["paragraphs"] = [_paragraph(page, line, text, targets) for line, text in page.paragraphs]
    return row


def _paragraph(page: WikiPage, line: int, text: str, targets: LinkTargets) -> dict[str, Any]:
    plain, links = parse_links(text, page.file, line)
    resolved = [[link.start, link.end, targets.resolve(link.target, page.file, line)] for link in links]
    return {"text": plain, "links": resolved}


def articles(folder: Path) -> Iterator[dict[str, Any]]:
    """The rows of all page files of a folder, in the order of the files' names.

    The files are read twice, so that a link may point to a page that comes later.
    """
    targets = index_pages(read_folder(folder))
    for page in read_folder(folder):
        yield article(page, targets)


def write_articles(folder: Path, output: Path) -> int:
    """Write the rows to `output` and return how many; after an error, what was there before remains."""
    partial = output.with_name(output.name + ".partial")
    count = 0
    try:
        with partial.open("w", encoding="utf-8") as file:
            for row in articles(folder):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)
    return count


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Turn wiki page files into articles JSON Lines.")
    parser.add_argument("folder", type=Path, help="folder of *.wiki files")
    parser.add_argument("-o", "--output", type=Path, required=True, help="JSON Lines file to write")
    options = parser.parse_args(arguments)
    try:
        count = write_articles(options.folder, options.output)
    except SourceError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{count} pages written to {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
