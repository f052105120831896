from __future__ import annotations

from pathlib import Path

import pytest

from dump_files import brief, pages_and_errors, plainly_read, read
from entlink.io.files import Meter, open_bytes
from entlink.sources.mediawiki.dumps import read_site


@pytest.fixture
def mediawiki(shared_data) -> Path:
    folder = shared_data / "mediawiki"
    if not folder.is_dir():
        pytest.skip(f"there are no dumps at {folder}")
    return folder


def whole(path: Path) -> bytes:
    with open_bytes(path, Meter()) as file:
        return file.read()


@pytest.mark.parametrize(
    "name",
    [
        "aawiki-20260101-pages-meta-current.xml.bz2",
        "bgwiki-latest-pages-articles-shortened.xml.bz2",
        "enwiki-20140102.tiny.xml.gz",
        "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
        "enwiki-table-markup.xml.bz2",
        "smallwiki-latest-pages-articles.xml",
        "tinywiki-latest-pages-articles.xml",
    ],
)
def test_read_as_by_the_standard_parser(mediawiki, name):
    path = mediawiki / name
    expected = plainly_read(whole(path))
    for size in (None, 400_000):
        pages, errors = pages_and_errors(read(path, size))
        assert errors == []
        assert brief(pages) == expected
    assert read_site(path).language == {"aa": "aa", "bg": "bg", "en": "en"}.get(name[:2], "ltg")


def test_the_history_ends_in_the_current_pages(mediawiki):
    current = read(mediawiki / "aawiki-20260101-pages-meta-current.xml.bz2")
    history = read(mediawiki / "aawiki-20260101-pages-meta-history.xml.7z", 100_000)
    assert brief(history) == brief(current)
    assert [page.redirect for page in history] == [page.redirect for page in current]
    for old, new in zip(history, current, strict=True):
        assert old.created is not None
        assert new.created in (None, old.created)
        assert set(new.moves) <= set(old.moves)
    assert sum(len(page.moves) for page in history) == 140


def test_pages_without_an_export_around_them(mediawiki):
    pages, errors = pages_and_errors(read(mediawiki / "page_sample.xml", 7_000))
    assert errors == []
    assert [page.created is not None for page in pages] == [True, True, True]
