"""Tasks that are not built: what is missing or means nothing, and what was there stays."""

from __future__ import annotations

import pytest

from entlink.datasets.probes import TASKS, ProbeOptions, build_probes
from entlink.errors import ExistsError, InputError, SourceError
from entlink.formats.probes import read_card
from entlink_cli.datasets import probes as command

CLAIM = {"id": 1, "label": "SUPPORTS", "claim": "A heron.", "evidence": [[[1, 1, "Heron", 0]]]}
CLAIMS = [
    {**CLAIM, "id": number, "label": ("SUPPORTS", "REFUTES")[number % 2], "claim": f"A heron {number}."}
    for number in range(20)
]


def test_the_command_knows_every_task():
    assert sorted(command.TASKS) == sorted(TASKS)


@pytest.mark.parametrize(
    ("task", "settings", "message"),
    [
        ("cer", {}, "no probing task 'cer'. Did you mean 'cerp'"),
        ("cerp", {}, "cerp needs vectors of words"),
        ("esr-kore", {}, "esr-kore needs descriptions of entities"),
        ("cerp", {"vectors": "none.txt"}, "none.txt: there is no such file"),
        ("ert-claims", {"kb": "no.kb", "vectors": "none.txt"}, "Give no source"),
        ("efp", {"options": ProbeOptions(sizes=(1, 1, 0))}, "an option of the probing task is wrong"),
        ("rare", {}, "give both files"),
        ("enteval-cerp", {}, "give one folder"),
        ("et", {}, "its name does not say which split it is"),
    ],
)
def test_what_is_missing_is_named(task, settings, message, written, tmp_path):
    path = written("claims.jsonl", *CLAIMS)
    options = settings.pop("options", ProbeOptions())
    with pytest.raises(InputError, match=message):
        build_probes(task, path, tmp_path / "made", options, **settings)
    assert not (tmp_path / "made").exists()


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="there is no such file or folder"):
        build_probes("efp", tmp_path / "none.jsonl", tmp_path / "made")
    with pytest.raises(InputError, match="there is no source"):
        build_probes("efp", [], tmp_path / "made")


def test_only_a_task_is_replaced_and_only_when_asked(written, tmp_path):
    path, out = written("claims.jsonl", *CLAIMS), tmp_path / "efp"
    out.mkdir()
    (out / "precious.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other things"):
        build_probes("efp", path, out, replace=True)
    (out / "precious.txt").unlink()
    build_probes("efp", path, out, name="mine")
    with pytest.raises(ExistsError, match="--replace"):
        build_probes("efp", path, out)
    bad = written("bad.jsonl", CLAIM, "{")
    with pytest.raises(SourceError, match="line 2"):
        build_probes("efp", bad, out, replace=True)
    assert read_card(out).name == "mine"
    with pytest.raises(InputError, match="a source is in it"):
        build_probes("efp", out / "train.jsonl", out, replace=True)


def test_bad_records_are_skipped_and_counted(written, tmp_path):
    path = written("claims.jsonl", *CLAIMS, "{")
    report = build_probes("efp", path, tmp_path / "made", ProbeOptions(on_error="skip"))
    assert (report.skipped, sum(report.card.sizes.values())) == (1, 20)
    assert "line 21" in report.problems[0]


def test_a_knowledge_base_that_lacks_most_is_said_before_anything_is_written(written, tmp_path, birds):
    pairs = ["heron\tpike\tHeron\tPike\t50.0\t1.0\t[50]"] + ["a\tb\tNobody\tNothing\t1.0\t1.0\t[1]"] * 3
    told = []
    out = tmp_path / "made"
    report = build_probes(
        "esr-wikisrs-similarity",
        written("pairs.csv", *pairs),
        out,
        kb=birds,
        on_coverage=lambda covered, of: told.append((covered, of, out.exists())),
    )
    assert told == [(1, 4, False)]
    assert report.lacks_most and report.coverage == 0.25
    with pytest.raises(
        InputError, match=r"nothing is left for test. Descriptions were found for 0 of 3 rows. Left out: 3"
    ):
        build_probes("esr-wikisrs-similarity", written("none.csv", *pairs[1:]), tmp_path / "other", kb=birds)


def test_the_same_sources_and_seed_give_the_same_bytes(written, tmp_path):
    path, turned = written("claims.jsonl", *CLAIMS), written("turned.jsonl", *CLAIMS[::-1])
    for name, source, seed in (("a", path, 0), ("b", turned, 0), ("c", path, 1)):
        build_probes("efp", source, tmp_path / name, ProbeOptions(seed=seed))
    rows = {name: (tmp_path / name / "train.jsonl").read_bytes() for name in "abc"}
    assert rows["a"] == rows["b"] != rows["c"]
    assert read_card(tmp_path / "a").settings["source claims.jsonl"] != ""
