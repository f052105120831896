"""The learned detector at work: its promises, its dial, rules, explanations, and texts of every kind."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from detector_world import conversations, detector_kb
from entlink.documents import Document, Span, Turn
from entlink.encoders import loading
from entlink.errors import ConfigError, MissingModelError
from entlink.interfaces import Explainer, Follower, Reason
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import block, pin
from entlink.learning.detector.training import train_detector
from entlink.linking.config import LinkerConfig, make_stage
from entlink.linking.linker import load
from entlink.mentions import span_rows
from entlink.mentions.dictionary import DictionaryDetector
from entlink.mentions.learned import LearnedDetector
from entlink.mentions.span_features import NEVER_SEEN
from entlink.mentions.span_model import Net, SpanModel, read_model, write_model
from entlink.testing import check_detector

TEXT = "Last week I saw Miles Davis with a friend in New York."
STRANGE = [
    "",
    "   \n\n ",
    "!!! ... ???",
    "😀 Paris 😀😀",
    "\u200bPa\u200bris\u200b and Yo\u200brk",
    "我在北京。他在北京市",
    "jazz" * 500,
    "Paris." * 300,
    "half a character \ud83d Paris",
    "İstanbul ẞ ŉ Paris",
    "\x00 Paris \x1b[31m",
]


@pytest.fixture(scope="module")
def kb_folder(tmp_path_factory):
    return detector_kb(tmp_path_factory.mktemp("talk"))


@pytest.fixture(scope="module")
def kb(kb_folder):
    with KnowledgeBase.open(kb_folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def model(kb, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "detector"
    train_detector(kb, conversations(24), folder, encoder=None)
    return folder


def found(detector, text, id="new"):
    [mentions] = detector.detect([Document(id, text)])
    return [mention.text for mention in mentions]


def test_it_finds_what_it_learnt(kb, model):
    detector = LearnedDetector(kb, model=model)
    assert found(detector, TEXT) == ["Miles Davis", "New York"]
    right = wrong = 0
    for document in conversations(10, seed=99, prefix="new"):
        [mentions] = detector.detect([document])
        gold = {one.span for one in document.gold}
        right += len(gold & {one.span for one in mentions})
        wrong += len(gold ^ {one.span for one in mentions})
    assert right > 20 * wrong


def test_it_keeps_what_a_detector_promises(kb, model):
    detector = LearnedDetector(kb, model=model, threshold=0.02)
    assert isinstance(detector, Explainer)
    assert isinstance(detector, Follower)
    documents = [Document(str(number), text) for number, text in enumerate([TEXT, *STRANGE])]
    check_detector(detector, [*documents, *conversations(2)])
    assert [len(one) for one in detector.detect(documents)[1:4]] == [0, 0, 0]


def test_names_in_strange_texts(kb, model):
    detector = LearnedDetector(kb, model=model, threshold=0.3)
    assert "Paris" in found(detector, "i saw 😀 Paris 😀 today")
    assert "Pa\u200bris" in found(detector, "i saw Pa\u200bris today")
    assert "北京" in found(detector, "北京")


def test_many_texts_are_read_as_single_ones_are(kb, model, monkeypatch):
    detector = LearnedDetector(kb, model=model)
    documents = conversations(5, seed=3, prefix="n")
    whole = detector.detect(documents)
    monkeypatch.setattr(span_rows, "_TEXTS_AT_ONCE", 2)
    monkeypatch.setattr(span_rows, "_CHARACTERS_AT_ONCE", 300)
    monkeypatch.setattr(span_rows, "_ROWS_AT_ONCE", 7)
    again = detector.detect(documents)
    for one, other in zip(whole, again, strict=True):
        assert [mention.span for mention in one] == [mention.span for mention in other]
        assert [mention.score for mention in one] == pytest.approx([mention.score for mention in other], abs=1e-5)


@pytest.mark.parametrize("lengths", [[], [5], [200_000], [10] * 70, [30_000, 30_000, 10, 90_000, 1]])
def test_batches_hold_all_texts_and_not_too_much(lengths):
    parts = list(span_rows._batches(lengths))
    assert [length for part in parts for length in lengths[part]] == lengths
    for part in parts:
        own = lengths[part]
        assert len(own) == 1 or (0 < len(own) <= 32 and sum(own) <= 50_000)


@pytest.mark.parametrize("piece", ["Paris and jazz, last week. ", "我在北京市", "a"])
def test_a_very_long_text(kb, model, piece, monkeypatch):
    text = (piece * 40_000)[:40_000]
    largest = []
    logits = Net.logits

    def watched(net, rows):
        largest.append(len(rows))
        return logits(net, rows)

    monkeypatch.setattr(Net, "logits", watched)
    [mentions] = LearnedDetector(kb, model=model).detect([Document("long", text)])
    assert max(largest) <= 2048  # rows are made some at a time
    assert all(text[one.span.start : one.span.end] == one.text for one in mentions)
    if piece.startswith("Paris"):
        assert len(mentions) > 1.9 * text.count("Paris")


# The dial


def test_a_higher_threshold_finds_some_of_what_a_lower_one_finds(kb, model):
    document = Document("new", " ".join(turn.text for one in conversations(4, seed=5) for turn in one.turns))
    before = None
    for threshold in (0.0, 0.1, 0.5, 0.9, 1.0):
        [mentions] = LearnedDetector(kb, model=model, threshold=threshold).detect([document])
        spans = {one.span for one in mentions}
        assert before is None or spans <= before
        before = spans


def test_precision_and_recall_choose_the_threshold(kb, model, tmp_path):
    read = read_model(model)
    card = read.card
    assert LearnedDetector(kb, model=model).threshold == card.threshold
    assert LearnedDetector(kb, model=model, recall=0.5).threshold == max(
        one.threshold for one in card.choices if one.recall >= 0.5
    )
    assert LearnedDetector(kb, model=model, precision=0.9).threshold == min(
        one.threshold for one in card.choices if one.precision >= 0.9
    )
    worse = msgspec.structs.replace(card, choices=tuple(one._replace(recall=one.recall / 2) for one in card.choices))
    write_model(tmp_path / "worse", SpanModel(worse, read.nets))
    with pytest.raises(ConfigError, match=r"no threshold of this detector gives a recall of 0.99: the best"):
        LearnedDetector(kb, model=tmp_path / "worse", recall=0.99)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 0.5, "recall": 0.5}, "one of threshold, precision and recall, not several"),
        ({"precision": 0.5, "recall": 0.5}, "one of threshold, precision and recall, not several"),
        ({"threshold": 1.5}, r"\[detector\] learned: threshold = 1.5 does not fit"),
        ({"recall": "high"}, r"\[detector\] learned: recall = 'high' does not fit"),
        ({"treshold": 0.5}, "no setting 'treshold'; did you mean 'threshold'"),
    ],
)
def test_settings_that_do_not_fit(kb, model, settings, message):
    with pytest.raises(ConfigError, match=message):
        make_stage("detector", {"name": "learned", "model": str(model), **settings}, kb)


def test_without_a_model_it_is_the_dictionary(kb):
    detector = make_stage("detector", {"name": "learned"}, kb)
    assert isinstance(detector, DictionaryDetector)
    assert found(detector, TEXT) == found(DictionaryDetector(kb), TEXT)
    strict = make_stage("detector", {"name": "learned", "threshold": 0.7}, kb)
    assert strict.min_link_probability == 0.7
    with pytest.raises(ConfigError, match=r"has no model.*entlink train detector"):
        make_stage("detector", {"name": "learned", "recall": 0.5}, kb)


def test_a_model_that_is_not_there(kb, tmp_path):
    with pytest.raises(MissingModelError, match="there is no trained detector"):
        make_stage("detector", {"name": "learned", "model": str(tmp_path)}, kb)


# Rules, and why


@pytest.fixture
def ruled(kb_folder, tmp_path):
    folder = Path(shutil.copytree(kb_folder, tmp_path / "ruled.kb"))
    block(folder, "New York")
    pin(folder, "week", "week")
    with KnowledgeBase.open(folder) as opened:
        yield opened


def test_blocked_names_are_left_out_and_pinned_ones_taken(ruled, model):
    detector = LearnedDetector(ruled, model=model)
    assert found(detector, TEXT) == ["week", "Miles Davis", "York"]
    assert found(LearnedDetector(ruled, model=model, threshold=1.0), TEXT) == ["week"]


def test_a_rule_that_is_made_meanwhile(kb_folder, model, tmp_path):
    folder = Path(shutil.copytree(kb_folder, tmp_path / "own.kb"))
    with KnowledgeBase.open(folder) as opened:
        detector = LearnedDetector(opened, model=model)
        block(folder, "Miles Davis")
        opened.refresh()
        detector.knowledge_base_changed()
        assert "Miles Davis" not in found(detector, TEXT)


def told(detector, text, span=None):
    document = Document("new", text)
    return {text[one.span.start : one.span.end]: one for one in detector.explain(document, span)}


def test_why(ruled, model):
    detector = LearnedDetector(ruled, model=model)
    why = told(detector, TEXT)
    assert {surface: one.verdict.reason for surface, one in why.items()} == {
        "week": None,
        "Miles Davis": None,
        "friend": Reason.UNLIKELY,
        "New York": Reason.BLOCKED,
        "York": None,
    }
    friend = why["friend"].verdict
    assert friend.score == friend.value < friend.threshold == detector.threshold
    assert "saw Miles" not in why
    assert told(detector, TEXT, Span(12, 21))["saw Miles"].verdict.reason == Reason.UNLIKELY
    assert told(detector, TEXT, Span(12, 14)) == why  # no run of words


def test_why_one_lost_to_another(kb, model):
    detector = LearnedDetector(kb, model=model, threshold=0.0)
    why = told(detector, TEXT)
    assert (why["York"].verdict.reason, why["York"].lost_to) == (Reason.LOST, Span(45, 53))
    for one in why.values():
        if one.lost_to is not None:
            winner = why[TEXT[one.lost_to.start : one.lost_to.end]]
            assert winner.verdict.reason is None
            assert winner.verdict.score >= one.verdict.score
            assert winner.span.overlaps(one.span)


# In a linker


def test_a_conversation_that_was_learnt_from_is_judged_as_if_it_was_not(kb, model):
    detector = LearnedDetector(kb, model=model, threshold=0.0)
    read = read_model(model)
    text = next(turn.text for turn in conversations(24)[3].turns if read.card.whose(turn.text) == "c3")
    [mentions] = detector.detect([Document("whatever", text)])
    alone = SpanModel(
        msgspec.structs.replace(
            read.card, learnt={}, seen={key: read.card.seen_elsewhere("c3")(key) for key in read.card.seen}
        ),
        [read.nets[read.card.folds["c3"]]],
    )
    detector._model = alone
    assert detector.detect([Document("c3", text)]) == [mentions]


def test_the_id_of_a_text_does_not_matter(kb, model):
    detector = LearnedDetector(kb, model=model, threshold=0.0)
    new = "an otter in Paris, never said before"
    assert read_model(model).card.whose(new) is None
    assert detector.detect([Document("c3", new)]) == detector.detect([Document("unheard of", new)])


def test_a_linker_with_it(kb_folder, model):
    config = LinkerConfig(detector={"name": "learned", "model": str(model)})
    linker = load(kb_folder, config=config)
    try:
        assert [link.entity for link in linker.link(TEXT).links] == ["miles", "new-york"]
        talk = Document.of_turns("t", [Turn("Last week, jazz"), Turn(TEXT)])
        assert [link.entity for link in linker.link(talk).links] == ["jazz", "miles", "new-york"]
        why = linker.explain(TEXT, Span(35, 41)).spans[0]
        assert (why.text, why.outcome) == ("friend", "rejected")
        assert why.reason.startswith(Reason.UNLIKELY)
    finally:
        linker.kb.close()


# With an encoder


@pytest.fixture(scope="module")
def reading(kb, tmp_path_factory):
    """A detector that reads what words mean by a tiny BERT."""
    pytest.importorskip("onnxruntime")
    from tiny_bert import make_folder

    folder = tmp_path_factory.mktemp("reading")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTLINK_MODELS", str(folder / "models"))
        tiny = make_folder(folder / "tiny")
        train_detector(kb, conversations(20), folder / "detector", encoder=str(tiny))
        yield folder


def test_it_reads_with_an_encoder(kb, reading):
    detector = LearnedDetector(kb, model=reading / "detector")
    assert read_model(reading / "detector").nets[0].mean.shape == (42 + 5 * 24,)
    assert found(detector, TEXT) == ["Miles Davis", "New York"]
    check_detector(detector, [Document(str(number), text) for number, text in enumerate(STRANGE)])


def test_the_vectors_of_a_span_by_hand(kb, reading):
    encoder = loading.load_token_encoder(str(reading / "tiny"))
    text = "the red dog sat"
    [rows] = span_rows.SpanReader(kb, encoder).read([text], [lambda key: NEVER_SEEN])
    [tokens] = encoder.encode_tokens([text])
    [part] = rows.parts()
    place = [(one.start, one.end) for one in rows.spans].index((4, 11))  # "red dog"
    mean, first, last, before, after = part[place, 42:].reshape(5, 24)
    assert mean == pytest.approx(tokens.vectors[1:3].mean(axis=0), abs=1e-6)
    for vector, at in ((first, 1), (last, 2), (before, 0), (after, 3)):
        assert vector.tolist() == tokens.vectors[at].tolist()
    whole = [(one.start, one.end) for one in rows.spans].index((0, 15))
    assert not part[whole, 42 + 3 * 24 :].any()  # nothing before, nothing after


def test_another_encoder_than_it_was_trained_with_is_told(kb, reading, tmp_path):
    read = read_model(reading / "detector")
    write_model(tmp_path / "other", SpanModel(msgspec.structs.replace(read.card, identity="other"), read.nets))
    with pytest.raises(ConfigError, match=r"trained with the encoder 'other'.*Train it anew"):
        LearnedDetector(kb, model=tmp_path / "other")


def test_an_encoder_without_vectors_of_tokens_is_told(monkeypatch):
    from tiny_encoders import LetterEncoder

    monkeypatch.setattr(loading, "load_encoder", lambda name: LetterEncoder())
    with pytest.raises(ConfigError, match=r"no vectors of tokens in their context. Give a transformer"):
        loading.load_token_encoder("letters")
