"""`entlink datasets build captions` end to end, on the sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("PIL")

from entlink.kb.build.from_sources import BuildOptions, build
from entlink_cli.datasets import build as datasets_build

MAKE = ("datasets", "build", "captions")
SAMPLES = Path(__file__).parents[2] / "samples"
SOURCE = SAMPLES / "captions.jsonl"


@pytest.fixture(scope="module")
def wiki(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wiki") / "wiki.kb"
    build([SAMPLES / "wiki" / "samplewiki.xml"], folder, BuildOptions(processes=1, count_text=False))
    return folder


def test_it_reports_what_it_made_and_what_to_try(run, wiki, tmp_path):
    out = tmp_path / "set"
    done = run(*MAKE, SOURCE, "-o", out, "--kb", wiki, "--pictures", SAMPLES / "pictures", "--seed", "25")
    assert done.code == 0
    assert done.err.startswith("entlink: warning: no list of profanity is given")
    assert done.out.startswith(f"{out} built in ")
    assert "kept 7, kept without picture 1, read 10, short 1, video 1, without mentions 1\n" in done.out
    assert "  file      dev.jsonl: 1 caption, 2 mentions (0 NIL), " in done.out
    assert f"  entlink link {wiki} {out / 'test.jsonl'} --mentions given -o linked.jsonl\n" in done.out
    (linked,) = run("link", wiki, out / "test.jsonl", "--mentions", "given").lines
    assert len(linked["links"]) == len(linked["gold"]) == 2
    assert (out / linked["images"][0]["uri"]).resolve() == (SAMPLES / "pictures" / "Saturn.png").resolve()


def test_every_option_goes_into_the_card(run, wiki, tmp_path):
    (tmp_path / "bad.txt").write_text("heck\n")
    (tmp_path / "topics.tsv").write_text("Space\tPlanet*\n")
    words = {
        "--format": "captions",
        "--language": "en",
        "--min-words": "2",
        "--min-mentions": "2",
        "--nil": "keep",
        "--missing": "drop",
        "--type-list": "guidelines",
        "--same-picture": "drop",
        "--seed": "-4",
        "--on-error": "skip",
        "--profanity": tmp_path / "bad.txt",
        "--topics": tmp_path / "topics.tsv",
        "--types": SAMPLES / "caption-types.tsv",
        "--split": "a=0.5,b=0.5",
        "--pictures": SAMPLES / "pictures",
        "--processes": "1",
    }
    flat = [word for pair in words.items() for word in pair]
    out = tmp_path / "set"
    card = run(*MAKE, SOURCE, "-o", out, "--kb", wiki, *flat, "--copy-pictures", "--json").json
    assert card == json.loads((out / "card.json").read_text(encoding="utf8"))
    chosen = card["options"]
    assert (chosen["profanity"]["entries"], chosen["topics"]) == (1, [["Space", "Planet*"]])
    assert (chosen["types"][0], chosen["split"]) == (["Person", "People"], {"a": 0.5, "b": 0.5})
    assert (chosen["copy_pictures"], chosen["near_copies"], card["pictures"]) == (True, None, "pictures")
    plain = {option.removeprefix("--").replace("-", "_"): str(value) for option, value in words.items()}
    same = [name for name in plain if str(chosen.get(name)) == plain[name]]
    assert len(same) == 10
    assert card["captions"]["picture missing"] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--near-copies", "2"], "'2' is not a number from 0 to 1"),
        (["--split", "a=2"], "'2' is not a number"),
        (["--nil", "maybe"], "invalid choice: 'maybe'"),
    ],
)
def test_wrong_usage_is_one_line(run, wiki, tmp_path, words, message):
    done = run(*MAKE, SOURCE, "-o", tmp_path / "set", "--kb", wiki, *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


def test_bad_records_are_skipped_and_shown(run, wiki, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text(SOURCE.read_text(encoding="utf8") + '{"page": 1}', encoding="utf8")
    words = [bad, "-o", tmp_path / "set", "--kb", wiki]
    stopped = run(*MAKE, *words)
    assert (stopped.code, f"{bad}, line 11: " in stopped.err) == (3, True)
    done = run(*MAKE, *words, "--on-error", "skip")
    assert (done.code, "  skipped   1 bad record\n" in done.out) == (0, True)
    assert f"    {bad}, line 11: " in done.out


def test_an_interruption_says_that_what_was_done_is_kept(run, wiki, tmp_path, monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets_build, "progress", interrupted)
    done = run(*MAKE, SOURCE, "-o", tmp_path / "set", "--kb", wiki)
    assert (done.code, "what was done is kept" in done.err) == (130, True)
