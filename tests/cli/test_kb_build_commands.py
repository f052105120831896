"""`entlink kb build`, `index`, `merge`, `export` and `upgrade` end to end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from entlink.io.atomic import write_lock
from entlink.kb.build.from_sources import SUFFIX
from entlink.sources import FORMATS
from entlink_cli import options

PEOPLE = [{"id": 1, "name": "Ann Able", "type": "person"}, {"id": 2, "name": "Bob Baker", "type": "person"}]


@pytest.fixture
def people(tmp_path, write_lines):
    return write_lines(tmp_path / "people.jsonl", PEOPLE)


def test_build_tells_what_it_made_and_what_to_try(run, articles, tmp_path):
    target = tmp_path / "a.kb"
    done = run("kb", "build", articles, "-o", target)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{target} built in ")
    assert "  entities  6\n" in done.out
    assert "  links     10 to entities, 1 to none\n" in done.out
    assert f"  entlink link {target} FILE" in done.out
    assert run("kb", "info", target, "--json").json["command"] == f"entlink kb build {articles} -o {target}"


def test_build_as_json_and_quietly(run, people, tmp_path):
    manifest = run("kb", "build", people, "-o", tmp_path / "a.kb", "--json").json
    assert (manifest["entities"], manifest["sources"][0]["name"]) == (2, "people.jsonl")
    assert run("kb", "build", people, "-o", tmp_path / "b.kb", "--quiet").out == ""


def test_build_with_named_columns(run, tmp_path):
    table = tmp_path / "goods.csv"
    table.write_text("sku,name,brand\nA1,Lamp,Acorn\n")
    words = ["--columns", "id=sku,title=name,aliases=brand", "--language", "en", "--no-text-counts"]
    assert run("kb", "build", table, "-o", tmp_path / "goods.kb", *words).code == 0
    shown = run("kb", "show", tmp_path / "goods.kb", "A1", "--json").json
    assert shown["entity"] == {"id": "A1", "title": "Lamp", "aliases": ["Acorn"], "language": "en"}


def test_build_skips_and_tells(run, tmp_path, write_lines):
    rows = [*PEOPLE, *({"id": number} for number in range(10, 17))]
    table = write_lines(tmp_path / "bad.jsonl", rows)
    stopped = run("kb", "build", table, "-o", tmp_path / "a.kb")
    assert stopped.code == 3
    assert f"{table}, line 3" in stopped.err
    done = run("kb", "build", table, "-o", tmp_path / "a.kb", "--on-error", "skip")
    assert done.code == 0
    assert "  skipped   7 records\n" in done.out
    assert done.out.count(f"    {table}, line ") == 5


def test_build_does_not_overwrite_unasked(run, people, tmp_path):
    target = tmp_path / "a.kb"
    assert run("kb", "build", people, "-o", target).code == 0
    again = run("kb", "build", people, "-o", target)
    assert (again.code, "is there already. --replace" in again.err) == (4, True)
    assert run("kb", "build", people, "-o", target, "--replace").code == 0


def test_build_of_bad_names(run, people, tmp_path):
    assert run("kb", "build", people, "-o", tmp_path / "a").code == 3
    unknown = run("kb", "build", people, "-o", tmp_path / "a.kb", "--format", "jsnl")
    assert (unknown.code, "Did you mean 'jsonl'" in unknown.err) == (3, True)
    assert run("kb", "build", tmp_path / "none.csv", "-o", tmp_path / "a.kb").code in (3, 4)


def test_a_killed_build_goes_on(run, tmp_path, write_lines):
    rows = ({"id": number, "title": f"Name {number} of {number % 97}"} for number in range(25_000))
    table = write_lines(tmp_path / "many.jsonl", rows)
    target = tmp_path / "many.kb"
    words = ["kb", "build", str(table), "-o", str(target), "--processes", "1"]
    process = subprocess.Popen([sys.executable, "-m", "entlink", *words], stderr=subprocess.PIPE)
    read = target.with_name(target.name + SUFFIX) / "staging" / "parts" / "part-000000"
    deadline = time.monotonic() + 30
    while not read.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    leftovers = f"{target}{SUFFIX} keeps what was done: run the command again to go on from there, or remove it"
    assert told.decode() == f"entlink: interrupted\nentlink: {leftovers}\n"
    done = run(*words)
    assert (done.code, done.err) == (0, "entlink: resuming the build that was interrupted\n")
    assert "  entities  25,000\n" in done.out


def test_a_build_that_fails_tells_of_what_it_leaves(run, people, tmp_path, write_lines):
    bad, target = write_lines(tmp_path / "bad.jsonl", [*PEOPLE, {"id": 3}]), tmp_path / "a.kb"
    told = f"entlink: {target}{SUFFIX} keeps what was done: run the command again to go on from there, or remove it\n"
    stopped = run("kb", "build", bad, "-o", target)
    assert (stopped.code, stopped.err.endswith(told)) == (3, True)
    with write_lock(target.with_name(target.name + SUFFIX)):
        assert "or remove it" not in run("kb", "build", bad, "-o", target).err  # another one is at work there
    assert run("kb", "build", people, "-o", target).code == 0
    assert "or remove it" not in run("kb", "build", bad, "-o", target).err  # nothing was begun
    one, both = tmp_path / "one.kb", tmp_path / "both.kb"
    run("kb", "build", write_lines(tmp_path / "one.jsonl", [{"id": 1, "title": "Eve"}]), "-o", one)
    assert run("kb", "merge", target, one, "-o", both).err.endswith("which begins anew, or remove it\n")


@pytest.mark.parametrize("content", ["", "id,title\n", "id,title\n,x\n,y\n", "id,title\n1,\n"])
def test_a_source_without_entities_replaces_nothing(run, own, tmp_path, content):
    source, before = tmp_path / "empty.csv", run("kb", "export", own, "-o", "-").out
    source.write_text(content)
    words = ["kb", "build", source, "--on-error", "skip", "-o"]
    stopped = run(*words, own, "--replace")
    assert stopped.code == 3
    assert "error: no entity was found in empty.csv" in stopped.err
    assert f"{own} stays as it was. Check the sources and their format\n" in stopped.err
    assert run("kb", "export", own, "-o", "-").out == before
    other = run(*words, tmp_path / "new.kb")
    if len(content) > len("id,title\n"):
        assert (other.code, f"the first: {source}, line 2: column" in other.err) == (3, True)
    else:
        assert other.code == 0
        assert "warning: no entity was found in empty.csv, so " in other.err
    assert list(tmp_path.glob(f"*{SUFFIX}")) == []


def test_a_merge_of_nothing_replaces_nothing(run, own, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    empty = [tmp_path / "a.kb", tmp_path / "b.kb"]
    assert [run("kb", "build", tmp_path / "empty.csv", "-o", kb).code for kb in empty] == [0, 0]
    stopped = run("kb", "merge", *empty, "-o", own, "--replace")
    assert (stopped.code, f"no entity was found in a.kb, b.kb. {own} stays as it was" in stopped.err) == (3, True)
    assert run("kb", "show", own, "sun").code == 0


def test_index_folds_edits_in(run, own):
    assert run("kb", "add", own, "--id", "moon", "--title", "Moon").code == 0
    assert run("kb", "info", own, "--json").json["pending_edits"] == 1
    done = run("kb", "index", own)
    assert (done.code, done.out.endswith(" names indexed\n")) == (0, True)
    assert run("kb", "info", own, "--json", "--verify").json["pending_edits"] == 0
    assert run("link", own, stdin=b"The Moon").json["links"][0]["entity"] == "moon"


def test_merge(run, toy, people, tmp_path):
    other, out = tmp_path / "people.kb", tmp_path / "both.kb"
    run("kb", "build", people, "-o", other)
    done = run("kb", "merge", toy, other, "-o", out)
    assert done.code == 0
    assert "  entities  8\n" in done.out
    assert run("kb", "show", out, "Ann Able").code == run("kb", "show", out, "Sun").code == 0
    assert run("kb", "info", out, "--verify").code == 0


def test_merge_with_a_conflict(run, toy, tmp_path, write_lines):
    other, out = tmp_path / "other.kb", tmp_path / "both.kb"
    run("kb", "build", write_lines(tmp_path / "one.jsonl", [{"id": "sun", "title": "The Sun (paper)"}]), "-o", other)
    stopped = run("kb", "merge", toy, other, "-o", out)
    assert (stopped.code, "--on-conflict first or last" in stopped.err) == (3, True)
    assert f"'Sun' in {toy} and 'The Sun (paper)' in {other}; what differs: title, description, types." in stopped.err
    assert run("kb", "merge", toy, other, "-o", out, "--on-conflict", "last", "--json").json["entities"] == 6
    assert run("kb", "show", out, "sun", "--json").json["entity"]["title"] == "The Sun (paper)"
    assert run("kb", "merge", toy, "-o", out).code == 2
    twice = run("kb", "merge", toy, f"{toy}/../{toy.name}", "-o", out, "--replace")
    assert (twice.code, "is given twice" in twice.err) == (3, True)


def test_merge_by_title(run, tmp_path, write_lines):
    film = {"id": "1", "title": "Film", "description": "A film, or movie, is a story."}
    movie = {"id": "1", "title": "Movie", "description": "A movie, also called a film, is a story."}
    ant = {"id": "2", "title": "Ant"}
    kbs, out = [tmp_path / "a.kb", tmp_path / "b.kb"], tmp_path / "both.kb"
    for kb, rows in zip(kbs, ([movie, ant], [film, {**ant, "title": "Bee"}]), strict=True):
        run("kb", "build", write_lines(kb.with_suffix(".jsonl"), rows), "-o", kb)
    done = run("kb", "merge", *kbs, "-o", out, "--by", "title")
    assert done.code == 0
    assert "0 by title, 0 by redirect, 1 by openings; 1 got a new id\n" in done.out
    assert run("kb", "show", out, "Film", "--json").json["entity"]["title"] == "Movie"
    assert run("kb", "show", out, "b:2", "--json").json["entity"]["title"] == "Bee"
    refused = run("kb", "merge", *kbs, "-o", out, "--replace", "--by", "title", "--on-conflict", "last")
    assert (refused.code, "merge by id" in refused.err) == (3, True)


def test_names_in_openings(run, tmp_path, write_lines):
    rows = [{"id": "1", "title": "Coriander", "description": "Coriander, also known as cilantro, is a herb."}]
    source = write_lines(tmp_path / "a.jsonl", rows)
    built = run("kb", "build", source, "-o", tmp_path / "a.kb")
    assert "in openings  1 name, of which 1 redirect\n" in built.out
    assert "in openings     1 name, of which 1 redirect\n" in run("kb", "info", tmp_path / "a.kb").out
    assert run("kb", "show", tmp_path / "a.kb", "Cilantro", "--json").json["entity"]["id"] == "1"
    plain = run("kb", "build", source, "-o", tmp_path / "plain.kb", "--no-names-in-openings")
    assert "in openings" not in plain.out
    assert run("kb", "show", tmp_path / "plain.kb", "Cilantro").code == 4


def test_export_can_be_built_again(run, toy, tmp_path):
    lines = tmp_path / "out.jsonl"
    done = run("kb", "export", toy, "-o", lines)
    assert (done.code, done.out) == (0, f"{lines}: 7 lines written\n")
    rows = [json.loads(line) for line in lines.read_text(encoding="utf8").splitlines()]
    assert [row["title"] for row in rows if row["id"] == "iran"] == ["Persia", "Iran"]
    assert run("kb", "build", lines, "-o", tmp_path / "again.kb").code == 0
    assert run("link", tmp_path / "again.kb", "--as-of", "1900", stdin=b"Persia").json["links"] != []


def test_export_to_stdout(run, toy):
    done = run("kb", "export", toy, "-o", "-")
    assert (done.code, done.err, len(done.lines)) == (0, "", 7)


def test_export_where_no_file_can_be(run, toy, tmp_path):
    assert run("kb", "export", toy, "-o", tmp_path / "none" / "out.jsonl").code == 3
    assert run("kb", "export", toy, "-o", tmp_path).code == 3
    device = run("kb", "export", toy, "-o", "/dev/null")
    assert (device.code, "not a file that can be replaced" in device.err) == (3, True)


def test_upgrade_of_what_is_current(run, own):
    done = run("kb", "upgrade", own)
    assert (done.code, done.out.endswith(" is current\n")) == (0, True)


def test_a_build_that_read_nothing_is_not_resumed(run, tmp_path):
    table = tmp_path / "goods.csv"
    table.write_text("sku,name\nA1,Lamp\n")
    words = ["kb", "build", table, "-o", tmp_path / "goods.kb"]
    first, second = run(*words), run(*words)
    assert first.code == second.code == 3
    assert "--columns on the command line" in second.err
    done = run(*words, "--columns", "id=sku")
    assert (done.code, done.err) == (0, "")


def test_help_lists_the_formats():
    assert tuple(FORMATS) == options.FORMATS
