"""TAC-KBP: offsets into XML files, mids, NIL with coarse types, and what counts as an error."""

from __future__ import annotations

import gzip

import pytest

from entlink import KnowledgeBase, build
from entlink.documents import Document, Link, Mention
from entlink.errors import InputError
from entlink.evaluation import EvaluationOptions, NilRule, evaluate
from entlink.formats.public import tac_kbp
from entlink.formats.public.catalogue import PUBLIC_FORMATS, tell_format
from entlink.text.folding import key_of
from format_samples import answers, error_of, skipping, write_lines

NEWS = '<?xml version="1.0"?>\n<doc id="CMN_NW_1">\n<text>\n中国 & AT&amp;T 的乌尔\n姆市\n</text>\n</doc>\n'
TALK = '<doc id="ENG_DF_2"><post author="ulm fan" id="p1">\nI like Old-\nham.\n</post></doc>\n'


def row(id: str, mention: str, place: str, entity: str, type: str = "GPE") -> str:
    return f"LDC\t{id}\t{mention}\t{place}\t{entity}\t{type}\tNAM\t1.0\tN\n"


def at(text: str, part: str, id: str) -> str:
    start = text.index(part)
    return f"{id}:{start}-{start + len(part) - 1}"


ROWS = [
    row("M1", "中国", at(NEWS, "中国", "CMN_NW_1"), "m.0d05w3"),
    row("M2", "AT&T", at(NEWS, "AT&amp;T", "CMN_NW_1"), "f_m.0k8z", "ORG"),
    row("M3", "乌尔 姆市", at(NEWS, "乌尔\n姆市", "CMN_NW_1"), "NIL00007"),
    row("M4", "ulm fan", at(TALK, "ulm fan", "ENG_DF_2"), "NIL00008", "PER"),
    row("M5", "Old-ham", at(TALK, "Old-\nham", "ENG_DF_2"), "m.05l64", "FAC"),
]


@pytest.fixture
def folder(tmp_path):
    """As a release of it is laid out, with a tab file of something else in it."""
    place = tmp_path / "data"
    (place / "source_docs" / "cmn").mkdir(parents=True)
    (place / "gold.tab").write_text("".join(ROWS), encoding="utf8")
    (place / "source_docs" / "quote_regions.tab").write_text("ENG_DF_2\t1\t5\n")
    (place / "source_docs" / "cmn" / "CMN_NW_1.nw.xml").write_text(NEWS, encoding="utf8")
    (place / "source_docs" / "ENG_DF_2.df.xml.gz").write_bytes(gzip.compress(TALK.encode()))
    return place


def test_mentions_stand_where_the_offsets_of_the_xml_say(folder):
    news, talk = tac_kbp.read(folder)
    assert list(tac_kbp.read(folder / "gold.tab")) == [news, talk]
    assert (news.id, news.language, news.meta) == ("CMN_NW_1", "zh", {"domain": "news", "language": "zh"})
    assert answers(news) == [
        ("中国", ("/m/0d05w3",)),
        ("AT&\u2060\u2060\u2060\u2060T", ("/m/0k8z",)),
        ("乌尔\n姆市", ()),
    ]
    seen = news.text.replace("\u2060", "")
    assert seen.split() == ["中国", "&", "AT&T", "的乌尔", "姆市"]  # no markup is context
    assert key_of(answers(news)[1][0]) == key_of("AT&T")
    assert len(news.text) == len(NEWS)
    assert (talk.language, talk.meta["domain"]) == ("en", "discussion forum")
    assert answers(talk) == [("ulm fan", ()), ("Old-\nham", ("/m/05l64",))]
    assert [one.nil_type for one in (*news.gold, *talk.gold)] == [None, None, "LOC", "PER", None]
    assert talk.gold[1].meta == {"type": "FAC", "mention_id": "M5", "kind": "NAM"}


def test_a_mid_that_nobody_has_is_an_error_and_not_nil(folder, tmp_path):
    """One mid is found through P646, one is not: NIL for it is wrong, even where NIL is ignored."""
    rows = [{"id": "Q148", "title": "中国", "external": {"freebase": "/m/0d05w3"}}]
    build([write_lines(tmp_path / "kb.jsonl", rows)], tmp_path / "zh.kb")
    news, _ = tac_kbp.read(folder)
    china, telephone, town = news.gold
    said = [
        Link(Mention(one.span, news.text[one.span.start : one.span.end]), entity, 0.9)
        for one, entity in ((china, "Q148"), (telephone, None), (town, None))
    ]
    with KnowledgeBase.open(tmp_path / "zh.kb") as kb:
        links = Document(news.id, news.text, links=tuple(said))
        found = evaluate([news], [links], EvaluationOptions(rules=(NilRule.REQUIRED,), rounds=0), kb=kb)
    assert (found.el.micro.correct, found.el.micro.gold) == (1, 2)
    assert found.ranking.accuracy_in_kb == 1 / 2
    assert found.ranking.accuracy == 2 / 3
    assert found.blame.misses == {"not in the knowledge base": 1}


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("LDC\tM9\tx\n", ["3 columns", "document:start-end"]),
        (row("M9", "中国", "CMN_NW_1", "NIL"), ["column 4 is 'CMN_NW_1'"]),
        (row("M9", "中国", "CMN_NW_1:9-8", "NIL"), ["ends at 8, before it starts at 9"]),
        (row("M9", "中国", "CMN_NW_1:50-51", ""), ["column 5, the entity, is empty"]),
        (
            row("M9", "德国", at(NEWS, "中国", "CMN_NW_1"), "NIL"),
            ["are '中国', not '德国'", "the end is the last one of the mention"],
        ),
        (row("M9", "中国", "CMN_NW_1:9990-9991", "NIL"), ["lie outside of its"]),
        (row("M9", "doc", at(NEWS, "doc", "CMN_NW_1"), "NIL"), ["stand in its markup, not 'doc'"]),
        (row("M9", "x", "CMN_NW_404:1-1", "NIL"), ["the document 'CMN_NW_404' is not in"]),
    ],
)
def test_a_bad_line_is_named_and_can_be_skipped(folder, line, parts):
    path = folder / "gold.tab"
    path.write_text("".join(ROWS) + line, encoding="utf8")
    message = error_of(tac_kbp.read, path)
    assert message.startswith(f"{path}, line 6: ")
    assert all(part in message for part in parts)
    found, told = skipping(tac_kbp.read, path)
    assert (len(found), told) == (2, [message])


def test_an_ltf_file_is_no_source_document(folder):
    (folder / "source_docs" / "cmn" / "CMN_NW_1.nw.xml").write_text("<LCTL_TEXT><DOC/></LCTL_TEXT>")
    assert "ltf2src.perl" in error_of(tac_kbp.read, folder)


def test_files_and_folders_are_told(folder, tmp_path):
    assert tell_format(folder).name == tell_format(folder / "gold.tab").name == "tac-kbp"
    head = (folder / "gold.tab").read_bytes()
    assert [name for name, one in PUBLIC_FORMATS.items() if one.looks_like(folder / "gold.tab", head)] == ["tac-kbp"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="no file of mentions"):
        list(tac_kbp.read(empty))
