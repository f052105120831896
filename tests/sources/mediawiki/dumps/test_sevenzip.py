from __future__ import annotations

import base64
import io
import zlib

import pytest

from dump_files import brief, noisy_export, pages_and_errors, plainly_read, read, sevenzip
from entlink.errors import SourceError
from entlink.io.sevenzip import SevenZipFile

HILLS = (
    '<mediawiki version="0.11" xml:lang="en">\n'
    + "".join(
        f"<page><title>Hill {n}</title><ns>0</ns><id>{n}</id><revision><timestamp>2020-01-0{n}T00:00:00Z</timestamp>"
        f"<text>Hill {n} is {n * 37} metres high.</text></revision></page>\n"
        for n in range(1, 4)
    )
    + "</mediawiki>\n"
).encode()
# Archives of these bytes that another program wrote, each with a packed table of contents.
ARCHIVES = {
    "LZMA2": """
        N3q8ryccAAScKNUQFQEAAAAAAAAVAAAAAAAAAJPQdrTgAg0AuF0AHhtIplsKWl3fV9hYG83SrsmJ2ZEy1GmSfG2VdGn6mourth2O
        1Wh8klqpZACSlMwHbSz/Hi70B0t1qZzzVJkKqzTTLmpIAjRkWXnZ000jHc6pyYCS9w00cP1yplI/Q7zc/kRRpsUA7MFzondXVTos
        F8lVV8ByE9YlJjc3NRjl3UEpJsxE2GBoXmb5XpnsHSuJ6HK3bitqXSzZ+c12zqVZaAV1DXSnEglyC8F95DGUD3MWC/r6lRUiIAAB
        AFABBAYAAQmAwAAHCwEAASEhARgMgg4ACAoBkrmh+wAABQEZAQARFQBoAGkAbABsAHMALgB4AG0AbAAAABQKAQCwtEFaiHXdARUG
        AQAggICBAAAAFwaAwAEJVQAHCwEAASEhARgMUQAA
    """,
    "LZMA": """
        N3q8ryccAARgyKojHQEAAAAAAAAVAAAAAAAAAPUXhlsAHhtIplsKWl3fV9hYG83SrsmJ2ZEy1GmSfG2VdGn6mourth2O1Wh8klqp
        ZACSlMwHbSz/Hi70B0t1qZzzVJkKqzTTLmpIAjRkWXnZ000jHc6pyYCS9w00cP1yplI/Q7zc/kRRpsUA7MFzondXVTosF8lVV8By
        E9YlJjc3NRjl3UEpJsxE2GBoXmb5XpnsHSuJ6HK3bitqXSzZ+c12zqVZaAV1DXSnEglyC8F95DGUD3MWC/r6l0QNgFv/ADNWAOAA
        WABWXQAAgTMHrg/VMQzU1yTT/rN+L4mSvr49S4GF0qkYZA4bC+cxxn8XuAcwObp/WGHM/SxHwW/43vaYYOFPKsS6IYHK+TWeviyJ
        ytp+6XHUrTmBinRebAAAAAAXBoC/AQleAAcLAQABISEBGAxZAAA=
    """,
    "BZIP2": """
        N3q8ryccAAS9INDVSgEAAAAAAAAVAAAAAAAAAEhYk4VCWmg5MUFZJlNZDdtHuwAATt+AABBQA/yXAEAEECbv3cAwAPsgYZGBNMCZ
        DE0YEekjVP1TQDCND1AAIpEU/QaE0NIaNNqepponfeAiICuNYzz742c/Eas2Pp6imDTs7D0CxTSxeIx1M4sqVVUh2Z3TOn4X0oxj
        N0ZQaWLjMmZglCEzGFrccHbMt5E0nsqQVIIKEJREXjlllybhoOuQF5mzYYfJpxwzQgbh03HBvez+nQ+3d/H+OBqPyt7yGY1OY6+b
        BsGtZDc+tR29LKjRouAyZt7Jk0tYeo7TGY4DoNGgwMNo2tYHElIf8XckU4UJAN20e7DgAFAAT10AAIEzB64P1TIz0wclR1cE+ns2
        UEPhvmH0XOiH+zUHLZbpMURysGsD2ITU9XUENDDZhrVxHIjfdZ5f1qJV0WZyg5M3N5JAevpx7QerCgAAAAAXBoDzAQlXAAcLAQAB
        ISEBGAxRAAA=
    """,
    "DEFLATE": """
        N3q8ryccAAQz+NeBDwEAAAAAAAAVAAAAAAAAAEZbycKd0ksKgzAQBuC9pwjua14FQcase4CuuhMcdGhiiwnW4zexr42gFIaBzCQ/
        3yLgsKXmQVdiE46ebkOdi0LKnM3OVrYZujrHITcZ3JsODQQKFs2JrGUS+OsEgzcCeOxArYnj2GHEiVJceuLQh8bdjRJKHISMdRai
        WuqSQj57CDiHdzgjz3TJHIYRPeup64t4Ne2B/7L5olrBqXWc2oFTmziVcOXxb5xex+kdOL2J0wknpdyr498fYLIn4ABQAE9dAACB
        MweuD9Uw5R8XJNP+spd6wRPoM1b/JvIDYfiXolP/nvrLpas2TO9t+WJaZADsXrp0rga1ZLElrVw6pvuJK6ayQk93ZJw2igpffXIA
        AAAAFwaAuAEJVwAHCwEAASEhARgMUQAA
    """,
    "COPY": """
        N3q8ryccAASnHmDpYgIAAAAAAAAVAAAAAAAAAOKJ8nQ8bWVkaWF3aWtpIHZlcnNpb249IjAuMTEiIHhtbDpsYW5nPSJlbiI+Cjxw
        YWdlPjx0aXRsZT5IaWxsIDE8L3RpdGxlPjxucz4wPC9ucz48aWQ+MTwvaWQ+PHJldmlzaW9uPjx0aW1lc3RhbXA+MjAyMC0wMS0w
        MVQwMDowMDowMFo8L3RpbWVzdGFtcD48dGV4dD5IaWxsIDEgaXMgMzcgbWV0cmVzIGhpZ2guPC90ZXh0PjwvcmV2aXNpb24+PC9w
        YWdlPgo8cGFnZT48dGl0bGU+SGlsbCAyPC90aXRsZT48bnM+MDwvbnM+PGlkPjI8L2lkPjxyZXZpc2lvbj48dGltZXN0YW1wPjIw
        MjAtMDEtMDJUMDA6MDA6MDBaPC90aW1lc3RhbXA+PHRleHQ+SGlsbCAyIGlzIDc0IG1ldHJlcyBoaWdoLjwvdGV4dD48L3Jldmlz
        aW9uPjwvcGFnZT4KPHBhZ2U+PHRpdGxlPkhpbGwgMzwvdGl0bGU+PG5zPjA8L25zPjxpZD4zPC9pZD48cmV2aXNpb24+PHRpbWVz
        dGFtcD4yMDIwLTAxLTAzVDAwOjAwOjAwWjwvdGltZXN0YW1wPjx0ZXh0PkhpbGwgMyBpcyAxMTEgbWV0cmVzIGhpZ2guPC90ZXh0
        PjwvcmV2aXNpb24+PC9wYWdlPgo8L21lZGlhd2lraT4K4ABQAExdAACBMweuD9VDIby5xmbaoB7HIhqysBqQJLl7ZfQietM0k0Kd
        UIKCMxssI8Vrwxwi8/V7PHFfQa+AcXVYNDjtdqelO2Vv1OlP8GQAAAAAFwaCDgEJVAAHCwEAASEhARgMUQAA
    """,
    "PPMD": """
        N3q8ryccAARfR88xBQEAAAAAAAAVAAAAAAAAAPArdoUAPDMGq9m2vnwy+liE1DiNi5pFccySraR89iUyLPIvTVG9pTJriGIciRql
        NyY631dWdnrWeDcMY11xB8gntUwedDAPMDcNkZTR02FMqlY5QsEkRnnnJzSAdbgHnPagvIphHb8f0a1Azt4zyYc1H/nLb62l9LD1
        Yr8U3jyB/aVRw195Kw9ZPM2U56dkc2po72SFfqc5wm7YBVRlDdLS4qAmsJmujRRIshngAFgAVV0AAIEzB64P1TCKWxck0/6zfi+Y
        OUtFAMBmUvsRES0dP9TkEuSGjNcDDgTNSQdqsoS5P1bbKwxVtzIPXsWS4d+7sTL6/FSbeyLQi7BhjJij5UavOYAAAAAXBoCoAQld
        AAcLAQABISEBGAxZAAA=
    """,
    "X86": """
        N3q8ryccAASi+XX9HwEAAAAAAAAVAAAAAAAAAOFUY9rgAg0AuF0AHhtIplsKWl3fV9hYG83SrsmJ2ZEy1GmSfG2VdGn6mourth2O
        1Wh8klqpZACSlMwHbSz/Hi70B0t1qZzzVJkKqzTTLmpIAjRkWXnZ000jHc6pyYCS9w00cP1yplI/Q7zc/kRRpsUA7MFzondXVTos
        F8lVV8ByE9YlJjc3NRjl3UEpJsxE2GBoXmb5XpnsHSuJ6HK3bitqXSzZ+c12zqVZaAV1DXSnEglyC8F95DGUD3MWC/r6lRUiIADg
        AFwAV10AAIEzB64P1TESgRck0c/j92TRWslv34CaU9nEZvESxpzrdpfwQqFgTIQ/EUm4cywxMmfA113b4QIx24/JGJag6cNx71d7
        NYW72LG8pc1+U3ciBwsAAAAAABcGgMABCV8ABwsBAAEhIQEYDF0AAA==
    """,
    "ZSTD": """
        N3q8ryccAATQIu20FwEAAAAAAAAVAAAAAAAAAHiNnYsotS/9AFidBQBSSiAbcCV2oA39k1QINO62u2yhRL7jaMpk+O2/fTABQufu
        rrWWoFBKqUxOJpTkFQS9ie5QsRB8FB+PnBxgqAKsDquDKlXNOBahu4/cb3n4jjfcyCdvI88NX7I2fJy8qLUftLf4kdsTxrDQ6Xk6
        ksea0dyD0i6h6XjLw8Yd9AI/wB5xxwETAAWkEH1WDVgPjAwgBSjX4BCsDIwCkAcKgywtY5d9Yduh7YLBvaGgO53YHsPcA+AAVABT
        XQAAgTMHrg/VMPvQFyTT/rOFd8oPokESleJthYu4VYoqBnNiB8pYDk7KH4BBeBkEOnlIF7bmSsn7ahAyT7jHTD8TsCH/CrSgE0uR
        3YXX14BB/uAAAAAXBoC8AQlbAAcLAQABISEBGAxVAAA=
    """,
    "SOLID": """
        N3q8ryccAATUArKUcgEAAAAAAAAXAAAAAAAAAFjbm77gAjYA1l0AK5oIJ3UZMEmKJUAnecVb5hc5sjX6c1+5ETkS0eACW9Mrlq1e
        TkzymZN+d8B3uXpq8dbd7/3HL+RthfedRwlctVH00ylgXSVC40Y/w6YTUK3B1uhGcxXQr/Lly+2Fsd8vtJfH0Pl+qAsbrrxmh4CR
        OBZKZdQR6CXEPU5EvPvtdm2gY15LqtXcuAmkFIbED6cdhxfRBfDNSEqcUbmXJ8ffThnG70c1VH82+iY8ZwhuooVLmrGi1OASPzlX
        pkEtcjW8SVf0dxBMXSq9bXYv3Z6iQQVaeWW4aADgAMAAjF0AAIEzB64P1TG8sJck0/6zcBaxgL4oL88ctH6vV176YTpqD45ZnIHA
        enhUk5pF8KkxQ+5wXdvQwxReXLSHD4oEQUy3wg22eWyZzbLOjPLa/WruPVTm6ZAAxD1NRhh8Cz79tgSE4yuYRosP4dnPdz5LyBni
        46U+DIynylIkrguuv4SF/XAXAIiQVQAAAAAAFwaA3gEJgJQABwsBAAEhIQEYDIDBAAA=
    """,
    "SECRET": """
        N3q8ryccAATj9V8oOgEAAAAAAAAVAAAAAAAAAKzDf1fRMgQL3jz3GWJ8QQW8xc6qRgotXsWkavcGOUskBdIWr7BvcjGpuuNU+mMC
        9nw2MWh9NjwKw7hh0eI6yNBjVdXGJ3pNYda6jksvwDWo93NnSnMMaFd/vqhOZDDgLnpVIiVLo/xkAs7OFVomNGeQuT+Lje4Ezm1o
        0DqhpoztuxTmopJ9lZXBtfIO2qLIzLMAL5NTw9FVlF3cyMbjDYV0XVCHuQycTrU0na1XXD2IvU7loHfkIRGmyTReYbcshn1D7sTg
        AHQAcl0AAIEzB64P1TESnyDKwAWNt3caWiVrogWe45xnSjaWQpecLFjmEldpsCZNFLtUXbQNqwCPjI69ai2kK4H4dFpcxRftoZfm
        iPS9+r00UUJy/EjZytn3EeUWWUJ4Rv6J9K4rpnmWIzm7DaAnW0wyBeyqWJipABcGgMABCXoABwsBAAEhIQEYDHUAAA==
    """,
}
READABLE = ("LZMA2", "LZMA", "BZIP2", "DEFLATE", "COPY", "SOLID")


def archive(name: str) -> bytes:
    return base64.b64decode("".join(ARCHIVES[name].split()))


def unpacked(data: bytes, step: int = -1) -> bytes:
    file = io.BytesIO(data)
    file.name = "a.7z"
    stream = SevenZipFile(file)
    pieces = []
    while piece := stream.read1(step):
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize("name", READABLE)
@pytest.mark.parametrize("step", [-1, 7, 1000])
def test_every_method(name, step):
    assert unpacked(archive(name), step) == HILLS


@pytest.mark.parametrize(
    ("name", "method"),
    [("PPMD", "PPMd"), ("X86", "the x86 filter"), ("ZSTD", "Zstandard"), ("SECRET", "encryption")],
)
def test_a_method_that_cannot_be_read(write, name, method):
    path = write("a.xml.7z", archive(name))
    with pytest.raises(SourceError, match=f"packed with {method}") as caught:
        read(path)
    assert caught.value.file == str(path)
    assert "Unpack it with 7-Zip" in caught.value.hint


@pytest.mark.parametrize("name", READABLE)
def test_read_as_a_dump(write, name):
    assert brief(read(write("a.xml.7z", archive(name)))) == plainly_read(HILLS)


@pytest.mark.parametrize("name", ["LZMA2", "LZMA", "COPY"])
def test_what_is_before_the_cut_is_read_without_the_table(write, name):
    """The table stands at the end, after less than half of these archives."""
    data = archive(name)
    pages, errors = pages_and_errors(read(write("a.xml.7z", data[:-20])))
    assert brief(pages) == plainly_read(HILLS)
    assert [error.problem for error in errors] == ["the compressed data is cut off"]


def test_an_archive_whose_writer_was_stopped(write):
    data = noisy_export()
    whole = sevenzip(data)
    unfinished = whole[:8] + bytes(24) + whole[32 : len(whole) // 2]
    pages, errors = pages_and_errors(read(write("a.xml.7z", unfinished)))
    assert brief(pages) == plainly_read(data)[: len(pages)]
    assert len(pages) > 10
    assert "cut off" in str(errors[0])


@pytest.mark.parametrize("name", READABLE)
def test_an_archive_cut_off_or_changed_anywhere(name):
    data = archive(name)
    for at in range(6, len(data)):
        for changed in (data[:at], data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]):
            try:
                found = unpacked(changed)
            except (EOFError, OSError, ValueError, zlib.error, SourceError):
                continue
            except Exception as error:
                assert type(error).__name__ == "LZMAError"
                continue
            assert found == HILLS


def test_a_wrong_checksum_is_told_after_the_data(write):
    whole = bytearray(sevenzip(HILLS))
    at = whole.rindex(zlib.crc32(HILLS).to_bytes(4, "little"))
    whole[at] ^= 1
    table = bytes(whole[32 + int.from_bytes(whole[12:20], "little") :])
    whole[28:32] = zlib.crc32(table).to_bytes(4, "little")
    whole[8:12] = zlib.crc32(whole[12:32]).to_bytes(4, "little")
    pages, errors = pages_and_errors(read(write("a.xml.7z", bytes(whole))))
    assert brief(pages) == plainly_read(HILLS)
    assert "the checksum of the unpacked file is wrong" in str(errors[0])


def test_an_archive_without_files(write):
    start = bytes(20)
    empty = b"7z\xbc\xaf\x27\x1c\0\4" + zlib.crc32(start).to_bytes(4, "little") + start
    with pytest.raises(SourceError, match="cut off"):
        read(write("a.xml.7z", empty))


def test_other_sources_may_be_archives_too(write):
    from entlink.sources import open_source

    rows = b'{"id": "h", "title": "Hill"}\n{"id": "d", "title": "Dale"}\n'
    path = write("a.jsonl.7z", sevenzip(rows, "a.jsonl"))
    assert [page.entity.title for page in open_source(path)] == ["Hill", "Dale"]
