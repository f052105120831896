"""What is read of the XML of one page."""

from __future__ import annotations

from entlink.documents import Leaf


class PageFields(Leaf, frozen=True):
    """The contents of its elements as they are written, empty where one is empty or missing.

    `redirect` is the title that the element of that name gives. `text` is None where there is no text at all;
    `is_stub` says that there is one, but not in this dump.
    """

    title: str = ""
    id: str = ""
    redirect: str = ""
    parent: str = ""
    time: str = ""
    has_contributor: bool = False
    comment: str = ""
    model: str = ""
    text: str | None = None
    is_stub: bool = False
