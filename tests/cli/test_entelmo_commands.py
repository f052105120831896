"""`entlink datasets build wikient` and `entlink train entelmo` as a user meets them."""

from __future__ import annotations

import json

import pytest

from entlink_cli import main
from knowledge_bases import article, write_articles


@pytest.fixture
def articles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [article("a", "A", "A is near [[b|Bee]]. * Nothing."), article("b", "B", "B is far from [[a|Ay]].")]
    return str(write_articles(tmp_path / "two.jsonl", rows))


def test_the_card_is_printed_as_json_and_options_are_kept(articles, capsys):
    words = ["datasets", "build", "wikient", articles, "-o", "set", "--format", "articles"]
    assert main([*words, "--description-tokens", "2", "--max-tokens", "9", "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert (card["contexts"], card["entities"]) == (2, 2)
    assert (card["options"]["description_tokens"], card["options"]["max_tokens"]) == (2, 9)
    assert card["command"].startswith("entlink datasets build wikient")
    assert main(words) == 4
    assert "--replace puts a new one in its place" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["none", "-o", "model", "--dry-run"], 4, "no WikiEnt set"),
        (["none", "-o", "model", "--variant", "half"], 2, "invalid choice: 'half'"),
        (["none", "-o", "model", "--config", "nothing"], 3, "Those are entelmo, entelmo-published"),
        (["none", "-o", "model", "--set", "model.shape.size=3"], 3, "there is no setting 'model.shape.size'"),
    ],
)
def test_what_cannot_be_trained_is_told(articles, capsys, words, code, told):
    try:
        found = main(["train", "entelmo", *words])
    except SystemExit as end:
        found = end.code
    assert found == code
    assert told in capsys.readouterr().err
