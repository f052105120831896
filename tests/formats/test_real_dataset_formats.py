"""The readers on the real data, compared with what plain `json` counts in the same files."""

from __future__ import annotations

import bz2
import io
import json
import lzma
from collections import Counter
from pathlib import Path

import pytest

from entlink.formats.outputs import conel1 as conel1_runs
from entlink.formats.outputs import conel2 as conel_runs
from entlink.formats.public import (
    conel,
    elevant,
    fever,
    hansel,
    linked_mentions,
    tweeki,
    wikisrs,
    zeshel,
)
from entlink.formats.public.find_mentions import find_mentions
from format_samples import SHARED_DATA, covered, real

CONEL_EL = "conel2/dataset/Conversational_Entity_Linking_Annotations"
CONEL_PEMD = "conel2/dataset/Personal_Entity_Mention_Detection_Annotations"
CONEL_1 = "conel1/data/ConEL_Concept_Named_Entity"
CONEL_1_PE = "conel1/data/ConEL_Personal_Entity"
DIALOGUES = [
    f"{CONEL_1}/ConEL_CNE.json",
    f"{CONEL_1_PE}/ConEL_PE.json",
    f"{CONEL_EL}/ConEL22_EL_Train.json",
    f"{CONEL_EL}/ConEL22_EL_Val.json",
    f"{CONEL_PEMD}/ConEL22_PEMD_Train.json",
    f"{CONEL_PEMD}/ConEL22_PEMD_Val.json",
]


def plain(place):
    return json.loads(real(place).read_text(encoding="utf8"))


def plain_lines(place):
    path = real(place)
    opened = {".xz": lzma.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="utf8") as file:
        yield from map(json.loads, file)


def turn_of(document, span):
    [turn] = [
        at for at, whole in enumerate(document.turn_spans) if whole.start <= span.start and span.end <= whole.end
    ]
    return turn


def gold_rows(documents, personal):
    """The gold as rows of a run: with the personal entities, or without."""
    return [
        (document.id, turn_of(document, gold.span), covered(document, gold), *gold.entities)
        for document in documents
        for gold in document.gold
        if personal or not gold.meta.get("personal")
    ]


# ConEL


@pytest.mark.parametrize("place", DIALOGUES)
def test_every_annotation_of_conel_is_gold_where_it_stands(place):
    documents = list(conel.read(real(place)))
    dialogues = plain(place)
    assert len(documents) == len({document.id for document in documents}) == len(dialogues)
    for document, dialogue in zip(documents, dialogues, strict=True):
        assert [turn.text for turn in document.turns] == [turn.get("utterance", "") for turn in dialogue["turns"]]
        noted = [
            (at, note.get("mention") or note["personal_entity_mention"])
            for at, turn in enumerate(dialogue["turns"])
            for note in turn.get("el_annotations", []) + turn.get("personal_entity_annotations", [])
        ]
        assert [(turn_of(document, gold.span), covered(document, gold)) for gold in document.gold] == noted
        assert document.meta["annotated_turns"] == [
            at for at, turn in enumerate(dialogue["turns"]) if turn["speaker"] == "USER"
        ]


def test_the_dialogues_of_conel_2_have_the_gold_of_its_scorer():
    documents = list(conel.read(real(f"{CONEL_EL}/ConEL22_EL_Val.json")))
    without, all_of_it = (plain(f"conel2/eval/gold/Val/{name}.json") for name in ("gold_cne", "gold"))
    assert Counter(gold_rows(documents, personal=False)) == Counter(map(tuple, without))
    assert set(gold_rows(documents, personal=True)) == set(map(tuple, all_of_it))
    assert len(set(gold_rows(documents, personal=True))) == len(all_of_it) == 567


def test_the_dialogues_of_conel_1_have_it_too_but_for_a_link_to_nothing():
    documents = list(conel.read(real(f"{CONEL_1_PE}/ConEL_PE.json")))
    gold = set(map(tuple, plain("conel2/eval/gold/ConEL21-PE/gold.json")))
    rows = set(gold_rows(documents, personal=True))
    [nothing] = gold - rows
    assert nothing[3] == "(NoCorrespondingEntity)"
    assert rows - gold == {nothing[:3]}


def test_spans_that_conel_2_gives_are_found_without_them():
    """So that the places found in ConEL-1, which gives none, can be trusted."""
    right = total = 0
    for name in ("Train", "Val"):
        for dialogue in plain(f"{CONEL_EL}/ConEL22_EL_{name}.json"):
            for turn in dialogue["turns"]:
                notes = turn.get("el_annotations", [])
                found = find_mentions(turn["utterance"], [note["mention"] for note in notes])
                right += sum(span.start == note["span"][0] for span, note in zip(found, notes, strict=True))
                total += len(notes)
    assert (right, total) == (1949, 1951)


@pytest.mark.parametrize("place", ["conel2/eval/runs/Val", "conel2/eval/runs/ConEL21-PE", "conel2/eval/gold/Val"])
def test_every_row_of_a_run_is_a_link(place):
    for path in sorted(real(place).glob("*.json")):
        documents = list(conel_runs.read(path))
        rows = [
            (document.id, turn_of(document, link.mention.span), link.mention.text, link.entity)
            for document in documents
            for link in document.links
        ]
        assert Counter(rows) == Counter(map(tuple, plain(path)))
        for document in documents:
            for link in document.links:
                assert document.text[link.mention.span.start : link.mention.span.end] == link.mention.text


@pytest.mark.parametrize("place", [CONEL_1, CONEL_1_PE])
def test_every_answer_on_conel_1_is_a_link(place):
    ids = [document.id for document in conel.read(next(real(place).glob("*.json")))]
    for path in sorted(real(f"{place}/runs").glob("*.json")):
        documents = list(conel1_runs.read(path))
        assert [document.id for document in documents] == ids
        for document, dialogue in zip(documents, plain(path), strict=True):
            assert [
                (turn_of(document, link.mention.span), link.mention.text, link.entity) for link in document.links
            ] == [
                (turn["turn_number"], note["mention"], note["entity"])
                for turn in dialogue["turns"].values()
                for note in turn["el_tool_annotations"]
            ]


# ELEVANT


@pytest.mark.parametrize(
    ("name", "count", "labels", "nil"),
    [
        ("derczynski", 183, 292, 82),
        ("oke-2015-eval", 101, 664, 128),
        ("oke-2015-train", 95, 341, 40),
        ("oke-2016-eval", 55, 340, 53),
        ("oke-2016-train", 196, 1049, 180),
    ],
)
def test_benchmarks_of_elevant_come_back_as_they_were(name, count, labels, nil):
    place = f"elevant/{name}.benchmark.jsonl"
    rows = list(plain_lines(place))
    documents = list(elevant.read(real(place)))
    gold = [link for document in documents for link in document.gold]
    assert (len(documents), len(gold), sum(link.is_nil for link in gold)) == (count, labels, nil)
    assert [[link.span.start, link.span.end] for link in gold] == [
        note["span"] for row in rows for note in row["labels"]
    ]
    file = io.BytesIO()
    elevant.write(documents, file)
    assert [json.loads(line) for line in file.getvalue().splitlines()] == rows
    assert list(elevant.read(io.BytesIO(file.getvalue()))) == documents


def test_the_only_child_among_them_is_optional():
    documents = elevant.read(real("elevant/oke-2015-train.benchmark.jsonl"))
    [(document, child)] = [(one, gold) for one in documents for gold in one.gold if gold.optional]
    [parent] = [gold for gold in document.gold if gold.meta["id"] == child.meta["parent"]]
    assert parent.is_nil
    assert parent.meta["children"] == [child.meta["id"]]


# ZESHEL


def test_the_sample_of_zeshel():
    folder = real("zeshel_sample")
    documents = list(zeshel.read(folder))
    splits = ["train", "val", "test", "heldout_train_seen", "heldout_train_unseen"]
    assert list(dict.fromkeys(document.meta["split"] for document in documents)) == splits
    pages = {page["document_id"]: page for path in folder.glob("documents/*") for page in plain_lines(path)}
    for split in splits:
        mentions = {mention["mention_id"]: mention for mention in plain_lines(f"zeshel_sample/mentions/{split}.json")}
        found = [(one, gold) for one in documents if one.meta["split"] == split for gold in one.gold]
        assert {gold.meta["mention_id"] for _, gold in found} == set(mentions)
        for document, gold in found:
            mention = mentions[gold.meta["mention_id"]]
            assert document.text == pages[mention["context_document_id"]]["text"]
            assert covered(document, gold) == gold.meta["mention"] == mention["text"]
            assert gold.entities == (mention["label_document_id"],)
        candidates = dict(zeshel.read_candidates(folder / "tfidf_candidates" / f"{split}.json"))
        assert set(candidates) == set(mentions)


# TweekiGold


def linked(document):
    return {(gold.span.start, gold.span.end, gold.entities) for gold in document.gold if gold.entities}


def test_both_forms_of_tweekigold_agree():
    """The lines cut four mentions in two, where the tokens' links are spelt differently."""
    lines = list(tweeki.read(real("tweekigold/data/Tweeki_gold/Tweeki_gold.jsonl")))
    tokens = list(tweeki.read(real("tweekigold/data/Tweeki_gold/Tweeki_gold")))
    assert [document.text for document in lines] == [document.text for document in tokens]
    assert sum(len(document.gold) for document in lines) == 864
    differing = [two.id for one, two in zip(lines, tokens, strict=True) if linked(one) != linked(two)]
    assert differing == ["52", "67", "113", "170"]
    assert [document.id for document in tokens if "#" in document.id] == ["500#2"]
    assert len({document.id for document in tokens}) == 500
    nil = [gold for document in tokens for gold in document.gold if gold.is_nil]
    assert len(nil) == 106
    assert {gold.nil_type for gold in nil} == {"PER", "LOC", "ORG", "MISC"}


def test_the_lines_of_tweekigold():
    place = "tweekigold/data/Tweeki_gold/Tweeki_gold.jsonl"
    for document, row in zip(tweeki.read(real(place)), plain_lines(place), strict=True):
        assert [[gold.span.start, gold.span.end] for gold in document.gold] == row["index"]
        for gold, link in zip(document.gold, row["link"], strict=True):
            title, _, qid = link.strip().rpartition("|")
            assert (gold.meta["title"], gold.entities[0].lstrip("Q")) == (title, qid.lstrip("Q"))


# FEVER, WikiSRS


def test_the_claims_of_fever():
    place = "fever/data/paper_dev.jsonl"
    documents = list(fever.read(real(place)))
    assert len(documents) == 9999
    for document, row in zip(documents, plain_lines(place), strict=True):
        assert (document.id, document.text, document.meta["label"]) == (str(row["id"]), row["claim"], row["label"])
        pages = {page for one in row["evidence"] for _, _, page, _ in one if page}
        assert len(document.meta.get("pages", [])) == len(pages)
    assert not any("RB-" in page or "-COLON-" in page for one in documents for page in one.meta.get("pages", []))


def test_the_pairs_of_wikisrs():
    path = real("wikisrs/WikiSRS_similarity.csv")
    pairs = list(wikisrs.read(path))
    assert len(pairs) == len(path.read_text(encoding="utf8").splitlines()) - 1 == 688
    for pair in pairs:
        assert sum(pair.ratings) / len(pair.ratings) == pytest.approx(pair.score, abs=1e-4)


# Linked mentions, Hansel


@pytest.mark.parametrize(("split", "count"), [("dev", 12585), ("test", 12745)])
def test_the_linked_mentions_of_schools_wikipedia(split, count):
    place = f"schools_wikipedia/mentions_{split}.jsonl.xz"
    total = 0
    for document, row in zip(linked_mentions.read(real(place)), plain_lines(place), strict=True):
        assert document.text == row["text"]
        assert [
            (covered(document, gold), *gold.entities, gold.meta["surface_is_title"]) for gold in document.gold
        ] == [(mention["text"], mention["entity"], mention["surface_is_title"]) for mention in row["mentions"]]
        total += len(document.gold)
    assert total == count


def test_the_ambiguous_mentions_of_chinese_wikipedia():
    place = "zhwiki_ambiguous_mentions.jsonl.xz"
    count = 0
    for document, row in zip(hansel.read(real(place)), plain_lines(place), strict=True):
        [gold] = document.gold
        assert (covered(document, gold), *gold.entities) == (row["mention"], str(row["gold_id"]))
        assert document.meta["split"] == row["split"]
        count += 1
    assert count == 10292


# Which format a file has

OURS = {
    "conel": conel,
    "conel1-run": conel1_runs,
    "conel-run": conel_runs,
    "elevant": elevant,
    "zeshel": zeshel,
    "tweeki": tweeki,
    "fever": fever,
    "linked-mentions": linked_mentions,
    "hansel": hansel,
}
EXPECTED = {
    "conel1/data/*/*.json": "conel",
    "conel2/dataset/*/*.json": "conel",
    "conel1/data/*/runs/*.json": "conel1-run",
    "conel2/eval/*/*/*.json": "conel-run",
    "elevant/*": "elevant",
    "zeshel_sample": "zeshel",
    "zeshel_sample/mentions/*": "zeshel",
    "tweekigold/data/*/*": "tweeki",
    "fever/data/*": "fever",
    "schools_wikipedia/mentions_*": "linked-mentions",
    "zhwiki_ambiguous*": "hansel",
}
NOT_OURS = [
    "schools_wikipedia/a*",
    "schools_wikipedia/captions*",
    "*_kb*.xz",
    "*temporal*",
    "zeshel_sample/documents/*",
    "zeshel_sample/tfidf_candidates/*",
    "wikisrs/*",
    "wikidata/*",
]


def head_of(path: Path) -> bytes:
    if path.is_dir():
        return b""
    opened = {".xz": lzma.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opened(path, "rb") as file:
        return file.read(65_536)


@pytest.mark.parametrize(("pattern", "name"), [*EXPECTED.items(), *((pattern, None) for pattern in NOT_OURS)])
def test_real_files_are_told_apart(pattern, name):
    real(".")
    paths = sorted(SHARED_DATA.glob(pattern))
    assert paths
    for path in paths:
        head = head_of(path)
        assert [each for each, module in OURS.items() if module.looks_like(path, head)] == [name] * (name is not None)
