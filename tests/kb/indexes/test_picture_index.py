"""Entities by their pictures: the index, what changed since, and the evidence of a linker."""

from __future__ import annotations

import json
import logging
import threading
from argparse import Namespace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy
import pytest

import entlink
from entlink.documents import Candidate, Document, Entity, Image, Mention, Span
from entlink.encoders.images.dual import load_picture_dual
from entlink.encoders.images.loading import load_picture_encoder
from entlink.encoders.models.pulling import pull
from entlink.errors import ConfigError
from entlink.evidence.pictures import PicturesEvidence, _numbers
from entlink.interfaces import Question, Shortlist
from entlink.kb.indexes.vectors.pictures import PictureSearch, picture_dual
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import LinkerConfig, make_stage
from entlink_cli import main
from entlink_cli.options import _fetching
from tiny_pictures import clip_folder, lite_folder, picture

COUNT = 12


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A knowledge base whose entities have pictures, but for two: one has none, one a file that is none."""
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pull("tiny-lite", lite_folder(tmp_path / "lite"))
    folder = tmp_path / "pictures"
    folder.mkdir()
    rows = []
    for number in range(COUNT):
        name = f"p{number}.png"
        (folder / name).write_bytes(b"words" if number == 1 else picture(number))
        rows.append({"id": f"e{number}", "title": f"Thing {number}", **({"image": name} if number else {})})
    table = tmp_path / "things.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    entlink.build([table], tmp_path / "things.kb")
    return tmp_path


def _index(world):
    dual = load_picture_dual("tiny-lite", pictures=world / "pictures")
    with KnowledgeBase.open(world / "things.kb") as kb:
        return kb.index(vectors=[dual])


def test_the_nearest_are_those_of_brute_force(world, caplog):
    with caplog.at_level(logging.WARNING):
        report = _index(world)
    assert report.vectors[0].rows == COUNT - 2
    assert "p1.png: this is no picture" in caplog.text
    encoder = load_picture_encoder("tiny-lite")
    query = picture(99)
    vectors = encoder.encode([picture(number) for number in range(2, COUNT)])
    cosines = vectors @ encoder.encode([query])[0]
    expected = [f"e{number + 2}" for number in numpy.argsort(-cosines)]
    with KnowledgeBase.open(world / "things.kb") as kb:
        found = PictureSearch(kb).nearest([query], COUNT)[0]
    assert [one.entity.id for one in found] == expected
    numpy.testing.assert_allclose([one.cosine for one in found], sorted(cosines, reverse=True), atol=2e-3)


def test_what_changed_since_is_found_and_an_index_made_anew_has_it(world):
    _index(world)
    (world / "pictures" / "new.png").write_bytes(picture(50))
    with KnowledgeBase.open(world / "things.kb") as kb:
        kb.add(Entity("fresh", "Fresh thing", images=("new.png",)))
        kb.remove("e5")
        search = PictureSearch(kb)
        assert search.nearest([picture(50)], 1)[0][0].entity.id == "fresh"
        assert search.nearest([picture(5)], 1)[0][0].entity.id != "e5"
        kb.index()
    with KnowledgeBase.open(world / "things.kb") as kb:
        assert PictureSearch(kb).nearest([picture(50)], 1)[0][0].entity.id == "fresh"


def test_without_an_index_the_command_that_makes_it_is_told(world):
    with (
        KnowledgeBase.open(world / "things.kb") as kb,
        pytest.raises(ConfigError, match="--pictures tiny-lite"),
    ):
        PictureSearch(kb, load_picture_dual("tiny-lite")).nearest([picture(1)], 1)


def test_commands(world, capsys):
    kb = str(world / "things.kb")
    folder = ["--picture-folder", str(world / "pictures")]
    assert main(["kb", "index", kb, "--pictures", "tiny-lite", *folder]) == 0
    assert "10 vectors of tiny-lite indexed" in capsys.readouterr().out
    query = world / "query.png"
    query.write_bytes(picture(7))
    assert main(["kb", "search", kb, "--picture", str(query), "--limit", "1"]) == 0
    assert "e7" in capsys.readouterr().out
    assert main(["kb", "search", kb, "--picture", str(world / "gone.png")]) == 3
    assert "no such picture" in capsys.readouterr().err
    assert main(["kb", "index", kb, "--pictures", "tiny-lite", "--picture-folder", str(query)]) == 3


def _shortlist(image: str | None, *ids: str) -> Shortlist:
    document = Document("d", "Thing", images=(Image(image),) if image else ())
    return Shortlist(document, Mention(Span(0, 5), "Thing"), [Candidate(id, 0.0) for id in ids])


def test_evidence_is_the_cosine_where_both_have_a_picture(world, caplog):
    _index(world)
    mine = world / "mine.png"
    mine.write_bytes(picture(4))
    with KnowledgeBase.open(world / "things.kb") as kb:
        stage = PicturesEvidence(kb)
        asked = [
            _shortlist(str(mine), "e4", "e6", "e0", "e1", "gone"),
            _shortlist(None, "e4"),
            _shortlist(str(world / "lost.png"), "e4"),
            _shortlist(Image.of_bytes(picture(6)).uri, "e6"),
            _shortlist("a" * 300, "e4"),
        ]
        with caplog.at_level(logging.WARNING):
            found = stage.gather(asked)
    both = {"pictures", "pictured", "alike"}
    assert [set(one) for one in found[0]] == [both, both, set(), set(), set()]
    assert found[0][0]["pictures"] == pytest.approx(1, abs=1e-3) and found[0][1]["pictures"] < 0.999
    assert found[1:3] == [[{}], [{}]] and found[3][0]["pictures"] == pytest.approx(1, abs=1e-3)
    assert found[4] == [{}]
    assert "lost.png: no such picture" in caplog.text and "File name too long" in caplog.text


def test_a_clip_compares_pictures_with_texts(world):
    clip, _ = clip_folder(world / "clip")
    with KnowledgeBase.open(world / "things.kb") as kb:
        settings = {"name": "pictures", "pictures": str(world / "pictures"), "texts": True}
        with pytest.raises(ConfigError, match="reads pictures only"):
            make_stage("evidence", {**settings, "encoder": "tiny-lite"}, kb)
        kb.add(Entity("named", "w1 w2", images=("p4.png",)))
        kb.add(Entity("bare", "w3"))
        stage = make_stage("evidence", {**settings, "encoder": str(clip)}, kb)
        document = Document("d", "w5 w6", images=(Image.of_bytes(picture(6)),))
        lost, plain = Document("l", "w5 w6", images=(Image("lost.png"),)), Document("p", "w5 w6")
        candidates = [Candidate(id, 0.0) for id in ("named", "bare", "gone")]
        asked = [Shortlist(one, Mention(Span(0, 2), "w5"), candidates) for one in (document, lost, plain)]
        found = stage.gather(asked)
    encoder = load_picture_encoder(clip)
    (shown, own), (caption, first, second) = (
        encoder.encode([picture(6), picture(4)]),
        encoder.encode_texts(["w5 w6", "w1 w2", "w3"]),
    )
    expected = {"pictures": shown @ own, "picture_title": shown @ first, "caption_picture": caption @ own}
    assert {name: found[0][0][name] for name in expected} == pytest.approx(expected, abs=5e-3)
    assert found[0][1:] == [{"picture_title": pytest.approx(shown @ second, abs=5e-3)}, {}]
    assert found[1:] == [[{"caption_picture": pytest.approx(caption @ own, abs=5e-3)}, {}, {}], [{}, {}, {}]]


def test_a_folder_of_captioned_pictures_is_linked(world, capsys):
    _index(world)
    folder = world / "captioned"
    folder.mkdir()
    (folder / "a.png").write_bytes(picture(4))
    (folder / "a.txt").write_text("Here is Thing 4 again.\n")
    (folder / "b.png").write_bytes(picture(5))
    out = world / "linked.jsonl"
    kb = str(world / "things.kb")
    assert main(["link", kb, str(folder), "-o", str(out)]) == 3
    assert "b.png: it has no caption. Write it to b.txt" in capsys.readouterr().err
    assert main(["link", kb, str(folder), "-o", str(out), "--on-error", "skip"]) == 0
    assert "skipped: " in capsys.readouterr().err
    (row,) = map(json.loads, out.read_text().splitlines())
    assert (row["id"], row["text"]) == ("a.png", "Here is Thing 4 again.")
    assert row["images"] == [{"uri": str(folder / "a.png")}] or row["images"] == [str(folder / "a.png")]
    assert [link["entity"] for link in row["links"]] == ["e4"]


def test_a_picture_decides_between_namesakes_and_a_lost_one_does_no_harm(world, caplog):
    table = world / "herons.jsonl"
    rows = [{"id": f"heron-{n}", "title": f"Heron ({n})", "aliases": ["Heron"], "image": f"p{n}.png"} for n in (3, 4)]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    entlink.build([table], world / "herons.kb")
    with KnowledgeBase.open(world / "herons.kb") as kb:
        kb.index(vectors=[load_picture_dual("tiny-lite", pictures=world / "pictures")])
    source = world / "sub" / "documents.jsonl"
    source.parent.mkdir()
    for number in (3, 4):
        (source.parent / f"mine-{number}.png").write_bytes(picture(number))
    captions = [{"text": "A Heron", "image": name} for name in ("mine-3.png", "mine-4.png", "lost.png")]
    source.write_text("".join(json.dumps(row) + "\n" for row in captions))
    config = world / "linker.toml"
    config.write_text(
        '[[retriever]]\nname = "alias"\n[[evidence]]\nname = "pictures"\n'
        '[ranker]\nname = "combination"\nweights = { pictures = 10.0 }\n[nil]\nname = "threshold"\nthreshold = 0.0\n'
    )
    linked = []
    with caplog.at_level(logging.WARNING):
        linker = entlink.load(world / "herons.kb", config=config)
        entlink.link_file(linker, source, on_document=linked.append)
        linker.kb.close()
    first, second, lost = [document.links[0] for document in linked]
    assert (first.entity, second.entity) == ("heron-3", "heron-4")
    assert first.candidates[0].evidence["pictures"] == pytest.approx(1, abs=1e-3)
    assert lost.entity is not None and not any("pictures" in one.evidence for one in lost.candidates)
    assert "lost.png: no such picture" in caplog.text


def test_fetch_is_of_the_stages_that_read_pictures(world, capsys):
    kb, source, config = str(world / "things.kb"), world / "documents.jsonl", world / "linker.toml"
    source.write_text(json.dumps({"text": "Thing 4", "image": "http://127.0.0.1:9/a.png"}) + "\n")
    assert main(["link", kb, str(source), "--json", "--config", "lexical", "--fetch"]) == 2
    assert "--fetch is of stages that read pictures" in capsys.readouterr().err
    _index(world)
    config.write_text('[[evidence]]\nname = "pictures"\n[ranker]\nname = "combination"\n')
    for stages, entity in (config.read_text(), '"e4"'), ('[[retriever]]\nname = "pictures"\n', "null"):
        config.write_text(stages)
        for option, told in ((), "none is fetched unasked"), (("--fetch",), "it cannot be fetched"):
            assert main(["link", kb, str(source), "--json", "--config", str(config), *option]) == 0
            done = capsys.readouterr()
            assert told in done.err and f'"entity":{entity}' in done.out


def test_fetch_reaches_every_stage_that_reads_pictures():
    pictures, others = {"name": "pictures"}, {"name": "names"}
    config = LinkerConfig(
        retriever=[others, pictures], evidence=[pictures], ranker={"name": "multimodal", "model": "m"}
    )
    found = _fetching(Namespace(), config)
    assert found.retriever == [others, {**pictures, "fetch": True}]
    assert found.evidence == [{**pictures, "fetch": True}] and found.ranker == {**config.ranker, "fetch": True}


def test_linking_fetches_nothing_unasked_though_the_index_was_made_with_fetch(world, monkeypatch):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(picture(4))

        def log_message(self, *told) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    with KnowledgeBase.open(world / "things.kb") as kb:
        kb.add(Entity("kept", "Kept thing", images=(f"{address}/kept.png",)))
        kb.index(vectors=[load_picture_dual("tiny-lite", pictures=world / "pictures", fetch=True)])
        assert asked == ["/kept.png"]
        kb.add(Entity("new", "New thing", images=(f"{address}/new.png",)))
        shortlist = _shortlist(Image.of_bytes(picture(4)).uri, "kept", "new")
        try:
            assert [set(one) for one in PicturesEvidence(kb).gather([shortlist])[0]] == [
                {"pictures", "pictured", "alike"},
                set(),
            ]
            assert asked == ["/kept.png"]
            assert picture_dual(kb).entity_content(kb.entity(kb.key("kept"))) and asked == ["/kept.png"]
            assert all(PicturesEvidence(kb, fetch=True).gather([shortlist])[0]) and asked == ["/kept.png", "/new.png"]
        finally:
            server.shutdown()
            server.server_close()


def test_the_retriever_gives_all_mentions_the_entities_of_the_likest_pictures(world):
    _index(world)
    (world / "pictures" / "new.png").write_bytes(picture(50))
    query = Image.of_bytes(picture(50))
    pictured = Document("d", "one two", images=(query,))
    mentions = [Mention(Span(0, 3), "one"), Mention(Span(4, 7), "two")]
    with KnowledgeBase.open(world / "things.kb") as kb:
        retriever = make_stage("retriever", {"name": "pictures", "limit": 3}, kb)
        kb.add(Entity("fresh", "Fresh thing", images=("new.png",)))
        kb.block("two")
        asked = [Question(pictured, mentions), Question(Document("bare", "one"), mentions[:1])]
        (first, second), (third,) = retriever.retrieve(asked)
        expected = [(one.entity.id, one.cosine) for one in PictureSearch(kb).nearest([query.uri], 3)[0]]
        assert [(one.entity, one.score) for one in first] == [(id, pytest.approx(cosine)) for id, cosine in expected]
        assert first[0].entity == "fresh" and not second and not third
        numbers = retriever.gather([Shortlist(pictured, mentions[0], [*first, Candidate("e0", 0.0)])])[0]
        assert [one["pictures"] for one in numbers] == [pytest.approx(one.score, abs=2e-3) for one in first] + [0.0]


def test_the_retriever_needs_an_index(world):
    with (
        KnowledgeBase.open(world / "things.kb") as kb,
        pytest.raises(ConfigError, match="--pictures tiny-lite"),
    ):
        make_stage("retriever", {"name": "pictures", "encoder": "tiny-lite"}, kb)


@pytest.mark.parametrize("preset", ["everyday", "characters"])
def test_the_linkers_in_the_box_look_at_pictures_where_there_is_an_index(world, caplog, preset):
    kb = world / "things.kb"
    document = Document(
        "d", "Thing 4", images=(Image.of_bytes(picture(4)),), mentions=(Mention(Span(0, 7), "Thing 4"),)
    )
    with caplog.at_level(logging.WARNING):
        linker = entlink.load(kb, config=preset)
        before = linker.link(document).links
        linker.link(document)
    told = [record.getMessage() for record in caplog.records if "pictures of documents" in record.getMessage()]
    assert told == ["things.kb: pictures of documents are not looked at. Better with: entlink kb index "
                    f"{kb} --pictures efficientnet-lite0"]  # fmt: skip
    assert "alike" not in before[0].candidates[0].evidence
    _index(world)
    now = entlink.load(kb, config=preset).link(document).links
    assert now[0].candidates[0].evidence["alike"] == pytest.approx(1, abs=0.01)
    bare = Document("d", "Thing 4", mentions=document.mentions)
    assert entlink.load(kb, config=preset).link(bare).links == before


def test_an_encoder_that_is_gone_leaves_linking_as_it_was(world, caplog, monkeypatch):
    _index(world)
    monkeypatch.setenv("ENTLINK_MODELS", str(world / "nothing"))
    document = Document("d", "Here is Thing 4", images=(Image.of_bytes(picture(4)),))
    with caplog.at_level(logging.WARNING):
        links = entlink.load(world / "things.kb", config="everyday").link(document).links
    assert [one.entity for one in links] == ["e4"]
    assert "tiny-lite" in caplog.text and "pictures of documents are not looked at" in caplog.text


def test_pictures_that_look_alike_by_chance_say_nothing():
    """Below the bound a cosine neither helps nor hurts; above it, the more alike the better."""
    alike = [_numbers(cosine)["alike"] for cosine in (-0.2, 0.3, 0.6, 0.8, 1.0)]
    assert alike == [0, 0, 0, pytest.approx(0.5), pytest.approx(1)] and _numbers(None) == {}
