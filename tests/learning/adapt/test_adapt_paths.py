"""Models inside of a saved linker's folder: it can be moved, and saved again."""

from __future__ import annotations

import os

from entlink.linking.config import LinkerConfig, read_config
from entlink.linking.saved import save_linker


def test_models_are_found_from_the_folder_wherever_it_is(tmp_path, monkeypatch):
    config = LinkerConfig(
        retriever=[{"name": "dense", "encoder": "./bi-encoder"}, {"name": "dense", "encoder": "minilm"}],
        ranker={"name": "combination", "cross": "./cross-encoder", "weights": {"cross": 1.0}},
    )
    save_linker(tmp_path / "first.linker", config, {})
    assert 'encoder = "./bi-encoder"' in (tmp_path / "first.linker" / "linker.toml").read_text(encoding="utf8")
    (tmp_path / "first.linker").rename(tmp_path / "second.linker")
    monkeypatch.chdir(tmp_path)
    for given in ("second.linker", "second.linker/linker.toml", tmp_path / "second.linker"):
        read = read_config(given)
        assert read.retriever[0]["encoder"] == str(tmp_path.resolve() / "second.linker" / "bi-encoder")
        assert read.retriever[1]["encoder"] == "minilm"
        assert read.evidence[0]["model"] == str(tmp_path.resolve() / "second.linker" / "cross-encoder")


def test_saved_again_it_still_speaks_of_its_own_models(tmp_path):
    folder = tmp_path / "own.linker"
    save_linker(folder, LinkerConfig(ranker={"name": "cross-encoder", "model": "./cross-encoder"}), {})
    read = read_config(folder)
    save_linker(folder, read, {})
    save_linker(tmp_path / "other.linker", read, {})
    assert 'model = "./cross-encoder"' in (folder / "linker.toml").read_text(encoding="utf8")
    elsewhere = (tmp_path / "other.linker" / "linker.toml").read_text(encoding="utf8")
    assert f"{folder.resolve()}{os.sep}cross-encoder" in elsewhere
    assert read_config(tmp_path / "other.linker") == read
