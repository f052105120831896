"""Parts of the gold, each by hand against a real knowledge base; and texts that a test shares with what was seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from entlink.documents import Document
from entlink.errors import ConfigError
from entlink.evaluation import EvaluationOptions, evaluate, leakage
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.slices import Training, slicers
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.testing import toy_kb
from entlink.text.titles import overlap_category
from knowledge_bases import SHARED_DATA, article, make_kb
from sliced_documents import answers, document, table


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(toy_kb(tmp_path_factory.mktemp("toy"))) as kb:
        yield kb


def labels(name: str, wanted: Document, **given_) -> list[tuple[str, ...]] | None:
    """What a slicer calls each gold link."""
    [slicer] = slicers([name], **given_)
    assert slicer.of_gold is not None
    found = slicer.of_gold(wanted)
    return None if found is None else list(found)


# Slicers of gold


def test_in_kb_nil_and_unknown(toy):
    wanted = document([("Paris", "Q90"), ("Vulcan",), ("Atlantis", "atlantis"), ("Lutetia", "lutetia", "paris")])
    assert labels("kb", wanted) == [("in-KB",), ("NIL",), ("in-KB",), ("in-KB",)]
    assert labels("kb", wanted, identities=Identities(toy)) == [
        ("in-KB",),
        ("NIL",),
        ("unknown to the KB",),
        ("in-KB",),
    ]


def test_popular_asks_the_kb_for_the_likeliest_meaning_of_the_name(toy):
    wanted = document(
        [
            ("Mercury", "mercury-planet"),
            ("Mercury", "mercury-element"),
            ("Paris", "paris-texas", "paris"),
            ("Quicksilvr", "mercury-element"),
            ("Mercury",),
        ]
    )
    assert labels("popular", wanted, names=toy) == [
        ("most popular is gold",),
        ("most popular is not gold",),
        ("most popular is gold",),
        ("the KB does not know the name",),
        (),
    ]


def test_coarse_types_are_those_of_the_kb_and_of_the_annotated_nil(tmp_path, opened):
    kb = opened(toy_kb(tmp_path))
    wanted = document([("Paris", "paris"), ("Sun", "sun"), ("Vulcan", {"nil_type": "PER"})])
    with pytest.raises(ConfigError, match="needs --kb, with coarse types or a hierarchy"):
        slicers(["coarse"], identities=Identities(kb), names=kb)
    kb.set_types(hierarchy=[("city", "settlement")], coarse=[("LOC", "settlement")])
    found = labels("coarse", wanted, identities=Identities(kb), coarse=kb.types.coarse_of)
    assert found == [("LOC",), ("OTHER",), ("PER",)]
    evaluation = evaluate([wanted], [answers(wanted, "paris", "sun", None)], kb=kb)
    assert table(evaluation, "coarse") == {"LOC": (1, 1.0, 1.0), "OTHER": (1, 1.0, 1.0)}  # NIL is no gold of links


def test_popular_follows_the_counts_of_the_kb(tmp_path, opened):
    rows = [
        article("ship", "Titanic (ship)", "The [[film|Titanic]] and the [[film|Titanic]], a [[film|Titanic]]."),
        article("film", "Titanic (film)", "Of the [[ship|Titanic]]."),
    ]
    kb = opened(make_kb(tmp_path, rows))
    assert labels("popular", document([("Titanic", "film"), ("Titanic", "ship")]), names=kb) == [
        ("most popular is gold",),
        ("most popular is not gold",),
    ]


def test_title_folds_case_blanks_and_underscores(toy):
    wanted = document(
        [
            ("Freddie Mercury", "freddie-mercury"),
            ("FREDDIE  mercury", "freddie-mercury"),
            ("Mercury", "freddie-mercury"),
            ("Swaziland", "eswatini"),
            ("Atlantis", "atlantis", {"meta": {"title": "Atlantis"}}),
            ("Atlantis", "atlantis"),
            ("Vulcan",),
        ]
    )
    same, other = ("surface is the title",), ("surface is not the title",)
    assert labels("title", wanted, identities=Identities(toy)) == [same, same, other, other, same, (), ()]


def test_seen_tells_pairs_from_entities(toy):
    seen = document([("Paris", "paris"), ("City of Light", "paris"), ("Mercury", "mercury-planet"), ("Vulcan",)])
    wanted = document(
        [
            ("Paris", "paris"),
            ("Paname", "paris"),
            ("Mercury", "mercury-element"),
            ("paris", "paris"),
            ("Lutetia", "lutetia", "paris"),
            ("Paris", "lutetia", "paris"),
            ("Vulcan",),
        ]
    )
    by_name, by_others, unseen = ("entity seen by this name",), ("entity seen by other names",), ("entity unseen",)
    expected = [by_name, by_others, unseen, by_others, by_others, by_name, ()]
    assert labels("seen", wanted, training=Training([seen])) == expected


def test_seen_entities_may_have_other_identifiers_in_the_training_data(toy):
    identities = Identities(toy)
    training = Training([document([("Paris", "Q90")])], identities)
    wanted = identities.gold(document([("Paris", "https://example.org/paris")]))
    assert labels("seen", wanted, training=training) == [("entity seen by this name",)]


@pytest.mark.parametrize(
    ("surface", "title", "category"),
    [
        # The examples in the paper that defines them (Logeswaran et al. 2019).
        ("Batman", "Batman (Lego)", "MULTIPLE_CATEGORIES"),
        ("Agent", "The Agent", "AMBIGUOUS_SUBSTRING"),
        # And what is said in words: the title itself, and all the rest.
        ("Batman", "Batman", "HIGH_OVERLAP"),
        ("The Dark Knight", "Batman", "LOW_OVERLAP"),
        ("batman", "Batman", "HIGH_OVERLAP"),
        ("Batman_(Lego)", "Batman (Lego)", "HIGH_OVERLAP"),
        ("Lego", "Batman (Lego)", "AMBIGUOUS_SUBSTRING"),
        ("Batman", "Batman (Lego) and Robin", "AMBIGUOUS_SUBSTRING"),
        ("Batman (Lego)", "Batman", "LOW_OVERLAP"),
        ("The Agent", "Agent", "LOW_OVERLAP"),
    ],
)
def test_zeshels_four_categories(surface, title, category):
    assert overlap_category(surface, title) == category


def test_zeshels_own_sample_has_the_categories_that_are_computed():
    folder = SHARED_DATA / "zeshel_sample"
    if not folder.is_dir():
        pytest.skip(f"the real data sets are not at {SHARED_DATA}")
    titles = {row["document_id"]: row["title"] for row in rows_of(folder / "documents")}
    mentions = list(rows_of(folder / "mentions"))
    assert len(mentions) > 10
    for row in mentions:
        assert overlap_category(row["text"], titles[row["label_document_id"]]) == row["category"]


def rows_of(folder: Path) -> Iterator[dict]:
    for path in sorted(folder.glob("*.json")):
        yield from map(json.loads, path.read_text(encoding="utf8").splitlines())


def test_overlap_is_the_datasets_own_before_it_is_computed(toy):
    golds = [
        ("Mercury", "mercury-planet"),
        ("Mercury", "mercury-planet", {"meta": {"category": "LOW_OVERLAP"}}),
        ("Queen", "unknown", {"meta": {"title": "Queen"}}),
        ("Queen", "unknown"),
    ]
    wanted = document(golds)
    assert labels("overlap", wanted, identities=Identities(toy)) == [
        ("MULTIPLE_CATEGORIES",),
        ("LOW_OVERLAP",),
        ("HIGH_OVERLAP",),
        (),
    ]
    assert labels("overlap", wanted) == [(), ("LOW_OVERLAP",), ("HIGH_OVERLAP",), ()]
    assert labels("overlap", document([("Queen", "queen-band")])) is None


def test_types_are_the_annotators_before_the_kbs(toy):
    wanted = document(
        [
            ("Paris", "paris"),
            ("Paris", "paris", {"meta": {"type": "GPE"}}),
            ("Vulcan", {"nil_type": "PLANET"}),
            ("Vulcan",),
            ("Atlantis", "atlantis"),
        ]
    )
    assert labels("type", wanted, identities=Identities(toy)) == [("city", "place"), ("GPE",), ("PLANET",), (), ()]
    assert labels("type", wanted) == [(), ("GPE",), ("PLANET",), (), ()]
    assert labels("type", document([("Paris", "paris")])) is None


def test_any_field_of_gold_is_a_slice():
    wanted = document(
        [
            ("a", "a", {"meta": {"sure": True, "tags": ["x", "y"]}}),
            ("b", "b", {"meta": {"sure": False, "tags": []}}),
            ("c", "c", {"meta": {"sure": 0}}),
            ("d", "d"),
        ]
    )
    assert labels("gold:sure", wanted) == [("True",), ("False",), ("0",), ()]
    assert labels("gold:tags", wanted) == [("x", "y"), (), (), ()]
    assert labels("gold:nothing", wanted) is None


@pytest.mark.parametrize(
    ("name", "wanted", "expected"),
    [
        ("domain", document([("a", "a")], domain="war"), ("war",)),
        ("domain", document([("a", "a")]), ()),
        ("language", document([("a", "a")], language="zh"), ("zh",)),
        ("language", document([("a", "a")]), ()),
        ("meta:tags", document([("a", "a")], tags=["x", "y"]), ("x", "y")),
        ("meta:year", document([("a", "a")], year=1999), ("1999",)),
        ("meta:a:b", document([("a", "a")], **{"a:b": "c"}), ("c",)),
    ],
)
def test_slices_of_documents(name, wanted, expected):
    [slicer] = slicers([name])
    assert slicer.of_document is not None
    assert slicer.of_document(wanted) == expected


# Which there are


def test_what_can_be_had_depends_on_what_is_given(toy):
    always = ["kb", "title", "overlap", "domain", "language", "type"]
    assert [one.name for one in slicers()] == always
    every = slicers(identities=Identities(toy), names=toy, training=Training([]))
    assert sorted(one.name for one in every) == sorted([*always, "popular", "seen"])
    assert [one.name for one in slicers([])] == []
    assert [one.name for one in slicers(["type", "kb"])] == ["type", "kb"]


@pytest.mark.parametrize(("name", "needs"), [("popular", "--kb"), ("seen", "--train")])
def test_a_slice_that_needs_something_says_what(name, needs):
    with pytest.raises(ConfigError, match=f"^the slice '{name}' needs {needs}$"):
        slicers([name])


@pytest.mark.parametrize("name", ["colour", "meta:", "gold:", "", "KB", "meta"])
def test_an_unknown_slice_is_told_with_those_there_are(name):
    with pytest.raises(ConfigError) as told:
        slicers(["kb", name])
    message = str(told.value)
    assert message.startswith(f"there is no slice {name!r}. Choose among ")
    for one in (
        "kb",
        "popular",
        "title",
        "seen",
        "overlap",
        "domain",
        "language",
        "type",
        "meta:FIELD",
        "gold:FIELD",
    ):
        assert one in message


# Leaks

WORDS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
]


def text_of(*words: str, first: str = "Alpha", last: str = "omega") -> str:
    return f"{first} beta, {' '.join(words)}; gamma {last}."


def leaks(test: str, training: str, **options):
    return leakage([Document("t", test)], [Document("s", training)], **options)


def test_the_same_text_is_a_leak_whatever_its_case_and_marks():
    found = leaks("It rains, and pours.", "it   RAINS — and pours!")
    assert (found.same_texts, found.with_passages_of_training, found.is_clean) == (1, 0, False)
    assert found.examples == ["t"]
    assert leaks("It rains and pours.", "It rains and pours there.").is_clean


@pytest.mark.parametrize(("shared", "expected"), [(11, 0), (12, 1), (13, 1)])
def test_a_shared_passage_has_twelve_words_at_least(shared, expected):
    test = text_of(*WORDS[:shared])
    seen = text_of(*WORDS[:shared], first="Aleph").replace("beta", "beth").replace("gamma", "gimel")
    found = leaks(test, seen)
    assert (found.with_passages_of_training, found.same_texts) == (expected, 0)
    assert found.is_clean == (not expected)
    assert found.passage == 12


def test_a_passage_is_found_anywhere_in_a_text():
    passage = " ".join(WORDS[:12])
    assert leaks(f"{passage} and more", f"before {passage}").with_passages_of_training == 1
    assert leaks(f"more and {passage}", f"{passage} after").with_passages_of_training == 1
    interrupted = " ".join([*WORDS[:6], "not", *WORDS[6:12]])
    assert leaks(f"{passage} and more", interrupted).is_clean


def test_the_length_of_a_passage_can_be_chosen():
    test, seen = text_of(*WORDS[:5]), " ".join(WORDS[:5])
    assert leaks(test, seen, passage=5).with_passages_of_training == 1
    assert leaks(test, seen, passage=6).is_clean


def test_each_test_document_is_counted_once():
    passage = " ".join(WORDS)
    test = [Document("a", f"x {passage}"), Document("b", f"y {passage}"), Document("c", "something else")]
    training = [Document(str(number), f"{number} {passage} {passage}") for number in range(3)]
    found = leakage(test, training)
    assert (found.documents, found.with_passages_of_training, found.same_texts) == (3, 2, 0)
    assert found.examples == ["a", "b"]


def test_nothing_in_common():
    found = leaks("The cat sat on the mat and then went away to eat a fish.", "Dogs bark.")
    assert found.is_clean
    assert (found.same_ids, found.same_texts, found.with_passages_of_training, found.answers) == (0, 0, 0, 0.0)
    assert (found.with_passages_of_kb, found.examples) == (None, [])


def test_the_same_id_is_told_but_is_no_leak_by_itself():
    found = leakage([Document("d", "Rain.")], [Document("d", "Sun.")])
    assert (found.same_ids, found.is_clean) == (1, True)


CHINESE = "中华人民共和国首都北京是一座历史悠久的文化名城"


@pytest.mark.parametrize(("shared", "expected"), [(11, 0), (12, 1), (20, 1)])
def test_in_chinese_a_passage_is_of_twelve_characters(shared, expected):
    test = "甲乙丙丁戊己庚辛壬癸子丑" + CHINESE[:shared] + "寅卯辰巳午未申酉戌亥天地"
    seen = "赵钱孙李周吴郑王冯陈褚卫" + CHINESE[:shared] + "蒋沈韩杨朱秦尤许何吕施张"
    assert leaks(test, seen).with_passages_of_training == expected


def test_the_same_chinese_text_is_a_leak():
    assert leaks(f"{CHINESE}。", CHINESE).same_texts == 1


def test_descriptions_of_the_kb_are_looked_through(toy):
    """The element's description has ten words, so that passages of ten are asked for."""
    test = [
        Document("copied", "We read: mercury is a metal that is liquid at room temperature! So it is."),
        Document("own", "Mercury is a planet that is hot."),
    ]
    found = leakage(test, [], toy, passage=10)
    assert (found.with_passages_of_kb, found.with_passages_of_training, found.is_clean) == (1, 0, False)
    assert found.examples == ["copied"]
    assert leakage(test, [], toy).with_passages_of_kb == 0


def test_a_long_description_with_twelve_words_in_common(tmp_path, opened):
    kb = opened(make_kb(tmp_path, [article("w", "Words", " ".join(WORDS))]))
    found = leakage([Document("a", text_of(*WORDS[1:13])), Document("b", text_of(*WORDS[1:12]))], [], kb)
    assert (found.with_passages_of_kb, found.examples) == (1, ["a"])


def test_answers_that_could_be_had_by_heart():
    """Of three gold entities one stands with this name in the training data; NIL does not count."""
    test = document([("Paris", "paris", "lutetia"), ("Paris", "paris-texas"), ("Berlin", "berlin"), ("Vulcan",)])
    training = [document([("Paris", "lutetia"), ("Bonn", "berlin"), ("Vulcan",)], "s")]
    assert leakage([test], training).answers == 1 / 3
    assert leakage([test], []).answers == 0.0


def test_evaluate_tells_leaks_and_what_was_seen(toy):
    wanted = document([("Paris", "paris"), ("London", "london")])
    training = [document([("Paris", "paris"), ("London", "london")], "other"), document([("Sun", "sun")], "d")]
    found = evaluate(
        [wanted],
        [answers(wanted, "paris", "-")],
        EvaluationOptions(rounds=0, slices=("seen",)),
        kb=toy,
        training=lambda: training,
    )
    assert found.leakage is not None
    assert (found.leakage.same_texts, found.leakage.same_ids, found.leakage.answers) == (1, 1, 1.0)
    assert found.leakage.with_passages_of_kb == 0
    assert table(found, "seen") == {"entity seen by this name": (2, 0.5, 0.5)}
