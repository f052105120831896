"""The published schema and its page are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

from entlink.documents import SCHEMA_VERSION
from entlink.formats.documents.lines import decode_document, document_schema
from entlink.formats.documents.rows import DocumentRow, GoldRow, LinkRow, MentionRow

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "document-format.md"


def test_the_schema_on_disk_is_current():
    path = DOCS / "schema" / f"document-v{SCHEMA_VERSION}.json"
    assert path.read_text(encoding="utf-8") == json.dumps(document_schema(), indent=2) + "\n"


def test_a_row_has_a_text_or_turns_and_may_have_more():
    row = document_schema()["$defs"]["DocumentRow"]
    assert row["additionalProperties"] is True
    assert row["oneOf"] == [{"required": ["text"]}, {"required": ["turns"]}]
    assert set(row["properties"]) == set(DocumentRow.__struct_fields__)


def test_the_page_names_every_key():
    page = PAGE.read_text(encoding="utf-8")
    for row in (DocumentRow, MentionRow, GoldRow, LinkRow):
        for key in row.__struct_fields__:
            assert f"`{key}`" in page, f"{key} of {row.__name__} is not explained"


def test_the_examples_of_the_page_are_read():
    blocks = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) >= 4
    for line in lines:
        document = decode_document(line.encode())
        for mention in [*(document.mentions or ()), *(link.mention for link in document.links)]:
            assert document.text[mention.span.start : mention.span.end] == mention.text
