"""A spaCy pipeline as a detector."""

from __future__ import annotations

import subprocess
import sys

import pytest

import entlink
from entlink import Document, LinkerConfig
from entlink.errors import ConfigError, InputError, MissingExtraError, MissingModelError
from entlink.linking.config import make_stage
from entlink.mentions.spacy_tagger import SpacyTagger
from entlink.testing import check_detector

spacy = pytest.importorskip("spacy")

PATTERNS = [
    {"label": "PLANET", "pattern": "Mercury"},
    {"label": "CITY", "pattern": [{"LOWER": "new"}, {"LOWER": "york"}]},
    {"label": "CITY", "pattern": "北京"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    folder = tmp_path_factory.mktemp("pipeline") / "ruler"
    nlp.to_disk(folder)
    return folder


def found(detector, text):
    return [(one.text, one.type, one.score) for one in detector.detect([Document("d", text)])[0]]


def test_it_finds_what_the_pipeline_finds(folder):
    detector = SpacyTagger(folder)
    assert found(detector, "😀 Mercury\u200b is not in New York, 北京 or the Sun.") == [
        ("New York", "CITY", None),
        ("北京", "CITY", None),
    ]
    documents = [Document("a", "Mercury over new york"), Document("b", "nothing"), Document("c", " \n ")]
    check_detector(detector, [*documents, Document("d", "Mercury. " * 5000)])


def test_only_some_labels(folder):
    assert found(SpacyTagger(str(folder), labels=["CITY"]), "Mercury over New York") == [("New York", "CITY", None)]
    with pytest.raises(ConfigError, match=r"gives no label 'CITIES'; there are .*CITY, PLANET"):
        SpacyTagger(folder, labels=["CITIES"])


def test_a_long_text_is_read_in_pieces_that_lose_nothing(folder):
    text = "Mercury is far from New York. " * 5000
    mentions = SpacyTagger(folder).detect([Document("d", text)])[0]
    assert len(text) > 100_000
    assert len(mentions) == 10_000
    assert all(text[one.span.start : one.span.end] == one.text for one in mentions)


def test_a_name_is_found_wherever_pieces_meet(folder):
    tagger = SpacyTagger(folder)
    for shift in range(0, 440, 20):
        before = "x " * ((19_580 + shift) // 2)
        mentions = tagger.detect([Document("d", f"{before}New York{' y' * 5000}")])[0]
        assert [(one.text, one.span.start) for one in mentions] == [("New York", len(before))], shift


def test_a_pipeline_that_finds_no_entities(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "plain")
    with pytest.raises(InputError, match="finds no entities: it has sentencizer"):
        SpacyTagger(tmp_path / "plain")


def test_a_pipeline_that_is_not_there(tmp_path):
    with pytest.raises(MissingModelError, match="python -m spacy download en_core_web_xyz"):
        SpacyTagger("en_core_web_xyz")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no pipeline that spaCy can load"):
        SpacyTagger(tmp_path / "empty")
    with pytest.raises(ConfigError, match="pipeline = 3"):
        make_stage("detector", {"name": "spacy", "pipeline": 3}, None)
    with pytest.raises(ConfigError, match="pipeline"):
        make_stage("detector", {"name": "spacy"}, None)


def test_a_pipeline_as_an_object():
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    assert found(SpacyTagger(nlp), "Mercury") == [("Mercury", "PLANET", None)]


def test_without_spacy_the_extra_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"entlink\[spacy\]"):
        SpacyTagger("en_core_web_sm")


def test_a_linker_with_it_types_what_is_nil(folder, world_folder):
    detector = {"name": "spacy", "pipeline": str(folder), "labels": ["PLANET", "CITY"]}
    linker = entlink.load(world_folder, config=LinkerConfig(detector=detector))
    try:
        links = linker.link("Mercury and New York, not Venus").links
        assert [(link.mention.text, link.mention.type, link.entity) for link in links] == [
            ("Mercury", "PLANET", "planet"),
            ("New York", "CITY", "new-york"),
        ]
    finally:
        linker.kb.close()


def test_other_detectors_do_not_bring_spacy(world_folder):
    script = "import sys, entlink; entlink.load(sys.argv[1]).link('Mercury'); print('spacy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script, world_folder], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
