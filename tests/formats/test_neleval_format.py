"""neleval's lines: the end is included, the best candidate is the answer, and texts are lacking."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Candidate, Document, GoldLink, Link, Mention, Span
from entlink.errors import InputError, SourceError, SpanError
from entlink.formats.public import neleval
from exchange_formats import AWKWARD, characters, read, with_problems, written

LACKS = {"lacks": "text"}


def line_of(*cells: object) -> str:
    return "\t".join(map(str, cells)) + "\n"


def link_of(*cells: object) -> Link:
    [document] = read(neleval, line_of("d", 3, 4, *cells))
    [link] = document.links
    assert link.mention.span == Span(3, 5)
    return link


def test_lines_of_one_document_stand_together():
    content = line_of("a", 0, 2, "Q1", 0.5, "PER") + line_of("a", 4, 4, "NIL1", 1, "") + "\n" + line_of("b", 7, 9)
    first, second = read(neleval, content)
    assert first == Document(
        "a",
        "",
        links=(Link(Mention(Span(0, 3), "", "PER"), "Q1", 0.5), Link(Mention(Span(4, 5), ""), None, 1.0)),
        meta=LACKS,
    )
    assert second == Document("b", "", links=(Link(Mention(Span(7, 10), ""), None, 1.0),), meta=LACKS)


@pytest.mark.parametrize(
    ("cells", "entity", "score", "type", "candidates"),
    [
        (("Q1",), "Q1", 1.0, None, []),
        (("Q1", 0.5), "Q1", 0.5, None, []),
        (("Q1", "1e-3", "PER"), "Q1", 0.001, "PER", []),
        (("Q1", "", "PER"), "Q1", 1.0, "PER", []),
        (("Q1", 0.2, "A", "Q2", 0.7, "B"), "Q2", 0.7, "B", [("Q2", 0.7), ("Q1", 0.2)]),
        (("Q1", 0.5, "-", "Q2", 0.5, "-"), "Q1", 0.5, None, [("Q1", 0.5), ("Q2", 0.5)]),
        (("Q1", 0.5, "", "Q2", 0.1, ""), "Q1", 0.5, None, [("Q1", 0.5), ("Q2", 0.1)]),
        (("Q1", 0.2, "A", "NIL", 0.7, "B"), None, 0.7, "B", [("Q1", 0.2)]),
        (("Q1", 1, '{"type": "PER", "x": 1}'), "Q1", 1.0, "PER", []),
        (("Q1", 1, '{"x": 1}'), "Q1", 1.0, None, []),
        (("Q1", 1, "{odd"), "Q1", 1.0, "{odd", []),
        (("NIL0007", 0.1, "GPE"), None, 0.1, "GPE", []),
        (("nil", 0.1, "GPE"), "nil", 0.1, "GPE", []),
    ],
)
def test_candidates(cells, entity, score, type, candidates):
    link = link_of(*cells)
    assert (link.entity, link.score, link.mention.type) == (entity, score, type)
    assert link.candidates == tuple(Candidate(*candidate) for candidate in candidates)
    assert link.nil_type == (type if entity is None else None)


@pytest.mark.parametrize(
    ("cells", "part"),
    [
        (("a", 0), "the line has 2 columns"),
        (("a", "x", 1), "the start is 'x'"),
        (("a", 0, -1), "the end is '-1'"),
        (("a", 0, "٣"), "the end is '٣'"),
        (("a", 5, 4), "the mention ends at 4, before it starts at 5"),
        (("a", 0, "9" * 16), "the end is '9999999999999999'"),
        (("a", 0, 4, "Q1", "high"), "column 5, a score, is 'high'"),
        (("a", 0, 4, "Q1", "nan"), "column 5, a score, is 'nan'"),
        (("a", 0, 4, "Q1", 1, "A", "Q2"), "the line has 7 columns"),
        (("a", 0, 4, "Q1", 1, "A", "", 1, "B"), "column 7, an entity, is empty"),
    ],
)
def test_bad_lines(tmp_path: Path, cells, part):
    path = tmp_path / "run.tsv"
    path.write_text(line_of("a", 1, 2) + line_of(*cells) + line_of("a", 3, 4), encoding="utf8")
    with pytest.raises(SourceError) as caught:
        list(neleval.read(path))
    assert str(caught.value).startswith(f"{path}, line 2: {part}")
    [document] = neleval.read(path, on_error="skip")
    assert len(document.links) == 2


@pytest.mark.parametrize(
    ("line", "is_ours"),
    [
        ("d\t0\t4", True),
        ("d\t0\t4\tQ1", True),
        ("d\t0\t4\tQ1\t-.5e-3\t", True),
        ("d\t0\t4\tQ1\t0.5\tPER\tQ2\t1.\tPER\t\t", True),
        ("d\t0\t4\tQ1\t0.5\t\tQ2\t0.4", True),
        ("d\t0\t4\tQ1\tPER", False),
        ("d\t0\t4\tQ1\t0.5\tPER\tQ2", False),
        ("d\t0\t4\t" + "Q\t1\tx\t" * 2000 + "Q\tx", False),
        ("d\t0\t" + "9" * 60_000 + "x", False),
        ("d\t0\t4\tQ\t" + "9" * 60_000 + "x", False),
        ("d 0 4", False),
        ("d\t-1\t4", False),
    ],
)
def test_what_looks_like_it(line, is_ours):
    assert neleval.looks_like(Path("x"), f"{line}\n\n{line}\n".encode()) is is_ours


def test_bad_bytes():
    documents, [problem] = with_problems(neleval, b"a\t0\t1\tQ\xff\nb\t0\t1\n")
    assert problem.startswith("line 1: byte 7 of the line, 0xff") and documents[0].id == "b"


def test_a_document_that_comes_again():
    content = line_of("a", 0, 1) + line_of("b", 0, 1) + line_of("a", 3, 4)
    with pytest.raises(SourceError, match="line 3: document 'a' comes again, behind others"):
        read(neleval, content)
    documents, problems = with_problems(neleval, content)
    assert [(one.id, len(one.links)) for one in documents] == [("a", 1), ("b", 1)] and len(problems) == 1


# Writing


def test_an_id_that_comes_twice_is_an_error():
    gold = (GoldLink(Span(0, 1), ("Q1",)),)
    with pytest.raises(InputError, match="document 'd' cannot be written as neleval: another document has"):
        written(neleval, [Document("d", "", gold=gold), Document("e", "", gold=gold), Document("d", "", gold=gold)])
    assert written(neleval, [Document("d", "", gold=gold), Document("d", "")]) == b"d\t0\t0\tQ1\t1.0\n"


def lines_of(*documents: Document) -> list[str]:
    return written(neleval, documents).decode().splitlines()


def test_links_are_written():
    chosen = Candidate("Q1", 0.5)
    links = (
        Link(
            Mention(Span(0, 2), "", "PER"),
            "Q1",
            0.5,
            candidates=(chosen, Candidate("Q2", 0.25), Candidate("Q3", 0.9)),
        ),
        Link(Mention(Span(4, 5), ""), None, 0.75, nil_type="LOC", candidates=(Candidate("Q4", 0.25),)),
        Link(Mention(Span(6, 7), ""), None, 1.0),
    )
    assert lines_of(Document("d", "Go to X", links=links)) == [
        "d\t0\t1\tQ1\t0.5\tPER\tQ2\t0.25\tPER",
        "d\t4\t4\tNIL0001\t0.75\tLOC\tQ4\t0.25\tLOC",
        "d\t6\t6\tNIL0002\t1.0",
    ]


def test_gold_is_written_with_its_alternatives():
    gold = (
        GoldLink(Span(0, 2), ("Q1", "Q2")),
        GoldLink(Span(3, 4), ("Q3",), meta={"type": "ORG", "score": 0.5}),
        GoldLink(Span(5, 6), (), "PER"),
        GoldLink(Span(7, 8), ("Q4",), optional=True),
    )
    assert lines_of(Document("d", "", gold=gold)) == [
        "d\t0\t1\tQ1\t1.0\t-\tQ2\t1.0\t-",
        "d\t3\t3\tQ3\t0.5\tORG",
        "d\t5\t5\tNIL0001\t1.0\tPER",
    ]


@pytest.mark.parametrize(
    ("id", "entity", "type"),
    [("a\tb", "e", None), ("d", "a\nb", None), ("d", "e", "a\rb"), ("d", "NILS", None), ("d", "", None)],
)
def test_what_cannot_be_written(id, entity, type):
    link = Link(Mention(Span(0, 1), "", type), entity, 1.0)
    with pytest.raises(InputError, match="cannot be written as neleval"):
        lines_of(Document(id, "", links=(link,)))


def test_a_span_that_is_none():
    with pytest.raises(SpanError, match="document 'd': the span 3-3 is empty"):
        lines_of(Document("d", "", gold=(GoldLink(Span(3, 3), ()),)))


cells = st.text(characters.filter(lambda one: one not in "\t\r\n"), min_size=1, max_size=6) | st.sampled_from(AWKWARD)
entities = cells.filter(lambda name: not name.startswith("NIL"))
types = st.none() | cells.filter(lambda type: type != neleval.NO_TYPE and not type.startswith("{"))
scores = st.floats(allow_nan=False, allow_infinity=False, width=32)


@st.composite
def links(draw) -> Link:
    start = draw(st.integers(0, 99))
    mention = Mention(Span(start, start + draw(st.integers(1, 9))), "", draw(types))
    score = draw(scores)
    lower = sorted(draw(st.lists(scores.map(lambda one: min(one, score)), max_size=2)), reverse=True)
    others = tuple(Candidate(draw(entities), one) for one in lower)
    if draw(st.booleans()):
        return Link(mention, None, score, nil_type=mention.type, candidates=others)
    entity = draw(entities.filter(lambda name: name not in [other.entity for other in others]))
    chosen = (Candidate(entity, score), *others) if others else ()
    return Link(mention, entity, score, candidates=chosen)


# At the start of a file it is a byte order mark.
ids = cells.filter(lambda id: not id.startswith("\ufeff"))


@given(st.dictionaries(ids, st.lists(links(), min_size=1, max_size=3), max_size=3))
def test_what_is_written_is_read_back(content):
    documents = [Document(id, "", links=tuple(several), meta=LACKS) for id, several in content.items()]
    assert read(neleval, written(neleval, documents)) == documents
