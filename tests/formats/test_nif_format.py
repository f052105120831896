"""NIF: texts and phrases in any order, what is in no knowledge base, and Turtle that others can read."""

from __future__ import annotations

import builtins
import gzip
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, GoldLink, Link, Mention, Span
from entlink.errors import InputError, MissingExtraError, SourceError, SpanError
from entlink.formats.public import nif
from exchange_formats import AWKWARD, characters, read, spans_of, texts, with_problems, written

PREFIXES = """@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix dbpedia: <http://dbpedia.org/resource/> .
@prefix oke: <http://www.ontologydesignpatterns.org/data/oke-challenge/task-1/> .
@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
"""
NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
BASE = "http://example.org/d1"


def context(text: str = "Florence Harding in Sydney", base: str = BASE) -> str:
    return f"""<{base}#char=0,26> a nif:RFC5147String , nif:Context ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "26"^^xsd:nonNegativeInteger ;
    nif:isString "{text}"@en .
"""


def phrase(start: int, end: int, said: str, anchor: str | None = None, base: str = BASE) -> str:
    shown = f'nif:anchorOf "{anchor}" ; ' if anchor else ""
    return f"""<{base}#char={start},{end}> a nif:RFC5147String , nif:String ; {shown}
    nif:beginIndex "{start}"^^xsd:nonNegativeInteger ; nif:endIndex "{end}"^^xsd:int ;
    nif:referenceContext <{base}#char=0,26> {said} .
"""


def gold_of(*phrases: str, text: str = "Florence Harding in Sydney") -> tuple[GoldLink, ...]:
    [document] = read(nif, PREFIXES + context(text) + "".join(phrases))
    return document.gold


def test_what_a_file_becomes():
    sydney = phrase(20, 26, '; itsrdf:taIdentRef dbpedia:Sydney ; itsrdf:taConfidence "0.75"^^xsd:double', "Sydney")
    harding = phrase(0, 16, "; itsrdf:taIdentRef <http://aksw.org/notInWiki/Florence> ; itsrdf:taClassRef <x:P>")
    [document] = read(nif, "\ufeff" + PREFIXES + sydney + context() + harding)  # phrases before their context, too
    assert document == Document(
        BASE,
        "Florence Harding in Sydney",
        "en",
        gold=(
            GoldLink(Span(0, 16), (), "x:P"),
            GoldLink(Span(20, 26), ("http://dbpedia.org/resource/Sydney",), meta={"score": 0.75}),
        ),
    )


@pytest.mark.parametrize(
    ("said", "entities"),
    [
        ("<http://aksw.org/notInWiki/x>", ()),
        ("<http://aksw.org/NOTINWIKI>", ()),
        ("<http://scms.eu/Florence>", ()),
        ("oke:Nobody", ()),
        ("oke:Sydney", ("http://dbpedia.org/resource/Sydney",)),
        ("dbpedia:A , dbpedia:B", ("http://dbpedia.org/resource/A", "http://dbpedia.org/resource/B")),
        ("<http://www.wikidata.org/entity/Q90>", ("Q90",)),
        ("<https://www.wikidata.org/wiki/Q90>", ("Q90",)),
        ("<http://my.own/kb/7>", ("http://my.own/kb/7",)),
    ],
)
def test_what_is_meant(said, entities):
    same = "oke:Sydney owl:sameAs dbpedia:Sydney .\n"
    [gold] = gold_of(same, phrase(0, 8, f"; itsrdf:taIdentRef {said}"))
    assert gold.entities == entities


def test_types():
    said = "; itsrdf:taIdentRef dbpedia:A ; itsrdf:taClassRef <x:b> , <x:a>"
    assert gold_of(phrase(0, 8, said))[0].meta == {"type": "x:a", "types": ["x:a", "x:b"]}


def test_phrases_that_mean_nothing_yet_are_given_mentions():
    word = f"<{BASE}#char=9,16> a nif:Word ; nif:referenceContext <{BASE}#char=0,26> .\n"
    [document] = read(nif, PREFIXES + context() + phrase(20, 26, "") + phrase(0, 8, "") + word)
    assert document.gold == ()
    assert document.mentions == (Mention(Span(0, 8), "Florence"), Mention(Span(20, 26), "Sydney"))


def test_offsets_in_the_iri():
    said = f"nif:referenceContext <{BASE}#char=0,26> ; itsrdf:taIdentRef dbpedia:A"
    assert [gold.span for gold in gold_of(f"<{BASE}#char=0,8> {said} .\n", f"<{BASE}#offset_20_26> {said} .\n")] == [
        Span(0, 8),
        Span(20, 26),
    ]


def test_offsets_that_count_as_java_does():
    text = "😀😀 Sydney e\u0301"
    said = "; itsrdf:taIdentRef dbpedia:A"
    assert gold_of(phrase(3, 9, said, "Sydney"), text=text)[0].span == Span(3, 9)
    assert gold_of(phrase(5, 11, said, "Sydney"), text=text)[0].span == Span(3, 9)
    assert gold_of(phrase(3, 9, said), text=text)[0].span == Span(3, 9)


def test_a_phrase_with_the_iri_of_its_context():
    [gold] = gold_of(f"<{BASE}#char=0,26> itsrdf:taIdentRef dbpedia:All .\n")
    assert gold == GoldLink(Span(0, 26), ("http://dbpedia.org/resource/All",))


def test_ids():
    content = PREFIXES + context(base="http://a.b/x?y=1") + context("other", "http://a.b/z")
    content += f'<http://a.b/z#char=26,30> nif:isString "more" .\n<{nif.OWN_DOCUMENTS}a%20b> nif:isString "own" .\n'
    assert [document.id for document in read(nif, content)] == [
        "http://a.b/x?y=1",
        "http://a.b/z#char=0,26",
        "http://a.b/z#char=26,30",
        "a b",
    ]


@pytest.mark.parametrize(
    ("bad", "part"),
    [
        (phrase(0, 8, "; itsrdf:taIdentRef dbpedia:A", "Sydney"), "covers 'Florence', not 'Sydney'"),
        (phrase(0, 99, "; itsrdf:taIdentRef dbpedia:A"), "lies outside; the text has 26 characters"),
        (phrase(8, 8, "; itsrdf:taIdentRef dbpedia:A"), "is empty"),
        (f"<{BASE}#x> nif:referenceContext <{BASE}#char=0,26> .", f"<{BASE}#x> has no nif:beginIndex"),
        (f"<{BASE}#char=4> nif:referenceContext <{BASE}#char=0,26> .", "has no nif:endIndex that is a number"),
        (phrase(0, 8, '; itsrdf:taConfidence "much"'), "itsrdf:taConfidence is 'much'"),
        (phrase(0, 8, '; itsrdf:taConfidence "NaN"'), "itsrdf:taConfidence is 'NaN'"),
        (phrase(0, int("9" * 16), "; itsrdf:taIdentRef dbpedia:A"), "has no nif:endIndex that is a number"),
        ("<x:y> itsrdf:taIdentRef dbpedia:A .", "<x:y> has no nif:referenceContext that has a text"),
        ("<x:y> nif:referenceContext <x:z> .", "<x:y> has no nif:referenceContext that has a text"),
        (f'<{BASE}#char=0,26> nif:isString "two" .', "has more than one nif:isString"),
    ],
)
def test_bad_phrases(tmp_path: Path, bad, part):
    path = tmp_path / "nif.ttl.gz"
    other = context("Other", "http://example.org/d2")
    path.write_bytes(gzip.compress((PREFIXES + context() + bad + other).encode()))
    with pytest.raises((SourceError, SpanError)) as caught:
        list(nif.read(path))
    assert str(caught.value).startswith(f"{path}: ") and part in str(caught.value)
    problems: list[InputError] = []
    documents = list(nif.read(path, on_error="skip", on_problem=problems.append))
    assert documents[-1].text == "Other" and len(problems) == 1


def test_bad_turtle():
    content = PREFIXES + "<x:y> nif:isString .\n" + context() + context(base="http://example.org/d2")
    documents, [problem] = with_problems(nif, content)
    assert problem.startswith("line 7: bad Turtle")
    assert documents[-1].id == "http://example.org/d2"  # the parser goes on behind the next full stop


def test_a_file_that_is_cut_off(tmp_path: Path):
    path = tmp_path / "nif.ttl.gz"
    path.write_bytes(gzip.compress((PREFIXES + context() * 50).encode())[:-20])
    with pytest.raises(SourceError, match="cut off"):
        list(nif.read(path))


def test_without_the_library(monkeypatch):
    actual = builtins.__import__

    def without(name, *rest, **more):
        if name == "pyoxigraph":
            raise ImportError(name)
        return actual(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"entlink\[rdf\]"):
        read(nif, PREFIXES)
    assert b"nif:isString" in written(nif, [Document("d", "x")])


# Writing


def triples_of(content: bytes) -> set[tuple[str, str, str]]:
    quads = pyoxigraph.parse(content, format=pyoxigraph.RdfFormat.TURTLE)
    return {(quad.subject.value, quad.predicate.value, quad.object.value) for quad in quads}


def test_others_read_what_is_written():
    gold = (GoldLink(Span(4, 7), ("Q1", "http://dbpedia.org/resource/A|b")),)
    content = written(nif, [Document("http://a.b/d", 'He "Ann"', gold=gold)])
    type, its = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://www.w3.org/2005/11/its/rdf#taIdentRef"
    whole, part = "http://a.b/d#char=0,8", "http://a.b/d#char=4,7"
    assert triples_of(content) == {
        *((one, type, NIF + name) for one in (whole, part) for name in ("String", "RFC5147String")),
        (whole, type, f"{NIF}Context"),
        (whole, f"{NIF}beginIndex", "0"),
        (whole, f"{NIF}endIndex", "8"),
        (whole, f"{NIF}isString", 'He "Ann"'),
        (part, type, f"{NIF}Phrase"),
        (part, f"{NIF}beginIndex", "4"),
        (part, f"{NIF}endIndex", "7"),
        (part, f"{NIF}anchorOf", "Ann"),
        (part, f"{NIF}referenceContext", whole),
        (part, its, "http://www.wikidata.org/entity/Q1"),
        (part, its, "http://dbpedia.org/resource/A%7Cb"),
    }


def test_links_are_written_with_their_scores():
    links = (
        Link(Mention(Span(0, 3), "Ann", "PER"), "e", 0.5),
        Link(Mention(Span(4, 7), "Bob"), None, 0.25, nil_type="LOC"),
    )
    [document] = read(nif, written(nif, [Document("d", "Ann Bob", links=links)]))
    assert document.gold == (
        GoldLink(Span(0, 3), ("e",), meta={"score": 0.5, "type": "PER"}),
        GoldLink(Span(4, 7), (), "LOC", meta={"score": 0.25}),
    )


def test_gold_of_one_span_becomes_one_phrase():
    gold = (GoldLink(Span(0, 3), ("a",)), GoldLink(Span(0, 3), ("b", "a")))
    [document] = read(nif, written(nif, [Document("d", "Ann", gold=gold)]))
    assert document.gold == (GoldLink(Span(0, 3), ("a", "b")),)


def test_mentions_that_are_gold_too_are_written_once():
    document = Document("d", "Ann", gold=(GoldLink(Span(0, 3), ("a",)),), mentions=(Mention(Span(0, 3), "Ann"),))
    assert read(nif, written(nif, [document]))[0].mentions is None


@pytest.mark.parametrize("language", ["en", "zh-hant", None])
def test_languages(language):
    assert read(nif, written(nif, [Document("d", "x", language)]))[0].language == language


def test_a_language_that_is_none_is_left_out():
    assert read(nif, written(nif, [Document("d", "x", "no language!")]))[0].language is None


NAMES = (
    *AWKWARD,
    "http://dbpedia.org/resource/Zürich",
    "http://a.b:80/?q=1#x",
    "https://a.b",
    "http://a b/",
    "urn:a:b",
)
names = st.sampled_from(NAMES) | st.text(characters, min_size=1)
plain = st.text(characters, min_size=1, max_size=5)


@st.composite
def documents(draw) -> Document:
    text = draw(texts)
    gold = []
    for start, end in spans_of(draw, len(text)):
        meta = {"score": draw(st.floats(allow_nan=False, allow_infinity=False))} if draw(st.booleans()) else {}
        if draw(st.booleans()):
            gold.append(GoldLink(Span(start, end), (), draw(st.none() | plain), meta=meta))
        else:
            meta |= {"type": draw(plain)} if draw(st.booleans()) else {}
            entities = draw(st.lists(names, min_size=1, max_size=3, unique=True))
            gold.append(GoldLink(Span(start, end), tuple(entities), meta=meta))
    language = draw(st.none() | st.just("de"))
    return Document(draw(st.sampled_from(NAMES) | st.text(characters)), text, language, gold=tuple(gold))


@given(st.lists(documents(), max_size=3, unique_by=lambda document: document.id))
def test_what_is_written_is_read_back(several):
    assert read(nif, written(nif, several)) == several


@given(st.text(st.characters(), min_size=1))
def test_any_address_becomes_one_that_can_be_read(text):
    entity = f"http://a.b/{text}"
    try:
        content = written(nif, [Document("d", "x", gold=(GoldLink(Span(0, 1), (entity,)),))])
    except InputError as error:
        assert "surrogate" in str(error)
    else:
        assert len(read(nif, content)[0].gold[0].entities) == 1
