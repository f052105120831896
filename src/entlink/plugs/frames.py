"""pandas and Polars frames: link a column of texts, build a knowledge base of rows, show one as a frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from importlib import import_module
from itertools import repeat
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from entlink.documents import Document, Entity, Link
from entlink.errors import FieldError, InputError, MissingExtraError, SourceError
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.manifest import Manifest
from entlink.linking.linker import Linker
from entlink.sources.columns import EXTERNAL, ColumnMapping, listed, missing_column
from entlink.sources.fields import cell_as_claims, cell_as_external, cell_as_names

Frame = TypeVar("Frame")
Kind = Literal["pandas", "polars"]
Row = dict[str, Any]

LINKS = "links"
ROW_NUMBER = "index"
LINK_COLUMNS: Mapping[str, type] = {
    "start": int,
    "end": int,
    "text": str,
    "entity": str,
    "title": str,
    "score": float,
    "nil_type": str,
}
_ENTITY_COLUMNS: Mapping[str, type] = {
    "id": str,
    "title": str,
    "description": str,
    "aliases": list,
    "types": list,
    "images": list,
    "language": str,
    "created": str,
    "revised": str,
}
_NAMES = ("aliases", "types", "image")
_OBJECTS = {"external": cell_as_external, "claims": cell_as_claims}
_FILE = "frame.jsonl"
_SLICE = 10_000


def link_frame(
    frame: Frame, linker: Linker, text: str = "text", id: str | None = None, explode: bool = False
) -> Frame:
    """The frame with a column `links`: each row's list of {start, end, text, entity, title, score, nil_type}.

    With `explode`, a frame of one row a link instead, with those fields as columns. The row a link comes from
    is told by the column `id`; without one, by the frame's index in pandas, and in Polars by a column `index`
    of row numbers. A row without a text (None, NaN) has no links. A LazyFrame is collected, and given back lazy.
    """
    table = _table(frame)
    _check_columns(table, text, id, explode)
    ids = map(str, repeat("row") if id is None else table.values(id))
    documents = (Document(*pair) for pair in zip(ids, _texts(table, text), strict=False))
    links = [[_row_of_link(link) for link in document.links] for document in linker.link_all(documents)]
    linked: Frame = table.exploded(links, id) if explode else table.with_links(links)
    return linked


def build_from_frame(
    frame: object,
    out: str | Path,
    columns: Mapping[str, str] | None = None,
    options: BuildOptions = BuildOptions(),
    *,
    replace: bool = False,
) -> Manifest:
    """Build a knowledge base of a frame that has a row an entity.

    Columns are found or mapped as those of a table (see `ColumnMapping`), `external.<scheme>` by that name.
    Several aliases, types or images are a list, or a text with `|` between two, as in a CSV file.
    """
    table = _table(frame)
    mapping = _mapping(table, {**options.columns, **(columns or {})})
    options = msgspec.structs.replace(options, format="jsonl", columns=dict(mapping.explicit))
    with TemporaryDirectory(prefix="entlink-") as folder:
        path = Path(folder) / _FILE
        _write_rows(table, mapping, path)
        try:
            return build([path], out, options, replace=replace)
        except SourceError as problem:
            if problem.file != str(path):
                raise
            raise SourceError(problem.problem, "the frame", _row_number(problem.position), problem.hint) from problem


def entities_frame(kb: KnowledgeBase | str | Path, like: Kind = "pandas") -> Any:
    """The entities of a knowledge base as a pandas or Polars frame, a row each.

    The columns are those of an Entity, with one `external.<scheme>` for each scheme; `build_from_frame` takes
    them back. Of dated versions it has the current one, or that of the date the knowledge base was opened for.
    """
    if like not in _TABLES:
        raise InputError(f'there is no kind of frame {like!r}. It must be "pandas" or "polars"')
    if isinstance(kb, KnowledgeBase):
        return _entities_frame(kb, like)
    with KnowledgeBase.open(kb) as opened:
        return _entities_frame(opened, like)


def _entities_frame(kb: KnowledgeBase, like: Kind) -> Any:
    entities = list(kb)
    schemes = sorted({scheme for entity in entities for scheme in entity.external})
    kinds = {**_ENTITY_COLUMNS, **{f"{EXTERNAL}{scheme}": str for scheme in schemes}}
    values = {name: [_field(entity, name) for entity in entities] for name in kinds}
    return _TABLES[like].frame_of(values, kinds)


def _field(entity: Entity, name: str) -> object:
    if name.startswith(EXTERNAL):
        return entity.external.get(name.removeprefix(EXTERNAL))
    value = getattr(entity, name)
    return list(value) if isinstance(value, tuple) else value


class _Table(Protocol):
    """What this file asks of a frame."""

    columns: list[str]

    def values(self, column: str) -> Iterable[Any]:
        """The values of a column; a missing one is None."""

    def with_links(self, links: list[list[Row]]) -> Any:
        """The frame with a list of links for each row."""

    def exploded(self, links: list[list[Row]], id: str | None) -> Any:
        """A frame with a row for each link."""


class _PandasTable:
    """A pandas DataFrame."""

    _DTYPES: Mapping[type, str] = {int: "int64", float: "float64", str: "string", list: "object"}

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.columns = list(frame.columns)

    def values(self, column: str) -> Iterator[Any]:
        values = self._frame[column]
        for value, is_missing in zip(values, values.isna(), strict=True):
            yield None if is_missing else value

    def with_links(self, links: list[list[Row]]) -> Any:
        pandas = _import("pandas")
        return self._frame.assign(**{LINKS: pandas.Series(links, index=self._frame.index, dtype="object")})

    def exploded(self, links: list[list[Row]], id: str | None) -> Any:
        repeated = _row_numbers(links)
        exploded = self.frame_of(_columns_of(links), LINK_COLUMNS)
        exploded.index = self._frame.index.take(repeated)
        if id is not None:
            exploded.insert(0, id, self._frame[id].take(repeated).array)
        return exploded

    @classmethod
    def frame_of(cls, values: Mapping[str, list[Any]], kinds: Mapping[str, type]) -> Any:
        """A frame of columns, each of a kind."""
        pandas = _import("pandas")
        return pandas.DataFrame(
            {name: pandas.Series(values[name], dtype=cls._DTYPES[kind]) for name, kind in kinds.items()}
        )


class _PolarsTable:
    """A Polars DataFrame, or a LazyFrame that is collected here and made lazy again at the end."""

    def __init__(self, frame: Any) -> None:
        self._is_lazy = hasattr(frame, "collect")
        self._frame = frame.collect() if self._is_lazy else frame
        self.columns = list(self._frame.columns)

    def values(self, column: str) -> Iterator[Any]:
        series = self._frame[column]
        for start in range(0, len(series), _SLICE):
            for value in series.slice(start, _SLICE).to_list():
                # A column that came from pandas or numpy may hold NaN.
                yield None if isinstance(value, float) and isnan(value) else value

    def with_links(self, links: list[list[Row]]) -> Any:
        polars = _import("polars")
        kind = polars.List(polars.Struct({name: _polars_type(kind) for name, kind in LINK_COLUMNS.items()}))
        return self._finished(self._frame.with_columns(polars.Series(LINKS, links, dtype=kind)))

    def exploded(self, links: list[list[Row]], id: str | None) -> Any:
        repeated = _row_numbers(links)
        exploded = self.frame_of(_columns_of(links), LINK_COLUMNS)
        polars = _import("polars")
        if id is None:
            rows = polars.Series(ROW_NUMBER, repeated, dtype=polars.UInt32)
        else:
            rows = self._frame[id].gather(repeated)
        return self._finished(exploded.insert_column(0, rows))

    def _finished(self, frame: Any) -> Any:
        return frame.lazy() if self._is_lazy else frame

    @classmethod
    def frame_of(cls, values: Mapping[str, list[Any]], kinds: Mapping[str, type]) -> Any:
        """A frame of columns, each of a kind."""
        schema = {name: _polars_type(kind) for name, kind in kinds.items()}
        return _import("polars").DataFrame(dict(values), schema=schema)


_TABLES: Mapping[str, type[_PandasTable] | type[_PolarsTable]] = {
    "pandas": _PandasTable,
    "polars": _PolarsTable,
}


def _polars_type(kind: type) -> Any:
    polars = _import("polars")
    types = {int: polars.Int64, float: polars.Float64, str: polars.String, list: polars.List(polars.String)}
    return types[kind]


def _import(library: str) -> ModuleType:
    try:
        return import_module(library)
    except ModuleNotFoundError as problem:
        raise MissingExtraError(f"a {library} frame", library) from problem


def _table(frame: object) -> _Table:
    """The frame behind a common face; its library is told from its class, and not imported to find out."""
    for kind in type(frame).__mro__:
        library = kind.__module__.partition(".")[0]
        if library in _TABLES and kind.__name__ in ("DataFrame", "LazyFrame"):
            return _TABLES[library](frame)
    raise InputError(f"a {type(frame).__name__} is not a frame. Give a pandas or Polars DataFrame")


def _check_columns(table: _Table, text: str, id: str | None, explode: bool) -> None:
    for column in filter(None, (text, id)):
        count = table.columns.count(column)
        if count != 1:
            what = "no column" if count == 0 else "more than one column named"
            raise InputError(f"the frame has {what} {column!r}; its columns are {listed(table.columns)}")
    if explode and id in LINK_COLUMNS:
        raise InputError(f"the id column {id!r} has the name of a column of links. Rename it first")
    if not explode and LINKS in table.columns:
        raise InputError(f"the frame has a column {LINKS!r} already. Drop or rename it first")


def _texts(table: _Table, column: str) -> Iterator[str]:
    """The texts of a column, empty where there is none."""
    for number, value in enumerate(table.values(column)):
        if value is not None and not isinstance(value, str):
            raise InputError(
                f"the frame, row {number}: column {column!r} holds {type(value).__name__}, not text. "
                "Convert the column to text, or name another with text="
            )
        yield value or ""


def _row_of_link(link: Link) -> Row:
    span = link.mention.span
    values = (span.start, span.end, link.mention.text, link.entity, link.title, link.score, link.nil_type)
    return dict(zip(LINK_COLUMNS, values, strict=True))


def _row_numbers(links: list[list[Row]]) -> list[int]:
    """For each link the number of its row."""
    return [number for number, of_row in enumerate(links) for _ in of_row]


def _columns_of(links: list[list[Row]]) -> dict[str, list[Any]]:
    return {name: [link[name] for of_row in links for link in of_row] for name in LINK_COLUMNS}


def _mapping(table: _Table, columns: Mapping[str, str]) -> ColumnMapping:
    """The columns the caller named, and those named after an external scheme."""
    names = [name for name in table.columns if isinstance(name, str)]
    taken = {*columns.values(), EXTERNAL}
    own = {name: name for name in names if name.startswith(EXTERNAL) and name not in taken}
    mapping = ColumnMapping({**own, **columns})
    if missing := mapping.missing(names):
        raise missing_column(missing[0], names).at("the frame", "")
    return mapping


def _write_rows(table: _Table, mapping: ColumnMapping, path: Path) -> None:
    """The columns that are used, as JSON Lines."""
    try:
        chosen = mapping.resolve([name for name in table.columns if isinstance(name, str)])
    except FieldError as problem:
        raise problem.at("the frame", "") from None
    if doubled := [column for column in chosen.values() if table.columns.count(column) > 1]:
        raise SourceError(f"there are two columns named {doubled[0]!r}", "the frame", hint="Rename one")
    fields = {column: field for field, column in chosen.items()}
    with path.open("wb") as file:
        for number, values in enumerate(zip(*map(table.values, fields), strict=True)):
            row = {column: _cell(value, field) for (column, field), value in zip(fields.items(), values, strict=True)}
            file.write(_encoded(row, number))


def _encoded(row: Row, number: int) -> bytes:
    try:
        return msgspec.json.encode(row) + b"\n"
    except (TypeError, ValueError, OverflowError) as problem:
        raise SourceError(f"a value cannot be stored: {problem}", "the frame", f"row {number}") from problem


def _cell(value: Any, field: str) -> Any:
    """A value of a frame as it would stand in a JSON file."""
    if isinstance(value, str):
        return _cell_of_text(value, field)
    if isinstance(value, float) and value.is_integer():
        return int(value)  # a column of whole numbers with gaps is one of floats in pandas
    if isinstance(value, datetime):
        return str(value.date()) if value.time() == datetime.min.time() else value.isoformat()
    if isinstance(value, date | dict) or value is None:
        return value
    if isinstance(value, set | frozenset):
        return sorted(value)
    if hasattr(value, "to_list"):
        return value.to_list()
    return value.tolist() if hasattr(value, "tolist") else value


def _cell_of_text(text: str, field: str) -> Any:
    """What a text stands for; one that cannot be read is left for the build to refuse or to skip."""
    if field in _NAMES:
        try:
            return cell_as_names(text)
        except FieldError:
            return msgspec.json.decode(text)
    if field in _OBJECTS:
        try:
            return _OBJECTS[field](text)
        except FieldError:
            return text
    return text


def _row_number(position: str) -> str:
    """`line 3` of the file is row 2 of the frame."""
    _, _, line = position.partition("line ")
    return f"row {int(line) - 1}" if line.isdigit() else position
