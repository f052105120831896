"""Builds from dumps that are cut off, damaged, hostile or no dumps at all, that are killed, or whose disk fills."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dump_files import sevenzip
from entlink.io.checksums import checksums
from entlink.kb.build.from_sources import build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.manifest import Manifest
from entlink_cli import main
from wiki_dumps import WikiPage, export, write_dump

PACK: dict[str, Callable[[bytes], bytes]] = {
    "xml": bytes,
    "xml.bz2": lambda data: b"".join(bz2.compress(piece) for piece in streams(data)),
    "xml.gz": gzip.compress,
    "xml.xz": lzma.compress,
    "xml.7z": sevenzip,
}
COUNT = 60
LEFTOVERS = r"entlink: [^\n]+wiki\.kb\.building keeps what was done: [^\n]+, or remove it\n"
BEE, ANT = WikiPage("Bee", "A bee is no [[ant]]."), WikiPage("Ant", "An ant is no [[bee]].")


def streams(data: bytes) -> list[bytes]:
    """As Wikipedia packs its dumps: some pages to a stream."""
    pages = [piece + b"</page>\n" for piece in data.split(b"</page>\n")]
    pages[-1] = pages[-1].removesuffix(b"</page>\n")
    return [b"".join(pages[at : at + 5]) for at in range(0, len(pages), 5)]


def things(count: int = COUNT) -> list[WikiPage]:
    """Pages with links whose text packs badly, so that damage hits few of them."""
    pick = random.Random(5)
    return [
        WikiPage(f"Thing {n}", f"It is near [[Thing {n * 7 % count}|thing]]. " + f"{pick.getrandbits(2400):x}")
        for n in range(count)
    ]


class Ran(NamedTuple):
    """What a command came to."""

    code: int
    error: str


@pytest.fixture
def built(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Ran]:
    """Runs `entlink kb build` into wiki.kb: an error is one line, and one on what is left; nothing is in place."""

    def run(*words: object) -> Ran:
        code = main(["kb", "build", *map(str, words), "-o", str(tmp_path / "wiki.kb"), "--quiet"])
        error = capsys.readouterr().err
        assert (tmp_path / "wiki.kb").exists() == (code == 0)
        assert not code or re.fullmatch(rf"entlink: error: [^\n]+\n({LEFTOVERS})?", error)
        return Ran(code, error)

    return run


def manifest_of(tmp_path: Path) -> Manifest:
    with KnowledgeBase.open(tmp_path / "wiki.kb") as kb:
        return kb.manifest()


@pytest.mark.parametrize("kind", PACK)
def test_a_dump_that_is_cut_off_is_refused_or_kept_up_to_there(built, tmp_path, kind):
    packed = PACK[kind](export(things()).encode())
    dump = tmp_path / f"cut.{kind}"
    dump.write_bytes(packed[: len(packed) // 2])
    refused = built(dump)
    assert refused.code == 3
    assert f"{dump}, byte {len(packed) // 2}: " in refused.error
    assert "Fetch the file again; with --on-error skip all that could be read is kept" in refused.error
    assert built(dump, "--on-error", "skip").code == 0
    manifest = manifest_of(tmp_path)
    assert COUNT / 2 - 7 < manifest.entities <= COUNT / 2
    assert (manifest.sources[0].skipped, len(manifest.problems)) == (1, 1)


@pytest.mark.parametrize(("kind", "kept"), [("xml", COUNT - 1), ("xml.bz2", COUNT - 5), ("xml.xz", 10)])
def test_damage_in_the_middle_costs_only_what_it_hits(built, tmp_path, kind, kept):
    packed = bytearray(PACK[kind](export(things()).encode()))
    middle = len(packed) // 2
    packed[middle : middle + 8] = bytes(8)
    dump = tmp_path / f"damaged.{kind}"
    dump.write_bytes(packed)
    refused = built(dump)
    assert refused.code == 3
    assert re.search(rf"{re.escape(str(dump))}, .*byte \d+", refused.error)
    assert built(dump, "--on-error", "skip").code == 0
    assert kept <= manifest_of(tmp_path).entities < COUNT
    assert len(manifest_of(tmp_path).problems) == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a.xml.bz2",
            gzip.compress(b"<mediawiki>", mtime=0),
            "the name says bzip2 but its content is gzip. Rename the file",
        ),
        ("a.xml.gz", b"<mediawiki>", "the name says gzip but its content is not compressed. Rename the file"),
        ("a.xml.7z", b"", "the name says 7-Zip but it is empty"),
        ("a.sql", b"<mediawiki>", "this is not a dump of a table. Give a file like"),
    ],
)
def test_files_that_are_not_what_their_names_say(built, tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    refused = built(tmp_path / name, "--on-error", "skip")
    assert refused.code == 3
    assert f"{tmp_path / name}" in refused.error
    assert said in refused.error


@pytest.mark.parametrize("content", [b"", b"\n\n", b"<!DOCTYPE html>\n<html><body>503</body></html>"])
def test_an_empty_file_and_a_web_page_are_no_dumps(built, tmp_path, content):
    (tmp_path / "a.xml").write_bytes(content)
    for words in ((), ("--format", "mediawiki")):
        refused = built(tmp_path / "a.xml", *words)
        assert refused.code == 3
        assert str(tmp_path / "a.xml") in refused.error


def test_a_folder_is_no_dump(built, tmp_path):
    (tmp_path / "folder").mkdir()
    write_dump(tmp_path / "folder" / "a.xml", [ANT])
    for words in ((), ("--format", "mediawiki")):
        refused = built(tmp_path / "folder", *words)
        assert refused.code == 3
        assert "folder" in refused.error


def test_a_wiki_without_pages_makes_an_empty_knowledge_base(built, tmp_path):
    assert built(write_dump(tmp_path / "none.xml", [])).code == 0
    assert manifest_of(tmp_path).entities == 0


@pytest.mark.parametrize("title", ["B\x07ee", "B\x85ee", ""])
def test_titles_that_cannot_be(built, tmp_path, title):
    dump = tmp_path / "wiki.xml"
    dump.write_text(export([ANT, BEE]).replace("<title>Bee", f"<title>{title}"), encoding="utf8", newline="")
    refused = built(dump)
    assert refused.code == 3
    assert re.search(rf"{re.escape(str(dump))}, (page '|the page )", refused.error)
    assert built(dump, "--on-error", "skip").code == 0
    assert manifest_of(tmp_path).entities == 1


def test_redirects_in_a_ring_and_to_nothing(built, tmp_path):
    ring = [WikiPage(f"Ring {n}", redirect=f"Ring {(n + 1) % 3}") for n in range(3)]
    alone = [WikiPage("Self", redirect="Self"), WikiPage("Lost", redirect="Nowhere")]
    linking = WikiPage("Ant", "[[Ring 1]], [[Self]], [[Lost]] and [[Bee]].")
    assert built(write_dump(tmp_path / "wiki.xml", [*ring, *alone, linking, BEE])).code == 0
    manifest = manifest_of(tmp_path)
    assert (manifest.entities, manifest.links, manifest.links_unresolved) == (2, 2, 3)
    assert manifest.wiki is not None
    assert (manifest.wiki.loops, manifest.wiki.to_nothing) == (4, 1)


UNCLOSED = ("[[", "{{", "{|\n", "<ref>", "<!--", "'''", "[[File:a|", "{{{1|", "-{")
UNOPENED = ("]]", "}}", "|}", "</ref>", "-->", "&", "}-")
HOSTILE = {
    **{sign: sign * (40_000 // len(sign)) for sign in (*UNCLOSED, *UNOPENED)},
    "nested": "[[a|{{b|<ref>" * 3_000 + "</ref>}}]]" * 3_000,
    "pipe trick": "[[a" + "_" * 40_000 + "b|]]",
    "everything open": "[[a|'''b {{c|<ref>[http://d {|\n|- <nowiki> <!-- {{{e|",
}


def test_hostile_wikitext_takes_nothing_from_its_neighbours(built, tmp_path):
    pages = [WikiPage(f"Page {n}", text) for n, text in enumerate(HOSTILE.values())]
    assert built(write_dump(tmp_path / "wiki.xml", [ANT, *pages, BEE])).code == 0
    manifest = manifest_of(tmp_path)
    assert (manifest.entities, manifest.sources[0].skipped) == (len(HOSTILE) + 2, 0)
    with KnowledgeBase.open(tmp_path / "wiki.kb") as kb:
        assert kb.require("Bee").description == "A bee is no ant."


TABLE = """-- Host: localhost    Database: testwiki
CREATE TABLE `page_props` (`pp_page` int, `pp_propname` varbinary(60), `pp_value` blob);
INSERT INTO `page_props` VALUES (1,'wikibase_item','Q1'),(2,'wikibase_item','Q2'),{};
"""


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("(2,'wikibase_item')", "row 3 has 2 values, but the table 3 columns"),
        (f"({'9' * 30},'wikibase_item','Q3')", "pp_page"),
    ],
)
def test_a_bad_row_of_a_table(built, tmp_path, row, said):
    dump, table = write_dump(tmp_path / "wiki.xml", [ANT, BEE]), tmp_path / "testwiki-page_props.sql"
    table.write_text(TABLE.format(row))
    refused = built(dump, table)
    assert refused.code == 3
    assert re.search(rf"{re.escape(str(table))}, .*line 3, byte \d+", refused.error)
    assert said in refused.error
    assert built(dump, table, "--on-error", "skip").code == 0
    with KnowledgeBase.open(tmp_path / "wiki.kb") as kb:
        assert {entity.id: entity.external["wikidata"] for entity in kb} == {"Ant": "Q1", "Bee": "Q2"}


# Runs a build in small parts; at a chosen one of the moments when a file gets its name, the process gets a signal.
STRUCK = """
import os, sys
from importlib import import_module
from entlink_cli import main
left, number = int(sys.argv[1]), int(sys.argv[2])
def strike(event, arguments):
    global left
    if event == "os.rename":
        left -= 1
        if left == 0:
            os.kill(os.getpid(), number)
import_module("entlink.sources.mediawiki.dumps.parts").PLAIN_PART = 40_000
sys.addaudithook(strike)
sys.exit(main(["kb", "build", sys.argv[3], "-o", sys.argv[4], "--quiet", "--processes", "1"]))
"""


def struck(moment: int, number: signal.Signals, dump: Path, target: Path, limit: int | None = None) -> Ran:
    def set_limit() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-c", STRUCK, str(moment), str(int(number)), str(dump), str(target)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=set_limit)
    assert "Traceback" not in ran.stderr
    assert target.exists() == (ran.returncode == 0)
    return Ran(ran.returncode, ran.stderr)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump, and beside it the knowledge base that a build makes of it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    dump = write_dump(folder / "wiki.xml", things(120))
    build([dump], folder / "wiki.kb")
    return folder


def files(folder: Path) -> dict[str, str]:
    """Checksums of all that is counted and indexed; the cards of indexes, which say when they were made, left out."""
    found = checksums(folder / "counts") | checksums(folder / "index-1")
    return {name: one for name, one in found.items() if not name.endswith(("index.json", "complete.json"))}


def test_a_build_killed_again_and_again_comes_to_the_same(undisturbed, tmp_path):
    target, kills = tmp_path / "wiki.kb", 0
    while not target.exists():
        kills += 1
        ran = struck(kills, signal.SIGKILL, undisturbed / "wiki.xml", target)
        assert ran.code == (0 if target.exists() else -signal.SIGKILL)
    assert kills > 5
    assert files(target) == files(undisturbed / "wiki.kb")
    assert [path.name for path in tmp_path.iterdir()] == ["wiki.kb"]


def test_an_interrupted_build_says_how_to_go_on(undisturbed, tmp_path):
    target = tmp_path / "wiki.kb"
    ran = struck(4, signal.SIGINT, undisturbed / "wiki.xml", target)
    assert ran.code == 130
    assert (
        f"{target}.building keeps what was done: run the command again to go on from there, or remove it" in ran.error
    )
    assert struck(0, signal.SIGINT, undisturbed / "wiki.xml", target).code == 0
    assert files(target) == files(undisturbed / "wiki.kb")


@pytest.mark.parametrize("limit", [12_000, 60_000])
def test_a_disk_that_fills_loses_nothing(undisturbed, tmp_path, limit):
    target = tmp_path / "wiki.kb"
    ran = struck(0, signal.SIGKILL, undisturbed / "wiki.xml", target, limit)
    assert ran.code == 1
    assert re.fullmatch(
        rf"entlink: error: .*(file too large|disk I/O error|the disk is full).*\n{LEFTOVERS}", ran.error
    )
    assert struck(0, signal.SIGKILL, undisturbed / "wiki.xml", target).code == 0
    assert files(target) == files(undisturbed / "wiki.kb")
