from __future__ import annotations

import hashlib

from entlink.io.checksums import checksum, checksums


def test_checksums_of_a_folder(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two").write_bytes(b"2" * 300_000)
    (tmp_path / "one").write_bytes(b"")
    expected = {"b/two": hashlib.sha256(b"2" * 300_000).hexdigest(), "one": hashlib.sha256(b"").hexdigest()}
    assert checksums(tmp_path) == expected
    assert checksum(tmp_path / "one") == expected["one"]
