"""What adapting a linker starts from and may replace, and what it is refused for before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny_world
from adapt_runs import LEXICAL, Killed, killing, quiet
from entlink.errors import EntlinkError, ExistsError, InputError
from entlink.learning.adapt.adapt import AdaptOptions, adapt
from entlink.learning.adapt.weights import START_WEIGHTS
from entlink.linking.config import linker_beside, read_config
from entlink.linking.saved import read_card, save_linker
from knowledge_bases import make_kb


def test_nothing_to_learn_from_changes_nothing(tmp_path, options):
    rows = [tiny_world.article(f"e{number}", f"Name {number}", "Short.") for number in range(60)]
    kb = make_kb(tmp_path, rows, "bare")
    before = sorted(path for path in tmp_path.rglob("*"))
    with pytest.raises(InputError, match="no text to learn from"):
        adapt(kb, options, quiet)
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_texts_that_give_no_examples_leave_no_trace(tmp_path, options):
    text = "Here is a text that is long enough to be read, and yet it speaks of nobody at all in it."
    kb = make_kb(tmp_path, [tiny_world.article(f"e{n}", f"Xq{n}z", text) for n in range(60)], "mute")
    with pytest.raises(InputError, match="0 examples only, of 0 pages, and 100 of several are needed"):
        adapt(kb, options, quiet)
    assert not list(tmp_path.glob("*.adapting"))
    assert not linker_beside(kb).exists()


def test_ten_entities_are_too_few(tmp_path, options):
    kb = make_kb(tmp_path, tiny_world.rows(count=10), "few")
    with pytest.raises(InputError, match="10 entities are too few to learn from; 50 are needed"):
        adapt(kb, options, quiet)
    assert not list(tmp_path.glob("*.adapting"))


def test_a_budget_too_small_is_told_first(world):
    with pytest.raises(InputError, match=r"0.01 minutes are too few: the vectors of 60 entities.*Give --minutes"):
        adapt(world, AdaptOptions(minutes=0.01), quiet)
    assert not list(world.parent.glob("*.adapting"))


def test_a_linker_made_otherwise_is_left_alone(world, options):
    folder = linker_beside(world)
    folder.mkdir()
    (folder / "linker.toml").write_text(LEXICAL, encoding="utf8")
    with pytest.raises(ExistsError, match=r"not made by adapting.*--restart"):
        adapt(world, options, quiet)
    quick = AdaptOptions(minutes=60, config=options.config, train=False)
    with pytest.raises(Killed):
        adapt(world, quick, killing("finding examples", 40), restart=True)
    assert read_config(folder).nil == read_config(options.config).nil
    adapt(world, quick, quiet)  # that it may be replaced was said when it was begun
    adapt(world, quick, quiet)  # its own is replaced
    assert len(read_card(folder).steps) == 1


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("place", ["results", "world.kb", "."])
def test_a_folder_that_is_no_linker_is_never_replaced(world, options, monkeypatch, place, restart):
    monkeypatch.chdir(world.parent)
    (world.parent / "results").mkdir()
    (world.parent / "results" / "notes.txt").write_text("mine", encoding="utf8")
    before = sorted(world.parent.rglob("*"))
    onto = AdaptOptions(minutes=60, config=options.config, output=place, train=False)
    with pytest.raises(EntlinkError, match=r"(holds something else than a linker|would take its place).*-o"):
        adapt(world, onto, quiet, restart=restart)
    assert sorted(world.parent.rglob("*")) == before


def test_an_empty_folder_becomes_the_linker(world, options, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    adapt(world, AdaptOptions(minutes=60, config=options.config, output=str(empty), train=False), quiet)
    assert read_card(empty).steps


def test_what_is_started_from_is_not_replaced(world, options, tmp_path):
    quick = AdaptOptions(minutes=60, config=options.config, train=False)
    adapt(world, quick, quiet)
    for config in (linker_beside(world), linker_beside(world) / "linker.toml"):
        again = AdaptOptions(minutes=60, config=str(config), train=False)
        with pytest.raises(InputError, match=r"this linker was adapted already.*--config"):
            adapt(world, again, quiet)
    mine = tmp_path / "mine.linker"
    mine.mkdir()
    (mine / "linker.toml").write_text(LEXICAL, encoding="utf8")
    onto = AdaptOptions(minutes=60, config=str(mine), output=str(mine), train=False)
    with pytest.raises(InputError, match=r"the new linker would take its place.*-o"):
        adapt(world, onto, quiet, restart=True)
    assert (mine / "linker.toml").read_text(encoding="utf8") == LEXICAL


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("training.device", "cuda:7", "the device 'cuda:7' is not here"),
        ("training.batch", "-1", "training.batch"),
        ("model.base", "no/such/folder", "no/such/folder: there is no such folder"),
        ("model.base", "EMPTY", "EMPTY: no config.json is here"),
        ("model.mention_tokens", "65", "tokens are too many"),
        ("model.markers", '["[CLS]", "[SEP]", "[unused9]"]', r"the marker '\[unused9\]'"),
    ],
)
def test_what_no_training_could_have_is_told_first(world, options, monkeypatch, setting, value, told):
    monkeypatch.chdir(world.parent)
    (world.parent / "EMPTY").mkdir()
    chosen = AdaptOptions(minutes=60, config=options.config, settings={**options.settings, setting: value})
    with pytest.raises(EntlinkError, match=told):
        adapt(world, chosen, quiet)
    assert not list(world.parent.glob("*.adapting"))


def test_a_base_that_cannot_be_fetched_is_told_first(world, options, monkeypatch, tmp_path):
    def unreachable(*_, **__):
        raise EntlinkError("cannot be fetched")

    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr("entlink.learning.base.pull_weights", unreachable)
    chosen = AdaptOptions(minutes=60, config=options.config)
    with pytest.raises(EntlinkError, match=r"cannot be fetched\. With --no-train all but the models is adapted"):
        adapt(world, chosen, quiet)
    assert not list(world.parent.glob("*.adapting"))


def test_no_time_left_for_a_training_is_told_and_the_rest_adapts(world, options, monkeypatch):
    monkeypatch.setattr("entlink.learning.adapt.training.FOR_THE_REST", 1.0)
    stages = {one.name: one for one in adapt(world, options, quiet).stages}
    assert not stages["bi-encoder"].kept
    assert stages["bi-encoder"].note == "left out: of 60 minutes none was left. Give more --minutes"
    assert stages["NIL"].figures


def test_a_training_that_there_will_be_no_time_for_is_told_at_the_start(world, options, monkeypatch, caplog):
    monkeypatch.setattr("entlink.learning.adapt.adapt._INDEXED_A_SECOND", 60 / 3_000)  # 50 minutes for 60 entities
    with pytest.raises(Killed):
        adapt(world, options, killing("making the index of words", 1))
    told = "bi-encoder will not be reached: of 60 minutes, indexes of 60 entities and examples leave about "
    assert "will not be reached" not in caplog.text  # 132 seconds are enough for a training
    monkeypatch.setattr("entlink.learning.adapt.adapt._INDEXED_A_SECOND", 60 / 3_120)
    with pytest.raises(Killed):
        adapt(world, options, killing("making the index of words", 1), restart=True)
    assert f"the stage {told}12 seconds" in caplog.text
    log = linker_beside(world).with_name("world.linker.adapting") / "adapt.log"
    assert f"{told}12 seconds, and training takes 30 at least. Give more --minutes" in log.read_text(encoding="utf8")


def test_a_linker_that_was_changed_since_is_left_alone(world, options):
    quick = AdaptOptions(minutes=60, config=options.config, train=False)
    adapt(world, quick, quiet)
    folder = linker_beside(world)
    save_linker(folder, read_config(folder), {"command": "entlink tune"})
    with pytest.raises(ExistsError, match=r"a linker is there that was changed since it was adapted.*--restart"):
        adapt(world, quick, quiet)
    adapt(world, quick, quiet, restart=True)
    assert len(read_card(folder).steps) == 1


def test_weights_that_were_given_stay(world, options):
    given = {"alias": 7.0, "company": 0.125, "coherence": 0.0}
    told = ", ".join(f"{name} = {weight}" for name, weight in given.items())
    start = Path(options.config)
    start.write_text(LEXICAL.replace("coherence = 0.0", told), encoding="utf8")
    adapt(world, AdaptOptions(minutes=60, config=str(start), train=False), quiet)
    weights = read_config(linker_beside(world)).ranker["weights"]
    assert {name: weights[name] for name in given} == given
    assert weights["spelling"] == START_WEIGHTS["spelling"]
