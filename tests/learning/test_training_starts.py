"""What a training is refused for before its first step, and what that leaves behind."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from entlink.encoders.models.pulling import pull, pull_weights
from entlink.errors import ConfigError, EntlinkError, ExistsError, InputError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.train import check_start, train
from entlink.learning.train_config import read_train_config
from tiny_training import make_config, make_examples


def test_a_base_that_is_not_there_is_told_at_the_start(base, tmp_path):
    for spec, told in (("no/where", "there is no such folder to train from"), ("nobody", "there is no model")):
        with pytest.raises(EntlinkError, match=told):
            check_start(make_config(spec), tmp_path / "made")


def test_a_model_that_was_not_finished_is_no_base(stage, base, tmp_path):
    train(make_config(base), stage, make_examples(8), [], tmp_path / "first")
    (tmp_path / "first" / "model.json").unlink()
    with pytest.raises(InputError, match=r"first: this model was not finished.*Train it to its end first"):
        check_start(make_config(tmp_path / "first"), tmp_path / "made")


def test_rounded_weights_are_told_at_the_start(stage, base, tmp_path):
    train(make_config(base), stage, make_examples(8), [], tmp_path / "first")
    (tmp_path / "first" / "weights.safetensors").unlink()
    with pytest.raises(InputError, match="has its rounded weights only"):
        check_start(make_config(tmp_path / "first"), tmp_path / "made")


@pytest.mark.parametrize("was_there", [True, False])
def test_a_start_that_was_refused_leaves_nothing(stage, base, tmp_path, was_there):
    """Weights that lack a part are told when they have been read, with the folder locked."""
    torn = shutil.copytree(base, tmp_path / "torn")
    weights = load_file(torn / "model.safetensors")
    save_file(
        {name: values for name, values in weights.items() if "layer.1." not in name}, torn / "model.safetensors"
    )
    folder = tmp_path / "made"
    if was_there:
        folder.mkdir()
    with pytest.raises(InputError, match=r"torn: the weights have no 'encoder\.layer\.1\."):
        train(make_config(torn), stage, make_examples(8), [], folder)
    assert folder.exists() == was_there
    assert not was_there or not list(folder.iterdir())


def _without(name):
    return lambda folder: (folder / name).unlink()


def _roberta(folder):
    shape = json.loads((folder / "config.json").read_bytes())
    (folder / "config.json").write_text(json.dumps({**shape, "model_type": "roberta"}), encoding="utf8")


def _nameless(folder):
    shape = json.loads((folder / "config.json").read_bytes())
    del shape["num_hidden_layers"]
    (folder / "config.json").write_text(json.dumps(shape), encoding="utf8")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_without("config.json"), "no config.json is here"),
        (_without("model.safetensors"), "no weights in safetensors are here"),
        (_without("tokenizer.json"), r"neither tokenizer.json nor vocab.txt is here"),
        (_roberta, "only a BERT can be trained, and this is 'roberta'"),
        (_nameless, "num_hidden_layers"),
    ],
)
def test_a_folder_that_is_no_base_is_told_at_the_start(base, tmp_path, spoil, told):
    folder = shutil.copytree(base, tmp_path / "spoilt")
    spoil(folder)
    with pytest.raises(InputError, match=told):
        check_start(make_config(folder), tmp_path / "made")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"mention_tokens": 60}, "75 tokens are too many: .* reads 64"),
        ({"kind": "bi-encoder", "entity_tokens": 65}, "65 tokens are too many"),
        ({"kind": "joint", "text_tokens": 65}, "model.text_tokens = 65 does not fit"),
        ({"frozen_layers": 3}, "model.frozen_layers = 3 does not fit"),
        ({"markers": ("[unused0]", "[unused1]", "[unused9]")}, r"the marker '\[unused9\]'.*is not in the vocabulary"),
    ],
)
def test_what_does_not_fit_the_base_is_told_at_the_start(base, tmp_path, settings, told):
    with pytest.raises(InputError, match=told):
        check_start(make_config(base, **settings), tmp_path / "made")


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("file", ["notes.txt", "config.json", "checkpoint/mine.pt", "checkpoint/epoch/state.pt"])
def test_a_folder_of_something_else_is_left_alone(stage, base, tmp_path, file, restart):
    mine = tmp_path / "mine" / file
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", encoding="utf8")
    with pytest.raises(ExistsError, match=r"mine: this folder holds something else than a model\. Give another"):
        train(make_config(base), stage, make_examples(8), [], tmp_path / "mine", restart=restart)
    assert [path for path in (tmp_path / "mine").rglob("*") if path.is_file()] == [mine]


def test_what_a_kill_leaves_before_the_first_checkpoint_is_no_hindrance(stage, base, tmp_path):
    folder = tmp_path / "made"
    (folder / "checkpoint").mkdir(parents=True)
    for name in ("training.lock", "checkpoint/best-4.pt", "checkpoint/state.pt.partial"):
        (folder / name).touch()
    assert train(make_config(base, steps=1), stage, make_examples(8), [], folder).steps == 1
    assert not (folder / "checkpoint").exists()


@pytest.mark.parametrize("renamed", [0, 2])
def test_what_a_kill_leaves_of_the_writing_is_no_hindrance(stage, base, tmp_path, monkeypatch, renamed):
    """So short a training has no checkpoint."""
    rename, done = Path.rename, []

    def killed(path, target):
        if path.parent.name == ".partial":
            if len(done) == renamed:
                raise KeyboardInterrupt
            done.append(target)
        return rename(path, target)

    folder, config = tmp_path / "made", make_config(base, steps=1)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "rename", killed)
        train(config, stage, make_examples(8), [], folder)
    assert len(done) == renamed
    assert train(config, stage, make_examples(8), [], folder).steps == 1
    assert not (folder / ".partial").exists()


def test_weights_that_were_pulled_are_a_base_by_their_name(base, tmp_path, monkeypatch):
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path / "models"))
    pull("mine", base)
    with pytest.raises(InputError, match="has its rounded weights only"):
        check_start(make_config("mine"), tmp_path / "made")
    pull_weights("mine", base)
    check_start(make_config("mine"), tmp_path / "made")


@pytest.mark.parametrize("command", ["train", "adapt"])
def test_the_hint_about_a_device_is_a_setting_of_both_commands(base, tmp_path, command):
    with pytest.raises(InputError, match="is not here") as caught:
        check_start(make_config(base, device="toaster"), tmp_path / "made")
    (option, setting) = re.findall(r"\((--\S+) (\S+)\)", str(caught.value))[0]
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf8")
    (own,) = re.findall(rf"^##+ `?entlink {command}`?\n(.*?)^##", page, flags=re.MULTILINE | re.DOTALL)
    assert f"| `{option} NAME=VALUE` |" in own
    name, _, value = setting.partition("=")
    assert read_train_config("bi-encoder", {name: value}).training.device == "cpu"


def test_a_model_is_not_written_over_its_base(stage, base, tmp_path):
    folder = tmp_path / "made"
    train(make_config(base), stage, make_examples(8), [], folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    (tmp_path / "other").mkdir()
    link = tmp_path / "link"
    link.symlink_to(folder)
    for output in (folder, tmp_path / "other" / ".." / "made", link):
        for restart in (False, True):
            with pytest.raises(InputError, match=r"this is what training starts from .* Give another folder"):
                train(make_config(folder), stage, make_examples(8), [], output, restart=restart)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_any_seed_that_a_clock_gives_will_do(stage, base, tmp_path):
    for kind in ("bi-encoder", "cross-encoder"):
        config = make_config(base, kind, seed=2**63 - 1, steps=2, masked=0.5)
        assert train(config, stage, make_examples(16), make_examples(8, 1), tmp_path / kind).steps == 2


def test_a_seed_that_is_too_large_is_told_with_the_settings():
    with pytest.raises(ConfigError, match=r"<= 9223372036854775807 - at `\$\.training\.seed`"):
        read_train_config("bi-encoder", {"training.seed": str(2**63)})


# A base that was trained before


@pytest.fixture(scope="module")
def trained(stage_folder, base, tmp_path_factory):
    """The folders of a bi-encoder, one with a tower for each side, and a cross-encoder, by name."""
    folder = tmp_path_factory.mktemp("trained")
    own = {"markers": ("[unused1]", "[unused2]", "[unused3]"), "steps": 1}
    with KnowledgeBase.open(stage_folder) as kb:
        for name, kind, settings in (
            ("dual", "bi-encoder", {"pooling": "span", "similarity": "dot", **own}),
            ("two", "bi-encoder", {"separate": True, "steps": 1}),
            ("cross", "cross-encoder", own),
        ):
            train(make_config(base, kind, **settings), kb, make_examples(8), [], folder / name)
    return folder


@pytest.mark.parametrize(
    ("first", "kind", "given", "told"),
    [
        (
            "dual",
            "bi-encoder",
            {"similarity": "dot"},
            "model.pooling is 'mean' and was 'span'; model.markers is ['[unused0]', '[unused1]', '[unused2]'] and "
            "was ['[unused1]', '[unused2]', '[unused3]']. Set model.pooling = \"span\" and model.markers = "
            '["[unused1]","[unused2]","[unused3]"], or',
        ),
        (
            "dual",
            "bi-encoder",
            {"pooling": "span", "markers": ("[unused1]", "[unused2]", "[unused3]")},
            "model.similarity is 'cosine' and was 'dot'. Set model.similarity = \"dot\", or",
        ),
        (
            "cross",
            "cross-encoder",
            {"pooling": "mean", "markers": ("[unused1]", "[unused2]", "[unused3]")},
            "model.pooling is 'mean' and was 'cls'. Set model.pooling = \"cls\", or",
        ),
    ],
)
def test_a_trained_base_that_reads_otherwise_is_refused(trained, tmp_path, first, kind, given, told):
    with pytest.raises(ConfigError, match=re.escape(told)):
        check_start(make_config(trained / first, kind, **given), tmp_path / "made")


def test_a_trained_base_that_reads_alike_is_gone_on_from(stage, trained, tmp_path):
    """With other numbers of tokens, too; a cross-encoder has no similarity."""
    markers = ("[unused1]", "[unused2]", "[unused3]")
    own = {"pooling": "span", "markers": markers, "mention_tokens": 20, "entity_tokens": 12, "steps": 1}
    config = make_config(trained / "dual", "bi-encoder", similarity="dot", **own)
    assert train(config, stage, make_examples(8), [], tmp_path / "dual").steps == 1
    config = make_config(trained / "dual", "cross-encoder", **own)
    assert train(config, stage, make_examples(8), [], tmp_path / "cross").steps == 1


def test_what_is_to_be_set_is_taken(trained, tmp_path):
    """The values in the message are those that a configuration takes."""
    with pytest.raises(ConfigError) as caught:
        check_start(make_config(trained / "dual", "bi-encoder"), tmp_path / "made")
    settings = re.findall(r"(model\.\w+) = (\S+?)(?: and|,? or)", str(caught.value).partition(". Set ")[2] + " or")
    given = {"model.base": str(trained / "dual"), **dict(settings)}
    assert len(given) == 4
    check_start(read_train_config("bi-encoder", given), tmp_path / "made")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("bi-encoder", r"has a tower for each side\. Set model\.separate to true"),
        ("cross-encoder", r"a cross-encoder reads both sides with one\. Set model\.base to"),
    ],
)
def test_a_base_with_two_towers_where_one_is_wanted(trained, tmp_path, kind, told):
    config = make_config(trained / "two", kind, pooling="mean")
    with pytest.raises(ConfigError, match=told):
        check_start(config, tmp_path / "made")
