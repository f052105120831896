"""Real dumps: every page is read, and what is left looks like text."""

from __future__ import annotations

import bz2
import re
from html import unescape
from pathlib import Path

import pytest

from entlink.sources.wikitext import Site, parse

SHARED_DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "mediawiki"
DUMPS = [
    "enwiki-table-markup.xml.bz2",
    "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
    "tinywiki-latest-pages-articles.xml",
]
MARKUP = re.compile(r"\[\[|\{\{|\{\||<ref|'''|&nbsp;")


@pytest.mark.parametrize("name", DUMPS)
def test_dump(name: str):
    path = SHARED_DATA / name
    if not path.exists():
        pytest.skip(f"the real dumps are not at {SHARED_DATA}")
    data = bz2.decompress(path.read_bytes()) if path.suffix == ".bz2" else path.read_bytes()
    texts = [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", data.decode("utf8"))]
    pages = [parse(text, Site(), lambda name, arguments: None) for text in texts]
    paragraphs = [paragraph for page in pages for paragraph in page.paragraphs]
    assert len(paragraphs) > len(texts)
    odd = sum(MARKUP.search(paragraph.text) is not None for paragraph in paragraphs)
    assert odd <= len(paragraphs) / 1000
