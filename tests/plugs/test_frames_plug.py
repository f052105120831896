from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink import BuildOptions, Entity, KnowledgeBase, Linker, load
from entlink.errors import InputError, MissingExtraError, SourceError
from entlink.plugs.frames import build_from_frame, entities_frame, link_frame

LIBRARIES = ("pandas", "polars")
LINK_FIELDS = ["start", "end", "text", "entity", "title", "score", "nil_type"]
TEXTS = ["Mercury and London", None, "nothing", "北京"]


def library(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed (the extra `{name}`)")


@pytest.fixture(params=LIBRARIES)
def frames(request: pytest.FixtureRequest) -> Any:
    """pandas, then Polars."""
    return library(request.param)


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows as plain values; what is missing is None."""
    if hasattr(frame, "to_dicts"):
        return frame.to_dicts()
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def entities_of(path: Path) -> list[Entity]:
    with KnowledgeBase.open(path) as kb:
        return list(kb)


class TestLinkFrame:
    def test_a_column_of_links(self, frames, linker: Linker):
        frame = frames.DataFrame({"key": [5, 6, 7, 8], "text": TEXTS})
        linked = link_frame(frame, linker)
        assert type(linked) is type(frame)
        assert list(linked.columns) == ["key", "text", "links"]
        assert [len(links) for links in linked["links"]] == [2, 0, 0, 1]
        assert next(iter(linked["links"]))[0] == {
            "start": 0,
            "end": 7,
            "text": "Mercury",
            "entity": "mercury-planet",
            "title": "Mercury (planet)",
            "score": 0.6,
            "nil_type": None,
        }

    def test_the_frame_given_is_not_changed(self, frames, linker: Linker):
        frame = frames.DataFrame({"text": TEXTS})
        link_frame(frame, linker)
        link_frame(frame, linker, explode=True)
        assert list(frame.columns) == ["text"]

    def test_a_row_a_link_with_its_id(self, frames, linker: Linker):
        frame = frames.DataFrame({"key": ["a", "b", "c", "d"], "body": TEXTS})
        exploded = link_frame(frame, linker, text="body", id="key", explode=True)
        assert list(exploded.columns) == ["key", *LINK_FIELDS]
        assert [(row["key"], row["entity"]) for row in rows_of(exploded)] == [
            ("a", "mercury-planet"),
            ("a", "london"),
            ("d", "beijing"),
        ]

    def test_no_rows_keep_the_types(self, frames, linker: Linker):
        frame = frames.DataFrame({"text": TEXTS})
        full, empty = (link_frame(each, linker, explode=True) for each in (frame, frame[:0]))
        assert len(empty) == 0
        assert list(empty.dtypes) == list(full.dtypes)

    def test_no_links_at_all(self, frames, linker: Linker):
        exploded = link_frame(frames.DataFrame({"text": ["nothing", None]}), linker, explode=True)
        assert len(exploded) == 0
        assert list(exploded.columns)[-len(LINK_FIELDS) :] == LINK_FIELDS

    @pytest.mark.parametrize(
        ("columns", "settings", "message"),
        [
            ({"body": ["x"]}, {}, "no column 'text'; its columns are 'body'"),
            ({"text": ["x"]}, {"id": "key"}, "no column 'key'"),
            ({"text": ["x"], "links": [1]}, {}, "a column 'links' already"),
            ({"text": ["x"], "score": [1]}, {"id": "score", "explode": True}, "Rename it first"),
            ({"text": [3]}, {}, "row 0: column 'text' holds int, not text"),
        ],
    )
    def test_columns_that_do_not_fit(self, frames, linker: Linker, columns, settings, message):
        with pytest.raises(InputError, match=message):
            link_frame(frames.DataFrame(columns), linker, **settings)

    def test_what_is_not_a_frame(self, linker: Linker):
        with pytest.raises(InputError, match="a list is not a frame"):
            link_frame([{"text": "x"}], linker)


class TestPandas:
    @pytest.fixture
    def pandas(self) -> Any:
        return library("pandas")

    def test_the_index_tells_the_row(self, pandas, linker: Linker):
        index = pandas.Index([10, 20, 10, 30], name="post")
        frame = pandas.DataFrame({"text": TEXTS}, index=index)
        assert link_frame(frame, linker).index.equals(index)
        exploded = link_frame(frame, linker, explode=True)
        assert list(exploded.columns) == LINK_FIELDS
        assert (exploded.index.name, list(exploded.index)) == ("post", [10, 10, 30])

    @pytest.mark.parametrize("dtype", ["object", "string"])
    def test_all_that_pandas_calls_missing(self, pandas, linker: Linker, dtype):
        texts = pandas.Series([None, float("nan"), pandas.NA, "London"], dtype=dtype)
        linked = link_frame(pandas.DataFrame({"text": texts}), linker)
        assert [len(links) for links in linked["links"]] == [0, 0, 0, 1]

    def test_a_subclass_is_a_frame_too(self, pandas, linker: Linker):
        class Special(pandas.DataFrame):
            pass

        assert len(link_frame(Special({"text": TEXTS}), linker, explode=True)) == 3

    def test_two_columns_of_one_name(self, pandas, linker: Linker):
        frame = pandas.DataFrame([["a", "b"]], columns=["text", "text"])
        with pytest.raises(InputError, match="more than one column named 'text'"):
            link_frame(frame, linker)
        named = pandas.DataFrame([[1, "b", "c"]], columns=["id", "title", "title"])
        with pytest.raises(SourceError, match="two columns named 'title'"):
            build_from_frame(named, "x.kb")

    def test_gaps_in_whole_numbers(self, pandas, tmp_path: Path):
        frame = pandas.DataFrame(
            {"id": [1, 2], "title": ["A", "B"], "wikidata": ["Q1", None], "created": [1999, None]}
        )
        build_from_frame(frame, tmp_path / "x.kb")
        assert entities_of(tmp_path / "x.kb") == [
            Entity("1", "A", created="1999", external={"wikidata": "Q1"}),
            Entity("2", "B"),
        ]


class TestPolars:
    @pytest.fixture
    def polars(self) -> Any:
        return library("polars")

    def test_row_numbers_tell_the_row(self, polars, linker: Linker):
        exploded = link_frame(polars.DataFrame({"text": TEXTS}), linker, explode=True)
        assert exploded.columns == ["index", *LINK_FIELDS]
        assert exploded["index"].to_list() == [0, 0, 3]

    def test_links_are_structs(self, polars, linker: Linker):
        linked = link_frame(polars.DataFrame({"text": TEXTS}), linker)
        entities = linked["links"].explode().drop_nulls().struct.field("entity").to_list()
        assert entities == ["mercury-planet", "london", "beijing"]

    def test_a_lazy_frame_stays_lazy(self, polars, linker: Linker):
        lazy = polars.LazyFrame({"text": TEXTS})
        for explode in (False, True):
            linked = link_frame(lazy, linker, explode=explode)
            assert isinstance(linked, polars.LazyFrame)
            assert linked.collect().equals(link_frame(lazy.collect(), linker, explode=explode))

    def test_not_a_number_is_missing(self, polars, linker: Linker):
        linked = link_frame(polars.DataFrame({"text": [float("nan")]}), linker)
        assert linked["links"].to_list() == [[]]

    def test_more_rows_than_a_slice(self, polars, linker: Linker, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("entlink.plugs.frames._SLICE", 2)
        exploded = link_frame(polars.DataFrame({"text": ["London"] * 5}), linker, explode=True)
        assert exploded["index"].to_list() == [0, 1, 2, 3, 4]


class TestBuild:
    def test_columns_are_found_and_mapped(self, frames, tmp_path: Path):
        frame = frames.DataFrame(
            {"sku": ["p1", "p2"], "name": ["Orion", "Vega"], "synonyms": [["O-1"], []], "kind": ["lamp", "lamp|desk"]}
        )
        manifest = build_from_frame(frame, tmp_path / "shop.kb", {"id": "sku", "types": "kind"})
        assert manifest.entities == 2
        assert entities_of(tmp_path / "shop.kb") == [
            Entity("p1", "Orion", aliases=("O-1",), types=("lamp",)),
            Entity("p2", "Vega", types=("lamp", "desk")),
        ]

    def test_cells_as_in_a_csv_file(self, frames, tmp_path: Path):
        cells = {"id": ["a"], "title": ["A"], "aliases": ['["x|y", "z"]'], "external": ['{"url": "u"}']}
        cells["claims"] = ['{"made in": ["b", "c"]}']
        build_from_frame(frames.DataFrame(cells), tmp_path / "x.kb")
        expected = Entity("a", "A", aliases=("x|y", "z"), external={"url": "u"}, claims={"made in": ("b", "c")})
        assert entities_of(tmp_path / "x.kb") == [expected]

    def test_columns_that_are_not_used_may_hold_anything(self, tmp_path: Path):
        frame = library("pandas").DataFrame({"id": ["a"], "title": ["A"], "model": [object()]})
        build_from_frame(frame, tmp_path / "x.kb")
        assert entities_of(tmp_path / "x.kb") == [Entity("a", "A")]

    def test_dates(self, frames, tmp_path: Path):
        frame = frames.DataFrame(
            {"id": ["a", "a"], "title": ["Old", "New"], "valid_from": [None, date(2018, 4, 19)]}
            | {"valid_to": [datetime(2018, 4, 19), None]}
        )
        build_from_frame(frame, tmp_path / "x.kb")
        with KnowledgeBase.open(tmp_path / "x.kb", date="2010-01-01") as kb:
            assert kb.require("a").title == "Old"
        with KnowledgeBase.open(tmp_path / "x.kb") as kb:
            assert kb.require("a").title == "New"

    def test_options_and_columns_go_together(self, frames, tmp_path: Path):
        frame = frames.DataFrame({"sku": ["a"], "titel": ["A"]})
        options = BuildOptions(columns={"title": "titel"}, language="de")
        build_from_frame(frame, tmp_path / "x.kb", {"id": "sku"}, options)
        assert entities_of(tmp_path / "x.kb") == [Entity("a", "A", language="de")]

    def test_an_existing_one_is_replaced_when_told(self, frames, tmp_path: Path):
        frame = frames.DataFrame({"id": ["a"], "title": ["A"]})
        build_from_frame(frame, tmp_path / "x.kb")
        build_from_frame(frames.DataFrame({"id": ["b"], "title": ["B"]}), tmp_path / "x.kb", replace=True)
        assert entities_of(tmp_path / "x.kb") == [Entity("b", "B")]

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"id": ["a", None], "title": ["A", "B"]}, "the frame, row 1: column 'id' is empty"),
            ({"name": ["A"]}, "the frame: there is no id"),
            ({"id": ["a"], "title": ["A"], "created": ["soon"]}, "row 0: column 'created' holds the bad date"),
            ({"id": ["a"], "title": ["A"], "aliases": ["[1]"]}, "row 0: column 'aliases' holds a number"),
            ({"id": ["a"], "title": ["A"], "external": ["?"]}, "row 0: column 'external' is text"),
        ],
    )
    def test_errors_name_the_row_of_the_frame(self, frames, tmp_path: Path, columns, message):
        with pytest.raises(SourceError, match=message):
            build_from_frame(frames.DataFrame(columns), tmp_path / "x.kb")

    def test_a_mapped_column_that_is_missing(self, frames, tmp_path: Path):
        with pytest.raises(SourceError, match="the frame: there is no column 'sku'"):
            build_from_frame(frames.DataFrame({"id": ["a"]}), tmp_path / "x.kb", {"id": "sku"})

    def test_a_value_no_file_can_hold(self, tmp_path: Path):
        frame = library("pandas").DataFrame({"id": ["a"], "title": ["A"], "types": [object()]})
        with pytest.raises(SourceError, match="the frame, row 0: a value cannot be stored"):
            build_from_frame(frame, tmp_path / "x.kb")

    def test_bad_rows_can_be_skipped(self, frames, tmp_path: Path):
        frame = frames.DataFrame({"id": ["a", None], "title": ["A", "B"]})
        manifest = build_from_frame(frame, tmp_path / "x.kb", options=BuildOptions(on_error="skip"))
        assert (manifest.entities, manifest.sources[0].skipped) == (1, 1)


class TestEntitiesFrame:
    def test_what_comes_out_goes_in_again(self, frames, toy: Path, tmp_path: Path):
        build_from_frame(entities_frame(toy, like=frames.__name__), tmp_path / "again.kb")
        assert entities_of(tmp_path / "again.kb") == entities_of(toy)

    def test_columns(self, frames, toy: Path):
        with KnowledgeBase.open(toy) as kb:
            frame = entities_frame(kb, like=frames.__name__)
            assert len(frame) == len(kb) == 12
        paris = next(row for row in rows_of(frame) if row["id"] == "paris")
        assert paris["types"] == ["city", "place"]
        assert (paris["external.wikidata"], paris["created"]) == ("Q90", None)

    def test_as_of_a_date(self, frames, toy: Path):
        with KnowledgeBase.open(toy, date="2010-01-01") as kb:
            titles = list(entities_frame(kb, like=frames.__name__)["title"])
        assert "Swaziland" in titles
        assert "Eswatini" not in titles

    def test_another_kind(self, toy: Path):
        with pytest.raises(InputError, match='"pandas" or "polars"'):
            entities_frame(toy, like="arrow")  # type: ignore[arg-type]

    @pytest.mark.parametrize("name", LIBRARIES)
    def test_without_the_library_the_extra_is_named(self, toy: Path, monkeypatch: pytest.MonkeyPatch, name):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(MissingExtraError, match=rf"entlink\[{name}\]"):
            entities_frame(toy, like=name)


def test_neither_library_is_imported_to_import_the_plug():
    code = "import sys, entlink.plugs.frames; sys.exit(bool({'pandas', 'polars'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def shared_linker(toy: Path):
    linker = load(toy)
    yield linker
    linker.kb.close()


PIECES = st.sampled_from(["Mercury", "北京", " ", "😀", "x"])


@given(st.lists(st.none() | st.lists(PIECES, max_size=6).map("".join), max_size=6))
def test_both_libraries_give_the_same_links(shared_linker: Linker, texts: list[str | None]):
    pandas, polars = library("pandas"), library("polars")
    of_pandas = pandas.DataFrame({"text": texts}, dtype=object)
    of_polars = polars.DataFrame({"text": texts}, schema={"text": polars.String})
    links = link_frame(of_pandas, shared_linker)["links"].tolist()
    assert links == link_frame(of_polars, shared_linker)["links"].to_list()
    for text, of_row in zip(texts, links, strict=True):
        assert all((text or "")[link["start"] : link["end"]] == link["text"] for link in of_row)
