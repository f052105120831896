from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from entlink.kb.names.index_rows import BUCKETS, row, stage_names, write_rows
from entlink.text.folding import key_of


def test_rows_are_written_as_lines_in_order(tmp_path):
    rows = [row(f"Name {number}" * 1000, number, 1, 1) for number in range(300)]
    write_rows(iter(rows), tmp_path / "rows.jsonl")
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf8").splitlines()
    assert [json.loads(line)["e"] for line in lines] == list(range(300))


def test_no_rows_are_an_empty_file(tmp_path):
    write_rows([], tmp_path / "rows.jsonl")
    assert (tmp_path / "rows.jsonl").read_bytes() == b""


@given(st.text(min_size=1, max_size=8))
def test_forms_of_one_key_are_in_one_bucket(form):
    staged = row(form, 1, 2, 3)
    assert staged.k == key_of(form)
    assert 0 <= staged.b < BUCKETS
    assert staged.b == row(staged.k, 1, 2, 3).b


def test_names_of_a_range_of_entities(world_folder, tmp_path):
    stage_names(world_folder, 2, 3, tmp_path / "names.jsonl")
    staged = [json.loads(line) for line in (tmp_path / "names.jsonl").read_text(encoding="utf8").splitlines()]
    assert {(one["e"], one["f"]) for one in staged} == {
        (2, "Mercury (element)"),
        (2, "Mercury"),
        (2, "quicksilver"),
        (2, "Hg"),
        (3, "Sun"),
    }


def test_names_of_past_versions_are_marked(world_folder, tmp_path, world):
    stage_names(world_folder, 1, 99, tmp_path / "names.jsonl")
    staged = [json.loads(line) for line in (tmp_path / "names.jsonl").read_text(encoding="utf8").splitlines()]
    sources = {one["f"]: one["s"] for one in staged}
    assert (sources["Eswatini"], sources["Swaziland"]) == (1, 1 | 64)
