"""TempEL's JSON lines: a mention of a wiki's page as of a date, with the page that it is linked to.

| of a row | becomes |
|---|---|
| `context_left`, `mention`, `context_right` | the text, with a space where two words would run together |
| `target_title` | the gold entity and its `meta["title"]`, `_` as a space; beside it `page` and `wikidata` |
| `overlap_type` | the gold's `meta["category"]`, as in ZESHEL |
| `snapshot` | the document's date |
| the text of the target, word pieces | nothing |
| any other key | the document's `meta` |
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document, GoldLink, Mention, Span
from entlink.formats.json_records import first_keys, read_json_lines
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place
from entlink.text.titles import spaced

_PIECES = "_bert_tokenized"
_OWN = {"target_page_id", "target_qid", "target_len", "anchor_len", "ed_men_title", "men_prior", "nr_inlinks"}
_MOST_TOLD = 3  # keys of a row that no other format has


class _Row(msgspec.Struct):
    context_left: str
    mention: str
    context_right: str
    target_title: str
    target_page_id: int | str
    snapshot: str | None = None
    target_qid: str | int | None = None
    target: str | None = None
    overlap_type: str | None = None


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a row; its id is the page it is linked to and the number of the line."""
    return read_json_lines(source, _Row, _document, on_error=on_error, on_problem=on_problem)


def looks_like(path: Path, head: bytes) -> bool:
    """Rows with the attributes of TempEL; a long text of a target may hide some of them."""
    return len(first_keys(head) & _OWN) >= _MOST_TOLD or {"target_page_id", "target_qid"} <= first_keys(head)


def _document(row: _Row, fields: dict[str, Any], place: Place) -> Document:
    if not row.mention:
        raise place.error("field mention is empty", "Leave the row out")
    if not row.target_title.strip():
        raise place.error("field target_title is empty", "It must name the page that is meant")
    left = row.context_left + (" " if _runs_on(row.context_left, row.mention) else "")
    right = (" " if _runs_on(row.mention, row.context_right) else "") + row.context_right
    span = Span(len(left), len(left) + len(row.mention))
    title = spaced(row.target_title.strip())
    known = {"title": title, "page": str(row.target_page_id), "category": row.overlap_type}
    known |= {"wikidata": None if row.target_qid is None else str(row.target_qid)}
    gold = GoldLink(span, (title,), meta={key: value for key, value in known.items() if value is not None})
    return Document(
        f"{row.target_page_id}:{place.line}",
        left + row.mention + right,
        date=row.snapshot,
        mentions=(Mention(span, row.mention),),
        gold=(gold,),
        meta={key: value for key, value in fields.items() if _is_meta(key)},
    )


def _runs_on(before: str, after: str) -> bool:
    """Whether two words would become one: the published rows were stripped, ours have their white space."""
    return bool(before) and bool(after) and before[-1].isalnum() and after[0].isalnum()


def _is_meta(key: str) -> bool:
    return key not in _Row.__struct_fields__ and not key.endswith(_PIECES)
