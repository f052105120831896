from __future__ import annotations

import bz2
import gzip
import lzma
import random

import pytest

from entlink.errors import SourceError
from entlink.sources import open_source

PACK = {"gz": gzip.compress, "bz2": lambda data: bz2.compress(data, 1), "xz": lzma.compress}


def rows(count: int) -> bytes:
    noise = random.Random(5)
    return b"".join(b'{"id": %d, "title": "%x"}\n' % (number, noise.getrandbits(400)) for number in range(count))


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("named", [True, False])
def test_compression_is_told_by_the_content(write, suffix, named):
    path = write(f"a.jsonl.{suffix}" if named else "a.jsonl", PACK[suffix](rows(50)))
    source = open_source(path)
    assert [page.entity.id for page in source] == [str(number) for number in range(50)]
    assert source.position() == source.size == path.stat().st_size


@pytest.mark.parametrize("suffix", PACK)
def test_streams_one_after_another_are_one_file(write, suffix):
    parts = rows(10).splitlines(keepends=True)
    path = write(f"a.jsonl.{suffix}", b"".join(PACK[suffix](part) for part in parts))
    assert sum(1 for _ in open_source(path)) == 10


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.jsonl.gz", rows(1), "the name says gzip but its content is not compressed"),
        ("a.jsonl.gz", bz2.compress(rows(1)), "the name says gzip but its content is bzip2"),
        ("a.jsonl.bz2", lzma.compress(rows(1)), "the name says bzip2 but its content is xz"),
        ("a.jsonl.xz", b"<html>404</html>", "the name says xz but its content is not compressed"),
        ("a.jsonl.XZ", b"", "the name says xz but it is empty"),
        ("a.jsonl", b"PK\x03\x04rest", "a zip archive"),
        ("a.jsonl.zst", b"\x28\xb5\x2f\xfdrest", "compressed with Zstandard"),
        ("a.parquet", gzip.compress(b"PAR1", mtime=0), "packed with gzip"),
    ],
)
def test_wrong_compression(write, name, content, problem):
    path = write(name, content)
    with pytest.raises(SourceError, match=problem) as caught:
        list(open_source(path))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("suffix", PACK)
def test_stream_cut_off_in_the_middle(write, suffix):
    whole = rows(4000)
    packed = PACK[suffix](whole)
    path = write(f"a.jsonl.{suffix}", packed[: len(packed) * 3 // 4])
    source = open_source(path, on_error="skip")
    titles = [page.entity.title for page in source]
    expected = [page.entity.title for page in open_source(write("whole.jsonl", whole))]
    assert 1000 < len(titles) < 4000
    assert titles == expected[: len(titles)]
    assert source.skipped == 1
    message = f"line {len(titles) + 1}: the compressed data is cut off; {len(titles)} records were read before that"
    assert message in source.problems[0]
    with pytest.raises(SourceError, match=message):
        list(open_source(path))


@pytest.mark.parametrize("suffix", PACK)
def test_stream_damaged_in_the_middle(write, suffix):
    packed = bytearray(PACK[suffix](rows(4000)))
    middle = len(packed) // 2
    packed[middle : middle + 64] = bytes(64)
    source = open_source(write(f"a.jsonl.{suffix}", bytes(packed)), on_error="skip")
    kept = sum(1 for _ in source)
    assert kept < 4000
    assert source.skipped >= 1
    assert "the data cannot be read on" in source.problems[-1]


def test_csv_cut_off_keeps_the_rows_before(write):
    noise = random.Random(5)
    content = "id,title\n" + "".join(f"{number},{noise.getrandbits(400):x}\n" for number in range(2000))
    packed = gzip.compress(content.encode())
    source = open_source(write("a.csv.gz", packed[: len(packed) // 2]), on_error="skip")
    ids = [page.entity.id for page in source]
    assert ids == [str(number) for number in range(len(ids))]
    assert len(ids) > 500
    assert "the compressed data is cut off" in source.problems[0]


@pytest.mark.parametrize(
    ("name", "start", "record"),
    [
        ("a.csv.gz", "id,title\n", '{0},"{1:x}\n{1:x}\n{1:x}"\n'),
        ("wiki_00.gz", "", '<doc id="{0}" url="u" title="{0}">\n{1:x}\n{1:x}\n{1:x}\n</doc>\n'),
    ],
)
def test_record_open_where_the_stream_breaks_is_no_second_problem(write, name, start, record):
    noise = random.Random(5)
    content = start + "".join(record.format(number, noise.getrandbits(2000)) for number in range(200))
    packed = gzip.compress(content.encode(), 1)
    for length in range(len(packed) // 2, len(packed) // 2 + 1000, 100):
        source = open_source(write(name, packed[:length]), on_error="skip")
        ids = [page.entity.id for page in source]
        assert ids == [str(number) for number in range(len(ids))]
        assert 20 < len(ids) < 200
        assert [problem for problem in source.problems if "cut off" not in problem] == []
        assert source.skipped == 1


def test_position_moves_with_the_reading(write):
    source = open_source(write("a.jsonl.gz", gzip.compress(rows(20_000))))
    positions = []
    for _ in source:
        positions.append(source.position())
    assert positions == sorted(positions)
    assert positions[0] < source.size / 2
    assert positions[-1] == source.size
