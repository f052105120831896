"""A Chinese encoder that somebody exported to int8: skipped where it is not on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import entlink
from entlink.documents import Document, Mention, Span
from entlink.encoders.loading import load_encoder
from entlink.encoders.models.pulling import Said, pull
from entlink.linking.default import default_linker

_FOLDER = Path(os.environ.get("ENTLINK_SHARED", "/work/shared")) / "models" / "bge-small-zh-v1.5"
PAGES = [
    ("苹果（公司）", "苹果是美国的科技企业，设计手机、平板电脑和操作系统。", "苹果"),
    ("苹果（水果）", "苹果是蔷薇科苹果属植物的果实，味甜，富含维生素。", "苹果"),
    ("长江", "长江是中国最长的河流，发源于青藏高原，流入东海。", ""),
    ("北京大学", "北京大学位于北京市海淀区，是一所综合性大学。", "北大"),
]


@pytest.fixture
def bge(store):
    if not (_FOLDER / "tokenizer.json").is_file():
        pytest.skip(f"{_FOLDER} is not here")
    return pull("bge", _FOLDER, said=Said(pooling="cls"))


def test_its_folder_of_two_files_is_enough(bge):
    assert (bge.dimension, bge.precision, bge.pooling, bge.languages) == (512, "onnx", "cls", "zh")
    encoder = load_encoder("bge")
    phone, fruit, apple = encoder.encode(["新款手机发布会", "水果很好吃", "这家公司推出了iPhone"])
    assert phone @ apple > fruit @ apple
    assert (encoder.encode(["IPHONE 手机"]) == encoder.encode(["iphone 手机"])).all()


def test_with_it_zero_shot_and_the_default_linker_read_chinese(bge, tmp_path):
    rows = [f"{number},{title},{told},{alias}" for number, (title, told, alias) in enumerate(PAGES)]
    (tmp_path / "zh.csv").write_text("\n".join(["id,title,description,aliases", *rows]), encoding="utf8")
    entlink.build([tmp_path / "zh.csv"], tmp_path / "zh.kb")
    assert default_linker(tmp_path / "zh.kb").told == "the encoder bge"
    linker = entlink.load(tmp_path / "zh.kb", config="zero-shot", mentions="given")
    for text, meant in (
        ("他在果园里摘了一个苹果，又甜又脆。", "苹果（水果）"),
        ("苹果发布了新的手机和操作系统。", "苹果（公司）"),
    ):
        start = text.index("苹果")
        (link,) = linker.link(Document("any", text, mentions=(Mention(Span(start, start + 2), "苹果"),))).links
        assert link.title == meant
