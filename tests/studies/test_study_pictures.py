"""The study of captioned pictures: names that only a picture makes clear, and a word beside half of them."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter
from statistics import stdev

import msgspec
import pytest

pytest.importorskip("PIL")
pytest.importorskip("torch")

from entlink.documents import Candidate, Document, Image, Mention, Span
from entlink.encoders.images.dual import load_picture_dual
from entlink.errors import ConfigError, InputError, SourceError
from entlink.evaluation.identities import Identities
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.studies import PictureOptions, RunSource, study_pictures
from entlink.studies.pictures.material import MASK, Condition, _changed
from entlink.studies.pictures.page import write_study
from entlink.studies.pictures.results import PARTS
from entlink.studies.pictures.runs import read_run
from entlink.studies.pictures.scoring import NO_ANSWER, Outcome, outcomes, scores_of
from entlink.studies.pictures.sets import Asked, CaptionSet, page_of
from entlink.studies.pictures.tables import picture_lines, picture_tables
from entlink_cli import main
from study_worlds import write_lines
from tiny_multimodal import pictured_examples, pictured_world
from tiny_training import ROWS, make_base

QUICK = PictureOptions(models=False, near_copy=2.0, rounds=20)
CONFIG = """
[[retriever]]
name = "alias"

[[retriever]]
name = "bm25"
context = 1.0

[[retriever]]
name = "pictures"

[fusion]
name = "weights"
weights = { alias = 1.0, bm25 = 0.5, pictures = 0.1 }
"""


def row(folder, example, number, clued):
    """A caption whose picture is that of its entity."""
    span, page = example.mention.span, f"page {number % 20}"
    gold = {"start": span.start, "end": span.end, "entity": example.entity}
    gold["meta"] = {"clue": ["object", "scene"] if clued else "property"}
    picture = [one["id"] for one in ROWS].index(example.entity)
    image = str(folder / "pictures" / f"{picture}.png")
    meta = {"page": page, "topic": "words" if clued else "none"}
    return {"id": f"{page}#{number}", "text": example.document.text, "image": image, "gold": [gold], "meta": meta}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Forty captions with a word that tells the sense, and forty without; the pictures show it everywhere."""
    folder = tmp_path_factory.mktemp("captions")
    kb, lite = pictured_world(folder)
    with KnowledgeBase.open(kb) as base:
        base.index(vectors=[load_picture_dual(lite, pictures=folder / "pictures")])
    drawn = [pictured_examples(folder / "drawn", 60, seed, clues=clued) for seed, clued in enumerate((True, False))]
    kept = [[one for one in part if one.entity != ROWS[0]["id"]][:40] for part in drawn]  # which has no picture
    rows = [row(folder, one, number, number < 40) for number, one in enumerate([*kept[0], *kept[1]])]
    write_lines(folder / "captions.jsonl", rows)
    (folder / "config.toml").write_text(CONFIG, encoding="utf8")
    (folder / "base").mkdir()
    make_base(folder / "bert")
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "pictured-cache"))


def studied(world, out, options=QUICK, **settings):
    data = settings.pop("data", [world / "captions.jsonl"])
    return study_pictures(world / "pictured.kb", data, out, world / "config.toml", options=options, **settings)


@pytest.fixture(scope="module")
def found(world, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "pictured-cache"))
        folds = msgspec.structs.replace(QUICK, folds=5)
        return studied(world, tmp_path_factory.mktemp("out"), folds)


# What is counted


def asked(*right):
    """A mention of each entity, two to a caption."""
    documents = [Document(str(number), "a b") for number in range(len(right))]
    return [Asked(documents[at // 2], Mention(Span(0, 1), "a"), frozenset([one]), ()) for at, one in enumerate(right)]


def test_ties_count_against_and_no_scores_are_no_answer():
    lists = [[Candidate("x", 0.0), Candidate("y", 0.0)]] * 4
    found = outcomes(asked("x", "x", "y", "z"), lists, [[2.0, 1.0], [1.0, 1.0], [], [1.0, 2.0]])
    assert found == [Outcome("x", 0), Outcome("y", 1), NO_ANSWER, Outcome("y", None)]


def test_scores_are_means_over_runs():
    mentions = asked(*"abcd")
    right, late, wrong = Outcome("a", 0), Outcome("b", 4), Outcome("b", 5)
    first, second = [right, right, late, NO_ANSWER], [right, wrong, wrong, wrong]
    scores = scores_of(mentions, [first, second], PictureOptions(rounds=0))
    assert (scores.mentions, scores.answered) == (4, 3.5)
    assert scores.precision.value == pytest.approx((2 / 3 + 1 / 4) / 2)
    assert scores.recall.value == pytest.approx((2 / 4 + 1 / 4) / 2)
    assert scores.f1.value == pytest.approx((4 / 7 + 1 / 4) / 2)
    assert scores.f1.deviation == pytest.approx(stdev([4 / 7, 1 / 4]))
    assert scores.recall_at_5.value == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert scores.f1.interval is None


# What is changed


def test_a_masked_name_is_nowhere_in_the_caption():
    document = Document("d", "Heron: the Heron boat, a Heron")
    one = Asked(document, Mention(Span(11, 16), "Heron"), frozenset("h"), ())
    [masked] = _changed([one], Condition(masked=True), 0)
    assert masked.document.text == f"{MASK}: the {MASK} boat, a {MASK}"
    assert masked.mention == Mention(Span(7, 8), MASK)


def test_a_random_picture_is_of_another_page():
    pictures = [Document(f"p{n // 2}#{n}", "a", images=(Image(f"{n}.png"),)) for n in range(8)]
    mentions = [Asked(one, Mention(Span(0, 1), "a"), frozenset("a"), ()) for one in [*pictures, Document("q", "a")]]
    changed = _changed(mentions, Condition(random=True), 0)
    assert changed == _changed(mentions, Condition(random=True), 0)
    assert changed[-1] == mentions[-1]
    page_by_picture = {one.images[0].uri: page_of(one) for one in pictures}
    for before, after in zip(mentions[:-1], changed[:-1], strict=True):
        assert page_by_picture[after.document.images[0].uri] != page_of(before.document)


# The data


def test_no_page_is_in_two_parts_and_a_folder_is_taken_as_it_is(world, tmp_path):
    with KnowledgeBase.open(world / "pictured.kb") as kb:
        split = CaptionSet([world / "captions.jsonl"], kb, QUICK)
        places = {split: {page_of(one.document) for one in part} for split, part in split.parts.items()}
        assert sum(map(len, split.parts.values())) == 80
        assert sum(map(len, places.values())) == len(set().union(*places.values())) == 20
        lines = (world / "captions.jsonl").read_text(encoding="utf8").splitlines(keepends=True)
        for name, part in (("train", lines[:60]), ("val", lines[60:70]), ("test", lines[70:])):
            (tmp_path / f"{name}.jsonl").write_text("".join(part), encoding="utf8")
        given = CaptionSet([tmp_path], kb, QUICK)
        assert {name: len(part) for name, part in given.parts.items()} == {"train": 60, "dev": 10, "test": 10}
        (tmp_path / "val.jsonl").unlink()
        with pytest.raises(InputError, match=r"there is no file dev\.jsonl"):
            CaptionSet([tmp_path], kb, QUICK)


# Weighed evidence


def test_only_the_picture_tells_where_no_word_does(found):
    """P(e|m) is the same for both senses, so that it is always a tie; a word tells half of the senses."""
    rows = {one.ranker: one.test for one in found.rankers}
    [told] = [one for one in found.slices if (one.slice, one.value) == ("meta:topic", "words")]
    assert rows["P(e|m)"].recall.value == 0.0
    assert rows["text"].recall.value == pytest.approx(told.share)
    assert rows["text + picture"].recall.value == 1.0
    assert told.f1["text"] == told.f1["text + picture"] == 1.0
    [untold] = [one for one in found.slices if (one.slice, one.value) == ("meta:topic", "none")]
    assert (untold.f1["text"], untold.f1["text + picture"]) == (0.0, 1.0)
    assert {one.value for one in found.slices if one.slice == "gold:clue"} == {"object", "scene", "property"}


def test_folds_ask_about_every_mention_and_random_pictures_mislead(found):
    rows = {(one.condition, one.ranker): one.scores for one in found.robustness}
    assert rows["as it is", "text + picture"].mentions == 80
    assert rows["as it is", "text"].recall.value == 0.5
    assert rows["as it is", "text + picture"].recall.value == 1.0
    assert rows["random pictures", "text + picture"].recall.value < 1.0
    assert ("names masked", "P(e|m) + text") not in rows
    assert rows["names masked", "text"].recall.value < 0.2
    assert rows["names masked", "text + picture"].recall.value == 1.0
    [test] = [one for one in found.compared if one.condition.startswith("as it is (") and one.first == "text"]
    assert test.difference == pytest.approx(1 - 0.5, abs=0.2)
    assert test.p < 0.05


def test_what_is_left_without_inputs_is_counted_in_regions(found):
    removal = found.removal
    text = sum(count for region, count in removal.regions.items() if "T" in region.split(" & "))
    test = next(one for one in found.splits if one.split == "test")
    rows = {one.ranker: one.test for one in found.rankers}
    assert removal.mentions == test.mentions
    assert text == round(rows["text"].recall.value * test.mentions)
    assert sum(count for region, count in removal.regions.items() if "V" in region.split(" & ")) == test.mentions


def test_cases_are_those_that_differ_and_have_their_pictures(found):
    assert found.differing["the picture misled"] == 0
    assert found.differing["the picture helped"] > 0
    for case in found.cases:
        assert case.helped
        assert case.with_picture.id == case.gold.id != case.by_text.id
        assert case.picture.startswith("data:image/jpeg;base64,")


def test_near_copies_are_left_out_and_put_back(world, tmp_path):
    """All pictures of a colour are alike, so that with a low bound everything is a near-copy."""
    with pytest.raises(InputError, match="are near-copies"):
        studied(world, tmp_path, msgspec.structs.replace(QUICK, near_copy=0.01))


# Runs of others


def test_a_run_answers_at_the_spans_of_the_mentions(world, tmp_path):
    document = Document("d", "bridge stage line wing")
    spans = (Span(0, 6), Span(7, 12), Span(13, 17), Span(18, 22))
    words = ("bridge", "stage", "line", "wing")
    mentions = [
        Asked(document, Mention(span, word), frozenset([f"{word}-play"]), ())
        for span, word in zip(spans, words, strict=True)
    ]
    links = [
        {"start": 0, "end": 6, "entity": "bridge-play", "score": 0.9},
        {"start": 7, "end": 12, "entity": "stage-water", "score": 0.9},
        {"start": 13, "end": 16, "entity": "line-play", "score": 0.9},
    ]
    path = write_lines(tmp_path / "run.jsonl", [{"id": "d", "text": document.text, "links": links}])
    with KnowledgeBase.open(world / "pictured.kb") as kb:
        run = read_run(RunSource("REL", path), mentions, Identities(kb))
        scores = scores_of(mentions, [run.outcomes], PictureOptions(rounds=0), has_lists=run.has_lists)
        assert (scores.precision.value, scores.recall.value, scores.recall_at_5) == (
            pytest.approx(1 / 2),
            pytest.approx(1 / 4),
            None,
        )
        other = [one._replace(document=Document("other", document.text)) for one in mentions]
        with pytest.raises(SourceError, match="none of its documents"):
            read_run(RunSource("REL", path), other, Identities(kb))


# Models


@pytest.fixture(scope="module")
def modelled(world, tmp_path_factory):
    """All parts with tiny models, and the folder."""
    preset = world / "tiny.toml"
    preset.write_text(
        f"""
[model]
kind = "multimodal"
base = "{world / "bert"}"
mention_tokens = 16
entity_tokens = 16

[multimodal]
pictures = "{world / "lite"}"
base_layers = 1
cells = 1
width = 8
heads = 2
in_batch = 3

[training]
epochs = 1
batch = 16
learning_rate = 1e-2
negatives = 2
checkpoint_every = 0
""",
        encoding="utf8",
    )
    options = PictureOptions(seeds=1, near_copy=2.0, rounds=5, preset=str(preset), k=4)
    out = tmp_path_factory.mktemp("modelled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "pictured-cache"))
        return studied(world, out, options), out, options


def test_every_table_has_its_models(modelled):
    study, _, _ = modelled
    trained = {one.ranker: one for one in study.rankers if one.kind == "model"}
    assert len(trained) == 11
    assert all(one.test.mentions for one in trained.values())
    assert [one.without for one in study.ablation][:3] == ["nothing", "V_m", "V_e"]
    assert len(study.ablation) == 7
    assert {one.pooling for one in study.pooling} == {"first", "first and last", "average"}
    assert {one.negatives: one.numbers for one in study.curves} == {"K": [1, 2], "B": [0, 3]}
    assert {one.ranker for one in study.robustness if one.condition == "names masked"} >= {
        "text only",
        "cross-attention",
    }
    first = study.ablation[0]
    scores = study.removal
    assert scores.f1_with_prior == pytest.approx(first.test)


def test_a_study_that_was_interrupted_trains_only_what_is_missing(world, modelled, tmp_path):
    study, out, options = modelled
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    weights = {path: path.stat().st_mtime_ns for path in copy.rglob("*.safetensors")}
    lost = next(path for path in weights if path.match("*/pooling*") or "average" in str(path))
    for path in (lost, lost.with_suffix(".json")):
        path.unlink()
    shutil.rmtree(copy / "scores" / lost.parent.name)
    again = studied(world, copy, options)
    assert again.pooling == study.pooling
    assert lost.exists()
    assert all(path.stat().st_mtime_ns == time for path, time in weights.items() if path != lost)
    with pytest.raises(InputError, match="it holds another study: k is 4 there"):
        studied(world, copy, msgspec.structs.replace(options, k=3))


def test_the_page_and_what_is_beside_it(modelled):
    study, out, _ = modelled
    page, *others = write_study(study, out)
    text = page.read_text(encoding="utf8")
    for title in ("Candidates", "Text, pictures and P(e|m)", "Without some inputs", "Negatives and pooling"):
        assert f">{title}</h2>" in text
    assert "http" not in text.replace("http://www.w3.org", "")
    assert text.count("<svg") >= 4
    assert "</img>" not in text
    lines = list(csv.DictReader(io.StringIO((out / "figures.csv").read_text(encoding="utf8"))))
    assert len(lines) == len(list(picture_lines(study)))
    named = Counter(line["table"] for line in lines if line["source"] == "here")
    assert {"splits", "candidates", "rankers", "ablation", "pooling", "curves", "removal", "robustness"} <= set(named)
    for line in lines:
        assert line["measure"] in ("mentions",) or float(line["value"]) >= -1
    assert {one.name for one in others} == {"study.json", "figures.csv", "tables.tex"}
    titles = [table.title for table in picture_tables(study)]
    assert len(titles) == len(set(titles))


# The command


def test_the_command_writes_the_page_and_names_its_parts(world, tmp_path, capsys):
    words = ["study", "pictures", str(world / "pictured.kb"), str(world / "captions.jsonl"), "--quiet"]
    words += ["--config", str(world / "config.toml"), "--no-models", "--near-copy", "2", "--rounds", "0"]
    assert main([*words, "-o", str(tmp_path / "out"), "--only", "rankers,cases", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["candidates"], told["robustness"]) == (None, [])
    assert (tmp_path / "out" / "report.html").exists()
    assert main([*words, "-o", str(tmp_path / "other"), "--only", "pictures"]) == 3
    error = capsys.readouterr().err
    assert all(part in error for part in PARTS)


def test_what_does_not_fit_is_said_before_anything_is_done(world, tmp_path):
    with pytest.raises(ConfigError, match="folds = 0"):
        studied(world, tmp_path / "out", msgspec.structs.replace(QUICK, folds=0))
    assert not (tmp_path / "out").exists()
    options = PictureOptions(seeds=1, settings={"training.masked": "0.5"})
    with pytest.raises(ConfigError, match=r"training\.masked = 0\.5 does not fit this study"):
        studied(world, tmp_path / "out", options)
