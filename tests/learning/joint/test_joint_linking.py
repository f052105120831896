"""A joint model at work, without torch: the numbers of training, one reading, and whatever texts there are."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys

import msgspec
import numpy
import pytest
import torch

import entlink
from entlink.candidates.joint import JointRetriever
from entlink.documents import Candidate, Document, Mention, Span, Turn
from entlink.encoders.dual import load_dual
from entlink.encoders.joint.model import load_joint
from entlink.encoders.joint.tokens import pieces
from entlink.encoders.loading import load_encoder
from entlink.errors import ConfigError, DamagedError, InputError
from entlink.interfaces import Question, Shortlist
from entlink.kb.indexes.vectors.span_entities import SpanEntities
from entlink.learning.base import load_base
from entlink.learning.building import make_joint
from entlink.learning.joint.network import SpanRows
from entlink.learning.pairs.batches import padded
from entlink.learning.pairs.data import prepare
from entlink.learning.train import train
from entlink.linking.config import read_config
from entlink.mentions.joint import JointDetector
from entlink.ranking.joint import JointRanker
from entlink.testing import check_detector, check_ranker, check_retriever
from gathered import scores_of
from tiny_joint import joint_config, make_talk, make_texts
from tiny_training import make_base

CONFIG = """
[detector]
name = "joint"
model = "./joint"
by = "joint"
[[retriever]]
name = "joint"
model = "./joint"
[ranker]
name = "joint"
model = "./joint"
[nil]
name = "threshold"
threshold = 0.0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, stage_folder, base):
    """A model that knows the tiny world."""
    made = tmp_path_factory.mktemp("joint") / "joint"
    config = joint_config(base, epochs=8)
    talks = [make_talk(make_texts(6, seed), f"talk-{seed}") for seed in range(20, 40)]
    with entlink.KnowledgeBase.open(stage_folder) as kb:
        train(config, kb, *prepare(config, kb, [*make_texts(240), *talks], make_texts(40, 1)), made)
    return made


@pytest.fixture
def linker(folder, stage_folder, tmp_path):
    shutil.copytree(folder, tmp_path / "joint")
    (tmp_path / "linker.toml").write_text(CONFIG)
    made = entlink.load(stage_folder, config=read_config(tmp_path))
    yield made
    made.kb.close()


def right(documents, linked):
    """How many of the gold links were found."""
    gold = {(one.id, g.span, g.entities[0]) for one in documents for g in one.gold}
    found = {(one.id, link.mention.span, link.entity) for one in linked for link in one.links}
    return len(gold & found), len(gold), len(found)


# The same numbers


@pytest.mark.parametrize(("export", "near"), [("fp32", 2e-4), ("int8", 0.4)])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_scores_and_vectors_are_those_of_training(stage, base, tmp_path, export, near, similarity):
    entities = base
    if similarity == "dot":
        from tiny_training import make_config, make_examples

        dual = make_config(base, "bi-encoder", similarity="dot", scale=0.1, dimension=12)
        train(dual, stage, make_examples(16), [], tmp_path / "dual")
        entities = tmp_path / "dual"
    config = joint_config(base, export=export, entities=str(entities), scale=1.0)
    train(config, stage, *prepare(config, stage, make_texts(48), make_texts(6, 1)), tmp_path / "made")
    network = make_joint(config.model, load_base(str(tmp_path / "made")), load_dual(str(entities)), seed=99).eval()
    model = load_joint(tmp_path / "made", threads=1)
    talk = make_talk(make_texts(3, 7))
    for piece in pieces(talk):
        (reading,) = model.readings([piece])
        spans, scores = reading.scored()
        (window,) = model.reader.windows(reading.piece)
        row = model.reader.row(reading.piece, window)
        first, last = torch.from_numpy(spans + row.first).T
        asked = SpanRows(torch.zeros(len(spans), dtype=torch.long), first, last)
        with torch.inference_mode():
            hidden = network(padded([row], model.reader.pad_id, torch.device("cpu")))
            wanted, vectors = network.scores(hidden, asked).numpy(), network.vectors(hidden, asked).numpy()
        assert wanted.std() > 0.1
        assert numpy.abs(scores - wanted).max() < near * max(1.0, wanted.std())
        assert numpy.abs(reading.vectors(spans) - vectors).max() < near * numpy.abs(vectors).max()


def test_the_joint_score_by_hand(stage, folder):
    """log P(mention) + log P(entity | mention), over the entities with the name, by plain loops."""
    detector = JointDetector(stage, folder, by="joint", threshold=0.0)
    model, dual = detector.model, detector.model.dual()
    text = make_texts(1, 3)[0].text
    (found,) = detector.spans(pieces(Document("d", text)), 0.0)
    assert any(one.joint > 0.5 for one in found)
    (reading,) = model.readings(pieces(Document("d", text)))
    for one in found:
        names = [name.entity for name in stage.aliases(text[one.start : one.end])]
        if not names:
            assert (one.joint, one.entity) == (0.0, None)
            continue
        vector = reading.vectors_of([Span(one.start, one.end)])[0]
        entities = dual.encode_entities([stage.require(name) for name in names])
        logits = [model.settings.scale * float(entity @ vector) for entity in entities]
        best = max(range(len(names)), key=logits.__getitem__)
        log = math.log(one.chance) + logits[best] - math.log(sum(map(math.exp, logits)))
        assert math.log(one.joint) == pytest.approx(log, abs=0.02)  # vectors are kept in half precision
        assert stage.head(one.entity)[0] == names[best]
    every = [one for one in found if one.joint >= 0.3]
    detector.threshold = 0.3
    (kept,) = detector.detect([Document("d", text)])
    assert [(m.span.start, m.span.end) for m in kept] == sorted(by_brute_force(every))


def by_brute_force(found):
    kept = []
    for one in sorted(found, key=lambda one: -one.joint):
        if not any(one.start < end and start < one.end for start, end in kept):
            kept.append((one.start, one.end))
    return kept


# Detection


def test_the_threshold_is_a_dial(stage, folder):
    texts = make_texts(40, 5)
    gold = {(one.id, g.span) for one in texts for g in one.gold}
    recalls, counts = [], []
    for threshold in (0.001, None, 0.9999):
        found = {
            (one.id, mention.span)
            for one, own in zip(texts, JointDetector(stage, folder, threshold=threshold).detect(texts), strict=True)
            for mention in own
        }
        recalls.append(len(gold & found) / len(gold))
        counts.append(len(found))
    assert recalls[0] >= recalls[1] > 0.9
    assert counts[0] >= counts[1] >= counts[2]
    assert counts[0] > counts[2]


@pytest.mark.parametrize("by", ["mention", "joint"])
def test_it_keeps_what_detectors_promise(stage, folder, by):
    texts = [one.text for one in make_texts(4, 2)]
    strange = ["", "  ", "\ud800 bridge", "😀 crew\u200b 北京 lead", "x" * 500 + " deck", "bridge " * 100]
    documents = [Document(str(at), text) for at, text in enumerate([*texts, *strange])]
    check_detector(JointDetector(stage, folder, by=by, threshold=0.1), [*documents, make_talk(make_texts(3, 4))])


def test_why(stage, folder):
    text = make_texts(1, 3)[0]
    detector = JointDetector(stage, folder, threshold=0.9)
    told = {one.span: one for one in detector.explain(text, Span(0, len(text.text.split()[0])))}
    assert Span(0, len(text.text.split()[0])) in told
    linked = {mention.span for mention in detector.detect([text])[0]}
    assert linked == {span for span, one in told.items() if one.verdict.reason is None}


def test_every_span_of_a_long_text_is_scored_once(folder):
    words = " ".join(["river", "the", "bridge", "near", "unknown", "boat"] * 25).split()
    text = " ".join(words)
    model = load_joint(folder)
    (reading,) = model.readings(pieces(Document("d", text)))
    assert len(model.reader.windows(reading.piece)) > 5
    found = [text[slice(*reading.characters(*span))] for span in reading.scored()[0].tolist()]
    wanted = [
        " ".join(words[first:last])
        for first in range(len(words))
        for last in range(first + 1, min(first + 3, len(words)) + 1)
    ]
    assert found == wanted
    places = numpy.array([[at, at + 1] for at in range(len(words))])
    assert numpy.isfinite(reading.vectors(places)).all()
    assert reading.vectors(places).any(axis=1).all()


def test_a_hundred_thousand_characters(folder, linker):
    text = "we saw the bridge near river and boat . " * 2500
    assert len(text) == 100_000
    links = linker.link(text).links
    assert len(links) > 1000
    assert all(text[link.mention.span.start : link.mention.span.end] == link.mention.text for link in links)


# Linking in one reading


def test_a_linker_of_nothing_else(linker):
    texts = make_texts(60, 8)
    hits, gold, found = right(texts, linker.link_all(texts))
    assert hits / gold > 0.85
    assert hits / found > 0.85
    link = linker.link(texts[0]).links[0]
    assert link.score == pytest.approx(link.candidates[0].score)
    assert "joint" in link.candidates[0].evidence
    assert [linker.link(text).links for text in texts[:3]] == [one.links for one in linker.link_all(texts[:3])]


def test_a_text_is_encoded_once(linker):
    model = linker.detector.model
    assert model is linker.retrievers[0].model
    before = model.encoded
    texts = make_texts(30, 9)
    list(linker.link_all(texts))
    assert model.encoded - before == len({one.text for one in texts})
    talk = make_talk(make_texts(6, 10))
    before = model.encoded
    linked = linker.link(talk)
    assert model.encoded - before == 6
    assert right([talk], [linked])[0] >= 0.5 * len(talk.gold)


def test_a_turn_is_read_after_what_was_said_before(linker):
    """The bridge of a turn without any other word is that of the turn before."""
    model = linker.detector.model
    talk = Document.of_turns("t", [Turn("river boat sail", "ana"), Turn("bridge", "ben")])
    (with_context,) = model.readings([pieces(talk)[1]])
    (alone,) = model.readings(pieces(Document("a", "bridge")))
    assert with_context.piece.context
    assert not alone.piece.context
    assert not numpy.allclose(with_context.scored()[1], alone.scored()[1])
    conversation = linker.conversation()
    conversation.add("river boat sail", "ana")
    turn = conversation.add("bridge", "ben")
    (scored,) = linker.detector.detect_last_turns([talk])
    assert [one.text for one in scored] == [link.mention.text for link in turn.links]
    assert [one.score for one in scored] == [link.mention.score for link in turn.links]
    assert [(one.mention.span, one.entity) for one in linker.link(talk).links] == [
        (link.mention.span, link.entity) for link in turn.links_in_whole
    ]


def test_the_name_of_a_speaker_is_no_mention_of_the_turn(folder, stage_folder, stage):
    linker = entlink.load(stage_folder, config="lexical")
    try:
        named = msgspec.structs.replace(linker.conversations, speaker_names=True)
        made = entlink.Linker(
            stage,
            JointDetector(stage, folder, threshold=0.3),
            [JointRetriever(stage, folder)],
            JointRanker(scale=20.0),
            linker.nil,
            conversations=named,
        )
        turn = made.conversation().add("the deck near boat", "bridge")
        assert [link.mention.text for link in turn.links] == ["deck"]
    finally:
        linker.kb.close()


def test_it_scores_what_others_found(stage, folder):
    retriever = JointRetriever(stage, folder)
    text = make_texts(1, 3)[0]
    gold = text.gold[0]
    mention = Mention(gold.span, text.text[gold.span.start : gold.span.end])
    check_retriever(retriever, [Question(text, [mention]), Question(Document("e", "  the"), [])])
    ((own,),) = retriever.retrieve([Question(text, [mention])])
    assert own[0].entity == gold.entities[0]
    others = [Candidate(own[1].entity, 0.0), Candidate("atlantis", 0.0), Candidate(own[0].entity, 0.0)]
    (scores,) = scores_of(retriever, [Shortlist(text, mention, others)])
    assert scores == pytest.approx([own[1].score, 0.0, own[0].score], abs=1e-6)
    blank = Mention(Span(0, 1), " ")
    assert scores_of(retriever, [Shortlist(Document("b", " x"), blank, others[:1])]) == [[0.0]]


def test_with_an_index_the_nearest_of_all_are_found(stage_folder, base, folder, tmp_path):
    from entlink.io.progress import ignore_progress
    from entlink.kb.indexes.vectors.writing import build_vectors

    own = shutil.copytree(stage_folder, tmp_path / "own.kb")
    with entlink.KnowledgeBase.open(own) as kb, pytest.raises(ConfigError, match="no index over vectors"):
        SpanEntities(kb, load_dual(str(base)), search="index")
    build_vectors(own, load_dual(str(base)), ignore_progress)
    with entlink.KnowledgeBase.open(own) as kb:
        retriever = JointRetriever(kb, folder, limit=3, search="index")
        text = Document("d", "river boat zzz sail")
        ((found,),) = retriever.retrieve([Question(text, [Mention(Span(11, 14), "zzz")])])
        assert len(found) == 3
        assert found[0].score >= found[-1].score


# The ranker


def test_the_ranker_by_hand():
    candidates = [Candidate("a", 0.1, {"joint": 0.1}), Candidate("b", 0.2, {"joint": 0.3}), Candidate("c", 0.9)]
    shortlist = Shortlist(Document("d", "x"), Mention(Span(0, 1), "x", None, 0.5), candidates)
    ((best, second, last),) = JointRanker(scale=10.0).rank([shortlist])
    share = 1 / (1 + math.exp(-2))
    assert [one.entity for one in (best, second, last)] == ["b", "a", "c"]
    assert [one.score for one in (best, second, last)] == pytest.approx([0.5 * share, 0.5 * (1 - share), 0.0])
    check_ranker(JointRanker(scale=10.0), [shortlist])
    for settings in ({}, {"scale": 0.0}, {"scale": math.inf}):
        with pytest.raises(ConfigError):
            JointRanker(**settings)


# What can be wrong


def test_it_links_without_torch(folder, stage_folder, tmp_path):
    shutil.copytree(folder, tmp_path / "joint")
    (tmp_path / "linker.toml").write_text(CONFIG)
    text = make_texts(1, 3)[0].text
    script = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "import entlink; from entlink.linking.config import read_config\n"
        f"linker = entlink.load({str(stage_folder)!r}, config=read_config({str(tmp_path)!r}))\n"
        f"print(len(linker.link({text!r}).links))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert int(ran.stdout) > 0


def test_entities_of_another_encoder_are_refused(stage, folder, tmp_path):
    other = make_base(tmp_path / "other", seed=9)
    with pytest.raises(ConfigError, match="was trained towards vectors of entities by"):
        JointRetriever(stage, folder, encoder=str(other))


def test_a_model_of_another_kind_is_refused(stage, base, folder):
    with pytest.raises(InputError, match=r"no model\.json"):
        JointDetector(stage, base)
    with pytest.raises(InputError, match="is of the kind 'joint'"):
        load_dual(str(folder))
    with pytest.raises(InputError, match="detector `joint`"):
        load_encoder(str(folder))
    with pytest.raises(ConfigError, match="from 0 to 1"):
        JointDetector(stage, folder, threshold=1.5)


def test_a_damaged_folder_is_told(stage, folder, tmp_path):
    own = shutil.copytree(folder, tmp_path / "own")
    (own / "head.safetensors").unlink()
    with pytest.raises(DamagedError, match="missing"):
        JointDetector(stage, own)
    card = json.loads((own / "model.json").read_text())
    del card["files"]["head.safetensors"]
    (own / "model.json").write_text(json.dumps(card))
    with pytest.raises(DamagedError, match="the layer 'edges' of the joint model"):
        JointDetector(stage, own)
    card["settings"]["longest"] = 0
    (own / "model.json").write_text(json.dumps(card))
    with pytest.raises(DamagedError, match="settings in the card"):
        JointDetector(stage, own)


def test_what_was_read_is_not_kept_without_end(stage, folder, monkeypatch):
    monkeypatch.setattr("entlink.encoders.joint.model._MOST_KEPT", 4000)
    detector = JointDetector(stage, folder)
    detector.model._kept.clear()
    detector.model._size = 0
    detector.detect(make_texts(40, 11))
    assert sum(one.size for one in detector.model._kept.values()) == detector.model._size <= 4000
