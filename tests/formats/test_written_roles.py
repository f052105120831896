"""Which of gold and links is written, and that documents wait for it on disk."""

from __future__ import annotations

import pytest

from entlink.documents import Document, GoldLink, Link, Mention, Span
from entlink.errors import InputError, SpanError
from entlink.formats import writing
from entlink.formats.public import aida, blink, neleval, nif
from entlink.formats.roles import gold_as_links
from entlink.formats.writing import as_gold, text_of, with_role
from exchange_formats import written

BARE = Document("bare", "Ann")
LINKED = Document("linked", "Ann", links=(Link(Mention(Span(0, 3), "Ann", "PER"), "e1", 0.5, title="Ann A."),))
GOLDEN = Document("golden", "Ann", gold=(GoldLink(Span(0, 3), ("e2",)),), links=LINKED.links)


def roles(*documents):
    return [(document.id, role) for document, role in with_role(documents)]


def test_gold_if_any_document_has_gold():
    assert roles(BARE, LINKED, GOLDEN, BARE) == [(id, "gold") for id in ("bare", "linked", "golden", "bare")]


def test_links_if_none_has_gold():
    assert roles(LINKED, BARE) == [("linked", "links"), ("bare", "links")]
    assert roles() == []


def test_documents_that_wait_come_back_as_they_were(monkeypatch):
    monkeypatch.setattr(writing, "_IN_MEMORY", 100)
    many = [Document(str(number), "x" * 50, meta={"a": [number]}) for number in range(20)]
    assert [document for document, _ in with_role([*many, GOLDEN])] == [*many, GOLDEN]


def test_links_as_gold_keep_what_can_be_told():
    [linked] = as_gold([LINKED])
    assert linked.gold == (GoldLink(Span(0, 3), ("e1",), meta={"type": "PER", "score": 0.5, "title": "Ann A."}),)


def test_what_is_optional_is_left_out():
    optional = GoldLink(Span(0, 1), ("e",), optional=True)
    [document] = as_gold([Document("d", "Ann", gold=(optional, *GOLDEN.gold))])
    assert document.gold == GOLDEN.gold


@pytest.mark.parametrize("module", [aida, blink, nif, neleval])
def test_every_writer_keeps_to_the_role(module):
    golden = written(module, [LINKED, GOLDEN]).decode()
    assert "e2" in golden and "e1" not in golden
    assert "e1" in written(module, [BARE, LINKED]).decode()


@pytest.mark.parametrize("module", [aida, blink, nif])
def test_a_document_without_a_text(module):
    lacking = Document("d", "", links=LINKED.links, meta={"lacks": "text"})
    with pytest.raises(InputError, match="document 'd' has no text"):
        written(module, [lacking])


@pytest.mark.parametrize("span", [Span(0, 9), Span(2, 2), Span(-1, 2)])
def test_gold_outside_the_text(span):
    with pytest.raises(SpanError, match="document 'd'"):
        text_of(Document("d", "Ann", gold=(GoldLink(span, ()),)), "NIF")


WRONG_META = [
    ("score", "high"),
    ("score", True),
    ("score", float("nan")),
    ("score", 10**400),
    ("type", ["PER"]),
    ("types", "PER"),
    ("types", [{}]),
    ("title", 5),
    ("mention", {"a": 1}),
]


@pytest.mark.parametrize(("field", "value"), WRONG_META)
@pytest.mark.parametrize("module", [aida, blink, nif, neleval])
def test_meta_of_the_wrong_type(module, field, value):
    document = Document("d", "Ann", gold=(GoldLink(Span(0, 3), ("e",), meta={field: value}),))
    with pytest.raises(
        InputError, match=rf"document 'd': the gold at 0-3, field meta\.{field}: .* is not a "
    ) as caught:
        written(module, [document])
    assert len(str(caught.value)) < 200
    with pytest.raises(InputError, match=rf"document 'd'.*meta\.{field}"):
        gold_as_links(document)


@pytest.mark.parametrize("module", [aida, blink, nif, neleval])
def test_null_in_meta_is_nothing(module):
    nulls = dict.fromkeys(("score", "type", "types", "title", "mention"))
    plain = Document("d", "Ann", gold=(GoldLink(Span(0, 3), ("e",)),))
    null = Document("d", "Ann", gold=(GoldLink(Span(0, 3), ("e",), meta=nulls),))
    assert written(module, [null]) == written(module, [plain])
    assert gold_as_links(null) == gold_as_links(plain)


def test_other_meta_is_free():
    free = GoldLink(Span(0, 3), ("e",), meta={"scores": "high", "note": [1]})
    assert gold_as_links(Document("d", "Ann", gold=(free,))).links[0].score == 1


@pytest.mark.parametrize("field", ["id", "text", "entity"])
@pytest.mark.parametrize("module", [aida, blink, nif])
def test_half_a_surrogate_pair(module, field):
    half = "a\ud800"
    gold = GoldLink(Span(0, 1), (half if field == "entity" else "e",))
    document = Document(half if field == "id" else "d", half if field == "text" else "Ann", gold=(gold,))
    with pytest.raises(InputError, match="surrogate"):
        written(module, [document])


def test_half_a_surrogate_pair_without_texts():
    with pytest.raises(InputError, match="document 'd' cannot be written as neleval: it holds half"):
        written(neleval, [Document("d", "", gold=(GoldLink(Span(0, 1), ("a\ud800",)),))])
