"""What stands between the same two words, as a stage of adapting."""

from __future__ import annotations

import shutil

import pytest
from test_adapt_senses import CONFIG

import entlink
import tiny_world
from adapt_runs import LEXICAL, Killed, killing, quiet
from entlink.candidates import slot_model
from entlink.candidates.slot_model import read_slots, slot_number
from entlink.documents import Span
from entlink.encoders.dual import load_dual
from entlink.errors import InputError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.adapt import slots as adapt_slots
from entlink.learning.adapt.adapt import AdaptOptions, adapt
from entlink.linking.config import linker_beside, read_config
from knowledge_bases import article, make_kb
from shared_world import linked_world

TOWNS = ("Aldery", "Bremow", "Cosken", "Dunwar", "Elmsea", "Fairth", "Gelmor", "Harlow")


def spoken_of():
    """Towns, and pages that name them: ten times each, in two slots."""
    rows = [article(one.lower(), one, f"{one} is a town beside a quiet river with old walls.") for one in TOWNS]
    for number in range(10):
        texts = [
            f"On day number {number} the market near {one}: bread and salt were sold; many came to {one}."
            for one in TOWNS
        ]
        rows.append(article(f"market-{number}", f"Market {number}", f"Market {number} is one of many.", *texts))
    return rows


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a knowledge base, options with a tiny encoder, and the encoder."""
    from tiny_bert import make_folder

    folder = tmp_path_factory.mktemp("towns")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTLINK_MODELS", str(folder / "models"))
        encoder = make_folder(folder / "tiny")
        (folder / "start.toml").write_text(CONFIG.format(encoder=encoder), encoding="utf8")
        kb = make_kb(folder, [*tiny_world.rows(), *spoken_of()], "towns", descriptions="full")
        yield kb, AdaptOptions(minutes=10, config=str(folder / "start.toml"), train=False), str(encoder)


def learnt(made, folder, without=(), seconds=60):
    with KnowledgeBase.open(made[0]) as kb:
        return adapt_slots.learn_slots(kb, load_dual(made[2]), set(without), folder, 0, quiet, seconds)


def fillers(model, slot):
    place = model.slots.tolist().index(slot)
    part = slice(model.starts[place], model.starts[place + 1])
    return {model.card.entities[row]: n for row, n in zip(model.fillers[part], model.counts[part], strict=True)}


def test_names_of_others_are_counted(made, tmp_path, monkeypatch):
    monkeypatch.setattr(adapt_slots, "_FEWEST_USES", 100)
    told = learnt(made, tmp_path / "slots")
    model = read_slots(tmp_path / "slots")
    assert f"from {model.card.uses:,} names" in told
    assert fillers(model, slot_number("near", ":")) == {one.lower(): 10 for one in TOWNS}
    assert slot_number("^", "is") not in model.slots.tolist()  # so they begin their own texts


def test_pages_that_are_measured_on_are_not_read(made, tmp_path, monkeypatch):
    monkeypatch.setattr(adapt_slots, "_FEWEST_USES", 100)
    learnt(made, tmp_path / "slots", without=["market-3", "market-4"])
    model = read_slots(tmp_path / "slots")
    assert fillers(model, slot_number("near", ":")) == {one.lower(): 8 for one in TOWNS}


def test_what_is_named_everywhere_counts_so_often_only(made, tmp_path, monkeypatch):
    monkeypatch.setattr(adapt_slots, "_FEWEST_USES", 10)
    monkeypatch.setattr(adapt_slots, "_MOST_OF_ENTITY", 4)
    learnt(made, tmp_path / "slots")
    model = read_slots(tmp_path / "slots")
    assert model.often[model.rows["aldery"]] == 4


def test_no_more_is_read_than_there_is_time_and_room_for(made, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="have 0 names"):
        learnt(made, tmp_path / "slots", seconds=-1)
    monkeypatch.setattr(adapt_slots, "_FEWEST_USES", 10)
    monkeypatch.setattr(adapt_slots, "_MOST_USES", 30)
    learnt(made, tmp_path / "slots")
    assert read_slots(tmp_path / "slots").card.uses == 30


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [("_MOST_ENTITIES", 9, "of more than 9 entities"), ("_FEWEST_USES", 10**6, "names of one entity alone")],
)
def test_what_cannot_be_learnt_is_told(made, tmp_path, monkeypatch, name, value, what):
    monkeypatch.setattr(adapt_slots, name, value)
    with pytest.raises(InputError, match=what):
        learnt(made, tmp_path / "slots")
    assert not (tmp_path / "slots").exists()


def stage_of(report):
    return next(one for one in report.stages if one.name == "slots")


def test_it_is_a_stage_without_links(made, tmp_path, monkeypatch):
    monkeypatch.setattr(adapt_slots, "_FEWEST_USES", 100)
    monkeypatch.setattr(slot_model, "_PRIOR", 1.0)  # few uses tell
    kb = shutil.copytree(made[0], tmp_path / "towns.kb")
    found = stage_of(adapt(kb, made[1], quiet))
    assert found.kept
    folder = linker_beside(kb)
    models = [one["model"] for one in read_config(folder).retriever if one["name"] == "slots"]
    assert models == [str(folder.resolve() / "slots")]
    assert 'model = "./slots"' in (folder / "linker.toml").read_text(encoding="utf8")
    linker = entlink.load(kb, mentions="given")
    told = linker.explain(entlink.Document("d", "They sold it near Elmsea: all of it."), Span(18, 24))
    mention = told.at(Span(18, 24))
    assert next(one for one in mention.candidates if one.entity == "elmsea").evidence["slots"] > 0


def test_a_killed_stage_is_done_anew(made, tmp_path, monkeypatch):
    monkeypatch.setattr(adapt_slots, "_FEWEST_USES", 100)
    kb = shutil.copytree(made[0], tmp_path / "towns.kb")
    whole = stage_of(adapt(kb, made[1], quiet))
    shutil.rmtree(linker_beside(kb))
    with pytest.raises(Killed):
        adapt(kb, made[1], killing("reading what stands between words", 5))
    again = stage_of(adapt(kb, made[1], quiet))
    assert (again.note, again.before, again.after) == (whole.note, whole.before, whole.after)


def test_without_an_encoder_it_is_left_out(made, tmp_path):
    kb = shutil.copytree(made[0], tmp_path / "towns.kb")
    lexical = tmp_path / "lexical.toml"
    lexical.write_text(LEXICAL, encoding="utf8")
    found = stage_of(adapt(kb, AdaptOptions(minutes=10, config=str(lexical), train=False), quiet))
    assert not found.kept
    assert found.note == "left out: the linker has no encoder to tell who is alike by"


def test_a_linker_that_has_slots_has_them_once():
    config = adapt_slots.with_slots(adapt_slots.with_slots(read_config("zero-shot")))
    assert [one["name"] for one in config.retriever].count("slots") == 1


def test_with_links_it_is_left_alone(made, tmp_path):
    kb = make_kb(tmp_path, linked_world(), "linked", descriptions="full")
    found = stage_of(adapt(kb, made[1], quiet))
    assert not found.kept
    assert found.note.startswith("left alone")
    assert not (linker_beside(kb) / "slots").exists()
