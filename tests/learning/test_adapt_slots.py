"""What stands between the same two words, as a stage of adapting."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import tiny_world
from adapt_runs import quiet
from shared_world import linked_world
from test_adapt_senses import CONFIG

from entlink.candidates.slot_model import read_slots, slot_of
from entlink.config import linker_beside, read_config
from entlink.documents import Span
from entlink.errors import InputError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning import adapt_slots
from entlink.learning.adapt import AdaptOptions, adapt
from knowledge_bases import article, make_kb

sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))
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


def learnt(made, folder, **changes):
    with KnowledgeBase.open(made[0]) as kb:
        return adapt_slots.learn_slots(kb, made[2], folder, 0, quiet, **{"seconds": 60, **changes})


def test_names_of_others_are_counted(made, tmp_path, monkeypatch):
    monkeypatch.setattr(adapt_slots, "_FEWEST_USES", 100)
    told = learnt(made, tmp_path / "slots")
    model = read_slots(tmp_path / "slots")
    assert f"from {model.card.uses:,} names" in told
    text = f"the market near {TOWNS[0]}: bread"
    place = model.slots.tolist().index(slot_of(text, Span(16, 22)))
    part = slice(model.starts[place], model.starts[place + 1])
    found = {
        model.card.entities[row]: count for row, count in zip(model.fillers[part], model.counts[part], strict=True)
    }
    assert found == {one.lower(): 10 for one in TOWNS}


def test_what_is_named_everywhere_counts_so_often_only(made, tmp_path, monkeypatch):
    monkeypatch.setattr(adapt_slots, "_FEWEST_USES", 10)
    monkeypatch.setattr(adapt_slots, "_MOST_OF_ENTITY", 4)
    learnt(made, tmp_path / "slots")
    model = read_slots(tmp_path / "slots")
    row = model.rows["aldery"]
    assert model.counts[model.fillers == row].sum() <= 4


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [("MOST_ENTITIES", 9, "of more than 9 entities"), ("_FEWEST_USES", 10**6, "names of one entity alone")],
)
def test_what_cannot_be_learnt_is_told(made, tmp_path, monkeypatch, name, value, what):
    monkeypatch.setattr(adapt_slots, name, value)
    with pytest.raises(InputError, match=what):
        learnt(made, tmp_path / "slots")
    assert not (tmp_path / "slots").exists()


def test_it_is_a_stage_without_links(made, tmp_path, monkeypatch):
    monkeypatch.setattr(adapt_slots, "_FEWEST_USES", 100)
    kb = shutil.copytree(made[0], tmp_path / "towns.kb")
    report = adapt(kb, made[1], quiet)
    found = next(one for one in report.stages if one.name == "slots")
    assert found.kept
    assert found.figures["weights"]["slots"] > 0
    folder = linker_beside(kb)
    assert [one["model"] for one in read_config(folder).retriever if one["name"] == "slots"] == [
        str(folder.resolve() / "slots")
    ]


def test_with_links_it_is_left_alone(made, tmp_path):
    kb = make_kb(tmp_path, linked_world(), "linked", descriptions="full")
    report = adapt(kb, made[1], quiet)
    found = next(one for one in report.stages if one.name == "slots")
    assert not found.kept
    assert found.note.startswith("left alone")
    assert not (linker_beside(kb) / "slots").exists()
