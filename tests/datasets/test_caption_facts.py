"""What is said of captions and mentions: likeness to titles, types and topics, near-copies, statistics, the sheet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("PIL")

from entlink.datasets.captions import CaptionOptions, build_captions
from entlink.datasets.captions.documents import likeness, words_of
from entlink.datasets.captions.entity_types import TYPE_LISTS, Rules, Typer, own_rows, read_rows
from entlink.datasets.captions.statistics import BUCKETS, bucket
from entlink.errors import InputError
from entlink.formats.documents.lines import read_documents
from entlink.kb.knowledge_base import KnowledgeBase
from knowledge_bases import SHARED_DATA, article, make_kb
from tiny_pictures import picture

CAPTIONS = SHARED_DATA / "schools_wikipedia" / "captions.jsonl.xz"


@pytest.mark.parametrize(
    ("surface", "title", "expected"),
    [
        ("Mercury", "Mercury", "title"),
        ("Great Tit", "Great_Tit", "title"),
        ("great-tit", "Great Tit", "folded"),
        ("Mercury", "Mercury (planet)", "partly"),
        ("Monet's", "Claude Monet", "partly"),
        ("French", "France", "different"),
        ("北京市", "北京", "partly"),
        ("京", "上海", "different"),
    ],
)
def test_how_a_mention_is_like_a_title(surface, title, expected):
    assert likeness(surface, title) == expected


WORD = st.text("abcdé", min_size=1, max_size=4)


@given(st.lists(WORD, min_size=1, max_size=4), st.lists(WORD, min_size=1, max_size=4))
def test_likeness_is_what_the_words_have_in_common(surface, title):
    found = likeness(" ".join(surface), " ".join(title))
    if surface == title:
        assert found == "title"
    else:
        assert found == ("partly" if {*surface} & {*title} else "different")


@pytest.mark.parametrize(("text", "words"), [("a b  c.", 3), ("", 0), ("北京 2008 fun", 4)])
def test_words_are_counted_in_any_script(text, words):
    assert words_of(text) == words


@given(st.integers(0, 1000))
def test_every_number_of_candidates_has_its_bucket(number):
    low, _, high = bucket(number).replace("none", "0").replace("more than 10", "11-1000").partition("-")
    assert bucket(number) in BUCKETS
    assert int(low) <= number <= int(high or low)


def test_the_first_row_that_fits_names_a_type():
    rules = Rules([("Bird", "animal.bird"), ("Animal", "animal*"), ("Late bird", "animal.bird")])
    assert [rules.first(types) for types in (["x", "animal.bird"], ["animal.cat"], ["x"], [])] == [
        "Bird",
        "Animal",
        None,
        None,
    ]


@pytest.mark.parametrize("type_list", TYPE_LISTS)
def test_items_of_wikidata_have_the_types_of_both_lists(tmp_path, type_list):
    items = {
        "ann": ["Q5"],
        "firm": ["Q783794"],
        "hill": ["Q8502"],
        "land": ["Q6256"],
        "war": ["Q198"],
        "film": ["Q11424"],
        "coin": ["Q8142"],
        "idea": ["Q151885"],
        "none": [],
    }
    folder = make_kb(tmp_path, [article(id, id, "x", types=types) for id, types in items.items()])
    with KnowledgeBase.open(folder) as kb:
        kb.set_types(hierarchy=[("Q198", "Q1656682")])
        typer = Typer(kb, type_list, ())
        found = [typer.of(id) for id in items]
    person, organization, location, country, event, works, misc = TYPE_LISTS["annotation"]
    if type_list == "annotation":
        assert found == [person, organization, location, country, event, works, misc, misc, None]
    else:
        persons, organizations, locations, events, works, currency, others = TYPE_LISTS["guidelines"]
        assert found == [persons, organizations, locations, locations, events, works, currency, others, None]


def test_coarse_types_of_the_lists_names_are_taken(tmp_path):
    folder = make_kb(tmp_path, [article("a", "A", "x", types=["poem"]), article("b", "B", "x", types=["rock"])])
    with KnowledgeBase.open(folder) as kb:
        kb.set_types(coarse=[("works", "poem")])
        typer = Typer(kb, "annotation", ())
        assert [typer.of("a"), typer.of("b")] == ["Works", "Misc"]


def test_every_row_of_entlink_names_a_type_of_its_list():
    for of, name, _ in own_rows():
        assert name in TYPE_LISTS[of]  # type: ignore[index]


def test_rows_of_the_user_are_read(tmp_path):
    path = tmp_path / "types.tsv"
    path.write_text("Bird\tanimal.*\nSea\tplace.port\n")
    assert read_rows(path) == (("Bird", "animal.*"), ("Sea", "place.port"))
    path.write_text("")
    with pytest.raises(InputError, match="there is no row in it"):
        read_rows(path)


@pytest.fixture
def pictured(tmp_path, monkeypatch) -> Path:
    """A tiny encoder, pictures, a knowledge base with an index over its own, and a caption of each kind."""
    pytest.importorskip("torch")
    from entlink.encoders.images.dual import load_picture_dual
    from entlink.encoders.models.pulling import pull
    from tiny_pictures import lite_folder

    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pull("tiny-lite", lite_folder(tmp_path / "lite"))
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in (1, 2):
        (folder / f"e{number}.png").write_bytes(picture(number))
    (folder / "same.png").write_bytes(picture(1))
    (folder / "near.png").write_bytes(picture(1, compress_level=0))  # other bytes, the same picture
    rows = [article(f"e{number}", f"Thing {number}", "x", image=f"e{number}.png") for number in (1, 2)]
    with KnowledgeBase.open(make_kb(tmp_path, [*rows, article("plain", "Plain", "x")])) as kb:
        kb.index(vectors=[load_picture_dual("tiny-lite", pictures=folder)])
    text = "Thing 1, Thing 2, Plain"
    mentions = [{"start": 0, "end": 7, "entity": "e1"}, {"start": 9, "end": 16, "entity": "e2"}]
    mentions.append({"start": 18, "end": 23, "entity": "plain"})
    lines = [
        {"page": name, "image": name, "caption": text, "mentions": mentions}
        for name in ("same.png", "near.png", "gone.jpg")
    ]
    (tmp_path / "captions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return tmp_path


def marks(folder: Path, **options) -> list[list[str | None]]:
    chosen = CaptionOptions(processes=1, split={"all": 1.0}, **options)
    out = folder / "set"
    build_captions(
        folder / "captions.jsonl", out, chosen, kb=folder / "made.kb", pictures=folder / "pictures", replace=True
    )
    return [[gold.meta.get("picture") for gold in one.gold] for one in read_documents(out / "all.jsonl")]


def test_near_copies_are_marked_or_left_out(pictured):
    from entlink.encoders.images.loading import load_picture_encoder

    names = ("near.png", "e1.png", "e2.png")
    near, own, other = load_picture_encoder("tiny-lite").encode(
        [(pictured / "pictures" / name).read_bytes() for name in names]
    )
    assert near @ other < near @ own
    above = float(near @ other + near @ own) / 2
    assert float(own @ other) < above
    expected = [["own", None, None], ["near-copy", None, None], [None, None, None]]
    assert marks(pictured, near_copies=above) == expected
    assert marks(pictured) == [["own", None, None], [None, None, None], [None, None, None]]
    assert [len(one) for one in marks(pictured, near_copies=above, same_picture="drop")] == [2, 2, 3]
    left = [
        [mention.text for mention in one.mentions or ()] for one in read_documents(pictured / "set" / "all.jsonl")
    ]
    assert left[1] == ["Thing 2", "Plain"]


def test_near_copies_need_an_index_over_pictures(pictured):
    make_kb(pictured, [article("e1", "Thing 1", "x")], name="bare")
    with pytest.raises(InputError, match=r"there is none\. Run `entlink kb index .* --pictures"):
        build_captions(
            pictured / "captions.jsonl",
            pictured / "set",
            CaptionOptions(near_copies=0.7),
            kb=pictured / "bare.kb",
            pictures=pictured / "pictures",
        )


def test_captions_that_lose_all_to_near_copies_go(pictured):
    marks(pictured, near_copies=1.0, same_picture="drop", min_mentions=3)
    card = json.loads((pictured / "set" / "card.json").read_text())
    assert card["captions"] == {"kept": 2, "kept without picture": 1, "read": 3, "too few mentions": 1}


def test_the_datasheet_has_the_published_figures_beside(pictured):
    chosen = CaptionOptions(processes=1)
    build_captions(pictured / "captions.jsonl", pictured / "set", chosen, kb=pictured / "made.kb")
    sheet = (pictured / "set" / "DATASHEET.md").read_text()
    assert "| pairs, published | 6,377 | 796 | 796 | 7,969 |" in sheet
    assert "| words per pair, published | 10.07 | 10.28 | 9.92 | 10.08 |" in sheet
    assert "| different as written | 0.00% | 51.31% |" in sheet
    assert "| totally different: no token in common once folded | 0.00% | 16.05% |" in sheet
    assert "| none | 0.00% | 15.26% |" in sheet and "| more than 10 | 0.00% | 48.63% |" in sheet


@pytest.mark.skipif(not CAPTIONS.exists(), reason=f"the real data is not at {CAPTIONS}")
def test_the_schools_captions_are_all_there(tmp_path):
    """A knowledge base of their entities' ids alone is enough to count them."""
    import lzma

    with lzma.open(CAPTIONS, "rt", encoding="utf8") as file:
        rows = [json.loads(line) for line in file]
    ids = sorted({mention["entity"] for one in rows for mention in one["mentions"]})
    kb = make_kb(tmp_path, (article(id, id, "x") for id in ids))
    report = build_captions(CAPTIONS, tmp_path / "set", CaptionOptions(processes=1, min_words=1), kb=kb)
    linked = [one for one in rows if one["mentions"]]
    assert (report.total.pairs, report.total.linked) == (len(linked), sum(len(one["mentions"]) for one in linked))
    assert (report.total.pairs, report.total.linked, report.total.nil) == (2256, 2816, 0)
