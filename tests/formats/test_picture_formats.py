"""WikiDiverse's two layouts and MELBench's, on records written by hand."""

from __future__ import annotations

import hashlib
import io
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.formats.public import melbench, wikidiverse
from format_samples import answers, error_of, skipping, write_json

ADDRESS = "https://upload.wikimedia.org/wikipedia/commons/0/06/Ulm%20M%C3%BCnster.JPG"
WIKI = "https://en.wikipedia.org/wiki/"
CAPTION = "Ann and Bo at Ulm Minster."
MENTIONS = [
    ["Ann", "Person", 0, 3, "NIL"],
    ["Ulm Minster", "Location", 14, 25, f"{WIKI}Ulm_M%C3%BCnster#History"],
]
ROW = [CAPTION, ADDRESS, "travel", MENTIONS]
ENTRY = {
    "id": "Q7",
    "sentence": "Lee met Ann Lee in Ulm.",
    "mentions": "Lee",
    "entities": "Bruce Lee",
    "answer": "Q9",
}


def test_a_caption_has_all_its_mentions(tmp_path):
    [document] = wikidiverse.read(write_json(tmp_path / "train.json", [ROW]))
    assert (document.id, document.text) == ("train-0", CAPTION)
    assert answers(document) == [("Ann", ()), ("Ulm Minster", ("Ulm Münster",))]
    assert [(gold.nil_type, gold.meta) for gold in document.gold] == [
        ("Person", {"type": "Person"}),
        (None, {"type": "Location"}),
    ]
    assert document.meta == {"topic": "travel", "image": ADDRESS}
    digest = hashlib.md5(b"Ulm%20M%C3%BCnster.JPG").hexdigest()  # the name as it is in the address
    assert [image.uri for image in document.images] == [f"{digest}.JPG"]


def test_a_mention_has_its_candidates(tmp_path):
    candidates = [f"{WIKI}Ulm", "Ulm_Minster"]
    row = [CAPTION, ADDRESS, "Bo", "Person", "Ann and", "at Ulm", f"{WIKI}Bo_(dog)", candidates, "travel", 8, 10]
    [document] = wikidiverse.read(write_json(tmp_path / "test.json", [row]))
    assert answers(document) == [("Bo", ("Bo (dog)",))]
    assert document.gold[0].meta == {"type": "Person", "retrieved": ["Ulm", "Ulm Minster"]}
    assert document.meta["topic"] == "travel"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(TEXT, st.text("aé京 '\"\\", min_size=1, max_size=6), TEXT)
def test_both_layouts_say_the_same(left, mention, right):
    caption, start, end = left + mention + right, len(left), len(left) + len(mention)
    address = f"{WIKI}A_{len(left)}"
    rows = [
        [caption, ADDRESS, "travel", [[mention, "Misc", start, end, address]]],
        [caption, ADDRESS, mention, "Misc", left, right, address, [], "travel", start, end],
    ]
    one, other = wikidiverse.read(io.BytesIO(json.dumps(rows).encode()))
    assert msgspec.structs.replace(one, id=other.id) == other
    assert answers(one) == [(mention, (f"A {len(left)}",))]


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("nhttps://en.wikipedia.org/wiki/A_b", "A b"),
        ("hhttps://en.wikipedia.org/wiki/A", "A"),
        ("]https://en.wikipedia.org/wiki/A", "A"),
        ("ttps://en.wikipedia.org/wiki/A/B", "A/B"),
        ("en.wikipedia.org/wiki/A", "A"),
        ("AC/DC_(band)", "AC/DC (band)"),
        ("nil", None),
        ("", None),
        (None, None),
    ],
)
def test_addresses_become_titles(address, title):
    assert wikidiverse.page_title(address) == title


def test_drawings_are_png():
    assert wikidiverse.picture_name("https://x.org/Map.svg").endswith(".png")


@pytest.mark.parametrize(
    ("bad", "parts"),
    [
        ([CAPTION, ADDRESS, "travel", [["Ann", "Person", 1, 4, "nil"]]], ["mentions[0]", "covers 'nn '"]),
        ([CAPTION, ADDRESS, "travel", [["Ann", "Person", 0]]], ["Expected `array` of at least length 4"]),
        ([CAPTION, ADDRESS, "Ann", "Person", "", "", "nil", [], "travel"], ["the mention", "-1"]),
        (["only a caption"], ["length"]),
    ],
)
def test_a_bad_row_is_named_and_can_be_skipped(bad, parts, tmp_path):
    path = write_json(tmp_path / "t.json", [ROW, bad, ROW])
    message = error_of(wikidiverse.read, path)
    assert message.startswith(f"{path}, item 1: ")
    assert all(part in message for part in parts)
    documents, messages = skipping(wikidiverse.read, path)
    assert ([document.id for document in documents], messages) == (["t-0", "t-2"], [message])


def test_a_sentence_has_one_mention_or_several(tmp_path):
    several = {**ENTRY, "mentions": ["Ann Lee", "Lee"], "entities": ["Ann Lee", "B"], "answer": ["Q8", "nil"]}
    path = write_json(tmp_path / "m.json", {"Q7-0": ENTRY, "Q7": {**several, "imgPath": "a/7.png", "split": "x"}})
    one, other = melbench.read(path)
    assert answers(one) == [("Lee", ("Q9",))]
    assert (one.id, one.gold[0].span.start, one.gold[0].meta) == ("Q7-0", 0, {"title": "Bruce Lee"})
    assert [image.uri for image in (*one.images, *other.images)] == ["Q7-0.jpg", "a/7.png"]
    assert answers(other) == [("Ann Lee", ("Q8",)), ("Lee", ())]
    assert other.meta == {"split": "x"}


def test_entries_may_be_a_list_and_have_no_picture(tmp_path):
    [document] = melbench.read(write_json(tmp_path / "m.json", [{**ENTRY, "imgPath": ""}]))
    assert (document.id, document.images) == ("Q7", ())


@pytest.mark.parametrize(
    ("more", "parts", "left"),
    [
        ({"mentions": "Bo"}, ["the mention 'Bo' is not in the sentence"], 1),
        ({"mentions": ["Bo", "Ulm"], "entities": None, "answer": ["Q1", "Q2"]}, ["the mention 'Bo'"], 2),
        ({"mentions": ["Lee", "Ulm"]}, ["2 mentions, 1 entities and 1 answers"], 1),
        ({"sentence": None}, ["field sentence"], 1),
    ],
)
def test_a_bad_entry_is_named_and_can_be_skipped(more, parts, left, tmp_path):
    path = write_json(tmp_path / "m.json", {"a": {**ENTRY, **more}, "b": ENTRY})
    message = error_of(melbench.read, path)
    assert message.startswith(f"{path}, entry 'a': ")
    assert all(part in message for part in parts)
    documents, messages = skipping(melbench.read, path)
    assert (len(documents), messages) == (left, [message])


@pytest.mark.parametrize("content", ["[1]", '{"a": 1}', "{", "3"])
def test_a_file_of_something_else_is_an_error(content, tmp_path):
    path = tmp_path / "m.json"
    path.write_text(content)
    assert str(path) in error_of(melbench.read, path)
