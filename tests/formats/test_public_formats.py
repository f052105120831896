"""All public formats together: each knows its own files, and only these."""

from __future__ import annotations

import gzip
import io
import json
from importlib import import_module
from pathlib import Path

import pytest

from entlink.documents import Document, GoldLink, Link, Mention, Span
from entlink.errors import InputError, SourceError
from entlink.formats.public.catalogue import PUBLIC_FORMATS, public_format, tell_format

NIF = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
<http://a.b/d#char=0,8> a nif:Context ; nif:isString "Ann here" .
<http://a.b/d#char=0,3> nif:referenceContext <http://a.b/d#char=0,8> ;
    itsrdf:taIdentRef <http://dbpedia.org/resource/Ann> .
"""
CONTEXTS = {"context_left": "in", "mention": "paris", "context_right": "."}
REL = [0, 5, "Obama", "Barack_Obama", 0.9, 0.8, "PER"]
ENTS = [{"start": 0, "end": 3, "label": "PER", "kb_id": "Q1"}]
BARE_ENT = {"start": 0, "end": 3, "label": "PER"}
REFINED = {
    "text": "Ann",
    "spans": [{"text": "Ann", "start": 0, "ln": 3, "predicted_entity": {"wikidata_entity_id": "Q1"}}],
}
UTTERANCE = {"speaker": "USER", "utterance": "I like figs.", "turn_number": 0}
ANNOTATION = {"mention": "figs", "entity": "Fig"}
ELEVANT_LABEL = {"id": 0, "span": [0, 3], "entity_id": "Q1", "name": "Ann", "type": "Q5"}
MARKED = "{ Einstein } [ Albert Einstein ] won.\n"
KILT = {
    "id": "k",
    "input": "a [START_ENT] German [END_ENT] man",
    "output": [{"answer": "", "provenance": [{"title": "Germany", "score": -0.1}]}],
}
# Each with the format's name, and what tells it from others of that format. JSON values are lines of their own.
SAMPLES: dict[tuple[str, str], object] = {
    ("conel", "1"): [{"dialogue_id": 7, "turns": [{**UTTERANCE, "el_annotations": [ANNOTATION]}]}],
    ("conel", "2"): [
        {"dialogue_id": "7", "turns": [{**UTTERANCE, "el_annotations": [{**ANNOTATION, "span": [7, 11]}]}]}
    ],
    ("conel1-run", ""): [
        {"dialogue_id": "7", "turns": {"0": {"turn_number": 0, "el_tool_annotations": [ANNOTATION]}}}
    ],
    ("conel-run", "by name"): [["7", 0, "figs", "Fig"], ["7", 2, "pears", "Pear"]],
    ("conel-run", "by number"): [[7, 0, "figs", "Fig"], [7, 2, "pears", None]],
    ("elevant", ""): {"id": 0, "title": "", "text": "Ann here", "evaluation_span": [0, 8], "labels": [ELEVANT_LABEL]},
    ("tweeki", "lines"): {"id": 1, "sentence": "Ann in Ulm", "index": [[7, 10]], "link": ["Ulm|Q3012"]},
    ("tweeki", "tokens"): "# tweet_id 1\n1\tAnn\tB-PER\t-\n2\tin\tO\t-\n3\tUlm\tB-LOC\tUlm|Q3012\n",
    ("blink", ""): {"id": 1, "label": "Paris", "label_id": 5, **CONTEXTS},
    ("blink", "without label"): {"id": 1, "label": "unknown", "label_id": -1, **CONTEXTS},
    ("blink", "elq"): {"id": 1, "text": "in ohio", "mentions": [[3, 7]], "label_id": [5], "entity": ["Ohio"]},
    ("aida", ""): "-DOCSTART- (1 EU)\nEU\tB\tEU\t--NME--\nrejects\n",
    ("nif", ""): NIF,
    ("neleval", ""): "d\t0\t2\tQ1\t0.5\tPER\nd\t4\t6\tNIL1\t1.0\n",
    ("neleval", "whole scores"): "d\t0\t2\tQ1\t1\tPER\nd\t4\t6\tQ2\t-1e3\n",
    ("neleval", "candidates"): "d\t0\t2\tQ1\t0.5\tPER\tQ2\t.25\tPER\n",
    ("blink-output", ""): {"id": 1, **CONTEXTS, "predictions": ["Paris"], "scores": [1.5]},
    ("elq-output", ""): {"id": 1, "text": "in ohio", "scores": [-1.0], "pred_tuples_string": [["Ohio", "ohio"]]},
    ("rel-output", "answer"): [REL],
    ("rel-output", "batch"): {"d1": [], "d2": [REL]},
    ("genre-output", "marked"): MARKED,
    ("genre-output", "tidy"): "Then {Einstein}[Albert Einstein] won.\n",
    ("genre-output", "hypotheses"): KILT,
    ("refined-output", ""): REFINED,
    ("refined-output", "list"): [{"text": "none", "spans": []}, REFINED],
    ("spacy-output", ""): {"text": "Ann", "ents": ENTS, "tokens": [{"id": 0, "start": 0, "end": 3}]},
    ("spacy-output", "list"): [{"text": "Ann", "ents": ENTS}],
    ("spacy-output", "groups"): [
        {"text": "None here.", "ents": [], "spans": {}},
        {"text": "Ann", "ents": [BARE_ENT], "spans": {"links": ENTS}},
    ],
    ("fever", ""): {"id": 7, "label": "SUPPORTS", "claim": "Ulm is a town.", "evidence": [[[1, 2, "Ulm", 0]]]},
    ("linked-mentions", ""): {"id": "u", "text": "in Ulm", "mentions": [{"start": 3, "end": 6, "entity": "Ulm"}]},
    ("cleek", ""): {
        "id": "c",
        "text": "in Ulm",
        "mentions": [{"mention": "Ulm", "start": 3, "end": 6, "wikipedia": "Ulm"}],
    },
    ("cleek", "list"): [
        {"text": "in Ulm", "mentions": [{"mention": "Ulm", "start": 3, "end": 6, "cndbpedia": "Ulm"}]},
        {"text": "none", "mentions": []},
    ],
    ("wikidiverse", "captions"): [
        [
            "in Ulm",
            "https://x.org/Ulm.jpg",
            "travel",
            [["Ulm", "Location", 3, 6, "https://en.wikipedia.org/wiki/Ulm"]],
        ],
        ["none", "https://x.org/none.jpg", "travel", []],
    ],
    ("wikidiverse", "mentions"): [
        ["in Ulm", "https://x.org/Ulm.jpg", "Ulm", "Location", "in", "", "nil", [], "travel", 3, 6]
    ],
    ("melbench", ""): {"Q1": {"id": "Q1", "sentence": "in Ulm", "mentions": "Ulm", "answer": "Q3012"}},
    ("melbench", "list"): [{"id": "7", "sentence": "in Ulm", "imgPath": "", "mentions": ["Ulm"], "answer": ["nil"]}],
    ("hansel", ""): {"id": "h", "text": "在乌尔姆", "start": 1, "end": 4, "mention": "乌尔姆", "gold_id": "Q3012"},
    ("tempel", ""): {
        "target_page_id": 7,
        "target_qid": None,
        "snapshot": "2021-01-01T00:00:00Z",
        "target_title": "Sacramental_bread",
        **CONTEXTS,
    },
    ("jsonl", "gold"): {"id": "d", "text": "Ann", "gold": [{"start": 0, "end": 3, "entity": "Q1"}]},
    ("jsonl", "mentions"): {"id": "d", "text": "Ann", "mentions": [{"start": 0, "end": 3}]},
    ("jsonl", "links"): {"text": "Ann", "links": [{"start": 0, "end": 3, "entity": "Q1", "score": 0.5}]},
    ("jsonl", "text"): {"text": "Ann"},
}
# The head of ConEL-2's rows is taken for one without looking whether the row ends behind its entity.
MAY_BE_ONE_OBJECT = ("rel-output", "refined-output", "spacy-output")


def cases(*chosen: tuple[str, str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("name", "variant"), chosen, ids=lambda part: part or "plain")


CORRECT = "Correct it, or leave it out."
WRITTEN = [name for name, each in PUBLIC_FORMATS.items() if each.is_written]
DOCUMENT = Document("d", "Ann here", gold=(GoldLink(Span(0, 3), ("Q1",)),))


def content_of(name: str, variant: str, indent: int | None = None) -> bytes:
    sample = SAMPLES[name, variant]
    return (
        sample if isinstance(sample, str) else json.dumps(sample, ensure_ascii=False, indent=indent) + "\n"
    ).encode()


def claimants(path: Path, head: bytes) -> set[str]:
    """The formats that say a file is theirs; entlink's own takes any JSON object and is asked last."""
    return {name for name, each in PUBLIC_FORMATS.items() if name != "jsonl" and each.looks_like(path, head)}


def zeshel_folder(folder: Path) -> Path:
    (folder / "documents").mkdir(parents=True)
    (folder / "mentions").mkdir()
    place = {"context_document_id": "1", "label_document_id": "1", "corpus": "lego", "start_index": 0, "end_index": 0}
    mention = {"category": "LOW_OVERLAP", "text": "Ann", "mention_id": "M", **place}
    document = {"title": "Ann", "text": "Ann here", "document_id": "1"}
    (folder / "documents" / "lego.json").write_text(json.dumps(document) + "\n", encoding="utf8")
    (folder / "mentions" / "val.json").write_text(json.dumps(mention) + "\n", encoding="utf8")
    return folder


def test_every_format_has_a_sample():
    assert {name for name, _ in SAMPLES} | {"zeshel", "tac-kbp"} == set(PUBLIC_FORMATS)


@cases(*SAMPLES)
def test_only_its_own_format_claims_a_sample(tmp_path, name, variant):
    head = content_of(name, variant)
    assert claimants(tmp_path / "sample", head) == {name} - {"jsonl"}


@cases(*SAMPLES)
def test_a_file_is_told_and_read(tmp_path, name, variant):
    path = tmp_path / "sample.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + content_of(name, variant)))
    assert tell_format(path).name == name
    documents = list(PUBLIC_FORMATS[name].read(path))
    assert documents
    if "lacks" not in documents[0].meta:
        spans = [gold.span for gold in documents[0].gold] + [link.mention.span for link in documents[0].links]
        assert all(0 <= span.start < span.end <= len(documents[0].text) for span in spans)


@cases(*(case for case, sample in SAMPLES.items() if isinstance(sample, list) or case[0] in MAY_BE_ONE_OBJECT))
def test_a_file_over_many_lines_is_told(tmp_path, name, variant):
    path = tmp_path / "sample.json"
    path.write_bytes(content_of(name, variant, indent=2))
    assert claimants(path, path.read_bytes()) == {name}
    assert list(tell_format(path).read(path))


@cases(*(case for case in SAMPLES if case[0] != "jsonl" and case[1] != "batch"))
def test_a_long_file_is_told_by_its_head(tmp_path, name, variant):
    """Many records, with the head ending anywhere in one of them."""
    sample, once = SAMPLES[name, variant], content_of(name, variant)
    many = json.dumps(sample * 500).encode() if isinstance(sample, list) else once * 500
    for cut in range(len(many) // 2, len(many) // 2 + len(once), 7):
        assert claimants(tmp_path / "sample", many[:cut]) == {name}


def test_entities_of_spacy_without_ids_are_not_taken_for_a_text(tmp_path):
    """The reader says what is missing; as a text without links it would score 0."""
    path = tmp_path / "spacy.jsonl"
    path.write_text(json.dumps({"text": "Ann", "ents": [BARE_ENT]}) + "\n")
    assert claimants(path, path.read_bytes()) == {"spacy-output"}
    with pytest.raises(SourceError, match="line 1: its entities have no kb_id"):
        list(tell_format(path).read(path))


def test_own_documents_may_have_a_key_of_spacy(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"text": "Ann", "ents": [BARE_ENT], "gold": []}) + "\n")
    assert tell_format(path).name == "jsonl"


@pytest.mark.parametrize("score", ["nan", "NaN", "-inf", "Infinity"])
def test_a_score_that_is_no_number_is_told_with_its_line(tmp_path, score):
    path = tmp_path / "run.tsv"
    path.write_text(f"d\t0\t2\tQ1\t0.5\tPER\nd\t4\t6\tQ2\t{score}\tPER\n")
    assert claimants(path, path.read_bytes()) == {"neleval"}
    with pytest.raises(SourceError, match=f"line 2: column 5, a score, is '{score}'"):
        list(tell_format(path).read(path))


def test_gold_that_cannot_become_links_can_be_skipped(tmp_path):
    mention = {"start": 0, "end": 3, "entity": "Q1"}
    rows = [
        {"id": id, "text": "Ann", "mentions": [{**mention, "score": score}]} for id, score in enumerate([0.5, "x"])
    ]
    path = tmp_path / "mentions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    problems: list[str] = []
    read_as = PUBLIC_FORMATS["linked-mentions"].read_as
    found = list(read_as("links", path, on_error="skip", on_problem=lambda error: problems.append(str(error))))
    assert [(document.id, document.links[0].score) for document in found] == [("0", 0.5)]
    assert problems == ["document '1': the gold at 0-3, field meta.score: 'x' is not a number. " + CORRECT]
    with pytest.raises(InputError, match="document '1'"):
        list(read_as("links", path))


def test_folders(tmp_path):
    folder = zeshel_folder(tmp_path / "zeshel")
    assert claimants(folder, b"") == {"zeshel"}
    mentions = folder / "mentions" / "val.json"
    assert claimants(mentions, mentions.read_bytes()) == {"zeshel"}
    assert len(list(tell_format(folder).read(folder))) == len(list(tell_format(mentions).read(mentions))) == 1
    with pytest.raises(SourceError, match="the format is not recognised"):
        tell_format(tmp_path)


@pytest.mark.parametrize(
    "head",
    [
        b"Ann met Bob.\n",
        b"a\tb\tc\n",
        b"a,b\n1,2\n",
        b"[]\n",
        b"[1, 2]\n",
        b'["a", "b"]\n',
        b"<?xml version='1.0'?>\n",
        b"@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n",
        b"\xff\xfe\x00",
        b"",
    ],
)
def test_other_files_are_nobodys(tmp_path, head):
    assert claimants(tmp_path / "x", head) == set()
    assert not PUBLIC_FORMATS["jsonl"].looks_like(tmp_path / "x", head)


def test_what_a_module_has():
    for name, each in PUBLIC_FORMATS.items():
        module = import_module(f"entlink.formats.{each.module}")
        assert callable(module.read) and callable(module.looks_like), name
        assert hasattr(module, "write") == each.is_written, name


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_told_and_read(tmp_path, name):
    path = tmp_path / "out"
    with path.open("wb") as file:
        PUBLIC_FORMATS[name].write([DOCUMENT], file)
    assert tell_format(path).name == name
    [document] = PUBLIC_FORMATS[name].read_as("gold", path)
    assert [(gold.span, gold.entities) for gold in document.gold] == [(Span(0, 3), ("Q1",))]
    [linked] = PUBLIC_FORMATS[name].read_as("links", path)
    if name != "jsonl":  # which keeps gold and links apart
        assert [link.entity for link in linked.links] == ["Q1"]


@pytest.mark.parametrize("name", PUBLIC_FORMATS)
def test_broken_files_are_told_of(tmp_path, name):
    """Whatever a file holds, what is raised is ours and names the file."""
    path = tmp_path / "broken"
    for content in (b"{", b"\xff", b'{"id": 1}\n', b"[1]\n", b"a\tb\n", b"-DOCSTART- (1)\na\tB\n"):
        path.write_bytes(content)
        try:
            list(PUBLIC_FORMATS[name].read(path))
        except InputError as error:
            assert str(path) in str(error)


def test_open_files_are_read_too():
    file = io.BytesIO(content_of("aida", ""))
    assert [document.id for document in PUBLIC_FORMATS["aida"].read(file)] == ["1 EU"]


def test_names():
    assert public_format("nif").module == "public.nif"
    with pytest.raises(SourceError, match=r"Did you mean 'neleval'\?"):
        public_format("nelval")


def test_links_of_one_format_in_another(tmp_path):
    """Links of a run go through GERBIL's format and come back with their scores."""
    path = tmp_path / "out.ttl"
    linked = Document("d", "Ann here", links=(Link(Mention(Span(0, 3), "Ann"), "Q1", 0.5),))
    with path.open("wb") as file:
        PUBLIC_FORMATS["nif"].write([linked], file)
    assert list(PUBLIC_FORMATS["nif"].read_as("links", path)) == [linked]
