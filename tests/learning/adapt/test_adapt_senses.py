"""The senses of shared words, as a stage of adapting."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import entlink
import tiny_world
from adapt_runs import LEXICAL, Killed, quiet
from entlink.evidence.sense_model import read_senses
from entlink.learning.adapt.adapt import AdaptOptions, adapt
from entlink.linking.config import linker_beside, read_config
from knowledge_bases import make_kb
from shared_world import LANDS, linked_world, world

CONFIG = """
[[retriever]]
name = "alias"
[[retriever]]
name = "bm25"
[[retriever]]
name = "dense"
encoder = "{encoder}"
[fusion]
name = "weights"
keep = 20
weights = {{ alias = 0.5, bm25 = 0.25, dense = 0.1 }}
[ranker]
name = "combination"
encoder = "{encoder}"
weights = {{ coherence = 0.0, dense = 0.1 }}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a knowledge base, and options with a tiny encoder."""
    from tiny_bert import make_folder

    folder = tmp_path_factory.mktemp("lands")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTLINK_MODELS", str(folder / "models"))
        (folder / "start.toml").write_text(CONFIG.format(encoder=make_folder(folder / "tiny")), encoding="utf8")
        kb = make_kb(folder, [*tiny_world.rows(), *world()], "lands", descriptions="full")
        yield kb, AdaptOptions(minutes=10, config=str(folder / "start.toml"), train=False)


@pytest.fixture(scope="module")
def adapted(made, tmp_path_factory):
    """The folder of the knowledge base with its linker, to read from only, and the report of adapting it."""
    kb = shutil.copytree(made[0], tmp_path_factory.mktemp("adapted") / "lands.kb")
    return kb, adapt(kb, made[1], quiet)


def stage_of(report):
    return next(one for one in report.stages if one.name == "senses")


def test_shared_words_are_learnt_and_linked_by(adapted):
    kb, report = adapted
    found = stage_of(report)
    assert found.note.startswith(f"{len(LANDS)} words with {2 * len(LANDS)} senses")
    folder = linker_beside(kb)
    assert found.kept
    senses = read_senses(folder / "senses").card.senses
    assert {word: set(entities) for word, entities in senses.items()} == {
        f"{land}ish": {f"{land}ia", f"{land}ish-tongue"} for land in LANDS
    }
    config = read_config(folder)
    [stage] = [one for one in config.evidence if one["name"] == "senses"]
    assert Path(stage["model"]) == folder.resolve() / "senses"
    assert 'model = "./senses"' in (folder / "linker.toml").read_text(encoding="utf8")
    text = "A Corvish guest was seen."
    linker = entlink.load(kb, mentions="given", trust=True)  # its encoder is not in the store
    told = linker.explain(entlink.Document("d", text), entlink.Span(2, 9))
    mention = told.at(entlink.Span(2, 9))
    scores = {one.entity: one.evidence["senses"] for one in mention.candidates}
    assert scores["Corvia"] == pytest.approx(-scores["Corvish-tongue"])
    assert scores["Corvia"] != 0.0


def test_a_killed_stage_is_done_anew(made, adapted, tmp_path):
    kb, options = made
    kb = shutil.copytree(kb, tmp_path / "lands.kb")
    whole = stage_of(adapted[1])

    def progress(stage, done, total):
        if stage == "reading shared words":
            raise Killed

    with pytest.raises(Killed):
        adapt(kb, options, progress)
    again = stage_of(adapt(kb, options, quiet))
    assert (again.note, again.before, again.after) == (whole.note, whole.before, whole.after)


def test_without_an_encoder_it_is_left_out(made, tmp_path):
    kb = shutil.copytree(made[0], tmp_path / "lands.kb")
    lexical = tmp_path / "lexical.toml"
    lexical.write_text(LEXICAL, encoding="utf8")
    found = stage_of(adapt(kb, AdaptOptions(minutes=10, config=str(lexical), train=False), quiet))
    assert not found.kept
    assert found.note == "left out: the linker has no encoder to tell senses by"


def test_a_linker_that_has_senses_has_them_once(made, adapted, tmp_path):
    kb = shutil.copytree(made[0], tmp_path / "lands.kb")
    before = shutil.copytree(linker_beside(adapted[0]), tmp_path / "before.linker")
    (before / "card.json").unlink()  # nobody knows that it was adapted
    again = adapt(kb, AdaptOptions(minutes=10, config=str(before), train=False), quiet)
    names = [one["name"] for one in read_config(linker_beside(kb)).evidence]
    assert names.count("senses") == 1
    assert stage_of(again).note


def test_links_teach_senses(made, tmp_path):
    kb = make_kb(tmp_path, linked_world(), "linked", descriptions="full")
    found = stage_of(adapt(kb, made[1], quiet))
    assert found.note.startswith(f"{len(LANDS)} words with {2 * len(LANDS)} senses")
    assert found.figures["weights"]["senses"] > 0  # fitted, not taken
    assert found.kept
    assert found.after > found.before
