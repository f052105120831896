"""Adapting a linker: it learns from the knowledge base alone, can be killed at any time, and says what is wrong."""

from __future__ import annotations

import re
import shutil

import pytest

import entlink
import tiny_world
from adapt_runs import Killed, killing, quiet
from entlink.documents import Document, Entity, Mention, Span
from entlink.errors import InputError, MissingExtraError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, remove
from entlink.learning.adapt.adapt import AdaptOptions, adapt
from entlink.learning.adapt.report import table
from entlink.linking.config import linker_beside, read_config
from entlink.linking.saved import read_card
from knowledge_bases import article, make_kb
from tiny_training import make_base

STAGES = [
    "indexes",
    "examples",
    "start",
    "names",
    "evidence",
    "senses",
    "bi-encoder",
    "weights",
    "NIL",
]


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
    text = "They sailed along River Arno to Alder Bay."
    spans = (Mention(Span(19, 29), "River Arno"), Mention(Span(33, 42), "Alder Bay"))
    linked = entlink.load(world, mentions="given").link(Document("d", text, mentions=spans))
    assert {"river-arno", "alder-bay"} <= {link.entity for link in linked.links}
    rows, told = table(report)
    assert len(rows) == len(STAGES) + 1
    assert "held back" in told


def test_a_killed_run_goes_on_where_it_was(world, options, tmp_path):
    whole = adapt(world, options, quiet)
    again = shutil.copytree(linker_beside(world), tmp_path / "whole.linker")
    shutil.rmtree(linker_beside(world))
    for stage, times in (("finding examples", 40), ("bi-encoder: training", 2), ("bi-encoder: training", 3)):
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
    from entlink.learning.adapt.state import AdaptFolder

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


def test_a_log_tells_what_was_done_and_when(world, options):
    quick = AdaptOptions(minutes=60, config=options.config, train=False)
    with pytest.raises(Killed):
        adapt(world, quick, killing("finding examples", 40))
    log = linker_beside(world).with_name("world.linker.adapting") / "adapt.log"
    assert "examples broken off (Killed)" in log.read_text(encoding="utf8")
    report = adapt(world, quick, quiet)
    lines = (linker_beside(world) / "adapt.log").read_text(encoding="utf8").splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  \S", line) for line in lines)
    told = [line[21:] for line in lines]
    assert told[0] == f"begun. 60 minutes in all, from the linker {options.config}"
    assert told[1] == "bi-encoder will not be reached: no models were to be trained"
    assert any(line.startswith("gone on with after") and "; done: indexes. 60 minutes" in line for line in told)
    assert [line.split()[0] for line in told if line.endswith(" begun")] == ["indexes", "examples", *STAGES[1:]]
    assert [one.told() for one in report.stages] == [line for line in told if "kept after" in line]
    assert told[-1].startswith("finished: accuracy 0.")


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
    assert given[0] == given[1] == pytest.approx((1 - 0.08) * 60, abs=1)  # less what came before


def test_a_stage_that_was_broken_off_begins_with_what_it_began_with(world, options, monkeypatch):
    from entlink.learning.adapt import tools as adapt_tools
    from entlink.learning.adapt.state import AdaptFolder

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


def test_an_entity_that_comes_later_is_linked_by_the_adapted_models(world, options, monkeypatch):
    monkeypatch.setattr("entlink.learning.adapt.tools._KNOWN_TO_HELP", ("bi-encoder",))
    monkeypatch.setattr("entlink.learning.adapt.tools._CHANCE", 100.0)  # so that it is kept, whatever it learnt
    adapt(world, options, quiet)
    add(world, [Entity("mount-xanthe", "Mount Xanthe", description="Mount Xanthe is a mountain above Alder Bay.")])
    given = Document("d", "They climbed Mount Xanthe.", mentions=(Mention(Span(13, 25), "Mount Xanthe"),))
    (link,) = entlink.load(world, mentions="given").link(given).links
    assert link.entity == "mount-xanthe"
    assert link.candidates[0].evidence["dense"]  # of the bi-encoder: what was started from has none


def test_texts_that_speak_of_their_own_entity_alone_can_be_learnt_from(tmp_path, options):
    places = [f"{first} {last}" for first in ("Amber", "Basalt", "Coral", "Dolomite") for last in tiny_world.LASTS]
    rows = [
        article(
            place.lower().replace(" ", "-"),
            place,
            *(
                f"{opening} {place} the days are long and the nights are short, as people say who were there once."
                for opening in ("Now in", "Around", "Far from", "Once in")
            ),
        )
        for place in places
    ]
    kb = make_kb(tmp_path, rows, "alone", descriptions="full")
    report = adapt(kb, AdaptOptions(minutes=60, config=options.config, train=False), quiet)
    assert report.examples["itself"] >= 100


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
    assert not stages["bi-encoder"].kept
    assert told in stages["bi-encoder"].note
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
    assert "astray" in stages["bi-encoder"].note
    assert stages["NIL"].figures


def test_links_are_examples_where_they_are_kept(tmp_path, options):
    kb = make_kb(tmp_path, tiny_world.rows(linked=True), "linked", descriptions="full")
    report = adapt(kb, AdaptOptions(minutes=60, config=options.config, train=False), quiet)
    assert set(report.examples) == {"link", "sample", "plain"}
    weights, _ = report.stages[-2:]
    before = next(one for one in reversed(report.stages[:-2]) if one.kept and "weights" in one.figures)
    cases = report.stages[1].figures
    assert f"fitted to {cases['tune'] + cases['held_back']:,} links" in weights.note
    assert weights.figures["weights"].keys() == before.figures["weights"].keys()
    assert weights.figures["weights"] != before.figures["weights"]
    assert weights.figures["weights"]["borne"] > 0
    assert read_config(linker_beside(kb)).ranker["weights"] == weights.figures["weights"]
    assert report.after == before.after  # what held-back links say of a fit to them is not told


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
    from entlink.learning.adapt import tools as adapt_tools
    from entlink.learning.own_texts.cases import read_cases

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
    from entlink.learning.adapt import state as adapt_state

    with pytest.raises(Killed):
        adapt(world, options, killing("finding examples", 40))
    monkeypatch.setattr(adapt_state, "FORMAT", 99)
    with pytest.raises(InputError, match=r"adapting was begun otherwise: format was 6 and is 99"):
        adapt(world, options, quiet)
