"""What a WikiEnt set is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from entlink.datasets.hyperlinks.options import KINDS
from entlink.engine.protocol import DEFAULT_MEMORY
from entlink.errors import InputError
from entlink.io.ledger import OnError
from entlink.sources import WikiOptions
from entlink.sources.page import Kind

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]


class WikiEntOptions(msgspec.Struct, frozen=True):
    """How to read the sources, and what becomes a context or a description.

    - `kinds`: the paragraphs whose sentences become contexts: running text, items of lists, cells, captions
    - `description_tokens`: how many words a description keeps from the beginning of its page
    - `max_tokens`: leave out contexts with more words; 0 keeps all
    """

    format: str | None = None
    columns: Mapping[str, str] = {}
    language: str | None = None
    on_error: OnError = "stop"
    wiki: WikiOptions = WikiOptions()
    kinds: tuple[Kind, ...] = ("text",)
    description_tokens: int = 100
    max_tokens: int = 0
    processes: int | None = None
    memory: str = DEFAULT_MEMORY


def check_options(options: WikiEntOptions) -> None:
    """Raises InputError where an option means nothing."""
    unknown = [kind for kind in options.kinds if kind not in KINDS]
    if unknown or not options.kinds:
        wrong = f"there is no kind of paragraph {unknown[0]!r}" if unknown else "no kind of paragraph is given"
        raise InputError(f"{wrong}: choose among {', '.join(KINDS)}")
    if options.description_tokens < 1:
        raise InputError(f"description_tokens is {options.description_tokens}: it must be a whole number from 1 on")
    if options.max_tokens < 0:
        raise InputError(f"max_tokens is {options.max_tokens}: it must be a whole number from 0 on")
