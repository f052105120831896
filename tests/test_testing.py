from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import inf, nan
from pathlib import Path

import pytest

from entlink import KnowledgeBase, Linker, load
from entlink.candidates.dense import DenseRetriever
from entlink.documents import Candidate, Document, Link, Mention, Span
from entlink.errors import ConfigError
from entlink.interfaces import Judgement, Question, Shortlist, Verdict
from entlink.linking.config import make_stage
from entlink.linking.declarations import declaration
from entlink.linking.registry import BUILT_IN, find, takes_kb
from entlink.nil import ThresholdNil
from entlink.ranking.prior import PriorRanker
from entlink.testing import (
    FixedDetector,
    FixedRetriever,
    check_detector,
    check_evidence,
    check_nil_policy,
    check_ranker,
    check_retriever,
    toy_kb,
)
from tiny_encoders import LetterEncoder

TEXT = "Paris and Mercury"
DOCUMENT = Document("d", TEXT)
PARIS, MERCURY = Mention(Span(0, 5), "Paris"), Mention(Span(10, 17), "Mercury")
QUESTION = Question(DOCUMENT, [PARIS, MERCURY])
CITY, TOWN = Candidate("city", 0.9), Candidate("town", 0.1)
SHORTLIST = Shortlist(DOCUMENT, PARIS, [CITY, TOWN])
GIVEN = Document("given", TEXT, mentions=(PARIS, MERCURY))
DOCUMENTS = [
    GIVEN,
    Document("chinese", "我在北京市。"),
    Document("emoji", "😀 Freddie Mercury\n\nof Queen, not queen"),
    Document("nothing", "nothing to see"),
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(toy_kb(tmp_path_factory.mktemp("toy"))) as kb:
        yield kb


def stages(kind: str) -> list[str]:
    return sorted(BUILT_IN[kind])


_EITHER = ("ranker", "joint")


_WITH_AN_INDEX = {("retriever", "entity-vectors"), ("retriever", "pictures")}  # checked where their indexes are


def without_models(kind: str) -> list[str]:
    """Stages that can be made with no setting and no index; the ranker `joint` wants one of two."""
    return [
        name
        for name in stages(kind)
        if not any(setting.required for setting in declaration(kind, name).settings)
        and (kind, name) not in {_EITHER, *_WITH_AN_INDEX}
    ]


def made(kind: str, name: str, kb: KnowledgeBase):
    return make_stage(kind, {"name": name}, kb)


class LengthScorer:
    """A cross-encoder that likes long titles."""

    name = identity = "lengths"

    def score(self, pairs):
        return [float(len(entity.title)) for _, _, entity in pairs]


def test_a_stage_that_needs_a_setting_says_so(kb: KnowledgeBase):
    with pytest.raises(ConfigError, match=r"cross-encoder.*'model'"):
        made("evidence", "cross-encoder", kb)


class Stage:
    """A stage of any kind, by what it answers to a batch."""

    def __init__(self, answer) -> None:
        self.detect = self.retrieve = self.rank = self.decide = self.gather = answer
        self.gives = ("number",)


def each(answer):
    """A stage that gives this answer to each of a batch that was given, and an empty one to the checks' own."""

    def of_batch(batch):
        return [_own_case(one) if _own_case(one) is not None else answer for one in batch]

    return Stage(of_batch)


def _own_case(one):
    if isinstance(one, Document):
        return [] if one.text == "" else None
    if isinstance(one, Question):
        return [] if not one.mentions else None
    return None


class TestToy:
    def test_mercury_and_paris_are_ambiguous(self, kb: KnowledgeBase):
        assert {name.entity for name in kb.aliases("Mercury")} == {"mercury-planet", "mercury-element"}
        assert {name.entity for name in kb.aliases("Paris")} == {"paris", "paris-texas", "paris-troy"}

    def test_size_links_and_languages(self, kb: KnowledgeBase):
        assert len(kb) == 12
        assert kb.manifest().links_unresolved == 0
        assert kb.has_links
        assert kb.require("beijing").language == "zh"

    def test_versions(self, kb: KnowledgeBase):
        assert [version.entity.title for version in kb.versions("eswatini")] == ["Swaziland", "Eswatini"]
        with kb.as_of("2010-01-01") as then:
            assert then.require("eswatini").title == "Swaziland"

    def test_made_again_in_the_same_folder(self, tmp_path: Path):
        first = toy_kb(tmp_path / "a" / "b")
        assert toy_kb(tmp_path / "a" / "b") == first == tmp_path / "a" / "b" / "toy.kb"
        linker = load(first)
        assert [link.entity for link in linker.link("London").links] == ["london"]
        linker.kb.close()


class TestFixedStages:
    def test_detector(self):
        detector = FixedDetector({"Paris": "city", "Paris, Texas": None})
        (mentions,) = detector.detect([Document("d", "Paris, Texas or Paris")])
        assert mentions == [
            Mention(Span(0, 12), "Paris, Texas", None, 1.0),
            Mention(Span(16, 21), "Paris", "city", 1.0),
        ]

    def test_detector_of_nothing(self):
        assert FixedDetector([]).detect([DOCUMENT]) == [[]]
        assert FixedDetector([""]).detect([DOCUMENT]) == [[]]

    def test_retriever(self):
        retriever = FixedRetriever({"Paris": {"paris": 0.9, "paris-texas": 0.1}})
        ((paris, mercury),) = retriever.retrieve([QUESTION])
        assert [(one.entity, one.score) for one in paris] == [("paris", 0.9), ("paris-texas", 0.1)]
        assert list(mercury) == []

    def test_they_keep_their_promises_and_fit_a_linker(self, kb: KnowledgeBase):
        detector, retriever = FixedDetector(["Paris"]), FixedRetriever({"Paris": {"paris": 0.9}})
        check_detector(detector, DOCUMENTS)
        check_retriever(retriever, [QUESTION])
        linker = Linker(kb, detector, [retriever], PriorRanker(), ThresholdNil())
        assert [link.entity for link in linker.link(TEXT).links] == ["paris"]


class TestBuiltInStages:
    # Those that need a model are checked where there is one for them.
    @pytest.mark.parametrize("name", without_models("detector"))
    def test_detectors(self, kb: KnowledgeBase, name: str):
        check_detector(made("detector", name, kb), DOCUMENTS)

    @pytest.mark.parametrize("name", without_models("retriever"))
    def test_retrievers(self, kb: KnowledgeBase, name: str):
        misspelt = Document("misspelt", "Freddie Mercurry")
        questions = [QUESTION, Question(misspelt, [Mention(Span(0, 16), misspelt.text)])]
        retriever = DenseRetriever(kb, encoder=LetterEncoder()) if name == "dense" else made("retriever", name, kb)
        check_retriever(retriever, questions)

    @pytest.mark.parametrize("name", [*without_models("evidence"), "cross-encoder"])
    def test_evidence(self, kb: KnowledgeBase, name: str):
        settings = {
            "coherence": {"encoder": LetterEncoder()},
            "similarity": {"encoder": LetterEncoder()},
            "cross-encoder": {"model": LengthScorer()},
        }
        evidence = find("evidence", name)
        before = (kb,) if takes_kb("evidence", name, evidence) else ()
        shortlists = [SHORTLIST, Shortlist(DOCUMENT, PARIS, [TOWN, CITY])]
        check_evidence(evidence(*before, **settings.get(name, {})), shortlists)

    @pytest.mark.parametrize("name", without_models("ranker"))
    def test_rankers(self, kb: KnowledgeBase, name: str):
        check_ranker(made("ranker", name, kb), [SHORTLIST, Shortlist(DOCUMENT, PARIS, [TOWN, CITY])])

    @pytest.mark.parametrize("name", without_models("nil"))
    def test_nil_policies(self, kb: KnowledgeBase, name: str):
        weak = Shortlist(DOCUMENT, PARIS, [Candidate("weak", 0.0)])
        check_nil_policy(made("nil", name, kb), [SHORTLIST, weak])


class TestBrokenDetectors:
    @pytest.mark.parametrize(
        ("mentions", "message"),
        [
            ([MERCURY, PARIS], "sort mentions by start"),
            ([Mention(Span(0, 9), "Paris and"), Mention(Span(6, 9), "and")], "overlaps the one before"),
            ([PARIS, PARIS], "overlaps the one before"),
            ([Mention(Span(10, 18), "Mercury")], r"\[10, 18\) is empty or outside the text of 17"),
            ([Mention(Span(-5, 2), "")], "outside"),
            ([Mention(Span(3, 3), "")], "empty"),
            ([Mention(Span(0, 5), "paris")], "has the text 'paris', but 'Paris' stands there"),
            ([Mention(Span(0, 5), "Paris", score=nan)], "the score nan"),
            ([(0, 5)], "is not a Mention"),
        ],
    )
    def test_mentions(self, mentions, message):
        with pytest.raises(AssertionError, match=message):
            check_detector(each(mentions), [DOCUMENT])

    @pytest.mark.parametrize(
        ("judgements", "message"),
        [
            ([], r"span \[0, 5\) was detected, but is not told of without a reason"),
            ([Judgement(PARIS.span, Verdict(0.0, "no"))], r"span \[0, 5\) was detected, but"),
            ([Judgement(PARIS.span, Verdict(1.0)), Judgement(MERCURY.span, Verdict(1.0))], "has no reason"),
            ([Judgement(Span(3, 99), Verdict(0.0, "no"))], r"\[3, 99\) is empty or outside the text of 17"),
            ([Judgement(PARIS.span, Verdict(1.0), MERCURY.span)], "lost to another, but no reason"),
        ],
    )
    def test_explanations(self, judgements, message):
        class Explained(Stage):
            def explain(self, document, span=None):
                return judgements if document.text else []

        with pytest.raises(AssertionError, match=message):
            check_detector(Explained(lambda batch: [[PARIS] if one.text else [] for one in batch]), [DOCUMENT])

    def test_fails_on_an_empty_text(self):
        first = Stage(lambda batch: [[Mention(Span(0, 1), one.text[:1])] for one in batch])
        with pytest.raises(AssertionError, match="'empty': span"):
            check_detector(first, [DOCUMENT])


class TestBrokenBatches:
    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (lambda batch: [[]], "an empty batch must give an empty list"),
            (lambda batch: [[]] * len(batch[:1]), "2 were given, 1 came back"),
            (lambda batch: [] if not batch else ([],) * len(batch), "must return a list, not a tuple"),
            (lambda batch: [[PARIS][: len(batch) - 1] if one.text else [] for one in batch], "when it is alone"),
            (lambda batch: [[]] * (len(batch) if len(batch) != 1 else 0), "one was given, 0 came back"),
        ],
    )
    def test_of_any_stage(self, answer, message):
        with pytest.raises(AssertionError, match=message):
            check_detector(Stage(answer), [DOCUMENT])

    def test_another_answer_each_time(self):
        numbers = count()
        ranker = Stage(lambda batch: [[Candidate("city", next(numbers))] if s.candidates else [] for s in batch])
        with pytest.raises(AssertionError, match="not deterministic"):
            check_ranker(ranker, [Shortlist(DOCUMENT, PARIS, [CITY])])

    def test_a_little_noise_of_padding_is_allowed(self):
        def rank(batch):
            noise = len(batch) * 1e-6
            return [[Candidate(c.entity, c.score + noise) for c in one.candidates] for one in batch]

        check_ranker(Stage(rank), [SHORTLIST])

    def test_much_noise_is_not(self):
        def rank(batch):
            return [[Candidate(c.entity, c.score + len(batch)) for c in one.candidates] for one in batch]

        with pytest.raises(AssertionError, match="when it is alone"):
            check_ranker(Stage(rank), [SHORTLIST])

    @pytest.mark.parametrize("check", [check_detector, check_retriever, check_ranker, check_nil_policy])
    def test_without_the_method(self, check):
        with pytest.raises(AssertionError, match=r"object is not a .* it has no method"):
            check(object(), [])


class TestBrokenRetrievers:
    @pytest.mark.parametrize(
        ("lists", "message"),
        [
            ([[CITY]], "has 2 mentions, but there are 1 lists"),
            ([[CITY, CITY], []], "'Paris': candidate 'city' comes twice"),
            ([[], [Candidate("", 0.5)]], "'Mercury': a candidate has no entity id"),
            ([[Candidate("city", inf)], []], "the score inf, not a finite float"),
            ([[Candidate("city", "0.5")], []], "the score '0.5', not a finite float"),
            ([["city"], []], "is not a Candidate"),
        ],
    )
    def test_candidates(self, lists, message):
        with pytest.raises(AssertionError, match=message):
            check_retriever(each(lists), [QUESTION])


class TestBrokenEvidence:
    @pytest.mark.parametrize(
        ("numbers", "message"),
        [
            ([{"number": 1.0}], "has 2 candidates, but there are numbers for 1"),
            ([{"number": 1.0}, {"other": 1.0}], "candidate 'town': 'other' is not among the names in gives, number"),
            ([{"number": nan}, {}], "candidate 'city': number is nan"),
        ],
    )
    def test_numbers(self, numbers, message):
        with pytest.raises(AssertionError, match=message):
            check_evidence(each(numbers), [SHORTLIST])

    def test_declarations(self):
        with pytest.raises(AssertionError, match="is not Evidence: it needs gather and gives"):
            check_evidence(object(), [SHORTLIST])
        broken = each([{}, {}])
        broken.when = "never"
        with pytest.raises(AssertionError, match="when: is 'never', and can be pool"):
            check_evidence(broken, [SHORTLIST])
        broken.when, broken.gives = "pool", ()
        with pytest.raises(AssertionError, match="names no number"):
            check_evidence(broken, [SHORTLIST])


class TestBrokenRankers:
    @pytest.mark.parametrize(
        ("ranked", "message"),
        [
            ([TOWN, CITY], r"not best first: \[0.1, 0.9\]"),
            ([CITY], r"dropped \['town'\] and added \[\]"),
            ([CITY, Candidate("village", 0.1)], r"dropped \['town'\] and added \['village'\]"),
            ([Candidate("city", nan), TOWN], "the score nan"),
        ],
    )
    def test_orders(self, ranked, message):
        with pytest.raises(AssertionError, match=message):
            check_ranker(each(ranked), [SHORTLIST])


class TestBrokenNilPolicies:
    @pytest.mark.parametrize(
        ("link", "message"),
        [
            (Link(PARIS, "town", 0.1), "linked to 'town', but the best candidate is 'city'"),
            (Link(MERCURY, "city", 0.9), "about another mention, 'Mercury'"),
            (Link(PARIS, "city", 0.9, nil_type="place"), "yet of the NIL type 'place'"),
            (Link(PARIS, None, nan), "the score nan"),
            (Link(PARIS, None, 1.5, calibrated=True), "1.5 is no probability"),
            (None, "None is not a Link"),
        ],
    )
    def test_links(self, link, message):
        with pytest.raises(AssertionError, match=message):
            check_nil_policy(each(link), [SHORTLIST])

    def test_a_link_without_candidates(self):
        with pytest.raises(AssertionError, match="the best candidate is None"):
            check_nil_policy(each(Link(PARIS, "city", 0.9)), [SHORTLIST])
