"""What a part of a history says, as rows: links, pages as of each snapshot, redirects, texts.

A link is written once for a revision, whatever snapshots show it; SQL joins it to the snapshots by `p` and `r`, the
numbers of its part and of the page in it.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec

from entlink.datasets.temporal.tokens import Tokens
from entlink.engine.protocol import Columns
from entlink.io.record_files import read_batches
from entlink.kb.names.index_rows import JsonLines
from entlink.sources.mediawiki.history import DATED, DatedItem
from entlink.sources.page import BETWEEN_PARAGRAPHS, Page, Redirect
from entlink.text.titles import tidy

LINKS, PAGES, REDIRECTS, TEXTS = "links.jsonl", "pages.jsonl", "redirects.jsonl", "texts.jsonl"
RUNNING = ("text", "item")  # the kinds of paragraphs whose links can become mentions of the dataset
COLUMNS: dict[str, Columns] = {
    LINKS: {
        **dict.fromkeys(("p", "r", "o", "v", "c", "a", "b"), "BIGINT"),
        **dict.fromkeys(("f", "t"), "STRING"),
    },
    PAGES: {
        **dict.fromkeys(("p", "r", "s", "e", "n"), "BIGINT"),
        **dict.fromkeys(("t", "created", "revised"), "STRING"),
    },
    REDIRECTS: {"s": "BIGINT", "source": "STRING", "target": "STRING"},
    TEXTS: {"p": "BIGINT", "r": "BIGINT", "x": "STRING"},
}


class _Link(msgspec.Struct):
    """Link `o` of a page: at `[a, b)` of its text: `f` names title `t` the `v`-th time; `c` is 1 in running text."""

    p: int
    r: int
    o: int
    v: int
    c: int
    a: int
    b: int
    f: str
    t: str


class _Page(msgspec.Struct):
    """Page `e` as of snapshot `s`, with `n` tokens."""

    p: int
    r: int
    s: int
    e: int
    n: int
    t: str
    created: str
    revised: str


class _Redirect(msgspec.Struct):
    s: int
    source: str
    target: str


class TextRow(msgspec.Struct):
    """All that page `r` of part `p` says."""

    p: int
    r: int
    x: str


def stage(part: Path, number: int, tokenizer: str | None, path: Path) -> None:
    """Write the rows of a part of a history into a folder."""
    path.mkdir(exist_ok=True)
    tokens = Tokens(tokenizer)
    with ExitStack() as stack:
        files = {name: stack.enter_context(closing(JsonLines(path / name))) for name in COLUMNS}
        record = 0
        for batch in read_batches(part / DATED, DatedItem):
            for dated in batch:
                record += 1
                if isinstance(dated.item, Redirect):
                    for snapshot in dated.snapshots:
                        files[REDIRECTS].add(_Redirect(snapshot, dated.item.title, dated.item.target))
                elif isinstance(dated.item, Page):
                    _stage_page(files, number, record, dated.snapshots, dated.item, tokens)


def _stage_page(
    files: dict[str, JsonLines], part: int, record: int, snapshots: list[int], page: Page, tokens: Tokens
) -> None:
    entity = page.entity
    text, links = _whole(part, record, page)
    size = tokens.count(text)
    files[TEXTS].add(TextRow(part, record, text))
    for snapshot in snapshots:
        id, created, revised = int(entity.external["page"]), entity.created or "", entity.revised or ""
        files[PAGES].add(_Page(part, record, snapshot, id, size, entity.title, created, revised))
    for link in links:
        files[LINKS].add(link)


def _whole(part: int, record: int, page: Page) -> tuple[str, list[_Link]]:
    """All that a page says, and its links with their places in that."""
    texts: list[str] = []
    links: list[_Link] = []
    seen: Counter[tuple[str, str]] = Counter()
    at = 0
    for paragraph in page.paragraphs:
        if not paragraph.text.strip():
            continue
        for anchor in paragraph.links:
            surface = tidy(paragraph.text[anchor.start : anchor.end])
            if not surface:
                continue
            seen[surface, anchor.target] += 1
            is_running = int(paragraph.kind in RUNNING)
            place = (at + anchor.start, at + anchor.end)
            times = seen[surface, anchor.target]
            links.append(_Link(part, record, len(links), times, is_running, *place, surface, anchor.target))
        texts.append(paragraph.text)
        at += len(paragraph.text) + len(BETWEEN_PARAGRAPHS)
    return BETWEEN_PARAGRAPHS.join(texts), links
