"""Corpora that are broken, builds that are killed, and places where no set may be made."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corpora import KilledError, killed_at
from entlink.datasets.conversations.build import Domain, build_conversations
from entlink.datasets.conversations.options import read_word_list
from entlink.errors import ExistsError, InputError, LockedError, NotFoundError, SourceError
from entlink.io.atomic import write_lock
from reddit_corpora import WIKI, chain, filler, fillers, gold, harbour, harbour_kb, say, write_corpus

LIGHT = f"The [light]({WIKI}Lighthouse) of our harbour is old."
GOOD = chain("a", LIGHT, *fillers(5))


@pytest.fixture(scope="session")
def kb(tmp_path_factory) -> Path:
    return harbour_kb(tmp_path_factory.mktemp("refused"))


@pytest.fixture
def good(tmp_path) -> Path:
    return write_corpus(tmp_path / "good", GOOD)


def skipped(rows, kb: Path, tmp_path: Path):
    corpus = write_corpus(tmp_path / "bad", rows)
    return build_conversations(corpus, tmp_path / "set", harbour(on_error="skip"), kb=kb)


# Broken corpora


def test_a_missing_parent_stops_or_leaves_out_what_hangs_on_it(kb, tmp_path):
    rows = [*GOOD, say("a7", filler(7), "gone"), say("a8", filler(8), "a7")]
    with pytest.raises(
        SourceError, match=r"utterances\.jsonl, line 7: utterance 'a7' answers 'gone'.*--on-error skip"
    ):
        build_conversations(write_corpus(tmp_path / "bad", rows), tmp_path / "set", harbour(), kb=kb)
    assert not (tmp_path / "set").exists()
    report = skipped(rows, kb, tmp_path)
    assert report.faults == {"missing parent": 2}
    assert "'gone'" in report.problems[0]
    assert list(gold(tmp_path / "set" / "train.jsonl")) == ["a/a6"]


def test_a_circle_of_replies_stops_or_is_left_out(kb, tmp_path):
    rows = [*GOOD, say("a7", filler(7), "a8"), say("a8", filler(8), "a7")]
    with pytest.raises(SourceError, match=r"line 7: utterances answer each other in a circle: a7 → a8 → a7"):
        build_conversations(write_corpus(tmp_path / "bad", rows), tmp_path / "set", harbour(), kb=kb)
    assert skipped(rows, kb, tmp_path).faults == {"cycle": 2}
    assert list(gold(tmp_path / "set" / "train.jsonl")) == ["a/a6"]


def test_a_conversation_that_is_nothing_but_a_circle_has_no_thread(kb, tmp_path):
    circle = [say("c1", LIGHT, "c2"), say("c2", filler(1), "c1")]
    report = skipped([*GOOD, *circle], kb, tmp_path)
    assert list(gold(tmp_path / "set" / "train.jsonl")) == ["a/a6"]
    assert report.faults == {"cycle": 2}


def test_an_id_that_came_before_stops_or_is_left_out(kb, tmp_path):
    rows = [*GOOD, {**GOOD[3], "text": "Somebody else says something else here."}]
    with pytest.raises(SourceError, match=r"line 7: the id 'a4' came before. Is a corpus given twice"):
        build_conversations(write_corpus(tmp_path / "bad", rows), tmp_path / "set", harbour(), kb=kb)
    report = skipped(rows, kb, tmp_path)
    assert (len(report.problems), report.corpora[0].taken, report.corpora[0].skipped) == (1, 6, 1)


def test_missing_speakers_and_other_bad_records_are_skipped_and_told(kb, tmp_path):
    rows = [*GOOD, {**say("a7", filler(7), "a6"), "speaker": None}, say("a8", filler(8), "a7")]
    report = skipped(rows, kb, tmp_path)
    assert (report.corpora[0].skipped, report.faults) == (1, {"missing parent": 1})
    assert "line 7: field 'speaker' is missing or null" in report.problems[0]


def test_deleted_emoji_and_endless_utterances_do_no_harm(kb, tmp_path):
    odd = ["[deleted]", "[removed]", "😀\u200b\u200d🏳️‍🌈" * 50, "x" * 100_000, "](" * 9000, "`" * 9999, "[" * 9999]
    rows = chain("a", LIGHT, *odd, *fillers(5))
    report = skipped(rows, kb, tmp_path)
    assert report.pruned == {"deleted": 2, "long": 1, "short": 4}
    assert gold(tmp_path / "set" / "train.jsonl") == {"a/a13": [("light", "h1", "link")]}


def test_an_empty_corpus_is_told(kb, good, tmp_path):
    empty = write_corpus(tmp_path / "empty", [])
    with pytest.raises(SourceError, match=r"empty/utterances\.jsonl: there is no utterance in it. Fetch"):
        build_conversations(empty, tmp_path / "set", harbour(), kb=kb)
    with pytest.raises(InputError, match="no utterance could be taken"):
        build_conversations(empty, tmp_path / "set", harbour(on_error="skip"), kb=kb)
    report = build_conversations([empty, good], tmp_path / "set", harbour(on_error="skip"), kb=kb)
    assert [card.skipped for card in report.corpora] == [1, 0]


def test_corpora_about_something_else_are_told(kb, tmp_path):
    other = write_corpus(tmp_path / "subreddit-Cooking", GOOD)
    with pytest.raises(
        InputError, match=r"no subreddit given \(Cooking\) has a domain's title in its name: 'Harbour'"
    ):
        build_conversations(other, tmp_path / "set", harbour(), kb=kb)


def test_a_set_without_threads_is_not_made(kb, tmp_path):
    corpus = write_corpus(tmp_path / "c", chain("a", f"The [new]({WIKI}Unknown) thing is here now.", *fillers(5)))
    with pytest.raises(InputError, match=r"no thread is left: .*'unresolved': 1.*Check --kb"):
        build_conversations(corpus, tmp_path / "set", harbour(), kb=kb)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "c") == ["set.building"]


# Killed builds


@pytest.mark.parametrize("step", [0, 1])
def test_a_build_that_ends_half_way_leaves_nothing_in_place(kb, good, tmp_path, step):
    with pytest.raises(KilledError):
        build_conversations(good, tmp_path / "set", harbour(), kb=kb, progress=killed_at(step))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good", "set.building"]
    build_conversations(good, tmp_path / "set", harbour(), kb=kb)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good", "set"]


def test_what_was_there_stays_when_its_replacement_is_killed(kb, good, tmp_path):
    build_conversations(good, tmp_path / "set", harbour(), kb=kb)
    before = {path.name: path.read_bytes() for path in (tmp_path / "set").iterdir()}
    with pytest.raises(KilledError):
        build_conversations(good, tmp_path / "set", harbour(seed=1), kb=kb, replace=True, progress=killed_at(1))
    assert {path.name: path.read_bytes() for path in (tmp_path / "set").iterdir()} == before


def test_a_killed_process_leaves_a_folder_of_work_that_the_next_one_takes_up(kb, good, tmp_path):
    script = (
        "import os, signal, sys\n"
        "from entlink.datasets.conversations.build import ConversationOptions, build_conversations\n"
        "def kill(stage, done, total):\n"
        "    if stage == 'writing': os.kill(os.getpid(), signal.SIGKILL)\n"
        "build_conversations(sys.argv[1], sys.argv[2], kb=sys.argv[3], progress=kill)\n"
    )
    words = [sys.executable, "-c", script, str(good), str(tmp_path / "set"), str(kb)]
    assert subprocess.run(words, check=False, timeout=60).returncode == -signal.SIGKILL
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good", "set.building"]
    build_conversations(good, tmp_path / "set", harbour(), kb=kb)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good", "set"]
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == [
        "DATASHEET.md",
        "card.json",
        "test.jsonl",
        "train.apart.jsonl",
        "train.jsonl",
    ]


# Places


def test_what_is_there_is_not_replaced_unasked(kb, good, tmp_path):
    build_conversations(good, tmp_path / "set", harbour(), kb=kb)
    with pytest.raises(ExistsError, match=r"set is there already\. --replace"):
        build_conversations(good, tmp_path / "set", harbour(), kb=kb)
    report = build_conversations(good, tmp_path / "set", harbour(seed=3), kb=kb, replace=True)
    assert report.options["seed"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good", "set"]


def test_a_folder_of_other_things_is_never_replaced(kb, good, tmp_path):
    (tmp_path / "mine").mkdir()
    build_conversations(good, tmp_path / "mine", harbour(), kb=kb)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="holds other things"):
        build_conversations(good, tmp_path / "precious", harbour(), kb=kb, replace=True)
    (tmp_path / "precious" / "card.json").write_text('{"steps": []}')  # a saved linker has a card, too
    (tmp_path / "precious" / "DATASHEET.md").write_text("of something else")
    with pytest.raises(InputError, match="holds other things"):
        build_conversations(good, tmp_path / "precious", harbour(), kb=kb, replace=True)
    with pytest.raises(InputError, match="this is a file"):
        build_conversations(good, tmp_path / "precious" / "letter.txt", harbour(), kb=kb, replace=True)
    with pytest.raises(InputError, match="a source is in it"):
        build_conversations(good, tmp_path / "good", harbour(), kb=kb, replace=True)
    with pytest.raises(InputError, match="there is no folder"):
        build_conversations(good, tmp_path / "none" / "set", harbour(), kb=kb)


def test_what_is_missing_is_told(kb, good, tmp_path):
    with pytest.raises(InputError, match="there is no corpus"):
        build_conversations([], tmp_path / "set", harbour(), kb=kb)
    with pytest.raises(SourceError, match="no such file or folder"):
        build_conversations(tmp_path / "none", tmp_path / "set", harbour(), kb=kb)
    with pytest.raises(NotFoundError, match="no knowledge base there"):
        build_conversations(good, tmp_path / "set", harbour(), kb=tmp_path / "no.kb")
    assert not (tmp_path / "set.building").exists()


def test_two_builds_of_one_set_do_not_get_into_each_other(kb, good, tmp_path):
    with write_lock(tmp_path / "set.building"), pytest.raises(LockedError, match="another process"):
        build_conversations(good, tmp_path / "set", harbour(), kb=kb)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"min_tokens": 9, "max_tokens": 8}, "no utterance would be left"),
        ({"min_tokens": -1}, "min_tokens is -1"),
        ({"min_utterances": 0}, "min_utterances is 0"),
        ({"min_annotations": 0}, "min_annotations is 0"),
        ({"max_repeats": 0}, "max_repeats is 0"),
        ({"max_characters": 0}, "max_characters is 0"),
        ({"exact_share": 1.5}, r"exact_share is 1.5: expected `float` <= 1.0"),
        ({"split_date": "2015"}, "split_date is '2015': it must be a day"),
        ({"test_limit": 0}, "test_limit is 0"),
        ({"augment": "world"}, "augment is 'world': choose among thread, conversation, speaker, none"),
        ({"pruned": "all"}, "choose among utterance, thread"),
        ({"characters": "klingon"}, "choose among latin, ascii, any"),
        ({"bare_urls": "maybe"}, "choose among name, none"),
        ({"on_error": "cry"}, "choose among stop, skip"),
        ({"patterns": ()}, "no pattern of addresses"),
        ({"domains": (Domain("Star Trek"), Domain("startrek"))}, "'startrek' is given twice"),
        ({"domains": (Domain("!"),)}, "'!' is no title of a domain"),
    ],
)
def test_options_that_mean_nothing_are_refused(kb, good, tmp_path, fields, told):
    with pytest.raises(InputError, match=told):
        build_conversations(good, tmp_path / "set", harbour(**fields), kb=kb)


def test_lists_of_words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("heck\n\n darn thing \nheck\n", encoding="utf8")
    assert read_word_list(path) == ("heck", "darn thing")
    path.write_text("\n")
    with pytest.raises(SourceError, match=r"no entry in it\. Write one"):
        read_word_list(path)
    path.write_bytes(b"h\xe9ck")
    with pytest.raises(SourceError, match="not valid UTF-8"):
        read_word_list(path)
