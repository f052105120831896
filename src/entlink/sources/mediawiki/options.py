"""How to read a wiki's dump."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Literal

from entlink.documents import Record
from entlink.errors import ConfigError

Ids = Literal["title", "page", "wikidata"]


class WikiOptions(Record, frozen=True):
    """What of a wiki becomes entities, and what they are called.

    - `namespaces`: by number or name; none given means articles only
    - `ids`: an entity's id is its page's title, its page's number, or its Wikidata id where one is known (else the
      title); in all three cases the others are identifiers that `kb.resolve` finds
    - `rules`: a TOML file of rules for templates, laid over those that come with entlink
    - `with_page`: of Wikidata, only items that have a page in the Wikipedia of the language
    - `drop_types`: a file of types, one a line: items that are one of them or a kind of one are left out, beside what
      is Wikimedia's own
    - `page_seconds`, `page_megabytes`: what one page may take; one that takes more is left out and listed
    """

    namespaces: tuple[str, ...] = ()
    ids: Ids = "title"
    rules: str | None = None
    page_seconds: float = 10.0
    page_megabytes: int = 512
    with_page: bool = False
    drop_types: str | None = None
    # Set by a build: that it was given the table `page` and no export, that of texts it wants only the links,
    # where it noted what `page_props` lists, and with which wiki items of Wikidata are joined.
    titles_only: bool = False
    links_only: bool = False
    disambiguations: str | None = None
    site: str | None = None

    def rules_checksum(self) -> str:
        """What a reading that is taken up again must have in common with itself: the rules, not just their file."""
        return " ".join(_checksum(path) for path in (self.rules, self.drop_types) if path is not None)


def _checksum(path: str) -> str:
    try:
        return sha256(Path(path).read_bytes()).hexdigest()
    except OSError as problem:
        raise ConfigError(f"{path}: the file cannot be read ({problem.strerror})") from problem
