"""The few-shot part of gold, its size, why gold was lost, and how wrong entities are related to right ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec
import pytest

from entlink import KnowledgeBase, build
from entlink.documents import Document, Entity, GoldLink, Span
from entlink.evaluation.few_shot import FewShot, Loss, Popularity, SetCounter, SetCounts, Split, loss_of
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.relations import Relation, Relations

# A title counts for more than an alias, and of two that count alike the first is the most popular.
ENTITIES = [
    Entity("Q1", "Mercury", external={"freebase": "/m/01"}),
    Entity("Q2", "Mercury (planet)", aliases=("Mercury",)),
    Entity("Q3", "Freddie Mercury", aliases=("Mercury", "Freddie")),
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("few") / "few.kb"
    source = folder.with_suffix(".jsonl")
    source.write_bytes(b"".join(msgspec.json.encode(entity) + b"\n" for entity in ENTITIES))
    build([source], folder)
    with KnowledgeBase.open(folder) as opened:
        yield opened


def document(id: str, *gold: tuple[str, str | None]) -> Document:
    """A text of the mentions alone."""
    text, links = "", []
    for surface, entity in gold:
        links.append(GoldLink(Span(len(text), len(text) + len(surface)), (entity,) if entity else ()))
        text += surface + " "
    return Document(id, text, gold=tuple(links))


DOCUMENTS = [
    # Right: the most popular, by its mid as well; NIL of a name that nobody has.
    document("a", ("Mercury", "Q1"), ("Mercury", "/m/01"), ("Vulcan", None)),
    # Wrong: another entity, NIL of a name that somebody has, an entity by a name that it does not have.
    document("b", ("Mercury", "Q2"), ("Freddie", None), ("Rocket", "Q3"), ("Freddie", "Q3")),
    document("c", ("Mercury", "Q2"), ("Freddie", "Q999")),
]


def test_the_few_shot_part_is_where_the_most_popular_entity_is_wrong(kb):
    few_shot = FewShot(Identities(kb), Popularity(kb))
    parts = [few_shot.part(one) for one in DOCUMENTS]
    assert [[gold.entities for gold in one.gold] for one in parts] == [
        [],
        [("Q2",), (), ("Q3",)],
        [("Q2",), ("Q999",)],
    ]


def test_sizes_as_table_12_has_them(kb):
    """By hand: nine mentions, of which two are NIL, and five names; "Freddie" is NIL once and an entity twice."""
    whole, part, few_shot = SetCounter(), SetCounter(), FewShot(Identities(kb), Popularity(kb))
    for one in DOCUMENTS:
        whole.add(one)
        part.add(few_shot.part(one))
    # Gold counts as it is annotated: Q1 by its mid is another entity here.
    assert whole.counts() == SetCounts(Split(7, 2, 9), Split(3, 2, 4), Split(3, 2, 3), 5)
    assert part.counts() == SetCounts(Split(4, 1, 5), Split(3, 1, 3), Split(2, 1, 2), 3)


def test_why_an_entity_was_lost(kb):
    popularity, identities = Popularity(kb), Identities(kb)
    ranked = popularity.ranked("Mercury")
    assert [one.entity for one in ranked] == ["Q1", "Q2", "Q3"]
    assert sum(one.score for one in ranked) == pytest.approx(1)
    many = ranked[:1] * 9

    def why(entity, candidates):
        return loss_of(GoldLink(Span(0, 1), (entity,)), candidates, identities)

    assert why("/m/0404", ranked) == Loss.UNRESOLVED
    assert why("Q404", ranked) == Loss.ABSENT
    assert why("Q2", ranked) == why("Q2", (*many, ranked[1])) == Loss.NOT_CHOSEN
    assert why("Q2", (*many, ranked[0], ranked[1])) == why("Q2", ()) == Loss.NOT_AMONG


# Appendix G of the paper: its four examples, with what Wikidata says of them; and words instead of properties
GENERAL = Entity("Q836810", "Duke of Cambridge", claims={"P31": ("Q216353",)})
PRINCE = Entity("Q36812", "William", claims={"P31": ("Q5",), "P97": ("Q836810",), "P569": ("1982-06-21",)})
JINAN = Entity("Q598098", "Shizhong, Jinan", claims={"P31": ("Q1065118",), "P17": ("Q148",), "P131": ("Q170247",)})
ZAOZHUANG = Entity("Q1198415", "Shizhong, Zaozhuang", claims={"P17": ("Q148",), "P131": ("Q198336",)})
BEIJING = Entity("Q8567", "2008 Olympics", claims={"P31": ("Q159821",), "P585": ("2008",), "P17": ("Q148",)})
LONDON = Entity("Q8577", "2012 Olympics", claims={"P31": ("Q159821",), "P585": ("2012-07-27",), "P17": ("Q145",)})
VOTE = Entity("Q83347039", "2020 vote", claims={"P31": ("Q20",), "P17": ("Q159",)})
KIND = Entity("Q20", "referendum on the constitution", claims={"P361": ("Q53463",)})
AMENDMENT = Entity("Q53463", "constitutional amendment", claims={"P279": ("Q20",)})  # in a circle
SAW = Entity("saw", "saw", claims={"is_a": ("tool",)})
TOOL = Entity("tool", "tool", claims={"used_by": ("anybody",)})
BARE = Entity("bare", "bare")
ALL = (GENERAL, PRINCE, JINAN, ZAOZHUANG, BEIJING, LONDON, VOTE, KIND, AMENDMENT, SAW, TOOL, BARE)


@pytest.mark.parametrize(
    ("gold", "predicted", "relation"),
    [
        (PRINCE, GENERAL, Relation.GENERAL),
        (ZAOZHUANG, JINAN, Relation.PLACE),
        (LONDON, BEIJING, Relation.TIME),
        (AMENDMENT, VOTE, Relation.SPECIFIC),
        (VOTE, AMENDMENT, Relation.GENERAL),
        (SAW, TOOL, Relation.GENERAL),
        (TOOL, SAW, Relation.SPECIFIC),
        (SAW, LONDON, Relation.OTHER),
        (SAW, BARE, Relation.UNKNOWN),
        (SAW, Entity("gone", "gone"), Relation.UNKNOWN),
    ],
)
def test_what_was_said_instead(gold, predicted, relation):
    assert relations_of(*ALL).between(gold.id, predicted.id) == relation


def relations_of(*entities: Entity, above: Mapping[str, Iterable[str]] = MappingProxyType({})) -> Relations:
    """What is asked of entities, their types and what is above those."""
    known = {entity.id: entity for entity in entities}
    return Relations(known.get, lambda id: [one for type in known[id].types for one in (type, *above.get(type, ()))])


def test_one_date_may_be_fuller_than_another():
    day = Entity("a", "a", claims={"P585": ("2008-08-08",)})
    year = Entity("b", "b", claims={"P585": ("+2008-00-00T00:00:00Z",)})
    assert relations_of(day, year).between("a", "b") == Relation.OTHER


def test_types_above_an_entity_are_more_general():
    hall = Entity("hall", "hall", types=("Q1060829",), claims={"height": ("9",)})
    house = Entity("Q41176", "building", claims={"height": ("7",)})
    assert relations_of(hall, house).between("hall", "Q41176") == Relation.OTHER
    above = {"Q1060829": ("Q41176",)}
    assert relations_of(hall, house, above=above).between("hall", "Q41176") == Relation.GENERAL
    assert relations_of(hall, house, above=above).between("Q41176", "hall") == Relation.SPECIFIC
