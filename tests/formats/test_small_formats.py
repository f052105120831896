"""FEVER, WikiSRS, linked mentions, CLEEK and Hansel: formats with little to them."""

from __future__ import annotations

import gzip
import json

import pytest

from entlink.documents import GoldLink, Span
from entlink.formats.public import cleek, fever, hansel, jsonl, linked_mentions, tempel, wikisrs
from entlink.formats.public.wikisrs import EntityPair
from format_samples import answers, error_of, skipping, write_lines

# FEVER

CLAIM = {
    "id": 7,
    "label": "SUPPORTS",
    "verifiable": "VERIFIABLE",
    "claim": "Ulm is a town.",
    "evidence": [
        [[1, 2, "Ulm_-LRB-town-RRB-", 0], [1, 3, "Town-COLON-_a_-LSB-b-RSB-", 4]],
        [[1, 4, "Ulm_-LRB-town-RRB-", 2]],
        [[1, None, None, None]],
    ],
}


def test_a_claim_keeps_its_verdict_and_its_pages(tmp_path):
    [document] = fever.read(write_lines(tmp_path / "f.jsonl", [{**CLAIM, "split": "dev"}]))
    assert (document.id, document.text, document.gold) == ("7", "Ulm is a town.", ())
    assert document.meta == {
        "label": "SUPPORTS",
        "verifiable": "VERIFIABLE",
        "pages": ["Ulm_(town)", "Town:_a_[b]"],
        "evidence": [[["Ulm_(town)", 0], ["Town:_a_[b]", 4]], [["Ulm_(town)", 2]]],
        "split": "dev",
    }


def test_a_claim_may_lack_evidence_or_a_verdict(tmp_path):
    rows = [{"id": 1, "claim": "a"}, {**CLAIM, "evidence": [[[1, None, None, None]]]}]
    bare, unproved = fever.read(write_lines(tmp_path / "f.jsonl", rows))
    assert bare.meta == {}
    assert unproved.meta == {"label": "SUPPORTS", "verifiable": "VERIFIABLE"}


@pytest.mark.parametrize(
    ("page", "title"),
    [("-LCB-a-RCB-", "{a}"), ("Jose\u0301", "Jos\u00e9"), ("A-LRB", "A-LRB"), ("A_-_B", "A_-_B")],
)
def test_titles_as_wikipedia_has_them(page, title):
    assert fever.page_title(page) == title


def test_a_bad_claim_is_named(tmp_path):
    path = write_lines(tmp_path / "f.jsonl", [CLAIM, {**CLAIM, "evidence": [[[1, 2, "Ulm"]]]}])
    assert error_of(fever.read, path).startswith(f"{path}, line 2: field evidence[0][0]: ")
    assert len(skipping(fever.read, path)[0]) == 1


@pytest.mark.parametrize(
    ("row", "claimed"),
    [
        (CLAIM, True),
        ({"id": 1, "claim": "a"}, True),
        ({"id": 1, "claim": "a", "text": "b"}, False),
        ({"claim": "a"}, False),
    ],
)
def test_claims_are_told_by_their_head(row, claimed, tmp_path):
    assert fever.looks_like(tmp_path / "f", json.dumps(row).encode()) is claimed


# WikiSRS

HEADER = "Term1\tTerm2\tString1\tString2\tMean\tStdDev\tRawScores\n"
PAIR = 'ulm\tohio\tUlm, "the" town\tOhio\t41.5000\t1.5000\t[40, 43]\n'


def test_a_row_is_a_pair(tmp_path):
    path = tmp_path / "pairs.csv.gz"
    path.write_bytes(gzip.compress((HEADER + PAIR).encode()))
    assert list(wikisrs.read(path)) == [EntityPair("ulm", "ohio", 'Ulm, "the" town', "Ohio", 41.5, 1.5, (40.0, 43.0))]


def test_a_file_without_a_header_is_read(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(PAIR.replace("\n", "\r\n") + PAIR, newline="")
    assert len(list(wikisrs.read(path))) == 2


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("a\tb\n", ["2 columns", "Term1, Term2"]),
        (PAIR.replace("41.5000", "high"), ["column Mean holds 'high', not a number"]),
        (PAIR.replace("1.5000\t[", "x\t["), ["column StdDev"]),
        (PAIR.replace("[40, 43]", "40 43"), ["column RawScores holds '40 43'"]),
        (HEADER, ["column Mean holds 'Mean'"]),
        (b"\xff\n", ["not valid UTF-8"]),
    ],
)
def test_a_bad_pair_is_named_and_can_be_skipped(line, parts, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes((HEADER + PAIR).encode() + (line if isinstance(line, bytes) else line.encode()) + PAIR.encode())
    message = error_of(wikisrs.read, path)
    assert message.startswith(f"{path}, line 3: ")
    assert all(part in message for part in parts)
    found, told = skipping(wikisrs.read, path)
    assert len(found) == 2
    assert told == [message]


# Linked mentions

MENTION = {"start": 8, "end": 11, "text": "Ulm", "entity": "Ulm", "surface_is_title": True}
LINKED = {"id": "d#1", "text": "Zoë saw Ulm.", "mentions": [MENTION]}


def test_mentions_become_gold(tmp_path):
    rows = [{**LINKED, "split": "dev"}, {"text": "Ohio", "mentions": [{"start": 0, "end": 4, "entity": None}]}]
    first, second = linked_mentions.read(write_lines(tmp_path / "m.jsonl", rows))
    assert (first.id, first.meta) == ("d#1", {"split": "dev"})
    assert first.gold == (GoldLink(Span(8, 11), ("Ulm",), meta={"surface_is_title": True}),)
    assert (second.id, answers(second)) == ("2", [("Ohio", ())])


@pytest.mark.parametrize(
    ("mention", "parts"),
    [
        ({**MENTION, "start": 9, "end": 12}, ["mentions[0]", "covers 'lm.', not 'Ulm'", "seem to be bytes"]),
        ({**MENTION, "end": 99}, ["8-99 lies outside"]),
        ({"start": 8, "end": 11}, ["field mentions[0]", "missing required field `entity`"]),
        ({**MENTION, "start": "8"}, ["field mentions[0].start"]),
    ],
)
def test_a_bad_mention_is_named_and_its_line_can_be_skipped(mention, parts, tmp_path):
    path = write_lines(tmp_path / "m.jsonl", [LINKED, {**LINKED, "mentions": [mention]}])
    message = error_of(linked_mentions.read, path)
    assert message.startswith(f"{path}, line 2: ")
    assert all(part in message for part in parts)
    found, told = skipping(linked_mentions.read, path)
    assert len(found) == 1
    assert told == [message]


@pytest.mark.parametrize(
    ("rows", "claimed"),
    [
        ([LINKED], True),
        ([{**LINKED, "mentions": []}, LINKED], True),
        ([{"id": 1, "text": "Ulm", "mentions": [{"start": 0, "end": 3}]}], False),
        ([{"id": 1, "text": "Ulm", "mentions": [MENTION], "gold": []}], False),
        ([{"id": 1, "text": "Ulm", "mentions": [[0, 3]], "entity": ["Ulm"]}], False),
    ],
)
def test_linked_mentions_are_told_by_their_head(rows, claimed, tmp_path):
    head = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    assert linked_mentions.looks_like(tmp_path / "m", head) is claimed
    assert jsonl.looks_like(tmp_path / "m", head)


# CLEEK

TOWN = {"mention": "乌尔姆", "start": 2, "end": 5}
NEWS = {
    "id": 7,
    "title": "短讯",
    "text": "他去乌尔姆。",
    "mentions": [
        {**TOWN, "wikipedia": "乌尔姆_(德国)", "cndbpedia": "乌尔姆（城市）", "type": "LOC"},
        {**TOWN, "wikipedia": "NIL", "cndbpedia": "乌尔姆（城市）"},
        {**TOWN, "wikipedia": "NIL", "cndbpedia": None, "type": "LOC"},
    ],
}


def test_either_of_two_knowledge_bases_is_right(tmp_path):
    paths = write_lines(tmp_path / "c.jsonl", [NEWS]), tmp_path / "c.json"
    paths[1].write_text(json.dumps([NEWS], ensure_ascii=False, indent=1), encoding="utf8")
    [document], [same] = (list(cleek.read(path)) for path in paths)
    assert document == same
    assert (document.id, document.meta) == ("7", {"title": "短讯"})
    both, one, none = document.gold
    assert both.entities == ("乌尔姆 (德国)", "cndbpedia:乌尔姆（城市）")
    assert (one.entities, one.nil_type) == (("cndbpedia:乌尔姆（城市）",), None)
    assert none == GoldLink(Span(2, 5), (), nil_type="LOC", meta={"type": "LOC"})


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ({"text": "a"}, ["missing required field `mentions`", "docs/formats.md"]),
        ({**NEWS, "mentions": [{**TOWN, "start": 1, "end": 4}]}, ["mentions[0]", "covers '去乌尔'"]),
    ],
)
def test_a_bad_record_of_two_knowledge_bases_is_named(row, parts, tmp_path):
    path = write_lines(tmp_path / "c.jsonl", [NEWS, row])
    message = error_of(cleek.read, path)
    assert message.startswith(f"{path}, line 2: ")
    assert all(part in message for part in parts)
    assert len(skipping(cleek.read, path)[0]) == 1


# Hansel

ROW = {"id": "h-1", "text": "他住在乌尔姆。", "start": 3, "end": 6, "mention": "乌尔姆", "gold_id": "Q3012"}


@pytest.mark.parametrize(
    ("gold_id", "gold"),
    [
        ("Q3012", GoldLink(Span(3, 6), ("Q3012",))),
        (3012, GoldLink(Span(3, 6), ("3012",))),
        ("NIL_LOC", GoldLink(Span(3, 6), (), nil_type="LOC")),
        ("NIL_NON_ENTITY", GoldLink(Span(3, 6), (), nil_type="NON_ENTITY")),
        ("NIL", GoldLink(Span(3, 6), ())),
        (None, GoldLink(Span(3, 6), ())),
        ("NILE", GoldLink(Span(3, 6), ("NILE",))),
    ],
)
def test_a_row_is_a_document_with_one_link(gold_id, gold, tmp_path):
    rows = [{**ROW, "gold_id": gold_id, "source": "s", "domain": "news"}]
    [document] = hansel.read(write_lines(tmp_path / "h.jsonl", rows))
    assert (document.id, document.text, document.gold) == ("h-1", ROW["text"], (gold,))
    assert document.meta == {"source": "s", "domain": "news"}


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        ({"start": 9, "end": 18}, ["document 'h-1'", "9-18 lies outside", "seem to be bytes"]),
        ({"mention": "尔姆"}, ["covers '乌尔姆', not '尔姆'"]),
        ({"gold_id": 1.5}, ["field gold_id"]),
    ],
)
def test_a_bad_row_is_named_and_can_be_skipped(more, parts, tmp_path):
    path = write_lines(tmp_path / "h.jsonl", [ROW, {**ROW, **more}])
    message = error_of(hansel.read, path)
    assert message.startswith(f"{path}, line 2: ")
    assert all(part in message for part in parts)
    assert len(skipping(hansel.read, path)[0]) == 1


def test_a_row_without_an_id_or_mention_is_read(tmp_path):
    row = {key: ROW[key] for key in ("text", "start", "end", "gold_id")}
    [document] = hansel.read(write_lines(tmp_path / "h.jsonl", [row]))
    assert (document.id, answers(document)) == ("1", [("乌尔姆", ("Q3012",))])


def test_hansel_is_told_by_its_head(tmp_path):
    assert hansel.looks_like(tmp_path / "h", json.dumps(ROW).encode())
    assert not hansel.looks_like(tmp_path / "h", json.dumps(LINKED).encode())


# TempEL

TEMPEL = {
    "subset": "train",
    "target_page_id": 1359030,
    "target_qid": "Q207104",
    "snapshot": "2021-01-01T00:00:00Z",
    "target": "Sacramental bread, sometimes called altar bread …",
    "target_title": "Sacramental_bread",
    "category": "continual",
    "mention": "host",
    "context_left": "religious symbol (such as the",
    "context_right": "). Garland paintings",
    "target_bert_tokenized": ["sacramental", "bread"],
    "overlap_type": "LOW_OVERLAP",
    "men_prior": 0.075,
}


def test_a_row_of_tempel_is_a_document_as_of_its_snapshot(tmp_path):
    [document] = tempel.read(write_lines(tmp_path / "t.jsonl", [TEMPEL]))
    assert document.text == "religious symbol (such as the host). Garland paintings"
    assert (document.id, document.date) == ("1359030:1", "2021-01-01T00:00:00Z")
    assert answers(document) == [("host", ("Sacramental bread",))]
    known = {"title": "Sacramental bread", "page": "1359030", "wikidata": "Q207104", "category": "LOW_OVERLAP"}
    assert document.gold[0].meta == known
    assert document.meta == {"subset": "train", "category": "continual", "men_prior": 0.075}


def test_contexts_with_white_space_of_their_own_stay_as_they_are(tmp_path):
    row = {**TEMPEL, "context_left": "the\n\n", "context_right": " , too", "target_qid": None}
    [document] = tempel.read(write_lines(tmp_path / "t.jsonl", [row]))
    assert document.text == "the\n\nhost , too"
    assert "wikidata" not in document.gold[0].meta


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"mention": ""}, "field mention is empty"),
        ({"target_title": " "}, "field target_title is empty"),
        ({"context_left": None}, "field context_left"),
    ],
)
def test_a_bad_row_of_tempel_is_named_and_can_be_skipped(more, told, tmp_path):
    path = write_lines(tmp_path / "t.jsonl", [TEMPEL, {**TEMPEL, **more}])
    message = error_of(tempel.read, path)
    assert message.startswith(f"{path}, line 2: ")
    assert told in message
    assert len(skipping(tempel.read, path)[0]) == 1


def test_tempel_is_told_by_its_head_however_long_the_target(tmp_path):
    row = {**TEMPEL, "target": "x" * 100_000}
    assert tempel.looks_like(tmp_path / "t", json.dumps(row).encode()[:65_536])
    assert not tempel.looks_like(tmp_path / "t", json.dumps(ROW).encode())
