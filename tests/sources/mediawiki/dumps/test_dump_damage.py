from __future__ import annotations

import bz2
import gzip

import pytest

from dump_files import (
    PACK,
    brief,
    export,
    noise,
    noisy_export,
    page,
    pages_and_errors,
    plainly_read,
    read,
    read_or_fail,
    revision,
)
from entlink.errors import SourceError
from entlink.sources.mediawiki.dumps import parts, read_site

SMALL = noisy_export(7, 1500)
EXPECTED = plainly_read(SMALL)


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("size", [None, 1500])
def test_a_file_cut_off_anywhere(write, kind, size):
    packed = PACK[kind](SMALL)
    kept = []
    for length in range(0, len(packed) - 1, 100):
        pages, errors = read_or_fail(write(f"a.{kind}", packed[:length]), size)
        assert brief(pages) == EXPECTED[: len(pages)]
        kept.append(len(pages))
        assert len(errors) == 1
        assert "cut off" in str(errors[0]) or "the data end in the middle of a page" in str(errors[0]) or length < 100
    assert kept == sorted(kept)
    # A bzip2 block can only be unpacked whole, and the small file is one of them.
    assert kept[-1] >= 6 or kind == "xml.bz2"


@pytest.mark.parametrize("kind", PACK)
def test_the_error_of_a_cut_off_file_says_where_and_what_to_do(write, kind):
    data = noisy_export(60, 4000)
    packed = PACK[kind](data)
    length = len(packed) * 3 // 4
    path = write(f"a.{kind}", packed[:length])
    pages, errors = pages_and_errors(read(path))
    assert 20 < len(pages) < 60
    assert len(errors) == 1
    assert errors[0].file == str(path)
    assert errors[0].position == f"byte {length}"
    assert "is lost with it" in errors[0].problem or "multistream" in kind
    assert errors[0].hint == "Fetch the file again; with --on-error skip all that could be read is kept"


@pytest.mark.parametrize("kind", PACK)
def test_bytes_changed_anywhere(write, kind):
    packed = PACK[kind](SMALL)
    titles = {row[0] for row in EXPECTED}
    for at in range(7, len(packed), 211):
        changed = packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1 :]
        pages, errors = read_or_fail(write(f"a.{kind}", changed))
        # In a plain file a letter may have changed, which nobody can know.
        assert kind == "xml" or errors or brief(pages) == EXPECTED
        assert len(pages) + len(errors) > 0
        assert kind == "xml" or {page.title for page in pages} <= titles


@pytest.mark.parametrize("kind", ["xml.gz", "xml.xz", "xml.7z"])
def test_damage_in_the_middle_keeps_the_pages_before(write, kind):
    data = noisy_export(40, 8_000)
    packed = bytearray(PACK[kind](data))
    middle = len(packed) * 2 // 3
    packed[middle : middle + 64] = bytes(64)
    pages, errors = pages_and_errors(read(write(f"a.{kind}", bytes(packed))))
    assert len(pages) > 10
    assert brief(pages)[:10] == plainly_read(data)[:10]
    assert any("the compressed data is" in str(error) for error in errors)


def test_cut_off_between_two_pages(write):
    data = export(page("Hill", 1, revision("x")), page("Dale", 2, revision("y")))
    cut = data[: data.rindex(b"  <page>")]
    for kind in PACK:
        pages, errors = pages_and_errors(read(write(f"a.{kind}", PACK[kind](cut))))
        assert [page.title for page in pages] == ["Hill"]
        assert "ends without </mediawiki>: it is cut off" in str(errors[0])
        assert len(errors) == 1


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.xml", b"", "the file is empty"),
        ("a.xml", b" \n", "the file is empty"),
        ("a.xml.bz2", b"", "the name says bzip2 but it is empty"),
        ("a.xml.7z", b"", "the name says 7-Zip but it is empty"),
        ("a.xml.bz2", bz2.compress(b""), "the file is empty"),
        ("a.xml.bz2", gzip.compress(SMALL, mtime=0), "the name says bzip2 but its content is gzip"),
        ("a.xml.bz2", b"<html>503</html>", "the name says bzip2 but its content is not compressed"),
        ("a.xml", b"<!DOCTYPE html>\n<html><body>503</body></html>", "the file is a web page, no dump"),
        ("a.xml", b"<feed><doc></doc></feed>", "no MediaWiki export"),
        ("a.xml.gz", gzip.compress(b"INSERT INTO page VALUES (1)", mtime=0), "no MediaWiki export"),
        ("a.xml", b"<mediawikis>", "no MediaWiki export"),
        ("a.xml", b'<?xml version="1.0" encoding="ISO-8859-1"?>\n' + SMALL, "the file is written in ISO-8859-1"),
        ("a.xml", export("<logitem><id>1</id></logitem>"), "entries of a log and no pages"),
        ("a.xml", export(siteinfo="<siteinfo><dbname></siteinfo>"), "the <siteinfo> is broken"),
    ],
)
def test_files_that_are_no_dumps(write, name, content, problem):
    path = write(name, content)
    with pytest.raises(SourceError, match=problem) as caught:
        read_site(path)
    assert caught.value.file == str(path)
    with pytest.raises(SourceError, match=problem):
        parts(path)


def test_a_file_that_is_not_there(tmp_path):
    for use in (read_site, parts):
        with pytest.raises(SourceError, match="there is no such file"):
            use(tmp_path / "a.xml")


def test_a_page_without_its_end(write):
    whole = [page(f"Hill {n}", n, revision(noise(300, n))) for n in (1, 2, 3)]
    for cut in ("    <revision>", "</text>", "  </page>", "    <ns>"):
        broken = whole[1][: whole[1].index(cut)]
        for size in (None, 40):
            pages, errors = pages_and_errors(read(write("a.xml", export(whole[0], broken, whole[2])), size))
            assert [item.title for item in pages] == ["Hill 1", "Hill 3"]
            assert len(errors) == 1
            assert "page 'Hill 2'" in errors[0].position
            assert "another page begins inside it" in errors[0].problem


def test_a_page_without_its_end_in_a_history(write):
    several = [revision(noise(400, n), f"2020-01-0{n}T00:00:00Z") for n in range(1, 6)]
    whole = [page(f"Hill {n}", n, *several) for n in (1, 2, 3)]
    broken = whole[1].removesuffix("  </page>\n")
    for kind in PACK:
        for size in (None, 300):
            path = write(f"a.{kind}", PACK[kind](export(whole[0], broken, whole[2])))
            pages, errors = pages_and_errors(read(path, size))
            assert [item.title for item in pages] == ["Hill 1", "Hill 3"]
            assert [error.problem for error in errors] == ["it has no end, another page begins inside it"]


@pytest.mark.parametrize("kind", PACK)
def test_a_page_over_the_limit_is_passed_over(write, kind):
    large = page("Large", 2, revision(noise(60_000)))
    data = export(page("Hill", 1, revision("x")), large, page("Dale", 3, revision("y")))
    for size in (None, 900):
        pages, errors = pages_and_errors(read(write(f"a.{kind}", PACK[kind](data)), size, max_page=40_000))
        assert [item.title for item in pages] == ["Hill", "Dale"]
        assert "page 'Large'" in str(errors[0])
        assert "over the limit of 40,000 bytes" in str(errors[0])


def test_a_page_over_the_limit_that_has_no_end(write):
    large = page("Large", 2, revision(noise(3_000_000))).removesuffix("  </page>\n")
    data = export(large, page("Dale", 3, revision("y")))
    pages, errors = pages_and_errors(read(write("a.xml", data), max_page=40_000))
    assert [item.title for item in pages] == ["Dale"]
    assert len(errors) == 1


def test_a_page_over_the_limit_that_is_not_wanted_is_no_error(write):
    large = page("Talk:Large", 2, revision(noise(60_000)), namespace=1)
    data = export(page("Hill", 1, revision("x")), large)
    assert [item.title for item in read(write("a.xml", data), wanted={0}, max_page=40_000)] == ["Hill"]
