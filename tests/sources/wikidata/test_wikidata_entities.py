from __future__ import annotations

import bz2
import json
from pathlib import Path

import pytest

from entlink.documents import Entity
from entlink.sources import Page, Redirect, TypeNode, open_source
from entlink.sources.wikidata.claims import iso_date
from entlink.sources.wikidata.names import names_in
from knowledge_bases import SHARED_DATA
from wikidata_items import item, write_dump

REAL = SHARED_DATA / "wikidata"
real = pytest.mark.skipif(not REAL.exists(), reason="needs the shared samples of Wikidata")
APPLE = item(
    "Q312",
    {"en": "Apple Inc.", "fr": "Apple", "zh-hant": "蘋果公司", "zh-hans": "苹果公司"},
    descriptions={"en": "American company", "zh-hant": "科技公司"},
    aliases={"zh": ["苹果电脑公司", " "], "en": ["Apple Computer"], "mul": ["AAPL"]},
    claims={
        "P31": ["Q4830453", ("Q6881511", "preferred"), ("Q5", "deprecated")],
        "P18": ["Apple Park.jpg"],
        "P646": ["/m/0k8z"],
        "P571": ["+1976-04-01/11"],
        "P17": ["Q30", "Q30"],
        "P576": ["novalue"],
        "P112": [("somevalue", "preferred"), "Q19837"],
        "P856": ["https://www.apple.com"],
        "P279": [("Q1", "deprecated")],
    },
    sitelinks={"enwiki": "Apple Inc.", "zhwiki": "苹果公司 (美国)"},
)


def read(path: Path, language: str | None = None, **options):
    source = open_source(path, language=language, **options)
    assert source.format == "wikidata"
    return list(source.items()), source


def entity(path: Path, language: str | None = None) -> Entity:
    items, _ = read(path, language)
    return next(each.entity for each in items if isinstance(each, Page))


class TestFields:
    def test_of_a_language_written_in_several_ways(self, tmp_path):
        assert entity(write_dump(tmp_path / "a.json", [APPLE]), "zh") == Entity(
            "Q312",
            "苹果公司",  # zh-hans comes before zh-hant, and there is no zh
            "科技公司",
            ("蘋果公司", "苹果电脑公司", "AAPL"),
            ("Q6881511",),
            ("Apple Park.jpg",),
            "zh",
            external={"wikipedia": "苹果公司 (美国)", "freebase": "/m/0k8z"},
            claims={"P31": ("Q6881511",), "P571": ("1976-04-01",), "P17": ("Q30",)},
        )

    def test_in_english_by_default(self, tmp_path):
        found = entity(write_dump(tmp_path / "a.json", [APPLE]))
        assert (found.title, found.description) == ("Apple Inc.", "American company")
        assert (found.aliases, found.language) == (("Apple Computer", "AAPL"), "en")
        assert found.external["wikipedia"] == "Apple Inc."

    def test_names_of_all_languages_count_in_each(self, tmp_path):
        both = item("Q1", {"mul": "Ada Lovelace", "de": "Ada King"}, aliases={"mul": ["Ada"], "en": ["Lady"]})
        found = entity(write_dump(tmp_path / "a.json", [both]), "de")
        assert (found.title, found.aliases) == ("Ada King", ("Ada Lovelace", "Ada"))

    @pytest.mark.parametrize(
        ("labels", "aliases", "expected"),
        [
            ({"en": "Ant", "fr": "Fourmi"}, {"en": ["Ants"], "fr": ["F"]}, ("Ant", ("Ants",))),
            ({"en": "Ant"}, {"mul": ["Formica"]}, ("Ant", ("Formica",))),
            ({"xx": "", "fr": "Fourmi", "ceb": "Hulmigas"}, {"ceb": ["H"]}, ("Fourmi", ())),
        ],
    )
    def test_a_name_in_another_language_is_better_than_none(self, tmp_path, labels, aliases, expected):
        found = entity(write_dump(tmp_path / "a.json", [item("Q1", labels, aliases=aliases)]), "zh")
        assert (found.title, found.aliases) == expected

    def test_the_title_of_the_page_where_there_is_no_label(self, tmp_path):
        items, source = read(write_dump(tmp_path / "a.json", [item("Q1", sitelinks={"enwiki": "Ant"}), item("Q2")]))
        assert [each.entity.title for each in items if isinstance(each, Page)] == ["Ant"]
        assert source.left_out == {"without a label or a page": 1}

    def test_old_dumps_number_their_values_and_write_nothing_as_a_list(self, tmp_path):
        old = item("Q1", {"en": "Ant"}, claims={"P31": ["Q5"]})
        del old["claims"]["P31"][0]["mainsnak"]["datavalue"]["value"]["id"]
        old |= {"aliases": [], "descriptions": [], "sitelinks": []}
        bare = {"type": "item", "id": "Q2", "labels": {"en": {"value": "Bee"}}, "claims": []}
        items, _ = read(write_dump(tmp_path / "a.json", [old, bare]))
        assert [each.entity.types for each in items if isinstance(each, Page)] == [("Q5",), ()]

    def test_every_item_says_what_it_is_as_a_type(self, tmp_path):
        kept = item("Q1", {"en": "planet"}, claims={"P279": ["Q2", "Q3"]}, sitelinks={"enwiki": "Planet"})
        items, _ = read(write_dump(tmp_path / "a.json", [kept, item("Q2", {"en": "body"})]))
        assert [each for each in items if isinstance(each, TypeNode)] == [
            TypeNode("Q1", "planet", ("Q2", "Q3")),
            TypeNode("Q2", "body"),
        ]

    @pytest.mark.parametrize(
        ("time", "precision", "expected"),
        [
            ("+1952-03-11T00:00:00Z", 11, "1952-03-11"),
            ("+1952-03-11T12:30:00Z", 14, "1952-03-11"),
            ("+1952-03-00T00:00:00Z", 10, "1952-03"),
            ("+1952-00-00T00:00:00Z", 11, "1952"),
            ("+1952-03-11T00:00:00Z", 9, "1952"),
            ("+1950-00-00T00:00:00Z", 8, "195X"),
            ("+1950-00-00T00:00:00Z", 7, ""),
            ("-0050-00-00T00:00:00Z", 8, ""),
            ("-0044-03-15T00:00:00Z", 11, "-0043-03-15"),
            ("-0001-00-00T00:00:00Z", 9, "0000"),
            ("-13798000000-00-00T00:00:00Z", 3, ""),
            ("+00000001994-01-01T00:00:00Z", 9, "1994"),
            ("bad", 11, ""),
            ("+1952-03-11T00:00:00Z", None, ""),
        ],
    )
    def test_times_are_as_precise_as_stated(self, time, precision, expected):
        assert iso_date(time, precision) == expected


@pytest.mark.parametrize(
    ("language", "own", "wiki"),
    [
        ("zh-tw", ("zh-tw", "zh-hant", "zh-hk"), "zhwiki"),
        ("zh_CN", ("zh-cn", "zh-hans", "zh-sg"), "zhwiki"),
        ("en-gb", ("en-gb", "en", "en-ca"), "enwiki"),
        ("hr", ("hr",), "hrwiki"),
        ("zh-min-nan", ("zh-min-nan",), "zh_min_nanwiki"),
    ],
)
def test_a_way_to_write_a_language_has_the_names_and_the_wiki_of_the_language(language, own, wiki):
    found = names_in(language)
    assert (found.own[:3], found.wiki) == (own, wiki)


@pytest.mark.parametrize(
    ("wiki", "language"),
    [("zhwiki", "zh"), ("nowiki", "no"), ("zh_yuewiki", "yue"), ("be_x_oldwiki", "be-tarask"), ("frwiki", "fr")],
)
def test_the_language_of_a_wiki(wiki, language):
    assert (names_in(None, wiki).language, names_in(None, wiki).wiki) == (language, wiki)


class TestWhatIsNoItem:
    def test_is_counted_and_left_out(self, tmp_path):
        others = [
            {**item("P31", {"en": "instance of"}), "type": "property"},
            {"type": "lexeme", "id": "L1", "lemmas": {}},
            {"type": "item", "id": "Q9", "missing": ""},
            {"entity": "Q7", "redirect": "Q1"},
        ]
        items, source = read(write_dump(tmp_path / "a.json", [*others, item("Q1", {"en": "Ant"})]))
        assert source.left_out == {
            "of the kind property": 1,
            "of the kind lexeme": 1,
            "deleted or never there": 1,
        }
        assert [each for each in items if not isinstance(each, TypeNode)] == [
            Redirect("Q7", "Q1"),
            Page(Entity("Q1", "Ant", language="en")),
        ]

    def test_an_answer_for_an_id_that_was_joined_with_another(self, tmp_path):
        answer = {
            "entities": {"Q1": {**item("Q1", {"en": "Ant"}), "redirects": {"from": "Q8", "to": "Q1"}}},
            "success": 1,
        }
        path = tmp_path / "answer.json"
        path.write_text(json.dumps(answer, indent=2))
        assert Redirect("Q8", "Q1") in read(path)[0]


@real
class TestRealSamples:
    """Each field of three entities was looked up in the files by hand."""

    @pytest.mark.parametrize(
        ("name", "count"),
        [
            ("Q22.json", 1),
            ("Q30264236.json", 1),
            ("Q31.json", 1),
            ("Q51783269.json", 1),
            ("Q62653454.json", 1),
            ("Q8502.json", 1),
            ("entities", 49),
            ("sample_wikidata_items.json.bz2", 100),
            ("short_stream.json.bz2", 635),
            ("wbgetentities_response.json", 2),
        ],
    )
    def test_all_are_read(self, name, count):
        items, source = read(REAL / name, "zh")
        assert sum(isinstance(each, Page) for each in items) == count
        assert source.skipped == 0

    def test_an_institute(self):
        aliases = ("Research Institute on the Foundations of Computer Science", "IRIF")
        assert entity(REAL / "Q51783269.json") == Entity(
            "Q51783269",
            "Institut de Recherche en Informatique Fondamentale",
            "research institute located in Paris",
            aliases,
            ("Q31855",),
            language="en",
            claims={
                "P31": ("Q31855",),
                "P17": ("Q142",),
                "P159": ("Q27307362",),
                "P571": ("2016-01",),
                "P1365": ("Q3214402", "Q30262418"),
                "P1037": ("Q51788053",),
                "P749": ("Q1235608", "Q280413"),
            },
        )

    def test_an_abbess_with_a_name_in_french_only(self):
        assert entity(REAL / "Q62653454.json", "zh") == Entity(
            "Q62653454",
            "Elisabeth Hauterive",
            types=("Q5",),
            language="zh",
            claims={
                "P106": ("Q191808", "Q1646408"),
                "P611": ("Q131132",),
                "P485": ("Q2860507",),
                "P21": ("Q6581072",),
                "P31": ("Q5",),
            },
        )

    def test_a_mountain_in_chinese(self):
        found = entity(REAL / "Q8502.json", "zh")
        assert (found.title, found.description, found.aliases, found.types) == ("山", "山河大川", (), ())
        assert found.images == ("Pico Gilbo. Agosto 2005 (editada).jpg",)
        assert found.external == {"wikipedia": "山", "freebase": "/m/09d_r"}
        assert found.claims["P279"] == ("Q14524493", "Q35145263", "Q271669", "Q207326")
        assert found.claims["P1963"][0] == "P3907"
        assert not found.claims.keys() & {"P1282", "P373", "P227"}  # deprecated, a text, an identifier

    def test_the_same_whether_packed_or_not(self, tmp_path):
        path = REAL / "sample_wikidata_items.json.bz2"
        (tmp_path / "plain.json").write_bytes(bz2.decompress(path.read_bytes()))
        assert read(path, "zh")[0] == read(tmp_path / "plain.json", "zh")[0]
