"""What a corpus of hyperlinks is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import msgspec

from entlink.datasets.selection import check_shares
from entlink.errors import InputError
from entlink.io.ledger import OnError
from entlink.sources import WikiOptions
from entlink.sources.page import Kind

KINDS: tuple[Kind, ...] = get_args(Kind)


class HyperlinkOptions(msgspec.Struct, frozen=True):
    """How to read the sources, and which of their paragraphs become documents.

    - `kinds`: of paragraphs: running text, items of lists, cells of tables, captions of pictures
    - `nil`: keep links to nothing in the knowledge base as NIL, where they would be left out
    - `min_links`: leave out documents that have fewer gold links
    - `limit`: the first so many documents; `sample`: so many by the hash of `seed` and the document's id
    - `split`: names with shares that add up to 1: a file each, pages by the hash of `seed` and the page's id
    """

    format: str | None = None
    columns: Mapping[str, str] = {}
    language: str | None = None
    on_error: OnError = "stop"
    wiki: WikiOptions = WikiOptions()
    kinds: tuple[Kind, ...] = ("text", "item")
    nil: bool = False
    min_links: int = 1
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    split: Mapping[str, float] = {}
    processes: int | None = None


def check_options(options: HyperlinkOptions, *, has_kb: bool) -> None:
    """Raises InputError where options do not fit each other or mean nothing."""
    unknown = [kind for kind in options.kinds if kind not in KINDS]
    if unknown or not options.kinds:
        wrong = f"there is no kind of paragraph {unknown[0]!r}" if unknown else "no kind of paragraph is given"
        raise InputError(f"{wrong}: choose among {', '.join(KINDS)}")
    if options.nil and not has_kb:
        raise InputError("NIL is what a knowledge base does not have: nil needs one (--kb)")
    if options.limit is not None and options.sample is not None:
        raise InputError("limit and sample do not go together: a sample is drawn from all documents")
    for name in ("min_links", "limit", "sample", "processes"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}: it must be a whole number from 1 on")
    check_shares(options.split)
