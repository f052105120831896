"""Fusion and weights chosen on gold."""

from __future__ import annotations

import msgspec
import pytest

from entlink.documents import Document, GoldLink, Span
from entlink.errors import ConfigError
from entlink.learning.fit.tune import TuneOptions, tune
from entlink.linking.config import LinkerConfig
from entlink.linking.linker import load
from entlink.ranking.combination import DEFAULT_WEIGHTS

FUSED = LinkerConfig(
    retriever=[{"name": "alias"}, {"name": "edit-distance"}, {"name": "bm25"}],
    fusion={"name": "quotas", "keep": 2, "shares": {"edit-distance": 1.0}},  # finds the misspelt one alone
    ranker={"name": "combination", "weights": {"coherence": 0.0, "dense": 0.0}, "bias": 0.0},
)
SURFACES = {"Alba Moravec": "p0", "Boris Tindale": "p7", "Karlford": "t0", "Karlberg": "t1", "Winfrod": "t6"}


def silent(stage: str, done: float, total: float) -> None:
    """No progress."""


def documents() -> list[Document]:
    found = [
        Document(name, f"{name} again.", gold=(GoldLink(Span(0, len(name)), (id,)),)) for name, id in SURFACES.items()
    ]
    return [*found, Document("unknown", "Xyzzy.", gold=(GoldLink(Span(0, 5), ("p3",)),))]


def tuned(folder, config: LinkerConfig = FUSED, given: list[Document] | None = None, **options):
    linker = load(folder, config=config, mentions="given")
    try:
        return tune(linker, config, given or documents(), TuneOptions(**{"keep": 2, **options}), silent)
    finally:
        linker.kb.close()


@pytest.mark.parametrize("by", ["weights", "quotas"])
def test_a_fusion_that_misses_is_bettered(region_folder, by):
    config, report = tuned(region_folder, by=by)
    assert report.mentions == 6
    assert report.recall_before < report.recall == report.pool_recall == pytest.approx(5 / 6)
    assert report.accuracy == pytest.approx(5 / 6), "what was chosen is what ranks"
    assert config.fusion is not None
    assert config.fusion["name"] == by
    load(region_folder, config=config).kb.close()


def test_a_k_larger_than_every_list_finds_no_more_than_there_is(region_folder):
    assert tuned(region_folder, keep=500)[1].recall == pytest.approx(5 / 6)


def test_a_calibration_does_not_outlive_the_scores_it_was_fitted_to(region_folder):
    fitted = {"name": "calibrated", "weights": {"sum": 1.0}, "bias": -1.0, "ranker": "combination"}
    config, _ = tuned(region_folder, msgspec.structs.replace(FUSED, nil=fitted))
    assert config.nil == {"name": "calibrated"}
    assert tuned(region_folder)[0].nil == FUSED.nil


def test_weights_that_do_worse_on_mentions_not_seen_are_not_taken(region_folder):
    """A town, or who lived there: what the one half of the gold teaches may be wrong in the other."""
    people = tuple(f"p{number}" for number in range(0, 60, 10))
    gold = [(GoldLink(Span(0, 8), ids),) for ids in (("t0",), people) * 20]
    contrary = [Document(str(number), "Karlford again.", gold=one) for number, one in enumerate(gold)]
    start = {**FUSED.ranker, "weights": {**dict.fromkeys(DEFAULT_WEIGHTS, 0.0), "count": 0.01}}
    given = msgspec.structs.replace(FUSED, ranker=start)
    found = [tuned(region_folder, given, contrary, seed=seed, keep=10) for seed in range(8)]
    worse = [config.ranker for config, report in found if report.held_out < report.held_out_before]
    assert worse
    assert all((ranker["weights"]["count"], ranker["bias"]) == (0.01, 0.0) for ranker in worse)
    assert any(config.ranker["weights"]["count"] != 0.01 for config, _ in found)


@pytest.mark.parametrize("size", [1, 2])
def test_one_document_is_enough(region_folder, size):
    names = list(SURFACES)[:size]
    text = " and ".join(names)
    gold = tuple(GoldLink(Span(text.index(name), text.index(name) + len(name)), (SURFACES[name],)) for name in names)
    _, report = tuned(region_folder, given=[Document("one", text, gold=gold)])
    assert (report.mentions, report.accuracy, report.held_out) == (size, 1.0, 1.0)


def test_only_a_fusion_can_be_tuned(region_folder):
    with pytest.raises(ConfigError, match=r"only a linker with a \[fusion\]"):
        tuned(region_folder, LinkerConfig())


def test_a_fusion_that_finds_as_much_as_any_stays(region_folder):
    weights = {"alias": 0.3, "edit-distance": 0.7, "bm25": 0.4}
    given = msgspec.structs.replace(FUSED, fusion={"name": "weights", "keep": 9, "weights": weights})
    config, report = tuned(region_folder, given)
    assert report.recall == report.recall_before == pytest.approx(5 / 6)
    assert config.fusion == {"name": "weights", "keep": 2, "weights": weights}


def test_of_many_retrievers_those_of_the_fusion_are_tried(region_folder):
    from entlink.candidates.fusion import QuotaFusion, WeightedFusion
    from entlink.learning.fit.tune import _fused

    many = [f"r{number}" for number in range(8)]
    assert _fused(WeightedFusion({"r1": 1.0, "r5": 0.5}, keep=5), many) == ["r1", "r5"]
    assert _fused(WeightedFusion({"r1": 1.0}, keep=5), many[:6]) == many[:6]
    assert _fused(QuotaFusion({"r1": 1.0}, keep=5), many) == many
    adapted = msgspec.structs.replace(
        FUSED,
        retriever=[*FUSED.retriever, *({"name": "edit-distance"} for _ in range(5))],
        fusion={"name": "weights", "keep": 2, "weights": {"edit-distance": 1.0, "alias": 0.01}},
    )
    config, report = tuned(region_folder, adapted)
    assert report.mentions == 6
    assert set(config.fusion["weights"]) <= {"alias", "edit-distance"}
