from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from entlink.errors import SourceError
from entlink.sources.columns import ColumnMapping
from entlink.sources.mediawiki.sql_dumps import (
    LanguageRow,
    PageRow,
    PropertyRow,
    RedirectRow,
    identifiers,
    read_langlinks,
    read_page_props,
    read_pages,
    read_redirects,
    read_table,
    rows,
    table_of,
)
from entlink.sources.page import Identifier
from entlink.sources.reading import Reading

PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
PROPS = """CREATE TABLE `page_props` (
  `pp_page` int(10) unsigned NOT NULL,
  `pp_propname` varbinary(60) NOT NULL,
  `pp_value` blob NOT NULL,
  `pp_sortkey` float DEFAULT NULL,
  PRIMARY KEY (`pp_page`,`pp_propname`)
);
"""


def reading_of(path: Path, on_error: str = "stop") -> Reading:
    return Reading((path,), ColumnMapping(None), on_error, None)


# --- the layouts of three ages, as mysqldump wrote them ---

HEAD_2008 = """-- MySQL dump 10.11
--
-- Host: 10.0.0.5    Database: toywiki
-- ------------------------------------------------------
-- Server version\t4.0.40-wikimedia-log

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET NAMES latin1 */;

"""
PAGE_2008 = (
    HEAD_2008
    + """--
-- Table structure for table `page`
--

DROP TABLE IF EXISTS `page`;
CREATE TABLE `page` (
  `page_id` int(8) unsigned NOT NULL auto_increment,
  `page_namespace` int(11) NOT NULL default '0',
  `page_title` varchar(255) binary NOT NULL default '',
  `page_restrictions` tinyblob NOT NULL,
  `page_counter` bigint(20) unsigned NOT NULL default '0',
  `page_is_redirect` tinyint(1) unsigned NOT NULL default '0',
  `page_is_new` tinyint(1) unsigned NOT NULL default '0',
  `page_random` double unsigned NOT NULL default '0',
  `page_touched` varchar(14) binary NOT NULL default '',
  `page_latest` int(8) unsigned NOT NULL default '0',
  `page_len` int(8) unsigned NOT NULL default '0',
  PRIMARY KEY  (`page_id`),
  UNIQUE KEY `name_title` (`page_namespace`,`page_title`),
  KEY `page_random` (`page_random`)
) TYPE=InnoDB;

--
-- Dumping data for table `page`
--


/*!40000 ALTER TABLE `page` DISABLE KEYS */;
LOCK TABLES `page` WRITE;
INSERT INTO `page` VALUES (1,0,'Hen','edit=sysop:move=sysop',12,0,0,0.31,'20080102030405',7,99),(2,0,'Cock','',0,1,1,\
1.5e-05,'20080102030405',8,20);
INSERT INTO `page` VALUES (3,1,'O\\'Hara_\\"Egg\\"','',0,0,0,0,'20080102030405',9,0);
UNLOCK TABLES;
/*!40000 ALTER TABLE `page` ENABLE KEYS */;

-- Dump completed on 2008-03-12 23:39:36
"""
)
REDIRECT_2008 = (
    HEAD_2008
    + """DROP TABLE IF EXISTS `redirect`;
CREATE TABLE `redirect` (
  `rd_from` int(8) unsigned NOT NULL default '0',
  `rd_namespace` int(11) NOT NULL default '0',
  `rd_title` varchar(255) binary NOT NULL default '',
  PRIMARY KEY  (`rd_from`),
  KEY `rd_ns_title` (`rd_namespace`,`rd_title`,`rd_from`)
) TYPE=InnoDB;
INSERT INTO `redirect` VALUES (2,0,'Hen_(bird)'),(5,4,'Rules');
"""
)
LANGLINKS_2008 = (
    HEAD_2008
    + """CREATE TABLE `langlinks` (
  `ll_from` int(8) unsigned NOT NULL default '0',
  `ll_lang` varchar(10) binary NOT NULL default '',
  `ll_title` varchar(255) binary NOT NULL default '',
  UNIQUE KEY `ll_from` (`ll_from`,`ll_lang`),
  KEY `ll_lang` (`ll_lang`,`ll_title`)
) TYPE=InnoDB;
INSERT INTO `langlinks` VALUES (1,'de','Huhn'),(1,'zh-min-nan','Ke-bú'),(1,'fr',''),(2,'el','Κόκορας της_αυλής');
"""
)
HEAD_2015 = """-- MySQL dump 10.13  Distrib 5.5.46, for debian-linux-gnu (x86_64)
--
-- Host: 10.64.32.25    Database: toywiki
-- ------------------------------------------------------
-- Server version\t10.0.22-MariaDB-log

/*!40101 SET NAMES utf8 */;
/*!40103 SET TIME_ZONE='+00:00' */;

"""
PAGE_2015 = (
    HEAD_2015
    + """DROP TABLE IF EXISTS `page`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
CREATE TABLE `page` (
  `page_id` int(8) unsigned NOT NULL AUTO_INCREMENT,
  `page_namespace` int(11) NOT NULL DEFAULT '0',
  `page_title` varbinary(255) NOT NULL DEFAULT '',
  `page_restrictions` tinyblob NOT NULL,
  `page_counter` bigint(20) unsigned NOT NULL DEFAULT '0',
  `page_is_redirect` tinyint(1) unsigned NOT NULL DEFAULT '0',
  `page_is_new` tinyint(1) unsigned NOT NULL DEFAULT '0',
  `page_random` double unsigned NOT NULL DEFAULT '0',
  `page_touched` varbinary(14) NOT NULL DEFAULT '',
  `page_links_updated` varbinary(14) DEFAULT NULL,
  `page_latest` int(8) unsigned NOT NULL DEFAULT '0',
  `page_len` int(8) unsigned NOT NULL DEFAULT '0',
  `page_content_model` varbinary(32) DEFAULT NULL,
  PRIMARY KEY (`page_id`)
) ENGINE=InnoDB AUTO_INCREMENT=10 DEFAULT CHARSET=binary;
INSERT INTO `page` VALUES (1,0,'Hen','',0,0,0,0.31,'20150102030405',NULL,7,99,'wikitext'),\
(2,0,'Cock','',0,1,1,0.5,'20150102030405','20150102030405',8,20,NULL),\
(3,1,'O\\'Hara_\\"Egg\\"','',0,0,0,0,'20150102030405',NULL,9,0,NULL);
"""
)
REDIRECT_2015 = (
    HEAD_2015
    + """CREATE TABLE `redirect` (
  `rd_from` int(8) unsigned NOT NULL DEFAULT '0',
  `rd_namespace` int(11) NOT NULL DEFAULT '0',
  `rd_title` varbinary(255) NOT NULL DEFAULT '',
  `rd_interwiki` varbinary(32) DEFAULT NULL,
  `rd_fragment` varbinary(255) DEFAULT NULL,
  PRIMARY KEY (`rd_from`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
INSERT INTO `redirect` VALUES (2,0,'Hen_(bird)',NULL,NULL),(5,4,'Rules','','Eggs; and (more)'),(6,0,'Egg','wikt','');
"""
)
PROPS_2015 = (
    HEAD_2015
    + """CREATE TABLE `page_props` (
  `pp_page` int(11) NOT NULL,
  `pp_propname` varbinary(60) NOT NULL,
  `pp_value` blob NOT NULL,
  PRIMARY KEY (`pp_page`,`pp_propname`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
INSERT INTO `page_props` VALUES (1,'wikibase_item','q780'),(1,'page_image','Hen_and_chick.jpg'),\
(4,'disambiguation','yes'),(1,'defaultsort','Hen');
"""
)
HEAD_2024 = """/*M!999999\\- enable the sandbox mode */\x20
-- MariaDB dump 10.19  Distrib 10.5.23-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: db1206.eqiad.wmnet    Database: toywiki
-- ------------------------------------------------------
-- Server version\t10.6.16-MariaDB-log

/*!40101 SET NAMES utf8mb4 */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;

"""
PAGE_2024 = (
    HEAD_2024
    + """DROP TABLE IF EXISTS `page`;
CREATE TABLE `page` (
  `page_id` int(8) unsigned NOT NULL AUTO_INCREMENT,
  `page_namespace` int(11) NOT NULL DEFAULT 0,
  `page_title` varbinary(255) NOT NULL DEFAULT '',
  `page_is_redirect` tinyint(1) unsigned NOT NULL DEFAULT 0,
  `page_is_new` tinyint(1) unsigned NOT NULL DEFAULT 0,
  `page_random` double unsigned NOT NULL DEFAULT 0,
  `page_touched` binary(14) NOT NULL,
  `page_links_updated` varbinary(14) DEFAULT NULL,
  `page_latest` int(8) unsigned NOT NULL DEFAULT 0,
  `page_len` int(8) unsigned NOT NULL DEFAULT 0,
  `page_content_model` varbinary(32) DEFAULT NULL,
  `page_lang` varbinary(35) DEFAULT NULL,
  PRIMARY KEY (`page_id`)
) ENGINE=InnoDB AUTO_INCREMENT=10 DEFAULT CHARSET=binary;
INSERT INTO `page` VALUES
(1,0,'Hen',0,0,0.31,'20240102030405',NULL,7,99,'wikitext',NULL),
(2,0,'Cock',1,1,0.5,'20240102030405','20240102030405',8,20,'wikitext',NULL),
(3,1,'O\\'Hara_\\"Egg\\"',0,0,0,'20240102030405',NULL,9,0,'wikitext',NULL);
"""
)
REDIRECT_2024 = (
    REDIRECT_2015.replace(HEAD_2015, HEAD_2024).replace("DEFAULT '0'", "DEFAULT 0").replace("NULL,NULL", "'',''")
)
PROPS_2024 = (
    HEAD_2024
    + PROPS
    + """INSERT INTO `page_props` VALUES
(1,'wikibase_item','Q780',NULL),
(1,'page_image_free','Hen_and_chick.jpg',NULL),
(4,'disambiguation','',NULL),
(1,'wikibase-shortdesc','bird, \\'Gallus\\'; (domestic)',0);
"""
)

PAGES = [PageRow(1, 0, "Hen", False), PageRow(2, 0, "Cock", True), PageRow(3, 1, 'O\'Hara "Egg"', False)]


@pytest.mark.parametrize("dump", [PAGE_2008, PAGE_2015, PAGE_2024], ids=["2008", "2015", "2024"])
def test_page_of_all_ages(write, dump):
    path = write("page.sql", dump)
    assert list(read_pages(path, reading_of(path))) == PAGES
    assert list(read_pages(path, reading_of(path), {1})) == PAGES[2:]
    assert list(identifiers(path, reading_of(path))) == [
        Identifier("toywiki", 1, "title", "Hen"),
        Identifier("toywiki", 2, "title", "Cock"),
        Identifier("toywiki", 2, "is_redirect", ""),
    ]


@pytest.mark.parametrize("dump", [REDIRECT_2008, REDIRECT_2015, REDIRECT_2024], ids=["2008", "2015", "2024"])
def test_redirect_of_all_ages(write, dump):
    path = write("redirect.sql", dump)
    assert list(read_redirects(path, reading_of(path))) == [
        RedirectRow(2, 0, "Hen (bird)"),
        RedirectRow(5, 4, "Rules"),
    ]
    assert list(identifiers(path, reading_of(path))) == [Identifier("toywiki", 2, "redirect", "Hen (bird)")]
    assert list(identifiers(path, reading_of(path), {4})) == [Identifier("toywiki", 5, "redirect", "Rules")]


def test_page_props_of_2015(write):
    path = write("page_props.sql", PROPS_2015)
    assert list(read_page_props(path, reading_of(path))) == [
        PropertyRow(1, "wikibase_item", "q780"),
        PropertyRow(1, "page_image", "Hen_and_chick.jpg"),
        PropertyRow(4, "disambiguation", "yes"),
    ]


@pytest.mark.parametrize("dump", [PROPS_2015, PROPS_2024], ids=["2015", "2024"])
def test_identifiers_of_page_props(write, dump):
    path = write("page_props.sql", dump)
    assert list(identifiers(path, reading_of(path))) == [
        Identifier("toywiki", 1, "wikidata", "Q780"),
        Identifier("toywiki", 1, "image", "Hen and chick.jpg"),
        Identifier("toywiki", 4, "disambiguation", ""),
    ]


@pytest.mark.parametrize("dump", [LANGLINKS_2008, LANGLINKS_2008.replace(HEAD_2008, HEAD_2024)], ids=["2008", "2024"])
def test_langlinks(write, dump):
    path = write("langlinks.sql", dump)
    assert list(read_langlinks(path, reading_of(path))) == [
        LanguageRow(1, "de", "Huhn"),
        LanguageRow(1, "zh-min-nan", "Ke-bú"),
        LanguageRow(2, "el", "Κόκορας της αυλής"),
    ]
    assert next(identifiers(path, reading_of(path))) == Identifier("toywiki", 1, "wikipedia:de", "Huhn")


@pytest.mark.parametrize("suffix", PACK)
def test_packed(write, suffix):
    path = write(f"toywiki-page.sql.{suffix}", PACK[suffix](PAGE_2024.encode()))
    reading = reading_of(path)
    assert list(read_pages(path, reading)) == PAGES
    assert reading.meter.consumed == path.stat().st_size


# --- tables ---


@pytest.mark.parametrize(
    ("name", "dump", "expected"),
    [
        ("xwiki-20240101-page.sql", PAGE_2024, ("page", "toywiki")),
        ("xwiki-20240101-page_props.sql", PROPS, ("page_props", "xwiki")),
        ("props.sql", PROPS, ("page_props", "")),
        ("a.sql", "INSERT INTO langlinks VALUES (1,'de','Ei');", ("langlinks", "")),
        ("a.sql", "\ufeff# note\nREPLACE INTO `my`.`langlinks` VALUES (1,'de','Ei');", ("langlinks", "")),
        ("a.sql", "insert ignore into `t`(`a`) values (1);", ("t", "")),
    ],
)
def test_table_of(write, name, dump, expected):
    assert table_of(write(name, dump)) == expected


def test_columns_are_those_of_create_table(write):
    create = """create table if not exists `w`.`t` (`a b` int(3) COMMENT 'x, y ( \\' z', key_of ENUM('(',',`c` int'),
      `d` decimal(10,2) NOT NULL, PRIMARY KEY (`a b`), key `k` (`d`(3),`a b`), CONSTRAINT `x` FOREIGN KEY (`d`)
      REFERENCES `o` (`e`)) ENGINE=InnoDB COMMENT='(`f` int)';"""
    table = read_table(write("t.sql", create))
    assert (table.name, table.columns, table.has_layout) == ("t", ("a b", "key_of", "d"), True)


def test_an_insert_may_name_its_columns(write):
    named = "INSERT INTO `page_props` (`pp_value`, `pp_page`) VALUES ('a',1);\n"
    path = write("props.sql", PROPS + named + "INSERT INTO page_props VALUES (2,'x','b',0);")
    assert list(rows(path, reading_of(path), ["pp_page", "pp_value"])) == [(1, "a"), (2, "b")]


def test_columns_are_given_in_the_order_asked(write):
    path = write("props.sql", PROPS_2024)
    assert list(rows(path, reading_of(path), ["pp_sortkey", "pp_page"])) == [(None, 1), (None, 1), (None, 4), (0, 1)]
    found = rows(path, reading_of(path), ["pp_value"], only={"pp_page": {1}, "pp_sortkey": {0}})
    assert list(found) == [("bird, 'Gallus'; (domestic)",)]


def test_table_without_rows(write):
    path = write("props.sql", PROPS)
    assert list(identifiers(path, reading_of(path))) == []


def test_without_create_table_the_columns_of_today(write):
    dump = PAGE_2024[PAGE_2024.index("INSERT") :]
    path = write("toywiki-page.sql", dump)
    assert list(read_pages(path, reading_of(path))) == PAGES
    assert not read_table(path).has_layout
    old = write("old.sql", PAGE_2008[PAGE_2008.index("INSERT") :])
    with pytest.raises(SourceError, match=r"row 1 has 11 values, but the table 12 columns\. The file has no CREATE"):
        list(read_pages(old, reading_of(old)))


def test_a_table_that_is_not_used(write):
    path = write("a.sql", "CREATE TABLE `pagelinks` (\n`pl_from` int\n);")
    with pytest.raises(SourceError, match=r"table pagelinks .* in use are: page, redirect, page_props, langlinks"):
        identifiers(path, reading_of(path))


def test_a_column_that_is_missing(write):
    path = write("a.sql", PROPS)
    with pytest.raises(SourceError, match=r"no column 'pp_colour'\. Its columns are: pp_page, pp_propname"):
        rows(path, reading_of(path), ["pp_page", "pp_colour"])
    with pytest.raises(SourceError, match="no column 'page_id'"):
        list(read_pages(path, reading_of(path)))


@pytest.mark.parametrize("columns", [[], ["pp_page", "pp_page"]])
def test_columns_asked_for_in_vain(write, columns):
    path = write("a.sql", PROPS)
    with pytest.raises(SourceError, match="each once"):
        rows(path, reading_of(path), columns)


# --- real dumps ---


@pytest.mark.parametrize(
    ("table", "columns"), [("categorylinks", ["cl_from", "cl_type"]), ("pagelinks", ["pl_from"])]
)
def test_real_dumps(shared_data, table, columns):
    path = shared_data / "mediawiki" / f"aawiki-20260101-{table}.sql.gz"
    if not path.exists():
        pytest.skip(f"{path} is absent")
    assert table_of(path) == (table, "aawiki")
    inserts = [line for line in gzip.decompress(path.read_bytes()).split(b"\n") if line.startswith(b"INSERT")]
    given = list(rows(path, reading_of(path), columns))
    assert len(given) == sum(line.count(b"),(") + 1 for line in inserts) > 10
    assert all(isinstance(row[0], int) for row in given)
    with pytest.raises(SourceError, match=f"the table {table} tells nothing of use"):
        identifiers(path, reading_of(path))
