"""`entlink chat`, from a pipe and on a terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time

import pytest

from entlink_cli import main

_CODE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def test_each_line_is_a_turn_linked_with_what_came_before(run, toy):
    done = run(
        "chat",
        toy,
        "--config",
        "lexical",
        "--speaker",
        "ann",
        stdin="It is quicksilver.\n\nMercury? 😀\r\nBye".encode(),
    )
    assert (done.code, done.err) == (0, "")
    assert "ann: It is [quicksilver].\n\n  quicksilver → Mercury (element) (mercury-element) 1.00\n" in done.out
    assert "ann: [Mercury]? 😀\n\n  Mercury → Mercury (element) (mercury-element) 0.67\n" in done.out
    assert done.out.endswith("ann: Bye\n")


def test_forgetting_begins_anew(run, toy):
    done = run("chat", toy, "--config", "lexical", stdin=b"It is quicksilver.\n/forget\nMercury?\n")
    assert "  Mercury → Mercury (planet) (mercury-planet)" in done.out
    assert done.err == "entlink: what was said before no longer counts\n"


def test_quitting_ends_it(run, toy):
    done = run("chat", toy, stdin=b"The Sun\n/quit\nNASA\n")
    assert done.code == 0
    assert "[Sun]" in done.out
    assert "NASA" not in done.out


def test_another_speaker(run, toy):
    done = run("chat", toy, stdin=b"The Sun\n/as ben\nNASA\n/as\n")
    assert "you: The [Sun]\n" in done.out
    assert "ben: [NASA]\n" in done.out
    assert "now 'ben' speaks" in done.err


def test_why(run, toy):
    words = b"/why Sun\nIt is quicksilver.\nMercury, the Mercury.\n/why Mercury\n/why quick\n/why Venus\n/why\n"
    done = run("chat", toy, "--config", "lexical", stdin=words)
    assert done.err.splitlines() == [
        "entlink: nothing was said yet",
        "entlink: 'Venus' was not said; case counts here",
    ]
    assert "'Mercury' at 0:7 of turn 0: linked → Mercury (element) (mercury-element)\n" in done.out
    assert re.search(r"mercury-element +Mercury \(element\) +prior 0.\d+, support \d+, tier 0, recent 1\n", done.out)
    assert "'quick' at 6:11 of turn 0: not in the dictionary\n" in done.out
    assert done.out.count("'Mercury' at 13:20") == 1  # of all names of the last turn


def test_a_command_that_is_none(run, toy):
    done = run("chat", toy, stdin=b"/wy Sun\n /wy Sun\n/help\n1/2 of the Sun and /etc\n")
    assert done.notes == "entlink: there is no /wy; did you mean '/why'?. A space before it makes it a turn\n"
    assert "you:  /wy [Sun]\n" in done.out
    assert "/why SURFACE" in done.out
    assert "you: 1/2 of the [Sun] and /etc\n" in done.out


def test_a_line_that_is_no_text(run, toy):
    done = run("chat", toy, stdin=b"\xef\xbb\xbfThe Sun\nNASA \xe9\n")
    assert done.code == 3
    assert "you: The [Sun]\n" in done.out
    assert "<stdin>, line 2: byte 5 of the line, 0xe9, is not valid UTF-8" in done.err


def test_a_very_long_line(run, toy):
    done = run("chat", toy, stdin=b"The Sun and no more. " * 5000 + b"\nNASA\n")
    assert done.code == 0
    assert done.out.count("[Sun]") == 5000


def test_options_of_linking_hold(run, toy):
    assert "[Sun]" not in run("chat", toy, "--type", "agency", stdin=b"The Sun of NASA\n").out
    assert run("chat", toy / "none", stdin=b"").code == 4


def _have_a_terminal():
    """So that Ctrl-C reaches the process; whoever runs the tests may ignore it, and that would be inherited."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def stopping_once(monkeypatch):
    """As if Ctrl-C were pressed while the first turn is linked."""
    from entlink.mentions.names import NamesDetector

    detect, stops = NamesDetector.detect, [True]

    def stopping(detector, documents):
        if stops and stops.pop():
            raise KeyboardInterrupt
        return detect(detector, documents)

    monkeypatch.setattr(NamesDetector, "detect", stopping)


@pytest.mark.usefixtures("stopping_once")
def test_ctrl_c_while_a_turn_is_linked_leaves_it_out(toy, monkeypatch, capsys):
    lines = iter(["It is quicksilver.", "Is it NASA?"])

    def typed(prompt):
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", typed)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert main(["chat", str(toy)]) == 0
    shown = capsys.readouterr()
    assert "this turn was left out" in shown.err
    assert "interrupted" in shown.err
    assert "NASA" in shown.out


@pytest.mark.usefixtures("stopping_once")
def test_ctrl_c_ends_what_comes_from_a_pipe(run, toy):
    done = run("chat", toy, stdin=b"The Sun\nNASA\n")
    assert (done.code, done.out) == (130, "")


class Terminal:
    """A chat in a terminal of its own: keys in, what is shown out."""

    def __init__(self, *words):
        self.ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "dumb", "COLUMNS": "80"}
        command = [sys.executable, "-m", "entlink", "chat", *map(str, words)]
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
            preexec_fn=_have_a_terminal,
        )
        os.close(theirs)
        self.shown = ""

    def wait_for(self, text, again=""):
        """Read until the text is shown; `again` is typed each second until then."""
        end = time.monotonic() + 60
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            if select.select([self.ours], [], [], 1)[0]:
                self.shown += _CODE.sub("", os.read(self.ours, 65536).decode())
            else:
                os.write(self.ours, again.encode())

    def type(self, keys, then):
        self.shown = ""
        os.write(self.ours, keys.encode())
        self.wait_for(then)

    def end(self):
        code = self.process.wait(60)
        os.close(self.ours)
        return code


@pytest.fixture
def terminal(toy):
    chats = []

    def terminal(*words):
        chats.append(Terminal(toy, "--config", "lexical", *words))
        chats[-1].wait_for("> ")
        return chats[-1]

    yield terminal
    for chat in chats:
        if chat.process.poll() is None:
            chat.process.kill()
            chat.end()


def test_a_terminal_is_asked_and_ctrl_d_leaves(terminal):
    chat = terminal("--speaker", "ann")
    assert "/help tells the rest" in chat.shown
    chat.type("The Sun\n", "  Sun → Sun (sun) 1.00")
    chat.wait_for("ann> ")
    os.write(chat.ours, b"\x04")
    assert chat.end() == 0


def test_ctrl_c_drops_the_line_and_the_chat_goes_on(terminal):
    chat = terminal()
    os.write(chat.ours, b"NASA\x03")
    # A Ctrl-C between the prompt and the reading of the line is noticed at the next key only.
    chat.wait_for("Ctrl-D or /quit leaves", again="\x03")
    chat.wait_for("you> ")
    chat.type("The Sun\n", "  Sun → Sun (sun) 1.00")
    assert "NASA" not in chat.shown
    os.write(chat.ours, b"/quit\n")
    assert chat.end() == 0
