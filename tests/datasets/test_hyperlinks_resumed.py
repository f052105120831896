"""A corpus whose making was ended half-way: it goes on where it stopped, if nothing has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

import entlink
from corpora import ONE, KilledError, few, killed_at
from entlink.datasets.hyperlinks.build import build_hyperlinks
from entlink.kb.store.edits import add
from knowledge_bases import article, make_kb


@pytest.mark.parametrize("fields", [{}, {"sample": 30, "seed": 4}, {"limit": 100}])
@pytest.mark.parametrize("step", [2, 5, 9, 12])
def test_what_is_ended_half_way_goes_on(many, small_parts, tmp_path, step, fields):
    whole, out = tmp_path / "whole.jsonl", tmp_path / "links.jsonl"
    build_hyperlinks(many, whole, few(**fields))
    with pytest.raises(KilledError):
        build_hyperlinks(many, out, few(**fields), progress=killed_at(step))
    assert not out.exists()
    kept = {path: path.stat().st_ino for path in (tmp_path / "links.building" / "parts").glob("part-*")}
    assert kept
    seen: dict[Path, int] = {}

    def progress(stage: str, done: float, total: float) -> None:
        seen.update({path: path.stat().st_ino for path in kept if path.exists()})

    build_hyperlinks(many, out, few(**fields), progress=progress)
    assert seen == kept
    assert out.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "links.building").exists()


def test_half_of_a_part_is_made_again(many, small_parts, tmp_path):
    whole, out = tmp_path / "whole.jsonl", tmp_path / "links.jsonl"
    build_hyperlinks(many, whole, ONE)
    with pytest.raises(KilledError):
        build_hyperlinks(many, out, ONE, progress=killed_at(2))
    half = tmp_path / "links.building" / "parts" / "part-000003.partial"
    half.mkdir()
    (half / "documents.jsonl").write_bytes(b'{"id": "ha')
    build_hyperlinks(many, out, ONE)
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("other", [{"min_links": 2}, {"seed": 1}, {"kinds": ("item",)}])
def test_with_other_options_it_starts_anew(many, small_parts, tmp_path, other):
    expected, out = tmp_path / "expected.jsonl", tmp_path / "links.jsonl"
    with pytest.raises(KilledError):
        build_hyperlinks(many, out, few(sample=30), progress=killed_at(4))
    build_hyperlinks(many, expected, few(**{"sample": 30, **other}))
    build_hyperlinks(many, out, few(**{"sample": 30, **other}))
    assert out.read_bytes() == expected.read_bytes()


def test_with_a_changed_knowledge_base_it_starts_anew(many, small_parts, tmp_path):
    kb = make_kb(tmp_path, [article("p1", "Page 1")])
    out = tmp_path / "links.jsonl"
    with pytest.raises(KilledError):
        build_hyperlinks(many, out, ONE, kb=kb, progress=killed_at(5))
    add(kb, [entlink.Entity("gone", "Gone")])
    build_hyperlinks(many, out, ONE, kb=kb)
    lines = out.read_text(encoding="utf8").splitlines()
    assert sum('"entity":"gone"' in line for line in lines[:10]) > 0
