"""What goes wrong becomes one line and an exit code."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from entlink.errors import DamagedError, EntlinkError, InputError, LockedError, MissingExtraError
from entlink.io.atomic import write_lock
from entlink_cli import main
from entlink_cli.failures import report

LINKING = b"entlink: linking with "


@pytest.mark.parametrize(
    ("problem", "code", "told"),
    [
        (EntlinkError("it broke"), 1, "error: it broke"),
        (InputError("bad"), 3, "error: bad"),
        (DamagedError("cut off"), 4, "error: cut off"),
        (LockedError("busy"), 5, "error: busy"),
        (MissingExtraError("this", "rdf"), 6, "pip install 'entlink[rdf]'"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (RuntimeError("Query interrupted"), 130, "interrupted"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x.kb"), 1, "x.kb: no space left on device. Make room"),
        (PermissionError(errno.EACCES, "Permission denied", "x.kb"), 3, "error: x.kb: permission denied"),
        (FileNotFoundError(errno.ENOENT, "No such file", "x"), 3, "error: x: no such file. Check the path"),
        (OSError(errno.EIO, "Input/output error"), 1, "error: input/output error"),
        (sqlite3.DatabaseError("malformed"), 4, "cannot be read on (malformed)"),
        (MemoryError(), 1, "out of memory"),
        (ValueError("odd"), 1, "ValueError: odd. ENTLINK_DEBUG=1 shows where"),
    ],
)
def test_each_problem_has_a_line_and_a_code(capsys, problem, code, told):
    assert report(problem) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("entlink: ")
    assert told in err
    assert err.count("\n") == 1


def test_debug_shows_where(run, monkeypatch, tmp_path):
    monkeypatch.setenv("ENTLINK_DEBUG", "1")
    done = run("kb", "info", tmp_path / "none.kb")
    assert done.code == 4
    assert "Traceback" in done.err
    assert done.err.splitlines()[-1].startswith("entlink: error: ")


def test_missing_knowledge_base(run, tmp_path):
    for words in (["link"], ["kb", "info"], ["kb", "index"], ["kb", "upgrade"], ["kb", "rules"]):
        done = run(*words, tmp_path / "none.kb", stdin=b"x")
        assert done.code == 4, words
        assert "no knowledge base there" in done.err
    assert not (tmp_path / "none.kb").exists()


def test_knowledge_base_of_a_newer_release(run, own):
    connection = sqlite3.connect(own / "kb.sqlite")
    with connection:
        connection.execute("UPDATE meta SET value = '999' WHERE name = 'store_version'")
    connection.close()
    for words in (["link", own], ["kb", "upgrade", own]):
        done = run(*words, stdin=b"x")
        assert done.code == 4
        assert "made by a newer entlink (store version 999" in done.err


def test_a_file_that_is_no_database(run, tmp_path):
    (tmp_path / "odd.kb").mkdir()
    (tmp_path / "odd.kb" / "kb.sqlite").write_bytes(b"not a database, but long enough to be looked at" * 50)
    done = run("link", tmp_path / "odd.kb", stdin=b"x")
    assert done.code == 4
    assert "is not a knowledge base" in done.err


def test_another_process_is_writing(run, own):
    with write_lock(own):
        done = run("kb", "remove", own, "sun")
    assert done.code == 5
    assert "another process is writing" in done.err


def test_whoever_reads_stops_reading(toy, tmp_path):
    documents = tmp_path / "many.jsonl"
    documents.write_bytes(b'{"text": "Mercury and the Sun"}\n' * 5_000)
    script = f"{sys.executable} -m entlink link {toy} {documents} | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=60)
    first, code = done.stdout.splitlines()
    assert b'"Mercury"' in first
    assert (code, done.stderr.count(b"\n")) == (b"141", 1)
    assert done.stderr.startswith(LINKING)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk(toy, text_file):
    with Path("/dev/full").open("wb") as full:
        words = [sys.executable, "-m", "entlink", "link", str(toy), str(text_file)]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    linking, error = done.stderr.splitlines(keepends=True)
    assert linking.startswith(LINKING)
    assert error == b"entlink: error: no space left on device. Make room and run the command again\n"


def test_a_terminal_that_cannot_show_a_character(toy):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii:strict"}
    words = [sys.executable, "-m", "entlink", "kb", "show", str(toy), "beijing"]
    done = subprocess.run(words, capture_output=True, env=environment, timeout=60)
    assert done.returncode == 0
    assert done.stdout.startswith(rb"\u5317\u4eac (beijing)")


def test_warnings_of_the_library_are_shown_and_handlers_do_not_pile_up(run, own, monkeypatch):
    import logging

    monkeypatch.setattr("entlink.kb.knowledge_base.OVERLAY_CAP", 0)
    assert main(["kb", "remove", str(own), "sun"]) == 0
    for _ in range(2):
        done = run("link", own, stdin=b"The Sun")
        warnings = [line for line in done.err.splitlines() if line.startswith("entlink: warning: ")]
        assert len(warnings) == 1
        assert "run `entlink kb index`" in warnings[0]
    assert logging.getLogger("entlink").handlers == []
