"""Documents as JSON lines: what rows mean, and that nothing is lost on the way there and back."""

from __future__ import annotations

import gzip
import io
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.documents import Candidate, Document, GoldLink, Image, Link, Mention, Span, Turn
from entlink.errors import SourceError, SpanError
from entlink.formats.documents.lines import decode_document, encode_document, read_documents


def decoded(**row):
    return decode_document(json.dumps(row).encode())


def test_a_text_row_with_everything():
    document = decoded(
        id="d1",
        text="Ann met Bob.",
        language="en",
        date="2020-01-01",
        images=[{"uri": "a.png", "caption": "Ann"}, "b.png"],
        mentions=[{"start": 0, "end": 3, "type": "PER"}, {"start": 8, "end": 11, "text": "Bob"}],
        gold=[
            {"start": 0, "end": 3, "entity": "Q1"},
            {"start": 8, "end": 11, "entities": ["Q2", "Q3"], "optional": True},
            {"start": 4, "end": 7, "entity": None, "nil_type": "EVENT"},
        ],
        links=[{"start": 0, "end": 3, "entity": "Q1", "score": 0.5}],
        meta={"split": "dev"},
    )
    assert document == Document(
        "d1",
        "Ann met Bob.",
        "en",
        "2020-01-01",
        (Image("a.png", "Ann"), Image("b.png")),
        mentions=(Mention(Span(0, 3), "Ann", "PER"), Mention(Span(8, 11), "Bob")),
        gold=(
            GoldLink(Span(0, 3), ("Q1",)),
            GoldLink(Span(8, 11), ("Q2", "Q3"), optional=True),
            GoldLink(Span(4, 7), (), "EVENT"),
        ),
        links=(Link(Mention(Span(0, 3), "Ann"), "Q1", 0.5),),
        meta={"split": "dev"},
    )


def test_an_empty_name_of_a_picture_is_no_picture():
    assert decoded(text="a", image="").images == decoded(text="a", images=[""]).images == ()
    assert decoded(text="a", image="", images=["a.png"]).images == (Image("a.png"),)


@pytest.mark.parametrize(("id", "expected"), [("x", "x"), (7, "7"), (None, "12")])
def test_an_id_is_text_or_number_or_the_line(id, expected):
    line = json.dumps({"id": id, "text": "a"}).encode()
    assert decode_document(line, line_number=12).id == expected


def test_a_missing_id_is_the_line_number():
    assert [document.id for document in read_documents(io.BytesIO(b'{"text":"a"}\n\n{"text":"b"}'))] == [
        "1",
        "3",
    ]


def test_given_mentions_may_be_none_but_not_missing():
    assert decoded(text="a").mentions is None
    assert decoded(text="a", mentions=None).mentions is None
    assert decoded(text="a", mentions=[]).mentions == ()


def test_unknown_keys_are_kept_in_meta():
    document = decoded(text="a", source="web", rank={"n": [1]}, meta={"split": "dev"})
    assert document.meta == {"split": "dev", "source": "web", "rank": {"n": [1]}}
    row = json.loads(encode_document(document))
    assert "source" not in row and row["meta"]["source"] == "web"


def test_offsets_of_a_conversation_are_in_their_turn():
    turns = [{"speaker": "A", "text": "Hi Ann"}, {"text": "Bob here", "time": "10:00"}]
    row = {"id": "c", "turns": turns, "mentions": [{"turn": 1, "start": 0, "end": 3}]}
    document = decoded(**row)
    assert document.turns == (Turn("Hi Ann", "A"), Turn("Bob here", None, "10:00"))
    assert document.mentions == (Mention(Span(8, 11), "Bob"),)
    linked = msgspec.structs.replace(document, links=(Link(document.mentions[0], "Q2", 1.0),))
    written = json.loads(encode_document(linked))
    assert written["turns"] == turns and "text" not in written
    assert written["mentions"] == [{"turn": 1, "start": 0, "end": 3, "text": "Bob"}]
    assert (written["links"][0]["turn"], written["links"][0]["start"]) == (1, 0)


def test_a_link_row_has_always_the_same_keys():
    links = (
        Link(Mention(Span(0, 3), "Ann"), "Q1", 0.123456789, title="Ann Lee"),
        Link(Mention(Span(8, 11), "Bob"), None, 0.25, calibrated=True, nil_type="PER"),
    )
    row = json.loads(encode_document(Document("d", "Ann met Bob.", links=links)))
    assert list(row) == ["id", "text", "links"]
    assert row["links"] == [
        {
            "start": 0,
            "end": 3,
            "text": "Ann",
            "entity": "Q1",
            "title": "Ann Lee",
            "score": 0.123457,
            "nil_type": None,
        },
        {
            "start": 8,
            "end": 11,
            "text": "Bob",
            "entity": None,
            "title": None,
            "score": 0.25,
            "nil_type": "PER",
            "calibrated": True,
        },
    ]


def test_candidates_are_written_on_demand():
    candidates = (Candidate("Q1", 0.12345678, {"prior": 0.5}, "Ann Lee"), Candidate("Q9", 0.1))
    link = Link(Mention(Span(0, 3), "Ann"), "Q1", 0.9, candidates=candidates)
    document = Document("d", "Ann", links=(link,))
    assert "candidates" not in json.loads(encode_document(document))["links"][0]
    row = json.loads(encode_document(document, candidates=True))
    assert row["links"][0]["candidates"] == [
        {"entity": "Q1", "title": "Ann Lee", "score": 0.123457, "evidence": {"prior": 0.5}},
        {"entity": "Q9", "title": None, "score": 0.1, "evidence": {}},
    ]


def test_a_document_without_links_says_so():
    assert json.loads(encode_document(Document("d", "a"))) == {"id": "d", "text": "a", "links": []}


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
names = st.none() | texts
scores = st.floats(-1e6, 1e6).map(lambda score: round(score, 6))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | scores | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
evidence = st.dictionaries(texts, scores, max_size=2)
candidates = st.builds(Candidate, texts, scores, evidence, names)


@st.composite
def spans(draw, whole):
    start = draw(st.integers(whole.start, whole.end - 1))
    return Span(start, draw(st.integers(start + 1, whole.end)))


@st.composite
def links(draw, span):
    mention = Mention(span, draw(texts), draw(names), draw(st.none() | scores))
    considered = tuple(draw(st.lists(candidates, max_size=2)))
    return Link(mention, draw(names), draw(scores), draw(st.booleans()), draw(names), draw(names), considered)


@st.composite
def documents(draw):
    turns = draw(st.lists(st.builds(Turn, texts, names, names), max_size=4))
    bare = Document.of_turns(draw(texts), turns) if turns else Document(draw(texts), draw(texts))
    frames = [span for span in bare.turn_spans or (Span(0, len(bare.text)),) if span.start < span.end]
    some = st.sampled_from(frames).flatmap(spans) if frames else st.nothing()
    found = draw(st.lists(some, max_size=4)) if frames else []
    apart = []
    for span in draw(st.lists(some, max_size=4)) if frames else []:
        if not any(span.overlaps(other) for other in apart):
            apart.append(span)
    given = tuple(Mention(span, draw(texts), draw(names), draw(st.none() | scores)) for span in apart)
    right = [tuple(draw(st.lists(texts, max_size=3))) for _ in found]
    return msgspec.structs.replace(
        bare,
        language=draw(names),
        date=draw(names),
        images=tuple(draw(st.lists(st.builds(Image, texts, names), max_size=2))),
        mentions=draw(st.sampled_from((None, given))),
        gold=tuple(GoldLink(*pair, draw(names), draw(st.booleans())) for pair in zip(found, right, strict=True)),
        links=tuple(draw(links(span)) for span in found),
        meta=draw(st.dictionaries(texts, json_values, max_size=3)),
    )


@given(documents())
@settings(max_examples=150, deadline=None)
def test_nothing_is_lost_on_the_way_there_and_back(document):
    line = encode_document(document, candidates=True)
    assert b"\n" not in line
    assert decode_document(line) == document


@given(st.binary(max_size=80) | st.text(max_size=40).map(lambda text: b'{"text":"' + text.encode() + b'"}'))
def test_any_bytes_give_a_document_or_a_named_error(line):
    try:
        document = decode_document(line, file="f.jsonl", line_number=3)
    except (SourceError, SpanError) as error:
        assert str(error).startswith("f.jsonl, line 3: ")
    else:
        assert isinstance(document.text, str)


def test_files_are_read_by_path_compressed_or_not(tmp_path):
    rows = b'\xef\xbb\xbf{"id":1,"text":"a"}\r\n\r\n{"id":2,"text":"b"}\n'
    (tmp_path / "plain.jsonl").write_bytes(rows)
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(rows))
    for name in ("plain.jsonl", "packed.jsonl.gz"):
        assert [document.id for document in read_documents(tmp_path / name)] == ["1", "2"]
        assert [document.text for document in read_documents(str(tmp_path / name))] == ["a", "b"]


def test_an_open_file_is_left_open():
    file = io.BytesIO(b'{"text":"a"}\n')
    assert len(list(read_documents(file))) == 1
    assert not file.closed


def test_reading_is_lazy():
    file = io.BytesIO(b'{"text":"a"}\nbad\n')
    documents = read_documents(file)
    assert next(documents).text == "a"
    with pytest.raises(SourceError, match="line 2"):
        next(documents)
