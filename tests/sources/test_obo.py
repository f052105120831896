"""OBO ontologies: what a term becomes, what is left out, and what is wrong with a line."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.errors import SourceError
from entlink.sources import open_source

HEADER = 'format-version: 1.2\ndefault-namespace: tools\nremark: a set {of} "two\n\n'
SAW = r"""[Term]
id: T:1 ! the first
name: saw
namespace: cutting
alt_id: T:90
alt_id: T:91 {source="old"}
def: "A blade with teeth; a \"handsaw\" cuts wood\, too! {sic}" [book:1, http\://a.b/c] {note="x ! y"} ! by hand
comment: not read
synonym: "hand saw" EXACT [book:1]
synonym: "cutter" BROAD []
synonym: "jigsaw" narrow []
synonym: "panel saw" NARROW common_name []
synonym: "sägeblatt {old}" RELATED [] {lang="de"}
synonym: "toothed blade" [BOOK:2]
exact_synonym: "woodsaw" []
synonym: "saw" EXACT []
xref: UMLS:C001 "Saw"
xref: UMLS:C002
xref: UMLS:C001
xref: https\://example.org/saw
is_a: T:2 {is_inferred="true"} ! blade
is_a: T:3 ! hand tool
relationship: part_of T:4 ! tool box
relationship: part_of T:5
creation_date: 2009-04-28T10:29:37Z
"""
BLADE = "[Term]\nid: T:2\nname: blade \\\nof steel\n"
OBSOLETE = "[Term]\nid: T:8\nname: old saw\nis_obsolete: true\nreplaced_by: T:1\n"
OTHERS = "[Typedef]\nid: part_of\nname: part of\nbad line\n\n[Term]\nid: T:3\n\n[Instance]\nid: I:1\nname: my saw\n"


def test_a_term_is_an_entity_with_all_that_its_stanza_says(write):
    source = open_source(write("tools.obo", HEADER + SAW + "\n" + BLADE + "\n" + OBSOLETE + "\n" + OTHERS))
    assert source.format == "obo"
    saw, blade = (page.entity for page in source)
    assert saw == Entity(
        "T:1",
        "saw",
        'A blade with teeth; a "handsaw" cuts wood, too! {sic}',
        aliases=("hand saw", "sägeblatt {old}", "toothed blade", "woodsaw"),
        types=("cutting",),
        created="2009-04-28T10:29:37Z",
        external={
            "UMLS": "C001",
            "UMLS 2": "C002",
            "url": "https://example.org/saw",
            "alt_id": "T:90",
            "alt_id 2": "T:91",
            "replaces": "T:8",
        },
        claims={"is_a": ("T:2", "T:3"), "part_of": ("T:4", "T:5")},
    )
    assert blade == Entity("T:2", "blade of steel", types=("tools",))
    assert source.left_out == {"marked obsolete": 1, "without a name": 1}
    assert source.position() == source.size


@pytest.mark.parametrize(
    ("stanza", "line", "problem"),
    [
        ("id: T:1\nname: a\njust words\n", 4, "'just words' is no tag"),
        ('id: T:1\nname: a\ndef: "open\n', 4, "the quoted text of def does not end"),
        ("id: T:1\nid: T:2\nname: a\n", 1, "the term has 2 ids"),
        ("name: a\n", 1, "the term has no id"),
        ("id: T:1\nname: a\ncreation_date: soon\n", 4, "creation_date"),
        (b"id: T:1\nname: a\nis_obsolete: true\xff\n", 4, "0xff, is not valid UTF-8"),
    ],
)
def test_a_bad_line_is_named_and_its_term_can_be_left_out(write, stanza, line, problem):
    stanza = stanza.encode() if isinstance(stanza, str) else stanza
    path = write("a.obo", b"[Term]\n" + stanza + b"\n[Term]\nid: T:7\nname: whole\n")
    with pytest.raises(SourceError, match=problem) as caught:
        list(open_source(path))
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    source = open_source(path, on_error="skip")
    kept = [page.entity for page in source]
    assert [one.id for one in kept] == (["T:1", "T:7"] if problem == "creation_date" else ["T:7"])
    assert kept[0].created is None
    assert source.problems == [str(caught.value)]


def test_a_packed_ontology_becomes_a_knowledge_base_found_by_every_identifier(write, tmp_path):
    from entlink import KnowledgeBase, build

    path = write("tools.obo.gz", gzip.compress((HEADER + OBSOLETE + SAW + BLADE).encode()))
    build([path], tmp_path / "tools.kb")
    with KnowledgeBase.open(tmp_path / "tools.kb") as kb:
        for identifier in ("T:1", "T:8", "T:91", "UMLS:C001", "C002"):
            assert kb.require(identifier).title == "saw"
        assert [one.entity for one in kb.aliases("hand saw")] == ["T:1"]
        assert kb.require("T:1").claims["is_a"] == ("T:2", "T:3")


def test_the_last_line_may_end_in_a_backslash(write):
    [page] = open_source(write("a.obo", "[Term]\nname: saw\nid: T:1\\"))
    assert page.entity.id == "T:1"


TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")) | st.sampled_from(' "!{}\\[]:,'), min_size=1)
WORDS = TEXTS.map(str.strip).filter(bool)


def escaped(text: str) -> str:
    """As the specification of OBO 1.2 wants it: each sign with a meaning behind a backslash."""
    return "".join(f"\\{sign}" if sign in '"!{}\\[]:,' else sign for sign in text)


@settings(max_examples=60)
@given(WORDS, WORDS, st.lists(WORDS, unique=True, max_size=3))
def test_what_is_escaped_is_read_as_it_was(tmp_path_factory, name, definition, synonyms):
    stanza = [f"name: {escaped(name)} ! comment", f'def: "{escaped(definition)}" []']
    stanza += [f'synonym: "{escaped(one)}" EXACT []' for one in synonyms]
    path = tmp_path_factory.mktemp("obo") / "a.obo"
    path.write_text("\n".join(["[Term]", "id: T:1", *stanza]), encoding="utf8")
    [page] = open_source(path)
    assert (page.entity.title, page.entity.description) == (name, definition)
    assert page.entity.aliases == tuple(one for one in synonyms if one != name)


@pytest.mark.parametrize("name", ['5" pipe', '"quoted', "a {set} of", "what!", "C++ \\(language\\)"])
def test_a_name_may_have_signs_that_mean_something_elsewhere(write, name):
    [page] = open_source(write("a.obo", f"[Term]\nid: T:1\nname: {name}\n"))
    assert page.entity.title == name.replace("\\", "")
