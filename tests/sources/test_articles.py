from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.errors import SourceError
from entlink.sources import Anchor, Page, Paragraph, open_source

ARTICLE = {
    "id": "Oslo",
    "title": "Oslo",
    "subjects": ["Geography.Cities"],
    "image": "oslo.png",
    "paragraphs": [
        {"text": " ", "links": []},
        {"text": "Oslo is the capital of Norway.", "links": [[23, 29, "Norway"]]},
    ],
}


def test_article(write_rows):
    source = open_source(write_rows(ARTICLE))
    assert source.format == "articles"
    text = "Oslo is the capital of Norway."
    assert list(source) == [
        Page(
            Entity("Oslo", "Oslo", text, types=("Geography.Cities",), images=("oslo.png",)),
            (Paragraph(" "), Paragraph(text, (Anchor(23, 29, "Norway"),))),
        )
    ]


def test_optional_fields(write_rows):
    path = write_rows(
        {
            "id": 9,
            "title": "Bergen",
            "paragraphs": [],
            "aliases": ["Bjørgvin"],
            "types": ["city"],
            "subjects": ["city", "port"],
            "language": "nb",
            "created": "1070",
            "external": {"wikidata": "Q26793"},
            "valid_from": "2019",
            "valid_to": "2020",
            "image": None,
        }
    )
    (page,) = open_source(path, language="en")
    assert page == Page(
        Entity(
            "9",
            "Bergen",
            aliases=("Bjørgvin",),
            types=("city", "port"),
            language="nb",
            created="1070",
            external={"wikidata": "Q26793"},
        ),
        (),
        "2019",
        "2020",
    )


@given(st.data())
def test_links_keep_their_places(tmp_path_factory, data):
    text = data.draw(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1))
    spans = data.draw(
        st.lists(st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(lambda s: s[0] < s[1]))
    )
    article = {**ARTICLE, "paragraphs": [{"text": text, "links": [[*span, 4] for span in spans]}]}
    path = tmp_path_factory.getbasetemp() / "links.jsonl"
    path.write_text(json.dumps(article), "utf-8")
    (page,) = open_source(path)
    assert page.paragraphs == (Paragraph(text, tuple(Anchor(*span, "4") for span in spans)),)


def changed(**fields):
    return {**ARTICLE, **fields}


def linked(*link):
    return changed(paragraphs=[{"text": "a"}, {"text": "four", "links": [list(link)]}])


BAD = {
    "end outside": (
        linked(0, 5, "x"),
        r"paragraph 2: the link \[0, 5\) to 'x' does not lie in the text of 4",
    ),
    "negative start": (linked(-1, 2, "x"), r"paragraph 2: the link \[-1, 2\)"),
    "empty span": (linked(2, 2, "x"), r"paragraph 2: the link \[2, 2\)"),
    "backwards": (linked(3, 1, "x"), r"paragraph 2: the link \[3, 1\)"),
    "no target": (linked(0, 1, ""), r"paragraph 2: the link \[0, 1\) has no target"),
    "offset not a number": (
        linked("0", 1, "x"),
        r"Expected `int`, got `str` - at `\$.paragraphs\[1\].links\[0\]",
    ),
    "link too short": (linked(0, 1), r"paragraphs\[1\].links\[0\]"),
    "link too long": (linked(0, 1, "x", 5), r"paragraphs\[1\].links\[0\]"),
    "no text": (changed(paragraphs=[{"links": []}]), "missing required field `text`"),
    "no id": ({key: ARTICLE[key] for key in ("title", "paragraphs")}, "missing required field `id`"),
    "empty title": (changed(title=" "), "field 'title' is empty"),
    "empty id": (changed(id=""), "field 'id' is empty"),
    "bad date": (changed(created="yesterday"), "field 'created' holds the bad date 'yesterday'"),
    "bad start": (changed(valid_from="soon"), "field 'valid_from' holds the bad date"),
    "period": (changed(valid_from="2020", valid_to="2019"), "valid_to '2019' is not after valid_from '2020'"),
    "NUL": (changed(paragraphs=[{"text": "a\x00"}]), "field 'paragraphs' holds a NUL"),
    "wrong type": (changed(subjects=[1]), r"Expected `str`, got `int` - at `\$.subjects"),
}


@pytest.mark.parametrize(("article", "problem"), BAD.values(), ids=BAD.keys())
def test_bad_article_is_named_or_skipped(write_rows, article, problem):
    path = write_rows(ARTICLE, article, changed(id="last"))
    with pytest.raises(SourceError, match=problem) as caught:
        list(open_source(path))
    assert f"{path}, line 2: " in str(caught.value)
    source = open_source(path, on_error="skip")
    assert [page.entity.id for page in source] == ["Oslo", "last"]
    assert source.problems == [str(caught.value)]
