"""Fuzzes the reading of XML dumps in all packings: see README.md."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["entlink"]):
    import_module("entlink.sources.mediawiki.export")  # which a source would import too late, like the next
    import_module("entlink.io.sevenzip")
    from dump_checks import check_dump, dump_of

from fuzzing import fuzz

FOLDER = Path(tempfile.mkdtemp())


def check(data: bytes) -> None:
    dump = dump_of(data)
    path = FOLDER / dump.name()
    try:
        check_dump(path, dump)
    finally:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    fuzz(check, dump_of)
