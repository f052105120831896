from __future__ import annotations

import pytest

from entlink.encoders import train_static
from entlink.errors import ConfigError
from entlink.kb.names.aliases import PriorWeights
from entlink.kb.names.tiers import Normalisation
from entlink.linking.config import (
    KnowledgeBaseConfig,
    LinkerConfig,
    make_fusion,
    make_retrievers,
    make_stage,
    read_config,
)
from entlink.linking.linker import load
from entlink.mentions.dictionary import DictionaryDetector
from entlink.nil import ThresholdNil


@pytest.fixture
def toml(tmp_path):
    def toml(content: str):
        path = tmp_path / "linker.toml"
        path.write_text(content, encoding="utf8")
        return path

    return toml


def test_a_configuration_names_stages_and_their_settings(toml):
    config = read_config(
        toml(
            """
            types = ["city"]
            min_score = 0.2
            [detector]
            name = "dictionary"
            min_link_probability = 0.1
            [[retriever]]
            name = "alias"
            limit = 3
            [nil]
            name = "threshold"
            threshold = 0.3
            [kb.weights]
            title = 10
            [kb.normalisation]
            case = false
            """
        )
    )
    assert config == LinkerConfig(
        detector={"name": "dictionary", "min_link_probability": 0.1},
        retriever=[{"name": "alias", "limit": 3}],
        nil={"name": "threshold", "threshold": 0.3},
        kb=KnowledgeBaseConfig(PriorWeights(title=10), Normalisation(case=False)),
        types=("city",),
        min_score=0.2,
    )


def test_an_empty_file_is_the_default(toml):
    assert read_config(toml("")) == LinkerConfig()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[detector", "linker.toml"),
        ("detektor = {}", "detektor"),
        ("min_score = 'high'", "min_score"),
        ("retriever = 7", "retriever"),
        ("batch_size = 0", "batch_size"),
        ("[kb.weights]\ntitle = -1", r"kb\.weights\.title"),
        ("[kb.weights]\ntitle = 1.5", r"kb\.weights\.title"),
        ("[kb.weights]\nanchor = 1", "anchor"),
        ("[kb.normalisation]\ncase = 'no'", r"kb\.normalisation\.case"),
        ("[kb]\nindex = 1", "index"),
    ],
)
def test_what_is_wrong_is_told_by_name(toml, content, message):
    with pytest.raises(ConfigError, match=message):
        read_config(toml(content))


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"bad\.toml"):
        read_config(tmp_path / "bad.toml")


def test_stages_are_made_with_and_without_the_knowledge_base(world):
    detector = make_stage("detector", {"name": "dictionary", "case": "fold"}, world)
    assert isinstance(detector, DictionaryDetector)
    assert detector.case == "fold"
    nil = make_stage("nil", {"name": "threshold", "threshold": 0.4}, world)
    assert isinstance(nil, ThresholdNil)
    assert nil.threshold == 0.4


def test_a_stage_without_a_name_or_with_unknown_settings(world):
    with pytest.raises(ConfigError, match=r"\[detector\] table needs a name"):
        make_stage("detector", {"case": "fold"}, world)
    with pytest.raises(ConfigError, match=r"\[nil\] threshold: .*treshold"):
        make_stage("nil", {"name": "threshold", "treshold": 0.4}, world)


def test_settings_are_not_changed_by_making_a_stage(world):
    settings = {"name": "alias", "limit": 2}
    make_stage("retriever", settings, world)
    assert settings == {"name": "alias", "limit": 2}


def test_a_fusion_that_speaks_of_no_retriever_is_told(world_folder):
    config = LinkerConfig(fusion={"name": "weights", "weights": {"alais": 1.0}})
    with pytest.raises(
        ConfigError, match=r"\[fusion\] weights: there is no retriever 'alais' .*did you mean 'alias'"
    ):
        load(world_folder, config=config)
    config = LinkerConfig(fusion={"name": "quotas", "shares": {"alias": 1.0, "dense": 1.0, "alias-2": 0.5}})
    load(world_folder, config=config).kb.close()  # one that is left out is none that cannot be
    config = LinkerConfig(fusion={"name": "quotas", "shares": {"dense": 1.0}})
    with pytest.raises(ConfigError, match="there is no retriever 'dense' to fuse"):
        load(world_folder, config=config)  # with no say for anybody, everything would be NIL


def test_a_fusion_may_speak_of_a_retriever_whose_model_is_missing(world_folder, caplog):
    retrievers = [{"name": "alias"}, {"name": "dense", "encoder": "not-there"}]
    config = LinkerConfig(retriever=retrievers, fusion={"name": "weights", "weights": {"alias": 1.0, "dense": 1.0}})
    linker = load(world_folder, config=config)
    assert linker.pooling is not None
    assert list(linker.pooling.retrievers) == ["alias"]
    assert len(caplog.records) == 1
    linker.kb.close()


def test_a_retriever_keeps_its_name_where_the_one_before_it_is_missing(world, monkeypatch, tmp_path):
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path))
    words = tmp_path / "words"
    train_static(["the sun and the moon and the stars"] * 5, words)
    stages = [{"name": "dense", "encoder": "not-there"}, {"name": "dense", "encoder": str(words)}]
    assert list(make_retrievers(stages, world)) == ["dense-2"]


def test_a_fusion_without_its_settings_is_told(world):
    config = LinkerConfig(fusion={"name": "weights"})
    with pytest.raises(ConfigError, match=r"\[fusion\] weights: missing a required argument: 'weights'"):
        make_fusion(config, world)


def test_one_warning_tells_all_that_is_missing(world, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path))
    stages = [{"name": "alias"}, *({"name": "dense", "encoder": f"no-{number}"} for number in range(2))]
    assert list(make_retrievers(stages, world)) == ["alias"]
    (told,) = caplog.messages
    assert "linking goes on with alias only" in told
    assert "'no-0'" in told
    assert "'no-1'" in told
