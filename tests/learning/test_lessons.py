"""What a bi-encoder is taught, and what its figure counts."""

from __future__ import annotations

import pytest
import torch
from safetensors.numpy import load_file

from entlink.documents import Document, Mention, Span
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.errors import InputError
from entlink.io.progress import ignore_progress
from entlink.learning.base import load_base
from entlink.learning.building import make_network
from entlink.learning.pairs.batches import Chosen, Material
from entlink.learning.pairs.data import prepare
from entlink.learning.pairs.examples import Example
from entlink.learning.pairs.learners import BiLearner, columns_of, comparable, looks, with_rivals
from entlink.learning.train import train
from tiny_joint import joint_config, make_texts
from tiny_training import make_config, make_examples

TEXT = Document("one", "bridge crew")
BRIDGE, CREW = Mention(Span(0, 6), "bridge"), Mention(Span(7, 11), "crew")


def material(stage, base, examples):
    reader = PairReader(load_base(str(base)).tokenizer, make_config(base).model.pairs)
    return Material(stage, reader, examples, ignore_progress, "")


# What is right is not taught as wrong


@pytest.fixture
def ambiguous(stage, base):
    """A mention that may mean two, another of its document, and a document that brings all of them up."""
    others = [
        Example(Document("two", "bridge"), BRIDGE, "bridge-play"),
        Example(Document("three", "crew"), Mention(Span(0, 4), "crew"), "crew-water"),
        Example(Document("four", "line"), Mention(Span(0, 4), "line"), "line-play"),
    ]
    own = [
        Example(TEXT, BRIDGE, "bridge-water"),
        Example(TEXT, BRIDGE, "bridge-play"),
        Example(TEXT, CREW, "crew-water"),
    ]
    return material(stage, base, [*own, *others])


def test_what_is_right_by_an_example_of_another_batch_is_not_wrong(ambiguous):
    """Other documents bring the entities into the batch of the first example; its own document's are not in it."""
    chosen = [Chosen(at, ()) for at in (0, 3, 4, 5)]
    columns = columns_of(ambiguous, chosen)
    right = {columns[ambiguous.own[1]], columns[ambiguous.own[2]]}
    first, *others = comparable(ambiguous, chosen, columns).tolist()
    assert {column for column, one in enumerate(first) if not one} == right
    assert all(all(row) for row in others)


def test_what_is_right_is_not_wrong_among_all_entities(ambiguous):
    """As with vectors of entities that do not change: all are columns."""
    columns = {row: row for row in range(len(ambiguous.entities))}
    (found,) = comparable(ambiguous, [Chosen(2, ())], columns).tolist()
    assert {row for row, one in enumerate(found) if not one} == {ambiguous.own[0], ambiguous.own[1]}
    (named,) = comparable(ambiguous, [Chosen(2, (ambiguous.own[0],))], columns).tolist()
    assert {row for row, one in enumerate(named) if not one} == {ambiguous.own[1]}
    (itself,) = comparable(ambiguous, [Chosen(0, (ambiguous.own[1],))], columns).tolist()
    assert not itself[ambiguous.own[1]]


def test_a_document_with_one_entity_leaves_nothing_out(stage, base):
    found = material(stage, base, make_examples(20))
    assert (found.right_in, found.right_at) == ({}, {})


# Examples of weight 0


def test_a_step_of_weightless_examples_is_left_out(stage, base, tmp_path):
    """Such a step would divide by 0."""
    examples = make_examples(12)
    silent = [one._replace(weight=0.0, negatives=one.negatives[:1]) for one in make_examples(12, 5)]
    for kind in ("bi-encoder", "cross-encoder"):
        config = make_config(base, kind, batch=1)
        report = train(config, stage, [*examples, *silent], [], tmp_path / kind)
        assert (report.examples, report.steps) == (12, 12)


def test_a_text_of_weight_0_is_left_out(stage, base, tmp_path):
    config = joint_config(base, batch=1)
    texts, _ = prepare(config, stage, make_texts(8), [])
    report = train(
        config, stage, [*texts[:4], *(one._replace(weight=0.0) for one in texts[4:])], [], tmp_path / "made"
    )
    assert (report.examples, report.steps) == (4, 4)


def test_what_the_others_lack_is_told_whatever_weightless_ones_have(stage, base, tmp_path):
    plain = [one._replace(negatives=()) for one in make_examples(8)]
    silent = [one._replace(weight=0.0) for one in make_examples(8, 5)]
    with pytest.raises(InputError, match="no example has negatives"):
        train(make_config(base), stage, [*plain, *silent], [], tmp_path / "made")
    for weight in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match=f"the document '0-0' weighs {weight}. Give it a weight from 0 on"):
            train(make_config(base), stage, [plain[0]._replace(weight=weight)], [], tmp_path / "made")


def test_what_a_weightless_example_says_is_right_is_not_wrong(stage, base):
    reader = PairReader(load_base(str(base)).tokenizer, make_config(base).model.pairs)
    taught = [Example(TEXT, BRIDGE, "bridge-water"), Example(Document("two", "bridge"), BRIDGE, "bridge-play")]
    silent = [Example(TEXT, BRIDGE, "bridge-play", weight=0.0), Example(TEXT, CREW, "crew-play", weight=0.0)]
    both = Material(stage, reader, taught, ignore_progress, "", silent)
    plain = Material(stage, reader, taught, ignore_progress, "")
    chosen = [Chosen(0, ()), Chosen(1, ())]
    assert comparable(both, chosen, columns_of(both, chosen)).tolist() == [[True, False], [True, True]]
    assert comparable(plain, chosen, columns_of(plain, chosen)).all()
    assert (len(both), len(both.entities)) == (2, 2)
    assert both.digest() != plain.digest()


# The figure


def of_one_document(count, id="talk", sense=""):
    """Examples without negatives, all of one document, and of one sense if that is given."""
    made = [one for one in make_examples(4 * count) if one.entity.endswith(sense)]
    return [one._replace(document=Document(id, one.document.text), negatives=()) for one in made[:count]]


def figure(stage, base, examples, batch=8):
    found = material(stage, base, examples)
    network = make_network(make_config(base, "bi-encoder").model, load_base(str(base)), 0).eval()
    with torch.inference_mode():
        return BiLearner(network, torch.device("cpu"), 1.0, batch).figure(found, ignore_progress, "")


def test_a_mention_without_rivals_does_not_count(stage, base):
    examples = [one._replace(negatives=(f"{one.entity.split('-')[0]}-play",)) for one in make_examples(24)]
    asked = [one for one in examples if one.entity.endswith("water")]
    plain = figure(stage, base, asked)
    assert 0 < plain < 1
    alone = of_one_document(12)
    assert with_rivals(material(stage, base, alone), 8) == 0
    assert figure(stage, base, alone) == 0.0
    together = material(stage, base, [*asked, *alone])
    assert with_rivals(together, 1) == len(asked)
    assert figure(stage, base, [*asked, *alone], batch=1) == plain


def test_the_batches_of_a_look_mix_documents(stage, base):
    """So that mentions of long documents have rivals; where each has its own document, the order stays."""
    examples = [*of_one_document(16, sense="water"), *of_one_document(8, "other", sense="play")]
    found = material(stage, base, examples)
    parts = looks(found, 6)
    assert sorted(one.example for part in parts for one in part) == list(range(24))
    assert [sum(found.documents[one.example] == "other" for one in part) for part in parts] == [2, 2, 2, 2]
    assert with_rivals(found, 6) == 24
    apart = material(stage, base, make_examples(10))
    assert [one.example for part in looks(apart, 4) for one in part] == list(range(10))


def test_where_nothing_can_be_judged_the_last_weights_are_kept(stage, base, tmp_path, caplog):
    config = make_config(base, "bi-encoder", epochs=2, negatives=0)
    examples = [one._replace(negatives=()) for one in make_examples(32)]
    report = train(config, stage, examples, of_one_document(12), tmp_path / "made")
    assert (report.best, report.held_out, report.steps) == (None, 0, 8)
    assert "none of the 12 held-out examples can be judged" in caplog.text
    train(config, stage, examples, [], tmp_path / "plain")
    kept, plain = (load_file(tmp_path / name / "weights.safetensors") for name in ("made", "plain"))
    assert all((kept[name] == plain[name]).all() for name in plain)


def test_the_count_of_what_is_held_out_is_of_those_judged(stage, base, tmp_path):
    held_out = [*make_examples(5, 1), *of_one_document(1, "1-0")]  # the last is right in the document of the first
    config = make_config(base, "bi-encoder", batch=1, steps=1)
    report = train(config, stage, make_examples(8), held_out, tmp_path / "made")
    assert report.held_out == 5


def test_examples_that_tell_nothing_apart_are_told(stage, base, tmp_path):
    config = make_config(base, "bi-encoder", negatives=0)
    alone = make_config(base, "bi-encoder", batch=1)
    plain = [one._replace(negatives=()) for one in make_examples(8)]
    same = [one._replace(entity="bridge-water") for one in plain]
    for how, examples in ((config, of_one_document(8)), (config, same), (alone, plain)):
        with pytest.raises(InputError, match=r"a bi-encoder has nothing to tell apart.*training\.negatives"):
            train(how, stage, examples, [], tmp_path / "made")
    assert not (tmp_path / "made").exists()
    fixed = make_config(base, "bi-encoder", batch=1, separate=True, fixed_entities=True, steps=1)
    assert train(fixed, stage, plain, [], tmp_path / "made").loss > 0
