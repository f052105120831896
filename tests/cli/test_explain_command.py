"""`entlink explain` end to end."""

from __future__ import annotations

TEXT = "The Sun, the sun and Merkury."


def test_all_names(run, toy):
    told = run("explain", toy, TEXT, "--json").json["spans"]
    assert ("Sun", "linked") in [(span["text"], span["outcome"]) for span in told]


def test_a_surface_wherever_it_stands(run, toy):
    told = run("explain", toy, "Sun and Sun", "--surface", "Sun", "--json").json["spans"]
    assert [(span["start"], span["end"], span["entity"]) for span in told] == [(0, 3, "sun"), (8, 11, "sun")]


def test_a_span_that_is_no_name(run, toy):
    done = run("explain", toy, TEXT, "--span", "21:28", "--config", "lexical")
    assert done.code == 0
    assert "'Merkury' at 21:28: not in the dictionary" in done.out
    assert "nearest by spelling: Mercury (element), Mercury (planet)" in done.out


def test_a_blocked_name(run, own):
    assert run("kb", "block", own, "Sun").code == 0
    told = run("explain", own, TEXT, "--surface", "Sun", "--json").json["spans"]
    assert [(span["outcome"], span["reason"]) for span in told] == [("rejected", "blocked by a rule")]


def test_names_are_read_as_the_configuration_says(run, toy, tmp_path):
    config = tmp_path / "strict.toml"
    config.write_text("[kb.normalisation]\ncase = false\npunctuation = false\n", encoding="utf8")
    asked = ("explain", toy, "the SUN", "--surface", "SUN", "--json")
    assert run(*asked).json["spans"][0]["entity"] == "sun"
    assert run(*asked, "--config", config).json["spans"][0]["entity"] is None


def test_a_setting_that_does_not_fit(run, toy, tmp_path):
    config = tmp_path / "wrong.toml"
    config.write_text('[nil]\nname = "threshold"\nthreshold = "high"\n', encoding="utf8")
    done = run("explain", toy, TEXT, "--config", config)
    assert done.code == 3
    assert "[nil] threshold: threshold = 'high' does not fit: Expected `float`, got `str`" in done.err


def test_nothing_to_explain(run, toy):
    assert run("explain", toy, "nothing here").out == "no name of the knowledge base stands in it\n"


def test_text_from_stdin(run, toy):
    assert run("explain", toy, "-", "--json", stdin="的 Sun".encode()).json["spans"][0]["start"] == 2


def test_what_does_not_fit_the_text(run, toy):
    far = run("explain", toy, TEXT, "--span", "20:99")
    assert far.code == 3
    assert "--span 20:99 does not fit the text of 29 characters" in far.err
    assert run("explain", toy, TEXT, "--span", "5:5").code == 3
    absent = run("explain", toy, TEXT, "--surface", "Moon")
    assert (absent.code, "'Moon' does not stand in the text" in absent.err) == (3, True)


def test_a_surface_in_another_case(run, toy):
    done = run("explain", toy, "the SUN", "--surface", "Sun")
    assert (done.code, "'Sun' does not stand in the text, but 'SUN' does. Case counts" in done.err) == (3, True)


def test_a_threshold_is_told_with_the_number(run, tmp_path, write_lines):
    paragraph = {"text": "May, may or May", "links": [[0, 3, "may"]]}
    table = write_lines(tmp_path / "months.jsonl", [{"id": "may", "title": "May", "paragraphs": [paragraph]}])
    assert run("kb", "build", table, "-o", tmp_path / "months.kb", "--quiet").code == 0
    words = ("explain", tmp_path / "months.kb", "May", "--config", "lexical", "--min-link-probability", "0.9")
    done = run(*words)
    assert "below the threshold of link probability (0.5, threshold 0.9)\n" in done.out


def test_a_name_that_nothing_had_then(run, toy):
    done = run("explain", toy, "Iran", "--surface", "Iran", "--as-of", "1900")
    assert "no entity had the name on 1900-01-01" in done.out
    assert "no entity has the name now" in run("explain", toy, "Persia", "--surface", "Persia").out
