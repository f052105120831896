"""Fuzzes the reading of SQL dumps: see README.md."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["entlink"]):
    import_module("entlink.sources.mediawiki.tables")  # which a source would import too late
    from sql_checks import check_table, table_of

from fuzzing import fuzz

FOLDER = Path(tempfile.mkdtemp())


def check(data: bytes) -> None:
    table = table_of(data)
    check_table(FOLDER / table.name, table)


if __name__ == "__main__":
    fuzz(check, table_of)
