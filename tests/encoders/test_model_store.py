"""Models are in the store whole or not at all, and what was altered is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from entlink.encoders.loading import load_encoder
from entlink.encoders.models.pulling import pull
from entlink.encoders.models.store import installed, models_folder, new_model, open_model, remove
from entlink.errors import DamagedError, ExistsError, InputError, MissingModelError


def test_where_models_are(monkeypatch, tmp_path):
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path / "own"))
    assert models_folder() == tmp_path / "own"
    monkeypatch.delenv("ENTLINK_MODELS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert models_folder() == tmp_path / "cache" / "entlink" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert models_folder() == Path.home() / ".cache" / "entlink" / "models"


def test_a_model_that_fails_half_way_leaves_nothing(store):
    with pytest.raises(OSError, match="full"), new_model("mine") as folder:
        (folder / "weights").write_bytes(b"half")
        raise OSError("full")
    assert list(store.iterdir()) == []


def test_what_was_there_stays_when_its_successor_fails(store, tiny):
    before = pull("mine", tiny)
    with pytest.raises(RuntimeError), new_model("mine", replace=True) as folder:
        (folder / "model.json").write_bytes(b"half")
        raise RuntimeError
    assert installed() == [before]
    with pytest.raises(ExistsError, match="--force"), new_model("mine"):
        pass


def test_a_killed_process_leaves_no_model_and_the_next_one_cleans_up(store, tiny):
    script = (
        "import sys, time\nfrom entlink.encoders.models.store import new_model\n"
        "with new_model('mine') as folder:\n"
        "    (folder / 'model.json').write_text('{}'); print('ready', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        pull("other", tiny)  # what is still being written is left alone
        assert len(list(store.glob(".partial-*"))) == 1
        process.send_signal(signal.SIGKILL)
    assert [card.name for card in installed()] == ["other"]
    with pytest.raises(MissingModelError):
        open_model("mine")
    pull("mine", tiny)
    assert sorted(path.name for path in store.iterdir()) == ["mine", "other"]


def test_an_altered_file_is_named(store, tiny):
    pull("mine", tiny)
    path = store / "mine" / "model.onnx"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(
        DamagedError, match=r"model\.onnx: this file of the model 'mine' was altered.*models pull mine"
    ):
        load_encoder("mine")
    path.write_bytes(bytes(data[:-9]))
    with pytest.raises(DamagedError, match=r"model\.onnx: .* has [\d,]+ bytes, and its card says"):
        load_encoder("mine")
    path.unlink()
    with pytest.raises(DamagedError, match=r"model\.onnx: .* is missing"):
        load_encoder("mine")
    pull("mine", tiny, force=True)
    load_encoder("mine")


def test_a_damaged_card(store, tiny):
    pull("mine", tiny)
    (store / "mine" / "model.json").write_text('{"name": ')
    with pytest.raises(DamagedError, match=r"model\.json: this card of a model cannot be read"):
        load_encoder("mine")
    assert installed() == []
    assert remove("mine") > 0
    assert list(store.iterdir()) == []


def test_a_model_that_is_nowhere(store):
    for action in (load_encoder, remove, open_model):
        with pytest.raises(MissingModelError, match=r"no model 'minilm' .*entlink models pull minilm"):
            action("minilm")


@pytest.mark.parametrize("name", ["", "../up", ".hidden", "a/b", "a b", "x" * 101])
def test_names_that_cannot_be(store, tiny, name):
    with pytest.raises(InputError, match="cannot be the name of a model"):
        pull(name, tiny)
    with pytest.raises(MissingModelError):
        remove(name)


def test_two_processes_may_pull_the_same(store, tiny):
    script = "import sys; from entlink.encoders.models.pulling import pull; pull('mine', sys.argv[1], force=True)"
    running = [subprocess.Popen([sys.executable, "-c", script, str(tiny)], env=os.environ) for _ in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    load_encoder("mine")
    assert [path.name for path in store.iterdir()] == ["mine"]
