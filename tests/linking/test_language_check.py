from __future__ import annotations

import pytest

from entlink.documents import Document
from entlink.linking.linker import load
from knowledge_bases import article, make_kb

GERMAN = (
    "Die Stadt liegt an der Elbe und ist die Hauptstadt des Landes. Mit rund 560.000 Menschen ist sie die Stadt, "
    "die als Ort von den Urkunden nicht vor dem Jahr 1206 erwähnt wird. "
) * 3
ENGLISH = (
    "The town of {} is on the river, and it was built for the people of the valley by those who came from there."
)


@pytest.fixture
def linker(tmp_path):
    rows = [article(f"e{number}", f"Town{number}", ENGLISH.format(f"Town{number}")) for number in range(200)]
    linker = load(make_kb(tmp_path, rows, "towns"))
    yield linker
    linker.kb.close()


def test_a_text_in_another_language_is_told_once(linker, caplog):
    linker.link(ENGLISH.format("Town3"))
    assert not caplog.records
    list(linker.link_all([Document("first", GERMAN), Document("second", GERMAN)]))
    linker.link(GERMAN)
    (record,) = caplog.records
    assert "towns.kb: its names and descriptions are in English, and the document 'first' is in German" in (
        record.getMessage()
    )


def test_only_the_first_documents_are_looked_at(linker, caplog):
    list(linker.link_all([ENGLISH.format("Town3")] * 20))
    linker.link(GERMAN)
    assert not caplog.records
