"""Fuzzes the reading of wikitext: see README.md."""

from __future__ import annotations

import atheris

with atheris.instrument_imports(include=["entlink"]):
    from wikitext_checks import check_wikitext

from fuzzing import fuzz
from wikitext_pieces import wikitext_of


def check(data: bytes) -> None:
    check_wikitext(wikitext_of(data))


if __name__ == "__main__":
    fuzz(check, wikitext_of)
