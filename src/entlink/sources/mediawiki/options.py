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
    - `page_seconds`, `page_megabytes`: what one page may take; one that takes more is left out and listed
    """

    namespaces: tuple[str, ...] = ()
    ids: Ids = "title"
    rules: str | None = None
    page_seconds: float = 10.0
    page_megabytes: int = 512
    # Set by a build: that it was given the table `page` and no export, that of texts it wants only the links, and
    # where it noted what `page_props` lists.
    titles_only: bool = False
    links_only: bool = False
    disambiguations: str | None = None

    def rules_checksum(self) -> str:
        """What a reading that is taken up again must have in common with itself: the rules, not just their file."""
        if self.rules is None:
            return ""
        try:
            return sha256(Path(self.rules).read_bytes()).hexdigest()
        except OSError as problem:
            raise ConfigError(f"{self.rules}: the rules cannot be read ({problem.strerror})") from problem
