"""Relations as sentences: of the source's own where it has one, said and denied, or of a template."""

from __future__ import annotations

import pytest

from entlink.datasets.probes.entity_types import EntityFilter
from entlink.datasets.probes.templates import read_templates
from entlink.errors import InputError
from entlink.formats.probes.sources.relations import Relation

TEMPLATES = read_templates()


def told(relation: Relation, *, denied: bool = False) -> tuple[str, str, str]:
    sentence, subject, object = TEMPLATES.statement(relation, denied=denied)
    return sentence, sentence[subject.start : subject.end], sentence[object.start : object.end]


@pytest.mark.parametrize(
    ("sentence", "denied", "expected"),
    [
        ("", False, "heron is a kind of bird"),
        ("", True, "heron is not a kind of bird"),
        ("*A [[heron]] is a [[bird]]", False, "A heron is a bird"),
        ("A [[heron]] is a [[bird]]", True, "A heron is not a bird"),
        ("Is it so that [[heron]]s would be [[bird]]s", True, "Is it so that herons would not be birds"),
        ("It is said: [[heron]], [[bird]]", True, "It is not said: heron, bird"),
        ("A [[heron]], a [[bird]]", True, "heron is not a kind of bird"),  # nothing to deny it with
        ("A [[bird]] is a [[heron]]", False, "heron is a kind of bird"),  # not in the order of the relation
        ("A heron is a bird", False, "heron is a kind of bird"),  # nothing is marked
    ],
)
def test_a_relation_is_a_sentence_with_both_things_in_it(sentence, denied, expected):
    assert told(Relation("heron", "IsA", "bird", sentence), denied=denied) == (expected, "heron", "bird")


def test_a_template_may_name_the_end_first():
    found = told(Relation("sail", "HasSubevent", "get wet"))
    assert found == ("get wet happens when you sail", "sail", "get wet")


def test_every_relation_of_the_box_can_be_said_and_denied():
    for name in TEMPLATES.relations:
        one, other = Relation("sail", name, "wind"), Relation("sail", name, "wind")
        assert told(one)[1:] == told(other, denied=True)[1:] == ("sail", "wind")
        assert told(one)[0] != told(other, denied=True)[0]
    assert not set(TEMPLATES.relations) & set(TEMPLATES.excluded)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[relations", "cannot be read"),
        ("[relations]\nIsA = 'one'", "Expected"),
        ('[relations]\nIsA = ["{0} is", "{0} is not {1}"]', r"'\{0\} is' must have \{0\} and \{1\} once each"),
    ],
)
def test_templates_that_are_wrong(tmp_path, text, message):
    path = tmp_path / "templates.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_templates(path)


def test_dates_numbers_and_what_is_no_entity_are_left_out(tmp_path):
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "GPE", "pattern": "Larkham"}, {"label": "DATE", "pattern": "Monday"}])
    pipeline.to_disk(tmp_path / "pipeline")
    place = Relation("Larkham", "PartOf", "shore")
    day, thing = Relation("market", "HasProperty", "Monday"), Relation("mast", "PartOf", "ship")
    both = Relation("Larkham", "HasProperty", "Monday")
    assert EntityFilter(str(tmp_path / "pipeline")).kept([place, day, thing, both]) == [place]
    assert EntityFilter(None).kept([day, thing]) == [day, thing]


def test_a_pipeline_that_is_not_here():
    pytest.importorskip("spacy")
    with pytest.raises(InputError, match="spaCy has no pipeline 'no_such'"):
        EntityFilter("no_such")
