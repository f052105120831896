"""What probes see of encoders: every layer as transformers gives it, averages of words, and what is remembered."""

from __future__ import annotations

import numpy
import pytest

import tiny_bert
from entlink.documents import Span
from entlink.encoders.layered.cached import LayerCache
from entlink.encoders.layered.loading import load_layered
from entlink.encoders.text.tokens import Reader
from entlink.errors import InputError

CONTEXTS = [("the red cat sat on the mat", Span(8, 11)), ("a bank of the river", Span(2, 6)), ("one", Span(0, 3))]
TEXTS = ["the cat sat", "money in the bank, a needle", ""]


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path / "models"))


@pytest.fixture
def folder(tmp_path):
    return tiny_bert.make_folder(tmp_path / "tiny", pooling="cls")


def hidden_states(folder, ids, kinds):
    """Of one text, by transformers."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = transformers.AutoModel.from_pretrained(str(folder)).eval()
    with torch.inference_mode():
        given = {"input_ids": torch.tensor([ids]), "token_type_ids": torch.tensor([kinds])}
        found = model(**given, output_hidden_states=True)
    return numpy.stack([one[0].numpy() for one in found.hidden_states])


def test_every_layer_of_a_mention_is_as_transformers_gives_it(folder):
    encoder = load_layered(folder, pooling="cls")
    assert (encoder.layers, encoder.dimension) == (4, 24)
    found = encoder.encode_contexts(CONTEXTS)
    tokenizer = tiny_bert.make_tokenizer()
    for row, (text, span) in enumerate(CONTEXTS):
        first = tokenizer.encode(text).ids
        second = tokenizer.encode(text[span.start : span.end]).ids[1:]  # without a second [CLS]
        expected = hidden_states(folder, first + second, [0] * len(first) + [1] * len(second))
        numpy.testing.assert_allclose(found[:, row], expected[:, 0], atol=2e-5)


def test_the_mean_over_a_span_and_over_a_description(folder):
    encoder = load_layered(folder, pooling="mean")
    tokenizer = tiny_bert.make_tokenizer()
    ids = tokenizer.encode(CONTEXTS[0][0]).ids
    expected = hidden_states(folder, ids, [0] * len(ids))
    numpy.testing.assert_allclose(encoder.encode_contexts(CONTEXTS)[:, 0], expected[:, 3], atol=2e-5)
    found = encoder.encode_descriptions(TEXTS)
    ids = tokenizer.encode(TEXTS[0]).ids
    expected = hidden_states(folder, ids, [0] * len(ids))[:, 1:-1].mean(axis=1)
    numpy.testing.assert_allclose(found[:, 0], expected, atol=2e-5)
    assert not found[:, 2].any()  # a text without a token


def test_layers_through_torch_are_those_through_onnx(folder):
    pytest.importorskip("torch")
    from entlink.encoders.text.backends import OnnxBackend, TorchBackend
    from entlink.encoders.text.bert_graph import BertConfig, bert_graph

    ids = numpy.array([[2, 5, 6, 7, 3, 6, 3]])
    kinds = numpy.array([[0, 0, 0, 0, 0, 1, 1]])
    config = BertConfig(
        **{name: tiny_bert.CONFIG[name] for name in BertConfig.__struct_fields__ if name in tiny_bert.CONFIG}
    )
    graph = bert_graph(tiny_bert.random_weights(), config)
    ours = OnnxBackend(graph).run_layers(ids, numpy.ones_like(ids), kinds)
    theirs = TorchBackend(folder).run_layers(ids, numpy.ones_like(ids), kinds)
    numpy.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_a_mention_late_in_a_long_sentence_is_still_read():
    reader = Reader(tiny_bert.make_tokenizer(), 16)
    text = "the cat sat on the mat " * 10 + "in a needle"
    read = reader.read_paired([(text, Span(len(text) - 6, len(text)))])[0]
    needle = tiny_bert.VOCABULARY.index("needle")
    assert len(read.ids) == 16 and read.ids.count(needle) == 2
    assert read.ids[read.first : read.last] == [needle, tiny_bert.VOCABULARY.index("[SEP]")]


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("heron 1 0 2\nriver 3 4 0\nthe 1 1 1\n")
    return load_layered(path)


def test_word_vectors_average_the_mention_or_the_description(words):
    contexts = words.encode_contexts([("The heron by the river", Span(4, 9)), ("unknown", Span(0, 7))])
    numpy.testing.assert_allclose(contexts, [[[1, 0, 2], [0, 0, 0]]])
    numpy.testing.assert_allclose(
        words.encode_descriptions(["Heron river, river"]), [[[7 / 3, 8 / 3, 2 / 3]]], rtol=1e-3
    )


class Lengths:
    """An encoder that is no class of ours."""

    name = identity = "lengths"

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked += texts
        return [[len(text), text.count("a")] for text in texts]


def test_any_object_that_encodes_texts():
    encoder = load_layered(Lengths())
    assert (encoder.layers, encoder.dimension) == (1, 2)
    assert encoder.encode_descriptions(["banana"]).tolist() == [[[6, 3]]]
    assert encoder.encode_contexts([("a bat", Span(2, 5))]).tolist() == [[[len("a bat [SEP] bat"), 3]]]


def test_what_was_encoded_is_remembered_on_disk(tmp_path):
    first, second = Lengths(), Lengths()
    contexts = [("a bat", Span(2, 5)), ("a bat", Span(0, 1)), ("a bat", Span(2, 5))]
    kept = LayerCache(load_layered(first), tmp_path)
    rows = kept.encode_contexts(contexts)
    assert kept.encoded == 2
    kept.close()
    again = LayerCache(load_layered(second), tmp_path)
    numpy.testing.assert_array_equal(again.encode_contexts(contexts), rows)
    assert again.encoded == 0 and second.asked == ["entity"]
    again.close()


class Bad(Lengths):
    def __init__(self, row):
        super().__init__()
        self.row = row

    def encode(self, texts):
        return [[1.0, 2.0] if text == "entity" else self.row for text in texts]


@pytest.mark.parametrize(
    ("row", "message"),
    [([1.0, float("nan")], "NaN or infinity for 1 of 1 texts, such as 'heron'"), ([1.0, 2.0, 3.0], r"\(1, 1, 2\)")],
)
def test_an_encoder_that_gives_no_numbers_or_another_width(row, message):
    cache = LayerCache(load_layered(Bad(row)), None)
    with pytest.raises(InputError, match=message):
        cache.encode_descriptions(["heron"])


def test_what_is_no_encoder():
    with pytest.raises(InputError, match="is no encoder"):
        load_layered(3)
    with pytest.raises(InputError, match="must give a row a text"):
        load_layered(type("Flat", (), {"encode": lambda self, texts: [1.0, 2.0]})())


class Empty(Lengths):
    def encode(self, texts):
        return [[] for _ in texts]


class Lists(Lengths):
    """Layers of its own, as lists and no arrays."""

    layers, dimension, mixing = 2, 1, "weights"

    def encode_contexts(self, contexts):
        return self.encode_descriptions([text for text, _ in contexts])

    def encode_descriptions(self, texts):
        return [[[float(len(text))] for text in texts], [[0.5] for _ in texts]]


def test_an_encoder_without_columns_is_refused_and_lists_are_taken():
    with pytest.raises(InputError, match="0 columns"):
        LayerCache(load_layered(Empty()), None)
    assert LayerCache(load_layered(Lists()), None).encode_descriptions(["heron"]).tolist() == [[[5.0]], [[0.5]]]
