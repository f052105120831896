"""Datasets that are not at hand: files made by hand, called and written as theirs, are known and read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entlink.datasets.catalogue.catalogue import dataset
from entlink.datasets.catalogue.checking import Part, check

AIDA = """-DOCSTART- (1 EU)
Mercury\tB\tMercury\tMercury_\\u0028planet\\u0029\thttp://en.wikipedia.org/wiki/Mercury_(planet)\t19694\t/m/0jn1s
rises

-DOCSTART- (947testa CRICKET)
Zork\tB\tZork\t--NME--

-DOCSTART- (1163testb SOCCER)
Venus\tB\tVenus\tVenus\thttp://en.wikipedia.org/wiki/Venus\t32745\t/m/07_m2
"""
NIF = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<http://example.org/d#char=0,14> a nif:Context , nif:RFC5147String ;
    nif:isString "Mercury rises." ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ;
    nif:endIndex "14"^^xsd:nonNegativeInteger .

<http://example.org/d#char=0,7> a nif:Phrase , nif:RFC5147String ;
    nif:referenceContext <http://example.org/d#char=0,14> ;
    nif:anchorOf "Mercury" ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ;
    nif:endIndex "7"^^xsd:nonNegativeInteger ;
    itsrdf:taIdentRef <http://dbpedia.org/resource/Mercury_(planet)> .
"""
BLINK = json.dumps(
    {
        "context_left": "We saw",
        "mention": "Mercury",
        "context_right": "rise .",
        "query_id": "1:0",
        "label_id": 19694,
        "Wikipedia_ID": 19694,
        "Wikipedia_URL": "http://en.wikipedia.org/wiki/Mercury_(planet)",
        "Wikipedia_title": "Mercury (planet)",
    }
)
HANSEL = json.dumps(
    {"id": "x-1", "text": "水星很小。", "start": 0, "end": 2, "mention": "水星", "gold_id": "Q308", "domain": "news"}
)
TEMPEL = json.dumps(
    {
        "subset": "test",
        "target_page_id": 63449958,
        "target_qid": "Q88484856",
        "snapshot": "2021-01-01T00:00:00Z",
        "target_title": "COVID-19_pandemic_in_Portland,_Oregon",
        "category": "new",
        "mention": "COVID-19 pandemic",
        "context_left": "Xico and Xica both offered pickup service during the",
        "context_right": ", as of May 2020. ",
        "overlap_type": "AMBIGUOUS_SUBSTRING",
    }
)
FILES = [
    ("aida-conll-yago", ["train", "testa", "testb"], "AIDA-YAGO2-dataset.tsv", AIDA, 3),
    ("kore50", ["all"], "kore50-nif-2014-11-03.ttl", NIF, 1),
    ("kore50", ["all"], "kore50-nif.ttl", NIF, 1),
    ("aida-yago2-blink", ["testb"], "AIDA-YAGO2_testb.jsonl", BLINK, 1),
    ("msnbc-blink", ["all"], "msnbc_questions.jsonl", BLINK, 1),
    ("aquaint-blink", ["all"], "aquaint_questions.jsonl", BLINK, 1),
    ("ace2004-blink", ["all"], "ace2004_questions.jsonl", BLINK, 1),
    ("wned-cweb-blink", ["all"], "clueweb_questions.jsonl", BLINK, 1),
    ("wned-wiki-blink", ["all"], "wnedwiki_questions.jsonl", BLINK, 1),
    ("hansel", ["few-shot"], "hansel-few-shot-v1.jsonl", HANSEL, 1),
    ("tempel", ["test"], "2021-test.jsonl", TEMPEL, 1),
    ("hansel", ["zero-shot"], "hansel-zero-shot-v1.jsonl", HANSEL, 1),
]


def put(folder: Path, name: str, content: str) -> Path:
    path = folder / "deeper" / name
    path.parent.mkdir()
    path.write_text(content, encoding="utf8")
    return path


@pytest.mark.parametrize(("name", "splits", "file", "content", "records"), FILES, ids=lambda value: str(value)[:24])
def test_a_file_is_known_by_its_name_and_read(tmp_path, name, splits, file, content, records):
    if content == NIF:
        pytest.importorskip("pyoxigraph")
    put(tmp_path, file, content)
    report = check(tmp_path)
    (found,) = report.files
    assert report.is_readable
    assert (found.told_by, found.checksum) == ("name", "unknown")
    assert found.parts == tuple(Part(name, split) for split in splits)
    assert (found.counts.records, found.counts.gold, found.counts.outside) == (records, records, 0)


def test_the_parts_of_aida_are_told_by_the_ids_of_documents(tmp_path):
    put(tmp_path, "AIDA-YAGO2-dataset.tsv", AIDA)
    ids = {
        split: [each.id for each in dataset("aida-conll-yago", tmp_path, split)]
        for split in ("train", "testa", "testb")
    }
    assert ids == {"train": ["1 EU"], "testa": ["947testa CRICKET"], "testb": ["1163testb SOCCER"]}


def test_a_file_of_another_format_is_no_dataset_whatever_its_name(tmp_path):
    path = put(tmp_path, "msnbc_questions.jsonl", HANSEL)
    (found,) = check(path).files
    assert (found.told_by, found.format, found.parts) == ("format", "hansel", ())
