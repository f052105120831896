"""Captioned pictures to a set: what is in it, from lines and from a wiki, whoever makes it and however often."""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
from io import BytesIO
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("PIL")

from entlink.datasets.captions import CaptionOptions, build_captions, steps
from entlink.datasets.captions.build import CaptionsReport
from entlink.errors import EntlinkError, ExistsError, InputError, SourceError
from entlink.formats.documents.lines import read_documents
from entlink.kb.build.from_sources import BuildOptions, build
from knowledge_bases import article, make_kb, paragraph
from tiny_pictures import picture
from wiki_dumps import WikiPage, export

ONE = {"processes": 1}
ROWS = [
    article("harbour", "Harbour", "Of [[gull|gulls]].", types=["place.port"], image="harbour.png"),
    article("gull", "Gull", "A bird.", types=["animal.bird"], image="gull.gif", aliases=["seagull"]),
    article("tern", "Tern (bird)", "A bird.", types=["animal.bird"], image="other/tern.png"),
    article("ann", "Ann Lee", "A painter.", types=["person"]),
    article("thing", "Thing", "No types."),
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory) -> Path:
    return make_kb(tmp_path_factory.mktemp("captions"), ROWS)


@pytest.fixture
def pictures(tmp_path) -> Path:
    folder = tmp_path / "pictures"
    (folder / "other").mkdir(parents=True)
    (folder / "harbour.png").write_bytes(picture(1))
    (folder / "gull.gif").write_bytes(picture(2, kind="GIF"))
    (folder / "other" / "tern.png").write_bytes(picture(3))
    (folder / "copy.png").write_bytes(picture(3))
    (folder / "scan.tif").write_bytes(picture(4, kind="TIFF"))
    (folder / "cut.jpg").write_bytes(picture(5, (200, 200), "JPEG")[:300])
    (folder / "text.jpg").write_text("no picture")
    (folder / "Clip.jpg").write_bytes(picture(6, kind="JPEG"))
    return folder


def row(page: str, image: str, marked: str, **fields) -> dict:
    """A line of captions; links are written `[[id|surface]]`, and NIL `[[|surface]]`."""
    written = paragraph(marked.replace("[[|", "[[NIL|"))
    mentions = [
        {"start": start, "end": end, "entity": None if target == "NIL" else target}
        for start, end, target in written["links"]
    ]
    return {"page": page, "image": image, "caption": written["text"], "mentions": mentions, **fields}


def lines(tmp_path: Path, *rows: dict, name: str = "captions.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf8")
    return path


def made(tmp_path: Path, kb: Path, *rows: dict, pictures: Path | None = None, **options) -> CaptionsReport:
    """The set `set` of these lines, in one file."""
    chosen = CaptionOptions(**{**ONE, "split": {"all": 1.0}, **options})
    return build_captions(lines(tmp_path, *rows), tmp_path / "set", chosen, kb=kb, pictures=pictures, replace=True)


def documents(tmp_path: Path, name: str = "all"):
    return list(read_documents(tmp_path / "set" / f"{name}.jsonl"))


def test_a_caption_becomes_a_document_with_its_picture(kb, pictures, tmp_path):
    report = made(
        tmp_path,
        kb,
        row("harbour", "harbour.png", "Two [[gull|seagulls]] and [[|Bo the dog]]", language="en", topic="travel"),
        pictures=pictures,
    )
    (document,) = documents(tmp_path)
    assert (document.id, document.text, document.language) == ("harbour#1", "Two seagulls and Bo the dog", "en")
    assert document.meta == {"page": "Harbour", "topic": "travel", "image": "harbour.png"}
    assert [image.uri for image in document.images] == ["../pictures/harbour.png"]
    assert (tmp_path / "set" / document.images[0].uri).is_file()
    assert [mention.text for mention in document.mentions] == ["seagulls", "Bo the dog"]
    gull, dog = document.gold
    assert (gull.entities, dog.entities, dog.nil_type) == (("gull",), (), None)
    assert gull.meta == {"title": "Gull", "surface": "different", "candidates": 1, "type": "Misc"}
    assert report.captions == {"kept": 1, "read": 1}


def test_the_card_has_what_the_files_have(kb, pictures, tmp_path):
    rows = [row(f"p{number}", "harbour.png", "A [[gull|Gull]] on the [[|quay wall]] here") for number in range(40)]
    shares = {"train": 0.6, "dev": 0.2, "test": 0.2}
    report = made(tmp_path, kb, *rows, pictures=pictures, split=shares)
    folder = tmp_path / "set"
    written = msgspec.json.decode((folder / "card.json").read_bytes(), type=CaptionsReport)
    assert written == report
    assert sorted(path.name for path in folder.iterdir()) == [
        "DATASHEET.md",
        "card.json",
        "dev.jsonl",
        "test.jsonl",
        "train.jsonl",
    ]
    assert [path.name for path in tmp_path.iterdir() if "set" in path.name] == ["set"]
    assert sum(file.statistics.pairs for file in report.files) == report.total.pairs == 40
    for file in report.files:
        content = (folder / file.name).read_bytes()
        found = documents(tmp_path, file.name.removesuffix(".jsonl"))
        assert file.sha256 == hashlib.sha256(content).hexdigest()
        assert 0 < file.statistics.pairs == len(found)
        assert file.statistics.mentions == 2 * file.statistics.linked == 2 * file.statistics.nil == 2 * len(found)
        assert (file.statistics.words_per_pair, file.statistics.pages) == (7.0, len(found))
    assert report.total.candidates == {"1": 40, "none": 40}
    assert report.total.surfaces == {"title": 40}
    assert report.total.types == {"Misc": 40, "not known": 40}


def test_a_page_is_in_one_file_whatever_else_is_there(kb, tmp_path):
    rows = [row(f"p{number % 9}", f"{number}.png", "A [[gull|Gull]] of some kind") for number in range(36)]
    shares = {"a": 0.5, "b": 0.5}
    made(tmp_path, kb, *rows, split=shares)
    place = {one.id.partition("#")[0]: name for name in shares for one in documents(tmp_path, name)}
    ids = [one.id for name in shares for one in documents(tmp_path, name)]
    assert len(set(ids)) == len(ids) == 36
    assert set(place.values()) == {"a", "b"}
    for name in shares:
        assert {place[one.id.partition("#")[0]] for one in documents(tmp_path, name)} == {name}
    made(tmp_path, kb, *rows[:3], split=shares)
    assert {one.id.partition("#")[0]: name for name in shares for one in documents(tmp_path, name)}.items() <= (
        place.items()
    )


def test_captions_are_left_out_for_a_reason(kb, pictures, tmp_path):
    gull = "A [[gull|Gull]] over the sea"
    report = made(
        tmp_path,
        kb,
        row("a", "harbour.png", "Nothing is linked here"),
        row("a", "harbour.png", "[[gull|Gull]] flying"),
        row("a", "harbour.png", "A damned [[gull|Gull]] again"),
        row("a", "song.ogg", gull),
        row("a", "film.webm", gull),
        row("a", "gone.png", gull),
        row("a", "cut.jpg", gull),
        row("a", "text.jpg", gull),
        row("a", "Clip.ogv", gull),
        pictures=pictures,
        profanity=("damned",),
    )
    assert report.captions == {
        "kept": 2,
        "kept as the frame of a video": 1,
        "kept without picture": 1,
        "picture unreadable": 2,
        "profane": 1,
        "read": 9,
        "short": 1,
        "sound": 1,
        "video": 1,
        "without mentions": 1,
    }
    assert report.named == [
        "sound: song.ogg of a",
        "video: film.webm of a",
        "picture unreadable: cut.jpg of a",
        "picture unreadable: text.jpg of a",
    ]
    missing, frame = documents(tmp_path)
    assert (missing.id, missing.images, missing.meta["image"]) == ("a#6", (), "gone.png")
    assert (frame.images[0].uri, frame.meta["video"]) == ("../pictures/Clip.jpg", True)
    assert "- video: film.webm of a" in (tmp_path / "set" / "DATASHEET.md").read_text(encoding="utf8")


def test_missing_pictures_nil_and_short_captions_by_option(kb, pictures, tmp_path):
    rows = [row("a", "gone.png", "A [[gull|Gull]]"), row("b", "harbour.png", "[[gone|Gone]] and [[gull|Gull]]")]
    report = made(tmp_path, kb, *rows, pictures=pictures, missing="drop", nil="drop", min_words=0)
    assert report.captions == {"kept": 1, "picture missing": 1, "read": 2}
    assert report.mentions == {"NIL, dropped": 1}
    (document,) = documents(tmp_path)
    assert [gold.entities for gold in document.gold] == [("gull",)]
    with pytest.raises(InputError, match=r"no caption is left .*too few mentions 2.*Check"):
        made(tmp_path, kb, *rows, pictures=pictures, nil="drop", min_words=0, min_mentions=2)


def test_pictures_are_made_readable(kb, pictures, tmp_path):
    from PIL import Image

    rows = [row("a", name, "A [[ann|painter]] at work") for name in ("gull.gif", "scan.tif", "harbour.png")]
    made(tmp_path, kb, *rows, pictures=pictures)
    names = [one.images[0].uri for one in documents(tmp_path)]
    assert names == ["pictures/gull.gif.png", "pictures/scan.tif.png", "../pictures/harbour.png"]
    for name in names:
        with Image.open(tmp_path / "set" / name) as shown:
            assert (shown.format, shown.size) == ("PNG", (48, 40))


@pytest.mark.parametrize("top", ["", "images/"])
def test_pictures_of_a_tar_go_into_the_set(kb, pictures, tmp_path, top):
    tar = tmp_path / "pictures.tar"
    with tarfile.open(tar, "w") as archive:
        for name in ("other/tern.png", "harbour.png"):
            archive.add(pictures / name, f"{top}{name}")
        outside = tarfile.TarInfo(f"{top}../outside.png")
        outside.size = 1
        archive.addfile(outside, BytesIO(b"x"))
    shutil.rmtree(pictures)
    rows = [row("a", name, "A [[ann|painter]] at work") for name in ("other/tern.png", "harbour.png", "gone.png")]
    report = made(tmp_path, kb, *rows, pictures=tar)
    assert [[image.uri for image in one.images] for one in documents(tmp_path)] == [
        ["pictures/other/tern.png"],
        ["pictures/harbour.png"],
        [],
    ]
    assert (tmp_path / "set" / "pictures" / "other" / "tern.png").read_bytes() == picture(3)
    assert report.pictures == "pictures.tar"
    assert not (tmp_path / "outside.png").exists()


def test_a_tar_that_is_cut_off_is_an_error(kb, pictures, tmp_path):
    tar = tmp_path / "pictures.tar"
    with tarfile.open(tar, "w") as archive:
        for number in range(9):
            archive.add(pictures / "scan.tif", f"{number}.tif")
    tar.write_bytes(tar.read_bytes()[: -tar.stat().st_size // 2])
    with pytest.raises(SourceError, match=r"pictures\.tar: the pictures cannot be taken out"):
        made(tmp_path, kb, row("a", "scan.tif", "A [[ann|painter]] at work"), pictures=tar)
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("name", ["x" * 300 + ".svg", "nul\0.png", "..", "other"])
def test_names_that_no_picture_can_have_are_missing(kb, pictures, tmp_path, name):
    report = made(tmp_path, kb, row("a", name, "A [[ann|painter]] at work"), pictures=pictures)
    assert report.captions == {"kept": 1, "kept without picture": 1, "read": 1}


def test_copied_pictures_make_a_set_that_can_be_moved(kb, pictures, tmp_path):
    made(tmp_path, kb, row("a", "harbour.jpg", "A [[ann|painter]] at work"), pictures=pictures, copy_pictures=True)
    (document,) = documents(tmp_path)
    assert document.images[0].uri == "pictures/harbour.jpg.png"  # found as PNG, and called so
    assert (tmp_path / "set" / document.images[0].uri).read_bytes() == picture(1)


def test_an_entity_with_the_picture_of_the_caption_is_marked(kb, pictures, tmp_path):
    rows = [
        row("a", "Harbour.png", "At the [[harbour|Harbour]] with a [[gull|Gull]]"),  # by its name
        row("b", "copy.png", "A diving [[tern|Tern]]"),  # by what is in it
        row("c", "scan.tif", "A flying [[tern|Tern]]"),
    ]
    shutil.copy(pictures / "harbour.png", pictures / "Harbour.png")
    report = made(tmp_path, kb, *rows, pictures=pictures)
    marks = [[gold.meta.get("picture") for gold in one.gold] for one in documents(tmp_path)]
    assert marks == [["own", None], ["own"], [None]]
    assert report.total.same_picture == {"own": 2}
    report = made(tmp_path, kb, *rows, pictures=pictures, same_picture="drop")
    assert report.mentions == {"own picture, dropped": 2}
    assert [[gold.entities for gold in one.gold] for one in documents(tmp_path)] == [[("gull",)], [("tern",)]]
    assert [one.id for one in documents(tmp_path)] == ["a#1", "c#1"]


def test_types_and_topics_are_the_users_where_they_are_given(kb, tmp_path):
    rows = [row("harbour", "x.png", "The [[gull|Gull]], [[ann|Ann]], a [[harbour|port]], a [[thing|thing]]")]
    made(
        tmp_path,
        kb,
        *rows,
        types=(("Bird", "animal.*"), ("Location", "place.port"), ("Person", "person")),
        topics=(("Sea", "place.*"),),
    )
    (document,) = documents(tmp_path)
    assert [gold.meta.get("type") for gold in document.gold] == ["Bird", "Person", "Location", None]
    assert document.meta["topic"] == "Sea"
    made(tmp_path, kb, *rows, type_list="guidelines")
    (document,) = documents(tmp_path)
    assert [gold.meta.get("type") for gold in document.gold] == ["others", "others", "others", None]
    assert document.meta["topic"] == "place.port"


def test_captions_of_a_wiki(tmp_path):
    wiki = tmp_path / "wiki.xml"
    text = """[[File:Harbour.png|thumb|The [[Harbour|port]] of [[Nowhere]] with a [[bird]]]]
[[File:Map.svg|120px|A map of the [[Harbour]]]]
<gallery>
Gull.png|A [[Gull]] on a post
</gallery>
A [[Harbour]] is a place.
[[Category:Places]]"""
    pages = [
        WikiPage("Harbour", text),
        WikiPage("Gull", "A gull is a bird. [[Category:Animals]]"),
        WikiPage("Bird", redirect="Gull"),
    ]
    wiki.write_text(export(pages), encoding="utf8")
    kb = tmp_path / "wiki.kb"
    build([wiki], kb, BuildOptions(processes=1, count_text=False))
    report = build_captions(
        wiki, tmp_path / "set", CaptionOptions(**ONE, split={"all": 1.0}, topics=(("Sights", "Places"),)), kb=kb
    )
    found = documents(tmp_path)
    assert [one.id for one in found] == ["Harbour#1", "Harbour#2", "Harbour#3"]
    assert [one.images[0].uri for one in found] == ["Harbour.png", "Map.svg", "Gull.png"]
    assert [one.text for one in found] == [
        "The port of Nowhere with a bird",
        "A map of the Harbour",
        "A Gull on a post",
    ]
    assert [gold.entities for gold in found[0].gold] == [("Harbour",), (), ("Gull",)]
    assert found[0].gold[1].meta == {"title": "Nowhere", "candidates": 0}
    assert {one.meta["topic"] for one in found} == {"Sights"}
    assert (report.sources[0].format, report.sources[0].records, report.total.nil) == ("mediawiki", 3, 1)


def test_the_same_set_from_any_number_of_processes(kb, pictures, tmp_path, monkeypatch):
    monkeypatch.setattr("entlink.kb.build.source_parts._WORTH_A_POOL", 0)
    sources = [
        lines(
            tmp_path,
            *(row(f"{name}{number}", "gull.gif", "A [[gull|Gull]] in flight") for number in range(20)),
            name=f"{name}.jsonl",
        )
        for name in "ab"
    ]
    for processes in (1, 2):
        chosen = CaptionOptions(processes=processes)
        build_captions(sources, tmp_path / f"set{processes}", chosen, kb=kb, pictures=pictures)
    for name in ("train.jsonl", "dev.jsonl", "test.jsonl", "pictures/gull.gif.png", "DATASHEET.md"):
        assert (tmp_path / "set1" / name).read_bytes() == (tmp_path / "set2" / name).read_bytes()


def test_a_build_that_was_killed_goes_on(kb, pictures, tmp_path, monkeypatch):
    source = lines(tmp_path, row("a", "gull.gif", "A [[gull|Gull]] in flight"))
    options = CaptionOptions(**ONE, split={"all": 1.0})
    read: list[Path] = []
    write_part = steps.write_part

    def counted(part, plan, path):
        read.append(path)
        write_part(part, plan, path)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(steps, "write_part", counted)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(steps, "datasheet", killed)
        build_captions(source, tmp_path / "set", options, kb=kb, pictures=pictures)
    assert (len(read), (tmp_path / "set").exists(), (tmp_path / "set.building").is_dir()) == (1, False, True)
    half = tmp_path / "set.building" / "made" / "pictures" / "gull.gif.png"
    whole = half.read_bytes()
    half.write_bytes(whole[:9])
    report = build_captions(source, tmp_path / "set", options, kb=kb, pictures=pictures)
    assert (len(read), report.total.pairs, (tmp_path / "set.building").exists()) == (1, 1, False)
    assert (tmp_path / "set" / "pictures" / "gull.gif.png").read_bytes() == whole


def test_only_a_caption_that_is_in_two_sources_is_repeated(kb, tmp_path):
    gull, tern = row("a", "x.png", "A [[gull|Gull]] in flight"), row("a", "x.png", "A [[tern|Tern]] in flight")
    other_picture, other_gold = {**gull, "image": "y.png"}, row("a", "x.png", "A [[thing|Gull]] in flight")
    first = lines(tmp_path, gull, gull, name="1")  # a source may have it twice
    second = lines(tmp_path, tern, gull, other_picture, other_gold, name="2")
    options = CaptionOptions(**ONE, format="captions", split={"all": 1.0})
    report = build_captions([first, second, first], tmp_path / "set", options, kb=kb)
    assert report.captions == {"kept": 5, "read": 8, "repeated": 3}
    found = documents(tmp_path)
    assert [one.id for one in found] == [f"a#{number}" for number in range(1, 6)]
    assert [(one.meta["image"], one.gold[0].entities) for one in found] == [
        ("x.png", ("gull",)),
        ("x.png", ("gull",)),
        ("x.png", ("tern",)),
        ("y.png", ("gull",)),
        ("x.png", ("thing",)),
    ]


def test_the_set_has_the_pictures_of_its_captions_and_no_others(kb, pictures, tmp_path):
    rows = [
        row("a", "gull.gif", "A [[ann|painter]] at work"),
        row("a", "scan.tif", "A damned [[ann|painter]] at work"),
        row("a", "harbour.png", "[[ann|Ann]]"),
        row("a", "other/tern.png", "With [[|a friend]] at sea"),  # too few mentions, once NIL is dropped
    ]
    options = {"pictures": pictures, "profanity": ("damned",), "nil": "drop", "copy_pictures": True}
    assert made(tmp_path, kb, *rows, **options).total.pairs == 1
    folder = tmp_path / "set" / "pictures"
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*")] == ["gull.gif.png"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            '{"page": "a", "image": "x", "caption": "A gull", "mentions": [{"start": 4, "end": 9}]}',
            "4-9 lies outside",
        ),
        (
            '{"page": "a", "image": "x", "caption": "A gull", "mentions": [{"start": 2, "end": 6, "text": "bird"}]}',
            "covers 'gull', not 'bird'",
        ),
        ('{"page": "a", "image": "x"}', "missing required field `caption`"),
        ('{"page": "a"', "the JSON is bad or cut off"),
    ],
)
def test_a_bad_line_is_named_and_can_be_skipped(kb, tmp_path, bad, message):
    path = lines(tmp_path, row("a", "x.png", "A [[gull|Gull]] in flight"))
    path.write_text(path.read_text(encoding="utf8") + bad, encoding="utf8")
    with pytest.raises(EntlinkError) as caught:
        build_captions(path, tmp_path / "set", CaptionOptions(**ONE), kb=kb)
    assert "line 2" in str(caught.value) and message in str(caught.value)
    assert not (tmp_path / "set").exists()
    report = build_captions(path, tmp_path / "set", CaptionOptions(**ONE, on_error="skip"), kb=kb)
    assert (report.sources[0].skipped, report.total.pairs, len(report.problems)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_words": -1}, "min_words is -1: expected"),
        ({"near_copies": 1.5}, "near_copies is 1.5: expected"),
        ({"near_copies": 0.7}, "near_copies needs the pictures themselves"),
        ({"copy_pictures": True}, "copy_pictures needs the pictures themselves"),
        ({"missing": "drop"}, "no pictures are given"),
        ({"split": {}}, "there is no split"),
        ({"split": {"train": 0.5}}, "add up to 0.5"),
        ({"type_list": "mine"}, "type_list is 'mine': invalid enum value"),
    ],
)
def test_options_that_mean_nothing_are_refused(kb, tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        build_captions(lines(tmp_path), tmp_path / "set", CaptionOptions(**options), kb=kb)


def test_what_is_no_source_or_folder_of_pictures_is_refused(kb, pictures, tmp_path):
    path = lines(tmp_path, row("a", "x.png", "A [[gull|Gull]] in flight"))
    with pytest.raises(InputError, match="neither a folder nor a tar"):
        build_captions(path, tmp_path / "set", kb=kb, pictures=pictures / "text.jpg")
    with pytest.raises(InputError, match="no such folder of pictures"):
        build_captions(path, tmp_path / "set", kb=kb, pictures=tmp_path / "none")
    with pytest.raises(InputError, match="there is no source"):
        build_captions([], tmp_path / "set", kb=kb)
    table = tmp_path / "table.csv"
    table.write_text("id,title\n1,A\n")
    with pytest.raises(SourceError, match="of the format csv, which has no captions"):
        build_captions(table, tmp_path / "set", kb=kb)
    build_captions(path, tmp_path / "set", CaptionOptions(**ONE), kb=kb)
    with pytest.raises(ExistsError, match="--replace"):
        build_captions(path, tmp_path / "set", CaptionOptions(**ONE), kb=kb)
