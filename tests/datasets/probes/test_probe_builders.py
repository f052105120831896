"""Each task from a source small enough to count by hand."""

from __future__ import annotations

from collections import Counter, defaultdict

import msgspec
import numpy
import pytest
from sklearn.linear_model import Ridge

from entlink.datasets.probes import ProbeOptions, build_probes
from entlink.datasets.probes.cap import pairs, text_of
from entlink.datasets.probes.ert import ridge_labels
from entlink.datasets.probes.et import all_types
from entlink.errors import InputError
from entlink.formats.probes import read_task
from entlink.formats.probes.sources import preco
from entlink.kb.build.from_sources import BuildOptions, build
from knowledge_bases import article, make_kb


def built(tmp_path, task, sources, **settings):
    """The task, read again, and the report."""
    options = {name: settings.pop(name) for name in ProbeOptions.__struct_fields__ if name in settings}
    report = build_probes(task, sources, tmp_path / "made", ProbeOptions(**options), **settings)
    return read_task(tmp_path / "made"), report


def rows_of(task):
    return [row for rows in task.splits.values() for row in rows]


# CAP


def document(number: int) -> dict:
    """A heron, named twice and once by a pronoun, a pike, and another pronoun."""
    return {
        "id": f"d{number}",
        "sentences": [["A", "heron", "saw", "a", "pike", "."], ["It", "ate", "the", "bird", "'s", "fish", "."]],
        "mention_clusters": [[[0, 0, 2], [1, 0, 1], [1, 2, 4]], [[0, 3, 5], [1, 5, 6]]],
    }


def test_pairs_are_all_but_those_of_two_pronouns(written):
    two_pronouns = {
        **document(1),
        "sentences": [["He", "saw", "him", "."]],
        "mention_clusters": [[[0, 0, 1]], [[0, 2, 3]]],
    }
    first, second = preco.read(written("preco.jsonl", document(0), two_pronouns))

    def told(document, distance):
        return [
            (text_of(document, one.first), text_of(document, one.second), one.is_coreferent)
            for one in pairs(document, distance)
        ]

    assert told(first, 0) == [
        ("A heron", "a pike", False),
        ("It", "the bird", True),
        ("It", "fish", False),
        ("the bird", "fish", False),
    ]
    assert told(first, 1) == [
        ("A heron", "It", True),
        ("A heron", "the bird", True),
        ("A heron", "fish", False),
        ("a pike", "It", False),
        ("a pike", "the bird", False),
        ("a pike", "fish", True),
    ]
    assert told(second, 0) == []


@pytest.mark.parametrize("which", ["same", "next"])
def test_cap_is_balanced_and_keeps_documents_apart(which, written, tmp_path, vectors):
    path = written("preco.jsonl", *map(document, range(60)))
    task, _ = built(tmp_path, f"cap-{which}", path, vectors=vectors, sizes=(20, 10, 10))
    pages = defaultdict(set)
    for split, rows in task.splits.items():
        counts = Counter(row.labels[0] for row in rows)
        assert counts["coreferent"] == counts["different"] > 0
        for row in rows:
            pages[row.id].add(split)
            are_near = row.entities[0].sentence == row.entities[1].sentence
            assert are_near == (which == "same")
    assert all(len(splits) == 1 for splits in pages.values())
    assert sum(map(len, task.splits.values())) <= 40


def linked(page: str, text: str, **mentions: str) -> dict:
    """A document whose mentions are given by surface."""
    found = [
        {"start": text.index(s), "end": text.index(s) + len(s), "entity": entity} for s, entity in mentions.items()
    ]
    return {"id": f"{page}#0", "text": text, "mentions": sorted(found, key=lambda one: one["start"])}


def test_links_of_two_pages_are_coreferent_where_they_lead_to_one_entity(written, tmp_path, vectors):
    texts = [
        ("The heron flew.", "heron"),
        ("A gull flew.", "gull"),
        ("The heron stood.", "ferry"),
        ("A bird.", "heron"),
    ]
    rows = []
    for number in range(200):
        text, entity = texts[number % 4]
        rows.append(linked(f"p{number}", text, **{text.split()[1].strip("."): entity}))
    path = written("gold.jsonl", *rows)
    entities = {row["id"]: row["mentions"][0]["entity"] for row in rows}
    task, _ = built(tmp_path, "cap-links-across", path, vectors=vectors, sizes=(60, 20, 20))
    for row in rows_of(task):
        one, other = (entities[f"{page}#0"] for page in row.id.split(" / "))
        assert row.labels == (("coreferent",) if one == other else ("different",))
        assert row.entities[0].mention in ("heron", "gull", "bird")
    assert len({(row.id, row.entities) for row in rows_of(task)}) == len(rows_of(task)) >= 20


def test_links_of_one_sentence_keep_the_splits_of_their_files(written, tmp_path, vectors):
    text = "The heron, a bird, saw a gull."
    mentions = {"heron": "heron", "bird": "heron", "gull": "gull"}
    files = [
        written(f"gold_{split}.jsonl", *(linked(f"{split}{n}", text, **mentions) for n in range(4)))
        for split in ("train", "dev", "test")
    ]
    task, _ = built(tmp_path, "cap-links-same", files, vectors=vectors)
    for split, name in (("train", "train"), ("valid", "dev"), ("test", "test")):
        assert {row.id.rstrip("#0123") for row in task.splits[split]} == {name}
    (one, *_) = (row for row in task.splits["test"] if row.labels == ("coreferent",))
    assert [entity.mention for entity in one.entities] == ["heron", "bird"]


# ET


def typed(number: int, *types: str) -> dict:
    context = {"left_context_token": ["Look", str(number)], "right_context_token": ["."]}
    return {"annot_id": number, "mention_span": "the heron", "y_str": list(types), **context}


def test_et_keeps_the_splits_of_its_files(written, tmp_path):
    files = [
        written("train.json", typed(1, "bird"), typed(2, "ferry", "boat"), typed(3, "bird")),
        written("dev.json", typed(4, "bird")),
        written("test.json", typed(5, "boat")),
    ]
    task, _ = built(tmp_path, "et", files, sizes=(2, 5, 5))
    assert task.card.sizes == {"train": 2, "valid": 1, "test": 1}
    assert task.splits["test"][0].labels == ("boat",)
    assert task.splits["valid"][0].entities[0].mention == "the heron"


def test_types_with_a_separator_give_all_above_them():
    assert all_types(("A.B.C", "D")) == ("A", "A.B", "A.B.C", "D")


def test_et_of_links_takes_the_types_of_the_knowledge_base(written, tmp_path, birds):
    files = [
        written(
            f"gold_{split}.jsonl",
            linked(split, "First. The heron ate a pike and an oak.", heron="heron", pike="pike", oak="oak"),
        )
        for split in ("train", "dev", "test")
    ]
    task, report = built(tmp_path, "et-links", files, kb=birds)
    found = {row.entities[0].mention: row.labels for row in task.splits["train"]}
    assert found == {"heron": ("Nature", "Nature.Birds"), "pike": ("Nature", "Nature.Fish")}
    assert {row.entities[0].sentence for row in rows_of(task)} == {"The heron ate a pike and an oak."}
    assert (task.card.covered, task.card.of) == (6, 9)
    assert report.left_out == {"mentions of entities without a type": 3}


# ESR


def test_kore_keeps_the_ranks_of_the_source(written, tmp_path, birds):
    path = written("ranked.txt", "Heron", "\tPike", "\tNo such thing", "\tLake_Lune", "Nobody", "\tPike")
    task, report = built(tmp_path, "esr-kore", path, kb=birds)
    rows = task.splits["test"]
    assert [(row.head, row.entities[1].title, row.score) for row in rows] == [
        ("Heron", "Pike", 20.0),
        ("Heron", "Lake Lune", 18.0),
    ]
    assert rows[0].entities[0].description == "The heron is a bird. It eats the pike."
    assert task.card.published == "kore"
    assert (report.card.covered, report.card.of, report.lacks_most) == (2, 4, False)


@pytest.mark.parametrize("which", ["similarity", "relatedness"])
def test_descriptions_are_cut_to_so_many_words(which, written, tmp_path, birds):
    pair = "heron\tpike\tHeron\tPike\t50.0\t1.0\t[50]"
    task, _ = built(tmp_path, f"esr-wikisrs-{which}", written("pairs.csv", pair), kb=birds, tokens=3)
    assert [one.description for one in task.splits["test"][0].entities] == ["The heron is", "A fish of"]


# NED


def three(written, text: str, **mentions: str):
    return [written(f"gold_{split}.jsonl", linked(split, text, **mentions)) for split in ("train", "dev", "test")]


def test_candidates_are_those_of_the_name_with_their_priors(written, tmp_path, birds, kb):
    text = "They saw a Heron. Then Lune and a pike."
    task, report = built(tmp_path, "ned-links", three(written, text, Heron="heron", pike="lune"), kb=birds)
    rows = {row.entities[0].mention: row for row in task.splits["test"]}
    heron = rows["Heron"]
    assert heron.entities[0].sentence == "They saw a Heron."
    known = {name.entity: name.probability for name in kb.aliases("Heron")}
    assert dict(zip([one.entity for one in heron.candidates], heron.priors, strict=True)) == known
    assert heron.candidates[heron.gold].entity == "heron" and known["ferry"] > known["heron"]
    wrong = rows["pike"]  # nobody calls the lake so: it has no prior, and comes last
    assert [one.entity for one in wrong.candidates] == ["pike", "lune"]
    assert (wrong.priors[1], wrong.gold) == (None, 1)
    assert report.card.covered == report.card.of == 6


def test_of_many_candidates_the_right_one_is_kept(written, tmp_path, birds):
    task, _ = built(tmp_path, "ned-links", three(written, "A Heron.", Heron="heron"), kb=birds, candidates=1)
    (row,) = task.splits["train"]
    assert ([one.entity for one in row.candidates], row.priors, row.gold) == (["heron"], (None,), 0)


def test_mentions_of_one_meaning_and_of_nothing_are_left_out(written, tmp_path, birds):
    text = "A Heron, a gull, an oak and it."
    files = three(written, text, Heron="ferry", gull="gull", oak="oak", it=None)
    task, report = built(tmp_path, "ned-links", files, kb=birds, ambiguous=True)
    assert [row.entities[0].mention for row in task.splits["train"]] == ["Heron"]
    assert report.left_out == {
        "mentions with one candidate": 3,
        "mentions of entities without a description": 3,
        "mentions of nothing in a knowledge base": 3,
    }


def test_conll_yago_has_its_own_splits(written, tmp_path, birds):
    def part(name: str) -> list[str]:
        return [
            f"-DOCSTART- (1{name} BIRDS)",
            "A",
            "Heron\tB\tHeron\tLake_Lune",
            "flew",
            "",
            "Nobody\tB\tNobody\t--NME--",
        ]

    path = written("aida.tsv", *part(""), "", *part("testa"), "", *part("testb"))
    task, report = built(tmp_path, "ned-conll-yago", path, kb=birds)
    assert task.card.sizes == {"train": 1, "valid": 1, "test": 1}
    assert task.splits["valid"][0].entities[0].sentence == "A Heron flew"
    assert report.left_out == {"mentions of nothing in a knowledge base": 3}


# Rare


def test_rare_takes_paragraphs_of_four_entities(written, tmp_path):
    ids = [f"9202a8c04000641f800000000000000{number}" for number in range(5)]
    names = ["Grey heron", "Pike", "Lake Lune", "Mast", "Oak"]
    table = written(
        "entities.txt", *(f"{id}\tx\ty\t{name}\tAbout {name} ." for id, name in zip(ids, names, strict=True))
    )
    four = f"The {ids[0]} of {ids[2]} ate a {ids[1]} . Then it sat on a {ids[3]} . It was"
    rows = [*(f"{four} {number} ." for number in range(40)), f"A {ids[0]} only .", f"{' '.join(ids)} are five ."]
    task, report = built(tmp_path, "rare", [written("corpus.txt", *rows), table])
    sentences = {row.candidates[row.gold].title: row.entities[0].sentence for row in rows_of(task)}
    assert sentences["Pike"] == "The Grey heron of Lake Lune ate a **blank** ."
    assert sentences["Mast"] == "Then it sat on a **blank** ."
    for row in rows_of(task):
        assert sorted(one.title for one in row.candidates) == sorted(names[:4])
        assert all(one.mention == one.title for one in row.candidates)
        assert row.entities[0].mention == "**blank**"
    assert len(rows_of(task)) == 160
    assert report.left_out == {"paragraphs that have not just 4 entities": 2}
    turned, _ = built(tmp_path, "rare", [written("corpus.txt", *rows[::-1]), table], replace=True)
    assert turned.splits == task.splits


def test_rare_of_links_chooses_among_entities_of_the_page(written, tmp_path, birds):
    text = "The Heron. A pike. The Lune. One gull. Another bird."
    files = three(written, text, Heron="ferry", pike="pike", Lune="lune", gull="gull", bird="heron")
    task, _ = built(tmp_path, "rare-links", files, kb=birds)
    row = next(row for row in task.splits["train"] if row.candidates[row.gold].entity == "ferry")
    assert row.entities[0].sentence == "The **blank**."
    assert row.candidates[row.gold].sentence == "The Heron."  # not `The Heron (ferry).`
    assert len({one.entity for one in row.candidates}) == 4
    chosen = next(row for row in task.splits["train"] if row.candidates[row.gold].entity == "pike")
    assert {one.sentence for one in chosen.candidates} <= {
        f"A {name}." for name in ("Pike", "Heron", "Lake Lune", "Gull")
    }


def test_only_rare_entities_are_candidates(written, tmp_path, birds):
    often = linked("other", "pike", pike="pike")
    text = "The Heron. A pike. The Lune. One gull. Another bird."
    own = linked("page", text, Heron="ferry", pike="pike", Lune="lune", gull="gull", bird="heron")
    files = [written(f"gold_{split}.jsonl", own, often) for split in ("train", "dev", "test")]
    task, _ = built(tmp_path, "rare-links", files, kb=birds, rare=3)
    assert {one.entity for row in rows_of(task) for one in row.candidates} == {"ferry", "lune", "gull", "heron"}


# EFP


def claim(number: int, text: str, *pages: str, label: str = "SUPPORTS") -> dict:
    return {"id": number, "label": label, "claim": text, "evidence": [[[1, 1, page, 0]] for page in pages]}


def test_the_mention_of_a_claim_is_a_title_else_a_name(written, tmp_path, birds):
    path = written(
        "claims.jsonl",
        claim(1, "The pike eats the heron.", "Heron_-LRB-ferry-RRB-"),
        claim(2, "Ferries cross Lake Lune.", "Ferry", label="REFUTES"),
        claim(3, "Pike are nice.", label="NOT ENOUGH INFO"),
        claim(4, "It rained."),
        *(claim(number, f"Heron {number}.", "Heron", label="REFUTES") for number in range(5, 12)),
    )
    task, report = built(tmp_path, "efp", path, kb=birds)
    mentions = {row.id: row.entities[0].mention for row in rows_of(task)}
    assert mentions == {"1": "heron", "2": "Lake Lune"} | {str(number): "Heron" for number in range(5, 12)}
    assert task.card.sizes == {"train": 7, "valid": 1, "test": 1}  # 9 claims in the proportion of 10, 2 and 2
    assert report.left_out == {"claims without a verdict": 1, "claims without a mention": 1}
    assert report.facts == {"claims whose mention is a title of the evidence": 8}


def test_of_several_mentions_chance_takes_one(written, tmp_path):
    rows = [
        claim(number, f"A heron and a pike, {number}.", "Heron", "Pike", label=("SUPPORTS", "REFUTES")[number % 2])
        for number in range(40)
    ]
    path = written("claims.jsonl", *rows)
    chosen = {}
    for seed in (0, 0, 1):
        task, _ = built(tmp_path, "efp", path, seed=seed, replace=True)
        told = {row.id: row.entities[0].mention for row in rows_of(task)}
        assert set(told.values()) == {"heron", "pike"}
        assert chosen.setdefault(seed, told) == told
    assert chosen[0] != chosen[1]


def test_a_claim_that_is_repeated_is_in_one_split(written, tmp_path):
    labels = ("SUPPORTS", "REFUTES")
    rows = [claim(n, f"A heron, {n % 20}.", "Heron", label=labels[n % 2]) for n in range(60)]
    task, report = built(tmp_path, "efp", written("claims.jsonl", *rows))
    sentences = [row.entities[0].sentence for row in rows_of(task)]
    assert len(set(sentences)) == len(sentences) == report.card.covered == report.card.of == 20
    assert report.left_out == {"claims with the text of another": 40}


# CERP

THINGS = {"bird": "heron gull kestrel mallard", "fish": "pike trout salmon eel", "boat": "ferry dinghy cutter"}
HELD = {(one, "IsA", kind) for kind, things in THINGS.items() for one in things.split()}


def test_cerp_makes_four_sentences_that_hold_or_do_not(written, tmp_path, vectors):
    lines = ["\t".join(one) for one in sorted(HELD)]
    path = written("relations.tsv", *lines, "heron\tRelatedTo\tpike", "gull\tIsA\tgull")
    task, report = built(tmp_path, "cerp", path, vectors=vectors)
    assert report.left_out == {"assertions of relations that are left out": 1, "assertions of one thing only": 1}
    split_of = defaultdict(set)
    for split, rows in task.splits.items():
        counts = Counter(row.labels[0] for row in rows)
        assert counts["true"] == counts["false"] > 0
        for row in rows:
            split_of[row.id].add(split)
            subject, object = row.entities
            is_denied = subject.sentence == f"{subject.mention} is not a kind of {object.mention}"
            assert is_denied or subject.sentence == f"{subject.mention} is a kind of {object.mention}"
            holds = ((subject.mention, "IsA", object.mention) in HELD) != is_denied
            assert row.labels == (("true",) if holds else ("false",))
    assert all(len(splits) == 1 for splits in split_of.values())


def test_no_sentence_of_cerp_is_in_two_splits(written, tmp_path, vectors):
    path = written("relations.tsv", *("\t".join(one) for one in sorted(HELD)))
    for seed in range(5):
        task, _ = built(tmp_path, "cerp", path, vectors=vectors, seed=seed, replace=True)
        split_of = {row.entities[0].sentence: split for split, rows in task.splits.items() for row in rows}
        assert sum(len({row.entities[0].sentence for row in rows}) for rows in task.splits.values()) == len(split_of)


def test_a_thing_is_replaced_by_one_that_is_like_it(written, tmp_path, vectors):
    """Of `heron IsA bird` the heron becomes a fish, for want of a bird that is none; no tree, of another relation."""
    path = written("relations.tsv", *("\t".join(one) for one in sorted(HELD)), "tree\tHasA\troot")
    task, _ = built(tmp_path, "cerp", path, vectors=vectors)
    starts = {row.entities[0].mention for row in rows_of(task) if " kind of " in row.entities[0].sentence}
    assert starts <= {one for one, _, _ in HELD}


# ERT


def test_ert_takes_so_many_of_each_relation(written, tmp_path, vectors):
    rows = [article(f"t{number}", f"Thing {number}", f"About thing {number}.") for number in range(40)]
    kb = make_kb(tmp_path, rows, "things")
    lines = [
        f"Thing {number}\t{relation}\tthing {(number + 1) % 40}"
        for number in range(40)
        for relation in ("near", "far")
    ]
    again = [lines[0], "Thing 1\tnear\tNothing"]
    path = written("triples.tsv", *lines, *again, "Thing 1\tnear\tNothing", "Thing 1\trare\tThing 2")
    task, report = built(tmp_path, "ert", path, kb=kb, vectors=vectors, sizes=(3, 2, 2))
    for split, size in (("train", 3), ("valid", 2), ("test", 2)):
        assert Counter(row.labels[0] for row in task.splits[split]) == {"near": size, "far": size}
    shown = [(row.labels, row.entities) for row in rows_of(task)]
    assert len(set(shown)) == len(shown)
    assert (report.card.covered, report.card.of) == (81, 82)
    assert "2 of 3 relations" in report.card.notes
    assert report.card.published == ""  # the paper's triples are of Freebase
    assert report.left_out == {"triples with an entity that has no description": 1}


def test_ert_of_conceptnet_is_english(written, tmp_path, vectors):
    rows = [article(f"t{number}", f"thing {number}", f"About thing {number}.") for number in range(12)]
    kb = make_kb(tmp_path, rows, "things")
    path = written(
        "conceptnet.csv",
        *(
            f"/a/x\t/r/{relation}\t/c/{language}/thing_{number}\t/c/{language}/thing_{(number + 1) % 12}\t{{}}"
            for language, relation in (("en", "AtLocation"), ("en", "PartOf"), ("fr", "UsedFor"), ("fr", "MadeOf"))
            for number in range(12)
        ),
    )
    task, report = built(tmp_path, "ert", path, kb=kb, vectors=vectors, sizes=(2, 2, 2))
    assert task.labels == ("AtLocation", "PartOf")
    assert report.left_out == {"triples that are not English": 24}


def test_triples_of_freebase_are_resolved_by_its_identifiers(written, tmp_path, vectors):
    rows = [article(f"e{n}", f"E {n}", f"About {n}.", external={"freebase": f"/m/0{n}"}) for n in range(12)]
    kb = make_kb(tmp_path, rows, "freebase")
    pairs = [(one, other) for one in range(12) for other in range(12) if one < other]
    lines = [f"/m/0{one}\t/film/film/{'a' if one % 2 else 'b'}\t/m/0{other}" for one, other in pairs]
    path = written("fb.tsv", *lines, "E 1\tRelatedTo\tE 2")
    task, report = built(tmp_path, "ert", path, kb=kb, vectors=vectors, sizes=(2, 2, 2))
    assert task.labels == ("/film/film/a", "/film/film/b")
    assert task.card.published == "ert"
    assert report.card.of == report.card.covered == len(pairs)
    assert report.left_out["triples that say only that two things are alike or related"] == 1


def test_triples_that_names_give_away_are_left_out(written, tmp_path, vectors):
    """`bird of` leads from birds, `fish of` from fish: the names alone say which it is."""
    words = [("heron", "pike"), ("gull", "trout"), ("kestrel", "salmon"), ("mallard", "eel")]
    titles = [f"{one} {number}" for pair in words for one in pair for number in range(12)]
    kb = make_kb(tmp_path, [article(title, title, f"About {title}.") for title in [*titles, "oak"]], "named")
    lines = [
        f"{name} {number}\t{relation}\toak"
        for bird, fish in words
        for name, relation in ((bird, "bird of"), (fish, "fish of"))
        for number in range(12)
    ]
    with pytest.raises(InputError, match="0 of 2 relations have 25 triples that are described and not easy"):
        built(tmp_path, "ert", written("triples.tsv", *lines), kb=kb, vectors=vectors)


def test_ert_of_claims_reads_values_that_are_entities(tmp_path, written, vectors):
    rows = [
        {
            "id": f"e{n}",
            "title": f"E {n}",
            "description": f"About {n}.",
            "claims": {"near": [f"e{n + 1}", "1900"], "far": [f"e{n + 2}"]},
        }
        for n in range(30)
    ]
    build([written("claims.jsonl", *rows)], tmp_path / "claims.kb", BuildOptions(processes=1))
    task, report = built(tmp_path, "ert-claims", [], kb=tmp_path / "claims.kb", vectors=vectors, sizes=(2, 2, 2))
    assert task.card.sizes == {"train": 4, "valid": 4, "test": 4}
    assert report.card.of == 29 + 28
    assert all(row.entities[0] != row.entities[1] for row in rows_of(task))


def test_the_classifier_is_ridge_regression_with_balanced_classes():
    random = numpy.random.default_rng(4)
    inputs, labels = random.normal(size=(60, 5)), random.integers(0, 3, 60) ** 2 // 2
    asked = random.normal(size=(20, 5))
    counts = Counter(labels.tolist())
    weights = numpy.array([60 / (len(counts) * counts[label]) for label in labels.tolist()])
    theirs = Ridge(alpha=1.0).fit(inputs, numpy.eye(3)[labels] * 2 - 1, sample_weight=weights)
    assert ridge_labels(inputs, labels, asked, 3).tolist() == theirs.predict(asked).argmax(axis=1).tolist()


# EntEval's own


def test_a_folder_of_entevals_becomes_a_task(tmp_path):
    own = tmp_path / "CERP"
    own.mkdir()
    for name in ("train", "dev", "test"):
        (own / f"{name}.txt").write_text("1\t0\t1\t2\t3\therons eat pike\n0\t2\t3\t0\t1\tpike eat herons\n")
    task, report = built(tmp_path, "enteval-cerp", own)
    assert task.card.sizes == {"train": 2, "valid": 2, "test": 2}
    assert [one.mention for one in task.splits["valid"][1].entities] == ["herons", "pike"]
    assert msgspec.to_builtins(report.card)["name"] == "enteval-cerp"
