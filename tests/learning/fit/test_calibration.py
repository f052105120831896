"""A linker calibrated on its knowledge base alone."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from entlink.documents import Document, Mention, Span
from entlink.errors import InputError
from entlink.learning.fit.calibration import CalibrationOptions, calibrate, importances
from entlink.learning.own_texts.mentions import Kind, SelfMention
from entlink.linking.config import LinkerConfig, read_config
from entlink.linking.linker import load
from made_region import STRANGERS, region_kb

FUSED = LinkerConfig(
    retriever=[{"name": "alias"}, {"name": "edit-distance", "similarity": 0.5, "distance": 8}],
    fusion={"name": "weights", "weights": {"alias": 1.0, "edit-distance": 0.5}},
    ranker={"name": "combination", "weights": {"coherence": 0.0}, "bias": 0.0},
)


def silent(stage: str, done: float, total: float) -> None:
    """No progress."""


def calibrated(folder, config: LinkerConfig = FUSED, settle=None, **options):
    linker = load(folder, config=config, mentions="given")
    try:
        return calibrate(linker, config, CalibrationOptions(**{"mentions": 400, **options}), silent, settle)
    finally:
        linker.kb.close()


@pytest.fixture(scope="module")
def found(region_folder):
    return calibrated(region_folder)


def test_probabilities_become_better(found):
    _, report = found
    assert report.after.ece < report.before.ece
    assert report.after.brier < report.before.brier
    assert report.after.accuracy >= report.before.accuracy
    assert report.after.nil_f1 > report.before.nil_f1
    assert set(report.kinds) == {str(kind) for kind in Kind}
    assert sum(report.kinds.values()) == report.mentions
    assert not report.from_names


def test_the_configuration_is_a_linker(region_folder, found):
    config, report = found
    assert msgspec.structs.replace(config, nil=FUSED.nil) == FUSED
    assert config.nil["name"] == "calibrated"
    assert config.nil["ranker"] == "combination"
    assert "sum" in config.nil["always"]
    assert min(report.weights.values()) >= 0
    linker = load(region_folder, config=config, mentions="given")
    text = f"Elsa Varga met {STRANGERS[0]} there."
    spans = [Span(text.index(name), text.index(name) + len(name)) for name in ("Elsa Varga", STRANGERS[0])]
    mentions = tuple(Mention(span, text[span.start : span.end]) for span in spans)
    known, unknown = linker.link(Document("d", text, mentions=mentions)).links
    assert (known.title, unknown.entity) == ("Elsa Varga", None)
    assert known.calibrated
    assert unknown.calibrated
    assert known.score > config.nil["threshold"]


def test_a_seed_gives_the_same_again(region_folder, found):
    assert calibrated(region_folder) == found
    assert calibrated(region_folder, seed=1) != found


def test_a_threshold_settled_otherwise_is_what_is_measured(region_folder, found):
    asked = []

    def none_but_sure(nil):
        asked.append(nil.threshold)
        return 0.999999

    config, report = calibrated(region_folder, settle=none_but_sure)
    assert asked == [found[1].threshold]
    assert config.nil == {**found[0].nil, "threshold": 1.0}
    assert report.threshold == 1.0
    assert report.before == found[1].before
    assert report.after.accuracy < found[1].after.accuracy


def test_a_linker_without_fusion(region_folder):
    config, report = calibrated(region_folder, read_config("lexical"))
    assert "score" in report.weights
    assert config.nil["ranker"] == "prior"
    assert report.after.accuracy >= report.before.accuracy


class Titles:
    """Stands for a cross-encoder: sure of an entity whose title is the mention, and of no other."""

    def score(self, pairs):
        return [4.0 if mention.text == entity.title else -3.0 for _, mention, entity in pairs]


def test_a_cross_encoder_says_whether_any_is_right(region_folder):
    """Its score is a share: 1 for any single candidate."""
    ranker = {"name": "cross-encoder", "model": Titles()}
    config, report = calibrated(region_folder, msgspec.structs.replace(FUSED, ranker=ranker))
    assert report.weights["cross"] > 0
    assert "cross" in config.nil["always"]
    assert report.after.accuracy > report.before.accuracy
    assert report.after.ece < report.before.ece


def test_a_cross_encoder_in_a_sum_is_not_counted_twice(region_folder, found):
    own = {**FUSED.ranker, "cross": Titles()}
    _, report = calibrated(region_folder, msgspec.structs.replace(FUSED, ranker=own))
    assert "cross" not in report.weights
    # Where it has no say, or is not there, the calibration is that without it.
    silent = {**own, "weights": {**own["weights"], "cross": 0.0}}
    config, report = calibrated(region_folder, msgspec.structs.replace(FUSED, ranker=silent))
    assert (config.nil, report) == (found[0].nil, found[1])


def test_a_calibrated_linker_can_be_calibrated_again(region_folder, found):
    config, first = found
    again, report = calibrated(region_folder, config)
    assert again == config
    assert report.before == report.after == first.after


def test_for_a_wanted_precision(region_folder):
    _, low = calibrated(region_folder, precision=0.8)
    config, high = calibrated(region_folder, precision=0.995)
    assert high.threshold > low.threshold
    assert high.after.precision >= low.after.precision
    assert config.nil["threshold"] == high.threshold


def test_more_nil_makes_links_less_likely(region_folder, found):
    _, usual = found
    _, report = calibrated(region_folder, nil_share=0.8)
    assert report.bias < usual.bias or report.weights != usual.weights


def test_types_with_enough_mentions_have_thresholds(region_folder, monkeypatch):
    from entlink.learning.fit import calibration

    _, few = calibrated(region_folder, per_type=True)
    assert few.types == {}
    monkeypatch.setattr(calibration, "_FEWEST_OF_TYPE", 20)
    monkeypatch.setattr(calibration, "_FEWEST_OUTCOMES", 2)
    config, report = calibrated(region_folder, per_type=True)
    assert set(report.types) <= {"person", "town"}
    assert report.types
    assert config.nil["types"] == report.types


def test_names_alone_do_with_a_warning(tmp_path, caplog):
    _, report = calibrated(region_kb(tmp_path, texts=False))
    assert report.from_names
    assert "names without a text around them make up for the rest" in caplog.text


@pytest.mark.parametrize("most", [0, 1, 3])
def test_too_few_entities_are_told(tmp_path, most):
    folder = region_kb(tmp_path, most=most)
    with pytest.raises(InputError, match=rf"{most} entit.* too few to calibrate on; 50 are needed"):
        calibrated(folder)


def test_too_few_mentions_are_told(region_folder, monkeypatch):
    from entlink.learning.fit import calibration

    monkeypatch.setattr(calibration, "FEWEST_MENTIONS", 100_000)
    with pytest.raises(
        InputError, match="mentions could be made of its names and descriptions, and 100000 are needed"
    ):
        calibrated(region_folder)


def test_a_linker_that_finds_nothing(region_folder):
    with pytest.raises(InputError, match="finds no candidate for any of its names"):
        calibrated(region_folder, LinkerConfig(types=("ship",)))


def test_mentions_count_as_the_share_of_nil_says():
    mention, document = Mention(Span(0, 1), "x"), Document("d", "x")
    kinds = [Kind.KNOWN] * 6 + [Kind.TAKEN_OUT] * 2 + [Kind.NEVER_SEEN] * 4
    mentions = [SelfMention(document, mention, "e", kind) for kind in kinds]
    sums = Counter()
    for one, importance in zip(mentions, importances(mentions, 0.3), strict=True):
        sums[one.kind] += importance / len(mentions)
    assert sums == {
        Kind.KNOWN: pytest.approx(0.7),
        Kind.TAKEN_OUT: pytest.approx(0.15),
        Kind.NEVER_SEEN: pytest.approx(0.15),
    }
    only = importances(mentions[:8], 0.3)
    assert sum(only[6:]) / 8 == pytest.approx(0.3)
