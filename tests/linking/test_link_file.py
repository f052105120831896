"""Files linked into files, as `entlink link` does."""

from __future__ import annotations

import gc
import gzip
import io
import json

import pytest

import entlink
from entlink import Document, KnowledgeBase, link_file
from entlink.errors import InputError, SourceError
from entlink.formats.documents.lines import read_documents


def linked(path):
    return [
        [(link.mention.span.start, link.mention.span.end, link.entity) for link in document.links]
        for document in read_documents(path)
    ]


@pytest.mark.parametrize(
    ("name", "text", "at"),
    [
        ("plain.txt", "See Venus.", (4, 9)),
        ("page.md", "See **Ve**nus.", (6, 13)),
        ("page.html", "<p>See V&#101;nus.</p>", (7, 17)),
    ],
)
def test_offsets_are_those_of_the_original(world_folder, tmp_path, name, text, at):
    source, out = tmp_path / name, tmp_path / "out.jsonl"
    source.write_text(text)
    assert link_file(world_folder, source, out) == (1, 1, 0)
    assert linked(out) == [[(*at, "venus")]]
    (document,) = read_documents(out)
    assert (document.id, document.text, document.links[0].mention.text) == (str(source), text, "Venus")


def test_documents_and_conversations(world_folder, tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl.gz"
    rows = [{"id": "a", "text": "Venus"}, {"id": "b", "turns": [{"speaker": "u", "text": "Hello Venus"}]}]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert link_file(str(world_folder), source, out).documents == 2
    with gzip.open(out) as file:
        written = [json.loads(line) for line in file]
    assert [row["id"] for row in written] == ["a", "b"]
    assert written[1]["links"][0]["turn"] == 0
    assert linked(out) == [[(0, 5, "venus")], [(6, 11, "venus")]]


def test_streams(world_folder):
    out = io.BytesIO()
    source = io.BytesIO(b"Venus")
    link_file(world_folder, source, out)
    assert json.loads(out.getvalue())["links"][0]["entity"] == "venus"
    assert not source.closed


def test_what_a_stream_holds_can_be_said(world_folder):
    seen = []
    link_file(world_folder, io.BytesIO(b"<b>Ve</b>nus"), input="html", on_document=seen.append)
    link_file(world_folder, io.BytesIO(b'{"text": "Venus"}'), input="text", on_document=seen.append)
    link_file(world_folder, io.BytesIO(b'{"text": "Venus"}'), on_document=seen.append)
    assert [document.text for document in seen] == ["<b>Ve</b>nus", '{"text": "Venus"}', "Venus"]
    assert [document.links[0].mention.span.start for document in seen] == [3, 10, 0]


def test_a_linker_or_a_knowledge_base(world_folder, world):
    linker = entlink.load(world_folder, types="no such type")
    assert link_file(linker, io.BytesIO(b"Venus")).links == 0
    assert linker.kb.get("venus")  # still open
    assert link_file(world, io.BytesIO(b"Venus")).links == 1
    linker.kb.close()


def test_the_date_of_a_knowledge_base_counts(own_world):
    with KnowledgeBase.open(own_world) as kb:
        kb.add(_dated(own_world.parent))
        assert link_file(kb, io.BytesIO(b"Zembla")).links == 1
        with kb.as_of("1900") as before:
            assert link_file(before, io.BytesIO(b"Zembla")).links == 0


def _dated(folder):
    path = folder / "dated.jsonl"
    path.write_text(json.dumps({"id": "z", "title": "Zembla", "valid_from": "1950"}))
    return path


def test_candidates_on_demand(world_folder):
    for wanted in (False, True):
        out = io.BytesIO()
        link_file(world_folder, io.BytesIO(b"Venus"), out, candidates=wanted)
        assert ("candidates" in json.loads(out.getvalue())["links"][0]) is wanted


def test_nothing_is_written_where_a_document_is_bad(world_folder, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("before")
    rows = b'{"text": "Venus"}\n{"text": 1}\n{"text": "Sun"}\n'
    with pytest.raises(SourceError, match="line 2"):
        link_file(world_folder, io.BytesIO(rows), out)
    assert (out.read_text(), [path.name for path in tmp_path.iterdir()]) == ("before", ["out.jsonl"])
    problems = []
    found = link_file(world_folder, io.BytesIO(rows), out, on_error="skip", on_problem=problems.append)
    assert (found.documents, len(problems)) == (2, 1)
    assert len(linked(out)) == 2


def test_an_error_in_a_guess_says_how_to_read_it_as_a_text(world_folder):
    with pytest.raises(SourceError, match="--input text"):
        link_file(world_folder, io.BytesIO(b"{Venus}"))
    with pytest.raises(SourceError) as told:
        link_file(world_folder, io.BytesIO(b"{Venus}"), input="jsonl")
    assert "--input text" not in str(told.value)


def test_nil_is_counted_apart(own_world):
    with KnowledgeBase.open(own_world) as kb:
        kb.remove("venus")
    linker = entlink.load(own_world, mentions="given")
    row = {"text": "Venus and York", "mentions": [{"start": 0, "end": 5}, {"start": 10, "end": 14}]}
    assert link_file(linker, io.BytesIO(json.dumps(row).encode())) == (1, 1, 1)
    linker.kb.close()


def test_progress_and_the_collector_of_garbage(world_folder, tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "Venus"}')
    before, told = gc.get_threshold(), []

    def take(document: Document) -> None:
        told.append(gc.get_threshold()[0] > before[0])

    link_file(world_folder, source, on_document=take, progress=lambda *report: told.append(report))
    assert told == [True, ("linking", 17, 17)]
    assert gc.get_threshold() == before


def test_a_folder_is_no_output(world_folder, tmp_path):
    with pytest.raises(InputError, match="this is a folder"):
        link_file(world_folder, io.BytesIO(b"Venus"), tmp_path)


def test_what_no_input_can_hold_is_refused(world_folder, tmp_path):
    (tmp_path / "a.txt").write_text("Mercury")
    with pytest.raises(InputError, match="cannot hold 'prose': choose among auto, text"):
        entlink.link_file(world_folder, tmp_path / "a.txt", input="prose")
