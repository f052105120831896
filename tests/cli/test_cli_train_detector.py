"""`entlink train detector` and `entlink train names`: what they write, say and refuse."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("numpy")

from detector_world import conversations, detector_kb


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    return detector_kb(tmp_path_factory.mktemp("talk"))


def written(path, documents):
    """Conversations as JSON lines, the gold by turns."""
    rows = []
    for document in documents:
        gold = [
            {"turn": number, "start": one.span.start - turn.start, "end": one.span.end - turn.start}
            | {"entity": one.entities[0]}
            for number, turn in enumerate(document.turn_spans)
            for one in document.gold
            if turn.start <= one.span.start < turn.end
        ]
        turns = [{"speaker": turn.speaker, "text": turn.text} for turn in document.turns]
        rows.append({"id": document.id, "turns": turns, "gold": gold})
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf8")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return written(tmp_path_factory.mktemp("data") / "talk.jsonl", conversations(16))


def detector(data, kb, folder, *more):
    return "train", "detector", data, "--kb", kb, "-o", folder, "--encoder", "none", *more


def linked(run, kb, config, text):
    result = run("link", kb, "--config", config, "--json", "-", stdin=text.encode())
    return [(link["text"], link["entity"]) for link in result.lines[0]["links"]]


def test_a_detector_is_trained_and_used(run, kb, data, tmp_path):
    folder = tmp_path / "detector"
    result = run(*detector(data, kb, folder))
    assert result.code == 0, result.err
    mentions = sum(len(one.gold) for one in conversations(16))
    assert result.out.startswith(
        f"{mentions} mentions in 96 texts; {mentions} are names or runs of up to four words\n"
    )
    assert "threshold  precision  recall  F1" in result.out
    assert "held out: F1 0.9" in result.out
    assert f'[detector] name = "learned", model = "{folder}"' in result.err
    card = json.loads((folder / "detector.json").read_bytes())
    assert card["command"].startswith("entlink train detector")
    assert [(one["name"], len(one["sha256"])) for one in card["data"]] == [("talk.jsonl", 64)]
    config = tmp_path / "linker.toml"
    config.write_text(f'[detector]\nname = "learned"\nmodel = "{folder}"\n', encoding="utf8")
    assert linked(run, kb, config, "Last week I saw Miles Davis.") == [("Miles Davis", "miles")]


def test_as_json_and_quietly(run, kb, data, tmp_path):
    result = run(*detector(data, kb, tmp_path / "one", "--json", "--seed", "3"))
    found = result.json
    assert found["folder"] == str(tmp_path / "one")
    assert {one["threshold"] for one in found["choices"]} >= {found["threshold"]}
    assert found["choices"][0].keys() == {"threshold", "precision", "recall", "f1"}
    quiet = run(*detector(data, kb, tmp_path / "two", "--quiet", "--seed", "3"))
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    one, two = (json.loads((tmp_path / name / "detector.json").read_bytes()) for name in ("one", "two"))
    assert one["sha256"] == two["sha256"]


def test_what_is_there_is_replaced_on_demand_only(run, kb, data, tmp_path):
    folder = tmp_path / "detector"
    assert run(*detector(data, kb, folder, "--quiet")).code == 0
    before = (folder / "detector.json").read_bytes()
    refused = run(*detector(data, kb, folder))
    assert refused.code == 3
    assert "Replace it with --replace" in refused.err
    assert (folder / "detector.json").read_bytes() == before
    assert run(*detector(data, kb, folder, "--quiet", "--replace", "--seed", "9")).code == 0
    assert (folder / "detector.json").read_bytes() != before
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "dear.txt").write_text("diary")
    refused = run(*detector(data, kb, tmp_path / "notes", "--replace"))
    assert (refused.code, (tmp_path / "notes" / "dear.txt").exists()) == (3, True)
    assert "is no trained detector. Give another folder" in refused.err


def test_what_cannot_be_learnt_from(run, kb, tmp_path):
    few = written(tmp_path / "few.jsonl", conversations(2))
    result = run(*detector(few, kb, tmp_path / "detector"))
    assert result.code == 3
    assert "and 50 are needed" in result.err
    assert not (tmp_path / "detector").exists()
    assert run(*detector(tmp_path / "nowhere.jsonl", kb, tmp_path / "detector")).code == 3
    missing = run("train", "detector", few, "--kb", tmp_path / "no.kb", "-o", tmp_path / "detector")
    assert missing.code == 4


def test_an_encoder_that_is_not_here(run, kb, data, tmp_path):
    result = run("train", "detector", data, "--kb", kb, "-o", tmp_path / "detector", "--encoder", "unheard-of")
    assert result.code in (3, 6)
    assert "unheard-of" in result.err
    assert not (tmp_path / "detector").exists()


def test_names_are_taught_and_used(run, kb, tmp_path):
    nicknames = tmp_path / "nicknames.jsonl"
    gold = [{"start": 0, "end": 4, "entity": "new-york"}, {"start": 10, "end": 14, "entity": None}]
    nicknames.write_text(json.dumps({"id": "nick", "text": "NYNY, not Oslo", "gold": gold}), encoding="utf8")
    target = tmp_path / "new" / "taught.json"
    result = run("train", "names", nicknames, "--kb", kb, "-o", target)
    assert result.code == 0, result.err
    assert result.out == "2 names from 2 mentions; 1 lead to no entity of the knowledge base\n"
    assert f"saved as {target}" in result.err
    config = tmp_path / "linker.toml"
    config.write_text(
        '[detector]\nname = "given"\n[[retriever]]\nname = "alias"\n'
        f'[[retriever]]\nname = "taught"\nmodel = "{target}"\n',
        encoding="utf8",
    )
    asked = {"id": "new", "text": "in NYNY", "mentions": [{"start": 3, "end": 7, "text": "NYNY"}]}
    given = tmp_path / "given.jsonl"
    given.write_text(json.dumps(asked) + "\n", encoding="utf8")
    found = run("link", kb, given, "--config", config, "--json")
    assert [link["entity"] for link in found.lines[0]["links"]] == ["new-york"]


def test_names_as_json_quietly_and_again(run, kb, data, tmp_path):
    target = tmp_path / "taught.json"
    words = ("train", "names", data, "--kb", kb, "-o", target)
    mentions = sum(len(one.gold) for one in conversations(16))
    assert run(*words, "--json").json == {"names": 8, "mentions": mentions, "unknown": 0}
    first = json.loads(target.read_bytes())
    quiet = run(*words, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert json.loads(target.read_bytes())["names"] == first["names"]
    assert first["command"].startswith("entlink train names")


def test_names_that_lead_nowhere_are_refused(run, kb, tmp_path):
    path = tmp_path / "other.jsonl"
    gold = [{"start": 0, "end": 4, "text": "Oslo", "entity": "no-such-place"}]
    path.write_text(json.dumps({"id": "o", "text": "Oslo", "gold": gold}) + "\n", encoding="utf8")
    result = run("train", "names", path, "--kb", kb, "-o", tmp_path / "taught.json")
    assert result.code == 3
    assert "none of 1 gold mention leads to an entity" in result.err
    assert not (tmp_path / "taught.json").exists()
