"""Which column of a table becomes which field of an entity, and the pages made of its rows."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from entlink.documents import Entity
from entlink.errors import FieldError, SourceError
from entlink.sources.fields import (
    as_claims,
    as_date,
    as_external,
    as_id,
    as_identifier,
    as_names,
    as_text,
    as_title,
    as_word,
    cell_as_claims,
    cell_as_external,
    cell_as_names,
)
from entlink.sources.page import Page, Paragraph
from entlink.text.dates import check_period
from entlink.text.field_limits import check_texts

Convert = Callable[[object], Any]
Row = Mapping[str, object]

EXTERNAL = "external."
MAPPING = "--columns on the command line, columns= in Python"
DEFAULT_COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "id": ("id", "key", "_id", "qid", "page_id"),
        "title": ("title", "name", "label"),
        "description": ("description", "abstract", "summary", "extract", "text"),
        "text": ("text",),
        "aliases": ("aliases", "alias", "synonyms", "altLabels"),
        "types": ("types", "type", "category", "categories", "class"),
        "image": ("image", "images"),
        "created": ("created", "created_at"),
        "revised": ("revised",),
        "language": ("language", "lang"),
        "valid_from": ("valid_from", "from"),
        "valid_to": ("valid_to", "to"),
        "external": ("external",),
        "claims": ("claims",),
        "external.wikidata": ("wikidata", "qid"),
        "external.url": ("url",),
        "external.wikipedia": ("wikipedia",),
    }
)
_REQUIRED = ("id", "title")

_VALUES: Mapping[str, Convert] = {
    "description": as_text,
    "text": as_text,
    "aliases": as_names,
    "types": as_names,
    "image": as_names,
    "created": as_date,
    "revised": as_date,
    "language": as_word,
    "valid_from": as_date,
    "valid_to": as_date,
    "external": as_external,
    "claims": as_claims,
}
_CELLS: Mapping[str, Convert] = {
    **_VALUES,
    "aliases": cell_as_names,
    "types": cell_as_names,
    "image": cell_as_names,
    "external": cell_as_external,
    "claims": cell_as_claims,
}


class ColumnMapping:
    """Field → column. What is not mapped is found under the first of these names that is there:

    | field | columns recognised, capitals or not |
    |---|---|
    | `id` | id, key, _id, qid, page_id |
    | `title` | title, name, label |
    | `description` | description, abstract, summary, extract, text |
    | `text` | text, where that is not the description |
    | `aliases` | aliases, alias, synonyms, altLabels |
    | `types` | types, type, category, categories, class |
    | `image` | image, images |
    | `claims` | claims |
    | `created` | created, created_at |
    | `revised` | revised |
    | `language` | language, lang |
    | `valid_from`, `valid_to` | valid_from, from; valid_to, to |
    | `external` | external (a JSON object from scheme to identifier) |
    | `external.wikidata` | wikidata, or qid where that is not the id |
    | `external.url`, `external.wikipedia` | url; wikipedia |

    Any other scheme is mapped as `external.<scheme>`. A column that is mapped is not used again by
    default, and a field mapped to an empty string is not read. `id` and `title` are needed.
    """

    def __init__(self, columns: Mapping[str, str] | None = None) -> None:
        self.explicit: Mapping[str, str] = MappingProxyType(dict(columns or {}))
        for field in self.explicit:
            _check_field(field)

    @property
    def mapped_columns(self) -> frozenset[str]:
        """The columns named by the caller, which a table has to have."""
        return frozenset(column for column in self.explicit.values() if column)

    def resolve(self, present: Sequence[str]) -> dict[str, str]:
        """The column for each field, of those present; id and title must be among them."""
        there = set(present)
        chosen = {field: column for field, column in self.explicit.items() if column in there}
        by_name = {column.casefold(): column for column in reversed(present)} | {name: name for name in present}
        taken = set(chosen.values())
        for field, names in DEFAULT_COLUMNS.items():
            if field in self.explicit or (field == "text" and "description" not in chosen):
                continue
            columns = (by_name.get(name, by_name.get(name.casefold())) for name in names)
            column = next((column for column in columns if column is not None and column not in taken), None)
            if column is not None:
                chosen[field] = column
                taken.add(column)
        for field in _REQUIRED:
            if field not in chosen:
                raise self._no_column(field, present)
        return chosen

    def missing(self, present: Iterable[str]) -> list[str]:
        """The columns named by the caller that are not present, in the order they were named."""
        there = set(present)
        return [column for column in self.explicit.values() if column and column not in there]

    def _no_column(self, field: str, present: Sequence[str]) -> FieldError:
        if self.explicit.get(field):
            return missing_column(self.explicit[field], present)
        names = ", ".join(DEFAULT_COLUMNS[field])
        return FieldError(
            f"there is no {field}: none of the columns {names}; the columns are {listed(present)}",
            f"Map a column to it: {field}=COLUMN ({MAPPING})",
        )


def missing_column(column: str, present: Iterable[str]) -> FieldError:
    """The error for a column that the caller named and the table does not have."""
    return FieldError(
        f"there is no column {column!r}; the columns are {listed(present)}",
        f"Check the mapping of columns ({MAPPING})",
    )


def listed(columns: Iterable[str]) -> str:
    """The names of columns for a message, cut when there are very many."""
    return _cut([repr(name) for name in columns]) or "none"


def _cut(names: list[str], most: int = 40) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def warn_of_unused(file: object, columns: Iterable[str]) -> None:
    """Tell of the columns of a table that no field is read from; one without a name is left over by a separator."""
    if names := [name if name.isprintable() else repr(name) for name in dict.fromkeys(columns) if name]:
        logging.getLogger(__name__).warning("%s: columns not used: %s (map them with %s)", file, _cut(names), MAPPING)


def _check_field(field: str) -> None:
    known = [name for name in DEFAULT_COLUMNS if not name.startswith(EXTERNAL)]
    if field in known or (field.startswith(EXTERNAL) and field != EXTERNAL):
        return
    near = difflib.get_close_matches(field, known, n=1)
    guess = f"Did you mean {near[0]!r}? " if near else ""
    raise SourceError(
        f"{field!r} is not a field that a column can be mapped to",
        hint=f"{guess}The fields are {', '.join(known)} and external.<scheme>",
    )


class RowPlan:
    """Makes pages of rows that have the same columns; the choices are made once, not for each row."""

    def __init__(self, chosen: Mapping[str, str], language: str | None, of_cells: bool) -> None:
        converts = _CELLS if of_cells else _VALUES
        self.columns = tuple(dict.fromkeys(chosen.values()))
        self._id, self._title = chosen["id"], chosen["title"]
        self._language = language
        self._steps = [
            ("images" if field == "image" else field, column, converts[field])
            for field, column in chosen.items()
            if field in converts
        ]
        self._identifiers = [
            (field.removeprefix(EXTERNAL), column) for field, column in chosen.items() if field.startswith(EXTERNAL)
        ]
        self._dated = "valid_from" in chosen or "valid_to" in chosen

    def check(self, row: Row) -> None:
        """An error when a used column holds a NUL or is too large."""
        check_texts({column: row[column] for column in self.columns}, "column")

    def page(self, row: Row) -> Page:
        """The page of one row."""
        fields: dict[str, Any] = {}
        column = self._id
        try:
            id = as_id(row[column])
            column = self._title
            title = as_title(row[column])
            for field, column, convert in self._steps:
                fields[field] = convert(row[column])
            if self._identifiers:
                external = fields.setdefault("external", {})
                for scheme, column in self._identifiers:
                    identifier = as_identifier(row[column])
                    if identifier is not None:
                        external[scheme] = identifier
        except FieldError as error:
            raise error.of("column", column) from None
        if self._language is not None and not fields.get("language"):
            fields["language"] = self._language
        paragraphs = _paragraphs(fields, fields.pop("text")) if "text" in fields else ()
        if not self._dated:
            return Page(Entity(id, title, **fields), paragraphs)
        valid_from, valid_to = fields.pop("valid_from", None), fields.pop("valid_to", None)
        check_period(valid_from, valid_to)
        return Page(Entity(id, title, **fields), paragraphs, valid_from, valid_to)


def _paragraphs(fields: dict[str, Any], text: str) -> tuple[Paragraph, ...]:
    """The whole text of a row that has a description as well; a row without one is described by its text."""
    description = fields.get("description", "").strip()
    if not description:
        fields["description"] = text
    if not description or not text.strip():
        return ()
    whole = Paragraph(text)
    return (whole,) if text.lstrip().startswith(description) else (Paragraph(description), whole)
