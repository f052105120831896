"""Corpora to sets of conversations: the corpus written by hand, whose answers are known."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import msgspec
import pytest

import entlink
from entlink.datasets.conversations.build import ConversationsReport, Domain, build_conversations, choose_subreddits
from entlink.datasets.conversations.domains import ZESHEL_DOMAINS
from entlink.datasets.conversations.statistics import PUBLISHED
from entlink.formats.documents.lines import read_documents
from reddit_corpora import (
    AFTER,
    BEFORE,
    DOMAIN,
    OLD_WIKI,
    WIKI,
    chain,
    filler,
    fillers,
    gold,
    harbour,
    harbour_kb,
    say,
    write_corpus,
)

LIGHT, BOAT, WREN = (
    f"[light]({WIKI}Lighthouse)",
    f"[boat]({OLD_WIKI}Old_Ferry)",
    f"[Captain Wren]({WIKI}Captain_Wren)",
)
# `a` is for training and has one thread; `b` is for testing and has two; the thread of `c` is trivial, that of `e`
# too short; what is linked in `f` is pruned, and in `d` nothing is linked.
CORPUS = [
    *chain("a", f"Welcome, the {LIGHT} burns again.", *fillers(2), "I saw the light from my window.", *fillers(2)),
    *chain("b", filler(0), f"The {BOAT} came late once more.", *fillers(3), start=AFTER),
    say("b6", "Every boat was late on that day.", "b4", timestamp=AFTER + 6),
    *chain("c", f"I heard that {WREN} has retired now.", *fillers(4), start=AFTER),
    *chain("d", *fillers(6)),
    *chain("e", f"Nobody knows the {LIGHT} like I do.", *fillers(3), start=AFTER),
    *chain("f", LIGHT, *fillers(6), start=AFTER),
]


@pytest.fixture(scope="session")
def kb(tmp_path_factory) -> Path:
    return harbour_kb(tmp_path_factory.mktemp("harbour"))


@pytest.fixture
def corpus(tmp_path) -> Path:
    return write_corpus(tmp_path / "subreddit-HarbourTalk", CORPUS)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a set but for its card, which has the time."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "card.json"}


def test_the_threads_of_the_corpus_by_split(corpus, kb, tmp_path):
    build_conversations(corpus, tmp_path / "set", harbour(), kb=kb)
    assert gold(tmp_path / "set" / "train.jsonl") == {
        "a/a6": [("light", "h1", "link"), ("light", "h1", "augmented")],
        "b/b5": [("boat", "h2", "link")],
    }
    assert gold(tmp_path / "set" / "test.jsonl") == {
        "b/b6": [("boat", "h2", "link"), ("boat", "h2", "augmented")],
        "c/c5": [("Captain Wren", "h3", "link")],
    }
    assert list(gold(tmp_path / "set" / "train.apart.jsonl")) == ["a/a6"]


def test_by_default_trivial_threads_are_a_twentieth_at_most(corpus, kb, tmp_path):
    report = build_conversations(corpus, tmp_path / "set", harbour(exact_share=0.05), kb=kb)
    assert list(gold(tmp_path / "set" / "test.jsonl")) == ["b/b6"]
    assert report.threads == {"annotations added": 2, "conversations without gold": 1, "dropped as trivial": 1} | {
        "paths": 5,
        "too short": 1,
    }
    build_conversations(corpus, tmp_path / "set", harbour(exact_share=0.25), kb=kb, replace=True)
    assert list(gold(tmp_path / "set" / "test.jsonl")) == ["b/b6", "c/c5"]


def test_the_statistics_are_those_of_table_1(corpus, kb, tmp_path):
    report = build_conversations(corpus, tmp_path / "set", harbour(), kb=kb)
    train, test, apart = (file.statistics for file in report.files)
    assert (train.conversations, train.threads, train.utterances) == (2, 2, 11)
    assert (train.annotations, train.annotated_utterances, train.thread_length) == (3, 3, 5.5)
    assert (test.conversations, test.threads, test.utterances) == (2, 2, 10)
    assert (test.annotations, test.annotated_utterances, test.exact_threads) == (3, 3, 1)
    assert (apart.conversations, apart.threads, apart.entities) == (1, 1, 1)
    assert train.annotations_by == {"augmented": 1, "link": 2}
    assert (train.threads_of, train.first, train.last) == ({"harbour": 2}, "2014-01-01", "2016-01-01")


def test_an_utterance_counts_in_each_thread_and_once_among_the_different_ones(kb, tmp_path):
    rows = chain("a", f"The {LIGHT} of our harbour is old.", *fillers(4))
    rows += [say(f"a{n}", filler(n), "a4") for n in range(6, 9)]
    report = build_conversations(write_corpus(tmp_path / "c", rows), tmp_path / "set", harbour(), kb=kb)
    counts = report.file("train.jsonl").statistics
    assert (counts.threads, counts.utterances, counts.distinct_utterances, counts.annotations) == (4, 20, 8, 4)


def test_published_counts_have_the_published_lengths():
    assert round(PUBLISHED["train"].thread_length, 2) == 6.19
    assert int(PUBLISHED["test"].thread_length * 100) / 100 == 6.11


def test_a_thread_is_a_document_of_turns(corpus, kb, tmp_path):
    build_conversations(corpus, tmp_path / "set", harbour(), kb=kb)
    document = next(read_documents(tmp_path / "set" / "train.jsonl"))
    assert document.meta == {
        "conversation": "a",
        "subreddit": "HarbourTalk",
        "domain": "harbour",
        "utterances": ["a1", "a2", "a3", "a4", "a5", "a6"],
    }
    assert (document.date, document.language) == ("2014-01-01", "en")
    assert document.turns[0].text == "Welcome, the light burns again."
    assert document.turns[0].time == "2014-01-01T00:00:01Z"
    assert [turn.speaker for turn in document.turns] == ["user 1", "user 2", "user 3"] * 2
    assert [mention.span for mention in document.mentions] == [one.span for one in document.gold]
    build_conversations(corpus, tmp_path / "named", harbour(anonymous=False), kb=kb)
    document = next(read_documents(tmp_path / "named" / "train.jsonl"))
    assert [turn.speaker for turn in document.turns] == ["s1", "s2", "s0"] * 2


def test_the_card_tells_what_was_made_of_what(corpus, kb, tmp_path):
    options = harbour(profanity=("heck", "darn"))
    report = build_conversations(corpus, tmp_path / "set", options, kb=kb, command="entlink …")
    written = msgspec.json.decode((tmp_path / "set" / "card.json").read_bytes(), type=ConversationsReport)
    assert written == report
    assert (report.command, report.entlink, report.options["seed"]) == ("entlink …", entlink.__version__, 0)
    assert report.options["profanity"] == {"entries": 2, "sha256": hashlib.sha256(b"heck\ndarn").hexdigest()}
    (card,) = report.corpora
    assert (card.name, card.domain, card.utterances, card.taken) == ("subreddit-HarbourTalk", "Harbour", 34, 34)
    assert card.sha256 == hashlib.sha256((corpus / "utterances.jsonl").read_bytes()).hexdigest()
    assert (report.conversations, report.linked) == (6, 5)
    assert report.pruned == {"short": 1}
    assert report.links == {"labelled": 5}
    for file in report.files:
        assert file.sha256 == hashlib.sha256((tmp_path / "set" / file.name).read_bytes()).hexdigest()
    assert report.kb.name == "harbour.kb"


def test_the_datasheet_has_the_counts_and_the_bounds(corpus, kb, tmp_path):
    build_conversations(corpus, tmp_path / "set", harbour(max_tokens=66, min_tokens=4), kb=kb)
    sheet = (tmp_path / "set" / "DATASHEET.md").read_text(encoding="utf8")
    assert "| utterances, in all threads | 11 | 10 | 6 | 49,695 | 4,557 |" in sheet
    assert "fewer than 4 or more than 66 words" in sheet
    assert "| subreddit-HarbourTalk | HarbourTalk | Harbour | 34 | 34 | 0 |" in sheet
    assert str(tmp_path) not in sheet


def test_both_layouts_of_convokit_give_the_same_set(corpus, kb, tmp_path):
    older = write_corpus(tmp_path / "older" / "subreddit-HarbourTalk", CORPUS, old=True)
    build_conversations(corpus, tmp_path / "new", harbour(), kb=kb)
    build_conversations(older, tmp_path / "old", harbour(), kb=kb)
    new, old = contents(tmp_path / "new"), contents(tmp_path / "old")
    del new["DATASHEET.md"], old["DATASHEET.md"]  # it has the checksum of the corpus
    assert new == old
    assert all(new[name] for name in ("train.jsonl", "test.jsonl"))


def test_the_same_corpus_in_any_order_gives_the_same_threads(corpus, kb, tmp_path):
    shuffled = list(CORPUS)
    random.Random(5).shuffle(shuffled)
    assert shuffled != CORPUS
    other = write_corpus(tmp_path / "x" / "subreddit-HarbourTalk", shuffled)
    build_conversations(corpus, tmp_path / "one", harbour(), kb=kb)
    build_conversations(corpus, tmp_path / "again", harbour(), kb=kb)
    build_conversations(other, tmp_path / "two", harbour(), kb=kb)
    assert contents(tmp_path / "one") == contents(tmp_path / "again")
    for name in ("train.jsonl", "test.jsonl", "train.apart.jsonl"):
        assert contents(tmp_path / "one")[name] == contents(tmp_path / "two")[name]


# Which subreddits


def test_subreddits_whose_name_holds_a_title_are_chosen():
    domains = (Domain("Star Wars"), Domain("Star Wars Galaxies"), Domain("Lego"))
    names = ["StarWars", "swtor", "r_star-wars_memes", "starwarsgalaxiesonline", "LEGO", "legology", "Star"]
    assert {name: domain.title for name, domain in choose_subreddits(names, domains).items()} == {
        "StarWars": "Star Wars",
        "r_star-wars_memes": "Star Wars",
        "starwarsgalaxiesonline": "Star Wars Galaxies",
        "LEGO": "Lego",
        "legology": "Lego",
    }


def test_the_domains_of_zeshel_are_sixteen():
    assert len({domain.type for domain in ZESHEL_DOMAINS}) == 16
    assert set(choose_subreddits(["doctorwho", "yugioh", "icehockey", "AskReddit"], ZESHEL_DOMAINS)) == {
        "doctorwho",
        "yugioh",
        "icehockey",
    }


def test_other_subreddits_are_left_out_corpus_by_corpus_and_utterance_by_utterance(corpus, kb, tmp_path):
    rows = [{**row, "meta": {"subreddit": "Cooking"}} for row in chain("z", f"A {LIGHT} in my kitchen.", *fillers(5))]
    write_corpus(tmp_path / "subreddit-Cooking", rows)
    mixed = write_corpus(tmp_path / "mixed", [*rows, *chain("y", f"A {LIGHT} in my harbour.", *fillers(5))])
    both = build_conversations([tmp_path / "subreddit-Cooking", corpus, mixed], tmp_path / "set", harbour(), kb=kb)
    assert [(card.name, card.utterances, card.taken) for card in both.corpora] == [
        ("subreddit-HarbourTalk", 34, 34),
        ("mixed", 12, 6),
    ]
    assert both.other_corpora == 1
    assert "z/z6" not in gold(tmp_path / "set" / "train.jsonl")
    assert "y/y6" in gold(tmp_path / "set" / "train.jsonl")


def test_without_domains_everything_counts(kb, tmp_path):
    rows = [{**row, "meta": {}} for row in chain("z", f"A {LIGHT} in my kitchen.", *fillers(5))]
    build_conversations(write_corpus(tmp_path / "c", rows), tmp_path / "set", harbour(domains=()), kb=kb)
    (document,) = read_documents(tmp_path / "set" / "train.jsonl")
    assert document.meta.keys() == {"conversation", "utterances"}


# What is pruned, and how far an annotation reaches


def test_a_pruned_utterance_goes_alone_or_with_its_threads(kb, tmp_path):
    rows = chain("a", f"The {LIGHT} of our harbour is old.", filler(1), "[deleted]", *fillers(3))
    rows.append(say("a7", filler(7), "a2"))
    corpus = write_corpus(tmp_path / "c", rows)
    build_conversations(corpus, tmp_path / "alone", harbour(), kb=kb)
    (document,) = read_documents(tmp_path / "alone" / "train.jsonl")
    assert document.meta["utterances"] == ["a1", "a2", "a4", "a5", "a6"]
    build_conversations(corpus, tmp_path / "whole", harbour(pruned="thread", min_utterances=3), kb=kb)
    (document,) = read_documents(tmp_path / "whole" / "train.jsonl")
    assert document.meta["utterances"] == ["a1", "a2", "a7"]


SCOPES = [
    *chain("a", "The light is on again tonight, everybody.", "My light is nothing against that one."),
    say("a3", f"The {LIGHT} is what they mean.", "a2", speaker="s1"),
    say("a4", "A light in the dark for us.", "a2", speaker="s2"),
]


@pytest.mark.parametrize(
    ("scope", "added"),
    [
        ("none", {"a/a3": ["a3"]}),
        ("speaker", {"a/a3": ["a1", "a3"], "a/a4": ["a1"]}),
        ("thread", {"a/a3": ["a1", "a2", "a3"]}),
        ("conversation", {"a/a3": ["a1", "a2", "a3"], "a/a4": ["a1", "a2", "a4"]}),
    ],
)
def test_how_far_an_annotation_reaches(kb, tmp_path, scope, added):
    corpus = write_corpus(tmp_path / "c", SCOPES)
    build_conversations(corpus, tmp_path / "set", harbour(augment=scope, min_utterances=3), kb=kb)
    found = {}
    for document in read_documents(tmp_path / "set" / "train.jsonl"):
        turns = [
            number
            for number, span in enumerate(document.turn_spans)
            if any(span.overlaps(one.span) for one in document.gold)
        ]
        found[document.id] = [document.meta["utterances"][number] for number in turns]
    assert found == added


def test_every_bound_is_a_parameter(kb, tmp_path):
    rows = chain("a", f"Oh heck, {LIGHT} {LIGHT}", "so short", "[deleted]", f"Captain {BOAT}")
    corpus = write_corpus(tmp_path / "c", rows)
    loose = harbour(min_tokens=1, max_tokens=4, min_utterances=3, min_annotations=3, split_date="2000-01-01")
    report = build_conversations(corpus, tmp_path / "set", loose, kb=kb)
    assert gold(tmp_path / "set" / "test.jsonl") == {
        "a/a4": [("light", "h1", "link"), ("light", "h1", "link"), ("boat", "h2", "link")]
    }
    counts = report.file("test.jsonl").statistics
    assert (counts.annotations, counts.annotated_utterances) == (3, 2)
    assert not (tmp_path / "set" / "train.jsonl").read_bytes()


def test_a_conversation_is_dated_by_its_first_utterance(kb, tmp_path):
    rows = chain("a", f"The {LIGHT} of our harbour is old.", *fillers(4), start=1420156790)
    corpus = write_corpus(
        tmp_path / "c", [{**row, "timestamp": row["timestamp"] + 5 * n} for n, row in enumerate(rows)]
    )
    report = build_conversations(corpus, tmp_path / "set", harbour(), kb=kb)
    assert [file.statistics.threads for file in report.files] == [1, 0, 1]
    rows[0]["timestamp"] = BEFORE + 10**9
    late = write_corpus(tmp_path / "d", [{**row, "timestamp": row["timestamp"] + 100} for row in rows])
    report = build_conversations(late, tmp_path / "late", harbour(), kb=kb)
    assert [file.statistics.threads for file in report.files] == [0, 1, 0]
    assert report.threads["replies dated before what they answer"] == 1
    rows[2]["timestamp"] = 0  # a reply with a date that cannot be moves nothing
    odd = write_corpus(tmp_path / "e", rows)
    report = build_conversations(odd, tmp_path / "odd", harbour(), kb=kb)
    assert [file.statistics.threads for file in report.files] == [0, 1, 0]


def test_the_documents_are_of_the_document_format(corpus, kb, tmp_path):
    build_conversations(corpus, tmp_path / "set", harbour(), kb=kb)
    row = json.loads((tmp_path / "set" / "test.jsonl").read_text(encoding="utf8").splitlines()[0])
    assert row["gold"][0] == {"start": 4, "end": 8, "entity": "h2", "turn": 1, "meta": {"by": "link"}}
    assert row["meta"]["domain"] == DOMAIN.type
