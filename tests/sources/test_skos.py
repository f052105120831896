from __future__ import annotations

import gzip
import random
import sys
import tracemalloc
from itertools import pairwise

import pytest

pyoxigraph = pytest.importorskip("pyoxigraph", reason="RDF is read by the optional pyoxigraph")

from entlink.documents import Entity  # noqa: E402
from entlink.errors import MissingExtraError, SourceError  # noqa: E402
from entlink.sources import open_source  # noqa: E402
from entlink.sources.triples import Staging, Statement  # noqa: E402
from entlink.sources.xml_entities import WatchedXml  # noqa: E402

PREFIXES = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix schema: <https://schema.org/> .
@prefix ex: <http://example.org/> .
"""
TURTLE = (
    PREFIXES
    + """
ex:tea a skos:Concept, ex:Drink ; skos:altLabel "chai"@hi ; dct:created "2001-05-06" .
ex:cup skos:broader ex:ware .
ex:coffee rdfs:label "coffee" .
ex:tea skos:prefLabel "tea"@en, "Tee"@de ; skos:hiddenLabel "teh"@en ;
    skos:definition "Leaves in hot water."@en, "Blätter in heißem Wasser."@de ; skos:scopeNote "A note."@en ;
    skos:exactMatch <http://www.wikidata.org/entity/Q6097>, <http://id.loc.gov/authorities/sh85133138> ;
    owl:sameAs <http://dbpedia.org/resource/Tea>, <https://en.wikipedia.org/wiki/Green_tea> ;
    foaf:depiction <http://example.org/tea.png> ; schema:image "cup.png" .
_:anonymous rdfs:label "no name to be known by" .
"""
)
TEA = Entity(
    "http://example.org/tea",
    "tea",
    "Leaves in hot water.",
    aliases=("Tee", "chai", "teh"),
    types=("Drink",),
    images=("cup.png", "http://example.org/tea.png"),
    language="en",
    created="2001-05-06",
    external={
        "url": "http://example.org/tea",
        "wikidata": "Q6097",
        "dbpedia": "Tea",
        "wikipedia": "Green tea",
        "id.loc.gov": "http://id.loc.gov/authorities/sh85133138",
    },
)
COFFEE = Entity("http://example.org/coffee", "coffee", external={"url": "http://example.org/coffee"})


def entities(path, **options):
    return [page.entity for page in open_source(path, **options)]


def serialised(format) -> bytes:
    quads = pyoxigraph.parse(TURTLE.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    return pyoxigraph.serialize((quad.triple for quad in quads), format=format)


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.ttl", "TURTLE"),
        ("a.nt", "N_TRIPLES"),
        ("a.rdf", "RDF_XML"),
        ("a.xml", "RDF_XML"),
        ("a.owl", "RDF_XML"),
        ("turtle.owl", "TURTLE"),
        ("a.jsonld", "JSON_LD"),
    ],
)
def test_every_syntax_gives_the_same(write, name, format):
    source = open_source(write(name, serialised(getattr(pyoxigraph.RdfFormat, format))))
    assert source.format == "skos"
    assert [page.entity for page in source] == [COFFEE, TEA]
    assert source.position() == source.size
    assert source.skipped == 0


@pytest.mark.parametrize("format", ["TURTLE", "N_TRIPLES", "RDF_XML", "JSON_LD"])
def test_syntax_is_seen_where_the_name_does_not_tell(write, format):
    path = write("thesaurus", serialised(getattr(pyoxigraph.RdfFormat, format)))
    assert entities(path, format="skos") == [COFFEE, TEA]


def test_compressed_with_byte_order_mark(write):
    path = write("a.ttl.gz", gzip.compress(b"\xef\xbb\xbf" + TURTLE.encode()))
    assert entities(path) == [COFFEE, TEA]


@pytest.mark.parametrize(
    ("labels", "language", "title"),
    [
        ('"a"@de, "b"@en, "c"', "de", "a"),
        ('"a"@de, "b"@en, "c"', "fr", "b"),
        ('"a"@de, "b"@en, "c"', None, "b"),
        ('"a"@de, "c", "d"@fr', None, "c"),
        ('"z"@de, "a"@fr', None, "z"),
        ('"a"@de, "b"@de-AT', "de-AT", "b"),
        ('"a"@de, "b"@en', "de-AT", "a"),
        ('"a"@en-GB, "b"@de, "c"', "en", "a"),
        ('"a"@en-GB, "b"@en', "en", "b"),
        ('"b"@en, "a"@en', "en", "a"),
        ('" "@en, "a"@de', "en", "a"),
    ],
)
def test_title_in_the_nearest_language(write, labels, language, title):
    path = write("a.ttl", f"{PREFIXES} ex:x skos:prefLabel {labels} .")
    assert [entity.title for entity in entities(path, language=language)] == [title]


def test_preferred_label_goes_before_a_plain_one(write):
    path = write("a.ttl", f'{PREFIXES} ex:x rdfs:label "a"@en ; skos:prefLabel "b"@en .')
    (entity,) = entities(path)
    assert (entity.title, entity.aliases) == ("b", ("a",))


def test_definition_goes_before_a_note(write):
    path = write("a.ttl", f'{PREFIXES} ex:x rdfs:label "x" ; skos:scopeNote "a" ; rdfs:comment "b" .')
    assert entities(path)[0].description == "b"


def test_urn_is_an_id_but_no_address(write):
    path = write("a.nt", '<urn:x:1> <http://www.w3.org/2000/01/rdf-schema#label> "x"@nl .')
    assert entities(path) == [Entity("urn:x:1", "x", language="nl")]


BAD_SUBJECTS = {
    "bad date": ('dct:created "last year"', "created holds the bad date 'last year'"),
    "NUL": ('skos:altLabel "a\\u0000"', "altLabel holds a NUL character"),
}


@pytest.mark.parametrize(("statement", "problem"), BAD_SUBJECTS.values(), ids=BAD_SUBJECTS.keys())
def test_bad_subject_is_named_or_skipped(write, statement, problem):
    path = write("a.ttl", f'{PREFIXES} ex:a rdfs:label "a" ; {statement} . ex:b rdfs:label "b" .')
    with pytest.raises(SourceError) as caught:
        entities(path)
    assert f"{path}, subject <http://example.org/a>: {problem}" in str(caught.value)
    source = open_source(path, on_error="skip")
    assert [page.entity.title for page in source] == ["b"]
    assert source.skipped == 1


@pytest.mark.parametrize("name", ["a.ttl", "a.nt"])
def test_bad_statement_is_named_or_skipped(write, name):
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    path = write(name, f'<http://e/a> {label} "a" .\n<http://e/b> nonsense .\n<http://e/c> {label} "c" .\n')
    with pytest.raises(SourceError, match="line 2: bad RDF"):
        entities(path)
    source = open_source(path, on_error="skip")
    assert [page.entity.title for page in source] == ["a", "c"]
    assert source.skipped == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.rdf", b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Descr'),
        ("a.jsonld", b'[{"@id": "http://e/a", "http://e/p": "x"}, {"@i'),
        ("a.ttl", b'<http://e/a> <http://e/p> "caf\xe9" .'),
        ("a.jsonld", b'{"@context": "http://elsewhere.org/context", "@id": "x"}'),
    ],
)
def test_bad_file(write, name, content):
    path = write(name, content)
    with pytest.raises(SourceError, match="bad RDF") as caught:
        entities(path)
    assert str(path) in str(caught.value)
    source = open_source(path, on_error="skip")
    assert list(source) == []
    assert source.skipped >= 1


def test_compressed_file_cut_off_keeps_what_was_read(write):
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    noise = random.Random(5)
    lines = "".join(f'<http://e/{number:05}> {label} "{noise.getrandbits(200):x}" .\n' for number in range(3000))
    packed = gzip.compress(lines.encode())
    path = write("a.nt.gz", packed[: len(packed) // 2])
    with pytest.raises(SourceError, match=r"the compressed data is cut off; \d{3,} statements were read"):
        entities(path)
    source = open_source(path, on_error="skip")
    ids = [page.entity.id for page in source]
    assert ids == [f"http://e/{number:05}" for number in range(len(ids))]
    assert 1000 < len(ids) < 3000
    assert source.skipped == 1


def test_without_the_optional_part(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(MissingExtraError, match=r"Reading RDF needs an optional part: .*entlink\[rdf\]"):
        entities(write("a.ttl", TURTLE))


def test_statements_come_back_by_subject():
    noise = random.Random(5)
    given = [(f"s{number % 997}", Statement("name", str(number), None)) for number in range(25_000)]
    noise.shuffle(given)
    with Staging() as staging:
        for subject, statement in given:
            staging.add(subject, statement)
        groups = list(staging.subjects())
    assert [subject for subject, _ in groups] == sorted({subject for subject, _ in given})
    pairs = [(subject, statement) for subject, statements in groups for statement in statements]
    assert sorted(pairs) == sorted(given)


def test_memory_does_not_grow_with_the_statements(write):
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    path = write("a.nt", "".join(f'<http://e/{number}> {label} "{number}" .\n' for number in range(10_000)))
    tracemalloc.start()
    assert sum(1 for _ in open_source(path)) == 10_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_500_000


ENTITIES = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ {declared} ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://www.w3.org/2004/02/skos/core#">
{late}<rdf:Description rdf:about="http://example.org/1"><s:prefLabel>{label}</s:prefLabel></rdf:Description>
</rdf:RDF>
"""
LAUGHS = '<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise("abcdefghij")
)
BOMBS = {
    "nested": {"declared": LAUGHS, "label": "&j;"},
    "nested, in one pass": {"declared": LAUGHS[:80], "label": "&d;" * 9, "late": f"<!DOCTYPE x [ {LAUGHS[80:]} ]>"},
    "long": {"declared": f'<!ENTITY a "{"ha" * 5_000}">', "label": "&a;" * 100_000},
    "many": {"declared": f'<!ENTITY a "{"ha" * 400}">', "label": "&a;" * 100_000},
    "in a tag": {"declared": f'<!ENTITY a "{"ha" * 400}">', "label": f'<x y="{"&a;" * 100_000}"/>'},
}


@pytest.mark.parametrize("parts", BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("before", [0, 2030, 2031, 2040])  # where the parser's reads cut the declaration
def test_entities_that_stand_for_too_much_are_refused(write, parts, before):
    path = write("a.rdf", "".join(ENTITIES.format(**{"late": "", **parts})).replace("?>", "?>" + " " * before, 1))
    with pytest.raises(SourceError, match=rf"{path}: .* may stand for more than .* Write out"):
        list(open_source(path))
    source = open_source(path, on_error="skip")
    assert list(source) == []
    assert len(source.problems) == 1


@pytest.mark.parametrize("size", [1, 7, 8, 2048])
def test_declarations_are_seen_wherever_reads_cut_them(write, size):
    path = write("a.rdf", ENTITIES.format(declared=LAUGHS, label="", late=""))
    with path.open("rb") as file:
        watched = WatchedXml(file, path)
        with pytest.raises(SourceError):
            while watched.read(size):
                pass


def test_entities_that_stand_for_addresses_are_fine(write):
    declared = '<!ENTITY base "http://example.org/"> <!ENTITY things "&base;things#">'
    label = "&things;tea &amp; cup" * 1_000
    (page,) = open_source(write("a.rdf", ENTITIES.format(declared=declared, label=label, late="")))
    assert page.entity.title == "http://example.org/things#tea & cup" * 1_000
