"""`entlink datasets build conversations` end to end, on the sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entlink.kb.build.from_sources import BuildOptions, build
from entlink_cli.datasets import conversations as datasets_conversations

MAKE = ("datasets", "build", "conversations")
SAMPLES = Path(__file__).parents[2] / "samples"
CORPUS = SAMPLES / "subreddit-BackyardAstronomy"


@pytest.fixture(scope="module")
def wiki(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wiki") / "wiki.kb"
    build([SAMPLES / "wiki" / "samplewiki.xml"], folder, BuildOptions(processes=1, count_text=False))
    return folder


def test_it_tells_what_it_made_and_what_to_try(run, wiki, tmp_path):
    out = tmp_path / "threads"
    done = run(*MAKE, CORPUS, "-o", out, "--kb", wiki)
    assert done.code == 0
    assert done.err.startswith("entlink: warning: no list of profanity is given")
    assert done.out.startswith(f"{out} built in ")
    assert "  read     20 utterances of 1 corpus, 3 conversations\n" in done.out
    assert "  links    bare 1, labelled 7, nonsense 1, unresolved 1\n" in done.out
    assert "  pruned   deleted 1\n" in done.out
    assert "  threads  annotations added 6, dropped as trivial 1, paths 5, too short 1\n" in done.out
    assert "  file     train.jsonl: 2 threads, 7 annotations, " in done.out
    assert f"  entlink link {wiki} {out / 'test.jsonl'} --mentions given -o linked.jsonl\n" in done.out


def test_the_next_step_links_the_given_spans(run, wiki, tmp_path):
    out = tmp_path / "threads"
    assert run(*MAKE, CORPUS, "-o", out, "--kb", wiki, "--quiet").out == ""
    (linked,) = run("link", wiki, out / "test.jsonl", "--mentions", "given").lines
    spans = [(link["turn"], link["start"], link["end"]) for link in linked["links"]]
    assert spans == [(gold["turn"], gold["start"], gold["end"]) for gold in linked["gold"]]
    assert len(spans) == 4


def test_every_option_goes_into_the_card(run, wiki, tmp_path):
    (tmp_path / "bad.txt").write_text("heck\n")
    (tmp_path / "none.txt").write_text("here\n")
    words = {
        "--domain": "Astronomy=samplewiki,other",
        "--url-pattern": "https://{wiki}.fandom.com/wiki/{title}",
        "--url-language": "en",
        "--bare-urls": "none",
        "--nonsense": tmp_path / "none.txt",
        "--characters": "any",
        "--max-repeats": "4",
        "--profanity": tmp_path / "bad.txt",
        "--min-tokens": "0",
        "--max-tokens": "90",
        "--max-characters": "900",
        "--pruned": "thread",
        "--augment": "conversation",
        "--min-utterances": "2",
        "--min-annotations": "1",
        "--exact-share": "0.5",
        "--split-date": "2016-12-31",
        "--test-limit": "7",
        "--seed": "-4",
        "--on-error": "skip",
    }
    flat = [word for pair in words.items() for word in pair]
    card = run(*MAKE, CORPUS, "-o", tmp_path / "threads", "--kb", wiki, *flat, "--speakers", "--json").json
    assert card == json.loads((tmp_path / "threads" / "card.json").read_text(encoding="utf8"))
    chosen = card["options"]
    assert chosen["domains"] == [{"title": "Astronomy", "wikis": ["samplewiki", "other"], "type": None}]
    assert (chosen["patterns"], chosen["languages"]) == (["https://{wiki}.fandom.com/wiki/{title}"], ["en"])
    assert (chosen["profanity"]["entries"], chosen["nonsense"], chosen["anonymous"]) == (1, ["here"], False)
    plain = {option.removeprefix("--").replace("-", "_"): value for option, value in words.items()}
    told = {name: value for name, value in plain.items() if name in chosen and name not in ("profanity", "nonsense")}
    assert len(told) == 15
    assert {name: str(chosen[name]) for name in told} == {name: str(value) for name, value in told.items()}


def test_zeshels_domains_leave_out_other_subreddits(run, wiki, tmp_path):
    done = run(*MAKE, CORPUS, "-o", tmp_path / "threads", "--kb", wiki, "--zeshel")
    assert done.code == 3
    assert "no subreddit given (BackyardAstronomy) has a domain's title in its name: 'American Football'" in done.err


def test_bad_records_are_skipped_and_told(run, wiki, tmp_path):
    bad = tmp_path / "bad"
    bad.mkdir()
    lines = (CORPUS / "utterances.jsonl").read_text(encoding="utf8")
    (bad / "utterances.jsonl").write_text(lines + '{"id": "x"', encoding="utf8")
    words = [bad, "-o", tmp_path / "threads", "--kb", wiki]
    stopped = run(*MAKE, *words)
    assert (stopped.code, f"{bad / 'utterances.jsonl'}, line 21: the JSON is bad or cut off" in stopped.err) == (
        3,
        True,
    )
    done = run(*MAKE, *words, "--on-error", "skip")
    assert done.code == 0
    assert "  left out  1 bad record, 0 lost replies\n" in done.out
    assert f"    {bad / 'utterances.jsonl'}, line 21: " in done.out


def test_what_is_there_is_replaced_only_when_asked(run, wiki, tmp_path):
    words = [*MAKE, CORPUS, "-o", tmp_path / "threads", "--kb", wiki]
    assert run(*words).code == 0
    again = run(*words)
    assert (again.code, "is there already. --replace" in again.err) == (4, True)
    assert run(*words, "--replace").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--domain", "=x"], "'=x' is no domain such as"),
        (["--domain", "x="], "'x=' is no domain such as"),
        (["--split-date", "2015"], "'2015' is not a day such as"),
        (["--exact-share", "2"], "'2' is not a number from 0 to 1"),
        (["--seed", "lucky"], "'lucky' is not a whole number"),
        (["--augment", "world"], "invalid choice: 'world'"),
    ],
)
def test_wrong_usage_is_one_line(run, wiki, tmp_path, words, told):
    done = run(*MAKE, CORPUS, "-o", tmp_path / "threads", "--kb", wiki, *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert told in done.err


def test_a_knowledge_base_is_needed(run, tmp_path):
    done = run(*MAKE, CORPUS, "-o", tmp_path / "threads")
    assert (done.code, "required: --kb" in done.err) == (2, True)


def test_an_interruption_says_that_nothing_was_made(run, wiki, tmp_path, monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets_conversations, "progress", interrupted)
    done = run(*MAKE, CORPUS, "-o", tmp_path / "threads", "--kb", wiki)
    assert (done.code, "nothing was made" in done.err) == (130, True)
    assert not (tmp_path / "threads").exists()


def test_domains_as_they_are_written():
    parsed = datasets_conversations.domain("Star Trek=Memory-Alpha, sto:star_trek")
    assert (parsed.title, parsed.wikis, parsed.type) == ("Star Trek", ("memory-alpha", "sto"), "star_trek")
    only_type = datasets_conversations.domain("Lego=:lego")
    assert (only_type.wikis, only_type.type) == ((), "lego")
