"""What a set of captions is made of: every bound of its making, with those of the published set as default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from entlink.datasets.selection import check_shares
from entlink.errors import InputError
from entlink.io.ledger import OnError
from entlink.sources import WikiOptions

Keep = Literal["keep", "drop"]
TypeList = Literal["annotation", "guidelines"]
Rows = tuple[tuple[str, str], ...]
SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}


class CaptionOptions(msgspec.Struct, frozen=True):
    """How sources become captions with gold.

    - `profanity`: words and phrases that take a caption out
    - `types`, `topics`: rows of a name and a type; the first row that fits counts, before the rows of entlink
    - `near_copies`: the cosine above which two pictures are taken for one; None does not compare pictures
    - `split`: names with shares that add up to 1: a file each, pages by the hash of `seed` and the page's id
    """

    format: str | None = None
    language: str | None = None
    on_error: OnError = "stop"
    wiki: WikiOptions = WikiOptions()
    min_words: Annotated[int, Meta(ge=0, description="words of a caption")] = 3
    min_mentions: Annotated[int, Meta(ge=1, description="mentions of a caption")] = 1
    nil: Annotated[
        Keep, Meta(description="links to nothing in the knowledge base: keep them as NIL (default), or drop them")
    ] = "keep"
    profanity: tuple[str, ...] = ()
    missing: Annotated[
        Keep, Meta(description="captions whose picture is not in --pictures: keep them (default), or drop them")
    ] = "keep"
    type_list: Annotated[
        TypeList,
        Meta(
            description="the seven types of paper 4: those of its annotation, §4.2 (default), or of its guidelines, "
            "A.1"
        ),
    ] = "annotation"
    types: Rows = ()
    topics: Rows = ()
    same_picture: Annotated[
        Literal["mark", "drop"],
        Meta(
            description="mentions whose entity has the picture of the caption: mark them (default), or drop them",
        ),
    ] = "mark"
    near_copies: Annotated[float, Meta(ge=0, le=1)] | None = None
    copy_pictures: bool = False
    split: Mapping[str, float] = msgspec.field(default_factory=lambda: dict(SHARES))
    seed: Annotated[int, Meta(description="what the split depends on")] = 0
    processes: int | None = None


def check_options(options: CaptionOptions, *, has_pictures: bool) -> None:
    """Raises InputError where options do not fit each other or mean nothing."""
    try:
        msgspec.convert(msgspec.structs.asdict(options), CaptionOptions)
    except msgspec.ValidationError as problem:
        wrong, _, place = str(problem).partition(" - at `$.")
        name = place.rstrip("`").partition("[")[0]
        value = getattr(options, name, None)
        raise InputError(f"{name} is {value!r}: {wrong[:1].lower()}{wrong[1:]}") from None
    if not options.split:
        raise InputError("there is no split. Give at least one, such as all=1")
    check_shares(options.split)
    if has_pictures:
        return
    for name, value in (("near_copies", options.near_copies is not None), ("copy_pictures", options.copy_pictures)):
        if value:
            raise InputError(f"{name} needs the pictures themselves. Give their folder (--pictures)")
    if options.missing == "drop":
        raise InputError("missing is 'drop', and no pictures are given: all would be dropped. Give --pictures")
