"""Conversations linked a turn at a time."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import entlink
from entlink import Conversation, Document, KnowledgeBase, Link, Linker, LinkerConfig, Mention, Span, Turn
from entlink.candidates.alias import AliasRetriever
from entlink.errors import ConfigError, InputError, SpanError
from entlink.kb.store import edits
from entlink.linking.config import ConversationConfig
from entlink.mentions.dictionary import DictionaryDetector
from entlink.mentions.given import GivenMentions
from entlink.nil import ThresholdNil
from entlink.ranking.prior import PriorRanker
from entlink.testing import FixedDetector, toy_kb

WORDS = [
    "Mercury",
    "quicksilver",
    "Freddie Mercury",
    "Queen",
    "in",
    "Paris",
    "Paris, Texas",
    "London",
    "北京",
    "😀",
    ".",
]
TURNS = st.lists(
    st.builds(
        Turn,
        st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
        st.sampled_from([None, "USER", "SYSTEM"]),
    ),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """To read from only."""
    return toy_kb(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def linker(toy):
    linker = entlink.load(toy, config="lexical")
    yield linker
    linker.kb.close()


@pytest.fixture(scope="module", params=["lexical", None])
def any_linker(toy, request):
    """For what holds for the one that is used where none is named, too."""
    linker = entlink.load(toy, config=request.param)
    yield linker
    linker.kb.close()


@pytest.fixture
def loaded(toy):
    """Loads linkers of the toy knowledge base and closes them after the test."""
    linkers: list[Linker] = []

    def loaded(**conversation) -> Linker:
        config = LinkerConfig(conversation=ConversationConfig(**conversation))
        linkers.append(entlink.load(toy, config=config))
        return linkers[-1]

    yield loaded
    for linker in linkers:
        linker.kb.close()


def entities(links):
    return [(link.mention.text, link.entity) for link in links]


def said(linker: Linker, *texts: str) -> Conversation:
    conversation = linker.conversation()
    for text in texts:
        conversation.add(text)
    return conversation


def test_what_was_linked_before_is_likelier_later(linker):
    assert entities(linker.link("Mercury").links) == [("Mercury", "mercury-planet")]
    conversation = said(linker, "A bottle of quicksilver broke.", "Is Mercury dangerous?")
    assert entities(conversation.turns[1].links) == [("Mercury", "mercury-element")]
    (link,) = conversation.turns[1].links
    assert link.candidates[0].evidence["recent"] == 1.0
    assert link.score == pytest.approx((0.4 + 1) / (1 + 1))


def test_a_name_cut_short_means_whom_was_spoken_of(linker):
    conversation = said(linker, "Have you seen Freddie Mercury?", "Mercury was great.")
    assert entities(conversation.turns[1].links) == [("Mercury", "freddie-mercury")]


def test_a_name_cut_short_need_not_be_one_of_the_knowledge_base(linker):
    detector = FixedDetector(["Freddie Mercury", "Freddie", "Fred"])
    tagged = Linker(linker.kb, detector, [AliasRetriever(linker.kb)], PriorRanker(), ThresholdNil())
    assert entities(tagged.link("Freddie").links) == [("Freddie", None)]
    conversation = said(tagged, "Have you seen Freddie Mercury?", "Freddie was great.", "Fred, yes.")
    assert entities(conversation.turns[1].links) == [("Freddie", "freddie-mercury")]
    assert entities(conversation.turns[2].links) == [("Fred", None)]


@pytest.mark.parametrize("between", [0, 1, 3])
def test_what_was_linked_fades_turn_by_turn(linker, between):
    conversation = said(linker, "A bottle of quicksilver broke.", *["Oh."] * between, "Mercury?")
    (link,) = conversation.turns[-1].links
    strengths = {one.entity: one.evidence.get("recent") for one in link.candidates}
    assert strengths == {"mercury-element": pytest.approx(0.8**between), "mercury-planet": None}


def test_the_one_linked_longest_ago_is_forgotten_first(loaded):
    linker = loaded(memory=2)
    conversation = said(linker, "quicksilver", "London", "Queen")
    (link,) = conversation.add("Mercury").links
    assert (link.entity, "recent" in link.candidates[0].evidence) == ("mercury-planet", False)
    none = said(loaded(memory=0), "quicksilver", "Mercury")
    assert entities(none.turns[1].links) == [("Mercury", "mercury-planet")]


def test_nil_is_not_remembered_and_forgetting_begins_anew(linker):
    conversation = said(linker, "A bottle of quicksilver broke.")
    conversation.forget()
    linked = conversation.add("Is Mercury dangerous?")
    assert entities(linked.links) == [("Mercury", "mercury-planet")]
    assert (linked.number, linked.span.start) == (1, len("A bottle of quicksilver broke.") + 2)
    strict = entlink.load(linker.kb.folder, config=LinkerConfig(nil={"name": "threshold", "threshold": 1.0}))
    try:
        talk = said(strict, "Paris", "Paris")
        assert [entities(turn.links) for turn in talk.turns] == [[("Paris", None)], [("Paris", None)]]
        assert len(talk._recent) == 0
    finally:
        strict.kb.close()


def test_offsets_count_in_the_turn_and_in_the_whole(any_linker):
    conversation = said(any_linker, "👩‍🚀 I saw\u200b Eswatini", "", "北京 and London")
    document = conversation.document
    assert document.turn_spans == tuple(turn.span for turn in conversation.turns)
    assert [link.mention.text for link in document.links] == ["Eswatini", "北京", "London"]
    for turn in conversation.turns:
        for link, whole in zip(turn.links, turn.links_in_whole, strict=True):
            for text, one in ((turn.turn.text, link), (document.text, whole)):
                assert text[one.mention.span.start : one.mention.span.end] == link.mention.text


def test_a_zero_width_space_does_not_hide_a_name(linker):
    (link,) = said(linker, "😀 Mer\u200bcury").turns[0].links
    assert (link.entity, link.mention.span) == ("mercury-planet", Span(2, 10))


@settings(max_examples=60)
@given(turns=TURNS, other=TURNS, window=st.sampled_from([0, 1, 9, 30, 2000]), names=st.booleans())
def test_every_way_gives_the_same_links(linker, turns, other, window, names):
    config = ConversationConfig(window=window, speaker_names=names)
    made = Linker(linker.kb, linker.detector, linker.retrievers, linker.ranker, linker.nil, conversations=config)
    conversation = made.conversation("c")
    for turn in turns:
        conversation.add(turn.text, turn.speaker)
    document = Document.of_turns("c", turns)
    assert made.link(document) == conversation.document
    beside = [Document("t", "Mercury"), document, Document.of_turns("o", other)]
    text, batched, _ = made.link_all(beside)
    assert batched == conversation.document
    assert entities(text.links) == [("Mercury", "mercury-planet")]


@given(turns=TURNS, later=TURNS)
def test_nothing_after_a_turn_changes_it(any_linker, turns, later):
    links = any_linker.link(Document.of_turns("c", turns)).links
    longer = any_linker.link(Document.of_turns("c", [*turns, *later])).links
    assert longer[: len(links)] == links


@given(turns=TURNS)
def test_only_some_speakers_get_the_links_they_get_among_all(any_linker, turns):
    everyone = any_linker.link(Document.of_turns("c", turns))
    conversation = any_linker.conversation("c", speakers=[" user "])
    for turn in turns:
        conversation.add(turn.text, turn.speaker)
    spans = [span for turn, span in zip(turns, everyone.turn_spans, strict=True) if turn.speaker == "USER"]
    wanted = [link for link in everyone.links if any(span.overlaps(link.mention.span) for span in spans)]
    assert list(conversation.document.links) == wanted


def test_other_speakers_need_not_be_linked(loaded, toy):
    turns = [Turn("A bottle of quicksilver broke.", "SYSTEM"), Turn("Is Mercury dangerous?", "USER"), Turn("London")]
    document = Document.of_turns("c", turns)
    assert entities(loaded(speakers=("User",)).link(document).links) == [("Mercury", "mercury-element")]
    deaf = loaded(speakers=("User",), overhear=False)
    assert entities(deaf.link(document).links) == [("Mercury", "mercury-planet")]
    with_name = entlink.load(toy, config="lexical", speakers="system")
    try:
        assert entities(with_name.link(document).links) == [("quicksilver", "mercury-element")]
        assert entities(with_name.link("no turns, but London").links) == [("London", "london")]
    finally:
        with_name.kb.close()


def test_a_conversation_as_a_whole_is_linked_as_a_text_is(loaded, linker):
    document = Document.of_turns("c", [Turn("A bottle of quicksilver broke.", "a"), Turn("Is Mercury bad?", "b")])
    whole = loaded(as_whole=True).link(document)
    assert [link.candidates for link in whole.links] == [
        link.candidates for link in linker.link(Document("c", document.text)).links
    ]
    again = loaded(as_whole=True).link(whole)
    assert again == whole
    assert entities(loaded(as_whole=True, speakers=("B",)).link(document).links) == [("Mercury", "mercury-planet")]


def test_a_document_that_is_not_its_turns_is_linked_as_a_whole(linker):
    odd = Document("c", "quicksilver\nMercury", turns=(Turn("quicksilver"), Turn("Mercury")))
    assert entities(linker.link(odd).links) == [("quicksilver", "mercury-element"), ("Mercury", "mercury-planet")]


def test_given_spans_of_turns(toy):
    linker = entlink.load(toy, config="lexical", mentions="given")
    document = Document.of_turns("c", [Turn("quicksilver"), Turn("The Mercury of old"), Turn("And Freddie")])
    spans = [(17, 24), (0, 11)]
    mentions = tuple(Mention(Span(*span), document.text[slice(*span)]) for span in spans)
    try:
        linked = linker.link(Document("c", document.text, turns=document.turns, mentions=mentions))
        assert entities(linked.links) == [("quicksilver", "mercury-element"), ("Mercury", "mercury-element")]
        assert linked.mentions == mentions
        across = (Mention(Span(17, 42), document.text[17:42]),)
        crossing = linker.link(Document("c", document.text, turns=document.turns, mentions=across))
        assert [link.mention for link in crossing.links] == list(across)
        conversation = linker.conversation()
        (link,) = conversation.add("By Paris.", mentions=[Mention(Span(3, 8), "Paris")]).links
        assert (link.entity, link.mention.span) == ("paris", Span(3, 8))
        assert conversation.add("By Paris.").links == ()
        with pytest.raises(SpanError, match=r"turn 2.*lies outside"):
            conversation.add("By Paris.", mentions=[Mention(Span(3, 80), "Paris")])
    finally:
        linker.kb.close()


def test_rules_on_names_outweigh_what_is_remembered(tmp_path):
    own = toy_kb(tmp_path)
    edits.pin(own, "Mercury", "mercury-planet")
    edits.block(own, "Queen")
    with entlink.KnowledgeBase.open(own) as kb:
        linker = Linker(
            kb,
            FixedDetector(["quicksilver", "Mercury", "Queen"]),
            [AliasRetriever(kb)],
            PriorRanker(),
            ThresholdNil(),
        )
        talk = said(linker, "quicksilver", "Mercury")
        assert entities(talk.turns[1].links) == [("Mercury", "mercury-planet")]
        assert entities(talk.add("Queen").links) == [("Queen", None)]


def test_a_pinned_name_is_never_short_for_what_is_remembered(tmp_path):
    own = toy_kb(tmp_path)
    edits.pin(own, "Freddie", "mercury-planet")
    config = LinkerConfig(types=("musician",))  # so that the pin leads to nothing
    linker = entlink.load(own, config=config, mentions="given")
    try:
        talk = linker.conversation()
        (first,) = talk.add("Freddie Mercury", mentions=[Mention(Span(0, 15), "Freddie Mercury")]).links
        (second,) = talk.add("Freddie", mentions=[Mention(Span(0, 7), "Freddie")]).links
    finally:
        linker.kb.close()
    assert second.entity is None
    assert all(one.entity != first.entity for one in second.candidates)


def test_edits_between_turns_count_at_once(tmp_path):
    own = toy_kb(tmp_path)
    linker = entlink.load(own, config="lexical")
    try:
        conversation = said(linker, "A bottle of quicksilver broke.")
        edits.remove(own, ["mercury-element"])
        assert entities(conversation.add("Is Mercury dangerous?").links) == [("Mercury", "mercury-planet")]
        assert "mercury-element" not in [one.entity for one in conversation.turns[1].links[0].candidates]
    finally:
        linker.kb.close()


def test_a_person_no_longer_there_is_no_candidate_by_a_name_cut_short(tmp_path):
    own = toy_kb(tmp_path)
    linker = entlink.load(own, config="lexical")
    try:
        conversation = said(linker, "Freddie Mercury sang.")
        edits.remove(own, ["freddie-mercury"])
        (link,) = conversation.add("Mercury!").links
        assert [one.entity for one in link.candidates] == ["mercury-planet", "mercury-element"]
    finally:
        linker.kb.close()


@pytest.mark.parametrize(
    ("times", "is_told"),
    [
        (("2020-05-01T10:00", "2020-05-01T09:00", "2020-05-01T08:00"), True),
        (("2020-05-01T10:00+02:00", "2020-05-01T09:00Z"), False),
        (("2020-05-01T10:00", None, "2020-05-01T10:00"), False),
        (("noon", "2020", "yesterday"), False),
    ],
)
def test_times_that_go_backwards_are_told_once(linker, caplog, times, is_told):
    with caplog.at_level(logging.WARNING, logger="entlink"):
        linker.link(Document.of_turns("c7", [Turn("Hello", None, time) for time in times]))
    told = [record.message for record in caplog.records]
    assert len(told) == is_told
    if is_told:
        assert "'c7': turn 1 is of 2020-05-01T09:00, before turn 0 of 2020-05-01T10:00" in told[0]


def test_text_of_another_language_is_linked_where_names_are_known(any_linker):
    conversation = said(any_linker, "Сегодня жарко, 😀", "Я был в Paris и 北京。", "\u200b", "")
    found = [entities(turn.links) for turn in conversation.turns]
    assert found == [[], [("Paris", "paris"), ("北京", "beijing")], [], []]


def test_turns_that_are_no_texts_are_told(any_linker):
    with pytest.raises(InputError, match="not bytes"):
        any_linker.conversation().add(b"Mercury")


def test_turns_need_not_be_kept(linker):
    conversation = linker.conversation(keep=False)
    conversation.add("A bottle of quicksilver broke.")
    assert entities(conversation.add("Is Mercury dangerous?").links) == [("Mercury", "mercury-element")]
    assert conversation.turns == []
    with pytest.raises(InputError, match="keep=True"):
        _ = conversation.document


@pytest.mark.parametrize("setting", [{"window": -1}, {"memory": -1}, {"decay": 0.0}, {"decay": 1.5}])
def test_settings_that_do_not_fit(setting, tmp_path):
    with pytest.raises(ConfigError, match="does not fit"):
        ConversationConfig(**setting)
    ((name, value),) = setting.items()
    path = tmp_path / "linker.toml"
    path.write_text(f"[conversation]\n{name} = {value}\n")
    with pytest.raises(ConfigError, match=f"{name} = {value}"):
        entlink.linking.config.read_config(path)


def test_an_explanation_tells_what_was_remembered(linker):
    conversation = said(linker, "A bottle of quicksilver broke.", "Is Mercury dangerous?")
    (told,) = conversation.explain(conversation.turns[1], Span(3, 10)).spans
    assert (told.outcome, told.link.entity, told.candidates[0].evidence["recent"]) == ("linked", "mercury-element", 1)
    (nothing,) = conversation.explain(conversation.turns[1], Span(0, 2)).spans
    assert nothing.outcome == "not in the dictionary"
    whole = linker.explain(conversation.document)
    assert [one.link.entity for one in whole.spans] == ["mercury-element", "mercury-element"]


def test_a_turn_that_is_not_given_links_says_so(any_linker):
    conversation = any_linker.conversation(speakers=["ana"])
    other, own = conversation.add("London", "ben"), conversation.add("London", "ANA")
    (told,) = conversation.explain(other, Span(0, 6)).spans
    assert (told.outcome, told.reason) == ("filtered out", "its turn is of none of the speakers that are linked")
    assert conversation.explain(other).spans == ()
    assert [one.outcome for one in conversation.explain(own).spans] == ["linked"]


def test_turns_have_what_their_document_has(any_linker):
    like = Document("d", "old", language="en", date="2020", meta={"a": 1}, turns=(Turn("old"),))
    conversation = Conversation(any_linker, like=like)
    conversation.add("London")
    document = conversation.document
    assert (document.id, document.text, document.language, document.date, document.meta) == (
        *("d", "London", "en", "2020"),
        {"a": 1},
    )


# What a turn costs


class Counting:
    """A detector, retriever and ranker that counts what it is shown."""

    def __init__(self, kb):
        self.detector, self.retriever, self.ranker = DictionaryDetector(kb), AliasRetriever(kb), PriorRanker()
        self.seen = self.begin()

    def begin(self):
        self.seen = dict.fromkeys(("detected", "read", "turns", "mentions", "ranked", "earlier"), 0)
        return self.seen

    def detect(self, documents):
        self.seen["detected"] += sum(len(document.text) for document in documents)
        return self.detector.detect(documents)

    def retrieve(self, questions):
        for document, mentions in questions:
            self.seen["read"] += len(document.text)
            self.seen["turns"] += len(document.turns)
            self.seen["earlier"] += len(document.links)
            self.seen["mentions"] += len(mentions)
        return self.retriever.retrieve(questions)

    def rank(self, shortlists):
        self.seen["ranked"] += sum(len(one.candidates) for one in shortlists)
        return self.ranker.rank(shortlists)


@pytest.fixture
def counted(linker):
    def counted(**settings):
        counting = Counting(linker.kb)
        config = ConversationConfig(**settings)
        return counting, Linker(
            linker.kb, counting, [counting], counting, ThresholdNil(), conversations=config
        ).conversation()

    return counted


def test_a_turn_costs_the_same_however_many_came_before(counted):
    counting, conversation = counted(window=300)
    costs = []
    for number in range(200):
        counting.begin()
        conversation.add(f"Turn {number % 10}: Mercury and Freddie Mercury in Paris or London.", "ana")
        costs.append(dict(counting.seen))
    assert costs[199] == costs[19]
    assert costs[0]["read"] < costs[19]["read"] <= 300 + costs[0]["read"]
    assert len(conversation._recent) <= conversation.config.memory


def test_an_endless_turn_is_read_once_and_then_only_its_end(counted):
    counting, conversation = counted(window=500)
    long = "Mercury and the rest. " * 4600
    assert len(long) > 100_000
    linked = conversation.add(long)
    assert len(linked.links) == 4600
    counting.begin()
    conversation.add("And Mercury?")
    assert counting.seen["detected"] == len("And Mercury?")
    assert counting.seen["read"] <= 500 + len("And Mercury?")
    assert counting.seen["mentions"] == 1


def test_the_detector_sees_the_turn_alone_and_the_rest_what_came_before(counted):
    counting, conversation = counted()
    conversation.add("In Paris.")
    counting.begin()
    conversation.add("In London.")
    assert counting.seen == {"detected": 10, "read": 21, "turns": 2, "mentions": 1, "ranked": 1, "earlier": 1}


def test_a_turn_that_is_interrupted_leaves_the_conversation_as_it_was(linker):
    class Stopping(GivenMentions):
        stops = False

        def detect(self, documents):
            if self.stops:
                raise KeyboardInterrupt
            return linker.detector.detect(documents)

    detector = Stopping()
    conversation = Linker(linker.kb, detector, linker.retrievers, linker.ranker, linker.nil).conversation()
    conversation.add("A bottle of quicksilver broke.")
    detector.stops = True
    with pytest.raises(KeyboardInterrupt):
        conversation.add("London")
    detector.stops = False
    linked = conversation.add("Mercury")
    assert (linked.number, entities(linked.links)) == (1, [("Mercury", "mercury-element")])


def test_old_links_do_not_reach_the_ranker_of_a_conversation_as_a_whole(toy):
    class Watching(PriorRanker):
        def rank(self, shortlists):
            seen.extend(shortlist.document.links for shortlist in shortlists)
            return super().rank(shortlists)

    seen: list[tuple[Link, ...]] = []
    said = Document.of_turns("c", [Turn("Mercury", "a"), Turn("Paris", "b")])
    with KnowledgeBase.open(toy) as kb:
        stages = DictionaryDetector(kb), [AliasRetriever(kb)], Watching(), ThresholdNil(0.0)
        linker = Linker(kb, *stages, conversations=ConversationConfig(as_whole=True))
        again = linker.link(linker.link(said))
    assert len(again.links) == 2
    assert seen == [()] * 4
