"""What the tests of exchange formats share: reading from bytes, writing to them, and awkward texts."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from hypothesis import strategies as st

from entlink.documents import Document
from entlink.errors import EntlinkError

AWKWARD = (
    "😀",
    "👩‍🚀",
    "e\u0301",
    "Zürich",
    "北京",
    "עברית",
    '"',
    "'",
    "\\",
    "\\u0028",
    "{",
    "}",
    "[",
    "]",
    "<b>",
    "%20",
    "#",
    "a_b",
    "-",
    "NIL",
    "Q90",
    "\u200b",
    "\ufeff",
)
# Any character that can be written as UTF-8.
characters = st.characters(exclude_categories=["Cs"])
texts = st.lists(st.sampled_from(AWKWARD) | st.text(characters, max_size=3) | st.sampled_from(" \t\n\r")).map("".join)
one_liners = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=12)


def read(module: ModuleType, content: str | bytes) -> list[Document]:
    return list(module.read(io.BytesIO(content.encode() if isinstance(content, str) else content)))


def written(module: ModuleType, documents: Iterable[Document], **options: Any) -> bytes:
    file = io.BytesIO()
    module.write(documents, file, **options)
    return file.getvalue()


def with_problems(module: ModuleType, content: str | bytes) -> tuple[list[Document], list[str]]:
    """What is read when bad records are passed over, and what is told of them."""
    problems: list[EntlinkError] = []
    content = content.encode() if isinstance(content, str) else content
    documents = list(module.read(io.BytesIO(content), on_error="skip", on_problem=problems.append))
    return documents, [str(problem) for problem in problems]


def spans_of(draw: Callable[..., Any], size: int, most: int = 4) -> list[tuple[int, int]]:
    """Some spans of a text of that size, none empty, no two the same, in the order of the text."""
    if not size:
        return []
    pairs = st.tuples(st.integers(0, size), st.integers(0, size)).map(sorted).filter(lambda pair: pair[0] < pair[1])
    return sorted(draw(st.lists(pairs.map(tuple), max_size=most, unique=True)))
