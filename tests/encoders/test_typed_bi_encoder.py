"""A linker with a bi-encoder that knows types: TyDE as evidence, and for the type of a NIL."""

from __future__ import annotations

import subprocess
import sys

import numpy
import pytest
from safetensors.numpy import load_file, save_file

import entlink
from entlink.documents import Candidate, Document, Mention, Span
from entlink.encoders.models.card import read_card
from entlink.encoders.trained.settings import PairSettings
from entlink.encoders.trained.type_names import TypeNames, write_type_names
from entlink.encoders.trained.typed import load_pair_dual, load_typed_dual
from entlink.errors import ConfigError, DamagedError, InputError
from entlink.evidence.bi_encoder import BiEncoderEvidence
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.evidence import with_numbers
from entlink.ranking.similarity import SimilarityRanker
from entlink.testing import check_evidence
from pair_models import make_model, save_card

COARSE, FINE, WIDE = ("place", "thing", "person"), ("a", "b"), 4
LINKER = """
[detector]
name = "given"

[[retriever]]
name = "alias"
limit = 10

[[evidence]]
name = "bi-encoder"
model = "./tyde"

[ranker]
name = "prior-times-similarity"
evidence = "bi-encoder"
times = ["coarse-types", "fine-types"]
negative = "keep"

[nil]
name = "threshold"
threshold = {threshold}

[nil_type]
name = "bi-encoder"
model = "./tyde"
"""


@pytest.fixture(scope="module")
def tyde(tmp_path_factory):
    """A random model, with layers of types beside its projection."""
    folder = tmp_path_factory.mktemp("typed") / "tyde"
    make_model(folder, "dual", PairSettings(24, 24), dimension=WIDE)
    chance, head = numpy.random.default_rng(3), load_file(folder / "head.safetensors")
    for side in ("mention", "entity"):
        for kind, names in (("coarse", COARSE), ("fine", FINE)):
            head[f"{side}_{kind}.weight"] = chance.normal(size=(len(names), WIDE)).astype(numpy.float32)
            head[f"{side}_{kind}.bias"] = chance.normal(size=len(names)).astype(numpy.float32)
    save_file(head, folder / "head.safetensors")
    write_type_names(folder, TypeNames(COARSE, FINE))
    save_card(folder, "dual", PairSettings(24, 24), WIDE)
    return folder


def document(text, *surfaces):
    places = [text.index(surface) for surface in surfaces]
    mentions = (Mention(Span(at, at + len(one)), one) for at, one in zip(places, surfaces, strict=True))
    return Document("d", text, mentions=tuple(mentions))


TEXT = document("Mercury is near the Sun, and Zork is not.", "Mercury", "Sun", "Zork")


def asked(kb):
    found = [[Candidate(one.entity, 0.5) for one in kb.aliases(mention.text)] for mention in TEXT.mentions]
    return list(map(Shortlist, [TEXT] * 3, TEXT.mentions, found))


@pytest.mark.parametrize("types", ["dot", "probability"])
def test_its_numbers_are_those_of_the_formulas(world, tyde, types):
    """sim, s_c and s_f of paper 5 from the layers in the file, one pair at a time."""
    stage = BiEncoderEvidence(world, model=tyde, types=types)
    check_evidence(stage, asked(world))
    dual, head = load_typed_dual(tyde), load_file(tyde / "head.safetensors")
    softmax, logistic = (lambda row: numpy.exp(row) / numpy.exp(row).sum(), lambda row: 1 / (1 + numpy.exp(-row)))
    seen = 0
    for shortlist, told in zip(asked(world), stage.gather(asked(world)), strict=True):
        [mention] = dual.encode_mentions([(TEXT, shortlist.mention)])
        for candidate, numbers in zip(shortlist.candidates, told, strict=True):
            [entity] = dual.encode_entities([world.require(candidate.entity)])
            cosine = mention @ entity / numpy.linalg.norm(mention) / numpy.linalg.norm(entity)
            assert numbers["bi-encoder"] == pytest.approx(cosine, abs=2e-3)
            for kind, chances in (("coarse", softmax), ("fine", logistic)):
                own, other = (
                    head[f"{side}_{kind}.weight"] @ vector + head[f"{side}_{kind}.bias"]
                    for side, vector in (("mention", mention), ("entity", entity))
                )
                wanted = own @ other if types == "dot" else chances(own) @ chances(other)
                assert numbers[f"{kind}-types"] == pytest.approx(wanted, rel=5e-3, abs=5e-3)
                seen += 1
    assert seen >= 4


def test_a_bi_encoder_without_types_gives_its_similarity_alone(world, tmp_path):
    make_model(tmp_path / "de", "dual", PairSettings(24, 24), dimension=WIDE)
    shortlists = asked(world)[:1]
    [told] = BiEncoderEvidence(world, model=tmp_path / "de").gather(shortlists)
    assert [set(numbers) for numbers in told] == [{"bi-encoder"}] * len(told)
    dual = load_pair_dual(tmp_path / "de")
    [mention] = dual.encode_mentions([(TEXT, shortlists[0].mention)])
    [entity] = dual.encode_entities([world.require(shortlists[0].candidates[0].entity)])
    assert told[0]["bi-encoder"] == pytest.approx(mention @ entity, abs=2e-3)


def test_a_linker_scores_by_types_and_types_what_is_not_there(world_folder, tyde, tmp_path):
    (tmp_path / "tyde").symlink_to(tyde)
    (tmp_path / "own.toml").write_text(LINKER.format(threshold=0.0), encoding="utf8")
    with KnowledgeBase.open(world_folder) as kb:
        linker = entlink.load(world_folder, config=tmp_path / "own.toml")
        link = linker.link(TEXT).links[0]
        [told] = with_numbers(asked(kb)[:1], {"bi-encoder": BiEncoderEvidence(kb, model=tyde)})
        assert {one.entity for one in link.candidates} == {one.entity for one in told.candidates}
        priors = {name.entity: name.probability for name in kb.aliases("Mercury")}
        products = {
            one.entity: priors[one.entity] * numpy.prod([one.evidence[name] for name in BiEncoderEvidence.gives])
            for one in told.candidates
        }
        assert {one.entity: one.score for one in link.candidates} == pytest.approx(products, abs=1e-3)
        linker.kb.close()


def test_a_nil_has_the_type_that_the_model_gives_its_mention(world_folder, tyde, tmp_path):
    (tmp_path / "tyde").symlink_to(tyde)
    written = LINKER.format(threshold=1.0).replace('["coarse-types", "fine-types"]', "[]")  # so that all is below
    (tmp_path / "own.toml").write_text(written, encoding="utf8")
    linker = entlink.load(world_folder, config=tmp_path / "own.toml")
    mercury, sun, zork = TEXT.mentions
    tagged = Mention(sun.span, sun.text, "STAR")
    other = document("The Sun.", "Sun")
    first, second = linker.link_all([Document("d", TEXT.text, mentions=(mercury, tagged, zork)), other])
    linker.kb.close()
    wanted = [
        type
        for type, _ in load_typed_dual(tyde).mention_types(
            [(TEXT, mercury), (TEXT, zork), (other, other.mentions[0])]
        )
    ]
    assert [one.nil_type for one in first.links] == [wanted[0], "STAR", wanted[1]]
    assert [one.nil_type for one in second.links] == [wanted[2]]
    assert set(wanted) <= set(COARSE)


def test_linking_with_types_needs_no_torch(world_folder, tyde, tmp_path):
    (tmp_path / "tyde").symlink_to(tyde)
    (tmp_path / "own.toml").write_text(LINKER.format(threshold=0.0), encoding="utf8")
    code = (
        f"import sys, entlink; entlink.load({str(world_folder)!r}, config={str(tmp_path / 'own.toml')!r})"
        ".link('Mercury'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# P(e|m), sim, s_c, s_f of three candidates: the last has two factors below 0.
PAPER = {"a": (0.6, 0.5, 2.0, 0.1), "b": (0.3, 0.8, 1.0, 3.0), "c": (0.1, -0.9, -8.0, 2.0)}
NAMES = ("prior", "bi-encoder", "coarse-types", "fine-types")


@pytest.mark.parametrize(
    ("times", "negative", "wanted"),
    [
        ([], "keep", {"a": 0.3, "b": 0.24, "c": -0.09}),
        (["coarse-types"], "keep", {"c": 0.72, "a": 0.6, "b": 0.24}),  # two below 0 make one above
        (["fine-types"], "keep", {"b": 0.72, "a": 0.03, "c": -0.18}),
        (["coarse-types", "fine-types"], "keep", {"c": 1.44, "b": 0.72, "a": 0.06}),
        ([], "zero", {"a": 0.3, "b": 0.24, "c": 0.0}),
        (["coarse-types"], "zero", {"a": 0.6, "b": 0.24, "c": 0.0}),
        (["coarse-types", "fine-types"], "zero", {"b": 0.72, "a": 0.06, "c": 0.0}),
    ],
)
def test_ways_to_score_by_hand(times, negative, wanted):
    """The strategies of table 4, as in the paper and with what is below 0 counted as 0."""
    mention = Mention(Span(0, 1), "x")
    candidates = [Candidate(id, 0.0, dict(zip(NAMES, told, strict=True))) for id, told in PAPER.items()]
    ranker = SimilarityRanker(None, evidence="bi-encoder", times=times, negative=negative)
    [found] = ranker.rank([Shortlist(Document("d", "x"), mention, candidates)])
    assert [(one.entity, one.score) for one in found] == [(id, pytest.approx(score)) for id, score in wanted.items()]


def test_settings_and_models_that_do_not_fit(world, tyde, tmp_path):
    from entlink.linking.config import make_stage

    with pytest.raises(ConfigError, match="one of 'dot', 'probability' is allowed"):
        make_stage("evidence", {"name": "bi-encoder", "model": str(tyde), "types": "cosine"}, world)
    with pytest.raises(ConfigError, match="one of 'zero', 'keep' is allowed"):
        make_stage("ranker", {"name": "prior-times-similarity", "negative": "drop"}, world)
    make_model(tmp_path / "de", "dual", PairSettings(24, 24), dimension=WIDE)
    with pytest.raises(InputError, match="without types"):
        make_stage("nil_type", {"name": "bi-encoder", "model": str(tmp_path / "de")}, world)
    write_type_names(tmp_path / "de", TypeNames(COARSE, FINE))
    save_card(tmp_path / "de", "dual", PairSettings(24, 24), WIDE)
    assert "types.json" in read_card(tmp_path / "de").files
    with pytest.raises(DamagedError, match=r"the layer 'mention_coarse'.*is not here"):
        make_stage("nil_type", {"name": "bi-encoder", "model": str(tmp_path / "de")}, world)
