"""Personal mentions in conversations: what they are linked to, and what they leave as it is."""

from __future__ import annotations

import pytest

import entlink
from entlink import Document, LinkerConfig, Mention, Span, Turn
from entlink.errors import ConfigError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import ConversationConfig, read_config
from entlink.linking.conversation.personal.resolver import MOST_PHRASES
from entlink.linking.conversation.personal.said import SaidEntities
from entlink.linking.conversation.turns import is_english


def personal(links):
    return [(link.mention.text, link.entity) for link in links if link.mention.type == "personal"]


def last(linker, *turns):
    """The personal links of the last of some turns, each a text or a speaker and a text."""
    conversation = linker.conversation()
    for turn in turns:
        speaker, text = turn if isinstance(turn, tuple) else ("ana", turn)
        linked = conversation.add(text, speaker)
    return personal(linked.links)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My favourite singer is Adele.", [("My favourite singer", "adele")]),
        ("ABBA is my favourite band!", [("my favourite band", "abba")]),
        ("I love chess. It is one of my favourite games.", [("my favourite games", "chess")]),
        (
            "My first car was a Fiat, and Adele is my favourite singer.",
            [("My first car", "fiat"), ("my favourite singer", "adele")],
        ),
    ],
)
def test_what_is_said_in_the_same_turn(loaded, text, expected):
    assert last(loaded(), text) == expected


@pytest.mark.parametrize("config", ["lexical", None])
def test_what_the_speaker_said_before(loaded, config):
    linker = loaded(config=config)
    assert last(linker, "I have a poodle.", ("ben", "Nice!"), "My dog barks a lot.") == [("My dog", "poodle")]
    assert last(linker, "I grew up in Lisbon.", "I miss my city so much.") == [("my city", "lisbon")]


def test_what_another_speaker_said_is_not_meant(loaded):
    turns = (
        ("ana", "I have a poodle."),
        ("ben", "I have a Siamese."),
        ("ben", "My dog barks."),
        ("ana", "My dog too."),
    )
    linker = loaded()
    assert last(linker, *turns[:3]) == []
    assert last(linker, *turns) == [("My dog", "poodle")]
    assert last(linker, ("Ana ", "I have a poodle."), ("ANA", "My dog barks.")) == [("My dog", "poodle")]


def test_a_turn_without_a_speaker_means_only_what_it_says_itself(loaded):
    linker = loaded()
    for nobody in (None, ""):
        assert last(linker, (nobody, "I have a poodle."), (nobody, "My dog barks.")) == []
        assert last(linker, (nobody, "My favourite singer is Adele.")) == [("My favourite singer", "adele")]


@pytest.mark.parametrize("text", ["My mind is made up.", "My dog barks.", "I saw my mother yesterday.", "Oh my god!"])
def test_what_nothing_was_said_of_has_no_link(loaded, text):
    linked = loaded().conversation().add(text, "ana")
    assert [link for link in linked.links if link.mention.text.lower().startswith("my")] == []


def test_a_name_that_begins_with_a_possessive_is_a_name(loaded):
    linked = loaded().conversation().add("Adele sang in My Fair Lady.", "ana")
    assert [(link.mention.text, link.entity) for link in linked.links][1:] == [("My Fair Lady", "fair-lady")]
    assert personal(linked.links) == []


def test_links_tell_that_they_are_personal_and_why(loaded):
    linker = loaded()
    conversation = linker.conversation()
    conversation.add("I have a poodle.", "ana")
    turn = conversation.add("My dog barks.", "ana")
    (link,) = (link for link in turn.links if link.mention.type == "personal")
    assert (link.title, link.mention.span, link.calibrated) == ("Poodle", Span(0, 6), False)
    assert 0.5 < link.score < 1
    best = link.candidates[0]
    assert (best.entity, best.score, best.evidence["said turns before"]) == ("poodle", link.score, 1.0)
    assert best.evidence["of the kind"] > 0
    told = conversation.explain(turn).at(Span(0, 6))
    assert told is not None
    assert told.reason == f"what the speaker named 1 turn before, score {link.score:.3f}"
    same = conversation.add("My favourite singer is Adele.", "ana")
    told = conversation.explain(same).at(Span(0, 19))
    assert told is not None
    assert "in the same turn" in told.reason


def test_links_come_in_the_order_of_the_text_and_the_longer_first(loaded):
    linked = loaded().conversation()
    linked.add("I have a poodle.", "ana")
    turn = linked.add("Adele met my dog.", "ana")
    assert [(link.mention.text, link.entity) for link in turn.links] == [
        ("Adele", "adele"),
        ("my dog", "poodle"),
        ("dog", "dog"),
    ]


TALK = [
    Turn("I have a poodle and live in Oslo.", "ana"),
    Turn("My favourite band is ABBA.", "ben"),
    Turn("My dog likes Adele, my favourite singer.", "ana"),
    Turn("My favourite band is in my city.", "ben"),
]


def test_all_other_links_stay_as_they_are(loaded):
    document = Document.of_turns("d", TALK)
    plain, linked = loaded(False).link(document), loaded().link(document)
    assert [link for link in linked.links if link.mention.type != "personal"] == list(plain.links)
    assert personal(linked.links)[:2] == [("My favourite band", "abba"), ("My dog", "poodle")]
    assert personal(plain.links) == []


def test_it_is_off_by_default(things):
    linker = entlink.load(things)
    assert linker.personal is None
    assert personal(linker.link(Document.of_turns("d", TALK)).links) == []
    linker.kb.close()


def test_a_document_is_linked_as_its_turns_are_and_always_the_same(loaded):
    linker = loaded()
    conversation = linker.conversation("d")
    for turn in TALK:
        conversation.add(turn.text, turn.speaker)
    document = Document.of_turns("d", TALK)
    assert linker.link(document) == conversation.document == linker.link(document)
    assert list(linker.link_all([document] * 3)) == [conversation.document] * 3
    assert loaded().link(document) == conversation.document


def test_a_text_without_turns_has_no_speaker_and_no_personal_links(loaded):
    assert personal(loaded().link("My favourite singer is Adele.").links) == []


def test_only_the_turns_of_wanted_speakers(loaded):
    linker = loaded(speakers="ana")
    assert personal(linker.link(Document.of_turns("d", TALK)).links)[0] == ("My dog", "poodle")


def test_forgetting_and_scores_below_the_least(loaded):
    conversation = loaded().conversation()
    conversation.add("I have a poodle.", "ana")
    conversation.forget()
    assert personal(conversation.add("My dog barks.", "ana").links) == []
    assert last(loaded(min_score=0.999), "I have a poodle.", "My dog barks.") == []


def test_given_spans_are_all_that_is_linked(loaded):
    linker = loaded(mentions="given")
    conversation = linker.conversation()
    conversation.add("I have a poodle.", "ana", mentions=[Mention(Span(9, 15), "poodle")])
    text = "My dog and my cat bark."
    assert personal(conversation.add(text, "ana", mentions=[]).links) == []
    turn = conversation.add(text, "ana", mentions=[Mention(Span(0, 6), "My dog")])
    assert [(link.mention.text, link.entity) for link in turn.links] == [("My dog", "poodle")]  # in place of NIL


def test_only_english_is_looked_at(loaded):
    document = Document.of_turns("d", TALK, language="de")
    assert personal(loaded().link(document).links) == []
    assert [is_english(one) for one in (None, "en", "EN-GB", "de", "zh")] == [True, True, True, False, False]


# What a turn costs


def test_a_turn_costs_the_same_however_many_came_before(things, monkeypatch):
    linker = entlink.load(things, config=LinkerConfig(conversation=ConversationConfig(personal=True, memory=3)))
    read = []
    get = KnowledgeBase.get
    monkeypatch.setattr(KnowledgeBase, "get", lambda kb, id: (read.append(id), get(kb, id))[1])
    conversation = linker.conversation(keep=False)
    named = ["ABBA", "Adele", "Fiat", "Chess", "Lisbon", "Oslo"]
    costs = []
    for number in range(60):
        read.clear()
        conversation.add(f"My friend likes {named[number % 6]}.", "ana")
        costs.append(len(read))
        conversation.add("Poodle?", "ben")
    assert costs[:3] == [1, 2, 3]
    assert set(costs[3:]) == {4}  # what the turn names, and three that were named before
    assert len(conversation._said) == 6 + 1
    linker.kb.close()


def test_what_is_remembered_stays_small():
    def link(number):
        return entlink.Link(Mention(Span(0, 1), "x"), str(number), 1.0)

    said = SaidEntities(3)
    for number in range(100):
        said.take_in(f"speaker {number % 9}", [link(number)], number)
        said.take_in("ana", [link(number % 5), entlink.Link(Mention(Span(0, 1), "x"), None, 1.0)], number)
    assert len(said) == 12
    assert [(one.link.entity, one.turn) for one in said.of("ana")] == [("4", 99), ("3", 98), ("2", 97)]
    assert said.of("nobody") == said.of(None) == []


def test_a_turn_of_a_hundred_thousand_characters(loaded):
    text = "my dog met Adele. " * 6000
    conversation = loaded().conversation()
    conversation.add("I have a poodle.", "ana")
    assert len(personal(conversation.add(text, "ana").links)) <= MOST_PHRASES


# Settings


def test_the_configuration_and_what_does_not_fit(tmp_path, things):
    path = tmp_path / "linker.toml"
    path.write_text("[conversation]\npersonal = true\n", encoding="utf8")
    assert read_config(path).conversation.personal is True
    with pytest.raises(ConfigError, match="personal and as_whole"):
        ConversationConfig(personal=True, as_whole=True)
    weights = tmp_path / "none.json"
    config = LinkerConfig(conversation=ConversationConfig(personal=str(weights)))
    with pytest.raises(ConfigError, match=r"none\.json.*cannot be read"):
        entlink.load(things, config=config)
    weights.write_text("[]", encoding="utf8")
    with pytest.raises(ConfigError, match=r"no weights of personal mentions.*entlink train personal"):
        entlink.load(things, config=config)
    weights.write_text('{"ends": {}, "choice": {}, "format": "other"}', encoding="utf8")
    with pytest.raises(ConfigError, match="'other'"):
        entlink.load(things, config=config)


def test_weights_inside_of_a_saved_linker_move_with_it(tmp_path):
    from entlink.linking.saved import save_linker

    folder = tmp_path / "my.linker"
    config = LinkerConfig(conversation=ConversationConfig(personal=str(folder / "personal.json")))
    save_linker(folder, config, {})
    folder.rename(tmp_path / "moved.linker")
    moved = read_config(tmp_path / "moved.linker").conversation.personal
    assert moved == str((tmp_path / "moved.linker").resolve() / "personal.json")
