"""TweekiGold in both of its forms."""

from __future__ import annotations

import io
import json

import pytest

from entlink.formats.public import tweeki
from format_samples import answers, error_of, skipping, write_lines

ROW = {"id": 7, "sentence": "Ann in New Ulm !", "index": [[0, 3], [7, 14]], "link": ["Ann Lee|Q1", "Ulm, New|Q2"]}


def tokens(*rows, header="# tweet_id 5\n# ...\n"):
    return header + "".join(f"{number}\t" + "\t".join(row) + "\n" for number, row in enumerate(rows, 1)) + "\n"


def read_tokens(*tweets):
    return list(tweeki.read(io.BytesIO("".join(tweets).encode())))


def test_an_id_that_comes_again_gets_a_number():
    again = tokens(("Ann", "O", "-"))
    assert [document.id for document in read_tokens(again, again, again)] == ["5", "5#2", "5#3"]


def test_a_line_is_a_tweet(tmp_path):
    [document] = tweeki.read(write_lines(tmp_path / "t.jsonl", [{**ROW, "source": "x"}]))
    assert (document.id, document.text, document.meta) == ("7", ROW["sentence"], {"source": "x"})
    assert answers(document) == [("Ann", ("Q1",)), ("New Ulm", ("Q2",))]
    assert [gold.meta for gold in document.gold] == [{"title": "Ann Lee"}, {"title": "Ulm, New"}]


@pytest.mark.parametrize(
    ("link", "entities"),
    [("A|B|Q3", ("Q3",)), ("Ann|Q4 ", ("Q4",)), ("Ann|45", ("Q45",)), ("-", ()), ("", ())],
)
def test_the_links_that_are_not_quite_right_are_read(link, entities, tmp_path):
    row = {**ROW, "index": [[0, 3]], "link": [link]}
    [document] = tweeki.read(write_lines(tmp_path / "t.jsonl", [row]))
    assert document.gold[0].entities == entities


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        ({"link": ["Ann Lee|Q1"]}, ["2 spans in index and 1 links"]),
        ({"link": ["Ann Lee|Q1", "Ulm"]}, ["field link[1]", "'Ulm' is not a title and a Wikidata id"]),
        ({"index": [[0, 3], [7, 99]]}, ["document '7'", "index[1]", "7-99 lies outside"]),
        ({"index": [[0, 3], [7]]}, ["field index[1]"]),
        ({"sentence": None}, ["field sentence"]),
    ],
)
def test_a_bad_line_is_named_and_can_be_skipped(more, parts, tmp_path):
    path = write_lines(tmp_path / "t.jsonl", [ROW, {**ROW, **more}, {**ROW, "id": 8}])
    message = error_of(tweeki.read, path)
    assert message.startswith(f"{path}, line 2: ")
    assert all(part in message for part in parts)
    found, told = skipping(tweeki.read, path)
    assert [document.id for document in found] == ["7", "8"]
    assert told == [message]


def test_tagged_tokens_are_a_tweet():
    [document] = read_tokens(
        tokens(
            ("Ann", "B-PER", "Ann Lee|Q1"),
            ("in", "O", "-"),
            ("New", "B-LOC", "-"),
            ("Ulm", "I-LOC", "-"),
            ("( ", "O", "-"),
            ("#", "O", "-"),
            ("New", "B-LOC", "Ulm, New|Q2"),
            ("Ulm", "I-LOC", "Ulm, New|Q2"),
        )
    )
    assert (document.id, document.text) == ("5", "Ann in New Ulm (  # New Ulm")
    assert answers(document) == [("Ann", ("Q1",)), ("New Ulm", ()), ("New Ulm", ("Q2",))]
    assert [gold.nil_type for gold in document.gold] == [None, "LOC", None]
    assert [gold.meta for gold in document.gold] == [
        {"title": "Ann Lee", "type": "PER"},
        {"type": "LOC"},
        {"title": "Ulm, New", "type": "LOC"},
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # The tags of the real file are not always well-formed.
        ([("a", "I-LOC", "A|Q1"), ("b", "I-LOC", "A|Q1")], [("a b", ("Q1",))]),
        ([("a", "U-PER", "A|Q1"), ("b", "B-PER", "B|Q2")], [("a", ("Q1",)), ("b", ("Q2",))]),
        ([("a", "B-PER", "-"), ("b", "L-PER", "B|Q2")], [("a b", ("Q2",))]),
        ([("a", "B-LOC", "A|Q1"), ("b", "I-ORG", "A|Q1")], [("a", ("Q1",)), ("b", ("Q1",))]),
        # A title is misspelt, or a town stands before its state.
        ([("a", "B-LOC", "A|Q1"), ("b", "I-LOC", "Aa|Q1 ")], [("a b", ("Q1",))]),
        ([("a", "B-LOC", "A|Q1"), ("b", "I-LOC", "B|Q2")], [("a", ("Q1",)), ("b", ("Q2",))]),
        ([("a", "B-LOC", "A|Q1"), ("b", "I-LOC", "-")], [("a b", ("Q1",))]),
        # A link without a tag is a mention without a type.
        ([("a", "O", "A|Q1"), ("b", "O", "A|Q1"), ("c", "O", "C|Q3")], [("a b", ("Q1",)), ("c", ("Q3",))]),
        ([("a", "B-LOC", "A|Q1"), ("b", "O", "A|Q1")], [("a", ("Q1",)), ("b", ("Q1",))]),
        ([("a", "B-LOC", "A|Q1", "")], [("a", ("Q1",))]),
    ],
)
def test_what_counts_as_one_mention(rows, expected):
    [document] = read_tokens(tokens(*rows))
    assert answers(document) == expected


def test_tweets_are_told_apart_by_header_or_by_number():
    one = ("a", "O", "-")
    found = read_tokens(tokens(one, one), tokens(one, header="# tweet_id 9\n"), tokens(one, header=""), "# end\n")
    assert [(document.id, document.text) for document in found] == [("5", "a a"), ("9", "a"), ("3", "a")]
    assert read_tokens("") == []


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("2\tb\tO", ["3 columns", "number, token, tag and link"]),
        ("2\tb\tO\t-\tx", ["5 columns"]),
        ("2\tb\tPER\t-", ["'PER' is not a tag"]),
        ("2\t\tB-PER\t-", ["the token is empty"]),
        ("2\tb\tB-PER\tAnn", ["the fourth column", "'Ann' is not a title"]),
        (b"2\t\xff\tO\t-", ["not valid UTF-8"]),
    ],
)
def test_a_bad_token_is_named_and_its_tweet_can_be_skipped(line, parts, tmp_path):
    path = tmp_path / "tweets"
    line = line if isinstance(line, bytes) else line.encode()
    good = tokens(("a", "O", "-"), header="# tweet_id 6\n").encode()
    path.write_bytes(tokens(("a", "O", "-")).rstrip().encode() + b"\n" + line + b"\n\n" + good)
    message = error_of(tweeki.read, path)
    assert message.startswith(f"{path}, line 4: ")
    assert all(part in message for part in parts)
    found, told = skipping(tweeki.read, path)
    assert [document.id for document in found] == ["6"]
    assert told == [message]


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        (json.dumps(ROW), True),
        (tokens(("Ann", "B-PER", "Ann Lee|Q1")), True),
        (tokens(("so", "O", "-"), header=""), True),
        ("# tweet_id 5\n", False),
        ('{"sentence": "a"}', False),
        ("-DOCSTART- (1 EU)\nEU\tB\tEU\t--NME--\n", False),
        ("doc\t0\t5\tQ1\t1.0\tPER\n", False),
        ("1\t5\tQ1\t0.5\n", False),
        ("", False),
    ],
)
def test_it_is_told_by_its_head(head, claimed, tmp_path):
    assert tweeki.looks_like(tmp_path / "t", head.encode()) is claimed
