"""`entlink study candidates`, `unfamiliar-kb` and `conversation` as a user meets them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
GOLD = SAMPLES / "worlds.gold.jsonl"
BY_TITLE = ("--match-gold", "title")


@pytest.fixture(autouse=True)
def no_models(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path_factory.mktemp("models")))


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    from entlink.kb.build.from_sources import BuildOptions, build

    target = tmp_path_factory.mktemp("worlds") / "worlds.kb"
    build([SAMPLES / "worlds.jsonl"], target, BuildOptions(processes=1))
    return target


def figures(path):
    with path.open(encoding="utf8", newline="") as file:
        return {tuple(row.values())[:4]: row for row in csv.DictReader(file)}


def test_candidates_in_one_table_with_its_convention(run, worlds, tmp_path):
    target = tmp_path / "c.csv"
    ran = run("study", "candidates", worlds, GOLD, "--k", "10,1", "--slice", "title", "--csv", target)
    assert (ran.code, ran.err) == (0, "")
    for told in (
        "worlds.kb: 16 entities, built 20",
        "entlink 0.",
        "21 gold mentions in 6 documents",
        "NIL 1",
        "cold",
    ):
        assert told in ran.out
    rows = {line.split()[0]: line.split() for line in ran.out.splitlines() if line.startswith("  ")}
    assert rows["method"][2:4] == ["R@1", "R@10"]
    assert rows["dense"][1] == "missing"
    assert {"alias", "edit-distance", "bm25", "fusion", "ranker"} <= set(rows)
    assert "surface is not the title:" in ran.out
    assert float(figures(target)["candidates", "alias", "all", "R@10"]["value"]) == pytest.approx(17 / 21)


def test_candidates_as_json(run, worlds):
    found = run("study", "candidates", worlds, GOLD, "--config", "lexical", "--json", "--quiet").json
    assert [one["how"] for one in found["methods"]] == ["own list", "own list", "in turn", "ranked"]
    assert found["facts"]["entities"] == 16
    assert found["command"].startswith("entlink study candidates")
    assert found["methods"][0]["found"]["recall_at"].keys() == {"1", "10", "50", "100"}


def test_published_rows_only_on_request(run, worlds):
    assert "WikiDiverse" not in run("study", "candidates", worlds, GOLD, "--config", "lexical").out
    ran = run("study", "candidates", worlds, GOLD, "--config", "lexical", "--published")
    assert "published for WikiDiverse: other data" in ran.out
    assert "P(e|m) + BLINK + CLIP" in ran.out


def test_an_unfamiliar_knowledge_base(run, worlds, tmp_path):
    files = ("--csv", tmp_path / "w.csv", "--latex", tmp_path / "w.tex")
    ran = run("study", "unfamiliar-kb", worlds, GOLD, "--system", "names=lexical", *files)
    assert (ran.code, ran.err) == (0, "")
    assert "6 documents in 2 domains, told by meta:domain" in ran.out
    assert "convention: strict, nil-ignored" in ran.out
    assert "bi-encoder has no scores" in ran.out
    for title in ("table 3", "table 2", "table 5", "Gold outside"):
        assert title in ran.out
    found = figures(tmp_path / "w.csv")
    assert float(found["given spans", "names", "micro", "accuracy"]["value"]) == 1
    # By hand: at sea the detector finds no boom, crew (twice) or rigging: names of the stage are written just so.
    assert float(found["end to end", "names", "micro", "el recall"]["value"]) == pytest.approx(15 / 19)
    assert float(found["end to end", "names", "macro", "el recall"]["value"]) == pytest.approx((6 / 10 + 9 / 9) / 2)
    assert found["table 3", "gold spans + BLINK", "reddit micro", "ed precision"]["source"] == "published"
    text = (tmp_path / "w.tex").read_text(encoding="utf8")
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 5
    assert r"edit distance & this & 0.474" in text


def test_one_domain_as_json(run, worlds):
    found = run("study", "unfamiliar-kb", worlds, GOLD, "--domain", "theatre", "--json", "--quiet").json
    assert [one["name"] for one in found["domains"]] == ["theatre"]
    assert [one["name"] for one in found["systems"]] == ["edit distance", "bi-encoder", "zero-shot"]
    assert found["left_out"] == {"of other domains": 3}


def test_a_linker_beside_is_studied_by_its_own_name(run, tmp_path):
    """What was tuned must not stand in a table as zero-shot."""
    kb = tmp_path / "sea.kb"
    assert run("kb", "build", SAMPLES / "worlds.jsonl", "-o", kb, "--quiet").code == 0
    (tmp_path / "sea.linker").mkdir()
    (tmp_path / "sea.linker" / "linker.toml").write_text("", encoding="utf8")
    found = run("study", "unfamiliar-kb", kb, GOLD, "--json", "--quiet").json
    assert [one["name"] for one in found["systems"]] == ["edit distance", "bi-encoder", "sea.linker"]


def test_few_shot_gold(run, worlds, tmp_path):
    files = ("--csv", tmp_path / "f.csv", "--latex", tmp_path / "f.tex")
    ran = run("study", "few-shot", worlds, GOLD, "--system", "names=lexical", "--rounds", "0", *files)
    assert (ran.code, ran.err) == (0, "")
    for told in (
        "worlds.kb: 16 entities",
        "the most popular first",
        "table 12",
        "appendix F",
        "published for hansel-fs",
    ):
        assert told in ran.out
    assert "appendix G" not in ran.out  # no entity has claims
    found = figures(tmp_path / "f.csv")
    mentions = (
        found["sizes", "", "all gold", "mentions in-KB"]["value"],
        found["sizes", "", "all gold", "mentions NIL"]["value"],
    )
    assert mentions == ("21", "1")
    # As the alias retriever has it in the study of candidates.
    assert float(found["scores", "AT", "all gold", "R@10"]["value"]) == pytest.approx(17 / 21)
    assert float(found["scores", "AT", "few-shot", "R@1"]["value"]) == 0
    text = (tmp_path / "f.tex").read_text(encoding="utf8")
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 3
    study = run("study", "few-shot", worlds, GOLD, "--limit", "2", "--json", "--quiet").json
    assert [one["system"] for one in study["systems"]] == ["AT", "zero-shot"]


@pytest.fixture
def talk(tmp_path, write_lines):
    """Two turns about sailing, one gold mention each, of which the second is not in the knowledge base."""
    turns = [{"text": "Mind the Boom.", "speaker": "ana"}, {"text": "And the keelson.", "speaker": "ben"}]
    gold = [
        {"turn": 0, "start": 9, "end": 13, "entity": "Boom"},
        {"turn": 1, "start": 8, "end": 15, "entity": "Keelson"},
    ]
    return write_lines(tmp_path / "talk.jsonl", [{"id": "talk", "turns": turns, "gold": gold}])


def test_conversations_with_a_run_beside(run, worlds, talk, tmp_path):
    rows = [["talk", 0, "Boom", "boom"], ["talk", 1, "keelson", "Keelson"]]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(rows), encoding="utf8")
    files = ("--csv", tmp_path / "t.csv", "--latex", tmp_path / "t.tex")
    words = ("--system", "names=lexical", "--run", f"other={other}", "--rounds", "20", *BY_TITLE, *files)
    ran = run("study", "conversation", worlds, f"conel2-val={talk}", *words)
    assert (ran.code, ran.err) == (0, "")
    for told in (
        "turns that were annotated, each with the turns before it as context; without personal mentions",
        "gold by title: An identifier that the knowledge base lacks",
        "strict: a mention counts where both its offsets",
        "string: sets of (document, turn, mention as written, entity)",
        "published, with all of Wikipedia as the knowledge base:",
        "strict spans, covered gold:",
        "where the gold of EL was lost",
    ):
        assert told in ran.out
    assert re.search(r"^  CREL +0.742 +0.651$", ran.out, flags=re.MULTILINE)
    found = figures(tmp_path / "t.csv")
    assert float(found["string, all gold", "other", "conel2-val", "md f1"]["value"]) == 1
    # As written, boom is not Boom: gold and run of one set are to be written alike. A note tells.
    assert "answers that differ from gold only in underscores, case" in ran.out
    assert float(found["string, all gold", "other", "conel2-val", "el recall"]["value"]) == 1 / 2
    assert float(found["strict, all gold", "names", "conel2-val", "md recall"]["value"]) == 1 / 2
    assert found["table 4", "ELQ fine-tuned", "conel2-val", "el f1"]["source"] == "published"
    assert (tmp_path / "t.tex").read_text(encoding="utf8").count(r"\begin{table}") == 5


def test_conversations_as_json(run, worlds, talk):
    words = ("--system", "names=lexical", "--turns", "ana", "--rounds", "0", *BY_TITLE, "--json", "--quiet")
    found = run("study", "conversation", worlds, talk, *words).json
    assert found["options"]["turns"] == ["ana"]
    assert [(one["name"], one["turns"], one["gold"]) for one in found["sets"]] == [("talk", 1, 1)]
    assert [(one["matching"], one["gold"]) for one in found["results"][0]["scores"]] == [
        ("strict", "all"),
        ("strict", "covered"),
        ("string", "all"),
        ("string", "covered"),
    ]
    assert found["command"].startswith("entlink study conversation")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--system", "lexical"], 2, "not of the form NAME=VALUE"),
        (["--system", "a=lexcal"], 3, "did you mean 'lexical'"),
        (["--system", "a=lexical", "--system", "a=zero-shot"], 3, "two systems are called 'a'"),
        (["--run", "a=nowhere.json"], 3, "nowhere.json"),
        (["--turns", "eve"], 3, "in it speak 'ana', 'ben'"),
        (["--csv", "no/such/folder.csv"], 3, "there is no folder"),
        (["--level", "1"], 2, "between 0 and 1"),
    ],
)
def test_wrong_usage_of_conversation_is_told(run, worlds, talk, words, code, told):
    ran = run("study", "conversation", worlds, talk, *words)
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err


def test_conversations_against_no_knowledge_base(run, tmp_path, talk):
    ran = run("study", "conversation", tmp_path / "nowhere.kb", talk)
    assert (ran.code, ran.out) == (4, "")
    assert "nowhere.kb" in ran.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["candidates", "--k", "0"], 2, "'0' are not whole numbers"),
        (["candidates", "--config", "lexcal"], 3, "did you mean 'lexical'"),
        (["candidates", "--csv", "no/such/folder.csv"], 3, "there is no folder"),
        (["unfamiliar-kb", "--system", "lexical"], 2, "not of the form NAME=VALUE"),
        (["unfamiliar-kb", "--system", "a=lexical", "--system", "a=zero-shot"], 2, "is there twice"),
        (["unfamiliar-kb", "--domain", "theater"], 3, "did you mean 'theatre'"),
        (["unfamiliar-kb", "--domain-by", "tipe"], 3, "did you mean 'type'"),
        (["unfamiliar-kb", "--detector", "flair"], 3, "no detector named 'flair'"),
    ],
)
def test_wrong_usage_is_told(run, worlds, words, code, told):
    ran = run("study", *words[:1], worlds, GOLD, *words[1:])
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err


def test_the_sample_has_gold_that_fits():
    entities = {json.loads(line)["id"] for line in (SAMPLES / "worlds.jsonl").read_text().splitlines()}
    documents = [json.loads(line) for line in GOLD.read_text().splitlines()]
    assert {one["domain"] for one in documents} == {"sailing", "theatre"}
    for one in documents:
        for mention in one["mentions"]:
            assert one["text"][mention["start"] : mention["end"]] == mention["text"]
            assert mention["entity"] is None or mention["entity"] in entities
