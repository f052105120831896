from __future__ import annotations

import bz2
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dump_files import (
    PACK,
    brief,
    export,
    multistream,
    noise,
    noisy_export,
    page,
    pages_and_errors,
    plainly_read,
    read,
    revision,
)
from entlink.io.ledger import Ledger
from entlink.sources.mediawiki.dumps import parts, read_site

NOISY = noisy_export()
EXPECTED = plainly_read(NOISY)


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("size", [None, 50_000, 7_001])
def test_every_format_yields_the_same_pages(write, kind, size):
    pages, errors = pages_and_errors(read(write(f"a.{kind}", PACK[kind](NOISY)), size))
    assert errors == []
    assert brief(pages) == EXPECTED


@pytest.mark.parametrize("level", [1, 5, 9])
@pytest.mark.parametrize("size", [5_000, 50_000, None])
def test_blocks_and_pages_that_straddle_parts(write, level, size):
    data = export(*(page(f"Hill {n}", n + 1, revision(noise(30_000, n))) for n in range(16)))
    path = write("a.xml.bz2", bz2.compress(data, level))
    pages, errors = pages_and_errors(read(path, size))
    assert errors == []
    assert brief(pages) == plainly_read(data)


def test_empty_streams_between_others_and_bytes_after_the_last(write):
    packed = (
        multistream(NOISY).replace(b"BZh91AY", bz2.compress(b"") + b"BZh91AY", 3) + bz2.compress(b"") + b"\0" * 99
    )
    pages, errors = pages_and_errors(read(write("a.xml.bz2", packed), 9_000))
    assert errors == []
    assert brief(pages) == EXPECTED


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(size=st.integers(1, 3000), count=st.integers(0, 12), length=st.integers(0, 300))
def test_plain_parts_of_any_size(write, size, count, length):
    data = export(*(page(f"Hill {n}", n + 1, revision(noise(length * n, n))) for n in range(count)))
    pages, errors = pages_and_errors(read(write("a.xml", data), size))
    assert errors == []
    assert brief(pages) == plainly_read(data)
    assert [data[page.position :][:6] for page in pages] == [b"<page>"] * count


@pytest.mark.parametrize("kind", PACK)
def test_parts_are_picklable_and_tell_their_progress(write, kind):
    path = write(f"a.{kind}", PACK[kind](NOISY))
    site = read_site(path)
    whole = list(parts(path, 9_000))
    ends = [part.end for part in whole]
    assert len(whole) > 3
    assert ends == sorted(ends)
    assert ends[-1] == path.stat().st_size
    copies = [pickle.loads(pickle.dumps(part)) for part in whole]
    assert [list(part.pages(None, site)) for part in copies] == [list(part.pages(None, site)) for part in whole]


@pytest.mark.parametrize("kind", PACK)
def test_only_wanted_namespaces(write, kind):
    path = write(f"a.{kind}", PACK[kind](NOISY))
    ledger, site = Ledger(), read_site(path)
    pages = [page for part in parts(path) for page in part.pages(frozenset({0}), site, ledger)]
    assert brief(pages) == [row for row in EXPECTED if row[1] == 0]
    assert ledger.left_out == {"of the namespace Talk": 30}


def test_a_page_that_is_not_wanted_is_not_parsed(write):
    broken = page("Talk:Hill", 2, namespace=1).replace("<id>", "<id")
    path = write("a.xml", export(page("Hill", 1, revision("x")), broken))
    assert [item.title for item in read(path, wanted={0})] == ["Hill"]
    assert len(read(path)) == 2


@pytest.mark.parametrize("kind", PACK)
def test_exports_one_after_another(write, kind):
    first, second = export(page("Hill", 1, revision("x"))), export(page("Dale", 2, revision("y")))
    path = write(f"a.{kind}", PACK[kind](first + second))
    assert [item.title for item in read(path)] == ["Hill", "Dale"]


@pytest.mark.parametrize(
    "prefix", [b"\xef\xbb\xbf", b'<?xml version="1.0" encoding="UTF-8"?>\n', b"\xef\xbb\xbf\r\n"]
)
def test_what_may_stand_before_the_export(write, prefix):
    assert brief(read(write("a.xml", prefix + NOISY), 9_000)) == EXPECTED


def test_line_ends_of_other_systems(write):
    data = export(page("Hill", 1, revision("one\ntwo"))).replace(b"\n", b"\r\n")
    assert brief(read(write("a.xml", data))) == [("Hill", 0, 1, "one\ntwo")]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("kind", PACK)
def test_utf16(write, encoding, kind):
    data = ("\ufeff" + NOISY.decode()).encode(encoding)
    pages, errors = pages_and_errors(read(write("a.xml", PACK[kind](data) if "multi" not in kind else data), 50_000))
    assert errors == []
    assert brief(pages) == EXPECTED


def test_utf16_that_ends_in_a_half_character(write):
    data = ("\ufeff" + NOISY.decode()).encode("utf-16-le")
    pages, errors = pages_and_errors(read(write("a.xml", data[:-1])))
    assert brief(pages) == EXPECTED
    assert "in the middle of a character" in str(errors[0])


def test_a_piece_of_an_export_without_its_root(write):
    data = "\n" + page("Hill", 1, revision("x")) + page("Dale", 2, revision("y"))
    assert [item.title for item in read(write("a.xml", data), 100)] == ["Hill", "Dale"]


def test_an_export_without_pages(write):
    assert read(write("a.xml", export())) == []


def test_the_page_tag_may_have_attributes_and_others_may_begin_alike(write):
    data = export(page("Hill", 1, revision("x")).replace("<page>", '<page  new="">')).replace(
        b"<siteinfo>", b"<pages>1</pages><siteinfo>"
    )
    assert [item.title for item in read(write("a.xml", data), 3)] == ["Hill"]
