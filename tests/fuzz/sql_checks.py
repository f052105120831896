"""SQL dumps from bytes, and what holds of the reading of any file whatever that should be one."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import NamedTuple

from broken_rules import holds
from edited_files import edited, edits_of

from entlink.errors import SourceError
from entlink.sources import WikiOptions, open_source
from entlink.sources.page import Identifier, Item, Page
from entlink.sources.wikitext.blanks import words

_TABLES = {
    "page": (
        "`page_id` int(8) unsigned NOT NULL,\n  `page_namespace` int(11) DEFAULT 0,\n  `page_title` varbinary(255),\n"
        "  `page_is_redirect` tinyint(1),\n  `page_random` double,\n  PRIMARY KEY (`page_id`)",
        "(1,0,'Hill',0,0.33),(2,0,'It\\'s_a_\\\"dale\\\"',1,1e-5),\n(3,1,'Hill',0,.5),(4,0,'Mound,_(x);',0,NULL)",
    ),
    "page_props": (
        "`pp_page` int,\n  `pp_propname` varbinary(60),\n  `pp_value` blob,\n  `pp_sortkey` float",
        "(1,'wikibase_item','Q308',NULL),(2,'disambiguation','',NULL),(3,'page_image_free','A_b.jpg',NULL)",
    ),
    "langlinks": (
        "`ll_from` int,\n  `ll_lang` varbinary(35),\n  `ll_title` varbinary(255)",
        "(1,'de','Hügel'),(1,'zh','丘'),(2,'fr','')",
    ),
    "redirect": (
        "`rd_from` int,\n  `rd_namespace` int,\n  `rd_title` varbinary(255),\n  `rd_interwiki` varbinary(32)",
        "(2,0,'Hill',''),(4,0,'Dale','w'),(5,0,'Mound',NULL)",
    ),
}
NAMES = tuple(_TABLES)
_SIGNS = words(
    r"""
    ` ' " \ \' \\ \0 \Z '' ( ) (1 ),( , ; -- # /* */ NULL 0x41 0xff 0x4 1e999 - . 9 0 1. +1 inf nan 1_0 ٣ q KEY UNIQUE
    `page` `page_id` (`page_id`,`page_title`) wikibase_item disambiguation LOCK Database:
    """
)
_WITH_BLANKS = (
    *("INSERT INTO ", "INSERT IGNORE INTO ", "REPLACE INTO ", "VALUES ", "CREATE TABLE ", "DROP TABLE "),
    *("PRIMARY KEY (", ";\n", "-- x\n", "/*!40000 x */;", "_binary 'a'", "-- Host: x    Database: y\n"),
    *("\n", "\r\n", " ", "\t"),
)
_BINARY = (b"\xff", b"\xed\xa0\x80", b"\xe4\xb8", b"\0", b"\x1a", b"\xef\xbb\xbf")
TOKENS = (*(token.encode() for token in (*_SIGNS, *_WITH_BLANKS)), *_BINARY)


class Table(NamedTuple):
    """A file to be read."""

    name: str
    content: bytes


def table_of(data: bytes) -> Table:
    """The file that the bytes stand for: the first says which table and packing, and the others are edits."""
    choice = data[0] if data else 0
    table, packing = NAMES[choice % len(NAMES)], choice // len(NAMES) % 3
    edits = edits_of(data[1:])
    if packing == 0:
        return Table(f"testwiki-{table}.sql", edited(_good(table), edits, TOKENS))
    if packing == 1:
        return Table(f"testwiki-{table}.sql.gz", gzip.compress(edited(_good(table), edits, TOKENS), 1, mtime=0))
    return Table(f"testwiki-{table}.sql.gz", edited(gzip.compress(_good(table), 1, mtime=0), edits, TOKENS))


@cache
def _good(table: str) -> bytes:
    columns, rows = _TABLES[table]
    return (
        f"-- MySQL dump 10.19\n-- Host: localhost    Database: testwiki\n/*!40101 SET x=1 */;\n"
        f"DROP TABLE IF EXISTS `{table}`;\nCREATE TABLE `{table}` (\n  {columns}\n) ENGINE=InnoDB;\n"
        f"INSERT INTO `{table}` VALUES {rows};\nINSERT INTO `{table}` VALUES {rows};\n-- done\n"
    ).encode()


def check_table(path: Path, table: Table) -> None:
    """Write a file, read it beside an export and alone, and check all that must hold."""
    path.write_bytes(table.content)
    for titles_only in (False, True):
        try:
            source = open_source(path, on_error="skip", wiki=WikiOptions(titles_only=titles_only))
            items = list(source.items())
        except SourceError as error:
            holds("an error names the file", error.file == str(path) and bool(error.problem), error)
            continue
        for item in items:
            check_item(item)


def check_item(item: Item) -> None:
    if isinstance(item, Page):
        holds("an entity has an id and a title", bool(item.entity.id and item.entity.title), item.entity)
        return
    holds("tables tell of pages", isinstance(item, Identifier), item)
    if isinstance(item, Identifier):
        holds("a page has a number that fits", -(1 << 63) <= item.page < 1 << 63, item)
        # What goes into the knowledge base must be text that can be written.
        holds("values can be written", "\0" not in item.value and bool(item.value.encode() or True), item)
