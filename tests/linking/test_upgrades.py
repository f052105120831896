"""Linkers saved by earlier versions."""

from __future__ import annotations

import msgspec
import pytest

from entlink.errors import ConfigError
from entlink.linking.config import LinkerConfig, make_fusion, read_config
from entlink.linking.saved import config_text
from entlink.linking.upgrades import upgraded

OLD = """
[[retriever]]
name = "alias"

[[retriever]]
name = "senses"
model = "./senses"

[[retriever]]
name = "dense"
encoder = "./bi-encoder"

[fusion]
name = "weights"
weights = { alias = 1.0, senses = 0.5 }

[ranker]
name = "combination"
encoder = "./bi-encoder"
cross = "./cross"
top = 4
bias = 9.0
weights = { senses = 1.1 }
"""


@pytest.fixture
def saved(tmp_path):
    def written(text: str) -> LinkerConfig:
        (tmp_path / "linker.toml").write_text(text, encoding="utf8")
        return read_config(tmp_path)

    return written


def test_an_adapted_linker_has_its_evidence_where_it_belongs(saved, tmp_path):
    config = saved(OLD)
    inside = tmp_path.resolve()
    assert [stage["name"] for stage in config.retriever] == ["alias", "dense"]
    assert config.evidence == [
        {"name": "senses", "model": f"{inside}/senses"},
        {"name": "coherence", "encoder": f"{inside}/bi-encoder"},
        {"name": "cross-encoder", "model": f"{inside}/cross", "top": 4},
    ]
    assert config.ranker == {"name": "combination", "bias": 9.0, "weights": {"senses": 1.1, "cross": 1.0}}
    assert upgraded(config) == config
    (tmp_path / "again.toml").write_text(config_text(config), encoding="utf8")
    assert read_config(tmp_path / "again.toml") == config


def test_a_fusion_still_speaks_of_senses(saved, world):
    config = saved(OLD)
    assert make_fusion(config, world).weights == {"alias": 1.0, "senses": 0.5}
    other = msgspec.structs.replace(config, evidence=[], fusion={"name": "weights", "weights": {"sense": 1.0}})
    with pytest.raises(ConfigError, match="no retriever 'sense' to fuse"):
        make_fusion(other, world)


def test_what_weighed_nothing_is_left_out(saved):
    ranker = 'name = "combination"\nencoder = "minilm"\ncross = "mine"\nweights = { coherence = 0.0, cross = 0 }'
    config = saved(f"[ranker]\n{ranker}\n")
    assert config.evidence == []
    assert config.ranker == {"name": "combination", "weights": {"coherence": 0.0, "cross": 0}}


@pytest.mark.parametrize("top", [{}, {"top": 5}])
def test_a_ranker_by_a_cross_encoder_has_its_model_in_the_evidence(top):
    config = upgraded(LinkerConfig(ranker={"name": "cross-encoder", "model": "mine", **top}))
    assert config.ranker == {"name": "cross-encoder"}
    assert config.evidence == [{"name": "cross-encoder", "model": "mine", **top}]


def test_a_configuration_of_now_stays_as_it_is():
    for config in (LinkerConfig(), read_config("zero-shot"), LinkerConfig(ranker={"name": "joint", "model": "mine"})):
        assert upgraded(config) is config


def test_an_old_linker_links(world_folder, saved):
    """Made by `load` from a configuration that was not read from a file, too."""
    from entlink import load

    config = LinkerConfig(ranker={"name": "combination", "encoder": "minilm", "weights": {"coherence": 0.0}})
    linker = load(world_folder, config=config)
    assert linker.link("Mercury").links[0].candidates[0].evidence.keys() >= {"spelling", "popularity", "sum"}
    linker.kb.close()


def test_a_linker_with_slots_is_read_without_them(saved, caplog):
    config = saved(
        '[[retriever]]\nname = "alias"\n[[retriever]]\nname = "slots"\nmodel = "./slots"\n'
        '[fusion]\nname = "weights"\nweights = { alias = 1.0, slots = 0.5 }\n'
        '[ranker]\nname = "combination"\nweights = { alias = 1.0, slots = 1.5 }\n'
        '[nil]\nname = "calibrated"\nalways = ["alias", "slots"]\n'
    )
    assert [stage["name"] for stage in config.retriever] == ["alias"]
    assert config.fusion["weights"] == config.ranker["weights"] == {"alias": 1.0}
    assert config.nil["always"] == ["alias"]
    assert "`entlink adapt` makes one without" in caplog.text


def test_a_ranker_without_weights_gets_none_with_the_slots(saved):
    config = saved('[[retriever]]\nname = "alias"\n[[retriever]]\nname = "slots"\n[ranker]\nname = "prior"\n')
    assert config.ranker == {"name": "prior"}
