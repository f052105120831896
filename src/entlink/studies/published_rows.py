"""Figures of papers to set beside ours; they lie beside the source, and an installed package has none."""

from __future__ import annotations

from pathlib import Path

from entlink.evaluation.published import PublishedFigure, read_table

NOT_THERE = (
    "the published figures are not there: they are in the folder reproductions/published of the source, which an "
    "installed package does not have"
)


def published_folder() -> Path | None:
    """The folder of published figures, if this is the source."""
    folder = Path(__file__).resolve().parents[3] / "reproductions" / "published"
    return folder if folder.is_dir() else None


def published_figures(paper: str, tables: tuple[str, ...], folder: Path | None = None) -> tuple[PublishedFigure, ...]:
    """The figures of some tables of a paper; none where there are no published figures."""
    folder = folder or published_folder()
    if folder is None:
        return ()
    paths = [folder / paper / f"table-{table}.toml" for table in tables]
    return tuple(figure for path in paths if path.exists() for figure in read_table(path).figures())
