"""Vectors of entities: learnt from what is linked together, and read again by id or title."""

from __future__ import annotations

import numpy
import pytest

from entlink.encoders.static.entities import read_entity_vectors, write_entity_vectors
from entlink.errors import InputError

LINKED = [["Heron", "Grey Owl", "Wren"], ["Wren", "Heron"], ["Tamar", "Wye"], ["Wye", "Severn", "Tamar"]] * 5


def test_entities_that_are_linked_together_are_near(tmp_path):
    path = tmp_path / "entities.txt"
    assert write_entity_vectors(LINKED, path, dimension=2) == 6
    found = read_entity_vectors(path, {"Heron", "Grey Owl", "Wren", "Tamar", "Wye", "Severn", "Nobody"})
    assert set(found) == {entity for one in LINKED for entity in one}

    def likeness(a, b):
        return float(found[a] @ found[b] / numpy.linalg.norm(found[a]) / numpy.linalg.norm(found[b]))

    assert likeness("Heron", "Grey Owl") > 0.9 > 0.2 > likeness("Heron", "Tamar")
    before = path.read_bytes()
    write_entity_vectors(LINKED, path, dimension=2)
    assert path.read_bytes() == before


def test_entities_among_words_have_a_prefix(tmp_path):
    path = tmp_path / "all.txt"
    path.write_text("the 1 2\nENTITY/Grey_Owl 3 4\n")
    found = read_entity_vectors(path, {"Grey Owl", "the owl"})
    assert {name: row.tolist() for name, row in found.items()} == {"Grey Owl": [3, 4]}


def test_links_that_are_never_near_each_other(tmp_path):
    with pytest.raises(InputError, match="Give more documents"):
        write_entity_vectors([["Heron"], ["Wren"]], tmp_path / "entities.txt")
