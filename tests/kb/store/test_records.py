from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.kb.store.records import decode_record, encode_record
from knowledge_bases import FULL

TEXT = st.text(max_size=10)
NAMES = st.lists(TEXT, max_size=3).map(tuple)


@given(
    st.builds(
        Entity,
        id=TEXT,
        title=TEXT,
        description=TEXT,
        aliases=NAMES,
        types=NAMES,
        images=NAMES,
        language=st.none() | TEXT,
        created=st.none() | TEXT,
        external=st.dictionaries(TEXT, TEXT, max_size=2),
        claims=st.dictionaries(TEXT, NAMES, max_size=2),
    )
)
def test_an_entity_comes_back_as_it_was(entity):
    assert decode_record(entity.id, entity.title, encode_record(entity)) == entity


def test_every_field_of_an_entity_is_in_its_record_or_a_column():
    record = json.loads(encode_record(FULL))
    assert ["id", "title", *record] == list(Entity.__struct_fields__)


def test_what_is_not_there_takes_no_room():
    assert encode_record(Entity("id", "title")) == "{}"
