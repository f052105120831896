"""`entlink kb split`, and the options of `kb build` for Wikidata."""

from __future__ import annotations

import json
from pathlib import Path

from entlink_cli import main

SAMPLES = Path(__file__).parents[2] / "samples"


def run(capsys, *words, code=0):
    assert main([str(word) for word in words]) == code
    return capsys.readouterr()


def test_the_sample_of_wikidata_is_joined_filtered_and_split(tmp_path, capsys):
    kb, wiki = tmp_path / "zh.kb", SAMPLES / "wiki" / "samplewiki-zh.xml"
    (tmp_path / "drop.txt").write_text("Q515\n")
    build = ("kb", "build", SAMPLES / "wikidata.json", wiki, "-o", kb, "--language", "zh", "--ids", "wikidata")
    out = run(capsys, *build, "--with-page", "--drop-types", tmp_path / "drop.txt").out
    assert "entities         16" in out  # 17 articles, of which Beijing is a city
    assert "12 items without a page in samplezhwiki" in out
    assert "2 items of the types to leave out" in out and "1 page of the types to leave out" in out

    (tmp_path / "old.txt").write_text("Q308\nQ1150\n")
    words = ("kb", "split", kb, "--known", tmp_path / "old.txt", "-o", tmp_path / "parts", "--validation", "0")
    out = run(capsys, *words).out
    assert (
        "2 known entities in known.kb, 14 new ones in new.jsonl" in out and "train.jsonl: 2 texts, 2 mentions" in out
    )
    told = json.loads(run(capsys, *words, "--json", "--quiet", "--replace").out)
    assert (told["known"], told["new"], told["seed"]) == (2, 14, 0)
    assert "is there already. --replace" in run(capsys, *words, code=4).err
