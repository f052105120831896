"""A page as a dump holds it: its latest text and what its revisions tell, the wikitext not looked into."""

from __future__ import annotations

from entlink.documents import Leaf

WIKITEXT = "wikitext"


class Move(Leaf, frozen=True):
    """A page got another title: when, and both titles as the comment of the revision gives them."""

    time: str
    source: str
    target: str


class RawPage(Leaf, frozen=True):
    """One page of a dump, in the state of its latest revision, or of one that was stable at some `snapshots`.

    `redirect` is the title it leads to, without a section. `model` tells what the text is written in.
    `position` is the byte where the page begins: of the file if it is plain, of the unpacked part of a bzip2
    file, and of the whole unpacked data of any other.

    `created` is known where the dump holds the first revision: the earliest of several, or the only one, unless it
    names a parent. That no parent is named tells something only in exports of version 0.7 or later, and in those
    that tell who contributed, so that it stays None in all others that hold one revision a page.

    `revision` and `revised` are the id and the time of the revision. `title` is always the one it has now: `moves`
    give those of other times.
    """

    title: str
    namespace: int
    id: int
    text: str
    redirect: str | None = None
    model: str = WIKITEXT
    created: str | None = None
    moves: tuple[Move, ...] = ()
    position: int = 0
    revision: str = ""
    revised: str = ""
    snapshots: tuple[int, ...] = ()


class PageFields(Leaf, frozen=True):
    """The contents of its elements as they are written, empty where one is empty or missing.

    `redirect` is the title that the element of that name gives. `text` is None where there is no text at all;
    `is_stub` says that there is one, but not in this dump.
    """

    title: str = ""
    id: str = ""
    redirect: str = ""
    revision: str = ""
    parent: str = ""
    time: str = ""
    has_contributor: bool = False
    comment: str = ""
    model: str = ""
    text: str | None = None
    is_stub: bool = False
