"""The dumps that are measured: Schools Wikipedia where it is at hand, else made up; kept under build/bench."""

from __future__ import annotations

import bz2
import random
import xml.etree.ElementTree
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import generate
import workspace
from processes import run

MAKE_DUMP = workspace.ROOT.parent / "shared" / "tools" / "make_dump.py"
ARTICLES = workspace.SHARED / "schools_wikipedia" / "articles.jsonl.xz"
ENWIKI = workspace.SHARED / "mediawiki" / "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
PAGES = 4_655  # of Schools Wikipedia, whose dump is 83 MB
_SENTENCES, _LINKED = 345, 0.075  # a page, and how many of them begin with a link: the dump is then as large
_HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n'
    '<siteinfo><sitename>Made up</sitename><dbname>madeup</dbname><namespaces><namespace key="0" /></namespaces>'
    "</siteinfo>\n"
)


def dump(repeat: int = 1) -> tuple[Path, str]:
    """A dump and what it is; with `repeat` as many copies of every page, their titles made distinct."""
    is_real = MAKE_DUMP.exists() and ARTICLES.exists()
    name = "schools" if is_real else "madeup"
    path = workspace.FOLDER / f"{name}-{repeat}.xml.bz2"
    if not path.exists():
        unfinished = path.with_name(f"unfinished-{path.name}")
        if is_real:
            run([str(MAKE_DUMP), str(ARTICLES), str(unfinished), "--repeat", str(repeat)])
        else:
            write_made_up(unfinished, repeat)
        unfinished.rename(path)
    return path, "Schools Wikipedia" if is_real else "a made-up wiki"


def write_made_up(path: Path, repeat: int = 1, pages: int = PAGES, seed: int = 11) -> None:
    """A dump of made-up pages: sentences of a table of made-up entities, some of them linked."""
    rng = random.Random(seed)
    titles = {row.title: row for row in generate.rows(pages, 3 * pages)}
    rows = list(titles.values())
    with bz2.open(path, "wt", encoding="utf8") as file:
        file.write(_HEAD)
        for copy in range(repeat):
            suffix = f" ({copy})" if copy else ""
            for number, row in enumerate(rows, 1 + copy * len(rows)):
                text = _wikitext(rng, rows, suffix)
                file.write(
                    f"<page><title>{row.title}{suffix}</title><ns>0</ns><id>{number}</id><revision><id>{number}</id>"
                    f"<model>wikitext</model><text>{text}</text></revision></page>\n"
                )
        file.write("</mediawiki>\n")


def _wikitext(rng: random.Random, rows: Sequence[generate.Row], suffix: str) -> str:
    sentences = [_sentence(rng, rng.choice(rows), suffix) for _ in range(_SENTENCES)]
    return "\n\n".join(" ".join(sentences[at : at + 5]) for at in range(0, _SENTENCES, 5))


def _sentence(rng: random.Random, row: generate.Row, suffix: str) -> str:
    if rng.random() >= _LINKED:
        return row.description
    name = rng.choice([row.title, *row.aliases])
    return f"[[{row.title}{suffix}|{name}]]{row.description.removeprefix(row.title)}"


def page_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Title and wikitext of every page, read by the standard library alone."""
    with bz2.open(path, "rb") as file:
        title = ""
        for _, element in xml.etree.ElementTree.iterparse(cast(BinaryIO, file)):
            tag = element.tag.rpartition("}")[2]
            if tag == "title":
                title = element.text or ""
            elif tag == "text":
                yield title, element.text or ""
            elif tag == "page":
                element.clear()
