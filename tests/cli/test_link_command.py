"""`entlink link` end to end."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from importlib.resources import files

import pytest

TEXT = "Mercury is near the Sun, says NASA."


def entities(document):
    return [(link["text"], link["entity"]) for link in document["links"]]


def test_a_text_file(run, toy, text_file):
    done = run("link", toy, text_file)
    assert done.code == 0
    document = done.json
    assert (document["id"], document["text"]) == (str(text_file), TEXT)
    assert entities(document) == [("Mercury", "mercury-planet"), ("Sun", "sun"), ("NASA", "nasa")]
    for link in document["links"]:
        assert TEXT[link["start"] : link["end"]] == link["text"]


@pytest.mark.parametrize("words", [[], ["-"]])
def test_stdin(run, toy, words):
    done = run("link", toy, *words, stdin="在北京 with the Sun".encode())
    assert done.json["id"] == "<stdin>"
    assert entities(done.json) == [("北京", "beijing"), ("Sun", "sun")]


def test_stdin_of_a_process(toy):
    words = [sys.executable, "-m", "entlink", "link", str(toy)]
    done = subprocess.run(words, input=b'{"text": "The Sun"}\n', capture_output=True, timeout=60)
    assert entities(json.loads(done.stdout)) == [("Sun", "sun")]
    assert done.stderr.startswith(b"entlink: linking with ")
    assert done.stderr.count(b"\n") == 1


def test_documents_are_told_by_the_first_character(run, toy):
    done = run("link", toy, stdin=b'\xef\xbb\xbf \n{"id": "a", "text": "The Sun"}\n{"id": 2, "text": "NASA"}\n')
    assert [(document["id"], entities(document)) for document in done.lines] == [
        ("a", [("Sun", "sun")]),
        ("2", [("NASA", "nasa")]),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", "{curly} the **Sun**"),
        ("a.html", "{curly} the <b>Sun</b>"),
        ("a.txt", "{curly} the Sun"),
    ],
)
def test_a_name_that_tells_what_the_file_is_outweighs_its_first_character(run, toy, tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    document = run("link", toy, path).json
    assert document["text"] == content
    (link,) = document["links"]
    assert link["entity"] == "sun"
    assert content[link["start"] : link["end"]] == "Sun"


def test_input_can_be_told(run, toy):
    text = b'{"text": "The <b>Sun</b>"}'
    assert run("link", toy, "--input", "text", stdin=text).json["text"] == text.decode()
    assert run("link", toy, "--input", "jsonl", stdin=text).json["text"] == "The <b>Sun</b>"
    marked = run("link", toy, "--input", "html", "--config", "lexical", stdin=b"Mer<b>cury</b>").json
    assert [(link["start"], link["end"], link["text"]) for link in marked["links"]] == [(0, 10, "Mercury")]


def test_compressed_documents(run, toy, tmp_path):
    packed = tmp_path / "documents.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"text": "The Sun"}\n'))
    assert entities(run("link", toy, packed).json) == [("Sun", "sun")]


def test_a_conversation_keeps_its_turns(run, toy):
    row = {"id": "c", "turns": [{"speaker": "ann", "text": "The Sun?"}, {"text": "No, Mercury."}]}
    document = run("link", toy, "--config", "lexical", stdin=json.dumps(row).encode()).json
    assert document["turns"] == row["turns"]
    assert [(link["turn"], link["start"], link["entity"]) for link in document["links"]] == [
        (0, 4, "sun"),
        (1, 4, "mercury-planet"),
    ]


def test_output_file_appears_whole_or_not_at_all(run, toy, text_file, tmp_path):
    out = tmp_path / "out.jsonl"
    done = run("link", toy, text_file, "-o", out)
    assert (done.code, done.out) == (0, "")
    assert done.notes == f"entlink: {out}: 1 document, 3 links, 0 NIL\n"
    assert len(json.loads(out.read_bytes())["links"]) == 3
    before = out.read_bytes()
    bad = run("link", toy, "-o", out, stdin=b'{"text": "The Sun"}\n{"text": 1}\n')
    assert bad.code == 3
    assert out.read_bytes() == before
    assert list(tmp_path.glob("*.partial")) == []


def test_output_is_compressed_as_its_name_says_and_can_be_linked_again(run, toy, text_file, tmp_path):
    first, second = tmp_path / "out.jsonl.gz", tmp_path / "out.jsonl.xz"
    assert run("link", toy, text_file, "-o", first).code == 0
    assert json.loads(gzip.decompress(first.read_bytes()))["text"] == TEXT
    assert run("link", toy, first, "-o", second).code == 0
    assert len(run("link", toy, second).json["links"]) == 3


def test_output_in_a_missing_folder(run, toy, text_file, tmp_path):
    done = run("link", toy, text_file, "-o", tmp_path / "none" / "out.jsonl")
    assert done.code == 3
    assert f"there is no folder {tmp_path / 'none'}. Make it first" in done.err


def test_output_that_is_a_folder_or_a_device(run, toy, text_file, tmp_path):
    assert run("link", toy, text_file, "-o", tmp_path).code == 3
    assert run("link", toy, text_file, "-o", "/dev/null").code == 0
    assert run("link", toy, text_file, "-o", "-").json["text"] == TEXT


def test_given_mentions_only(run, toy):
    row = {"text": TEXT, "mentions": [{"start": 20, "end": 23}, {"start": 11, "end": 15, "type": "X"}]}
    document = run("link", toy, "--mentions", "given", stdin=json.dumps(row).encode()).json
    assert sorted((link["text"], link["entity"], link["nil_type"]) for link in document["links"]) == [
        ("Sun", "sun", None),
        ("near", None, "X"),
    ]


def test_given_mentions_need_documents(run, toy, text_file):
    done = run("link", toy, "--mentions", "given", text_file)
    assert done.code == 2
    assert "needs documents with mentions" in done.err
    assert run("link", toy, "--mentions", "given", "--case", "fold", stdin=b"{}").code == 2


@pytest.fixture
def benchmark(tmp_path):
    """A file of ELEVANT, whose gold calls the Sun by another entity."""
    label = {"id": 0, "span": [20, 23], "entity_id": "Q308", "name": "Mercury", "type": "Q634"}
    row = {"id": 7, "title": "", "text": TEXT, "evaluation_span": [0, len(TEXT)], "labels": [label]}
    path = tmp_path / "made.benchmark.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf8")
    return path


def test_spans_of_gold_in_the_format_of_a_dataset(run, toy, benchmark, tmp_path):
    out = tmp_path / "linked.jsonl"
    assert run("link", toy, benchmark, "--mentions", "gold", "-o", out).code == 0
    document = json.loads(out.read_text(encoding="utf8"))
    assert [(link["text"], link["entity"]) for link in document["links"]] == [("Sun", "sun")]
    assert [one["entity"] for one in document["gold"]] == ["Q308"]
    assert "MD " in run("evaluate", benchmark, out).out  # the same document on both sides
    done = run("link", toy, benchmark, "--mentions", "gold", "--gold-format", "elevent", "-o", out)
    assert (done.code, "there is no format 'elevent'" in done.err) == (3, True)


def test_spans_of_gold_from_stdin_are_those_of_our_own_documents(run, toy):
    row = {"text": TEXT, "gold": [{"start": 20, "end": 23, "entity": "venus"}]}
    words = ("link", toy, "--mentions", "gold")
    document = run(*words, stdin=json.dumps(row).encode()).json
    assert [link["entity"] for link in document["links"]] == ["sun"]
    assert "no document has gold" in run(*words, stdin=json.dumps({"text": TEXT}).encode()).err


def test_spans_of_gold_need_gold(run, toy, text_file):
    done = run("link", toy, text_file, "--input", "text", "--mentions", "gold")
    assert (done.code, "--mentions gold needs documents with gold" in done.err) == (2, True)
    done = run("link", toy, text_file, "--gold-format", "aida")
    assert (done.code, "--gold-format needs --mentions gold" in done.err) == (2, True)


def test_overlapping_spans(run, toy):
    row = {"id": "d", "text": TEXT, "mentions": [{"start": 0, "end": 7}, {"start": 3, "end": 9}]}
    done = run("link", toy, "--mentions", "given", stdin=json.dumps(row).encode())
    assert (done.code, done.out) == (3, "")
    assert "line 1: document 'd': the mentions 0-7 and 3-9 overlap" in done.err


def test_bad_documents_can_be_skipped(run, toy):
    rows = b'{"text": "The Sun"}\n' + b'{"text": 1}\n' * 7 + b'{"text": "NASA"}\n'
    done = run("link", toy, "--on-error", "skip", stdin=rows)
    assert done.code == 0
    assert [document["text"] for document in done.lines] == ["The Sun", "NASA"]
    told = done.notes.splitlines()
    assert len(told) == 6
    assert told[0].startswith("entlink: skipped: <stdin>, line 2: field text")
    assert told[-1] == "entlink: skipped: 2 more, 7 in all"


def test_text_that_is_not_utf8(run, toy, tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"The Sun \xe9")
    done = run("link", toy, path)
    assert (done.code, done.out) == (3, "")
    assert f"{path}, byte 8: 0xe9 is not valid UTF-8" in done.err
    assert "line 1: byte 10 of the line, 0xe9" in run("link", toy, stdin=b'{"text": "\xe9"}').err


def test_filters(run, toy, text_file):
    assert [entity for _, entity in entities(run("link", toy, text_file, "--type", "star").json)] == ["sun"]
    both = run("link", toy, text_file, "--type", "star", "--type", "element").json
    assert [entity for _, entity in entities(both)] == ["mercury-element", "sun"]
    lexical = ("link", toy, text_file, "--config", "lexical")
    sure = run(*lexical, "--min-score", "0.9").json
    assert [text for text, _ in entities(sure)] == ["Sun", "NASA"]
    strict = run(*lexical, "--nil-threshold", "0.9").json
    assert entities(strict)[0] == ("Mercury", None)
    rare = run(*lexical, "--min-link-probability", "1").json
    assert len(rare["links"]) <= 3


def test_as_of_a_date(run, toy):
    def linked(date):
        return entities(run("link", toy, "--as-of", date, stdin=b"Persia or Iran").json)

    assert linked("1900") == [("Persia", "iran")]
    assert linked("2000") == [("Iran", "iran")]


def test_case_policies(run, toy):
    def found(policy):
        words = ("link", toy, "--config", "lexical", "--case", policy)
        return [text for text, _ in entities(run(*words, stdin=b"nasa, SUN, Sun").json)]

    assert found("exact") == ["Sun"]
    assert found("smart") == ["SUN", "Sun"]
    assert found("fold") == ["nasa", "SUN", "Sun"]


def test_a_configuration_file_and_options_over_it(run, toy, tmp_path):
    config = tmp_path / "linker.toml"
    config.write_text('[detector]\nname = "dictionary"\ncase = "fold"\n')
    assert entities(run("link", toy, "--config", config, stdin=b"nasa").json) == [("nasa", "nasa")]
    assert entities(run("link", toy, "--config", config, "--case", "exact", stdin=b"nasa").json) == []
    config.write_text('[detector]\nname = "dictionnary"\n')
    done = run("link", toy, "--config", config, stdin=b"nasa")
    assert done.code == 3
    assert "did you mean 'dictionary'" in done.err


def test_a_linker_beside_the_knowledge_base_may_load_from_elsewhere_if_it_is_trusted(run, toy, tmp_path):
    kb = shutil.copytree(toy, tmp_path / "toy.kb")
    weights = shutil.copy(files("entlink.linking.conversation.personal") / "conel2.json", tmp_path / "weights.json")
    folder = tmp_path / "toy.linker"
    folder.mkdir()
    (folder / "linker.toml").write_text(f'[conversation]\npersonal = "{weights}"\n')
    done = run("link", kb, stdin=b"The Sun")
    assert done.code == 3
    assert "weights.json" in done.err
    assert "--trust" in done.err
    for trusted in (("--trust",), ("--config", folder)):
        assert entities(run("link", kb, *trusted, stdin=b"The Sun").json) == [("Sun", "sun")]


def test_candidates_on_demand(run, toy, text_file):
    (mercury, *_) = run("link", toy, text_file, "--candidates").json["links"]
    assert [candidate["entity"] for candidate in mercury["candidates"]] == ["mercury-planet", "mercury-element"]
    assert "candidates" not in run("link", toy, text_file).json["links"][0]


def test_an_empty_knowledge_base_links_nothing(run, tmp_path, text_file):
    table = tmp_path / "empty.jsonl"
    table.write_bytes(b"")
    assert run("kb", "build", table, "--format", "jsonl", "-o", tmp_path / "empty.kb").code == 0
    assert run("kb", "info", tmp_path / "empty.kb", "--json").json["entities"] == 0
    assert run("link", tmp_path / "empty.kb", text_file).json["links"] == []
    assert run("kb", "search", tmp_path / "empty.kb", "Sun").code == 0


def test_an_empty_text(run, toy):
    assert run("link", toy, stdin=b"").json == {"id": "<stdin>", "text": "", "links": []}


def test_explain(run, toy, text_file):
    told = run("link", toy, text_file, "--explain", "--json").json
    outcomes = {span["text"]: (span["outcome"], span["entity"]) for span in told["spans"]}
    assert outcomes["Mercury"] == ("linked", "mercury-planet")
    shown = run("link", toy, text_file, "--explain").out
    assert shown.startswith(f"document {text_file}\n'Mercury' at 0:7: linked → Mercury (planet) (mercury-planet)\n")


def test_explain_keeps_offsets_of_markup_and_turns(run, toy):
    marked = run("link", toy, "--input", "html", "--explain", "--json", stdin=b"<i>the</i> <b>Sun</b>").json
    assert [(span["start"], span["end"]) for span in marked["spans"]] == [(14, 17)]
    row = json.dumps({"turns": [{"text": "Hello"}, {"text": "the Sun"}]}).encode()
    talk = run("link", toy, "--explain", "--json", stdin=row).json
    assert [(span["turn"], span["start"], span["end"]) for span in talk["spans"]] == [(1, 4, 7)]


@pytest.mark.parametrize("words", [("--view", "--json"), ("--view", "--explain"), ("--explain", "-o", "x.jsonl")])
def test_options_that_do_not_go_together(run, toy, text_file, words):
    done = run("link", toy, text_file, *words)
    assert (done.code, done.out) == (2, "")
    assert "do not go together" in done.err


def test_a_text_that_looks_like_documents(run, toy, tmp_path):
    assert "--input text" in run("link", toy, stdin=b"{not json").err
    named = tmp_path / "a.jsonl"
    named.write_bytes(b"{not json")
    for done in (run("link", toy, named), run("link", toy, stdin=b'{"text": "Sun"}\n{not json')):
        assert done.code == 3
        assert "--input text" not in done.err


def test_a_type_that_nothing_has(run, toy, text_file):
    done = run("link", toy, text_file, "--type", "Plannet", "--type", "star")
    assert (done.code, done.notes) == (0, "entlink: no entity has the type 'Plannet'; there is 'planet'\n")
    assert run("kb", "search", toy, "Sun", "--type", "zzz").err == "entlink: no entity has the type 'zzz'\n"


def test_a_name_across_turns_is_told_with_both(run, own):
    assert run("kb", "add", own, "--id", "ab", "--title", "Able Baker").code == 0
    row = json.dumps({"turns": [{"text": "Is it Able"}, {"text": "Baker then"}]}).encode()
    words = ("link", own, "--config", "lexical", "--explain")
    (span,) = run(*words, "--json", stdin=row).json["spans"]
    assert (span["turn"], span["start"], span["end_turn"], span["end"]) == (0, 6, 1, 5)
    assert " at 6 of turn 0 to 5 of turn 1: rejected\n" in run(*words, stdin=row).out


TALK = {
    "id": "c",
    "turns": [
        {"speaker": "SYSTEM", "text": "That is quicksilver."},
        {"speaker": "User", "text": "And Mercury?"},
        {"text": "The Sun"},
    ],
}


def test_only_the_turns_of_some_speakers(run, toy):
    row = json.dumps(TALK).encode()
    lexical = ("link", toy, "--config", "lexical")
    document = run(*lexical, "--turns", "USER", stdin=row).json
    assert [(link["turn"], link["start"], link["entity"]) for link in document["links"]] == [
        (1, 4, "mercury-element")
    ]
    assert document["turns"] == TALK["turns"]
    both = run(*lexical, "--turns", "user", "--turns", "system", stdin=row).json
    assert [link["turn"] for link in both["links"]] == [0, 1]
    told = run(*lexical, "--turns", "user", "--explain", "--json", stdin=row).json
    assert [(span["turn"], span["text"], span["entity"]) for span in told["spans"]] == [
        (1, "Mercury", "mercury-element")
    ]


def test_a_speaker_who_says_nothing_is_told(run, toy):
    done = run("link", toy, "--turns", "usr", "--turns", "User", stdin=json.dumps(TALK).encode())
    assert (done.code, done.notes) == (0, "entlink: no turn is of 'usr'; there are turns of 'SYSTEM', 'User'\n")
    nobody = run("link", toy, "--turns", "user", stdin=b'{"turns": [{"text": "The Sun"}]}')
    assert (nobody.json["links"], nobody.notes) == ([], "entlink: no turn is of 'user'; no turn has a speaker\n")


def test_turns_need_conversations(run, toy, text_file):
    done = run("link", toy, text_file, "--turns", "user")
    assert (done.code, done.out) == (2, "")
    assert "--turns needs conversations" in done.err


def test_times_that_go_backwards_are_told(run, toy):
    row = {"id": "c", "turns": [{"text": "The Sun", "time": "2020-01-02"}, {"text": "NASA", "time": "2020-01-01"}]}
    done = run("link", toy, stdin=json.dumps(row).encode())
    assert len(done.json["links"]) == 2
    assert "entlink: warning: 'c': turn 1 is of 2020-01-01, before turn 0 of 2020-01-02" in done.err


def test_a_conversation_can_be_linked_as_a_whole(run, toy, tmp_path):
    config = tmp_path / "whole.toml"
    config.write_text("[conversation]\nas_whole = true\n")
    row = json.dumps(TALK).encode()
    parts = run("link", toy, "--config", "lexical", stdin=row).json
    assert [link["entity"] for link in parts["links"]][:2] == ["mercury-element"] * 2
    whole = run("link", toy, "--config", config, stdin=row).json
    assert [link["entity"] for link in whole["links"]] == ["mercury-element", "mercury-planet", "sun"]
