"""A tagger followed by a linker, in the place that FLAIR + BLINK has in the tables."""

from __future__ import annotations

import pytest

from entlink.evaluation import Counts
from entlink.linking.config import LinkerConfig
from entlink.studies import ConfiguredSystem, UnfamiliarOptions, study_unfamiliar_kb

spacy = pytest.importorskip("spacy")


def test_a_tagger_and_a_linker_are_a_system_of_the_study(two, gold, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "THING", "pattern": name} for name in ("Boom", "boom", "A")])
    nlp.to_disk(tmp_path / "tagger")
    config = LinkerConfig(detector={"name": "spacy", "pipeline": str(tmp_path / "tagger")})
    found = study_unfamiliar_kb(two, [gold], [ConfiguredSystem("two stages", config)], UnfamiliarOptions(depth=1))
    (system,) = found.systems
    # Of the tagger's mentions, Boom at sea is gold and linked; on stage, nothing is called boom or A.
    domains = {one.domain: one.end_to_end for one in system.domains}
    assert domains["sea"] == {"md": Counts(1, 1, 5), "ed": Counts(1, 1, 3), "el": Counts(1, 1, 3)}
    assert domains["stage"]["el"] == Counts(0, 0, 2)
