"""Words that entities share: the folder that keeps them, and the evidence by them."""

from __future__ import annotations

import msgspec
import numpy
import pytest

from entlink.documents import Candidate, Document, Mention, Span, Turn
from entlink.encoders.text.word_vectors import WordVectors
from entlink.errors import ConfigError, DamagedError, MissingModelError
from entlink.evidence.sense_model import SenseCard, read_senses, sense_model, write_senses
from entlink.evidence.senses import SensesEvidence
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import make_stage
from entlink.testing import check_evidence
from gathered import scores_of
from knowledge_bases import article, make_kb

for module in ("onnxruntime", "onnx", "tokenizers", "safetensors"):
    pytest.importorskip(module)
SIZE = 24
CARD, WEIGHTS = "senses.json", "senses.npz"
ROWS = [article("river-bank", "River bank", "Of a river."), article("money-bank", "Money bank", "Of money.")]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The folder of a random BERT."""
    from tiny_bert import make_folder

    folder = tmp_path_factory.mktemp("tiny")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTLINK_MODELS", str(folder / "models"))
        yield make_folder(folder / "bert")


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    with KnowledgeBase.open(make_kb(tmp_path_factory.mktemp("senses"), ROWS)) as opened:
        yield opened


def model(tiny, **changes):
    random = numpy.random.default_rng(0)
    senses = {"bank": ["river-bank", "money-bank"], "mat": ["red-mat", "blue-mat", "mat"]}
    card = SenseCard(
        encoder=str(tiny),
        identity=WordVectors(str(tiny)).identity,
        senses=senses,
        reliability={"bank": 1, "mat": 0.5},
    )
    rows = random.standard_normal((5, SIZE)).astype(numpy.float16).astype(numpy.float32)
    mean = random.standard_normal(SIZE).astype(numpy.float32)
    return sense_model(msgspec.structs.replace(card, **changes), mean, rows)


@pytest.fixture
def folder(tiny, tmp_path):
    write_senses(tmp_path / "senses", model(tiny))
    return tmp_path / "senses"


def mention(text, surface):
    start = text.index(surface)
    return Document("d", text), Mention(Span(start, start + len(surface)), surface)


def shortlist(text, surface, *entities):
    return Shortlist(*mention(text, surface), [Candidate(one, 0.5) for one in entities])


def test_what_is_written_is_read(folder, tiny):
    read, made = read_senses(folder), model(tiny)
    assert read.card.senses == made.card.senses
    assert read.rows.tolist() == made.rows.tolist()
    assert read.mean.tolist() == made.mean.tolist()
    assert read.first == {"bank": 0, "mat": 2}
    write_senses(folder, made)  # over what was there
    assert sorted(one.name for one in folder.iterdir()) == [CARD, WEIGHTS]


def test_scores_are_products_less_their_mean(kb, folder, tiny):
    evidence = SensesEvidence(kb, model=folder)
    asked = shortlist("the cat sat on the river bank", "bank", "cat", "money-bank", "river-bank")
    [scores] = scores_of(evidence, [asked])
    made = model(tiny)
    [vector] = WordVectors(str(tiny)).of([(asked.document, asked.mention)])
    river, money = made.rows[:2] @ (vector - made.mean)
    assert scores == pytest.approx([0.0, (money - river) / 2, (river - money) / 2], abs=1e-4)


def test_others_score_nothing(kb, folder):
    evidence = SensesEvidence(kb, model=folder)
    asked = [
        shortlist("one bank of money", "bank", "river-bank", "cat"),  # nothing to tell it from
        shortlist("the red cat", "cat", "river-bank", "money-bank"),  # a word that nobody shares
        shortlist("one bank", "bank"),
        shortlist("one bank of money", "bank", "fresh", "river-bank", "money-bank"),  # an entity that came later
    ]
    scores = scores_of(evidence, asked)
    assert scores[:3] == [[0.0, 0.0], [0.0, 0.0], []]
    assert scores[3][0] == 0.0 != scores[3][1]
    assert sum(scores[3]) == pytest.approx(0.0, abs=1e-5)
    check_evidence(evidence, asked)


def test_it_needs_a_model(kb):
    with pytest.raises(ConfigError, match="model"):
        make_stage("evidence", {"name": "senses"}, kb)


def test_what_is_missing_or_altered_is_told(kb, folder, tmp_path, tiny):
    with pytest.raises(MissingModelError, match="no senses of words"):
        read_senses(tmp_path / "nowhere")
    (folder / WEIGHTS).write_bytes(b"other")
    with pytest.raises(DamagedError, match="missing or altered"):
        read_senses(folder)
    write_senses(folder, model(tiny, format=99))
    with pytest.raises(DamagedError, match="another version"):
        read_senses(folder)
    (folder / CARD).write_text("{", encoding="utf8")
    with pytest.raises(DamagedError, match="cannot be read"):
        read_senses(folder)
    write_senses(folder, model(tiny, identity="other"))
    with pytest.raises(ConfigError, match="learnt with the encoder other"):
        SensesEvidence(kb, model=folder)


def test_a_word_is_read_where_it_stands(tiny):
    words = WordVectors(str(tiny))
    near, far = mention("cat dog red bank sat", "bank"), mention(f"{'needle ' * 60}cat dog red bank sat", "bank")
    other = mention("cat dog blue bank sat", "bank")
    alone, apart, changed, none = words.of([near, far, other, (Document("e", "a  b"), Mention(Span(1, 3), "  "))])
    assert not numpy.allclose(alone, changed, atol=1e-3)
    assert not numpy.allclose(alone, apart, atol=1e-3)
    assert not none.any()
    farther = mention(f"{'needle ' * 90}cat dog red bank sat", "bank")
    assert words.of([far, farther])[0] == pytest.approx(words.of([farther])[0], abs=1e-4)
    assert words.of([]).shape == (0, SIZE)


def test_later_turns_are_not_read(tiny):
    words = WordVectors(str(tiny))
    first, second = Turn(speaker="user", text="the red bank"), Turn(speaker="user", text="of the blue river")
    bank = Mention(Span(8, 12), "bank")
    alone, before = (words.of([(Document.of_turns("d", turns), bank)])[0] for turns in ([first], [first, second]))
    assert alone == pytest.approx(before, abs=1e-5)
    text = Document("d", f"{first.text} {second.text}")
    assert not numpy.allclose(words.of([(text, bank)])[0], alone, atol=1e-3)
