"""Progress bars, aligned columns and words for numbers."""

from __future__ import annotations

import io
import os
import sys
import threading

import pytest

from entlink_cli.terminal.output import columns, number_of, one_line, printable, size, width
from entlink_cli.terminal.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def reported(monkeypatch, stream, **settings):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with progress(**settings) as report:
        report("reading", 1, 2)
        report("sorting", 0, 0)
        report("sorting", 3, 3)
    return stream.getvalue()


def test_a_terminal_gets_a_bar(monkeypatch):
    drawn = reported(monkeypatch, Terminal())
    assert "sorting" in drawn
    assert "100%" in drawn


def test_what_changes_meanwhile_does_not_begin_the_bar_anew(monkeypatch):
    from rich.progress import Progress

    begun = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    add_task = Progress.add_task
    monkeypatch.setattr(
        Progress, "add_task", lambda self, stage, **named: begun.append(stage) or add_task(self, stage, **named)
    )
    with progress() as report:
        for step in range(1, 4):
            report(f"training, loss {1 / step:.2f}", step, 9)
        report("writing", 0, 0)
    assert begun == ["training, loss 1.00", "writing"]


def test_the_time_that_is_left_is_told(monkeypatch):
    from rich.console import Console
    from rich.progress import Progress

    from entlink_cli.terminal.progress import _make_bar

    seconds = iter(range(1_000))
    bar = _make_bar()
    monkeypatch.setattr(bar, "get_time", lambda: float(next(seconds)))
    task = bar.add_task("training", total=100)
    for step in range(1, 11):
        bar.update(task, completed=step)
    console = Console(file=io.StringIO(), width=120)
    console.print(Progress.get_renderable(bar))
    drawn = console.file.getvalue()
    assert "10%" in drawn
    assert "left 0:0" in drawn


def test_no_bar_where_nobody_looks_or_before_its_time(monkeypatch):
    assert reported(monkeypatch, io.StringIO()) == ""
    assert reported(monkeypatch, Terminal(), quiet=True) == ""
    assert reported(monkeypatch, Terminal(), patience=60.0) == ""


def test_the_bar_goes_also_when_the_work_fails(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")

    def fail():
        with progress() as report:
            report("reading", 1, 2)
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert stream.getvalue().endswith("\x1b[?25h\r\x1b[1A\x1b[2K")


def test_columns_are_aligned_also_in_chinese():
    assert columns([("a", "b", "c"), ("北京", "x", "long enough"), ()], "> ") == [
        "> a     b  c",
        "> 北京  x  long enough",
        "> ",
    ]
    assert columns([]) == []
    assert width("e\u0301") == 1


def test_words():
    assert [size(count) for count in (0, 999, 1_234, 56_789, 10**7, 2 * 10**9)] == [
        "0 bytes",
        "999 bytes",
        "1.2 kB",
        "57 kB",
        "10 MB",
        "2.0 GB",
    ]
    assert number_of(1, "entity", "entities") == "1 entity"
    assert number_of(2000, "link") == "2,000 links"
    assert one_line("a\n b" + "c" * 9, 6) == "a bcc…"
    assert printable("a\tb\x1b\r\n") == "a\tb␛ \n"


def test_a_pipe_is_read_once(run, toy, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b'{"text": "The Sun"}\n',))
    writer.start()
    done = run("link", toy, pipe)
    writer.join()
    assert [link["entity"] for link in done.json["links"]] == ["sun"]
