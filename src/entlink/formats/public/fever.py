"""Claims of FEVER: texts with a verdict and the pages that prove it, without spans."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document
from entlink.formats.json_records import first_keys, other_fields, read_json_lines
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place

# The marks that FEVER's titles have instead of punctuation.
_MARKS = {"LRB": "(", "RRB": ")", "LSB": "[", "RSB": "]", "LCB": "{", "RCB": "}", "COLON": ":"}
_MARK = re.compile(f"-({'|'.join(_MARKS)})-")

# Annotation, evidence, page and sentence: the last two are null where there is not enough information.
_Evidence = tuple[int | None, int | None, str | None, int | None]


class _Claim(msgspec.Struct):
    id: str | int
    claim: str
    label: str | None = None
    verifiable: str | None = None
    evidence: list[list[_Evidence]] = []


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a claim, with the verdict and the evidence in its meta."""
    return read_json_lines(source, _Claim, _document, on_error=on_error, on_problem=on_problem)


def looks_like(path: Path, head: bytes) -> bool:
    """Objects with a claim, and a verdict or nothing else (the test set)."""
    keys = first_keys(head)
    return {"id", "claim", "label"} <= keys or keys == {"id", "claim"}


def page_title(page: str) -> str:
    """The title of a page as Wikipedia writes it in addresses: `Soul_Food_-LRB-film-RRB-` is `Soul_Food_(film)`.

    FEVER writes accents as separate characters; titles have them composed.
    """
    return unicodedata.normalize("NFC", _MARK.sub(lambda match: _MARKS[match[1]], page))


def _document(claim: _Claim, fields: dict[str, Any], place: Place) -> Document:
    meta = {key: fields[key] for key in ("label", "verifiable") if fields.get(key) is not None}
    if evidence := [found for found in map(_pages, claim.evidence) if found]:
        meta["pages"] = list(dict.fromkeys(page for found in evidence for page, _ in found))
        meta["evidence"] = evidence
    return Document(str(claim.id), claim.claim, meta={**meta, **other_fields(fields, _Claim)})


def _pages(evidence: list[_Evidence]) -> list[list[str | int | None]]:
    """The sentences that together prove or refute the claim, as pages and numbers."""
    return [[page_title(page), sentence] for _, _, page, sentence in evidence if page is not None]
