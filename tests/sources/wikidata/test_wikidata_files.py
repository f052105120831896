"""How files hold entities, how they are cut into parts, and what of a damaged one is told."""

from __future__ import annotations

import bz2
import gzip
import json
import pickle
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entlink.errors import SourceError
from entlink.io.ledger import Ledger
from entlink.sources import Page, open_source
from entlink.sources.wikidata import parts
from entlink.sources.wikidata.names import names_in
from wikidata_items import dump, item

ITEMS = [item(f"Q{number}", {"en": f"Thing {number}"}) for number in range(1, 5)]
TEXT = dump(ITEMS)
LINES = "".join(json.dumps(each) + "\n" for each in ITEMS)


def ids(path: Path, **options) -> list[str]:
    source = open_source(path, **options)
    assert source.format == "wikidata"
    return [page.entity.id for page in source]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("dump.json", TEXT),
        ("no_suffix", TEXT),
        ("crlf.json", TEXT.replace("\n", "\r\n")),
        ("mark.json", "\ufeff" + TEXT),
        ("comma.json", TEXT.replace("\n]", ",\n]")),
        ("unclosed.json", TEXT.removesuffix("]\n")),
        ("lines.jsonl", LINES),
        ("lines.json", LINES.rstrip("\n")),
        ("pretty.json", json.dumps(ITEMS, indent=2)),
        ("one_line.json", json.dumps(ITEMS)),
        ("answer.json", json.dumps({"entities": {each["id"]: each for each in ITEMS}, "success": 1})),
        ("pretty_answer.json", json.dumps({"entities": {each["id"]: each for each in ITEMS}}, indent=1)),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_every_layout_is_read_however_it_is_packed(tmp_path, name, content, pack):
    suffix = {gzip.compress: ".gz", bz2.compress: ".bz2"}.get(pack, "")
    path = tmp_path / (name + suffix)
    path.write_bytes(pack(content.encode()))
    assert ids(path) == ["Q1", "Q2", "Q3", "Q4"]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_single_entity(tmp_path, indent):
    path = tmp_path / "Q1.json"
    path.write_text(json.dumps(ITEMS[0], indent=indent))
    assert ids(path) == ["Q1"]


def test_a_table_of_things_with_ids_like_those_is_still_a_table(tmp_path):
    path = tmp_path / "table.jsonl"
    path.write_text('{"id": "Q42", "title": "Heron", "type": "item", "aliases": ["Grey heron"]}\n')
    assert open_source(path).format == "jsonl"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(step=st.integers(1, 3000), ends=st.booleans(), seed=st.integers(0, 5))
def test_parts_of_any_size_give_each_entity_once(tmp_path, step, ends, seed):
    drawn = random.Random(seed)
    many = [item(f"Q{number}", {"en": "x" * drawn.randrange(400)}) for number in range(1, 9)]
    path = tmp_path / "dump.json"
    path.write_text(dump(many) if ends else dump(many).removesuffix("\n]\n"))
    assert cut(path, step, is_packed=False) == [f"Q{number}" for number in range(1, 9)]


@pytest.mark.parametrize("step", [1, 7, 100, 5_000, 1 << 20])
@pytest.mark.parametrize("streams", [1, 4])
def test_parts_of_bzip2_give_each_entity_once(tmp_path, step, streams):
    many = [item(f"Q{number}", {"en": random.Random(number).randbytes(3000).hex()}) for number in range(1, 400)]
    text = dump(many).encode()
    size = len(text) // streams + 1
    path = tmp_path / "dump.json.bz2"
    path.write_bytes(b"".join(bz2.compress(text[at : at + size], 1) for at in range(0, len(text), size)))
    step = max(step, path.stat().st_size // 40)
    assert cut(path, step, is_packed=True) == [f"Q{number}" for number in range(1, 400)]


def cut(path: Path, step: int, *, is_packed: bool) -> list[str]:
    """The ids of the titled items of all parts, each of which went to another process and back."""
    size, found = path.stat().st_size, []
    for start in range(0, size, step):
        end = min(start + step, size)
        part = parts.RangePart(str(path), end, names_in("en"), False, start, is_packed)
        items = pickle.loads(pickle.dumps(part)).items(Ledger())
        found += [each.type for each in items if not isinstance(each, Page)]
    return found


class TestDamage:
    def write(self, tmp_path: Path, text: str) -> Path:
        path = tmp_path / "dump.json"
        path.write_text(text)
        return path

    def test_a_dump_cut_off_in_a_line(self, tmp_path):
        path = self.write(tmp_path, TEXT[:-20])
        at = TEXT.rindex('{"type"')
        with pytest.raises(
            SourceError, match=f"dump.json, byte {at}: the dump is cut off in a line.*Fetch the file again"
        ):
            ids(path)
        assert ids(path, on_error="skip") == ["Q1", "Q2", "Q3"]

    def test_a_dump_cut_off_in_its_first_line(self, tmp_path):
        with pytest.raises(SourceError, match="byte 2: the dump is cut off in a line"):
            ids(self.write(tmp_path, TEXT[:100]))

    def test_compressed_data_that_are_cut_off(self, tmp_path):
        path = tmp_path / "dump.json.bz2"
        many = [item(f"Q{number}", {"en": random.Random(number).randbytes(3000).hex()}) for number in range(1, 60)]
        path.write_bytes(bz2.compress(dump(many).encode(), 1)[:-3000])
        with pytest.raises(SourceError, match="compressed data is cut off"):
            ids(path)
        assert 0 < len(ids(path, on_error="skip")) < 59

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ('{"type":"item","id":"Q2","labels":{"en":{"value":5}}}', r"this is no entity of Wikidata: .*labels"),
            ('{"type":"item","id":"Q2","labels":}', "the JSON is bad"),
            ('{"type":"item","id":"Q2","other":' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
            ('{"type":"item","id":"Q2","labels":{"en":{"value":"a\\u0000b"}}}', "holds a NUL character"),
        ],
    )
    def test_a_bad_line_is_told_and_the_others_are_read(self, tmp_path, line, told):
        lines = TEXT.splitlines(keepends=True)
        path = self.write(tmp_path, "".join([*lines[:2], line + ",\n", *lines[3:]]))
        with pytest.raises(SourceError, match=rf"(?s)byte {len(lines[0] + lines[1])}: .*{told}"):
            ids(path)
        assert ids(path, on_error="skip") == ["Q1", "Q3", "Q4"]

    def test_bytes_that_are_no_text(self, tmp_path):
        path = tmp_path / "dump.json"
        path.write_bytes(TEXT.encode().replace(b"Thing 2", b"Thing \xff"))
        with pytest.raises(SourceError, match="not valid UTF-8"):
            ids(path)

    def test_an_answer_that_is_cut_off(self, tmp_path):
        path = self.write(tmp_path, json.dumps({"entities": {"Q1": ITEMS[0]}}, indent=1)[:-40])
        with pytest.raises(SourceError, match="is bad or cut off"):
            ids(path)

    def test_an_answer_that_is_an_error(self, tmp_path):
        path = self.write(tmp_path, json.dumps({"error": {"code": "no-such-entity", "info": "Could not find it"}}))
        with pytest.raises(SourceError, match="the API answered with an error: Could not find it"):
            list(open_source(path, format="wikidata"))

    def test_an_array_that_is_cut_off(self, tmp_path):
        path = self.write(tmp_path, json.dumps(ITEMS, indent=1)[:-40])
        with pytest.raises(SourceError, match="the file is cut off; 3 objects were read before"):
            ids(path)
