"""`entlink train personal`, and `--personal` of the commands that link."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entlink_cli import main
from knowledge_bases import article, make_kb

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
TALK = {
    "id": "pets",
    "turns": [
        {"speaker": "ana", "text": "I have a poodle."},
        {"speaker": "ben", "text": "Good for you."},
        {"speaker": "ana", "text": "My dog barks."},
    ],
}


@pytest.fixture(scope="module")
def pets(tmp_path_factory):
    rows = [article("poodle", "Poodle", "The poodle is a breed of dog."), article("abba", "ABBA", "A band.")]
    return make_kb(tmp_path_factory.mktemp("pets"), rows, "pets")


@pytest.fixture(scope="module")
def wiki(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wiki")
    assert main(["kb", "build", str(SAMPLES / "wiki/samplewiki.xml"), "-o", str(folder / "wiki.kb"), "--quiet"]) == 0
    return folder / "wiki.kb"


def linked(capsys, *words):
    assert main(["link", *map(str, words), "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    return [(link["text"], link["entity"], link.get("type")) for link in json.loads(line)["links"]]


def test_personal_mentions_are_linked_on_demand(pets, tmp_path, capsys):
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps(TALK), encoding="utf8")
    assert linked(capsys, pets, path) == [("poodle", "poodle", None)]
    assert linked(capsys, pets, "--personal", path) == [("poodle", "poodle", None), ("My dog", "poodle", "personal")]


def test_training_on_the_samples(wiki, tmp_path, capsys):
    target = tmp_path / "personal.json"
    command = ["train", "personal", str(SAMPLES / "personal.jsonl"), "--kb", str(wiki), "-o", str(target)]
    assert main(command) == 0
    told = capsys.readouterr()
    assert "21 phrases in 6 conversations" in told.out
    assert f"saved as {target}" in told.err
    first = target.read_bytes()
    assert main([*command, "--quiet"]) == 0
    assert (capsys.readouterr().out, json.loads(target.read_bytes())["choice"]) == ("", json.loads(first)["choice"])
    config = tmp_path / "linker.toml"
    config.write_text(f"[conversation]\npersonal = {str(target)!r}\n", encoding="utf8")
    talk = tmp_path / "talk.jsonl"
    turns = [{"speaker": "cleo", "text": "My favourite city is Oxford."}]
    talk.write_text(json.dumps({"id": "t", "turns": turns}), encoding="utf8")
    links = linked(capsys, wiki, talk, "--config", config)
    assert ("My favourite city", "Oxford", "personal") in [
        (text, _title(entity), kind) for text, entity, kind in links
    ]
    assert links == linked(capsys, wiki, talk, "--config", config, "--personal")  # the weights of the file still


def _title(entity: str) -> str:
    return "Oxford" if entity.lower().startswith("oxford") or entity.startswith("page:") else entity


def test_conversations_that_are_held_out_are_not_learnt_from(wiki, tmp_path, capsys):
    rows = (SAMPLES / "personal.jsonl").read_text(encoding="utf8").splitlines()
    apart = tmp_path / "apart.jsonl"
    apart.write_text("\n".join(rows[:2]), encoding="utf8")
    data, target = str(SAMPLES / "personal.jsonl"), str(tmp_path / "p.json")
    words = ["train", "personal", data, "--kb", str(wiki), "-o", target, "--held-out", str(apart), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == 4


def test_nothing_to_learn_is_an_error_and_leaves_no_file(wiki, tmp_path, capsys):
    target = tmp_path / "p.json"
    words = ["train", "personal", str(SAMPLES / "conversations.jsonl"), "--kb", str(wiki), "-o", str(target)]
    assert main(words) == 3
    assert "no personal mention to learn from" in capsys.readouterr().err
    assert not target.exists()


def test_a_chat_resolves_what_was_typed(pets, monkeypatch, capsys):
    import io
    import sys

    lines = b"I have a poodle.\nMy dog barks.\n/why My dog\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert main(["chat", str(pets), "--personal"]) == 0
    told = capsys.readouterr().out
    assert "[My dog] barks." in told
    assert "what the speaker named 1 turn before" in told
