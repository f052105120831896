"""`entlink datasets build` end to end."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from entlink.datasets.hyperlinks.build import KINDS
from entlink.formats.documents.lines import read_documents
from entlink_cli.datasets import build as datasets_build
from entlink_cli.terminal.progress import Report

MAKE = ("datasets", "build", "hyperlinks")


def test_it_tells_what_it_made_and_what_to_try(run, articles, toy, tmp_path):
    out = tmp_path / "links.jsonl"
    done = run(*MAKE, articles, "-o", out, "--kb", toy)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{out} built in ")
    assert "  read        7 pages, 11 links\n" in done.out
    assert "  documents   5 of 5 pages\n" in done.out
    assert "  links       10 to entities\n" in done.out
    assert "  unresolved  1 link to nothing in toy.kb, left out\n" in done.out
    assert "  file        links.jsonl: 5 documents, " in done.out
    assert f"  entlink link {toy} {out} --mentions given -o linked.jsonl\n" in done.out


def test_the_next_step_links_the_given_spans(run, articles, toy, tmp_path):
    out = tmp_path / "links.jsonl"
    assert run(*MAKE, articles, "-o", out, "--kb", toy, "--nil", "--quiet").out == ""
    linked = run("link", toy, out, "--mentions", "given").lines
    assert [row["id"] for row in linked] == [document.id for document in read_documents(out)]
    spans = [[(link["start"], link["end"]) for link in row["links"]] for row in linked]
    assert spans == [[(gold["start"], gold["end"]) for gold in row["gold"]] for row in linked]
    nowhere = linked[3]["gold"][-1]
    assert (nowhere["entity"], linked[3]["links"][-1]["entity"]) == (None, None)


def test_without_a_knowledge_base_nothing_is_unresolved(run, articles, tmp_path):
    done = run(*MAKE, articles, "-o", tmp_path / "links.jsonl")
    assert "  links      11\n" in done.out
    assert "unresolved" not in done.out
    assert "Try next" not in done.out


def test_the_card_as_json(run, articles, tmp_path):
    out = tmp_path / "links.jsonl.gz"
    words = [articles, "-o", out, "--split", "train=0.5,test=0.5", "--seed", "-4", "--language", "en"]
    card = run(*MAKE, *words, "--json").json
    assert card == json.loads((tmp_path / "links.card.json").read_text(encoding="utf8"))
    assert [file["name"] for file in card["files"]] == ["links.train.jsonl.gz", "links.test.jsonl.gz"]
    assert (card["options"]["seed"], card["options"]["split"]) == (-4, {"train": 0.5, "test": 0.5})
    assert card["command"] == f"entlink datasets build hyperlinks {' '.join(map(str, words))} --json"


@pytest.mark.parametrize(
    ("words", "documents"),
    [
        (["--limit", "2"], 2),
        (["--sample", "3", "--seed", "7"], 3),
        (["--min-links", "3"], 2),
        (["--kind", "item,cell,caption"], 0),
        (["--processes", "1", "--kind", "text"], 5),
    ],
)
def test_which_documents_are_taken(run, articles, tmp_path, words, documents):
    assert run(*MAKE, articles, "-o", tmp_path / "links.jsonl", *words, "--json").json["documents"] == documents


def test_bad_records_are_skipped_and_told(run, articles, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text(articles.read_text(encoding="utf8") + '{"id": "x"}\n', encoding="utf8")
    words = [bad, "-o", tmp_path / "links.jsonl", "--format", "articles"]
    stopped = run(*MAKE, *words)
    assert (stopped.code, f"{bad}, line 8" in stopped.err) == (3, True)
    done = run(*MAKE, *words, "--on-error", "skip")
    assert done.code == 0
    assert "  skipped    1 record\n" in done.out
    assert f"    {bad}, line 8: " in done.out


def test_what_is_there_is_replaced_only_when_asked(run, articles, tmp_path):
    words = [*MAKE, articles, "-o", tmp_path / "links.jsonl"]
    assert run(*words).code == 0
    again = run(*words)
    assert (again.code, "is there already. --replace" in again.err) == (4, True)
    assert run(*words, "--replace").code == 0


def test_what_is_not_there_is_told(run, articles, tmp_path):
    out = ["-o", tmp_path / "links.jsonl"]
    assert run(*MAKE, tmp_path / "none.jsonl", *out).code == 3
    lacking = run(*MAKE, articles, *out, "--kb", tmp_path / "none.kb")
    assert (lacking.code, "no knowledge base there" in lacking.err) == (4, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--kind", "text,table"], "'table' is not a kind of paragraph: choose among text, item, cell, caption"),
        (["--split", "train"], "'train' is not a new NAME=SHARE"),
        (["--split", "a=0.5,a=0.5"], "'a=0.5' is not a new NAME=SHARE"),
        (["--split", "a=0.5,b=0.4"], "add up to 0.9"),
        (["--split", "a=half,b=0.5"], "'half' is not a number from 0 to 1"),
        (["--seed", "lucky"], "'lucky' is not a whole number"),
        (["--limit", "3", "--sample", "3"], "not allowed with argument"),
        (["--min-links", "0"], "'0' is not a whole number from 1 on"),
        (["--nil"], "--nil needs --kb"),
    ],
)
def test_wrong_usage_is_one_line(run, articles, tmp_path, words, told):
    done = run(*MAKE, articles, "-o", tmp_path / "links.jsonl", *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert told in done.err


def test_an_unknown_corpus_is_told(run, articles, tmp_path):
    done = run("datasets", "build", "hyperlink", articles, "-o", tmp_path / "links.jsonl")
    assert (done.code, "choose from 'hyperlinks'" in done.err) == (2, True)


def test_help_knows_the_kinds_of_the_library():
    assert datasets_build.KINDS == KINDS


@contextmanager
def interrupted(*, quiet: bool, patience: float) -> Iterator[Report]:
    """Progress during which Ctrl-C is pressed."""

    def report(stage: str, done: float, total: float) -> None:
        if done:
            signal.raise_signal(signal.SIGINT)

    yield report


def test_an_interrupted_build_goes_on(run, articles, tmp_path, monkeypatch):
    words = [*MAKE, articles, "-o", tmp_path / "links.jsonl", "--processes", "1"]
    with monkeypatch.context() as patched:
        patched.setattr(datasets_build, "progress", interrupted)
        stopped = run(*words)
    assert stopped.code == 130
    assert stopped.err == (
        "entlink: what was done is kept; the same command goes on from there\nentlink: interrupted\n"
    )
    kept = tmp_path / "links.building" / "parts" / "part-000000" / "documents.jsonl"
    assert kept.exists()
    kept.write_bytes(kept.read_bytes().replace(b"nearest", b"NEAREST"))
    assert run(*words).code == 0
    assert "NEAREST" in (tmp_path / "links.jsonl").read_text(encoding="utf8")  # what was kept was not made again
