from __future__ import annotations

import msgspec

from entlink.kb.store.manifest import Manifest, SourceCard


def test_a_manifest_comes_back_as_it_was():
    card = SourceCard("a.csv", "csv", 10, "ab", 3, 1)
    manifest = Manifest("0.1", "2020-01-01", "build", [card], 3, 2, 1, 4, {"base/anchors.parquet": "cd"}, ["bad"])
    assert msgspec.json.decode(msgspec.json.encode(manifest), type=Manifest) == manifest


def test_a_manifest_of_an_older_release_may_lack_problems():
    manifest = Manifest("0.1", "2020-01-01", "", [], 0, 0, 0, 0, {})
    fields = msgspec.to_builtins(manifest)
    del fields["problems"]
    assert msgspec.convert(fields, Manifest) == manifest
