"""Finding commands, help, version and exit codes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from entlink.version import __version__
from entlink_cli import load_command
from entlink_cli.catalogue import CATALOGUE, EXIT_CODES, GROUPS


def python(*words, **settings):
    return subprocess.run([sys.executable, *words], capture_output=True, timeout=60, **settings)


def test_the_module_runs():
    done = python("-m", "entlink", "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(b"usage: entlink ")
    assert done.stderr == b""


def test_help_imports_no_library():
    code = "import sys; sys.argv[1:] = ['--help']; from entlink_cli import main; main(); print(*sys.modules)"
    modules = python("-c", code).stdout.decode().splitlines()[-1].split()
    slow = {"entlink", "rich", "msgspec", "pathlib", "duckdb", "shutil", "sqlite3", "logging", "typing"}
    assert "argparse" in modules
    assert slow.isdisjoint(modules)


def test_version(run):
    done = run("--version")
    assert (done.code, done.out) == (0, f"entlink {__version__}\n")


def test_help_tells_commands_and_exit_codes(run):
    done = run("--help")
    assert done.code == 0
    for name in [*(name for name in CATALOGUE if " " not in name), *GROUPS]:
        assert f"\n    {name} " in done.out
    for code, meaning in EXIT_CODES.items():
        assert f"{code:<4} {meaning}" in done.out


def test_help_of_every_command_ends_with_its_examples(run):
    for name in CATALOGUE:
        done = run(*name.split(), "--help")
        assert done.code == 0, name
        assert done.out.startswith(f"usage: entlink {name} ")
        examples = "\n  ".join(["Examples:", *load_command(name).examples])
        assert done.out.rstrip().endswith(examples), name


def test_group_help_lists_its_commands(run):
    done = run("kb", "--help")
    assert done.code == 0
    for name in CATALOGUE:
        if name.startswith("kb "):
            assert f"\n    {name[3:]} " in done.out


@pytest.mark.parametrize("words", [(), ("kb",)])
def test_without_a_command_help_goes_to_stderr(run, words):
    done = run(*words)
    assert (done.code, done.out) == (2, "")
    assert "commands:" in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["lnk"], "no command 'lnk'; did you mean 'link'?"),
        (["kb", "serch"], "no command 'kb serch'; did you mean 'kb search'?"),
        (["--fast"], "unrecognized arguments: --fast"),
        (["link"], "required: NAME.kb"),
        (["link", "x.kb", "y", "z"], "unrecognized arguments: z"),
        (["kb", "build", "x.csv"], "required: -o/--output"),
        (["link", "x.kb", "--min-score", "2"], "'2' is not a number from 0 to 1"),
        (["link", "x.kb", "--min-score", "nan"], "'nan' is not a number from 0 to 1"),
        (["link", "x.kb", "--as-of", "yesterday"], "'yesterday' is not an ISO date"),
        (["link", "x.kb", "--as-of", "2020-02-30"], "'2020-02-30' is not an ISO date"),
        (["kb", "search", "x.kb", "y", "--limit", "0"], "'0' is not a whole number from 1 on"),
        (["kb", "search", "x.kb", "y", "--lim", "3"], "unrecognized arguments: --lim 3"),
        (["kb", "build", "a", "-o", "b.kb", "--memory", "1'; DROP"], "is not an amount of memory"),
        (["kb", "build", "a", "-o", "b.kb", "--columns", "sku"], "'sku' is not of the form FIELD=COLUMN"),
        (["kb", "add", "x.kb", "--weight", "-1"], "'-1' is not a whole number from 0 on"),
        (["kb", "add", "x.kb", "--external", "Q42"], "'Q42' is not of the form NAME=VALUE"),
        (["kb", "search", "x.kb", "\udcff"], "is not valid UTF-8"),
        (["explain", "x.kb", "text", "--span", "4"], "'4' is not a span such as 4:9"),
        (["explain", "x.kb", "text", "--span", "0:4", "--surface", "text"], "not allowed with argument"),
    ],
)
def test_wrong_usage_is_one_line(run, words, told):
    done = run(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("entlink: error: ")
    assert told in done.err
    assert done.err.count("\n") == 1


def test_options_may_stand_between_arguments(run, toy, text_file):
    done = run("link", "--json", toy, "--type", "star", text_file)
    assert [link["entity"] for link in done.json["links"]] == ["sun"]


def test_after_two_dashes_everything_is_an_argument(run, toy):
    done = run("explain", toy, "--json", "--", "--Sun--")
    assert [span["text"] for span in done.json["spans"]] == ["Sun"]


def test_stages(run):
    assert run("stages", "--json").json["detector"] == [
        *("dictionary", "given", "joint", "learned", "names", "spacy", "token-classifier")
    ]
    assert "retriever  alias, bm25, dense, edit-distance" in run("stages").out


def test_what_a_stage_declares(run):
    told = run("stages", "cross-encoder").out
    assert "needs     the extra retrieval and a model of entlink train cross-encoder" in told
    assert "gives     cross" in told
    assert "top       int, default 10" in told
    evidence, ranker = run("stages", "cross-encoder", "--json").json
    assert (evidence["kind"], ranker["kind"], evidence["gives"]) == ("evidence", "ranker", ["cross"])
    assert evidence["settings"][0] == {"name": "model", "type": "str | Path | PairScorer", "required": True}
    assert "did you mean 'dense'" in run("stages", "dens").err
