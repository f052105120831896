"""A set of conversations whose making was ended half-way goes on where it stopped; and posts with their titles."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from corpora import KilledError
from entlink.datasets.conversations import steps
from entlink.datasets.conversations.build import build_conversations
from entlink.errors import SourceError
from entlink.formats.documents.lines import read_documents
from entlink.sources.convokit import Corpus
from entlink.sources.json_array import object_members
from reddit_corpora import AFTER, WIKI, chain, filler, fillers, harbour, harbour_kb, say, write_corpus

LIGHT = f"The [light]({WIKI}Lighthouse) of our harbour is old."
FILES = ("train.jsonl", "test.jsonl", "train.apart.jsonl", "DATASHEET.md")


@pytest.fixture(scope="module")
def kb(tmp_path_factory) -> Path:
    return harbour_kb(tmp_path_factory.mktemp("resumed"))


@pytest.fixture
def corpora(tmp_path) -> list[Path]:
    """Three, with a reply that hangs on nothing in the first and a bad record in the second."""
    lost = [say("a7", filler(7), "gone"), {**say("b9", filler(1), "b1"), "speaker": None}, say("c7", filler(7), "c1")]
    return [
        write_corpus(tmp_path / root, [*chain(root, LIGHT, *fillers(5), start=AFTER), more])
        for root, more in zip("abc", lost, strict=True)
    ]


def facts(folder: Path) -> dict[str, object]:
    card = json.loads((folder / "card.json").read_bytes())
    del card["built"], card["command"]
    return card


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("step", range(2, 8))
def test_what_is_ended_half_way_goes_on_and_counts_the_same(kb, corpora, tmp_path, monkeypatch, step, every):
    monkeypatch.setattr(steps, "_KEPT_EVERY", every)
    monkeypatch.setattr(steps, "_EVERY", 1)
    options = harbour(on_error="skip")
    build_conversations(corpora, tmp_path / "whole", options, kb=kb)
    calls = 0

    def progress(stage: str, done: float, total: float) -> None:
        nonlocal calls
        calls += 1
        if calls == 3 * step:
            raise KilledError

    with pytest.raises(KilledError):
        build_conversations(corpora, tmp_path / "set", options, kb=kb, progress=progress)
    build_conversations(corpora, tmp_path / "set", options, kb=kb, progress=progress)
    for name in FILES:
        assert (tmp_path / "set" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert facts(tmp_path / "set") == facts(tmp_path / "whole")
    assert not (tmp_path / "set.building").exists()


def test_a_corpus_that_was_read_is_not_read_again(kb, corpora, tmp_path, monkeypatch):
    read: list[str] = []
    plain = Corpus.utterances

    def utterances(self, reading):
        read.append(self.path.parent.name)
        if self.path.parent.name == "c" and read.count("c") == 1:
            raise KilledError
        return plain(self, reading)

    monkeypatch.setattr(Corpus, "utterances", utterances)
    with pytest.raises(KilledError):
        build_conversations(corpora, tmp_path / "set", harbour(on_error="skip"), kb=kb)
    build_conversations(corpora, tmp_path / "set", harbour(on_error="skip"), kb=kb)
    assert read == ["a", "b", "c", "c"]


def test_with_other_options_it_starts_anew(kb, corpora, tmp_path):
    def kill(stage: str, done: float, total: float) -> None:
        if stage == "writing":
            raise KilledError

    with pytest.raises(KilledError):
        build_conversations(corpora, tmp_path / "set", harbour(on_error="skip"), kb=kb, progress=kill)
    report = build_conversations(corpora, tmp_path / "set", harbour(on_error="skip", anonymous=False), kb=kb)
    speakers = {
        turn.speaker for document in read_documents(tmp_path / "set" / "test.jsonl") for turn in document.turns
    }
    assert speakers == {"s0", "s1", "s2"}
    assert report.options["anonymous"] is False


# Titles


@pytest.fixture
def titled(tmp_path) -> Path:
    """A post with a text, one without, and one whose author took the text away."""
    rows = [
        *chain("a", "Look what I found in the attic.", LIGHT, *fillers(4)),
        *chain("b", "", LIGHT, *fillers(5)),
        *chain("d", "[deleted]", LIGHT, *fillers(5)),
    ]
    folder = write_corpus(tmp_path / "titled", rows)
    titles = {"a": {"meta": {"title": 'My "Lighthouse" lamp {old}'}}, "b": {"title": "Of the light, once more"}}
    (folder / "conversations.json").write_text(json.dumps({**titles, "d": {"meta": {"title": "Gone now"}}}, indent=1))
    return folder


def threads(folder: Path):
    return {document.meta["conversation"]: document for document in read_documents(folder / "train.jsonl")}


def test_titles_are_left_out_unless_they_are_wanted(kb, titled, tmp_path):
    build_conversations(titled, tmp_path / "set", harbour(), kb=kb)
    found = threads(tmp_path / "set")
    assert "title" not in found["a"].meta
    assert found["a"].turns[0].text == "Look what I found in the attic."


def test_titles_are_kept_beside_the_threads(kb, titled, tmp_path):
    build_conversations(titled, tmp_path / "set", harbour(titles="meta"), kb=kb)
    found = threads(tmp_path / "set")
    assert found["a"].meta["title"] == 'My "Lighthouse" lamp {old}'
    assert found["a"].turns[0].text == "Look what I found in the attic."


def test_a_profane_title_is_not_kept(kb, titled, tmp_path):
    build_conversations(titled, tmp_path / "set", harbour(titles="meta", profanity=("lamp",)), kb=kb)
    found = threads(tmp_path / "set")
    assert "title" not in found["a"].meta
    assert found["b"].meta["title"] == "Of the light, once more"


def test_titles_become_part_of_posts(kb, titled, tmp_path):
    """`light` is linked in a reply, so that the title of the second post gets gold; a deleted post stays away."""
    build_conversations(titled, tmp_path / "set", harbour(titles="text"), kb=kb)
    found = threads(tmp_path / "set")
    assert found["a"].turns[0].text == 'My "Lighthouse" lamp old Look what I found in the attic.'
    assert found["b"].turns[0].text == "Of the light, once more"
    first = found["b"].gold[0]
    assert found["b"].text[first.span.start : first.span.end] == "light"
    assert first.span.end <= len(found["b"].turns[0].text)
    assert "Gone" not in found["d"].text


def test_titles_that_are_not_there_are_told(kb, tmp_path):
    corpus = write_corpus(tmp_path / "bare", chain("a", LIGHT, *fillers(5)))
    for path in corpus.glob("conversations.json*"):
        path.unlink()
    with pytest.raises(SourceError, match=r"titles of posts are in conversations\.json, which is not there"):
        build_conversations(corpus, tmp_path / "set", harbour(titles="meta"), kb=kb)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[]", "not a JSON object"),
        ('{"a": 1}', '"a" is not an object'),
        ('{"a": {"title": "x"}', "cut off"),
        ("{a: {}}", "this is not a name"),
    ],
)
def test_broken_conversations_are_told(kb, titled, tmp_path, content, told):
    (titled / "conversations.json").write_text(content)
    with pytest.raises(SourceError, match=told):
        build_conversations(titled, tmp_path / "set", harbour(titles="meta"), kb=kb)


def test_members_of_an_object_larger_than_what_is_read_at_once(tmp_path):
    path = tmp_path / "large.json"
    wanted = {f'name "{number}" }}': {"title": "x" * number, "more": ["{", "]"]} for number in range(0, 3000, 7)}
    path.write_text(json.dumps(wanted))
    assert path.stat().st_size > 1 << 18
    with path.open("rb") as file:
        assert {json.loads(name): json.loads(said) for name, said in object_members(file, path)} == wanted


# Profanity


def test_without_a_list_of_profanity_there_is_a_warning(kb, titled, tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "entlink"):
        build_conversations(titled, tmp_path / "set", harbour(), kb=kb)
        build_conversations(titled, tmp_path / "other", harbour(profanity=("curse",)), kb=kb)
    (record,) = caplog.records
    assert "no list of profanity is given" in record.getMessage()
    assert "--profanity" in record.getMessage()
