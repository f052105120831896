"""ELMo's published layout: a tiny random file, against a forward pass written from bilm-tf's description."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest

from entlink.documents import Span
from entlink.encoders.loading import load_encoder
from entlink.encoders.recurrent.words import word_bytes, words
from entlink.errors import DamagedError, InputError, MissingExtraError

h5py = pytest.importorskip("h5py", reason="h5py is missing: nothing of ELMo's files is tested")

CELLS, PROJECTION, CHARACTERS, LONGEST = 5, 3, 4, 10
FILTERS = [[1, 3], [2, 4], [3, 2]]
FEATURES, HIGHWAYS, CLIP = 9, 2, 0.8
TEXT = "Ann met Zoë near the Ölbrücken-bridge"


def options(**changes: object) -> dict[str, object]:
    return {
        "char_cnn": {
            "activation": "relu",
            "embedding": {"dim": CHARACTERS},
            "filters": FILTERS,
            "max_characters_per_token": LONGEST,
            "n_characters": 262,
            "n_highway": HIGHWAYS,
        },
        "lstm": {
            "cell_clip": CLIP,
            "proj_clip": CLIP,
            "dim": CELLS,
            "n_layers": 2,
            "projection_dim": PROJECTION,
            "use_skip_connections": True,
            **changes,
        },
    }


def arrays(seed: int = 0) -> dict[str, numpy.ndarray]:
    """Random weights by their names in the file."""
    rng = numpy.random.default_rng(seed)

    def draw(*shape: int) -> numpy.ndarray:
        return rng.normal(0, 0.7, shape).astype(numpy.float32)

    found = {"char_embed": draw(261, CHARACTERS)}
    for number, (width, count) in enumerate(FILTERS):
        found |= {f"CNN/W_cnn_{number}": draw(1, width, CHARACTERS, count), f"CNN/b_cnn_{number}": draw(count)}
    for number in range(HIGHWAYS):
        for name in ("carry", "transform"):
            found[f"CNN_high_{number}/W_{name}"] = draw(FEATURES, FEATURES)
            found[f"CNN_high_{number}/b_{name}"] = draw(FEATURES)
    found |= {"CNN_proj/W_proj": draw(FEATURES, PROJECTION), "CNN_proj/b_proj": draw(PROJECTION)}
    for side in (0, 1):
        for layer in (0, 1):
            cell = f"RNN_{side}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            found |= {
                f"{cell}/W_0": draw(2 * PROJECTION, 4 * CELLS),
                f"{cell}/B": draw(4 * CELLS),
                f"{cell}/W_P_0": draw(CELLS, PROJECTION),
            }
    return found


def write_elmo(folder: Path, given: dict[str, numpy.ndarray], told: dict[str, object] | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    with h5py.File(folder / "elmo_weights.hdf5", "w") as file:
        for name, values in given.items():
            file[name] = values
    (folder / "elmo_options.json").write_text(json.dumps(told or options()))
    return folder


def sigmoid(values: numpy.ndarray) -> numpy.ndarray:
    return 1 / (1 + numpy.exp(-values))


def by_hand(given: dict[str, numpy.ndarray], text: list[str]) -> numpy.ndarray:
    """Three layers of one sentence, a word, a filter and a step at a time, in double precision."""
    weights = {name: values.astype(float) for name, values in given.items()}
    signs = {"<S>": 256, "</S>": 257}
    read = []
    for word in ["<S>", *text, "</S>"]:
        inner = [signs[word]] if word in signs else list(word.encode("utf-8", "ignore"))[: LONGEST - 2]
        numbers = [258, *inner, 259]
        numbers += [260] * (LONGEST - len(numbers))
        letters = weights["char_embed"][numbers]
        values = []
        for number, (width, count) in enumerate(FILTERS):
            filters, bias = weights[f"CNN/W_cnn_{number}"][0], weights[f"CNN/b_cnn_{number}"]
            for one in range(count):
                places = range(LONGEST - width + 1)
                values.append(max((letters[at : at + width] * filters[:, :, one]).sum() + bias[one] for at in places))
        x = numpy.maximum(values, 0)
        for number in range(HIGHWAYS):
            name = f"CNN_high_{number}"
            new = numpy.maximum(x @ weights[f"{name}/W_transform"] + weights[f"{name}/b_transform"], 0)
            share = sigmoid(x @ weights[f"{name}/W_carry"] + weights[f"{name}/b_carry"])
            x = share * new + (1 - share) * x
        read.append(x @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"])
    sides = [direction(weights, 0, read), [row[::-1] for row in direction(weights, 1, read[::-1])]]
    layers = [
        numpy.concatenate([numpy.array(one), numpy.array(two)], axis=1) for one, two in zip(*sides, strict=True)
    ]
    return numpy.stack([numpy.concatenate([read, read], axis=1), *layers])[:, 1:-1]


def direction(weights: dict[str, numpy.ndarray], side: int, rows: list[numpy.ndarray]) -> list[list[numpy.ndarray]]:
    found = []
    for layer in (0, 1):
        name = f"RNN_{side}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
        state, cell, made = numpy.zeros(PROJECTION), numpy.zeros(CELLS), []
        for row in rows:
            gates = numpy.concatenate([row, state]) @ weights[f"{name}/W_0"] + weights[f"{name}/B"]
            into, new, forget, out = numpy.split(gates, 4)
            cell = numpy.clip(sigmoid(forget + 1.0) * cell + sigmoid(into) * numpy.tanh(new), -CLIP, CLIP)
            state = numpy.clip((sigmoid(out) * numpy.tanh(cell)) @ weights[f"{name}/W_P_0"], -CLIP, CLIP)
            made.append(state)
        rows = made if layer == 0 else [one + before for one, before in zip(made, rows, strict=True)]
        found.append(rows)
    return found


def test_all_layers_are_those_of_the_published_layout(tmp_path):
    given = arrays()
    encoder = load_encoder(write_elmo(tmp_path / "elmo", given))
    expected = by_hand(given, [one.text for one in words(TEXT, lower=False)])
    assert (numpy.abs(expected[1]) == CLIP).any()  # clipping is among what is compared
    start = TEXT.index("Zoë")
    found = encoder.encode_contexts([(TEXT, Span(start, start + 3)), (TEXT, Span(0, 7))])
    numpy.testing.assert_allclose(found[:, 0], expected[:, 2], atol=1e-5)
    numpy.testing.assert_allclose(found[:, 1], expected[:, :2].mean(axis=1), atol=1e-5)
    described = encoder.encode_descriptions(["near", TEXT])
    numpy.testing.assert_allclose(described[:, 1], expected.mean(axis=1), atol=1e-5)
    numpy.testing.assert_allclose(described[:, 0], by_hand(given, ["near"])[:, 0], atol=1e-5)


def test_words_are_the_bytes_that_elmo_reads():
    assert word_bytes(["Zoë", "<S>", "x" * 20], 7).tolist() == [
        [258, 90, 111, 195, 171, 259, 260],
        [258, 256, 259, 260, 260, 260, 260],
        [258, 120, 120, 120, 120, 120, 259],
    ]


def test_another_file_is_another_identity(tmp_path):
    first, second = (load_encoder(write_elmo(tmp_path / f"elmo{seed}", arrays(seed))) for seed in (0, 1))
    assert first.identity.partition("-")[2] != second.identity.partition("-")[2]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda given: given.pop("CNN_proj/W_proj"), "'CNN_proj/W_proj' is not in it: these are not ELMo's weights"),
        (
            lambda given: given.update(char_embed=given["char_embed"][:200]),
            "'char_embed' has 200 rows, and ELMo has 261",
        ),
        (
            lambda given: given.update({"CNN_proj/W_proj": given["CNN_proj/W_proj"][:, :2]}),
            r"'reader\.projection\.weight' is \(2, 9\), and \(3, 9\) is wanted",
        ),
        (lambda given: given["CNN_proj/b_proj"].fill(numpy.nan), r"'reader\.projection\.bias' has NaN"),
    ],
)
def test_weights_that_are_not_elmos_are_refused(tmp_path, change, told):
    given = arrays()
    change(given)
    with pytest.raises(DamagedError, match=told):
        load_encoder(write_elmo(tmp_path / "elmo", given))


def test_files_that_cannot_be_read_are_refused(tmp_path, monkeypatch):
    folder = write_elmo(tmp_path / "elmo", arrays(), options(proj_clip=1.0))
    with pytest.raises(InputError, match="cell_clip and proj_clip differ"):
        load_encoder(folder)
    (folder / "elmo_options.json").write_text("{}")
    with pytest.raises(DamagedError, match="no options of ELMo"):
        load_encoder(folder)
    (folder / "elmo_options.json").write_text(json.dumps(options()))
    path = folder / "elmo_weights.hdf5"
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(DamagedError, match="no HDF5 file, or it is cut off"):
        load_encoder(folder)
    (folder / "other.hdf5").touch()
    with pytest.raises(InputError, match="it has 2 files"):
        load_encoder(folder)
    (folder / "other.hdf5").unlink()
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"entlink\[elmo\]"):
        load_encoder(folder)
