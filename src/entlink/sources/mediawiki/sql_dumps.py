"""The tables of a MediaWiki as Wikimedia publishes them: `enwiki-20240101-page.sql.gz`, written by mysqldump."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import cast

from entlink.documents import Leaf, Record
from entlink.errors import FieldError, SourceError
from entlink.io.files import Meter, open_bytes
from entlink.sources.mediawiki.sql_values import (
    BLOCK,
    INSERT,
    Kind,
    Row,
    RowPlan,
    SqlText,
    Value,
    unquoted,
    values_in,
)
from entlink.sources.page import Identifier
from entlink.sources.reading import Reading

# As they are today: for dumps without a CREATE TABLE.
KNOWN_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "page": (
        *("page_id", "page_namespace", "page_title", "page_is_redirect", "page_is_new", "page_random"),
        *("page_touched", "page_links_updated", "page_latest", "page_len", "page_content_model", "page_lang"),
    ),
    "redirect": ("rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment"),
    "page_props": ("pp_page", "pp_propname", "pp_value", "pp_sortkey"),
    "langlinks": ("ll_from", "ll_lang", "ll_title"),
}
SCHEMES: Mapping[str, str] = {
    "wikibase_item": "wikidata",
    "disambiguation": "disambiguation",
    "page_image_free": "image",
    "page_image": "image",
}
ARTICLES = frozenset({0})
_INTEGERS = {"page_id", "page_namespace", "page_is_redirect", "rd_from", "rd_namespace", "pp_page", "ll_from"}

_MOST_NAMED = 20
_FIRST_WINDOW = 1 << 12
_DATABASE = re.compile(r"^-- Host: [^\n]*?\bDatabase: (\S+)", re.MULTILINE)
_CREATE = re.compile(
    r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:(?:`[^`]+`|[\w$]+)\.)?(`[^`]+`|[\w$]+)\s*\(", re.IGNORECASE
)
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*+'", re.DOTALL)
_PIECE = re.compile(r"[(),]|[^(),]+")
_COLUMN = re.compile(
    r"\s*(?!(?:PRIMARY|UNIQUE|KEY|INDEX|FULLTEXT|SPATIAL|CONSTRAINT|FOREIGN|CHECK)\b)(`[^`]+`|[\w$]+)", re.IGNORECASE
)


class SqlTable(Record, frozen=True):
    """A table of a dump; `wiki` is the name of its database, such as enwiki, or empty where nothing tells."""

    name: str
    wiki: str
    columns: tuple[str, ...]
    has_layout: bool = True  # whether the dump itself names the columns


class PageRow(Leaf, frozen=True):
    """A row of `page`: blanks in the title as blanks, the name of the namespace not part of it."""

    id: int
    namespace: int
    title: str
    is_redirect: bool


class RedirectRow(Leaf, frozen=True):
    """A row of `redirect`: the page `id` leads to the title."""

    id: int
    namespace: int
    title: str


class PropertyRow(Leaf, frozen=True):
    """A row of `page_props`: one of `SCHEMES` and its value."""

    id: int
    name: str
    value: str


class LanguageRow(Leaf, frozen=True):
    """A row of `langlinks`: what the page is called in the Wikipedia of another language."""

    id: int
    language: str
    title: str


def read_table(path: Path) -> SqlTable:
    """The table of a dump, from its beginning."""
    with open_bytes(path, Meter()) as file:
        text = SqlText(file, path)
        while (statement := text.next_statement()) is not None:
            if found := statement if statement.re is INSERT else _CREATE.match(statement[0]):
                return _table(text, found, statement[0])
    raise SourceError("the file holds no table", str(path), hint="Give a file like enwiki-page.sql.gz")


def _table(text: SqlText, found: re.Match[str], statement: str) -> SqlTable:
    name = unquoted(found["table"] if found.re is INSERT else found[1])
    columns = _listed(found) if found.re is INSERT else _columns(statement[found.end() :])
    wiki = _DATABASE.search(text.ahead, 0, text.at)
    has_layout = bool(columns)
    columns = columns or KNOWN_COLUMNS.get(name, ())
    if not columns:
        raise text.error(f"nothing tells the columns of the table {name}", "Dump it with its CREATE TABLE")
    return SqlTable(name, wiki[1] if wiki else _wiki_in_name(text.path), columns, has_layout)


def _wiki_in_name(path: Path) -> str:
    wiki, dash, _ = path.name.partition("-")
    return wiki if dash else ""


def _listed(insert: re.Match[str]) -> tuple[str, ...]:
    """The columns that an INSERT itself names."""
    listed: str | None = insert["columns"]
    return tuple(unquoted(name) for name in listed.split(",")) if listed else ()


def _columns(body: str) -> tuple[str, ...]:
    """The columns in the body of a CREATE TABLE: its entries that are no keys."""
    depth, entries = 0, [""]
    for piece in _PIECE.findall(_QUOTED.sub("", body)):
        depth += (piece == "(") - (piece == ")")
        if depth < 0:
            break
        if piece == "," and depth == 0:
            entries.append("")
        elif depth == 0:
            entries[-1] += piece
    return tuple(unquoted(found[1]) for entry in entries if (found := _COLUMN.match(entry)))


def table_of(path: Path) -> tuple[str, str]:
    """The name of the table of a dump and that of its wiki."""
    table = read_table(path)
    return table.name, table.wiki


def rows(
    path: Path,
    reading: Reading,
    columns: Sequence[str],
    *,
    only: Mapping[str, Collection[Value]] | None = None,
) -> Iterator[Row]:
    """The values of some columns, in that order, of all rows of a dump.

    With `only`, of those rows whose column has one of the values given for it; what stands in the other rows is
    not looked at, so that it may be binary. A text with a NUL or with bytes that are not UTF-8 makes its row bad.
    """
    if not columns or len(set(columns)) < len(columns):
        raise SourceError(
            f"the columns asked for are {list(columns)}", str(path), hint="Ask for one or more, each once"
        )
    return _rows(path, reading, read_table(path), dict.fromkeys(columns, "any"), only or {})


def _rows(
    path: Path,
    reading: Reading,
    table: SqlTable,
    wanted: Mapping[str, Kind],
    only: Mapping[str, Collection[Value]],
) -> Iterator[Row]:
    _check_columns(path, table.columns, [*wanted, *only])
    return chain.from_iterable(_TableRows(path, reading, table, wanted, only).blocks())


def _check_columns(path: Path, columns: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in columns]
    if missing:
        raise SourceError(
            f"the table has no column {missing[0]!r}",
            str(path),
            hint=f"Its columns are: {', '.join(columns[:_MOST_NAMED])}",
        )


class _TableRows:
    """One pass over the rows of a dump, a block of them at a time."""

    def __init__(
        self,
        path: Path,
        reading: Reading,
        table: SqlTable,
        wanted: Mapping[str, Kind],
        only: Mapping[str, Collection[Value]],
    ) -> None:
        self._path, self._reading, self._table = path, reading, table
        self._wanted, self._only = wanted, only
        self._plans: dict[str, RowPlan] = {}

    def blocks(self) -> Iterator[list[Row]]:
        with open_bytes(self._path, self._reading.meter) as file:
            text = SqlText(file, self._path)
            try:
                while (statement := text.next_statement()) is not None:
                    if statement.re is INSERT:
                        yield from self._inserted(text, self._plan(text, statement))
            except SourceError as error:
                self._reading.fail(error)

    def _plan(self, text: SqlText, insert: re.Match[str]) -> RowPlan:
        plan = self._plans.get(insert[0])
        if plan is None:
            name = unquoted(insert["table"])
            if name != self._table.name:
                hint = f"Give the file of {self._table.name} alone, as Wikimedia does"
                raise text.error(f"rows of a second table, {name}, begin here", hint)
            columns = _listed(insert) or self._table.columns
            _check_columns(self._path, columns, [*self._wanted, *self._only])
            plan = RowPlan(columns, self._wanted, self._only, insert[0])
            self._plans = {insert[0]: plan}
        return plan

    def _inserted(self, text: SqlText, plan: RowPlan) -> Iterator[list[Row]]:
        """The rows of a statement; what is looked at in one go is little at first, since it may soon end."""
        window = _FIRST_WINDOW
        while True:
            end = min(text.at + window, len(text.ahead))
            found = plan.row.findall(text.ahead, text.at, end)
            rest = found.pop()[-1] if found and found[-1][-1] else ""
            if found:
                yield from self._given(text, plan, found, end)
                text.at = end - len(rest)
                window = min(2 * window, BLOCK)
                continue
            text.skip_space()
            if text.ahead.startswith(";", text.at):
                return
            window = plan.window(text) or self._go_on(text, plan)

    def _given(self, text: SqlText, plan: RowPlan, found: Sequence[tuple[str, ...]], end: int) -> Iterator[list[Row]]:
        try:
            given = plan.rows_of(found, text.is_odd)
        except FieldError:
            yield from self._given_one_by_one(
                text, plan, islice(plan.row.finditer(text.ahead, text.at, end), len(found))
            )
        else:
            text.rows += len(found)
            yield given

    def _given_one_by_one(self, text: SqlText, plan: RowPlan, found: Iterable[re.Match[str]]) -> Iterator[list[Row]]:
        for match in found:
            text.rows += 1
            try:
                given = plan.rows_of([match.groups()], text.is_odd)
            except FieldError as error:
                text.at = match.start()
                self._reading.fail(error.at(self._path, f"row {text.rows}, {text.place()}"))
            else:
                yield given

    def _go_on(self, text: SqlText, plan: RowPlan) -> int:
        """Pass over a row that is no row of this table, or read on where one is not all there."""
        if bad := text.any_row():
            text.rows += 1
            self._reading.fail(self._bad_row(text, plan, bad["row"]))
            text.at = bad.end()
        elif not text.more():
            raise text.cut_off_in("row")
        return _FIRST_WINDOW

    def _bad_row(self, text: SqlText, plan: RowPlan, row: str) -> SourceError:
        number, expected = values_in(row), len(plan.columns)
        if number == expected:
            problem = f"row {text.rows} is damaged: {row[:60]!r}"
        else:
            problem = f"row {text.rows} has {number} values, but the table {expected} columns"
        if self._table.has_layout:
            return text.error(problem, "Is the file damaged?")
        return text.error(problem, "The file has no CREATE TABLE, so that the columns of today were assumed")


def read_pages(path: Path, reading: Reading, namespaces: Collection[int] | None = None) -> Iterator[PageRow]:
    """The pages of a wiki, of some namespaces or of all."""
    wanted = _kinds("page_id page_namespace page_title page_is_redirect")
    only = {} if namespaces is None else {"page_namespace": namespaces}
    found = _rows(path, reading, read_table(path), wanted, only)
    for id, namespace, title, is_redirect in cast("Iterator[tuple[int, int, str, int]]", found):
        if title:
            yield PageRow(id, namespace, _spaced(title), is_redirect != 0)
        else:
            reading.fail(SourceError(f"the page {id} has no title", str(path), hint="--on-error skip leaves it out"))


def read_redirects(path: Path, reading: Reading, namespaces: Collection[int] | None = None) -> Iterator[RedirectRow]:
    """The redirects of a wiki to pages of its own, of some namespaces or of all."""
    table = read_table(path)
    only: dict[str, Collection[Value]] = {} if namespaces is None else {"rd_namespace": namespaces}
    if "rd_interwiki" in table.columns:  # not so before 2010
        only["rd_interwiki"] = ("", None)
    found = _rows(path, reading, table, _kinds("rd_from rd_namespace rd_title"), only)
    for id, namespace, title in cast("Iterator[tuple[int, int, str]]", found):
        yield RedirectRow(id, namespace, _spaced(title))


def read_page_props(path: Path, reading: Reading) -> Iterator[PropertyRow]:
    """Those properties of pages that `SCHEMES` names."""
    wanted = _kinds("pp_page pp_propname pp_value")
    found = _rows(path, reading, read_table(path), wanted, {"pp_propname": tuple(SCHEMES)})
    for id, name, value in cast("Iterator[tuple[int, str, str]]", found):
        yield PropertyRow(id, name, value)


def read_langlinks(path: Path, reading: Reading) -> Iterator[LanguageRow]:
    """The titles of pages in other languages; links to a language without a title are left out."""
    found = _rows(path, reading, read_table(path), _kinds("ll_from ll_lang ll_title"), {})
    for id, language, title in cast("Iterator[tuple[int, str, str]]", found):
        if title:
            yield LanguageRow(id, language, _spaced(title))


def _kinds(columns: str) -> dict[str, Kind]:
    return {name: "integer" if name in _INTEGERS else "string" for name in columns.split()}


def _spaced(title: str) -> str:
    return title.replace("_", " ")


def identifiers(path: Path, reading: Reading, namespaces: Collection[int] = ARTICLES) -> Iterator[Identifier]:
    """What a dump of one of the `KNOWN_COLUMNS` tables says of the pages of its wiki.

    | table | scheme | value |
    |---|---|---|
    | page | title; is_redirect, where it is one | the title; nothing |
    | redirect | redirect | the title it leads to |
    | page_props | wikidata, disambiguation, image | the item, such as Q42; nothing; the name of the file |
    | langlinks | wikipedia:de and the like | the title there |

    `namespaces` are those of the pages of `page` and of the targets of `redirect`; titles come without their names.
    """
    name, wiki = table_of(path)
    reader = _IDENTIFIERS.get(name)
    if reader is None:
        used = ", ".join(_IDENTIFIERS)
        raise SourceError(
            f"the table {name} tells nothing of use here", str(path), hint=f"The tables in use are: {used}"
        )
    return reader(wiki, path, reading, namespaces)


_IdentifierReader = Callable[[str, Path, Reading, Collection[int]], Iterator[Identifier]]


def _of_pages(wiki: str, path: Path, reading: Reading, namespaces: Collection[int]) -> Iterator[Identifier]:
    for page in read_pages(path, reading, namespaces):
        yield Identifier(wiki, page.id, "title", page.title)
        if page.is_redirect:
            yield Identifier(wiki, page.id, "is_redirect", "")


def _of_redirects(wiki: str, path: Path, reading: Reading, namespaces: Collection[int]) -> Iterator[Identifier]:
    for redirect in read_redirects(path, reading, namespaces):
        yield Identifier(wiki, redirect.id, "redirect", redirect.title)


def _of_properties(wiki: str, path: Path, reading: Reading, _: Collection[int]) -> Iterator[Identifier]:
    for property in read_page_props(path, reading):
        scheme, value = SCHEMES[property.name], property.value
        if not value and scheme != "disambiguation":
            continue
        if scheme == "wikidata":
            yield Identifier(wiki, property.id, scheme, value.upper())
        elif scheme == "image":
            yield Identifier(wiki, property.id, scheme, _spaced(value))
        else:
            yield Identifier(wiki, property.id, scheme, "")


def _of_languages(wiki: str, path: Path, reading: Reading, _: Collection[int]) -> Iterator[Identifier]:
    for link in read_langlinks(path, reading):
        yield Identifier(wiki, link.id, f"wikipedia:{link.language}", link.title)


_IDENTIFIERS: Mapping[str, _IdentifierReader] = {
    "page": _of_pages,
    "redirect": _of_redirects,
    "page_props": _of_properties,
    "langlinks": _of_languages,
}
