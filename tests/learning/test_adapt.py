"""Adapting a linker: it learns from the knowledge base alone, can be killed at any time, and says what is wrong."""

from __future__ import annotations

import shutil

import pytest
import tiny_world
from adapt_runs import LEXICAL, Killed, quiet
from tiny_training import make_base

import entlink
from entlink.config import linker_beside, read_config
from entlink.documents import Entity
from entlink.errors import EntlinkError, ExistsError, InputError, MissingExtraError
from entlink.kb.edits import add, remove
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.adapt import AdaptOptions, adapt
from entlink.learning.adapt_report import table
from entlink.saving import read_card
from knowledge_bases import make_kb

STAGES = [
    "indexes",
    "examples",
    "start",
    "names",
    "evidence",
    "senses",
    "bi-encoder",
    "cross-encoder",
    "weights",
    "NIL",
    "detector",
]


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("plain"), tiny_world.rows(), "plain", descriptions="full")


@pytest.fixture
def world(plain, tmp_path):
    return shutil.copytree(plain, tmp_path / "world.kb")


@pytest.fixture
def options(tmp_path, base):
    start = tmp_path / "start.toml"
    start.write_text(LEXICAL, encoding="utf8")
    settings = {
        "model.base": str(base),
        "model.mention_tokens": "24",
        "model.entity_tokens": "16",
        "training.epochs": "1",
        "training.batch": "16",
        "training.accumulate": "1",
        "training.precision": "fp32",
        "training.steps": "4",
        "training.checkpoint_every": "1",
        "training.held_out": "20",
    }
    return AdaptOptions(minutes=60, config=str(start), settings=settings)


def killing(stage_begins, times):
    """Raises at the so-manieth report of a stage."""
    seen = [0]

    def progress(stage, done, total):
        if stage.startswith(stage_begins):
            seen[0] += 1
            if seen[0] == times:
                raise Killed

    return progress


def test_a_linker_learns_its_knowledge_base(world, options):
    report = adapt(world, options, quiet, command="entlink adapt world.kb")
    assert [one.name for one in report.stages] == STAGES
    reached = [one.after for one in report.stages if one.kept and one.after is not None]
    assert reached[2:] == sorted(reached[2:])  # a model is kept only if it helps
    assert (report.before, report.after) == (reached[0], reached[-1])
    assert min(reached) > 0.5
    assert report.held_back > 0
    folder = linker_beside(world)
    assert not folder.with_name(folder.name + ".adapting").exists()
    step = read_card(folder).steps[0]
    assert step["command"] == "entlink adapt world.kb"
    assert step["adapt"]["after"] == report.after
    nil = next(one for one in report.stages if one.name == "NIL")
    assert nil.kept
    assert 0 <= read_config(folder).nil["threshold"] == nil.figures["threshold"] < 0.5  # what is kept was measured
    linked = entlink.load(world).link("They sailed along River Arno to Alder Bay.")
    assert {"river-arno", "alder-bay"} <= {link.entity for link in linked.links}
    rows, told = table(report)
    assert len(rows) == len(STAGES) + 1
    assert "held back" in told


def test_a_killed_run_goes_on_where_it_was(world, options, tmp_path):
    whole = adapt(world, options, quiet)
    again = shutil.copytree(linker_beside(world), tmp_path / "whole.linker")
    shutil.rmtree(linker_beside(world))
    for stage, times in (("finding examples", 40), ("bi-encoder: training", 2), ("cross-encoder: training", 3)):
        with pytest.raises(Killed):
            adapt(world, options, killing(stage, times))
    assert not linker_beside(world).exists()
    report = adapt(world, options, quiet)
    assert [one.name for one in report.stages] == STAGES
    assert [one.after for one in report.stages] == [one.after for one in whole.stages]
    assert [one.kept for one in report.stages] == [one.kept for one in whole.stages]
    made = read_config(linker_beside(world)), read_config(again)
    assert made[0].ranker["weights"] == pytest.approx(made[1].ranker["weights"])
    assert made[0].nil == made[1].nil


def test_a_run_killed_at_its_very_end_is_finished(world, options, monkeypatch):
    from entlink.learning.adapt_state import AdaptFolder

    quick = AdaptOptions(minutes=60, config=options.config, train=False)

    def killed(folder):
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(AdaptFolder, "put_in_place", killed)
        adapt(world, quick, quiet)
    assert not linker_beside(world).exists()
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(AdaptFolder, "forget", killed)  # the linker is in its place by then
        adapt(world, quick, quiet)
    made = (linker_beside(world) / "card.json").read_bytes()
    report = adapt(world, quick, quiet)
    assert (linker_beside(world) / "card.json").read_bytes() == made
    assert read_card(linker_beside(world)).steps[0]["adapt"]["after"] == report.after
    assert not list(world.parent.glob("*.adapting"))


def test_a_training_gone_on_with_has_the_time_that_it_was_given(world, options, monkeypatch):
    from entlink.learning import train as training

    given = []
    original = training.train

    def noted(*arguments, minutes, **named):
        given.append(minutes)
        return original(*arguments, minutes=minutes, **named)

    monkeypatch.setattr(training, "train", noted)
    with pytest.raises(Killed):
        adapt(world, options, killing("bi-encoder: training", 2))
    adapt(world, options, quiet)
    assert given[0] == given[1] == pytest.approx(0.55 * 60)


def test_a_stage_that_was_broken_off_begins_with_what_it_began_with(world, options, monkeypatch):
    from entlink.learning import adapt_tools
    from entlink.learning.adapt_state import AdaptFolder

    monkeypatch.setattr(adapt_tools, "_CHANCE", -1e6)  # names cut short are not good enough
    quick = AdaptOptions(minutes=60, config=options.config, train=False)
    seen = []

    def progress(stage, done, total):
        state = AdaptFolder(linker_beside(world)).read()
        if state is not None and state.stages[-1].name == "start" and stage not in seen:
            seen.append(stage)
            if len(seen) == 2:  # the examples are being found again
                raise Killed

    with pytest.raises(Killed):
        adapt(world, quick, progress)
    state = AdaptFolder(linker_beside(world)).read()
    assert any(one["name"] == "shortened" for one in state.config.retriever)
    report = adapt(world, quick, quiet)
    names = next(one for one in report.stages if one.name == "names")
    assert not names.kept
    assert "left alone" not in names.note


def test_what_was_begun_otherwise_is_told(world, options):
    with pytest.raises(Killed):
        adapt(world, options, killing("weighing evidence", 1))
    other = AdaptOptions(minutes=70, config=options.config, settings=options.settings)
    with pytest.raises(InputError, match=r"minutes was 60.* and is 70.*--restart"):
        adapt(world, other, quiet)
    with pytest.raises(Killed):
        adapt(world, other, killing("reading texts", 1), restart=True)
    remove(world, ["alder-bay"])
    with pytest.raises(InputError, match="entities was 60 and is 59"):
        adapt(world, other, quiet)


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
    ],
)
def test_what_no_training_could_have_is_told_first(world, options, setting, value, told):
    chosen = AdaptOptions(minutes=60, config=options.config, settings={**options.settings, setting: value})
    with pytest.raises(EntlinkError, match=told):
        adapt(world, chosen, quiet)
    assert not list(world.parent.glob("*.adapting"))


def test_an_entity_that_comes_later_is_linked_by_the_adapted_models(world, options):
    report = adapt(world, options, quiet)
    add(world, [Entity("mount-xanthe", "Mount Xanthe", description="Mount Xanthe is a mountain above Alder Bay.")])
    linker = entlink.load(world)
    kept = {one.name for one in report.stages if one.kept}
    assert ("./bi-encoder" in (linker_beside(world) / "linker.toml").read_text("utf8")) == ("bi-encoder" in kept)
    assert [link.entity for link in linker.link("They climbed Mount Xanthe.").links] == ["mount-xanthe"]


@pytest.mark.parametrize("how", ["not wanted", "not installed"])
def test_without_models_the_rest_still_adapts(world, options, monkeypatch, how):
    if how == "not installed":

        def missing(feature):
            raise MissingExtraError(feature, "train")

        monkeypatch.setattr("entlink.encoders.extras.require_train", missing)
    chosen = AdaptOptions(minutes=60, config=options.config, train=how == "not installed", settings=options.settings)
    report = adapt(world, chosen, quiet)
    stages = {one.name: one for one in report.stages}
    told = "entlink[train]" if how == "not installed" else "no models were to be trained"
    for name in ("bi-encoder", "cross-encoder"):
        assert not stages[name].kept
        assert told in stages[name].note
    evidence = stages["evidence"]
    assert "company" in evidence.figures["weights"]
    assert evidence.kept == (evidence.after > evidence.before - 0.1)  # chance, of the 25 held back
    assert not (linker_beside(world) / "bi-encoder").exists()


def test_a_training_that_goes_astray_is_left_out(world, options, tmp_path):
    import torch
    from safetensors.torch import load_file, save_file

    broken = make_base(tmp_path / "broken")
    weights = load_file(broken / "model.safetensors")
    name = next(name for name in weights if name.endswith("word_embeddings.weight"))
    save_file({**weights, name: torch.full_like(weights[name], float("nan"))}, broken / "model.safetensors")
    chosen = AdaptOptions(minutes=60, config=options.config, settings={**options.settings, "model.base": str(broken)})
    report = adapt(world, chosen, quiet)
    stages = {one.name: one for one in report.stages}
    assert "astray" in stages["cross-encoder"].note
    assert stages["NIL"].figures


def test_links_are_examples_where_they_are_kept(tmp_path, options):
    kb = make_kb(tmp_path, tiny_world.rows(linked=True), "linked", descriptions="full")
    report = adapt(kb, AdaptOptions(minutes=60, config=options.config, train=False), quiet)
    assert set(report.examples) == {"link", "sample", "plain"}
    weights, _, detector = report.stages[-3:]
    before = next(one for one in reversed(report.stages[:-3]) if one.kept and "weights" in one.figures)
    cases = report.stages[1].figures
    assert f"fitted to {cases['tune'] + cases['held_back']:,} links" in weights.note
    assert weights.figures["weights"].keys() == before.figures["weights"].keys()
    assert weights.figures["weights"] != before.figures["weights"]
    assert weights.figures["weights"]["borne"] > 0
    assert read_config(linker_beside(kb)).ranker["weights"] == weights.figures["weights"]
    assert report.after == before.after  # what held-back links say of a fit to them is not told
    assert "F1 of linked names" in detector.note
    assert 0 < detector.figures["before"] <= 1


def test_where_links_are_too_few_texts_are_learnt_from(tmp_path, options):
    plain, linked = tiny_world.rows(), tiny_world.rows(linked=True)
    kb = make_kb(tmp_path, [linked[0], *plain[1:]], "hardly", descriptions="full")
    with KnowledgeBase.open(kb) as opened:
        assert opened.has_hyperlinks
    report = adapt(kb, AdaptOptions(minutes=60, config=options.config, train=False), quiet)
    assert "link" not in report.examples
    assert sum(report.examples.values()) >= 100


@pytest.mark.parametrize("pages", [1, 2, 3, 6])
def test_links_of_a_few_pages_do(tmp_path, options, pages):
    plain, linked = tiny_world.rows(), tiny_world.rows(linked=True, paragraphs=40)
    kb = make_kb(tmp_path, [*linked[:pages], *plain[pages:]], "overviews", descriptions="full")
    report = adapt(kb, AdaptOptions(minutes=60, config=options.config, train=False), quiet)
    assert ("link" in report.examples) == (pages > 2)  # one to learn from, one to tune with, one held back
    sizes = report.stages[1].figures
    assert min(sizes["train"], sizes["tune"], sizes["held_back"]) > 0


def _rewrite_base(base, folder):
    """Another base in the place of the one that a training was begun with."""
    shutil.rmtree(base)
    make_base(base, seed=5)


def _cut_checkpoint(base, folder):
    state = folder / "checkpoint" / "state.pt"
    state.write_bytes(state.read_bytes()[:100])


@pytest.mark.parametrize("damage", [_rewrite_base, _cut_checkpoint])
def test_a_checkpoint_that_no_longer_fits_costs_that_training_alone(world, options, tmp_path, caplog, damage):
    own = shutil.copytree(options.settings["model.base"], tmp_path / "own")
    chosen = AdaptOptions(
        minutes=60,
        config=options.config,
        settings={**options.settings, "model.base": str(own), "training.steps": "6"},
    )
    with pytest.raises(Killed):
        adapt(world, chosen, killing("bi-encoder: training", 4))
    damage(own, linker_beside(world).with_name("world.linker.adapting") / "linker" / "bi-encoder")
    report = adapt(world, chosen, quiet)
    trained = next(one for one in report.stages if one.name == "bi-encoder")
    assert trained.note.startswith("6 steps")
    assert "the bi-encoder is trained from the start" in caplog.text


def test_a_training_killed_as_its_checkpoint_went_is_not_done_again(world, options, monkeypatch):
    from entlink.learning import train as training

    original = training.Checkpoints.remove

    def killed(checkpoints):
        if checkpoints._folder.parent.name == "bi-encoder":
            (checkpoints._folder / "state.pt").unlink()
            raise Killed
        original(checkpoints)

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(training.Checkpoints, "remove", killed)
        adapt(world, options, quiet)
    left = linker_beside(world).with_name("world.linker.adapting") / "linker" / "bi-encoder" / "checkpoint"
    assert left.exists()
    seen = []

    def progress(stage, done, total):
        if stage == "weighing evidence" and left.parent.exists():  # the model is at work, kept or not
            seen.append(left.exists())

    report = adapt(world, options, progress)
    assert [one.name for one in report.stages] == STAGES
    assert seen
    assert not any(seen)


def test_without_short_names_examples_are_found_again(world, options, monkeypatch):
    from entlink.learning import adapt_tools
    from entlink.learning.self_cases import read_cases

    monkeypatch.setattr(adapt_tools, "_CHANCE", -1e6)  # nothing is good enough
    seen = []

    def look(stage, done, total):
        if stage.startswith("bi-encoder") and not seen:
            folder = linker_beside(world)
            seen.extend(read_cases(folder.with_name(folder.name + ".adapting") / "examples.jsonl"))

    report = adapt(world, options, look)
    stages = {one.name: one for one in report.stages}
    assert not stages["names"].kept
    assert seen
    assert not any("shortened" in found.evidence for case in seen for found in case.candidates)
    assert all(one["name"] != "shortened" for one in read_config(linker_beside(world)).retriever)


def test_what_another_release_began_is_not_gone_on_with(world, options, monkeypatch):
    from entlink.learning import adapt_state

    with pytest.raises(Killed):
        adapt(world, options, killing("finding examples", 40))
    monkeypatch.setattr(adapt_state, "FORMAT", 99)
    with pytest.raises(InputError, match=r"adapting was begun otherwise: format was 4 and is 99"):
        adapt(world, options, quiet)
