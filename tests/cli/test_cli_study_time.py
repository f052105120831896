"""`entlink study time` as a user meets it."""

from __future__ import annotations

import csv

import pytest

for module in ("torch", "transformers", "onnx", "onnxruntime", "tokenizers", "safetensors"):
    pytest.importorskip(module)

from temporal_world import write_dataset  # noqa: E402
from tiny_training import make_base  # noqa: E402

TINY = (
    *("--set", "training.batch=8", "--set", "training.learning_rate=2e-3", "--set", 'training.precision="fp32"'),
    *("--steps", "3", "--tokens", "24", "--rounds", "20"),
)


@pytest.fixture(autouse=True)
def no_models(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path_factory.mktemp("models")))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("temporal") / "tiny")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_base(tmp_path_factory.mktemp("base") / "tiny")


def test_a_study_and_what_it_leaves(run, data, base, tmp_path):
    out = tmp_path / "time"
    words = ("study", "time", data, "--base", base, *TINY, "--k", "4,1", "--linker", "names=lexical", "-o", out)
    ran = run(*words)
    assert ran.code == 0
    assert "3 snapshots: 16 distinct texts of entities for 4 encoders, 9 steps of training: about " in ran.err
    for told in (
        "tiny: 3 snapshots; entlink 0.",
        "Accuracy@1 on continual entities",
        "Accuracy@4 on new entities",
        "continual: 62 mentions of ",
        "published: TempEL",
        "names, 2022-01-01 after 2021-01-01: 2 new entities, 3 mentions of ",
        "report.html: the page; beside it study.json, figures.csv, tables.tex",
    ):
        assert told in ran.out
    with (out / "figures.csv").open(encoding="utf8", newline="") as file:
        rows = {tuple(row.values())[:4]: float(row["value"]) for row in csv.DictReader(file)}
    assert rows["matrix", "names", "continual 2020-01-01", "mentions"] == 20
    assert rows["table 5", "bi-encoder trained on 2013", "continual 2014", "accuracy@1"] == 0.219
    again = run(*words, "--json", "--quiet")
    assert again.err == ""
    assert [one["date"][:4] for one in again.json["snapshots"]] == ["2020", "2021", "2022"]
    assert again.json["command"].startswith("entlink study time ")


def test_without_training_no_model_is_wanted(run, data, tmp_path):
    ran = run(
        *("study", "time", data, "--no-training", "--no-emerging", "--linker", "names=lexical", "--k", "4"),
        *("--snapshots", "2020-01-01,2021-01-01", "-o", tmp_path / "time"),
    )
    assert ran.code == 0
    assert "note: plain encoder has no scores: " in ran.out
    assert "minutes" not in ran.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--k", "0"), 2, "'0' are not whole numbers from 1 on such as 1,8,64"),
        (("--steps", "5", "--minutes-per-snapshot", "3"), 2, "not allowed with"),
        (("--snapshots", "1999"), 3, "it has no snapshot 1999. It has 2020-01-01, 2021-01-01, 2022-01-01"),
        (("--categories", "none.toml"), 3, "none.toml: cannot be read"),
        (("--preset", "cross-encoder"), 3, "it trains a cross-encoder"),
        (("--linker", "names=none"), 3, "none: no such file"),
    ],
)
def test_what_is_wrong_is_told_before_any_work(run, data, tmp_path, words, code, told):
    ran = run("study", "time", data, *words, "-o", tmp_path / "time")
    assert ran.code == code
    assert told in ran.err
    assert not (tmp_path / "time").exists()
