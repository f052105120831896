"""What a part of a source says, as rows for SQL: its pages with their descriptions, links in sentences, redirects."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec

from entlink.datasets.hyperlinks.documents import apart
from entlink.datasets.temporal.tokens import Tokens
from entlink.engine.protocol import Columns
from entlink.io.ledger import Ledger, OnError
from entlink.kb.build.source_parts import Omissions
from entlink.kb.names.index_rows import JsonLines
from entlink.sources import Page
from entlink.sources.page import Kind, Paragraph, Redirect
from entlink.sources.part import Part
from entlink.text.sentences import sentences

LINKS, PAGES, REDIRECTS, CARD = "links.jsonl", "pages.jsonl", "redirects.jsonl", "card.json"
COLUMNS: dict[str, Columns] = {
    LINKS: {**dict.fromkeys(("p", "o", "a", "b"), "BIGINT"), **dict.fromkeys(("i", "s", "t"), "STRING")},
    PAGES: dict.fromkeys(("k", "i", "n", "d"), "STRING"),
    REDIRECTS: {"source": "STRING", "target": "STRING"},
}


class _Link(msgspec.Struct):
    """Link `o` of part `p`: characters `[a, b)` of the sentence `s` of page `i` lead to the page `t`."""

    p: int
    o: int
    i: str
    s: str
    a: int
    b: int
    t: str


class _Page(msgspec.Struct):
    """A page: what links call it (`k`), its id, its title, and its description."""

    k: str
    i: str
    n: str
    d: str


class ReadCounts(msgspec.Struct):
    """What was read: pages, the sentences of the wanted paragraphs, those with links, and the links in them."""

    pages: int = 0
    sentences: int = 0
    with_links: int = 0
    links: int = 0
    too_long: int = 0

    def add(self, other: ReadCounts) -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class PartCard(Omissions, kw_only=True):
    """What a part held, and what was left out."""

    read: ReadCounts


class PartPlan(msgspec.Struct, frozen=True):
    """How the parts of one source are read; `is_wiki` says that its links name titles."""

    kinds: tuple[Kind, ...]
    description_tokens: int
    max_tokens: int
    on_error: OnError
    is_wiki: bool


def stage(part: Part, number: int, plan: PartPlan, path: Path) -> None:
    """Read a part and write its folder."""
    shutil.rmtree(path, ignore_errors=True)  # a killed run may have left half of it
    path.mkdir()
    ledger, tokens, read = Ledger(plan.on_error), Tokens(), ReadCounts()
    with ExitStack() as stack:
        files = {name: stack.enter_context(closing(JsonLines(path / name))) for name in COLUMNS}
        for item in part.items(ledger):
            if isinstance(item, Redirect):
                files[REDIRECTS].add({"source": item.title, "target": item.target})
            elif isinstance(item, Page) and item.valid_to is None:  # only the present version
                files[PAGES].add(_page(item, plan, tokens))
                read.pages += 1
                for id, sentence, start, end, target in _links(item, plan, tokens, read):
                    files[LINKS].add(_Link(number, read.links, id, sentence, start, end, target))
                    read.links += 1
    card = PartCard(read=read)
    card.add(ledger)
    (path / CARD).write_bytes(msgspec.json.encode(card))


def read_card(folder: Path) -> PartCard:
    return msgspec.json.decode((folder / CARD).read_bytes(), type=PartCard)


def _page(page: Page, plan: PartPlan, tokens: Tokens) -> _Page:
    running = " ".join(one.text for one in page.paragraphs if one.kind == "text" and one.text.strip())
    text = " ".join((running or page.entity.description).split())
    key = page.entity.title if plan.is_wiki else page.entity.id
    return _Page(key, page.entity.id, page.entity.title, tokens.after(text, 0, plan.description_tokens))


def _links(page: Page, plan: PartPlan, tokens: Tokens, read: ReadCounts) -> Iterator[tuple[str, str, int, int, str]]:
    for paragraph in page.paragraphs:
        if paragraph.kind in plan.kinds:
            for sentence, start, end, target in _of_paragraph(paragraph, plan, tokens, read):
                yield page.entity.id, sentence, start, end, target


def _of_paragraph(
    paragraph: Paragraph, plan: PartPlan, tokens: Tokens, read: ReadCounts
) -> Iterator[tuple[str, int, int, str]]:
    """A row for each link: the sentence it is in, its place there, and its target."""
    anchors = apart(paragraph.links, len(paragraph.text))
    for start, end in sentences(paragraph.text, [(one.start, one.end) for one in anchors]):
        read.sentences += 1
        own = [one for one in anchors if start <= one.start and one.end <= end]
        read.with_links += bool(own)
        sentence = paragraph.text[start:end]
        if own and plan.max_tokens and tokens.count(sentence) > plan.max_tokens:
            read.too_long += 1
            continue
        for one in own:
            yield sentence, one.start - start, one.end - start, one.target
