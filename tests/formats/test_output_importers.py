"""What other linkers give: BLINK, ELQ, REL and GENRE, with exact offsets where the file has texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Candidate, Document, Link, Mention, Span
from entlink.errors import SourceError, SpanError
from entlink.formats.outputs import blink as blink_output
from entlink.formats.outputs import elq as elq_output
from entlink.formats.outputs import genre as genre_output
from entlink.formats.outputs import rel as rel_output
from exchange_formats import read, with_problems

LACKS = {"lacks": "text"}


def check_bad(module, path: Path, good: str, bad: str, part: str) -> None:
    """A bad second line is named, and passed over on demand."""
    path.write_text(f"{good}\n{bad}\n{good}\n", encoding="utf8")
    with pytest.raises((SourceError, SpanError)) as caught:
        list(module.read(path))
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert part in str(caught.value)
    assert len(list(module.read(path, on_error="skip"))) == 2


# BLINK

BLINK = {
    "id": 3,
    "label": "unknown",
    "label_id": -1,
    "context_left": "he lives in",
    "mention": "paris",
    "context_right": ".",
    "predictions": ["Paris, Texas", "Paris"],
    "scores": [2.5, 8.0],
}


def test_predictions_of_blink():
    [document] = read(blink_output, json.dumps(BLINK))
    paris, texas = Candidate("Paris", 8.0, title="Paris"), Candidate("Paris, Texas", 2.5, title="Paris, Texas")
    link = Link(Mention(Span(12, 17), "paris"), "Paris", 8.0, title="Paris", candidates=(paris, texas))
    assert document == Document("3", "he lives in paris .", links=(link,))


def test_no_prediction_of_blink_is_nil():
    [document] = read(blink_output, json.dumps([{**BLINK, "id": None, "predictions": [], "scores": []}]))
    assert document.id == "1"
    assert document.links == (Link(Mention(Span(12, 17), "paris"), None, 1.0),)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"scores": [1.0]}, "field scores has 1 values for 2 predictions"),
        ({"scores": ["high", "low"]}, "field scores[0]: Expected `float`, got `str`"),
        ({"mention": ""}, "field mention is empty"),
        ({"predictions": "Paris"}, "field predictions: Expected `array`, got `str`"),
    ],
)
def test_bad_predictions_of_blink(tmp_path, changes, part):
    check_bad(blink_output, tmp_path / "b.jsonl", json.dumps(BLINK), json.dumps({**BLINK, **changes}), part)


# ELQ


def elq(text: str, *found: tuple[str, str], **more) -> str:
    row = {"id": 0, "text": text, "pred_tuples_string": found, "scores": [-0.5] * len(found), **more}
    return json.dumps(row)


def spans_of(content: str) -> list[tuple[int, str]]:
    [document] = read(elq_output, content)
    mentions = [link.mention for link in document.links]
    assert [document.text[one.span.start : one.span.end] for one in mentions] == [one.text for one in mentions]
    return [(one.span.start, one.text) for one in mentions]


def test_predictions_of_elq():
    content = elq(
        "paris is capital of which country?", ("Paris", "paris"), pred_triples=[["517", 0, 1]], tokens=[3000]
    )
    [document] = read(elq_output, content)
    assert document == Document(
        "0",
        "paris is capital of which country?",
        links=(Link(Mention(Span(0, 5), "paris"), "Paris", -0.5, title="Paris"),),
    )


@pytest.mark.parametrize(
    ("text", "surface", "start", "covered"),
    [
        ("who is Shaquille O'Neal?", "shaquille o'neal", 7, "Shaquille O'Neal"),
        ("who is Shaquille O'Neal?", "shaquille o ' neal", 7, "Shaquille O'Neal"),
        ("in ZÜRICH now", "zurich", 3, "ZÜRICH"),
        ("a cafe\u0301 now", "cafe", 2, "cafe\u0301"),
        ("İstanbul!", "istanbul", 0, "İstanbul"),
        ("a bus for us", "us", 10, "us"),
        ("我在北京住", "北 京", 2, "北京"),
        ("😀 New\n York", "new york", 2, "New\n York"),
    ],
)
def test_a_mention_is_found_by_its_letters(text, surface, start, covered):
    assert spans_of(elq(text, ("T", surface))) == [(start, covered)]


def test_tokens_tell_which_of_several_is_meant():
    def content(start):
        return elq(
            "paris or paris", ("P", "paris"), pred_triples=[["5", start, start + 1]], tokens=[3000, 2030, 3000]
        )

    assert spans_of(content(0)) == [(0, "paris")]
    assert spans_of(content(2)) == [(9, "paris")]


def test_no_predictions_of_elq():
    assert read(elq_output, elq("hm"))[0].links == ()
    [document] = read(elq_output, json.dumps({"text": "x y", "pred_tuples_string": [["X", "x"]]}))
    assert (document.id, document.links[0].score) == ("1", 1.0)


@pytest.mark.parametrize(
    ("bad", "part"),
    [
        (elq("paris", ("London", "london")), "the mention 'london' is not in the text"),
        (elq("paris", ("London", "[UNK]")), "the mention '[UNK]' is not in the text"),
        (elq("a or a", ("A", "a")), "the mention 'a' stands 2 times in the text"),
        (elq("a or a", ("A", "a"), pred_triples=[["1", 7, 8]], tokens=[1, 2, 1]), "stands 2 times"),
        (elq("a or a", ("A", "a"), pred_triples=[["1", 0, 1]], tokens=[1, 2]), "stands 2 times"),
        (elq("a", ("A", "a"), scores=[]), "field scores has 0 values for 1 tuples"),
        (elq("a", ("A", "a"), pred_triples=[]), "field pred_triples has 0 values for 1 tuples"),
        ('{"text": "a"}', "missing required field `pred_tuples_string`"),
    ],
)
def test_bad_predictions_of_elq(tmp_path, bad, part):
    check_bad(elq_output, tmp_path / "e.jsonl", elq("a", ("A", "a")), bad, part)


# REL

OBAMA = [0, 5, "Obama", "Barack_Obama", 0.9, 0.8, "PER"]
LINK = Link(Mention(Span(0, 5), "Obama", "PER", 0.8), "Barack Obama", 0.9, title="Barack Obama")


def test_an_answer_of_rel():
    [document] = read(rel_output, json.dumps([OBAMA]))
    assert document == Document("1", "", links=(LINK,), meta=LACKS)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_batch_of_rel(indent):
    content = json.dumps({"d1": [OBAMA], "d2": []}, indent=indent)
    assert read(rel_output, content) == [
        Document("d1", "", links=(LINK,), meta=LACKS),
        Document("d2", "", meta=LACKS),
    ]


def test_lines_of_rel():
    assert [one.id for one in read(rel_output, f'{json.dumps([OBAMA])}\n[]\n{{"x": []}}\n')] == ["1", "2", "x"]


@pytest.mark.parametrize(
    ("row", "link"),
    [
        (OBAMA[:6], Link(Mention(Span(0, 5), "Obama", None, 0.8), "Barack Obama", 0.9, title="Barack Obama")),
        (OBAMA[:5], Link(Mention(Span(0, 5), "Obama"), "Barack Obama", 0.9, title="Barack Obama")),
        ([*OBAMA[:5], "PER"], Link(Mention(Span(0, 5), "Obama", "PER"), "Barack Obama", 0.9, title="Barack Obama")),
        (
            [*OBAMA[:6], "NULL"],
            Link(Mention(Span(0, 5), "Obama", None, 0.8), "Barack Obama", 0.9, title="Barack Obama"),
        ),
        ([*OBAMA[:3], "NIL", 0, 1, "PER"], Link(Mention(Span(0, 5), "Obama", "PER", 1.0), None, 0.0, nil_type="PER")),
    ],
)
def test_shorter_mentions_of_rel(row, link):
    assert read(rel_output, json.dumps([row]))[0].links == (link,)


@pytest.mark.parametrize(
    ("row", "part"),
    [
        (OBAMA[:4], "mention 0: it has 4 values"),
        ([*OBAMA, 1], "it has 8 values"),
        (["0", *OBAMA[1:]], "its start is '0'"),
        ([True, *OBAMA[1:]], "its start is True"),
        ([*OBAMA[:4], "high"], "its confidence is 'high'"),
        ([*OBAMA[:4], 10**400], "one of its numbers is too large"),
        ([0, 5, "Barack_Obama", "PER", 0.9, 0.8], "its entity is the tag 'PER', as in older versions of REL"),
        ([0, 0, "", "X", 0.9], "mention 0: the span 0-0 is empty"),
        ([-1, 5, "Obama", "X", 0.9], "mention 0: the span -1-4 lies outside"),
    ],
)
def test_bad_mentions_of_rel(tmp_path, row, part):
    check_bad(rel_output, tmp_path / "r.jsonl", json.dumps([OBAMA]), json.dumps({"d": [row]}), part)


def test_a_bad_document_does_not_spoil_a_batch():
    documents, [problem] = with_problems(rel_output, json.dumps({"d1": [[1]], "d2": [OBAMA]}))
    assert [one.id for one in documents] == ["d2"]
    assert problem.startswith("line 1: document 'd1', mention 0: ")


def test_something_else_than_lists():
    with pytest.raises(SourceError, match=r"line 1: field \[\.\.\.\]: Expected `array`, got `int`"):
        read(rel_output, '{"d": 5}')


# GENRE


def links_of(content: str) -> tuple[str, list[tuple[int, str, str | None]]]:
    [document] = read(genre_output, content)
    return document.text, [(one.mention.span.start, one.mention.text, one.entity) for one in document.links]


@pytest.mark.parametrize(
    "line",
    [
        "In 1921, { Einstein } [ Albert Einstein ] received a { Nobel Prize } [ Nobel Prize in Physics ].",
        "  In 1921, { Einstein } [ Albert Einstein ] received a { Nobel Prize } [ Nobel Prize in Physics ]. \r",
        "In 1921, {Einstein}[Albert Einstein] received a {Nobel Prize}[Nobel Prize in Physics].",
        "In 1921, {Einstein} [Albert Einstein] received a {Nobel Prize} [Nobel Prize in Physics].",
    ],
)
def test_marked_texts_of_genre(line):
    assert links_of(line + "\n") == (
        "In 1921, Einstein received a Nobel Prize.",
        [(9, "Einstein", "Albert Einstein"), (29, "Nobel Prize", "Nobel Prize in Physics")],
    )


@pytest.mark.parametrize(
    ("line", "text", "links"),
    [
        ("{ Einstein } [ A ] won", "Einstein won", [(0, "Einstein", "A")]),
        ("a { b } [ C ] {. } [ D ]", "a b.", [(2, "b", "C"), (3, ".", "D")]),
        ("( {Bob } [ B ])", "(Bob)", [(1, "Bob", "B")]),
        ("{ Bob. } [ NIL ] x", "Bob. x", [(0, "Bob.", None)]),
        ("x {Bob}[]", "x Bob", [(2, "Bob", None)]),
        ("x { Bob } [ ]", "x Bob", [(2, "Bob", None)]),
        ("nothing here", "nothing here", []),
        ("😀 { Zu\u0308rich } [ Zürich ]", "😀 Zu\u0308rich", [(2, "Zu\u0308rich", "Zürich")]),
    ],
)
def test_marks_and_spaces_of_genre(line, text, links):
    assert links_of(line) == (text, links)


words = st.text("abé😀,.'", min_size=1, max_size=4)


@given(st.lists(st.tuples(words, st.booleans(), st.booleans()), min_size=1, max_size=6))
def test_the_marks_of_genre_come_out_exactly(pieces):
    """GENRE puts a space before each mark; a word keeps its own, which then stands inside the marks."""
    text, marked, expected = "", "", []
    for index, (word, is_spaced, is_linked) in enumerate(pieces):
        space = " " if is_spaced and index else ""
        if is_linked:
            expected.append((len(text + space), word, "The entity"))
            marked += f" {{{space}{word} }} [ The entity ]"
        else:
            marked += space + word
        text += space + word
    assert links_of(marked) == (text, expected)


@pytest.mark.parametrize(
    ("bad", "part"),
    [
        ("a { b } [ C", "the mark '{' has no partner"),
        ("a { b } [ C ] [ D ]", "the mark '[' has no partner, in ' [ D ]'"),
        ("a } b", "the mark '}' has no partner"),
        ("a {}[C]", "the mention of 'C' is empty"),
        ("a { } [ C ]", "the mention of ' C ' is empty"),
    ],
)
def test_bad_marks_of_genre(tmp_path, bad, part):
    check_bad(genre_output, tmp_path / "g.txt", "{ a } [ B ]", bad, part)


def test_bad_bytes_of_genre():
    with pytest.raises(SourceError, match="line 1: byte 1 of the line, 0xff"):
        read(genre_output, b"a\xff\n")


def kilt(input: str, *titles: tuple[str, float], id: object = "d1") -> str:
    provenance = [{"wikipedia_id": None, "title": title, "score": score} for title, score in titles]
    return json.dumps({"id": id, "input": input, "output": [{"answer": "", "provenance": provenance}]})


def test_hypotheses_of_genre():
    [document] = read(genre_output, kilt("a [START_ENT] German [END_ENT] man", ("Germans", -0.5), ("Germany", -0.25)))
    germany, germans = (
        Candidate(title, score, title=title) for title, score in (("Germany", -0.25), ("Germans", -0.5))
    )
    link = Link(Mention(Span(2, 8), "German"), "Germany", -0.25, title="Germany", candidates=(germany, germans))
    assert document == Document("d1", "a German man", links=(link,))


@pytest.mark.parametrize(
    ("titles", "entity", "score", "count"),
    [([], None, 1.0, 0), ([("NIL", -0.1), ("A", -0.5)], None, -0.1, 1), ([("A >> it", -0.1)], "A >> it", -0.1, 1)],
)
def test_nil_and_other_hypotheses(titles, entity, score, count):
    [document] = read(genre_output, kilt("[START] x [END] y", *titles, id=None))
    [link] = document.links
    assert (document.id, document.text) == ("1", "x y")
    assert (link.entity, link.score, len(link.candidates)) == (entity, score, count)


@pytest.mark.parametrize(
    ("bad", "part"),
    [
        (kilt("no mention"), "field input has 0 marked mentions"),
        (kilt("[START_ENT] a [END_ENT] [START_ENT] b [END_ENT]"), "field input has 2 marked mentions"),
        ('{"input": "x"}', "missing required field `output`"),
        ('{"input": "x", "output": [{}]}', "field output[0]"),
    ],
)
def test_bad_hypotheses_of_genre(tmp_path, bad, part):
    check_bad(genre_output, tmp_path / "g.jsonl", kilt("[START_ENT] a [END_ENT]"), bad, part)
