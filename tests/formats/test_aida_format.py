"""AIDA CoNLL-YAGO: tokens to texts with exact offsets, and back."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, GoldLink, Span
from entlink.errors import InputError, SourceError
from entlink.formats.public import aida
from exchange_formats import AWKWARD, characters, one_liners, read, with_problems, written

SAMPLE = """-DOCSTART- (947testa CRICKET)
LONDON\tB\tLONDON\tLondon\thttp://en.wikipedia.org/wiki/London\t17867\t/m/04jpl
1996-08-30

West\tB\tWest Indian\tWest_Indies_\\u0028team\\u0029\thttp://en.wikipedia.org/wiki/West_Indies_(team)\t1
Indian\tI\tWest Indian\tWest_Indies_\\u0028team\\u0029\thttp://en.wikipedia.org/wiki/West_Indies_(team)\t1
Phil\tB\tPhil Simmons\t--NME--
Simmons\tI\tPhil Simmons\t--NME--
U.S.
.

-DOCSTART- (1 EU)
EU

"""


def test_what_a_file_becomes():
    first, second = read(aida, SAMPLE)
    assert first.id == "947testa CRICKET"
    assert first.text == "LONDON 1996-08-30\nWest Indian Phil Simmons U.S. ."
    assert first.meta == {"tokenised": True, "split": "testa"}
    london, team, nobody = first.gold
    meta = {"url": "http://en.wikipedia.org/wiki/London", "id": "17867", "freebase": "/m/04jpl"}
    assert london == GoldLink(Span(0, 6), ("London",), meta=meta)
    assert first.text[team.span.start : team.span.end] == "West Indian"
    assert team.entities == ("West Indies (team)",) and set(team.meta) == {"url", "id"}
    assert nobody == GoldLink(Span(30, 42), ())
    assert second == Document("1 EU", "EU", meta={"tokenised": True})


@pytest.mark.parametrize(
    ("line", "id", "split"),
    [
        ("-DOCSTART- (1163testb SOCCER)", "1163testb SOCCER", "testb"),
        ("-DOCSTART- (12testable)", "12testable", None),
        ("-DOCSTART- (a (b) c)", "a (b) c", None),
        ("-DOCSTART- ()", "", None),
        ("-DOCSTART-", "1", None),
        ("-DOCSTART- -X- O", "1", None),
    ],
)
def test_ids_and_splits(line, id, split):
    [document] = read(aida, f"{line}\r\nEU\r\n")
    assert (document.id, document.text, document.meta.get("split")) == (id, "EU", split)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Z\\u00fcrich", "Zürich"),
        ("A_\\ud83d\\ude00_b", "A 😀 b"),
        ("\\u005f_\\u005C", "_ \\"),
        ("\\ud83d", "\ufffd"),
        ("C:\\user", "C:\\user"),
    ],
)
def test_yago_names(name, title):
    assert read(aida, f"-DOCSTART- (1)\nx\tB\tx\t{name}\n")[0].gold[0].entities == (title,)


def test_an_address_stands_for_a_name():
    [document] = read(aida, "-DOCSTART- (1)\nx\tB\tx\t\thttp://en.wikipedia.org/wiki/Z%C3%BCrich_HB\n")
    assert document.gold[0].entities == ("Zürich HB",)


def test_mentions_side_by_side_and_over_the_end_of_a_sentence():
    [document] = read(aida, "-DOCSTART- (1)\na\tB\ta\tX\nb\tB\tb c\tY\n\nc\tI\tb c\tY\nd\t\n")
    assert document.text == "a b\nc d"
    assert [gold.span for gold in document.gold] == [Span(0, 1), Span(2, 5)]


@pytest.mark.parametrize(
    ("lines", "number", "part"),
    [
        ("x\tB\tx\n", 2, "the line of a mention has 3 columns"),
        ("x\tB\tx\t\n", 2, "column 4 is empty"),
        ("x\nx\tI\tx\tX\n", 3, "column 2 is 'I', but no mention is open"),
        ("x\tO\n", 2, "column 2 is 'O'"),
        ("x\n\tB\tx\tX\n", 3, "column 1, the token, is empty"),
    ],
)
def test_bad_lines(tmp_path: Path, lines, number, part):
    path = tmp_path / "aida.tsv.gz"
    path.write_bytes(gzip.compress(f"-DOCSTART- (1)\n{lines}-DOCSTART- (2)\ny\n".encode()))
    with pytest.raises(SourceError) as caught:
        list(aida.read(path))
    assert str(caught.value).startswith(f"{path}, line {number}: {part}")
    problems = []
    assert [one.id for one in aida.read(path, on_error="skip", on_problem=problems.append)] == ["2"]
    assert len(problems) == 1


def test_bad_bytes():
    documents, [problem] = with_problems(aida, b"-DOCSTART- (1)\na\xff\n-DOCSTART- (2)\nb\n")
    assert [document.id for document in documents] == ["2"]
    assert problem.startswith("line 2: byte 1 of the line, 0xff, is not valid UTF-8")


def test_tokens_before_the_first_document():
    with pytest.raises(SourceError, match="line 1: a token stands before the first -DOCSTART-"):
        read(aida, "EU\nrejects\n")
    documents, problems = with_problems(aida, "EU\nrejects\n" + SAMPLE)
    assert len(documents) == 2 and len(problems) == 2


# Writing


def test_a_file_is_written_as_it_was():
    assert written(aida, read(aida, SAMPLE)).decode() == SAMPLE


def test_texts_are_cut_into_tokens():
    text = 'He said:  "Ann-Marie met Bob O\'Neil\tin Paris."\n\n(Yes, e\u0301 😀!)'
    start = text.index("Paris")
    document = Document("d", text, gold=(GoldLink(Span(start, start + 3), ("Par",)),))
    [result] = read(aida, written(aida, [document]))
    assert result.text == 'He said : " Ann-Marie met Bob O\'Neil in Par is . "\n( Yes , e\u0301 😀 ! )'
    assert result.text[result.gold[0].span.start : result.gold[0].span.end] == "Par"


def test_white_space_around_a_mention():
    document = Document("d", "in  New \n York now", gold=(GoldLink(Span(3, 15), ("NY",)),))
    [result] = read(aida, written(aida, [document]))
    assert (result.text, result.gold[0].span) == ("in New\nYork now", Span(3, 11))


@pytest.mark.parametrize(
    ("document", "part"),
    [
        (Document("a\nb", "x"), "its id has a line end"),
        (Document("d", "x -DOCSTART- y", meta={"tokenised": True}), "begins with -DOCSTART-"),
        (Document("d", "x y", gold=(GoldLink(Span(1, 2), ("e",)),)), "covers white space only"),
        (Document("d", "abc", gold=(GoldLink(Span(0, 2), ("e",)), GoldLink(Span(1, 3), ()))), "overlap"),
        (Document("d", "abc", gold=(GoldLink(Span(0, 2), ("",)),)), "empty id"),
        (Document("d", "abc", gold=(GoldLink(Span(0, 2), ("e",), meta={"url": "a\tb"}),)), "a tab or line end"),
    ],
)
def test_what_cannot_be_written(document, part):
    with pytest.raises(InputError, match=r"document .* cannot be written as AIDA: ") as caught:
        written(aida, [document])
    assert part in str(caught.value)


def test_of_alternatives_the_first_is_written():
    document = Document("d", "x", gold=(GoldLink(Span(0, 1), ("a", "b")),))
    assert read(aida, written(aida, [document]))[0].gold[0].entities == ("a",)


tokens = st.sampled_from(AWKWARD) | st.text(characters, min_size=1, max_size=5)
tokens = tokens.filter(lambda token: not any(one.isspace() for one in token) and not token.startswith("-DOCSTART-"))
entities = st.sampled_from([*AWKWARD, "--NME--", "a b", "\t", "\\ud83d"]) | st.text(characters, min_size=1)


@st.composite
def tokenised_documents(draw) -> Document:
    sentences = draw(st.lists(st.lists(tokens, min_size=1, max_size=6), max_size=3))
    text = "\n".join(" ".join(sentence) for sentence in sentences)
    starts = [at for at in range(len(text)) if at == 0 or text[at - 1] in " \n"]
    gold, end = [], 0
    for at, start in enumerate(starts):
        last = draw(st.integers(at, min(at + 2, len(starts) - 1)))
        if start < end or draw(st.booleans()):
            continue
        end = (starts[last + 1] - 1) if last + 1 < len(starts) else len(text)
        names = (draw(entities),) if draw(st.booleans()) else ()
        meta = draw(st.dictionaries(st.sampled_from(aida.META), one_liners, max_size=3))
        gold.append(GoldLink(Span(start, end), names, meta=meta))
    id = draw(one_liners)
    return Document(id, text, gold=tuple(gold), meta={"tokenised": True})


@given(st.lists(tokenised_documents(), max_size=3))
def test_what_is_written_is_read_back(documents):
    results = read(aida, written(aida, documents))
    assert [result.meta.get("tokenised") for result in results] == [True] * len(documents)
    fields = [(one.id, one.text, one.gold) for one in results]
    assert fields == [(one.id, one.text, one.gold) for one in documents]


@given(st.text(characters), st.data())
def test_any_text_can_be_written(text, data):
    if any(word.lstrip().startswith("-DOCSTART-") for word in text.split()):
        return
    start, end = data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted))
    gold = (GoldLink(Span(start, end), ("e",)),) if text[start:end].strip() else ()
    [result] = read(aida, written(aida, [Document("d", text, gold=gold)]))
    assert "".join(result.text.split()) == "".join(text.split())
    for before, after in zip(gold, result.gold, strict=True):
        covered = result.text[after.span.start : after.span.end]
        assert "".join(covered.split()) == "".join(text[before.span.start : before.span.end].split())
