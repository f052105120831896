from __future__ import annotations

import gzip
import json

import pytest

from entlink.documents import Entity
from entlink.errors import SourceError
from entlink.sources import Page, Paragraph, open_source

BARON = {"title": "The Baron", "text": "The Baron The Baron ruled the moor .", "document_id": "00A1"}
PAGE = Page(
    Entity("00A1", "The Baron", BARON["text"], types=("fallen_empire",)),
    (Paragraph("The Baron The Baron ruled the moor ."),),
)


def test_file(write_rows):
    source = open_source(write_rows(BARON, name="documents/fallen_empire.json"))
    assert source.format == "zeshel"
    assert list(source) == [PAGE]


@pytest.mark.parametrize("opened", ["set", "set/documents"])
def test_folder(write, write_rows, tmp_path, opened):
    write_rows(BARON, name="set/documents/fallen_empire.json")
    row = json.dumps({**BARON, "document_id": "B"}) + "\n"
    write("set/documents/another.json.gz", gzip.compress(row.encode()))
    write("set/mentions/train.json", "{}")
    source = open_source(tmp_path / opened)
    pages = list(source)
    assert [(page.entity.id, page.entity.types) for page in pages] == [
        ("B", ("another",)),
        ("00A1", ("fallen_empire",)),
    ]
    assert pages[1] == PAGE
    assert source.position() == source.size


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"title": "x", "text": ""}, "missing required field `document_id`"),
        ({**BARON, "document_id": ""}, "field 'document_id' is empty"),
        ({**BARON, "title": " "}, "field 'title' is empty"),
        ({**BARON, "title": 7}, "Expected `str`, got `int`"),
        ({**BARON, "text": "a\x00"}, "field 'text' holds a NUL"),
    ],
)
def test_bad_document_is_named_or_skipped(write_rows, document, problem):
    path = write_rows(BARON, document, BARON, name="world.json")
    with pytest.raises(SourceError, match=problem) as caught:
        list(open_source(path))
    assert f"{path}, line 2: " in str(caught.value)
    source = open_source(path, on_error="skip")
    assert len(list(source)) == 2
    assert source.skipped == 1


def test_document_without_text(write_rows):
    (page,) = open_source(write_rows({"document_id": 1, "title": "x", "text": ""}, name="w.json"))
    assert page == Page(Entity("1", "x", types=("w",)))


def test_folder_without_documents(tmp_path):
    (tmp_path / "documents").mkdir()
    with pytest.raises(SourceError, match="holds no files of the format zeshel"):
        open_source(tmp_path)
