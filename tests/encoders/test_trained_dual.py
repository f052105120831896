"""A trained encoder of mentions and entities, held against its forward pass in plain numpy."""

from __future__ import annotations

import numpy
import pytest
from safetensors.numpy import save_file

from entlink.documents import Document, Mention, Span
from entlink.encoders.dual import PlainDual, load_dual, load_recipe
from entlink.encoders.loading import load_encoder
from entlink.encoders.trained.bi_encoder import TrainedDual, load_trained_dual
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.encoders.trained.settings import PairSettings
from entlink.errors import ConfigError, DamagedError, InputError, MissingModelError
from entlink.interfaces import DualEncoder
from pair_models import (
    SHAPE,
    WORDS,
    entity_of,
    make_head,
    make_model,
    make_tokenizer,
    mention_of,
    save_card,
    weights_of,
)
from tiny_bert import forward, make_folder, random_weights

DOCUMENT = Document("d", "The cat sat on the river bank. The dog in the red mat! A needle, one cash bank of money.")
MENTIONS = [(DOCUMENT, mention_of(DOCUMENT, surface)) for surface in ("cat", "river bank", "needle", "money", "dog")]
ENTITIES = [
    entity_of("River bank", "The red mat of the river."),
    entity_of("Bank", "Cash and money in one, two, three."),
    entity_of("Cat"),
    entity_of("Needle dog", "word " * 50),
]
FORMS = [
    {"pooling": "mean"},
    {"pooling": "cls"},
    {"pooling": "span", "separate": True},
    {"pooling": "cls", "separate": True, "similarity": "dot"},
]


def by_hand(tokens, settings, weights, side, head):
    hidden = forward(weights, SHAPE, tokens.ids)
    parts = {"mean": hidden, "cls": hidden[:1], "span": hidden[tokens.first : tokens.last]}
    row = parts[settings.pooling].mean(axis=0)
    if head:
        row = head[f"{side}.weight"] @ row + head[f"{side}.bias"]
    return row if settings.similarity == "dot" else row / numpy.linalg.norm(row)


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("dimension", [0, 7])
def test_vectors_are_those_of_the_model(tmp_path, form, dimension):
    settings = PairSettings(24, 20, **form)
    dual = load_dual(make_model(tmp_path / "m", "dual", settings, dimension=dimension))
    assert isinstance(dual, TrainedDual)
    assert isinstance(dual, DualEncoder)
    assert (dual.dimension, dual.similarity) == (dimension or SHAPE["hidden_size"], settings.similarity)
    reader, head = PairReader(make_tokenizer(), settings), make_head("dual", dimension)
    found = dual.encode_mentions(MENTIONS)
    for row, pair in zip(found, MENTIONS, strict=True):
        expected = by_hand(reader.mention(*pair), settings, weights_of(1), "mention", head)
        assert row == pytest.approx(expected, abs=2e-4)
    found = dual.encode_entities(ENTITIES)
    for row, entity in zip(found, ENTITIES, strict=True):
        weights = weights_of(2 if settings.separate else 1)
        assert row == pytest.approx(by_hand(reader.entity(entity), settings, weights, "entity", head), abs=2e-4)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_one_at_a_time_is_the_same_as_all_at_once(tmp_path, precision):
    folder = make_model(tmp_path / "m", "dual", PairSettings(24, 20), dimension=5, precision=precision)
    dual = load_trained_dual(folder)
    together, alone = dual.encode_mentions(MENTIONS * 2), [dual.encode_mentions([pair])[0] for pair in MENTIONS]
    assert together == pytest.approx(numpy.array(alone * 2), abs=1e-5)
    together, alone = dual.encode_entities(ENTITIES), [dual.encode_entities([one])[0] for one in ENTITIES]
    assert together == pytest.approx(numpy.array(alone), abs=1e-5)


def test_a_mention_without_words_is_zeros_and_no_text_is_nothing(tmp_path):
    dual = load_trained_dual(make_model(tmp_path / "m", "dual", PairSettings(24, 20)))
    rows = dual.encode_mentions([(Document("d", "cat   dog"), Mention(Span(3, 6), "   ")), MENTIONS[0]])
    assert (rows.any(axis=1).tolist(), dual.encode_mentions([]).shape) == ([False, True], (0, dual.dimension))
    assert dual.encode_entities([]).shape == (0, dual.dimension)


def test_contents_tell_what_is_read_and_no_more(tmp_path):
    dual = load_trained_dual(make_model(tmp_path / "m", "dual", PairSettings(12, 8)))
    far, farther = (Document("d", f"{'cat ' * count}needle") for count in (100, 300))
    contents = [dual.mention_content(one, mention_of(one, "needle")) for one in (far, farther)]
    assert contents[0] == contents[1] != dual.mention_content(far, mention_of(far, "cat"))
    hash(contents[0])
    short, long = entity_of("Cat", "the " * 50), entity_of("Cat", "the " * 60)
    assert dual.entity_content(short) == dual.entity_content(long) != dual.entity_content(entity_of("Cat"))
    assert dual.entity_content(entity_of("Cat dog")) != dual.entity_content(entity_of("Cat", "dog"))


def test_identities_change_with_what_they_are_of(tmp_path):
    def made(name, seed=1, **settings):
        folder = tmp_path / name / "m"
        return load_trained_dual(
            make_model(folder, "dual", PairSettings(**{"separate": True, **settings}), seed=seed)
        )

    first = made("a")
    assert made("b").identity == first.identity
    assert made("c", mention_tokens=32).identity != first.identity
    assert made("d", mention_tokens=32).entity_identity == first.entity_identity
    assert made("e", entity_tokens=32).entity_identity != first.entity_identity
    assert made("f", seed=5).entity_identity != first.entity_identity


def test_by_its_name_in_the_store_and_again_from_its_recipe(store, tmp_path, monkeypatch):
    make_model(store / "mine", "dual", PairSettings(24, 20))
    dual = load_dual("mine", description=0.1)
    assert (type(dual), dual.name, dual.recipe()) == (TrainedDual, "mine", {"load": "mine"})
    assert load_recipe(dual.recipe()).entity_identity == dual.entity_identity
    make_model(tmp_path / "folder", "dual", PairSettings(24, 20))
    monkeypatch.chdir(tmp_path)
    assert load_dual("folder").recipe() == {"load": str(tmp_path / "folder")}


def test_a_plain_encoder_is_still_one(store, tiny):
    assert isinstance(load_dual(tiny), PlainDual)


def test_models_of_another_kind_are_told(store, tmp_path):
    cross = make_model(tmp_path / "cross", "cross", PairSettings(24, 20))
    dual = make_model(store / "mine", "dual", PairSettings(24, 20))
    with pytest.raises(
        InputError, match=r"is of the kind 'cross', and an encoder of mentions and entities is wanted"
    ):
        load_dual(cross)
    with pytest.raises(InputError, match="is of the kind 'cross': it scores pairs"):
        load_encoder(cross)
    for spec in (dual, "mine"):
        with pytest.raises(InputError, match=r"'dual': it reads mentions and entities.*retriever `dense`"):
            load_encoder(spec)
    with pytest.raises(InputError, match=r"no model.json is here"):
        load_trained_dual(make_folder(tmp_path / "plain"))
    with pytest.raises(MissingModelError, match="no model 'nothing' in"):
        load_trained_dual("nothing")


def test_folders_that_are_not_whole_are_told(tmp_path):
    settings = PairSettings(24, 20)
    altered = make_model(tmp_path / "altered", "dual", settings)
    (altered / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(DamagedError, match=r"model.onnx: this file of the model 'altered' has 7 bytes"):
        load_dual(altered)
    wide = make_model(tmp_path / "wide", "dual", settings)
    save_card(wide, "dual", settings, 99)
    with pytest.raises(DamagedError, match="its card says 99 numbers a vector"):
        load_dual(wide)
    wrong = make_model(tmp_path / "wrong", "dual", settings, dimension=7)
    save_file(make_head("dual", 5), wrong / "head.safetensors")
    save_card(wrong, "dual", settings, 7)
    with pytest.raises(DamagedError, match=r"the layer 'mention' is of \(5, 24\)"):
        load_dual(wrong)
    long = make_model(tmp_path / "long", "dual", PairSettings(80, 20))
    save_card(long, "dual", PairSettings(80, 20), 24, max_length=64)
    with pytest.raises(DamagedError, match="want 80 tokens read at once, and the model takes 64"):
        load_dual(long)
    halved = make_model(tmp_path / "halved", "dual", settings)
    save_card(halved, "dual", PairSettings(24, 20, separate=True), 24)
    with pytest.raises(DamagedError, match=r"mention.onnx: this file of the model 'halved' is missing"):
        load_dual(halved)


def test_broken_weights_are_told(tmp_path):
    folder = make_model(tmp_path / "m", "dual", PairSettings(24, 20))
    head = {
        f"{side}.{part}": numpy.full((24, 24)[: 2 - at], numpy.nan, numpy.float32)
        for side in ("mention", "entity")
        for at, part in enumerate(("weight", "bias"))
    }
    save_file(head, folder / "head.safetensors")
    save_card(folder, "dual", PairSettings(24, 20), 24)
    with pytest.raises(DamagedError, match="the layer 'mention' has NaN or infinity"):
        load_dual(folder)


@pytest.fixture
def blink(tmp_path):
    """A tiny bi-encoder as BLINK writes it, and its towers."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    shape = {**SHAPE, "hidden_size": 64, "num_attention_heads": 1}
    towers = [random_weights(shape, 1), random_weights(shape, 2)]
    state = {
        f"{name}.bert_model.{key}": torch.from_numpy(value)
        for name, weights in zip(("context_encoder", "cand_encoder"), towers, strict=True)
        for key, value in weights.items()
    }
    folder = tmp_path / "blink"
    folder.mkdir()
    torch.save(state, folder / "biencoder_tiny.bin")
    (folder / "biencoder_tiny.json").write_text('{"max_context_length": 24, "max_cand_length": 20}')
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf8")
    return folder, shape, towers


def test_the_bi_encoder_of_blink_is_a_dual_encoder(store, blink, monkeypatch):
    folder, shape, towers = blink
    monkeypatch.setattr("entlink.encoders.blink_dual.keep_dual.__defaults__", ("fp32",))
    dual = load_dual(folder)
    assert (type(dual), dual.dimension, dual.similarity) == (TrainedDual, 64, "dot")
    reader = PairReader(make_tokenizer(), PairSettings(24, 20))
    for row, pair in zip(dual.encode_mentions(MENTIONS), MENTIONS, strict=True):
        assert row == pytest.approx(forward(towers[0], shape, reader.mention(*pair).ids)[0], abs=1e-3)
    for row, entity in zip(dual.encode_entities(ENTITIES), ENTITIES, strict=True):
        assert row == pytest.approx(forward(towers[1], shape, reader.entity(entity).ids)[0], abs=1e-3)
    (folder / "biencoder_tiny.bin").write_bytes(b"")  # it is in the store now
    assert load_recipe(dual.recipe()).entity_identity == dual.entity_identity


def test_lengths_of_blink_that_do_not_fit_are_told(store, blink):
    for told, message in (("{}}", "not a JSON object"), ('{"max_cand_length": "long"}', "a length of 'long' tokens")):
        (blink[0] / "biencoder_tiny.json").write_text(told)
        with pytest.raises(InputError, match=message):
            load_dual(blink[0])
    (blink[0] / "vocab.txt").unlink()
    with pytest.raises(InputError, match="no vocabulary"):
        load_dual(blink[0])


def test_files_that_are_not_read_need_not_be_as_they_were(tmp_path):
    folder = make_model(tmp_path / "m", "dual", PairSettings(24, 20))
    (folder / "training.json").write_text("{}")
    save_card(folder, "dual", PairSettings(24, 20), 24)
    (folder / "training.json").write_text("{ }")
    assert load_dual(folder).name == "m"


# Hidden names


def test_a_hidden_name_says_nothing(tmp_path):
    dual = load_trained_dual(make_model(tmp_path / "m", "dual", PairSettings(24, 20)))
    hiding = dual.with_names_hidden(12)
    texts = [Document("d", f"the red {name} sat on the mat") for name in ("cat", "river bank", "needle")]
    mentions = [(text, mention_of(text, text.text[8:].split(" sat")[0])) for text in texts]
    rows = hiding.encode_mentions(mentions)
    assert rows[0] == pytest.approx(rows[1], abs=1e-5)
    assert rows[0] == pytest.approx(rows[2], abs=1e-5)
    named = dual.encode_mentions(mentions)
    assert not numpy.allclose(named[0], named[2], atol=1e-3)
    other = Document("d", "a blue cat in the river")
    assert not numpy.allclose(hiding.encode_mentions([(other, mention_of(other, "cat"))])[0], rows[0], atol=1e-3)
    contents = [hiding.mention_content(*pair) for pair in mentions]
    assert contents[0] == contents[1] != dual.mention_content(*mentions[0])
    reader = PairReader(make_tokenizer(), PairSettings(12, 20))  # of a text that is cut nowhere
    expected = by_hand(
        reader.hidden(reader.mention(*mentions[0])), PairSettings(12, 20), weights_of(1), "mention", None
    )
    assert rows[0] == pytest.approx(expected, abs=2e-4)


def test_hiding_names_changes_mentions_only(tmp_path):
    dual = load_trained_dual(make_model(tmp_path / "m", "dual", PairSettings(24, 20)))
    hiding = dual.with_names_hidden(16)
    assert hiding.identity != dual.identity != dual.with_names_hidden(12).identity != hiding.identity
    assert hiding.entity_identity == dual.entity_identity
    assert hiding.encode_entities(ENTITIES).tolist() == dual.encode_entities(ENTITIES).tolist()
    wordless = Document("d", "cat   dog"), Mention(Span(3, 6), "   ")
    assert not hiding.encode_mentions([wordless]).any()


@pytest.mark.parametrize("tokens", [-1, 7, 25])
def test_as_many_tokens_as_it_reads_can_be_around_a_hidden_name(tmp_path, tokens):
    dual = load_trained_dual(make_model(tmp_path / "m", "dual", PairSettings(24, 20)))
    with pytest.raises(ConfigError, match=f"hidden = {tokens} does not fit: .* reads 8 to 24 tokens"):
        dual.with_names_hidden(tokens)


def test_a_long_name_leaves_as_much_around_it_as_a_short_one(tmp_path):
    hiding = load_trained_dual(make_model(tmp_path / "m", "dual", PairSettings(24, 20))).with_names_hidden(12)
    texts = [
        Document("d", f"the red cat sat on the {name} of one blue dog in two") for name in ("mat", "needle " * 9)
    ]
    short, long = (
        hiding.mention_content(one, mention_of(one, name))
        for one, name in zip(texts, ("mat", ("needle " * 9).strip()), strict=True)
    )
    assert short == long
    alone = Document("d", "needle")
    assert not hiding.encode_mentions([(alone, mention_of(alone, "needle"))]).any()
